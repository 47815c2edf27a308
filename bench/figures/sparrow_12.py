#!/usr/bin/env python3
"""Sparrow, Figure 12: 10-task jobs of constant tasks at 80 % load on 100 servers of 8 units, by how long a task takes;
against a centralised scheduler that sends 1,500 tasks a second, as Spark's.
  bench/figures/sparrow_12.py [FOLDER]"""

from figure import Figure, mean

TASK_MS = [10, 20, 50, 100, 200, 400, 600, 1000, 1500, 2000, 5000]


def main():
    figure = Figure("sparrow-12", "1..3")
    runs = figure.simulate({str(ms): {
        "cluster": {"servers": 100, "rus": 8},
        "workload": {"kind": "alike", "jobs": 4000, "tasks": 10, "mean": f"{ms}ms", "durations": "constant",
                     "load": 0.8, "warm_up": 0.3},
        "truth": {"kind": "none"},
        "policies": ["late-binding", "omniscient"],
        "dispatch": "667us",
    } for ms in TASK_MS})
    rows = [[ms] + [mean(runs[str(ms)][policy], "response_ms", "p50") for policy in ("late-binding", "omniscient")]
            for ms in TASK_MS]
    figure.table(["task, ms", "late binding, ms", "centralised, ms"], rows)
    figure.plot("""
set logscale xy
set xlabel 'duration of a task, ms'
set ylabel 'median response, ms'
set key left top
plot 'DATA.csv' using 1:2 with linespoints lw 2 title 'late binding', \\
     'DATA.csv' using 1:3 with linespoints lw 2 title 'centralised, 1,500 tasks/s', x with lines dt 2 title 'ideal'
""")
    bound = min(ms for ms, _, central in rows if central < 1.5 * ms)
    figure.says("centralised queues without end below 1,355 ms; Sparrow near ideal at 100 ms",
                f"centralised keeps up from {bound} ms on (800 units x 0.8 / 1,500 = 427 ms); late binding "
                f"{rows[3][1]:.0f} ms at 100 ms, {rows[0][1]:.1f} ms at 10 ms")


if __name__ == "__main__":
    main()
