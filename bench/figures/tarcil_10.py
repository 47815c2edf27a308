#!/usr/bin/env python3
"""Tarcil, Figure 10: what scheduling takes, and how many jobs keep 80 % of their speed, by the number of agents. Tasks of
100 ms, ten a job, on 100 servers of 8 units, R = 8; with the time that a decision takes here, and with 10 ms as in
the paper's implementation.
  bench/figures/tarcil_10.py [FOLDER]"""

from figure import Figure, mean

AGENTS = [1, 2, 3, 5, 8, 12, 16, 20]
LOADS = [0.3, 0.6, 0.8]
DECISIONS = ["2us", "10ms"]
GOOD = 0.8


def main():
    figure = Figure("tarcil-10", "1..6")
    runs = figure.simulate({f"{decision} {load} {agents}": {
        "cluster": {"servers": 100, "rus": 8},
        "workload": {"kind": "alike", "jobs": 3000, "tasks": 10, "mean": "100ms", "durations": "constant", "load": load,
                     "warm_up": 0.2},
        "policies": ["quality"],
        "quality": {"ratio": 8},
        "agents": agents,
        "decision": decision,
    } for decision in DECISIONS for load in LOADS for agents in AGENTS})
    rows = []
    for decision in DECISIONS:
        for load in LOADS:
            for agents in AGENTS:
                own = runs[f"{decision} {load} {agents}"]["quality"]
                good = sum(point >= GOOD for result in own for point in result["performance_curve"]) / (101 * len(own))
                rows.append([decision, load, agents, round(mean(own, "wait_ms", "mean"), 2),
                             round(mean(own, "wait_ms", "p95"), 2), round(100 * good, 1),
                             round(mean(own, "conflicts"))])
    figure.table(["decision", "load", "agents", "wait mean, ms", "wait p95, ms", "jobs at 80 % or better, %",
                  "conflicts"], rows)
    panels = []
    for column, label in ((4, "ms from arrival to start"), (6, "jobs at 80 % of ideal or better, %")):
        panels.append(f"set ylabel '{label}'\n{'set logscale y' if column == 4 else 'unset logscale y'}\nplot " + ", ".join(
            f"'DATA.csv' using (strcol(1) eq '{decision}' && $2=={load} ? $3 : 1/0):{column} with linespoints lw 2 "
            f"dt {d + 1} lc {n + 1} title 'load {load}, {decision}'"
            for d, decision in enumerate(DECISIONS) for n, load in enumerate(LOADS)))
    both = "\n".join(panels)
    figure.plot(f"""
set xlabel 'agents'
set key right center
set multiplot layout 1,2
{both}
unset multiplot
""", "1000,420")

    def of(decision, load, agents, column=3):
        return next(row[column] for row in rows if row[:3] == [decision, load, agents])

    figure.says("below 3 agents latency suffers at high load; it falls until 12, then conflicts raise it slowly",
                f"at a load of 0.8 with decisions of 10 ms: 1 agent {of('10ms', 0.8, 1):.0f} ms, 12 "
                f"{of('10ms', 0.8, 12):.1f}, 20 {of('10ms', 0.8, 20):.1f}; with decisions of 2 us: 1 agent "
                f"{of('2us', 0.8, 1):.1f}, 20 {of('2us', 0.8, 20):.1f} ms, conflicts {of('2us', 0.8, 1, 6)} and "
                f"{of('2us', 0.8, 20, 6)}")


if __name__ == "__main__":
    main()
