#!/usr/bin/env python3
"""Sparrow, Figure 15: response of short jobs (10 tasks of 100 ms) beside long ones, at 80 % load on 100 servers of 4
or 16 units, by how many jobs are long and how long.
  bench/figures/sparrow_15.py [FOLDER]"""

from figure import Figure

PARTS = [0.1, 0.25, 0.5]  # of the jobs, that are long
LONG_S = [1, 10, 100]
UNITS = [4, 16]
LOAD = 0.8


def scenario(units, part, long_s):
    work = {"short": (1 - part) * 0.1, "long": part * long_s}
    load = {name: LOAD * value / sum(work.values()) for name, value in work.items()}
    # So long that each kind has jobs enough, and long ones have begun to end when it is counted.
    rate = load["short"] * 100 * units / (10 * 0.1)
    span = max(4 * long_s, min(400, 1500 / rate))
    return {
        "cluster": {"servers": 100, "rus": units},
        "workload": {"kind": "streams", "span": f"{round(span, 3)}s", "warm_up": 0.5, "streams": [
            {"name": "short", "load": max(load["short"], 1e-4), "tasks": 10, "mean": "100ms"},
            {"name": "long", "load": load["long"], "tasks": 10, "mean": f"{long_s}s"}]},
        "truth": {"kind": "none"},
        "policies": ["late-binding"],
    }


def main():
    figure = Figure("sparrow-15", "1..8")
    keys = [(units, part, long_s) for units in UNITS for part in PARTS for long_s in LONG_S]
    runs = figure.simulate({f"{key}": scenario(*key) for key in keys})
    rows = []
    for key in keys:
        own = [result["streams"][0] for result in runs[f"{key}"]["late-binding"]]
        jobs = sum(stream["jobs"] for stream in own)
        rows.append([*key, jobs] + [
            sum(stream["jobs"] * stream["response_ms"][p] for stream in own) / max(1, jobs) for p in ("p5", "p50", "p95")])
    figure.table(["units", "part that is long", "long, s", "short jobs counted", "p5, ms", "p50, ms", "p95, ms"], rows)
    panels = "\n".join(f"""set title '{units} units a server'
plot for [i=1:{len(PARTS)}] 'DATA.csv' using ($1=={units} && $2==word('{' '.join(map(str, PARTS))}', i) ? $3 : 1/0):6:5:7 \\
  with yerrorlines lw 2 lc i title sprintf('%g %% of the jobs long', 100*word('{' '.join(map(str, PARTS))}', i))"""
                       for units in UNITS)
    figure.plot(f"""
set logscale xy
set xrange [0.7:150]
set yrange [90:100000]
set xlabel 'duration of long tasks, s'
set ylabel 'response of short jobs, ms: 5, 50, 95 %'
set key left top
set multiplot layout 1,2
{panels}
unset multiplot
""")
    worst = next(row for row in rows if row[:3] == [16, 0.5, 100])
    four = next(row for row in rows if row[:3] == [4, 0.5, 100])
    figure.says("16 cores: short jobs within 11 % of 100 ms even if half of the jobs are 1,000 times as long; 4 cores: "
                "far worse",
                f"16 units: median {worst[5]:.0f} ms; 4 units: {four[5]:.0f} ms")


if __name__ == "__main__":
    main()
