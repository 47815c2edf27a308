#!/usr/bin/env python3
"""Builds test programs under a sanitizer and runs their tests, for as long as it may take.

    scripts/check-sanitized.py asan|tsan [--label LABEL] [--without PATTERN] [--minutes N]

With --label only programs that have it (tests/*/CMakeLists.txt), with --minutes only those that are built in seven tenths
of that time; then their tests run, but for those whose names match --without. First come programs that start no processes,
of which a sanitizer sees most for what they take to build, and of them those whose own folder, or that of the code they
test, changed last. It says which were left out. Without --minutes all are built.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOR_BUILDING = 0.7


def programs(build, label):
    """(name, folder below tests/, labels) of each test program, as tarcil_test() of cmake/targets.cmake wrote them."""
    rows = [line.split() for line in (build / "test-programs.txt").read_text().splitlines()]
    return [(name, folder, labels) for name, folder, *labels in rows if label is None or label in labels]


def in_order(found):
    """The names of the programs, first come first; of the same age in their order."""
    log = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "log", "-n", "50", "--name-only", "--format="],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout.split()

    def age(folder):
        touched = (i for i, name in enumerate(log) if name.startswith((f"{folder}/", f"tests/{folder}/")))
        return next(touched, len(log))

    found = sorted(found, key=lambda program: ("processes" in program[2], age(program[1])))
    return [name for name, *_ in found]


def build_until(deadline, preset, program, jobs):
    """Whether the program was built in time. Exits where it cannot be."""
    command = ["cmake", "--build", "--preset", preset, "--parallel", str(jobs), "--target", program]
    # A session of its own: what is under way when the time is over ends with cmake.
    building = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        if building.wait(max(0, deadline - time.monotonic())) != 0:
            sys.exit(f"check-sanitized: {program} cannot be built")
        return True
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        os.killpg(building.pid, signal.SIGTERM)
        building.wait()
        if isinstance(reason, KeyboardInterrupt):
            raise
        return False


def main():
    parser = argparse.ArgumentParser(prog="check-sanitized.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", choices=["asan", "tsan"])
    parser.add_argument("--label")
    parser.add_argument("--without", metavar="PATTERN", default="^$")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    deadline = time.monotonic() + 60 * arguments.minutes * FOR_BUILDING
    subprocess.run(["cmake", "--preset", arguments.preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found = in_order(programs(ROOT / "build" / arguments.preset, arguments.label))
    built = []
    for program in found:
        if not build_until(deadline, arguments.preset, program, arguments.jobs):
            break
        built.append(program)
    left = found[len(built):]
    failed = False
    if built:
        # Each test has its program's name among its labels.
        tests = ["-L", rf"(^|,)({'|'.join(built)})(,|$)", "-E", arguments.without]
        failed = subprocess.run(["ctest", "--preset", arguments.preset, "--parallel", str(arguments.jobs), *tests],
                                cwd=ROOT, check=False).returncode != 0
    print(f"check-sanitized: tests of {len(built)} programs ran; {len(left)} left for lack of time"
          + (f": {', '.join(left)}" if left else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
