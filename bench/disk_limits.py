#!/usr/bin/env python3
"""Question: does a task get as much of a disk as its job's limit says, and no more?

    bench/disk_limits.py [--seconds N] [--folder DIR] [--build DIR]

As root. Starts a cluster of one server and on it, one after the other, tasks with limits.disk_bandwidth of 5, 20 and 80
MB and with none, each of which writes past the page cache for N seconds and then reads what it wrote; then two
tasks at once, of one unit and of three, without a limit, whose shares show what the weights do. Prints the rates that the
tasks had. The folder is on the disk in question.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# dd says how many bytes it copied in how many seconds; a timeout ends it with SIGINT.
SCRIPT = """\
timeout -s INT {seconds} dd if=/dev/zero of=file bs=256k oflag=direct 2>&1 | tail -1
timeout -s INT {seconds} dd if=file of=/dev/null bs=256k iflag=direct 2>&1 | tail -1
"""


class Cluster:
    def __init__(self, build, folder):
        self.tarcil, self.folder = str(build / "tarcil"), folder
        os.environ["TARCIL_DATA"] = str(folder / "data")
        self.run("up", "--detach", "--rus", "4")

    def run(self, *arguments, check=True):
        done = subprocess.run([self.tarcil, *arguments], text=True, capture_output=True)
        if check and done.returncode != 0:
            sys.exit(f"tarcil {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def submit(self, seconds, units, limit=None):
        path = self.folder / "job.yaml"
        limits = "" if limit is None else f"limits: {{disk_bandwidth: {limit}MB}}\n"
        path.write_text(f"command: [sh, -c, {json.dumps(SCRIPT.format(seconds=seconds))}]\n"
                        f"rus_per_task: {units}\n{limits}")
        return json.loads(self.run("submit", str(path), "--json"))["job"]

    def rates(self, job):
        """MB/s written and read."""
        self.run("job", "wait", job, check=False)
        found = re.findall(r"^(\d+) bytes .* ([\d.e+-]+) s,", self.run("job", "logs", job), re.MULTILINE)
        return [int(count) / float(seconds) / 1e6 for count, seconds in found]


def show(what, rates):
    print(f"{what:34} " + "   ".join(f"{name} {rate:7.1f} MB/s" for name, rate in zip(("written", "read"), rates)),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"))
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tarcil-disk-", dir=arguments.folder) as folder:
        os.chmod(folder, 0o711)
        cluster = Cluster(arguments.build, Path(folder))
        try:
            missing = json.loads(cluster.run("server", "show", "server-1", "--json")).get("missing")
            print(f"missing on this server: {', '.join(missing) if missing else 'nothing'}")
            for limit in (5, 20, 80, None):
                rates = cluster.rates(cluster.submit(arguments.seconds, 1, limit))
                show("no limit" if limit is None else f"limit of {limit} MB/s", rates)
            both = [(units, cluster.submit(2 * arguments.seconds, units)) for units in (1, 3)]
            for units, job in both:
                show(f"two at once, the one of {units} unit{'s' if units > 1 else ''}", cluster.rates(job))
        finally:
            cluster.run("down", check=False)


main()
