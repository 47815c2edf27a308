#!/usr/bin/env python3
"""Question: what does a user feel of another one who means harm, and what do the roles take meanwhile?

    bench/hostile.py [--seconds N] [--rounds N] [--rate JOBS_PER_S] [--behaviours LIST]
                     [--connections N] [--servers N] [--waiting-jobs N] [--build DIR]

On a cluster of its own, of emulated servers: one user submits small jobs at a steady rate, first alone, then beside the client of another
user, who misbehaves in one way after the other, each time under another name (tests/hostile/hostile_client.h); several with + between them
are one user's at once, and "busy" is a process that only computes, where they would be: what the machine's cores alone cost. For each: the
time from when a job was to be submitted to the answer that it is on disk, median and 99th percentile, and that of alone; how much memory
master, agent and monitor hold at the most and how many descriptors, and the longest step of their event
loops so far. Beside "monitor", a stranger at the monitor's port who takes connections, says nothing on some and what is no message on
others, the time is that to the job's end, as beside "nobody-to-the-end". Whoever misbehaves has one core of the machine, shared with the rest.
With --rounds all of it several times on one cluster, and after each what the roles hold at rest: does it
grow? What a user has used up in one round is what it meets in the next."""

import argparse
import contextlib
import json
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNITS = 16  # of a server
FLOODS = "plan+list+wait+submit+cancel"
ROLES = {"master": "master", "agent-1": "agent", "emulated": "monitor"}


class Cluster:
    def __init__(self, build, folder, servers, waiting, behaviours, more=()):
        """`more`: words for `tarcil up`."""
        self.build, self.folder, self.waiting = build, Path(folder), waiting
        (self.folder / "servers.yaml").write_text(f'servers: [{{name: "s-{{n}}", count: {servers}, rus: {UNITS}}}]\n')
        words = ["up", "--detach", "--emulate", "servers.yaml", *more]
        self(*words)
        self("down")
        # A user of its own for each behaviour: what one has used up is not what the next meets.
        with open(self.folder / "data/master/tokens", "a") as tokens:
            for number, name in enumerate(behaviours):
                token = f"{number:064x}"
                tokens.write(f"{token} {name.replace('+', '-')} submit nobody\n")
                file = self.token(name)
                file.touch(0o600)
                file.write_text(token + "\n")
        if waiting > 0:
            subprocess.run([build / "bench/fill_store", self.folder / "data/master/store", "--servers", "0", "--jobs", str(waiting),
                            "--tasks", "1", "--rus-per-task", str(UNITS + 1), "--waiting"], check=True, stdout=subprocess.DEVNULL)
        up = json.loads(self(*words, "--json"))
        self.agent = up["cluster"].split(",")[0]
        self.processes = {process["name"]: process["pid"] for process in up["processes"]}
        self.pids = {name: self.processes[name] for name in ROLES}

    def __call__(self, *words):
        done = subprocess.run([str(self.build / "tarcil"), *words], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "TARCIL_DATA": str(self.folder / "data")})
        if done.returncode != 0:
            sys.exit(f"tarcil {' '.join(words)}: {done.stderr}")
        return done.stdout

    def token(self, behaviour):
        return self.folder / f"{behaviour}.token"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for line in (line for log in self.folder.glob("data/log/*.log") for line in log.read_text().splitlines()):
            if "nobody was served" in line:
                print(line, file=sys.stderr)
        self("down")

    def mebibytes(self, name):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pids[name]}/status").read_text())[1]) / 1024

    def descriptors(self, name):
        return len(os.listdir(f"/proc/{self.pids[name]}/fd"))

    def settle(self):
        """Waits until agents have told of each job that waits why it does, which begins --wait-bound (30 s) after the start."""
        before = None
        while True:
            now = [float(each) for each in re.findall(r"^tarcil_master_commits_total\S* (\S+)", self("metrics", "master"), re.MULTILINE)]
            if now == before and sum(now) >= self.waiting:
                return
            before = now
            time.sleep(2)

    def longest_step(self, name):
        """In milliseconds, since the role began."""
        return 1e3 * float(re.search(rf"^tarcil_{ROLES[name]}_longest_step_seconds (\S+)", self("metrics", name), re.MULTILINE)[1])


class Watch(threading.Thread):
    """The most that each role holds, looked at ten times a second."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.going = cluster, True
        self.memory = dict.fromkeys(cluster.pids, 0.0)
        self.descriptors = dict.fromkeys(cluster.pids, 0)

    def run(self):
        while self.going:
            for name in self.cluster.pids:
                self.memory[name] = max(self.memory[name], self.cluster.mebibytes(name))
                self.descriptors[name] = max(self.descriptors[name], self.cluster.descriptors(name))
            time.sleep(0.1)

    def stop(self):
        self.going = False
        self.join()
        return self


def be_a_stranger(port, seconds):
    """A thousand connections at a Unix socket: on every other one bytes that are no message, as fast as they are taken."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    noise, held, end = os.urandom(1 << 16), [], time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            line = socket.socket(socket.AF_UNIX)
            line.setblocking(False)
            held.append(line)
            line.connect(str(port))
        for line in held[-64::2]:
            with contextlib.suppress(OSError):
                line.send(noise)
        for line in held[:-1000]:
            line.close()
        del held[:-1000]


def submissions(cluster, rate, seconds, mode="submit"):
    """Median and 99th percentile in milliseconds; none where some failed."""
    done = subprocess.run([str(cluster.build / "bench/cluster_bench"), "--mode", mode, "--rate", str(rate), "--task-ms", "1",
                           "--jobs", str(int(rate * seconds)), "--data", str(cluster.folder / "data")], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr.splitlines()[-1], file=sys.stderr)
        return None
    said = json.loads(done.stdout.splitlines()[-1])
    return said["p50_ms"], said["p99_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="of each behaviour")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rate", type=float, default=50, help="jobs a second of the honest user")
    parser.add_argument("--behaviours", default="", help="separated by commas; default: all")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--servers", type=int, default=100)
    parser.add_argument("--waiting-jobs", type=int, default=0, help="of other users, which no server has the units for")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    flags = parser.parse_args()
    hostile = flags.build / "tests/tarcil_hostile_client"
    names = flags.behaviours.split(",") if flags.behaviours else re.findall(
        r"^  ([a-z-]+): ", subprocess.run([hostile, "--help"], capture_output=True, text=True).stdout, re.MULTILINE)
    if not flags.behaviours:
        names += [FLOODS, "nobody-to-the-end", "monitor"]
    print("| beside | median, ms | p99, ms | p99 by alone | master, agent, monitor: MiB | descriptors | longest steps, ms | answered, refused |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tarcil-hostile-", dir="/var/tmp") as folder, Cluster(
            flags.build, folder, flags.servers, flags.waiting_jobs, [name for name in names if name != "monitor" and not name.startswith("nobody")]) as cluster:
        alone = {}
        cluster.settle()
        for name in (["nobody", *names, "at rest"] if flags.rounds > 1 else ["nobody", *names]) * flags.rounds:
            if name == "at rest":
                time.sleep(20)  # connections and uploads that nobody goes on with have gone, and memory went back
                print(f"| {name} | | | | {listed(map(cluster.mebibytes, ROLES))} | {listed(map(cluster.descriptors, ROLES))} | | |", flush=True)
                continue
            watch = Watch(cluster)
            watch.start()
            others, stranger = [], None
            if name == "monitor":
                stranger = multiprocessing.Process(target=be_a_stranger, args=(cluster.folder / "data/run/emulated.sock", flags.seconds + 4))
                stranger.start()
            elif not name.startswith("nobody"):
                for each in name.split("+"):
                    if each == "busy":
                        others.append(subprocess.Popen(["taskset", "-c", "0", "timeout", str(flags.seconds + 4), "sh", "-c", "while :; do :; done"],
                                                       stdout=subprocess.PIPE, text=True))
                        continue
                    connections = 100_000 if each == "connections" else flags.connections
                    others.append(subprocess.Popen(["taskset", "-c", "0", hostile, "--behaviour", each, "--agent", cluster.agent, "--token-file",
                                                    cluster.token(name), "--connections", str(connections), "--seconds", str(flags.seconds + 4)],
                                                   stdout=subprocess.PIPE, text=True))
            if others or stranger:
                time.sleep(2)  # until it is at its worst
            mode = "stream" if name in ("monitor", "nobody-to-the-end") else "submit"
            took = submissions(cluster, flags.rate, flags.seconds, mode)
            said = [json.loads(other.communicate()[0] or "{}") for other in others]
            if stranger:
                stranger.join()
            watch.stop()
            if took:
                alone.setdefault(mode, took)
            p50, p99 = took or (float("nan"), float("nan"))
            by_alone = p99 / alone[mode][1] if mode in alone else float("nan")
            steps = ", ".join(f"{cluster.longest_step(role):.1f}" for role in ROLES)
            counts = ", ".join(str(sum(each.get(what, 0) for each in said)) for what in ("answered", "refused"))
            print(f"| {name} | {p50:.2f} | {p99:.2f} | {by_alone:.1f} | {listed(watch.memory.values())} | {listed(watch.descriptors.values())} "
                  f"| {steps} | {counts} |", flush=True)
            time.sleep(1)


def listed(numbers):
    return ", ".join(f"{number:.0f}" for number in numbers)


if __name__ == "__main__":
    main()
