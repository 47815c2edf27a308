#!/usr/bin/env python3
"""Question: what does a user feel of another one who means harm, and what do the roles take meanwhile?

    bench/hostile.py [--seconds N] [--rounds N] [--rate JOBS_PER_S] [--behaviours LIST]
                     [--connections N] [--servers N] [--waiting-jobs N] [--build DIR]

On a cluster of its own, of emulated servers: one user submits small jobs at a steady rate, first alone, then beside the client of another
user, who misbehaves in one way after the other, each time under another name (tests/hostile/hostile_client.h). For each: the time from when a job was to be submitted
to the answer that it is on disk, median and 99th percentile, and that of alone; how much memory the master and the agent
hold at the most and how many descriptors, and the longest step of their event loops so far. The misbehaving client has one core of the machine, which it shares with the rest.
With --rounds all of it several times on one cluster, and after each what the roles hold at rest: does it
grow? What a user has used up in one round is what it meets in the next."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNITS = 16  # of a server


class Cluster:
    def __init__(self, build, folder, servers, waiting, behaviours):
        self.build, self.folder = build, Path(folder)
        (self.folder / "servers.yaml").write_text(f'servers: [{{name: "s-{{n}}", count: {servers}, rus: {UNITS}}}]\n')
        self("up", "--detach", "--emulate", "servers.yaml")
        self("down")
        # A user of its own for each behaviour: what one has used up is not what the next meets.
        with open(self.folder / "data/master/tokens", "a") as tokens:
            for number, name in enumerate(behaviours):
                token = f"{number:064x}"
                tokens.write(f"{token} {name} submit nobody\n")
                file = self.token(name)
                file.touch(0o600)
                file.write_text(token + "\n")
        if waiting > 0:
            subprocess.run([build / "bench/fill_store", self.folder / "data/master/store", "--servers", "0", "--jobs", str(waiting),
                            "--tasks", "1", "--rus-per-task", str(UNITS + 1), "--waiting"], check=True, stdout=subprocess.DEVNULL)
        up = json.loads(self("up", "--detach", "--emulate", "servers.yaml", "--json"))
        self.agent = up["cluster"].split(",")[0]
        self.pids = {process["name"]: process["pid"] for process in up["processes"] if process["name"] in ("master", "agent-1")}

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
        """Waits until agents have tried what waits, and told why it does."""
        before = None
        while before != (now := re.findall(r"^tarcil_master_commits_total\S* \S+", self("metrics", "master"), re.MULTILINE)):
            before = now
            time.sleep(2)

    def longest_step(self, name):
        """In milliseconds, since the role began."""
        role = name.split("-")[0]
        return 1e3 * float(re.search(rf"^tarcil_{role}_longest_step_seconds (\S+)", self("metrics", name), re.MULTILINE)[1])


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


def submissions(cluster, rate, seconds):
    """Median and 99th percentile in milliseconds; none where some failed."""
    done = subprocess.run([str(cluster.build / "bench/cluster_bench"), "--mode", "submit", "--rate", str(rate), "--task-ms", "1",
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
    print("| beside | median, ms | p99, ms | p99 by alone | master, MiB | agent, MiB | descriptors | longest steps, ms | answered, refused |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tarcil-hostile-", dir="/var/tmp") as folder, Cluster(
            flags.build, folder, flags.servers, flags.waiting_jobs, names) as cluster:
        alone = None
        cluster.settle()
        for name in (["nobody", *names, "at rest"] if flags.rounds > 1 else ["nobody", *names]) * flags.rounds:
            if name == "at rest":
                time.sleep(20)  # connections and uploads that nobody goes on with have gone, and memory went back
                print(f"| {name} | | | | {cluster.mebibytes('master'):.0f} | {cluster.mebibytes('agent-1'):.0f} "
                      f"| {cluster.descriptors('master')}, {cluster.descriptors('agent-1')} | | |", flush=True)
                continue
            watch = Watch(cluster)
            watch.start()
            other = None
            if name != "nobody":
                connections = 100_000 if name == "connections" else flags.connections
                other = subprocess.Popen(["taskset", "-c", "0", hostile, "--behaviour", name, "--agent", cluster.agent, "--token-file",
                                          cluster.token(name), "--connections", str(connections), "--seconds", str(flags.seconds + 4)],
                                         stdout=subprocess.PIPE, text=True)
                time.sleep(2)  # until it is at its worst
            took = submissions(cluster, flags.rate, flags.seconds)
            said = json.loads(other.communicate()[0] or "{}") if other else {}
            watch.stop()
            if alone is None:
                alone = took
            p50, p99 = took or (float("nan"), float("nan"))
            print(f"| {name} | {p50:.2f} | {p99:.2f} | {p99 / alone[1]:.1f} | {watch.memory['master']:.0f} | {watch.memory['agent-1']:.0f} "
                  f"| {watch.descriptors['master']}, {watch.descriptors['agent-1']} "
                  f"| {cluster.longest_step('master'):.1f}, {cluster.longest_step('agent-1'):.1f} | {said.get('answered', 0)}, {said.get('refused', 0)} |",
                  flush=True)
            time.sleep(1)


if __name__ == "__main__":
    main()
