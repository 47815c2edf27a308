#!/usr/bin/env python3
"""Every policy on the development set: the scenarios that the policy quality is looked at with while it is changed.
What it is judged by in the end is another set, held_out.sh.
  bench/figures/policies.py [FOLDER]"""

from comparison import co_runs, compare
from figure import large_scale

LOADS = [0.7, 0.9]
CO_RUN_LOADS = [0.2, 0.3, 0.4, 0.45]
ALIKE = {"kind": "alike", "tasks": 10, "mean": "60s", "jobs": 5000}
SINGLE = {"kind": "alike", "tasks": 1, "mean": "60s", "jobs": 5000}


def main():
    scenarios = {f"Tarcil 6.3, load {load}": large_scale(load) for load in LOADS}
    scenarios |= {"Tarcil 6.3, classified, load 0.7": large_scale(0.7, truth={"profiles": "classified"}),
                  "Tarcil 6.3, alike, load 0.7": {**large_scale(), "workload": {**ALIKE, "load": 0.7}}}
    for load in CO_RUN_LOADS:
        for above_one in ("as-measured", "as-one"):
            scenarios |= co_runs(load, SINGLE, above_one=above_one)
    scenarios |= co_runs(0.4, {**ALIKE, "jobs": 1000}, above_one="as-one")
    compare("policies", "1..6", scenarios)


if __name__ == "__main__":
    main()
