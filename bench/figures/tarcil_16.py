#!/usr/bin/env python3
"""Tarcil, Figures 16 and 17: the quality of the resources that tasks get, in the scenario of 6.3 with five orders of
jobs (seeds): as CDF, and in its course.
  bench/figures/tarcil_16.py [FOLDER]"""

from figure import Figure, large_scale

KINDS = {"sampling-based (batch)": ("batch", {}), "quality with R = 8": ("quality", {"quality": {"ratio": 8}}),
         "quality with R = 16": ("quality", {"quality": {"ratio": 16}})}


def main():
    figure = Figure("tarcil-16", "1..6")
    runs = figure.simulate({name: large_scale(policies=[policy], moments=60, **changes)
                            for name, (policy, changes) in KINDS.items()})
    curves = {name: [result["quality_curve"] for result in runs[name][policy]] for name, (policy, _) in KINDS.items()}
    columns = [(name, i) for name in KINDS for i in range(len(figure.seeds))]
    figure.table(["part of the tasks"] + [f"{name} with seed {figure.seeds[i]}" for name, i in columns],
                 [[percent / 100] + [curves[name][i][percent] for name, i in columns] for percent in range(101)])
    course = []
    for name, (policy, _) in KINDS.items():
        for moment in runs[name][policy][0]["moments"]:
            units = moment["held_by_quality"]
            held = max(1, sum(units))
            course.append([name, moment["s"], sum(units[:4]) / held, sum(units[:9]) / held])
    figure.table(["policy", "s", "part below 0.4", "part below 0.9"], course, "tarcil-17")
    seeds = len(figure.seeds)
    lines = ", ".join(f"'DATA.csv' using {2 + n * seeds + i}:1 with lines lc {n + 1} "
                      + (f"title '{name}'" if i == 0 else "notitle")
                      for n, name in enumerate(KINDS) for i in range(seeds))
    in_time = figure.folder / "tarcil-17.csv"
    parts = ", ".join(f"'{in_time}' using (strcol(1) eq '{name}' ? $2 : 1/0):4 with lines lw 2 lc {n + 1} title '{name}'"
                      for n, name in enumerate(KINDS))
    figure.plot(f"""
set multiplot layout 1,2
set xlabel 'quality: speed of a task, of alone on its best platform'
set ylabel 'CDF'
set xrange [0.4:1]
set key left top
plot {lines}
unset xrange
set xrange [*:*]
set xlabel 's'
set ylabel 'held units with a quality below 0.9'
set yrange [0:1]
plot {parts}
unset multiplot
""", "1000,420")

    def below(name, limit):
        return sum(point < limit for curve in curves[name] for point in curve) / (101 * seeds)

    middle = {name: [row for row in course if row[0] == name] for name in KINDS}
    figure.says("at high load 70 % of the sampling-based scheduler's cores are below 0.4; of Tarcil's 18 % below 0.9",
                "; ".join(f"{name}: {100 * below(name, 0.9):.0f} % of tasks below 0.9, "
                          f"{100 * max(row[3] for row in middle[name][5:-5]):.0f} % of the held units at the worst moment"
                          for name in KINDS))


if __name__ == "__main__":
    main()
