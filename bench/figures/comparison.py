"""Tables of policies on scenarios, with standard errors over the seeds: of each scenario the mean, worst 5 % and worst
1 % of the performance, and of all of them how far the policy quality is from the best of the others.

Co-runs and traces are not part of this repository (docs/simulator.md): CORUN="PAIRS.csv TRIPLES.csv" and
TRACES="openb:FILE swf:FILE" in the environment add the scenarios that need them.
"""

import os
from pathlib import Path

from figure import Figure, estimate, mean

# No schedule passes the first, and no scheduler can be the second.
BEYOND = ["bound", "ideal"]
OTHERS = ["greedy", "greedy-least-loaded", "least-loaded", "least-allocated", "most-allocated", "best-fit", "backfill",
          "batch", "per-task", "late-binding", "random", "random-retry", "agent-random"]
POLICIES = [*BEYOND, "quality", *OTHERS]


def co_runs(load, workload, files=2, above_one="as-measured", **truth):
    """100 servers of three units with measured programs; pairs alone where files is 1. Empty without CORUN."""
    measured = [str(Path(file).resolve()) for file in os.environ.get("CORUN", "").split()]
    if not measured:
        return {}
    scenario = {"cluster": {"servers": 100, "rus": 3}, "workload": {"load": load, **workload},
                "truth": {"kind": "measured", "corun": measured[:files], "above_one": above_one, **truth}}
    kind = "triples" if files == 2 else "pairs"
    clamped = ", at most 1" if above_one == "as-one" else ""
    told = ", classified" if truth.get("profiles") == "classified" else ""
    jobs = f"{workload['kind']} of {workload['tasks']}" if "tasks" in workload else workload["kind"]
    return {f"co-run {kind}{clamped}{told}; {jobs}, load {load}": scenario}


def traced(jobs):
    """The first jobs of each trace. Tasks there may have several units, which late binding does not place."""
    named = [trace.partition(":") for trace in os.environ.get("TRACES", "").split()]
    return {kind: {"kind": f"{kind}:{Path(file).resolve()}", "jobs": jobs} for kind, _, file in named}


def suitable(policies, scenario):
    is_traced = ":" in scenario["workload"]["kind"]
    return [policy for policy in policies if not (is_traced and policy == "late-binding")]


def performance(result):
    return 100 * result["performance"]["mean"]


def compare(name, seeds, scenarios, policies=POLICIES):
    """Empty is a policy of which a run was given up (LIMIT in figure.py), and what the bound does not say."""
    figure = Figure(name, seeds)
    runs = figure.simulate({key: {**scenario, "policies": suitable(policies, scenario)}
                            for key, scenario in scenarios.items()}, partly=True)
    header = ["policy", "mean %", "worst 5 % below", "worst 1 % below"]
    for number, (key, ran) in enumerate(runs.items(), 1):
        print(f"\n{key}, seeds {figure.seeds}:")
        rows = [[policy, *(100 * mean(own, "performance", part) for part in ("mean", "p5", "p1"))]
                for policy, own in ran.items()]
        figure.table(header, rows, f"{name}-{number}")
    print("\nmean performance in %; differences are of the same seeds:")
    figure.table(["scenario", *BEYOND, "quality", "less the best other", "which"],
                 [summary(key, ran) for key, ran in runs.items()], name)
    for variable in ("CORUN", "TRACES"):
        if not os.environ.get(variable):
            print(f"\nnot run: scenarios that need files; set {variable} (docs/simulator.md says to which)")


def summary(key, policies):
    """A row: how quality does beside what cannot be passed, and beside the best of all others on average. Of others that
    did not end in time there is no mean."""
    means = {policy: 100 * mean(policies[policy], "performance", "mean") for policy in policies}
    ended = [policy for policy in OTHERS if policy in policies and None not in policies[policy]]
    best = max(ended, key=means.get)
    pairs = zip(policies["quality"], policies[best])
    less = [performance(own) - performance(other) if own else float("nan") for own, other in pairs]
    return [key, *(means[policy] for policy in BEYOND), means["quality"], estimate(less), best]
