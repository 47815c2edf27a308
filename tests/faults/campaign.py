#!/usr/bin/env python3
"""The campaign of faults: real clusters that are killed, stopped, starved and damaged, one case after the other.

    tests/faults/campaign.py [--build DIR] [--only NAME]... [--list] [--json]     also as scripts/campaign.sh

As root. Each case says what is expected, carries a fault out, and is judged by what tasks themselves left behind: lines in files, and
locks that they hold as long as they live. A case is a function here, tests of the build that show the same, or both. Prints a line for
each: passed, failed or skipped (what it needs cannot be had here), seconds, and what happened. Exits with 1 where one failed.
"""

import argparse
import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 120  # seconds for anything that is waited for
STOPPED = 60  # seconds that a stopped role is left so
SEED = 24


class Failed(Exception):
    """What is not as it has to be."""


class Skipped(Exception):
    """What this machine lacks."""


def require(holds, what):
    if not holds:
        raise Failed(what)


def until(what, holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        require(time.monotonic() < end, f"in {PATIENCE} s never: {what}")
        time.sleep(0.05)


def pid_with(option, value):
    """Of a process that was started with this option; None where there is none."""
    option, value = option.encode(), value.encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if option in words and words[words.index(option) + 1] == value:
                return int(folder.name)
    return None


# --- Clusters ---------------------------------------------------------------------------------------------


class Cluster:
    """`tarcil up` in a folder of its own, where tasks leave their traces too."""

    build = ROOT / "build/release"

    def __init__(self, *up):
        self.folder = Path(tempfile.mkdtemp(prefix="tarcil-campaign-", dir="/var/tmp"))
        self.folder.chmod(0o711)
        self.data, self.traces = self.folder / "data", self.folder / "traces"
        self.traces.mkdir(mode=0o777)
        self.traces.chmod(0o777)
        self.up_words = up
        self.pids = {}

    def __enter__(self):
        self.up()
        return self

    def down(self):
        self.tarcil("down", check=False)

    def __exit__(self, kind, *_):
        self.down()
        if kind is not None and issubclass(kind, Failed):
            print(f"the cluster's folder is kept: {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *words):
        return [str(self.build / "tarcil"), *words]

    def environment(self):
        return {**os.environ, "TARCIL_DATA": str(self.data)}

    def tarcil(self, *words, check=True, text=None):
        done = subprocess.run(self.command(*words), cwd=self.folder, env=self.environment(), input=text, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        require(not check or done.returncode == 0, f"`tarcil {' '.join(words)}` exits with {done.returncode}: {done.stderr[-300:]}")
        return done

    def json(self, *words):
        return json.loads(self.tarcil(*words, "--json").stdout)

    def up(self):
        self.pids = {each["name"]: each["pid"] for each in self.json("up", "--detach", *self.up_words)["processes"]}

    def submit(self, script, **fields):
        job = {"command": ["sh", "-c", script], **fields}
        return json.loads(self.tarcil("submit", "--json", "-", text=json.dumps(job)).stdout)["job"]

    def status(self, job):
        return self.json("job", "status", job)

    def expect_done(self, *jobs):
        for job in jobs:
            until(f"job {job} ends", lambda job=job: self.status(job)["state"] not in ("queued", "running", "starting"))
            state = self.status(job)
            require(state["state"] == "done", f"job {job} is {state['state']}: {state['tasks'][:1]}")

    def expect_units_free(self):
        until("all servers are up", lambda: all(each["state"] == "up" for each in self.json("server", "list")))
        for server in self.json("server", "list"):
            require(server["free"] == server["rus"], f"units of {server['name']} are still taken")

    def pid(self, role):
        """Of the process that plays it now, by its socket."""
        return pid_with("--listen", f"unix:{self.data}/run/{role}.sock")

    def kill(self, role):
        pid = self.pid(role)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    def supervisor(self):
        return int((self.data / "run/supervisor").read_text().split()[0])

    def shims(self):
        return [int(lock.read_text()) for lock in self.data.glob("monitors/*/tasks/*/lock") if lock.read_text().strip()]

    def log(self, role):
        return (self.data / f"log/{role}.log").read_text(errors="replace")

    # --- What tasks leave
    def note(self, name):
        return f"echo $TARCIL_TASK.$TARCIL_ATTEMPT >> {self.traces}/{name}; "

    def gate(self):
        return f"while [ -d {self.traces} ] && ! [ -e {self.traces}/gate ]; do sleep 0.05; done; "

    def open_gate(self):
        (self.traces / "gate").touch()

    def hold_lock(self, job=""):
        """Of this attempt, as long as it lives; says so where another attempt of the same task lives. `job`: tells tasks of several."""
        alive = f"{self.traces}/alive-{job}-$TARCIL_TASK-"
        return (f"exec 9>{alive}$TARCIL_ATTEMPT; flock 9; for other in {alive}*; do "
                f"[ $other = {alive}$TARCIL_ATTEMPT ] || flock -n $other true || {self.note('overlap')} done; ")

    def lines(self, name):
        file = self.traces / name
        return file.read_text().split() if file.exists() else []

    def expect_lines(self, name, count):
        until(f"{count} lines in {name}", lambda: len(self.lines(name)) >= count)
        require(len(self.lines(name)) == count, f"{len(self.lines(name))} lines in {name}, expected {count}")

    def expect_no_overlap(self):
        require(not self.lines("overlap"), f"two copies of an exclusive task lived: {self.lines('overlap')}")


class HangingDisk:
    """A file system of its own on which writes wait in the kernel, as on a network file system whose server is away."""

    FREEZE, THAW = 0xC0045877, 0xC0045878

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tarcil-disk-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.path = self.folder / "disk"
        self.path.mkdir()
        image = self.folder / "image"
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        for words in (["/usr/sbin/mkfs.ext4", "-q", "-F", image], ["mount", "-o", "loop", image, self.path]):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                shutil.rmtree(self.folder)
                raise Skipped(f"no loop device: {done.stderr.strip()}")
        self.path.chmod(0o777)
        self.root = os.open(self.path, os.O_RDONLY)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.go_on()
        os.close(self.root)
        subprocess.run(["umount", "-l", self.path], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def hang(self):
        fcntl.ioctl(self.root, self.FREEZE, 0)

    def go_on(self):
        fcntl.ioctl(self.root, self.THAW, 0)


def stop(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # a task's own that came and went
            os.kill(pid, signal.SIGSTOP)


def go_on(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


# --- Cases ------------------------------------------------------------------------------------------------


def attach_with_many_jobs():
    """860 held jobs with 120 KB of environment each, 103 MB in all, then `kill -9` of the master."""
    with Cluster("--rus", "2") as cluster:
        job = json.dumps({"command": ["true"], "hold": True, "env": {"DATA": "x" * 120_000}})
        (cluster.folder / "job.yaml").write_text(job)
        with ThreadPoolExecutor(2) as pool:
            jobs = list(pool.map(lambda _: cluster.json("submit", "job.yaml")["job"], range(860)))
        attached = cluster.log("master").count("agent agent-1 at")
        cluster.kill("master")
        began = time.monotonic()
        until("the agent attaches again", lambda: cluster.log("master").count("agent agent-1 at") > attached)
        until("it has all its jobs", lambda: {"tarcil_agent_attached 1", "tarcil_agent_jobs 860"}
              <= set(cluster.tarcil("metrics", "agent-1", check=False).stdout.splitlines()))
        seconds = time.monotonic() - began
        for each in jobs[::86]:
            cluster.tarcil("job", "cancel", each)
        cluster.tarcil("run", "--", "true")
        return f"attached with all 860 jobs {seconds:.1f} s after the kill; they can be cancelled, and new ones run"


def task_in_the_kernel():
    """An exclusive task that hangs on a frozen disk, and `kill -9` of its shim."""
    with HangingDisk() as disk, Cluster("--servers", "2", "--rus", "1") as cluster:
        job = cluster.submit(cluster.note("started") + f"echo > {disk.path}/before; {cluster.gate()}", exclusive=True,
                             restart={"attempts": 3})
        cluster.expect_lines("started", 1)
        until("it wrote", (disk.path / "before").exists)
        disk.hang()
        hung = cluster.submit(cluster.note("hung") + f"echo > {disk.path}/file; " + cluster.note("wrote"), exclusive=True,
                              restart={"attempts": 3})
        cluster.expect_lines("hung", 1)
        for shim in cluster.shims():
            os.kill(shim, signal.SIGKILL)
        time.sleep(20)  # twice as long as it once took
        require(len(cluster.lines("hung")) == 1, "a second copy was started while the first hangs in the kernel")
        disk.go_on()
        cluster.open_gate()
        cluster.expect_done(job, hung)
        cluster.expect_units_free()
        return f"no second copy in 20 s; once the disk went on, started {len(cluster.lines('hung'))} times in all"


def stopped(role):
    def case():
        with Cluster("--servers", "2", "--rus", "6") as cluster:
            script = cluster.hold_lock() + cluster.note("started") + cluster.gate()
            jobs = [cluster.submit(script, exclusive=True, restart={"attempts": 5}, name=f"job-{i}") for i in range(1)]
            jobs.append(cluster.submit(cluster.note("others") + cluster.gate(), tasks=4))
            cluster.expect_lines("started", 1)
            cluster.expect_lines("others", 4)
            pid = cluster.pid(role)
            stop(pid)
            began = time.monotonic()
            run = subprocess.Popen(cluster.command("run", "--", "true"), cwd=cluster.folder, env=cluster.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                run.wait(STOPPED)
            except subprocess.TimeoutExpired:
                pass
            took = time.monotonic() - began
            has_ended = run.poll() is not None
            time.sleep(STOPPED - min(STOPPED, took))
            go_on(pid)
            said = run.communicate(timeout=PATIENCE)[1]
            require(has_ended or f"{role}, where task 0 is, is out of reach" in said, f"a `run` waits for {role}, and says nothing")
            require(run.returncode == 0 or "out of reach" in said, f"`run` meanwhile ends with {run.returncode}: {said[-200:]}")
            cluster.open_gate()
            cluster.expect_done(*jobs)
            cluster.tarcil("run", "--", "true")
            cluster.expect_no_overlap()
            cluster.expect_units_free()
            return (f"a `run` meanwhile ended with {run.returncode} after {took:.0f} s; tasks were started {len(cluster.lines('started') + cluster.lines('others'))} times (5 tasks); "
                    "all done when it went on")
    case.__doc__ = f"{role} is stopped (SIGSTOP) for {STOPPED} s under five tasks, one of them exclusive."
    return case


def a_kill_every_second():
    """For a minute a role is killed each second while commands submit and run."""
    choose = random.Random(SEED)
    with Cluster("--servers", "2", "--rus", "4") as cluster:
        end = time.monotonic() + 60

        def submitting(_):
            jobs = []
            while time.monotonic() < end:
                jobs.append(cluster.tarcil("submit", "--json", "-", check=False, text='command: ["true"]\n'))
            return jobs

        def running(_):
            codes = []
            while time.monotonic() < end:
                codes.append(cluster.tarcil("run", "--", "sh", "-c", "exit 7", check=False).returncode)
            return codes

        with ThreadPoolExecutor(3) as pool:
            submitted, ran = pool.map(submitting, [0]), pool.map(running, [0])
            kills = 0
            while time.monotonic() < end:
                cluster.kill(choose.choice(["master", "agent-1", "server-1", "server-2"]))
                kills += 1
                time.sleep(1)
            submitted, ran = [each for some in submitted for each in some], [each for some in ran for each in some]
        refused = [each.stderr.strip()[-100:] for each in submitted if each.returncode != 0]
        wrong = [code for code in ran if code != 7]
        require(not refused, f"{len(refused)} of {len(submitted)} submissions refused: {refused[0] if refused else ''}")
        require(not wrong, f"{len(wrong)} of {len(ran)} runs ended with {set(wrong)}")
        cluster.expect_done(*(json.loads(each.stdout)["job"] for each in submitted))
        cluster.expect_units_free()
        return f"{kills} kills: none of {len(submitted)} submissions refused and none lost, none of {len(ran)} `run`s ended otherwise"


def lost_log():
    """The newest log of the store is removed, emptied or cut while the cluster is down."""
    said = []
    for how in ("removed", "emptied", "cut"):
        with Cluster("--rus", "2") as cluster:
            for _ in range(10):
                cluster.submit("true", hold=True)
            for role in ("master", "agent-1"):
                cluster.kill(role)
            cluster.tarcil("down", check=False)
            log = max((each for each in cluster.data.glob("master/store/*.log") if each.stat().st_size > 0), key=lambda each: each.name)
            if how == "removed":
                log.unlink()
            else:
                os.truncate(log, 0 if how == "emptied" else log.stat().st_size // 2)
            checked = cluster.tarcil("master", "check", str(cluster.data / "master/store"), check=False)
            require(checked.returncode != 0, f"{how}: `tarcil master check` finds nothing wrong")
            began = cluster.tarcil("up", "--detach", *cluster.up_words, check=False)
            require(began.returncode != 0, f"{how}: the cluster starts as if nothing were missing")
            require("master restore" in began.stderr + cluster.log("master"), f"{how}: nobody says what to do: {began.stderr}")
            said.append(f"{how}: check {checked.returncode}, up {began.returncode}")
    return "; ".join(said) + "; both name the damage and `tarcil master restore`"


def damaged_store():
    """One bit of a file of the store is another, at eight places each of its tables and its list of files."""
    choose, outcomes = random.Random(SEED), []
    with Cluster("--rus", "2") as cluster:
        jobs = {cluster.submit("true", hold=True, env={"DATA": str(choose.random())}) for _ in range(40)}
        cluster.tarcil("down")
        store = cluster.data / "master/store"
        for file in sorted(each for each in store.iterdir() if re.match(r".*\.sst|MANIFEST-.*|CURRENT|.*\.log", each.name) and each.stat().st_size):
            sound = file.read_bytes()
            for _ in range(8):
                place = choose.randrange(len(sound))
                file.write_bytes(sound[:place] + bytes([sound[place] ^ 1 << choose.randrange(8)]) + sound[place + 1:])
                checked = cluster.tarcil("master", "check", str(store), check=False)
                text = checked.stdout + checked.stderr
                if checked.returncode == 0:
                    outcomes.append("harmless")
                else:
                    outcomes.append(f"exit code {checked.returncode}")
                    require(str(store) in text or "restore" in text or file.name in text, f"{file.name} at {place}: {text[-200:]}")
            file.write_bytes(sound)
        cluster.up()
        there = {each["id"] for each in cluster.json("job", "list", "--limit", "1000")}
        require(jobs <= there, f"{len(jobs - there)} of {len(jobs)} jobs are missing once the files are sound again")
    counted = {each: outcomes.count(each) for each in sorted(set(outcomes))}
    return f"`tarcil master check`: {counted}"


def clients_of_a_lone_agent():
    """Commands of a moment at an agent that cannot attach, half of them interrupted."""
    choose = random.Random(SEED)
    with Cluster("--rus", "1") as cluster:
        stop(cluster.pid("master"))
        cluster.kill("agent-1")
        until("an agent listens", lambda: (cluster.data / "run/agent-1.sock").exists() and cluster.pid("agent-1") is not None)
        words = [["job", "list"], ["submit", "-"], ["run", "--", "true"], ["server", "list"], ["queue"], ["job", "wait", "0123456789abcdef"]]

        def one(number):
            process = subprocess.Popen(cluster.command(*words[number % len(words)]), cwd=cluster.folder, env=cluster.environment(),
                                       stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(b'command: ["true"]\n')
                process.stdin.close()
            patience = waits[number]
            try:
                return process.wait(patience)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            try:
                return process.wait(PATIENCE)
            finally:
                process.kill()

        waits = [choose.choice([0.02, 0.1, 0.5, 10]) for _ in range(600)]
        with ThreadPoolExecutor(16) as pool:
            codes = list(pool.map(one, range(len(waits))))
        go_on(cluster.pid("master"))
        cluster.tarcil("run", "--", "true")
        crashed = [-code for code in codes if code < 0 and -code != signal.SIGINT]
        require(not crashed, f"{len(crashed)} of {len(codes)} commands died of signals {set(crashed)}")
        return f"none of {len(codes)} commands crashed; exit codes {dict(sorted((code, codes.count(code)) for code in set(codes)))}"


def everything_stopped():
    """All processes of a cluster, tasks too, are stopped for 90 s at once: as a machine that sleeps, clocks run on meanwhile."""
    with Cluster("--servers", "2", "--rus", "2") as cluster:
        jobs = [cluster.submit(cluster.hold_lock() + cluster.note("started") + cluster.gate(), exclusive=True, restart={"attempts": 5}),
                cluster.submit(cluster.note("others") + cluster.gate(), tasks=2)]
        cluster.expect_lines("started", 1)
        cluster.expect_lines("others", 2)
        supervisor = cluster.supervisor()
        trees = [supervisor, *(cluster.pid(role) for role in ("master", "agent-1", "server-1", "server-2")), *cluster.shims()]
        processes = sorted(set(trees) | {child for pid in trees for child in descendants(pid)})
        stop(*processes)
        time.sleep(90)
        go_on(*processes)
        until("the cluster runs new jobs", lambda: cluster.tarcil("run", "--", "true", check=False).returncode == 0)
        cluster.open_gate()
        cluster.expect_done(*jobs)
        cluster.expect_no_overlap()
        cluster.expect_units_free()
        return (f"{len(processes)} processes went on; the exclusive task was started {len(cluster.lines('started'))} times, never two at once, "
                f"the others {len(cluster.lines('others'))} times (2 tasks)")


def descendants(pid):
    found = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, each.read_text().split()):
                found += [child, *descendants(child)]
    return found


def memory_of_the_machine():
    """All roles share 8 MiB more memory than they hold, and submissions of 48 MiB of files come: the kernel ends roles."""
    top = Path("/sys/fs/cgroup/memory")
    if not (top / "cgroup.procs").exists():
        raise Skipped("no memory cgroup of version 1")
    with Cluster("--servers", "1", "--rus", "2") as cluster:
        running = cluster.submit(cluster.note("started") + cluster.gate())
        cluster.expect_lines("started", 1)
        group = top / f"tarcil-campaign-{os.getpid()}"
        group.mkdir()
        try:
            roles = ["master", "agent-1", "server-1"]
            supervisor = cluster.supervisor()
            held = sum(int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{cluster.pid(role)}/status").read_text())[1]) for role in roles) << 10
            for pid in [supervisor, *map(cluster.pid, roles)]:
                (group / "cgroup.procs").write_text(str(pid))
            (group / "memory.limit_in_bytes").write_text(str(held + (8 << 20)))
            with open(cluster.folder / "large", "wb") as file:
                file.write(os.urandom(48 << 20))
            (cluster.folder / "large.yaml").write_text(json.dumps({"command": ["true"], "files": ["large"]}))
            submissions = [subprocess.Popen(cluster.command("submit", "large.yaml"), cwd=cluster.folder, env=cluster.environment(),
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(4)]
            time.sleep(30)
            failures = int((group / "memory.failcnt").read_text())
        finally:
            (group / "memory.limit_in_bytes").write_text("-1")
        until("the cluster answers again", lambda: cluster.tarcil("server", "list", check=False).returncode == 0)
        restarted = cluster.log("up").count("starting it again")
        codes = []
        for each in submissions:
            try:
                each.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                each.kill()
                raise Failed(f"a submission had not ended {PATIENCE} s after there was memory again; it said: {each.communicate()[1]}") from None
            codes.append(each.returncode)
        cluster.open_gate()
        cluster.expect_done(running)
        cluster.expect_lines("started", 1)
        cluster.tarcil("run", "--", "true")
        until("all that was accepted has ended", lambda: all(each["state"] == "done" for each in cluster.json("job", "list")))
        cluster.expect_units_free()
        for pid in group.joinpath("cgroup.procs").read_text().split():
            (top / "cgroup.procs").write_text(pid)
        with contextlib.suppress(OSError):
            group.rmdir()
        return f"the bound was met {failures} times; submissions ended with {codes}; roles were started again {restarted} times; nothing was lost"


# --- Tests of the build -----------------------------------------------------------------------------------


def run_tests(build, names):
    """What became of them, in words; throws where one failed, or there is none of a name."""
    pattern = "|".join(rf"(^|/){re.escape(name)}(/|$)" for name in names)
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        subprocess.run(["ctest", "--test-dir", str(build), "-R", pattern, "--timeout", "300", "--output-junit", report.name],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        cases = ElementTree.parse(report.name).getroot().findall("testcase") if os.path.getsize(report.name) else []
    for name in names:
        require(any(re.search(rf"(^|/){re.escape(name)}(/|$)", case.get("name")) for case in cases), f"{name}: no such test is built")
    failed = [case.get("name") for case in cases if case.get("status") in ("fail", "timeout")]
    require(not failed, f"failed: {', '.join(failed)}")
    ran = [case for case in cases if case.get("status") == "run"]
    if not ran:
        raise Skipped("tests were skipped: " + ", ".join(case.get("name") for case in cases))
    return f"{len(ran)} tests passed" + (f", {len(cases) - len(ran)} were skipped" if len(ran) < len(cases) else "")


@dataclass
class Case:
    name: str
    expected: str
    carry_out: object = None  # a function
    tests: tuple = ()
    row: int = 0  # of the first campaign's table

    @property
    def fault(self):
        return self.carry_out.__doc__.strip() if self.carry_out else "as in the tests " + ", ".join(self.tests)


CASES = [
    Case("many-jobs", "the agent attaches again, and its jobs can be cancelled", attach_with_many_jobs, row=1),
    Case("task-in-the-kernel", "no second copy before the first is gone", task_in_the_kernel,
         ("ContainerRecoveryTest.ATaskIsLostOnlyWhenItsProcessesAreGone",), row=2),
    Case("down", "tasks get their grace, and are started again with the cluster", None,
         ("ClusterShutDown.GivesTasksTheirGraceAndStartsThemAgain", "ClusterShutDown.GoesOnWhereItsSupervisorIsKilled",
          "ClusterShutDown.GoesOnWhereTheMachineIsStopped"), row=3),
    Case("stopped-monitor", "noticed; tasks go elsewhere, an exclusive one never twice", stopped("server-1"), row=4),
    Case("stopped-agent", "noticed; all done when it goes on", stopped("agent-1"), row=4),
    Case("stopped-master", "noticed; all done when it goes on", stopped("master"), row=4),
    Case("kill-every-second", "no submission is refused and no `run` ends otherwise", a_kill_every_second, row=5),
    Case("lost-log", "check and start name the damage", lost_log, row=6),
    Case("clock-ahead", "nothing is erased for an hour", None, ("History.IsKeptForAnHourWhereTheClockMayBeWrong",), row=7),
    Case("damaged-store", "check names it; nothing is lost of what is sound", damaged_store,
         ("RocksStoreTest.ThatIsDamagedSaysWhatToDo", "RocksStoreTest.OfWhichALockIsLeftIsNotBegunAnew"), row=8),
    Case("lone-agent", "no command crashes", clients_of_a_lone_agent,
         ("ARefusedLogin.EndsEveryCallWhereverItsAnswersAreCut", "ARefusedLogin.EndsALateBindingSessionWhereverItsAnswersAreCut"), row=9),
    Case("256-descriptors", "peers are turned away, and what runs is recorded", None,
         ("FewDescriptors.AreSaidAndTheRoleServesOnWhenSomeAreFree", "FewDescriptors.AreNotTakenByWhoeverReadsMetrics")),
    Case("address-space", "the role ends by name; the next one has all that was answered", None,
         ("NoMemoryOfTheMaster.EndsItByNameAndTheNextOneHasAllThatWasAnswered", "NoMemory.OfAnotherRoleLosesNothingAndTheClusterServesOn")),
    Case("cut-off-and-stopped", "an exclusive task never has two copies", None,
         ("Partition.OfAMonitorWhoseShimIsStoppedLeavesNoTwoCopiesEither",
          "ContainerRecoveryTest.AnExclusiveTaskEndsWithItsLeaseThoughItsInitIsStopped")),
    Case("hanging-disk", "the log says so, links stand, and all goes on with the disk", None,
         ("MonitorsDiskHangs.AnExclusiveTaskGoesElsewhereAndNeverRunsTwice", "MonitorsDiskHangs.TasksAreKeptWhereItGoesOnInTime",
          "MastersDiskHangs.WhatIsToBeStoredWaitsAndNothingElse", "AgentsDiskHangs.WhatItHasToPlaceIsPlacedOnceWhenItGoesOn")),
    Case("memory-of-the-machine", "nothing that was answered is lost, and the cluster serves on", memory_of_the_machine,
         ("MemoryPressure.TakesTasksBeforeRolesAndShims", "MemoryPressure.OfAServerEndsTheTaskThatMakesIt")),
    Case("sleep", "no exclusive task has two copies; all goes on", everything_stopped,
         ("SystemClock.RunsOnWhileTheMachineSleeps", "MonitorLease.AnAnswerThatIsOlderThanTheLeaseLetsNothingStart")),
    Case("two-clusters", "they leave each other alone", None,
         ("TwoClusters.OfTheSameNamesLeaveEachOtherAlone", "TwoUps.AtOnceAreOneCluster", "TwoUps.TheSecondSaysWhoIsBeforeIt")),
]


def carry_out(case, build):
    happened, outcome = [], "passed"
    for act in ([case.carry_out] if case.carry_out else []) + ([lambda: run_tests(build, case.tests)] if case.tests else []):
        try:
            happened.append(act())
        except Skipped as reason:
            happened.append(f"not tried: {reason}")
            outcome = "skipped" if outcome == "passed" else outcome
        except (Failed, subprocess.TimeoutExpired) as reason:
            happened.append(str(reason))
            outcome = "failed"
    return outcome, "; ".join(happened)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--only", action="append", choices=[case.name for case in CASES], metavar="NAME", help="this case; may be repeated")
    parser.add_argument("--list", action="store_true", help="the cases, and what is expected of each")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    flags = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends clusters on the way
    cases = [case for case in CASES if not flags.only or case.name in flags.only]
    if flags.list:
        for case in cases:
            print(f"{case.name}: {case.fault} Expected: {case.expected}")
        return 0
    if os.geteuid() != 0:
        sys.exit("campaign.py: runs containers: run it as root")
    Cluster.build = flags.build.resolve()
    failed = False
    for case in cases:
        began = time.monotonic()
        outcome, happened = carry_out(case, Cluster.build)
        seconds = time.monotonic() - began
        failed |= outcome == "failed"
        if flags.json:
            print(json.dumps({"name": case.name, "row": case.row, "fault": case.fault, "expected": case.expected, "outcome": outcome,
                              "happened": happened, "seconds": round(seconds, 1)}), flush=True)
        else:
            print(f"{outcome:7} {seconds:6.1f} s  {case.name}: {happened}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
