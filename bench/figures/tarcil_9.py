#!/usr/bin/env python3
"""Tarcil, Figure 9: response times and what scheduling costs, by the number R of slots drawn for each task. Tasks of
100 ms on 100 servers of five platforms, beside residents that hold 40 % of the units; ten agents.
  bench/figures/tarcil_9.py [FOLDER]"""

from figure import Figure, mean

RATIOS = [1, 2, 4, 8, 16, 32, 64]
RESIDENT = 0.4
LOADS = [0.1, 0.3, 0.5]  # of all units, beside the residents


def main():
    figure = Figure("tarcil-9", "1..6")
    runs = figure.simulate({f"{load} {ratio}": {
        "cluster": {"platforms": [{"servers": 20, "rus": rus} for rus in (4, 8, 8, 8, 16)],
                    "residents": {"part": RESIDENT, "rus": 1}},
        "workload": {"kind": "alike", "jobs": 8000, "tasks": 1, "mean": "100ms", "durations": "constant", "load": load,
                     "warm_up": 0.2},
        "policies": ["quality"],
        "quality": {"ratio": ratio},
    } for load in LOADS for ratio in RATIOS})
    rows = []
    for load in LOADS:
        for i, ratio in enumerate(RATIOS):
            own = runs[f"{load} {ratio}"]["quality"]
            rows.append([load, i, ratio] +
                        [round(mean(own, "response_ms", p), 2) for p in ("p5", "p25", "mean", "p75", "p95")] +
                        [round(mean(own, "wait_ms", p), 2) for p in ("mean", "p95")] +
                        [round(mean(own, "decision_us", "mean"), 2), round(mean(own, "conflicts"))])
    figure.table(["load", "n", "R", "response p5, ms", "p25", "mean", "p75", "p95", "wait mean, ms", "p95",
                  "decision, us", "conflicts"], rows)
    tics = ", ".join(f"'{ratio}' {i}" for i, ratio in enumerate(RATIOS))
    panels = "\n".join(f"""set title 'load {load + RESIDENT:.1f}, residents and all'
plot 'DATA.csv' using ($1=={load} ? $2 : 1/0):5:4:8:7 with candlesticks whiskerbars lc rgb '#1b9e77' notitle, \\
  '' using ($1=={load} ? $2 : 1/0):6:6:6:6 with candlesticks lc rgb '#d95f02' notitle""" for load in LOADS)
    figure.plot(f"""
set xrange [-0.7:{len(RATIOS) - 0.3}]
set xtics ({tics})
set boxwidth 0.5
set yrange [90:*]
set xlabel 'R'
set ylabel 'response, ms: 5, 25, mean, 75, 95 %'
set multiplot layout 1,3
{panels}
unset multiplot
""", "1100,380")

    def of(load, ratio, column):
        return next(row[column] for row in rows if row[0] == load and row[2] == ratio)

    figure.says("little difference at low load; R = 8 is best at low and at high load; conflicts cost much from 64 on",
                "; ".join(f"at {load + RESIDENT:.1f} mean response {of(load, 1, 5):.0f} ms with R = 1, {of(load, 8, 5):.0f} with 8, "
                          f"{of(load, 64, 5):.0f} with 64" for load in LOADS))


if __name__ == "__main__":
    main()
