#!/usr/bin/env python3
"""Every policy on the development set: the scenarios that the policy quality is looked at with while it is changed.
What it is judged by in the end is another set, held_out.sh. Six seeds: an hour and a half of processor time.
  bench/figures/policies.py [FOLDER]"""

from comparison import co_runs, compare
from figure import large_scale

LOADS = [0.5, 0.7, 0.8, 0.9]
CO_RUN_LOADS = [0.2, 0.3, 0.4, 0.45]
ALIKE = {"kind": "alike", "jobs": 10_000, "tasks": 1, "mean": "60s"}


def main():
    scenarios = {f"Tarcil 6.3, load {load}": large_scale(load) for load in LOADS}
    for load in CO_RUN_LOADS:
        for above_one in ("as-measured", "as-one"):
            scenarios |= co_runs(load, ALIKE, above_one=above_one)
    compare("policies", "1..6", scenarios)


if __name__ == "__main__":
    main()
