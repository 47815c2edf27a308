#!/usr/bin/env python3
"""Sparrow, Figure 14: response by the probe ratio, for jobs of 10 tasks of 100 ms on 100 servers of 8 units.
  bench/figures/sparrow_14.py [FOLDER]"""

from figure import Figure, mean

RATIOS = [1, 1.1, 1.2, 1.5, 2, 2.5, 3, 5]
LOADS = [0.8, 0.9]


def main():
    figure = Figure("sparrow-14", "1..4")
    runs = figure.simulate({f"{load} {ratio}": {
        "cluster": {"servers": 100, "rus": 8},
        "workload": {"kind": "alike", "jobs": 15000, "tasks": 10, "mean": "100ms", "durations": "constant",
                     "load": load, "warm_up": 0.3},
        "truth": {"kind": "none"},
        "policies": ["late-binding"],
        "probe_ratio": ratio,
    } for load in LOADS for ratio in RATIOS})
    rows = []
    for load in LOADS:
        for i, ratio in enumerate(RATIOS):
            own = runs[f"{load} {ratio}"]["late-binding"]
            rows.append([load, i, ratio] + [mean(own, "response_ms", p) for p in ("p5", "p25", "p50", "p75", "p95")])
    figure.table(["load", "n", "probe ratio", "p5", "p25", "p50", "p75", "p95"], rows)
    tics = ", ".join(f"'{ratio}' {i}" for i, ratio in enumerate(RATIOS))
    panels = "\n".join(f"""set title 'load {load}'
plot 'DATA.csv' using ($1=={load} ? $2 : 1/0):5:4:8:7 with candlesticks whiskerbars lc rgb '#1b9e77' \\
  notitle, '' using ($1=={load} ? $2 : 1/0):6:6:6:6 with candlesticks lc rgb '#d95f02' notitle""" for load in LOADS)
    figure.plot(f"""
set logscale y
set yrange [90:500]
set xrange [-0.7:{len(RATIOS) - 0.3}]
set xtics ({tics})
set boxwidth 0.5
set xlabel 'probe ratio'
set ylabel 'response, ms: 5, 25, 50, 75, 95 %'
set multiplot layout 1,2
{panels}
unset multiplot
""")

    def median(load, ratio):
        return next(row[5] for row in rows if row[0] == load and row[2] == ratio)

    figure.says("1.1 instead of 1 makes the median 2.5 x smaller at 90 %; 1.1 is 1.4 x of 2 at 80 %; a sweet spot at 2",
                f"{median(0.9, 1) / median(0.9, 1.1):.1f} x; {median(0.8, 1.1) / median(0.8, 2):.2f} x; lowest at "
                f"{min(RATIOS, key=lambda r: median(0.8, r))} (80 %) and {min(RATIOS, key=lambda r: median(0.9, r))} "
                "(90 %)")


if __name__ == "__main__":
    main()
