#!/usr/bin/env python3
"""Is each default of the quality policy a good one? The 7,200 mixed jobs of Tarcil 6.3, one setting changed at a time,
with profiles that are right and with such that are off by a tenth; and the probe ratio of the sampling policies. Some
five minutes of processor time for each seed.
  bench/figures/defaults.py [FOLDER]"""

from figure import Figure, large_scale, mean

DEFAULTS = {"model": "componentwise", "contention": "sum", "margin": 10, "noise_floor": 2, "target": 0.95,
            "buckets": 32, "R": "8, then until enough", "ranking": "worth", "neighbour_floor": 0.1, "protect_neighbours": True, "patience": 0.05}
VARIANTS = [
    ("model", "encoded", {"quality": {"model": "encoded"}}),
    ("contention", "mean", {"quality": {"contention": "mean"}}),
    ("contention", "slowdowns", {"quality": {"contention": "slowdowns"}}),
    ("ranking", "quality", {"quality": {"ranking": "quality"}}),
    ("margin", 0, {"quality": {"margin": 0}}),
    ("margin", 5, {"quality": {"margin": 5}}),
    ("margin", 15, {"quality": {"margin": 15}}),
    ("neighbour_floor", 0.5, {"quality": {"neighbour_floor": 0.5}}),
    ("noise_floor", 0, {"quality": {"noise_floor": 0}}),
    ("noise_floor", 5, {"quality": {"noise_floor": 5}}),
    ("protect_neighbours", False, {"quality": {"protect_neighbours": False}}),
    ("target", 0.9, {"quality": {"target": 0.9}}),
    ("target", 0.98, {"quality": {"target": 0.98}}),
    ("R", 2, {"quality": {"ratio": 2}}),
    ("R", 8, {"quality": {"ratio": 8}}),
    ("R", 32, {"quality": {"ratio": 32}}),
    ("R", 128, {"quality": {"ratio": 128}}),
    ("buckets", 8, {"buckets": 8}),
    ("buckets", 128, {"buckets": 128}),
    ("patience", 0, {"patience": 0}),
    ("patience", 0.2, {"patience": 0.2}),
]
ERRORS = [0, 0.1]
PROBE_RATIOS = [1, 1.5, 2, 3, 5]


def scenario(error, policy="quality", **changes):
    return large_scale(truth={"kind": "parametric", "classification_error": error}, policies=[policy], **changes)


def main():
    figure = Figure("defaults", "1..6")
    points = {f"default {error}": scenario(error) for error in ERRORS}
    points |= {f"{name} {value} {error}": scenario(error, **changes)
               for name, value, changes in VARIANTS for error in ERRORS}
    points |= {f"probe_ratio {ratio}": scenario(0, "batch", probe_ratio=ratio) for ratio in PROBE_RATIOS}
    runs = figure.simulate(points)

    def row(field, value, keys, policy="quality"):
        cells = [field, value]
        for key in keys:
            own = runs[key][policy]
            cells += [round(100 * mean(own, "performance", part), 1) for part in ("mean", "p5", "p1")]
        return cells + [round(mean(runs[keys[0]][policy], "conflicts"))]

    rows = [row("(defaults)", "", [f"default {error}" for error in ERRORS])]
    rows += [row(f"{name}, default {DEFAULTS[name]}", value, [f"{name} {value} {error}" for error in ERRORS])
             for name, value, _ in VARIANTS]
    header = ["setting", "value"]
    for error in ERRORS:
        header += [f"{part}, error {error}" for part in ("mean %", "worst 5 %", "worst 1 %")]
    figure.table([*header, "conflicts"], rows)
    rows = [row("probe_ratio of batch", ratio, [f"probe_ratio {ratio}"], "batch") for ratio in PROBE_RATIOS]
    figure.table(["setting", "value", "mean %", "worst 5 %", "worst 1 %", "conflicts"], rows, "defaults-probe-ratio")
    figure.plot("""
set style data histograms
set style fill solid
set yrange [60:100]
set ylabel 'performance, %: mean and worst 5 %'
set xtics rotate by -50
set key outside top
plot 'DATA.csv' using 3:xticlabels(stringcolumn(1).' '.stringcolumn(2)) every ::1 title 'mean, profiles right', \\
     '' using 4 every ::1 title 'worst 5 %', '' using 6 every ::1 title 'mean, off by a tenth', \\
     '' using 7 every ::1 title 'worst 5 %'
""", "1100,520")


if __name__ == "__main__":
    main()
