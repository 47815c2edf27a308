#!/usr/bin/env python3
"""Question: how long is a role of a local cluster away when it is killed?

    bench/role_restart.py [--rounds N] [--pause SECONDS] [--build DIR]

As root. Starts a cluster of one server, and kills master, agent and monitor with -9 one after the other, again and again,
each after it has run for --pause seconds. Prints for each role how long it took from the kill until the supervisor said
that it was back: the middle one, and the longest.
"""

import argparse
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROLES = ["master", "agent-1", "server-1"]


def pid_of(role, data):
    """By its socket, which stands in its command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--listen" in words and words[words.index(b"--listen") + 1] == f"unix:{data}/run/{role}.sock".encode():
            return int(folder.name)
    raise SystemExit(f"{role} does not run; see {data}/log")


def seconds_away(role, data):
    log = Path(data) / "log/up.log"
    returns = log.read_text().count(f"{role} is back")
    pid = pid_of(role, data)
    begin = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    while log.read_text().count(f"{role} is back") == returns:
        time.sleep(0.0005)
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.5)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    options = parser.parse_args()
    tarcil = str(options.build / "tarcil")
    with tempfile.TemporaryDirectory(prefix="tarcil-bench-", dir="/var/tmp") as folder:
        data = folder + "/data"
        subprocess.run([tarcil, "up", "--detach", "--data", data, "--rus", "1"], check=True, stdout=subprocess.DEVNULL)
        try:
            away = {role: [] for role in ROLES}
            for _ in range(options.rounds):
                time.sleep(options.pause)
                for role in ROLES:
                    away[role].append(seconds_away(role, data))
        finally:
            subprocess.run([tarcil, "down", "--data", data], check=True, stdout=subprocess.DEVNULL)
    for role, times in away.items():
        print(f"{role}: {1000 * statistics.median(times):.0f} ms, at most {1000 * max(times):.0f} ms")


if __name__ == "__main__":
    main()
