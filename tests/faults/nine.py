#!/usr/bin/env python3
"""Any one process of nine and more: three etcd, three masters, agents and monitors, killed and stopped at random.

    tests/faults/nine.py [--seconds N] [--seed S] [--build DIR] [--json]     also as scripts/kill-masters.sh

As root. Commands submit jobs meanwhile. In the end everything that was acknowledged is there and done, no attempt of a task was started
twice, no exclusive task had two live copies, no unit leaks, and the audit log is whole. Exits with 1 where that is not so, and keeps the
cluster's folder. Prints what was done, and how long submissions waited at the longest.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from campaign import Cluster, Failed, go_on, pid_with, require, stop, until

ROLES = {"etcd": 3, "master": 3, "agent": 2, "server": 2}
AT_ONCE = 2  # clients that submit


class Nine(Cluster):
    def __init__(self):
        super().__init__("--masters", "3", "--etcd", "local", "--agents", str(ROLES["agent"]), "--servers", str(ROLES["server"]), "--rus", "6", "--no-page")

    def pid(self, role):
        if not role.startswith("etcd"):
            return super().pid(role)
        return pid_with("--data-dir", f"{self.data}/etcd/{role}")

    def leader(self):
        """Its name; None where nobody leads or says so."""
        told = self.tarcil("master", "list", "--json", check=False)
        if told.returncode != 0:
            return None
        leaders = [master["address"] for master in json.loads(told.stdout) if master["leader"]]
        return leaders[0].rsplit("/", 1)[1].removesuffix(".sock") if leaders else None


class Load:
    """Commands that submit jobs of two tasks, one of three exclusive, until they are told to end."""

    def __init__(self, cluster):
        self.cluster, self.ending = cluster, threading.Event()
        self.jobs, self.refused, self.longest = [], [], 0.0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.submit_again_and_again, args=(i,)) for i in range(AT_ONCE)]
        for thread in self.threads:
            thread.start()

    def submit_again_and_again(self, client):
        number = 0
        while not self.ending.is_set():
            number += 1
            name = f"job-{client}-{number}"
            script = f"echo $TARCIL_TASK.$TARCIL_ATTEMPT >> {self.cluster.traces}/{name}; sleep 0.5"
            job = {"command": ["sh", "-c", script], "tasks": 2, "name": name}
            if number % 3 == 0:
                job = {**job, "command": ["sh", "-c", self.cluster.hold_lock(name) + script], "exclusive": True, "restart": {"attempts": 5}}
            began = time.monotonic()
            done = self.cluster.tarcil("submit", "--json", "-", check=False, text=json.dumps(job))
            with self.lock:
                self.longest = max(self.longest, time.monotonic() - began)
                if done.returncode == 0:
                    self.jobs.append((name, json.loads(done.stdout)["job"]))
                else:
                    self.refused.append(done.stderr.strip()[-200:])
            time.sleep(0.1)

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()


def harm(cluster, choose):
    """One process is killed, or stopped for a while; what was done."""
    kind = choose.choice(list(ROLES))
    role = f"{kind}-{choose.randrange(ROLES[kind]) + 1}"
    if choose.random() < 0.3:  # who leads has the most to lose
        role = cluster.leader() or role
    pid = cluster.pid(role)
    if pid is None:
        return "nobody"
    if choose.random() < 0.6:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        until(f"{role} is back", lambda: cluster.pid(role) not in (None, pid))
        return f"killed {role.rpartition('-')[0]}"
    stop(pid)
    time.sleep(choose.uniform(0.5, 8))
    go_on(pid)
    return f"stopped {role.rpartition('-')[0]}"


def judge(cluster, load):
    for name, job in load.jobs:
        cluster.expect_done(job)
        started = cluster.lines(name)
        require(len(set(started)) == len(started), f"{name} (job {job}) was started twice: {started}")
        require({line.split(".")[0] for line in started} == {"0", "1"}, f"{name} (job {job}) did not run: {started}")
    cluster.expect_no_overlap()
    cluster.expect_units_free()
    verified = cluster.tarcil("audit", "--verify", check=False)
    require(verified.returncode == 0, f"the audit log: {verified.stdout}{verified.stderr}")
    require(not load.refused, f"{len(load.refused)} of {len(load.refused) + len(load.jobs)} submissions were refused, such as: {load.refused[:1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=Path, default=Cluster.build)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    Cluster.build = arguments.build.absolute()
    choose = random.Random(arguments.seed)
    done = {}
    try:
        with Nine() as cluster:
            cluster.tarcil("run", "--", "true")
            load = Load(cluster)
            try:
                end = time.monotonic() + arguments.seconds
                while time.monotonic() < end:
                    what = harm(cluster, choose)
                    done[what] = done.get(what, 0) + 1
                    time.sleep(choose.uniform(0, 3))
            finally:
                load.end()
            judge(cluster, load)
    except Failed as failed:
        print(f"nine.py: {failed}; seed {arguments.seed}, {done}", file=sys.stderr)
        sys.exit(1)
    told = {"seconds": arguments.seconds, "seed": arguments.seed, "jobs": len(load.jobs), "longest_submission_s": round(load.longest, 2), "done": done}
    print(json.dumps(told) if arguments.json else f"{told['jobs']} jobs, all done and none twice; the longest submission took {told['longest_submission_s']} s; {done}")


if __name__ == "__main__":
    main()
