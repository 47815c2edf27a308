#!/usr/bin/env python3
"""Question: does a task get as much of a disk as its job's limit says, and no more?

    bench/disk_limits.py [--seconds N] [--scheduler NAME] [--folder DIR] [--build DIR]

As root. Starts a cluster of one server and on it, one after the other, tasks with limits.disk_bandwidth of 5, 20 and 80
MB and with none, each of which writes past the page cache for N seconds and then reads what it wrote; then two
tasks at once, of one unit and of three, without a limit and with four processes each, whose shares show what the weights
do. Prints the rates that the tasks had. The folder is on the disk in question. --scheduler: only the two at once, on a
loop device over a file in the folder that this scheduler (bfq, mq-deadline, ...) serves.
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
for i in $(seq {processes}); do
  timeout -s INT {seconds} dd if=/dev/zero of=file$i bs=256k oflag=direct 2>&1 | tail -1 &
done; wait
for i in $(seq {processes}); do
  timeout -s INT {seconds} dd if=file$i of=/dev/null bs=256k iflag=direct 2>&1 | tail -1 &
done; wait
"""


class LoopDisk:
    """A file system on a disk that the scheduler serves."""

    def __init__(self, folder, scheduler):
        self.image, self.where = folder / "disk", folder / "mounted"
        with open(self.image, "wb") as image:
            image.truncate(6 << 30)
        self.device = self.said("losetup", "--direct-io=on", "--find", "--show", str(self.image))
        try:
            Path(f"/sys/block/{Path(self.device).name}/queue/scheduler").write_text(scheduler)
            self.said("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", self.device)
            self.where.mkdir()
            self.said("mount", self.device, str(self.where))
            os.chmod(self.where, 0o711)
        except BaseException:
            self.remove()
            raise

    def remove(self):
        subprocess.run(["umount", str(self.where)], capture_output=True)
        subprocess.run(["losetup", "--detach", self.device])

    @staticmethod
    def said(*command):
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


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

    def submit(self, seconds, units, limit=None, processes=1):
        path = self.folder / "job.yaml"
        limits = "" if limit is None else f"limits: {{disk_bandwidth: {limit}MB}}\n"
        path.write_text(f"command: [sh, -c, {json.dumps(SCRIPT.format(seconds=seconds, processes=processes))}]\n"
                        f"rus_per_task: {units}\n{limits}")
        return json.loads(self.run("submit", str(path), "--json"))["job"]

    def rates(self, job):
        """MB/s written and read, by all of its processes."""
        self.run("job", "wait", job, check=False)
        found = re.findall(r"^(\d+) bytes .* ([\d.e+-]+) s,", self.run("job", "logs", job), re.MULTILINE)
        each = [int(count) / float(seconds) / 1e6 for count, seconds in found]
        half = len(each) // 2
        return [sum(each[:half]), sum(each[half:])]


def show(what, rates):
    print(f"{what:34} " + "   ".join(f"{name} {rate:7.1f} MB/s" for name, rate in zip(("written", "read"), rates)),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--scheduler")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"))
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tarcil-disk-", dir=arguments.folder) as folder:
        os.chmod(folder, 0o711)
        if arguments.scheduler is None:
            measure(arguments, Path(folder))
            return
        disk = LoopDisk(Path(folder), arguments.scheduler)
        try:
            measure(arguments, disk.where)
        finally:
            disk.remove()


def measure(arguments, folder):
    cluster = Cluster(arguments.build, folder)
    try:
        missing = json.loads(cluster.run("server", "show", "server-1", "--json")).get("missing")
        print(f"missing on this server: {', '.join(missing) if missing else 'nothing'}")
        for limit in () if arguments.scheduler else (5, 20, 80, None):
            rates = cluster.rates(cluster.submit(arguments.seconds, 1, limit))
            show("no limit" if limit is None else f"limit of {limit} MB/s", rates)
        both = [(units, cluster.submit(2 * arguments.seconds, units, processes=4)) for units in (1, 3)]
        for units, job in both:
            show(f"two at once, the one of {units} unit{'s' if units > 1 else ''}", cluster.rates(job))
    finally:
        cluster.run("down", check=False)


main()
