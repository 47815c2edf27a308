"""A table of policies on scenarios: of each the mean, worst 5 % and worst 1 % of the performance, with standard errors.

Co-runs are measurements that are not part of this repository (docs/simulator.md): CORUN="PAIRS.csv TRIPLES.csv" in the
environment adds the scenarios that need them.
"""

import os
from pathlib import Path

from figure import Figure, mean

POLICIES = ["bound", "ideal", "quality", "greedy", "greedy-least-loaded", "least-loaded", "least-allocated",
            "most-allocated", "best-fit", "backfill", "batch", "per-task", "late-binding", "random", "random-retry",
            "agent-random"]


def co_runs(load, workload, files=2, above_one="as-measured"):
    """100 servers of three units with measured programs; pairs alone where files is 1. Empty without CORUN."""
    measured = [str(Path(file).resolve()) for file in os.environ.get("CORUN", "").split()]
    if not measured:
        return {}
    scenario = {"cluster": {"servers": 100, "rus": 3}, "workload": {"load": load, **workload},
                "truth": {"kind": "measured", "corun": measured[:files], "above_one": above_one}}
    return {f"co-runs, {workload['kind']}, {files} files, {above_one}, load {load}": scenario}


def compare(name, seeds, scenarios):
    figure = Figure(name, seeds)
    runs = figure.simulate({key: {**scenario, "policies": POLICIES} for key, scenario in scenarios.items()})
    header = ["policy", "mean %", "worst 5 % below", "worst 1 % below"]
    for number, (key, policies) in enumerate(runs.items(), 1):
        print(f"\n{key}, seeds {figure.seeds}:")
        rows = [[policy, *(100 * mean(own, "performance", part) for part in ("mean", "p5", "p1"))]
                for policy, own in policies.items()]
        figure.table(header, rows, f"{name}-{number}")
    if not os.environ.get("CORUN"):
        print("\nno measured co-runs: set CORUN (docs/simulator.md says to which files)")
