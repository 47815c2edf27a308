#!/usr/bin/env python3
"""Do profiles foresee how programs slow each other down?

    bench/co_runs.py [--seconds N] NAME NAME...     applications of scripts/profile-applications.py

Runs each application on the first core alone, and beside each of the others on the second, again and again for N seconds
each. What is foreseen is S, 1 - max over resources of (caused by the neighbour - tolerated) / 99, from the measured
entries of classifier/data/known-applications.yaml; what is measured is how much more processor time a run takes.
"""

import argparse
import importlib.util
import os
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("profiles", ROOT / "scripts/profile-applications.py")
profiles = importlib.util.module_from_spec(spec)
spec.loader.exec_module(profiles)


def start(name, folder, core):
    return subprocess.Popen(profiles.APPLICATIONS[name][1], cwd=folder, stdout=subprocess.DEVNULL,
                            preexec_fn=lambda: os.sched_setaffinity(0, {core}))


def used():
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime


def processor_time(name, folder, core, seconds):
    """Of the best quarter of the runs in so many seconds."""
    runs, until = [], time.monotonic() + seconds
    while not runs or time.monotonic() < until:
        before = used()
        start(name, folder, core).wait()
        runs.append(used() - before)
    return sorted(runs)[len(runs) // 4]


def beside(name, other, folders, cores, seconds):
    """The same while `other` runs, again and again, as a process of its own that waits for it."""
    neighbour = os.fork()
    if neighbour == 0:
        os.setpgid(0, 0)
        while True:
            start(other, folders[1], cores[1]).wait()
    try:
        return processor_time(name, folders[0], cores[0], seconds)
    finally:
        os.killpg(neighbour, 9)
        os.waitpid(neighbour, 0)


def pressures(lines, kind):
    found = re.search(kind + r": \{(.*)\}", lines)
    return {k: int(v) for k, v in (p.split(": ") for p in found[1].split(", "))} if found and found[1] else {}


def foreseen(name, other, known):
    tolerated, caused = pressures(known[name], "tolerated"), pressures(known[other], "caused")
    return 1 - max((max(0, caused.get(r, 0) - t) for r, t in tolerated.items()), default=0) / 99


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("names", nargs="+")
    arguments = parser.parse_args()
    known = profiles.read(ROOT / "classifier/data/known-applications.yaml")
    cores = sorted(os.sched_getaffinity(0))
    print(f"{len(cores)} cores, {arguments.seconds:g} s for each figure")
    print("Program         Beside          Foreseen  Measured")
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        folders = (Path(first), Path(second))
        for folder in folders:
            profiles.make_inputs(folder)
        for name in arguments.names:
            for other in arguments.names:
                alone = processor_time(name, folders[0], cores[0], arguments.seconds)
                pressed = beside(name, other, folders, cores, arguments.seconds)
                print(f"{name:15} {other:15} {foreseen(name, other, known):8.3f} {alone / pressed:9.3f}", flush=True)


if __name__ == "__main__":
    main()
