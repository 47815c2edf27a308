#!/usr/bin/env python3
"""Question: what is it worth that the cluster measures and learns what commands do to each other?

    bench/placement_on_slices.py [--jobs N] [--every SECONDS] [--work SECONDS] [--seed N] [--steps LIST] [--build DIR]

As root. Twenty unlike commands, of which nobody typed a profile, come one after another to two servers, slices of this
machine (docs/slices.md). The same stream is placed in several ways, which are the lines of the table:

  random        any free slot
  few           the same with no more jobs under way at once than `profiled` had in the mean
  load          the less loaded of two slots (policy per-task)
  measured      by what tasks are measured to do while they run; nothing else is known
  learned       and by what earlier runs of the application were measured to do: those of `random` and `load`
  profiled      by the profile that the cluster measured of each command beforehand (`profile run --on-cluster`), and by what is learned

For each: performance (time alone / time that it ran, at most 1) in the mean, of the worst tenth, and the share of jobs above 0.9; time from submission
to end by the time alone, in the mean; and how many ran at once in the mean. Takes some 25 minutes by default; other programs
spoil it: it says the machine's load as it begins."""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# $N is how much is to be done; some 0.1 s each alone on a core of this kind, or at 50 MB a second.
COMMANDS = {
    "count": "awk -v n=$N 'BEGIN {for (i = 0; i < n * 2500000; ++i) s += i}'",
    "sum": "python3 -c 'print(sum(i * i for i in range(int(\"'$N'\") * 2200000)))'",
    "hash": "head -c $((N * 16000000)) /dev/zero | sha256sum; head -c $((N * 16000000)) /dev/zero | md5sum",
    "gzip": "seq $((N * 220000)) | gzip -9 >/dev/null",
    "bzip2": "seq $((N * 280000)) | bzip2 >/dev/null",
    "xz": "seq $((N * 21000)) | xz -6 >/dev/null",
    "regex": "perl -e '$t = \"abcab\" x 20000; for (1 .. '$N' * 11) { $n += () = $t =~ /ab+c?/g }'",
    "sort": "seq $((N * 18000)) | sort -r -n -S 400M | tail -1; seq $((N * 18000)) | sort -R | tail -1",
    "shell": "i=0; while [ $i -lt $((N * 86000)) ]; do i=$((i + 1)); done",
    "touch": "python3 -c 'b = bytearray(300 << 20)\nfor k in range(int(\"'$N'\") * 80):\n b[::4096] = bytes(len(b) // 4096)'",
    "hold": "python3 -c 'import time\nb = bytearray(600 << 20)\nfor k in range(int(\"'$N'\")):\n b[::65536] = bytes(9600); time.sleep(0.09)'",
    "write": "for i in $(seq $N); do dd if=/dev/zero of=f bs=1M count=5 oflag=direct status=none; done",
    "read": "dd if=/dev/zero of=f bs=1M count=5 oflag=direct status=none; for i in $(seq $N); do dd if=f of=/dev/null bs=1M iflag=direct status=none; done",
    "log": "for i in $(seq $N); do dd if=/dev/zero of=f bs=4k count=55 oflag=dsync status=none; done",
    "copy": "dd if=/dev/zero of=f bs=1M count=2 oflag=direct status=none; for i in $(seq $N); do dd if=f of=g bs=1M iflag=direct oflag=direct status=none; sha256sum f >/dev/null; done",
    "send": "python3 net.py send $MACHINE $N",
    "fetch": "python3 net.py fetch $MACHINE $N",
    "ask": "python3 net.py ask $MACHINE $N",
    "wait": "for i in $(seq $N); do sleep 0.1; done",
    "mixed": "for i in $(seq $N); do seq 140000 | gzip >f; dd if=/dev/zero of=g bs=1M count=1 oflag=direct status=none; sleep 0.02; done",
}

# Send and fetch: 5 MB for each of N; ask: 21,000 questions, 50 under way: one by one, half of the time would go into waking an
# idle core up, and neighbours would make it faster.
CLIENT = '''\
import socket, sys
what, machine, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
with socket.create_connection((machine, int(open("port").read()))) as to:
    if what == "send":
        to.sendall(b"s")
        for _ in range(n * 80):
            to.sendall(bytes(62500))
        to.shutdown(socket.SHUT_WR)
        to.recv(1)
    elif what == "fetch":
        to.sendall(b"f" + (n * 5000000).to_bytes(8, "big"))
        while to.recv(1 << 20):
            pass
    else:
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        to.sendall(b"a")
        for _ in range(n * 420):
            for _ in range(50):
                to.sendall(b"?")
            left = 50
            while left > 0:
                left -= len(to.recv(left))
'''


def answer(peer):
    with peer:
        kind = peer.recv(1)
        if kind == b"f":
            left = int.from_bytes(peer.recv(8), "big")
            while left > 0:
                left -= peer.send(bytes(min(left, 1 << 20)))
            return
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while got := peer.recv(1 << 20):
            if kind == b"a":
                peer.sendall(got)
        if kind == b"s":
            peer.sendall(b".")


def serve(listener):
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=lambda: ignore_ends(peer), daemon=True).start()


def ignore_ends(peer):
    """A task that was killed takes its connection along."""
    try:
        answer(peer)
    except OSError:
        pass


class Cluster:
    def __init__(self, build, folder, *options):
        self.program, self.folder = str(build / "tarcil"), Path(folder)
        self.up = json.loads(self("up", "--detach", "--json", *options))
        self.machine = self.up["machine_address"]
        self.listener = socket.create_server((self.machine, 0))
        threading.Thread(target=serve, args=(self.listener,), daemon=True).start()
        (self.folder / "net.py").write_text(CLIENT)
        (self.folder / "port").write_text(str(self.listener.getsockname()[1]))

    def __call__(self, *words, may_fail=False):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "TARCIL_DATA": str(self.folder / "data")})
        if done.returncode != 0 and not may_fail:
            sys.exit(f"tarcil {' '.join(words)}: {done.stderr}")
        return done.stdout if done.returncode == 0 else ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self("down", may_fail=True)

    def command(self, name, work):
        return ["sh", "-c", f"export N={work} MACHINE={self.machine}; {COMMANDS[name]}"]

    def submit(self, name, work, **more):
        job = {"name": name, "command": self.command(name, work), "files": ["net.py", "port"], "limits": {"memory": "1GiB"}, **more}
        (self.folder / "job.json").write_text(json.dumps(job))
        return json.loads(self("submit", "job.json", "--json"))["job"]

    def knows(self, application):
        """Whether a job that names it gets a profile: a stored one, or one of three runs or more."""
        said = json.loads(self("profile", "show", application, "--json", may_fail=True) or "{}")
        return bool(said.get("stored") or said.get("revision")) or (said.get("observed") or {}).get("runs", 0) >= 3

    def ended(self, job):
        self("job", "wait", job, may_fail=True)
        status = json.loads(self("job", "status", job, "--json"))
        task = status["tasks"][0]
        if status["state"] != "done":
            sys.exit(f"{status['name']} is {status['state']}: {task['problem'] or task['exit_code']}")
        began, end, came = (datetime.fromisoformat(task[key].replace("Z", "+00:00")).timestamp()
                            for key in ("started", "finished", "submitted"))
        return {"name": status["name"], "ran": end - began, "took": end - came, "server": task["server"]}


def alone(cluster, work):
    """Seconds of each command with nothing beside it; the better of two, as memory comes slowly the first time."""
    times = {}
    for name in COMMANDS:
        times[name] = min(cluster.ended(cluster.submit(name, work))["ran"] for _ in range(2))
        print(f"  {name}: {times[name]:.2f} s", file=sys.stderr, flush=True)
    return times


def profiles(build, folder):
    """Of each command, as a cluster of one slice with all cores measures it: a profile takes a core to press from."""
    with Cluster(build, folder, "--slices", "1", "--slice-memory", "4GiB") as cluster:
        cluster("profile", "calibrate", "--on-cluster", may_fail=True)
        for name in COMMANDS:
            said = cluster("profile", "run", "--on-cluster", "--store", "--application", name, "--file", "net.py", "--file", "port",
                           "--seconds", "8", "--output", f"{name}.yaml", "--", *cluster.command(name, 3), may_fail=True)
            print(f"  {name}: {'profiled' if said else 'no profile'}", file=sys.stderr, flush=True)


def run_stream(cluster, stream, work, more, most=None):
    """Submits the jobs when they come, with at most so many under way; what became of each."""
    jobs, begin = [], time.monotonic()
    under_way = set()
    for at, name in stream:
        time.sleep(max(0, begin + at - time.monotonic()))
        while most is not None and len(under_way) >= most:
            under_way = {job for job in under_way
                         if json.loads(cluster("job", "status", job, "--json"))["state"] not in ("done", "failed")}
            time.sleep(0.05)
        job = cluster.submit(name, work, **more(name))
        jobs.append((job, begin + at, time.monotonic()))
        under_way.add(job)
    # What waits to be submitted waits too.
    return [{**cluster.ended(job), "held": submitted - came} for job, came, submitted in jobs], time.monotonic() - begin


def row(results, seconds, times):
    # Runs of the same command differ by a few percent: one that was faster than alone gained nothing by its place.
    speed = sorted(min(1, times[result["name"]] / result["ran"]) for result in results)
    late = [(result["held"] + result["took"]) / times[result["name"]] for result in results]
    return (statistics.mean(speed), statistics.mean(speed[:max(1, len(speed) // 10)]), sum(s >= 0.9 for s in speed) / len(speed),
            statistics.mean(late), sum(result["ran"] for result in results) / seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--every", type=float, default=3.5, help="seconds between two jobs, in the mean")
    parser.add_argument("--work", type=int, default=80, help="how much each command does, in tenths of a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", default="random,load,measured,learned,profiled,few")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    flags = parser.parse_args()
    print(f"load as it begins: {os.getloadavg()[0]:.2f}", file=sys.stderr)
    chance = random.Random(flags.seed)
    names = [name for _ in range(-(-flags.jobs // len(COMMANDS))) for name in chance.sample(list(COMMANDS), len(COMMANDS))]
    stream, at = [], 0.0
    for name in names[:flags.jobs]:
        stream.append((at, name))
        at += chance.expovariate(1 / flags.every)
    rows = {}
    with tempfile.TemporaryDirectory(prefix="tarcil-slices-", dir="/var/tmp") as folder:
        (Path(folder) / "alone").mkdir()
        (Path(folder) / "stream").mkdir()
        if "profiled" in flags.steps:
            profiles(flags.build, Path(folder) / "alone")
        with Cluster(flags.build, Path(folder) / "stream", "--slices", "2", "--rus", "4", "--slice-memory", "4GiB",
                     "--pressure-period", "500ms") as cluster:
            times = alone(cluster, flags.work)
            # An application that nothing is known of: its runs are observed.
            unknown = lambda name: {"profile": {"application": name, "caused": {"core": 0}}}
            known = lambda name: {"application": name} if cluster.knows(name) else unknown(name)
            ways = {
                "random": lambda name: {"policy": "random", **unknown(name)},
                "load": lambda name: {"policy": "per-task", **unknown(name)},
                "measured": lambda name: {},
                "learned": known,
                "profiled": known,
                "few": lambda name: {"policy": "random", **unknown(name)},
            }
            for step in flags.steps.split(","):
                if step == "profiled":
                    # What a program that uses a whole core does to a server of one core: profiled was a server of all.
                    cluster("platform", "set", "default", f"core={os.cpu_count()}")
                    for name in COMMANDS:
                        if (profile := Path(folder) / "alone" / f"{name}.yaml").exists():
                            cluster("profile", "import", str(profile), "--application", name)
                most = max(1, round(rows["profiled"][4])) if step == "few" and "profiled" in rows else None
                results, seconds = run_stream(cluster, stream, flags.work, ways[step], most)
                rows[step] = row(results, seconds, times)
                print("  " + ", ".join(f"{r['name']} {times[r['name']] / r['ran']:.2f}" for r in results), file=sys.stderr)
                print(f"  {step}: {rows[step]}", file=sys.stderr, flush=True)
    print(f"{flags.jobs} jobs of {len(COMMANDS)} commands, one each {flags.every} s in the mean, on two slices of a core and four units each")
    print("| placed by | performance | worst tenth | above 0.9 | end to end by alone | at once |\n|---|---|---|---|---|---|")
    for step, (speed, worst, good, late, at_once) in rows.items():
        print(f"| {step} | {speed:.3f} | {worst:.3f} | {good:.0%} | {late:.2f} | {at_once:.1f} |")


if __name__ == "__main__":
    main()
