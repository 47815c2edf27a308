#!/usr/bin/env python3
"""Every policy on the development set: the scenarios that the policy quality is looked at with while it is changed.
What it is judged by in the end is another set, held_out.sh.
  bench/figures/policies.py [FOLDER]"""

from comparison import co_runs, compare
from figure import large_scale

LOADS = [0.5, 0.7, 0.8, 0.9]
CO_RUN_LOADS = [0.2, 0.3, 0.4, 0.45]
ALIKE = {"kind": "alike", "tasks": 10, "mean": "60s", "jobs": 5000}
SINGLE = {"kind": "alike", "tasks": 1, "mean": "60s", "jobs": 10_000}


def main():
    scenarios = {}
    for load in LOADS:
        mixed = large_scale(load)
        scenarios |= {f"Tarcil 6.3, load {load}": mixed,
                      f"Tarcil 6.3, classified, load {load}": {**mixed, "truth": {"profiles": "classified"}},
                      f"Tarcil 6.3, alike, load {load}": {**mixed, "workload": {**ALIKE, "load": load}}}
    for load in CO_RUN_LOADS:
        for above_one in ("as-measured", "as-one"):
            scenarios |= co_runs(load, SINGLE, above_one=above_one)
        scenarios |= co_runs(load, {**ALIKE, "jobs": 1000}, above_one="as-one")
    compare("policies", "1..6", scenarios)


if __name__ == "__main__":
    main()
