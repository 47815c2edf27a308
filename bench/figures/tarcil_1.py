#!/usr/bin/env python3
"""Tarcil, Figure 1: how the performance of jobs is spread, for short, medium and long tasks, under a sampling-based,
a centralised and the quality policy. 200 servers of five platforms at 80 % load.
  bench/figures/tarcil_1.py [FOLDER]"""

from figure import Figure, mean

POLICIES = {"late-binding": "sampling-based (late binding)", "greedy": "centralised greedy", "quality": "quality"}
TASKS = {"short (100 ms)": ("100ms", "constant"), "medium (4 s)": ("4s", "exp-jobs"), "long (2 min)": ("2m", "exp-jobs")}
BIN = 5  # percent


def main():
    figure = Figure("tarcil-1", "1..6")
    runs = figure.simulate({name: {
        "cluster": {"platforms": [{"servers": 40, "rus": rus} for rus in (8, 8, 8, 16, 16)]},
        "workload": {"kind": "alike", "jobs": 2000, "tasks": 10, "mean": duration, "durations": kind, "load": 0.8,
                     "warm_up": 0.2},
        "policies": list(POLICIES),
    } for name, (duration, kind) in TASKS.items()})
    rows, table = [], []
    for name in TASKS:
        for policy in POLICIES:
            own = runs[name][policy]
            points = [point for result in own for point in result["performance_curve"]]
            for low in range(0, 100, BIN):
                inside = sum(1 for point in points if low <= min(99.99, 100 * point) < low + BIN)
                rows.append([name, policy, low + BIN / 2, inside / len(points)])
            table.append([name, policy] + [round(100 * mean(own, "performance", part), 1) for part in ("mean", "p5")] +
                         [round(100 * mean(own, "quality", "mean"), 1)])
    figure.table(["tasks", "policy", "mean performance %", "worst 5 % below", "quality of tasks %"], table,
                 "tarcil-1-means")
    figure.table(["tasks", "policy", "performance %", "part of the jobs"], rows)
    panels = "\n".join(
        f"set title '{title}'\nplot " + ", ".join(
            f"'DATA.csv' using (strcol(1) eq '{name}' && strcol(2) eq '{policy}' ? $3 : 1/0):4 with linespoints lw 2 "
            f"pt 7 ps 0.4 title '{name}'" for name in TASKS)
        for policy, title in POLICIES.items())
    figure.plot(f"""
set xlabel 'performance of a job, % of ideal'
set ylabel 'part of the jobs'
set xrange [0:100]
set yrange [0:1]
set key left top
set multiplot layout 1,3
{panels}
unset multiplot
""", "1100,380")
    of = {(row[0], row[1]): row[2] for row in table}
    figure.says("sampling: short 80-95 %, medium and long 30-50 %; centralised: near ideal for long, poor for short; "
                "Tarcil near ideal for all",
                "; ".join(f"{policy} {', '.join(f'{of[name, policy]:.0f}' for name in TASKS)} %" for policy in POLICIES)
                + " on average (short, medium, long)")


if __name__ == "__main__":
    main()
