#!/usr/bin/env python3
"""How long is the pause that clients notice when the master that leads is killed?

    bench/failover.py [--trials N] [--masters N] [--jobs N] [--at-once N] [--end kill|stop|step-down] [--json]

`tarcil up --masters N --etcd local` with emulated servers; clients ask for stored changes all the time, through the agent.
In each trial the leader ends (kill -9, SIGSTOP, or `tarcil master step-down`) while the others hold the state, and the longest
answer that was under way then is the pause. With --jobs so many jobs wait meanwhile, which the next leader has to have.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = Path("build/release")


def tarcil(data, *words):
    result = subprocess.run([PROGRAMS / "tarcil", *words, "--data", data], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"failover: tarcil {' '.join(words)}: {result.stderr}")
    return result.stdout


def masters(data):
    result = subprocess.run([PROGRAMS / "tarcil", "master", "list", "--json", "--data", data], capture_output=True, text=True)
    return json.loads(result.stdout) if result.returncode == 0 else []


def settled(data, count, behind_term):
    """The leader, once all others hold the state."""
    while True:
        told = masters(data)
        leaders = [master for master in told if master["leader"] and master["term"] > behind_term]
        standbys = [master for master in told if not master["leader"] and master["behind_ms"] is not None]
        if len(leaders) == 1 and len(standbys) == count - 1:
            return leaders[0]
        time.sleep(0.05)


def end(how, leader, data):
    if how == "step-down":
        tarcil(data, "master", "step-down")
    else:
        os.kill(leader["pid"], signal.SIGKILL if how == "kill" else signal.SIGSTOP)


def trials(arguments, data, agents):
    seconds = 30 + arguments.trials * 12
    asking = subprocess.Popen([PROGRAMS / "bench" / "pauses", agents, f"{data}/tokens/operate.token", str(seconds),
                               str(arguments.at_once)], stdout=subprocess.PIPE, text=True)
    ends, term = [], 0
    for _ in range(arguments.trials):
        leader = settled(data, arguments.masters, term)
        term = leader["term"]
        # Until everybody has found it, and whoever asked before is answered; and anywhere between two of etcd's looks at leases.
        time.sleep(1.5 + random.random())
        ends.append(time.time())
        end(arguments.end, leader, data)
        if arguments.end == "stop":
            settled_by_another(data, term)
            os.kill(leader["pid"], signal.SIGCONT)
    settled(data, arguments.masters, term)
    asking.send_signal(signal.SIGTERM)
    told = [line.split() for line in asking.communicate()[0].splitlines()]
    slow = [(float(when), float(took)) for when, took in told if when not in ("answered", "failed")]
    # Of what was asked for before the leader's end and answered after it.
    return [max((when + took - at for when, took in slow if when - 0.1 < at < when + took), default=0.0) for at in ends]


def settled_by_another(data, term):
    while not any(master["leader"] and master["term"] > term for master in masters(data)):
        time.sleep(0.05)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--masters", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--end", choices=["kill", "stop", "step-down"], default="kill")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tarcil-failover-", dir="build") as folder:
        data = str(Path(folder).absolute() / "data")
        servers = Path(folder) / "servers.yaml"
        servers.write_text('servers: [{name: "s-{n}", count: 4, rus: 4}]\n')
        up = json.loads(tarcil(data, "up", "--detach", "--json", "--no-page", "--masters", str(arguments.masters), "--etcd",
                               "local", "--emulate", str(servers)))
        try:
            job = Path(folder) / "job.yaml"
            job.write_text("command: ['true']\nstart_after: '2099-01-01T00:00:00Z'\n")
            if arguments.jobs:
                fill(data, job, arguments.jobs)
            pauses = trials(arguments, data, up["cluster"])
        finally:
            tarcil(data, "down")
    figures = {"end": arguments.end, "masters": arguments.masters, "trials": len(pauses), "jobs": arguments.jobs,
               "pause_s": {"p50": statistics.median(pauses), "p95": percentile(pauses, 0.95), "max": max(pauses)}}
    if arguments.json:
        print(json.dumps(figures))
        return
    pause = figures["pause_s"]
    print(f"{len(pauses)} leaders of {arguments.masters} ended ({arguments.end}), {arguments.jobs} jobs waiting: "
          f"pause p50 {pause['p50']:.2f} s, p95 {pause['p95']:.2f} s, most {pause['max']:.2f} s")


def fill(data, job, count):
    """Jobs that wait; all tasks of one are a record or two, so they are jobs of one task each."""
    for begin in range(0, count, 50):
        running = [subprocess.Popen([PROGRAMS / "tarcil", "submit", str(job), "--data", data], stdout=subprocess.DEVNULL)
                   for _ in range(min(50, count - begin))]
        for each in running:
            each.wait()


if __name__ == "__main__":
    main()
