#!/usr/bin/env python3
"""Do profiles foresee how programs slow each other down?

    bench/co_runs.py [--build FOLDER] [--seconds N] [--calibrate N] [NAME...]

Takes applications of scripts/profile-applications.py (three unless named), calibrates this machine, makes a profile of
each with `tarcil profile run --full`, and then runs each on the first core: alone, beside a kernel that presses on one
resource from the second core, and beside each of the others there, again and again for N seconds each. Two rounds; of
each time, alone and beside, the shorter counts, since whatever else runs only ever makes a program slower.

Foreseen is S, 1 - max over resources of (pressure - tolerated) / 99, as tarcil computes it when it places a task: below
1 where a program is to fall by more than 5 %. Measured is how much more processor time a run takes, as in the profiles; of
programs that use the disk, how much more time.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
spec = util.spec_from_file_location("profiles", ROOT / "scripts/profile-applications.py")
profiles = util.module_from_spec(spec)
spec.loader.exec_module(profiles)

TARGET = 0.95
INTENSITIES = (50, 99)


def start(name, folder, core):
    return subprocess.Popen(profiles.APPLICATIONS[name][1], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            preexec_fn=lambda: os.sched_setaffinity(0, {core}))


def used():
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime


def time_of_run(name, folder, core, seconds):
    """The first quartile of the runs in so many seconds: of processor time, of what uses the disk of time."""
    now = time.monotonic if name in profiles.USE_DISKS else used
    runs, until = [], time.monotonic() + seconds
    while not runs or time.monotonic() < until:
        before = now()
        if start(name, folder, core).wait() != 0:
            sys.exit(f"{name} fails")
        runs.append(now() - before)
    return sorted(runs)[len(runs) // 4]


def beside_program(name, other, folders, cores, seconds):
    """While `other` runs, again and again, as a process of its own that waits for it."""
    neighbour = os.fork()
    if neighbour == 0:
        os.setpgid(0, 0)
        while True:
            start(other, folders[1], cores[1]).wait()
    try:
        return time_of_run(name, folders[0], cores[0], seconds)
    finally:
        while True:  # until it has a group of its own
            try:
                os.killpg(neighbour, 9)
                break
            except ProcessLookupError:
                time.sleep(0.001)
        os.waitpid(neighbour, 0)


def beside_kernel(name, kernel, intensity, calibration, build, folders, cores, seconds):
    """While the kernel presses; and the pressure that it reached."""
    line = [str(build / "bench/press"), kernel, str(intensity), str(cores[1]), str(calibration)]
    with subprocess.Popen(line, cwd=folders[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as press:
        reached = press.stdout.readline()
        if not reached:
            sys.exit(f"no kernel presses on {kernel}")
        taken = time_of_run(name, folders[0], cores[0], seconds)
        press.stdin.close()
    return taken, float(reached)


def foreseen(tolerated, pressure):
    return 1 - max((max(0, pressure.get(r, 0) - t) for r, t in tolerated.items()), default=0) / 99


def profile(name, build, calibration, folder):
    by = [] if name in profiles.USE_DISKS else ["--processor-time"]
    line = [str(build / "tarcil"), "profile", "run", "--json", "--full", *by, "--seconds", "20", "--application", name,
            "--calibration", str(calibration), "--", *profiles.APPLICATIONS[name][1]]
    found = json.loads(subprocess.run(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                      check=True).stdout)
    return {kind: profiles.measured(found, kind) for kind in profiles.KEYS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--seconds", type=float, default=3, help="for each figure, in each of two rounds")
    parser.add_argument("--calibrate", type=int, default=40, help="seconds for the calibration")
    parser.add_argument("names", nargs="*", default=["zstd", "sort", "openssl-sha256"])
    arguments = parser.parse_args()
    if missing := [n for n in arguments.names if n not in profiles.APPLICATIONS
                   or not shutil.which(profiles.APPLICATIONS[n][0])]:
        parser.error(f"{missing[0]} is not here; see scripts/profile-applications.py --list")
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        parser.error("needs two cores")
    build, since = arguments.build.resolve(), time.monotonic()
    with tempfile.TemporaryDirectory(dir=build) as first, tempfile.TemporaryDirectory(dir=build) as second:
        folders = (Path(first), Path(second))
        profiles.make_inputs(folders[0])
        shutil.copytree(folders[0], folders[1], dirs_exist_ok=True)
        calibration = folders[1] / "calibration.json"
        subprocess.run([str(build / "tarcil"), "profile", "calibrate", "--seconds", str(arguments.calibrate), "--output",
                        str(calibration)], cwd=folders[1], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        machine = json.loads(calibration.read_text())
        # What one core can do to another; memory that is held disturbs nobody who does not hold any.
        kernels = [name for name, found in machine["resources"].items() if name != "memory_capacity" and
                   machine["cross_talk"][name][name] is not None]
        print(f"{machine['processor']}, {machine['cores']} cores; contended for between them: {', '.join(kernels)}", flush=True)
        known = {name: profile(name, build, calibration, folders[0]) for name in arguments.names}
        for name, found in known.items():
            print(f"{name}: causes {found['caused']}, tolerates {found['tolerated']}", flush=True)

        times, foreseen_of = {}, {}

        def note(key, taken, alone, s):
            times[key] = tuple(map(min, times.get(key, (alone, taken)), (alone, taken)))
            foreseen_of[key] = min(foreseen_of.get(key, 1), s)

        for _ in range(2):
            for name in arguments.names:
                tolerated = known[name]["tolerated"]
                for other in arguments.names:
                    alone = time_of_run(name, folders[0], cores[0], arguments.seconds)
                    taken = beside_program(name, other, folders, cores, arguments.seconds)
                    note((name, other), taken, alone, foreseen(tolerated, known[other]["caused"]))
                for kernel in kernels:
                    alone = time_of_run(name, folders[0], cores[0], arguments.seconds)
                    for intensity in INTENSITIES:
                        taken, reached = beside_kernel(name, kernel, intensity, calibration, build, folders, cores,
                                                       arguments.seconds)
                        note((name, f"{kernel} at {intensity}"), taken, alone, foreseen(tolerated, {kernel: reached}))

    print(f"\n{'Program':16}{'Beside':26}{'Foreseen':>9}{'Measured':>9}  Falls by more than 5 %")
    right, best = 0, {key: alone / taken for key, (alone, taken) in times.items()}
    for (name, beside), measured in best.items():
        s = foreseen_of[name, beside]
        is_right = (s < 1) == (measured < TARGET)
        right += is_right
        verdict = f"{'yes' if measured < TARGET else 'no'}{'' if is_right else ', foreseen otherwise'}"
        print(f"{name:16}{beside:26}{s:9.3f}{measured:9.3f}  {verdict}")
    error = sum(abs(foreseen_of[key] - measured) for key, measured in best.items()) / len(best)
    print(f"\nmean error {error:.3f}; right about 5 % in {right} of {len(best)}; {time.monotonic() - since:.0f} s in all, "
          f"{arguments.seconds:g} s for each figure")


if __name__ == "__main__":
    main()
