#!/usr/bin/env python3
"""Sparrow, Figures 4 and 5 and Table 2: the probability that a job waits for nothing, by the formulas of Table 2 and
simulated without message delays.
  bench/figures/sparrow_4.py [FOLDER]"""

from math import comb

from figure import Figure, mean

POLICIES = ["random", "per-task", "batch"]
LOADS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
CLUSTERS = [(1, 10), (1, 100), (4, 10), (4, 100)]  # units of a server, tasks of a job


def formula(policy, load, cores, tasks):
    """Table 2, where a server's units are independent of one another (section 5)."""
    busy = load ** cores
    if policy == "random":
        return (1 - busy) ** tasks
    if policy == "per-task":
        return (1 - busy**2) ** tasks
    return sum(comb(2 * tasks, i) * (1 - busy) ** i * busy ** (2 * tasks - i) for i in range(tasks, 2 * tasks + 1))


def scenario(load, cores, tasks):
    return {
        "cluster": {"servers": 10000 // cores, "rus": cores},
        "workload": {"kind": "alike", "jobs": round(400000 * load / tasks), "tasks": tasks, "mean": "100ms",
                     "durations": "constant", "load": load, "warm_up": 0.5},
        "truth": {"kind": "none"},
        "policies": POLICIES,
        "rtt": "0s",
    }


def main():
    figure = Figure("sparrow-4", "1")
    points = {f"{cores} {tasks} {load}": scenario(load, cores, tasks) for cores, tasks in CLUSTERS for load in LOADS}
    runs = figure.simulate(points)
    rows = []
    worst = 0
    for cores, tasks in CLUSTERS:
        for load in LOADS:
            row = [cores, tasks, load]
            for policy in POLICIES:
                told = formula(policy, load, cores, tasks)
                measured = mean(runs[f"{cores} {tasks} {load}"][policy], "at_once")
                row += [round(told, 4), measured]
                if cores == 1:
                    worst = max(worst, abs(told - measured))
            rows.append(row)
    header = ["units", "tasks", "load"]
    for policy in POLICIES:
        header += [f"{policy}: formula", f"{policy}: simulated"]
    figure.table(header, rows)
    panels = "\n".join(
        f"set title '{cores} unit{'s' if cores > 1 else ''} a server, {tasks} tasks a job'\n"
        f"plot for [i=0:2] 'DATA.csv' using ($1=={cores} && $2=={tasks} ? $3 : 1/0):(column(2*i+4)) with lines lw 2 "
        "lc i+1 title word('random per-task batch', i+1), "
        f"for [i=0:2] 'DATA.csv' using ($1=={cores} && $2=={tasks} ? $3 : 1/0):(column(2*i+5)) with points pt 6 lc i+1 "
        "notitle" for cores, tasks in CLUSTERS)
    figure.plot(f"""
set xlabel 'load'
set ylabel 'jobs that wait for nothing'
set yrange [0:1.05]
set key left bottom
set multiplot layout 2,2
{panels}
unset multiplot
""", "800,600")
    at = next(row for row in rows if row[:3] == [1, 100, 0.2])
    four = next(row for row in rows if row[:3] == [4, 100, 0.8])
    figure.says("by formula: per-task, 100 tasks, one core: < 2 % at 20 % load; batch, 4 cores: 99.9 % up to 79 % load",
                f"simulated: per-task {100 * at[6]:.1f} %; batch, 4 units, at 80 %: {100 * four[8]:.1f} %; with one "
                f"unit a server the largest distance from the formulas is {worst:.3f}")


if __name__ == "__main__":
    main()
