#!/usr/bin/env python3
"""The scenarios of held_out.sh, which nothing was tuned on: truths that do not share the scheduler's form, another
stream of jobs, other seeds.
  bench/figures/held_out.py [FOLDER]"""

from comparison import co_runs, compare

CLUSTER = {"platforms": [{"servers": 30, "rus": 8}, {"servers": 30, "rus": 12}, {"servers": 20, "rus": 16},
                         {"servers": 10, "rus": 24}]}
TRUTHS = {
    "neighbours by the mean": {"combine": "mean", "pressure": 0.3},
    "slowdowns multiplied": {"combine": "product", "pressure": 0.4},
    "phases and noise": {"combine": "sum", "phases": 4, "phase_change": 0.6, "noise": 0.15,
                         "classification_error": 0.1},
}
JOBS = {
    "mixed": {"kind": "mixed", "jobs": 4000},
    "heavy-tailed": {"kind": "heavy-tailed", "jobs": 12_000},
}
LOADS = [0.6, 0.85]
CO_RUN_LOADS = [0.25, 0.35, 0.42]


def main():
    scenarios = {f"{truth}, {jobs} jobs, load {load}":
                 {"cluster": CLUSTER, "workload": {**workload, "load": load}, "truth": {"kind": "parametric", **options}}
                 for truth, options in TRUTHS.items() for jobs, workload in JOBS.items() for load in LOADS}
    one_task = {"kind": "heavy-tailed", "jobs": 6000}
    for load in CO_RUN_LOADS:
        scenarios |= co_runs(load, one_task) | co_runs(load, one_task, files=1, above_one="as-one")
    compare("held-out", "101..106", scenarios)


if __name__ == "__main__":
    main()
