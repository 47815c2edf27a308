"""Plants one bug after the other and expects the fault simulation to find it.

A planted bug is a guard of guards.toml that is taken out, of those whose row says `simulated = true`. Each time the little that
changes is built in a copy of the tree, and `sim_faults_test FaultSimulation.FindsNothing` looks at one history after the other until a
promise is broken. Prints after which seed and how many events that was. On the tree as it is nothing may be found.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from check_guards import ROOT, Workshop, read_guards

PROGRAM = "sim_faults_test"
PATIENCE_S = 900


def look(workshop, seeds):
    """What the fault simulation found: the words of its message, or None."""
    environment = {**os.environ, "TARCIL_FAULT_SEEDS": str(seeds)}
    try:
        done = subprocess.run([workshop.build / "tests" / PROGRAM, "--gtest_filter=FaultSimulation.FindsNothing"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=PATIENCE_S, env=environment)
    except subprocess.TimeoutExpired:
        return "a history that does not end"
    if done.returncode == 0:
        return None
    if found := re.search(r"seed (\d+), (\d+) events in all", done.stdout):
        return f"seed {found[1]}, after {found[2]} events"
    return f"it died with status {done.returncode}"


def main():
    parser = argparse.ArgumentParser(prog="check-fault-simulation.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help="this guard alone; may be repeated")
    parser.add_argument("--seeds", type=int, default=1000, help="histories looked at for each; default 1000")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "fault-simulation", help="default: build/fault-simulation")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    guards = read_guards()
    planted = [guard for guard in guards if guard.simulated and guard.name in (arguments.only or [guard.name])]
    if not planted:
        sys.exit("no such guard has `simulated = true` in guards.toml")
    workshop = Workshop(arguments.scratch.resolve(), arguments.jobs, guards, optimised=True)
    if problem := workshop.make([PROGRAM]):
        sys.exit(problem)
    if found := look(workshop, seeds=50):
        sys.exit(f"nothing is planted, and the fault simulation found something: {found}")
    missed = []
    for guard in planted:
        with workshop.without(guard):
            problem = workshop.make([PROGRAM])
            found = problem or look(workshop, arguments.seeds)
        print(f"{guard.name:55} {'cannot be built' if problem else found or 'not found'}", flush=True)
        if problem or not found:
            missed.append(guard.name)
    if missed:
        sys.exit("not found: " + ", ".join(missed))
    print(f"each of the {len(planted)} planted bugs is found")


if __name__ == "__main__":
    main()
