#!/usr/bin/env python3
"""Question: how much memory does each role take at each bound of docs/limits.md that costs memory?

    bench/role_memory.py [--only NAME]... [--build DIR]

As root. Each bound on a cluster of its own, with what the roles hold (resident) before and when it is reached; for what comes from
a user who means harm, the client of tests/hostile goes on until it is refused for a while. Sizes follow from bounds and not from the
speed of the machine.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hostile

ROOT = Path(__file__).resolve().parent.parent


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def highest(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


class Roles:
    """Of one cluster, by the names that are printed."""

    def __init__(self, processes):
        self.pids = {re.sub(r"-\d+$", "", name).replace("emulated", "monitor").replace("server", "monitor"): pid
                     for name, pid in processes.items() if name != "supervisor"}
        self.before = {name: resident(pid) for name, pid in self.pids.items()}

    def row(self, bound, reached, more=None):
        """`more`: other processes, by name."""
        cells = [f"{self.before[name]:.0f} → {resident(self.pids[name]):.0f} ({highest(self.pids[name]):.0f})"
                 for name in ("master", "agent", "monitor")]
        client = f"{more['client']:.0f}" if more else ""
        print(f"| {bound} | {reached} | " + " | ".join(cells) + f" | {client} |", flush=True)


def misbehave(cluster, behaviour, seconds, connections=16):
    done = subprocess.run([cluster.build / "tests/tarcil_hostile_client", "--behaviour", behaviour, "--agent", cluster.agent, "--token-file",
                           cluster.token(behaviour), "--connections", str(connections), "--seconds", str(seconds)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def unfinished(cluster):
    return int(sum(map(float, re.findall(r'^tarcil_master_jobs\{state="(?:queued|starting|running)"\} (\S+)', cluster("metrics", "master"),
                                         re.MULTILINE))))


def until_steady(build, behaviour, bound, seconds=20):
    """Until nothing more is taken for so long, whatever the client does."""
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder, hostile.Cluster(
            build, folder, 100, 0, [behaviour]) as here:
        roles, before = Roles(here.processes), -1
        while before != (now := unfinished(here)):
            before = now
            misbehave(here, behaviour, seconds)
        roles.row(bound, f"{now:,} jobs")


def waiting_jobs(build):
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder, hostile.Cluster(build, folder, 100, 0, []) as empty:
        before = Roles(empty.processes).before
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder, hostile.Cluster(
            build, folder, 100, 100_000, []) as here:
        here.settle()
        roles = Roles(here.processes)
        roles.before = before
        roles.row("waiting jobs of all users (`--max-jobs`)", f"{unfinished(here):,} jobs of one task")


def specifications(build):
    until_steady(build, "large-specs", "specifications of a user (`--max-jobs-size-of-user`), 1 MiB each")


def held_jobs(build):
    until_steady(build, "submit", "jobs of a user (`--max-jobs-of-user`), held")


def input_files(build):
    until_steady(build, "large-files", "input files of a user (`--max-files-size-of-user`), 64 MiB each", 100)


def unread_answers(build):
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder, hostile.Cluster(
            build, folder, 10_000, 0, ["never-reads"]) as here:
        roles = Roles(here.processes)
        other = subprocess.Popen([here.build / "tests/tarcil_hostile_client", "--behaviour", "never-reads", "--agent", here.agent, "--token-file",
                                  here.token("never-reads"), "--connections", "200", "--seconds", "40"], stdout=subprocess.DEVNULL)
        time.sleep(30)
        roles.row("answers that are not read", "200 connections of a user, 10,000 servers listed on each again and again")
        other.wait()


def servers(build):
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder, hostile.Cluster(build, folder, 1, 0, []) as empty:
        before = Roles(empty.processes).before
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder, hostile.Cluster(build, folder, 10_000, 0, []) as here:
        time.sleep(10)
        roles = Roles(here.processes)
        roles.before = before
        roles.row("servers", "10,000 of the 200,000, of 16 units")


def late_tasks(build):
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder, hostile.Cluster(
            build, folder, 10, 0, [], ["--late-binding-units", "1"]) as here:
        roles, taken = Roles(here.processes), 0
        (here.folder / "late.yaml").write_text("policy: late-binding\ntasks: 100000\ncommand: [sleep, '3600']\n")
        while True:
            done = subprocess.run([str(build / "tarcil"), "submit", "late.yaml"], cwd=folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "TARCIL_DATA": str(here.folder / "data")})
            if done.returncode == 0:
                taken += 100_000
            elif "out of reach" not in done.stderr:
                print(done.stderr.strip(), file=sys.stderr)
                break
        roles.row("late-bound tasks of a user that an agent holds", f"{taken:,} tasks")


def in_containers(build, bound, reached, use, *up):
    with tempfile.TemporaryDirectory(prefix="tarcil-memory-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o711)
        environment = {**os.environ, "TARCIL_DATA": folder + "/data"}

        def tarcil(*words, **more):
            return subprocess.run([str(build / "tarcil"), *words], cwd=folder, env=environment, capture_output=True, text=True, check=True,
                                  **more).stdout
        up = json.loads(tarcil("up", "--detach", "--json", *up))
        try:
            roles = Roles({each["name"]: each["pid"] for each in up["processes"]})
            use(tarcil, folder, environment, lambda more=None: roles.row(bound, reached, more))
        finally:
            tarcil("down")


def kept_tasks(build):
    def use(tarcil, _, __, row):
        tarcil("submit", "--wait", "-", input='command: [echo, "a line"]\ntasks: 2500\n')
        row()
    in_containers(build, "ended tasks of which output is kept", "2,500 tasks, of which 2,000 are kept", use, "--rus", "8")


def unread_output(build):
    def use(tarcil, folder, environment, row):
        run = subprocess.Popen([str(build / "tarcil"), "run", "--tasks", "512", "--concurrency", "64", "--", "yes"], cwd=folder, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        time.sleep(60)  # its pipe has long been full
        row({"client": resident(run.pid)})
        run.terminate()
        run.stdout.close()
        run.wait()
    in_containers(build, "output of a `run` that nobody reads", "64 tasks of `yes` at once, 60 s", use, "--rus", "64")


CASES = {"waiting-jobs": waiting_jobs, "specifications": specifications, "held-jobs": held_jobs, "input-files": input_files,
         "unread-answers": unread_answers, "servers": servers, "late-tasks": late_tasks, "kept-tasks": kept_tasks,
         "unread-output": unread_output}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=CASES, help="this bound; may be repeated")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    flags = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends clusters on the way
    print("| bound | reached with | master, MiB before → at it (highest) | agent | monitor | client |\n|---|---|---|---|---|---|")
    for name in flags.only or CASES:
        CASES[name](flags.build)


if __name__ == "__main__":
    main()
