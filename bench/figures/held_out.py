#!/usr/bin/env python3
"""The test set, which nothing was tuned on: truths that do not share the scheduler's form, profiles from the classifier,
other streams of jobs, other seeds. Run by held_out.sh, once for a release.
  bench/figures/held_out.py [FOLDER]"""

from comparison import co_runs, compare, traced

CLUSTER = {"platforms": [{"servers": 30, "rus": 8}, {"servers": 30, "rus": 12}, {"servers": 20, "rus": 16},
                         {"servers": 10, "rus": 24}]}
POLICIES = ["bound", "ideal", "quality", "greedy", "greedy-least-loaded", "least-loaded", "backfill", "batch", "late-binding"]
CLASSIFIED = {"profiles": "classified", "probes": 3}
TRUTHS = {
    "mean": {"combine": "mean", "pressure": 0.3},
    "product": {"combine": "product", "pressure": 0.4},
    "sum, classified, phases, noise": {"combine": "sum", "phases": 4, "phase_change": 0.6, "noise": 0.15, **CLASSIFIED},
    "product, classified": {"combine": "product", "pressure": 0.4, **CLASSIFIED},
}
JOBS = {
    "mixed": {"kind": "mixed", "jobs": 500},
    "heavy-tailed": {"kind": "heavy-tailed", "jobs": 1500},
}
LOADS = [0.6, 0.85]
CO_RUN_JOBS = [{"kind": "heavy-tailed", "jobs": 1000}, {"kind": "mixed", "jobs": 300}]
CO_RUN_LOADS = [0.25, 0.4]


def main():
    jobs = {**JOBS, **traced(1000)}
    scenarios = {f"{truth}; {kind}, load {load}":
                 {"cluster": CLUSTER, "workload": {**workload, "load": load}, "truth": {"kind": "parametric", **options}}
                 for truth, options in TRUTHS.items() for kind, workload in jobs.items() for load in LOADS}
    for workload in CO_RUN_JOBS:
        for load in CO_RUN_LOADS:
            scenarios |= co_runs(load, workload) | co_runs(load, workload, above_one="as-one")
            scenarios |= co_runs(load, workload, files=1, above_one="as-one", **CLASSIFIED)
    compare("held-out", "101..106", scenarios, POLICIES)


if __name__ == "__main__":
    main()
