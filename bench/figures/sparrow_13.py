#!/usr/bin/env python3
"""Sparrow, Figure 13: two users of equal shares on 100 servers of 4 units. The one asks for the whole cluster all the
time, the other for 0, 25, 50, 25 and 0 % of it, ten seconds each.
  bench/figures/sparrow_13.py [FOLDER]"""

from figure import Figure

UNITS = 400
DEMAND = [0, 0.25, 0.5, 0.25, 0]


def main():
    figure = Figure("sparrow-13", "1")
    streams = [{"name": "user 0", "load": 1.0, "tasks": 10, "mean": "100ms"}]
    # One stream with the demand that changes: each part is a user of its own, of whom one is there at a time.
    streams += [{"name": f"user 1, part {i}", "load": load, "tasks": 10, "mean": "100ms", "from": f"{10 * i}s",
                 "until": f"{10 * (i + 1)}s"} for i, load in enumerate(DEMAND) if load]
    runs = figure.simulate({"users": {
        "cluster": {"servers": 100, "rus": 4},
        "workload": {"kind": "streams", "span": "50s", "streams": streams},
        "truth": {"kind": "none"},
        "policies": ["late-binding"],
        "moments": 499,
    }})
    moments = runs["users"]["late-binding"][0]["moments"]
    rows = [[moment["s"], moment["held"][0], sum(moment["held"][1:])] for moment in moments]
    figure.table(["s", "user 0", "user 1"], rows[::2])
    shares = []
    for i in range(len(DEMAND)):
        # Without the first second of each part, in which the share is taken over.
        part = [row for row in rows if 10 * i + 1 <= row[0] < 10 * (i + 1)]
        shares.append(sum(row[2] for row in part) / len(part))
    figure.plot("""
set xlabel 's'
set ylabel 'units held'
set yrange [0:420]
set key right center
plot 'DATA.csv' using 1:2 with lines lw 2 title 'user 0', 'DATA.csv' using 1:3 with lines lw 2 title 'user 1'
""")
    figure.says("user 1 holds 0, 100, 200, 100, 0 of 400 slots, with small fluctuations",
                ", ".join(f"{share:.0f}" for share in shares) + " on average, without the first second of each part")


if __name__ == "__main__":
    main()
