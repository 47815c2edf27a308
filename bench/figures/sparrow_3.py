#!/usr/bin/env python3
"""Sparrow, Figure 3: 100-task jobs on 10,000 servers of 4 units; and whether the baselines are what Sparrow's own
simulators gave, within 15 %. Some four minutes of processor time for each seed.
  bench/figures/sparrow_3.py [FOLDER]"""

from figure import Figure, mean

LOADS = [0.5, 0.6, 0.7, 0.8, 0.9]
POLICIES = {
    "random": "random",
    "per-task": "per-task sampling",
    "batch": "batch sampling",
    "late-binding": "late binding",
    "omniscient": "omniscient",
}
# Mean delay over a job's longest task, in ms, of Sparrow's simulators, with cancellation.
SPARROW = {
    "random": {0.5: 172, 0.8: 597, 0.9: 1187},
    "per-task": {0.5: 10.6, 0.8: 111, 0.9: 168},
    "batch": {0.5: 1.85, 0.8: 56, 0.9: 127},
    "late-binding": {0.5: 1.5, 0.8: 3.6, 0.9: 20},
    "omniscient": {0.5: 0.5, 0.8: 0.5, 0.9: 0.6},
}


def scenario(load, policies, seconds, warm_up):
    return {
        "cluster": {"servers": 10000, "rus": 4},
        "workload": {"kind": "alike", "jobs": round(seconds * load * 4000), "tasks": 100, "mean": "100ms",
                     "durations": "exp-jobs", "load": load, "warm_up": warm_up},
        "truth": {"kind": "none"},
        "policies": policies,
    }


def main():
    figure = Figure("sparrow-3", "1..3")
    sampled = [policy for policy in POLICIES if policy != "random"]
    points = {f"{load}": scenario(load, sampled, 8, 0.4) for load in LOADS}
    # Queues of random placement take 1 / (4 (1 - sqrt(load))^2) durations to settle: 10 s at a load of 0.9.
    points |= {f"{load} random": scenario(load, ["random"], 40 if load >= 0.9 else 16, 0.5) for load in LOADS}
    runs = figure.simulate(points)

    def of(policy, load, *keys):
        return mean(runs[f"{load} random" if policy == "random" else f"{load}"][policy], *keys)

    rows = [[load] + [of(policy, load, "response_ms", "mean") for policy in POLICIES] for load in LOADS]
    figure.table(["load", *POLICIES], rows)
    rows = []
    for policy, expected in SPARROW.items():
        for load, theirs in expected.items():
            ours = of(policy, load, "delay_ms", "mean")
            # Half a millisecond is one message.
            agrees = abs(ours - theirs) <= max(0.15 * theirs, 0.1)
            rows.append([policy, load, theirs, round(ours, 2), f"{100 * (ours / theirs - 1):+.0f} %",
                         "yes" if agrees else "NO"])
    figure.table(["policy", "load", "Sparrow's simulators, ms", "here, ms", "difference", "within 15 %"], rows,
                 "sparrow-3-baselines")
    figure.plot("""
set xlabel 'load'
set ylabel 'mean response, ms'
set yrange [0:400]
set key left top
plot for [i=2:6] 'DATA.csv' using 1:i with linespoints lw 2 title columnheader(i)
""")
    late, best = (of(policy, 0.8, "response_ms", "mean") for policy in ("late-binding", "omniscient"))
    batch = of("batch", 0.8, "response_ms", "mean")
    per_task = of("per-task", 0.8, "response_ms", "mean")
    figure.says("at 80 % load late binding is within 5 % of omniscient and 0.55 x batch, batch 0.73 x per-task, random "
                "> 3 x per-task",
                f"{100 * (late / best - 1):.1f} %, {late / batch:.2f} x, {batch / per_task:.2f} x, "
                f"{of('random', 0.8, 'response_ms', 'mean') / per_task:.1f} x")


if __name__ == "__main__":
    main()
