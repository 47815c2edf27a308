#!/usr/bin/env python3
"""Tarcil, Figure 6: the probability that a unit of a bucket comes free within a time, and the time that was estimated for
it. 100 servers of ten units, 85 % taken, bench/bucket_waits.
  bench/figures/tarcil_6.py [FOLDER]"""

import csv
import os
import subprocess
import sys
from pathlib import Path

from figure import ROOT, Figure

PROGRAM = Path(os.environ.get("BUCKET_WAITS", ROOT / "build/release/bench/bucket_waits"))


def main():
    figure = Figure("tarcil-6", "1")
    if not PROGRAM.exists():
        sys.exit("not built; run: cmake --preset release && cmake --build --preset bench")
    data = figure.folder / "tarcil-6.csv"
    subprocess.run([PROGRAM, "--servers", "100", "--load", "0.85", "--hours", "1", "--buckets", "20", "--seed",
                    str(figure.seeds[0]), "--curves", str(data)], check=True)
    with open(data, newline="") as file:
        rows = list(csv.DictReader(file))
    buckets = list(dict.fromkeys(row["bucket"] for row in rows))
    shown = []
    for bucket in buckets:
        own = [row for row in rows if row["bucket"] == bucket]
        by_then = [float(row["part"]) for row in own if float(row["seconds"]) <= float(own[0]["estimated 95 %"])]
        shown.append([bucket, round(float(own[50]["seconds"]), 1), round(float(own[95]["seconds"]), 1),
                      round(float(own[0]["estimated 95 %"]), 1), max(by_then, default=0)])
    figure.table(["bucket", "half came within, s", "95 % within, s", "estimated for 95 %, s", "part that came by then"],
                 shown, "tarcil-6-estimates")
    lines = ", ".join(
        f"'DATA.csv' using (strcol(1) eq '{bucket}' ? $3 : 1/0):2 with lines lw 2 lc {n + 1} title 'bucket {bucket}', "
        f"'DATA.csv' using (strcol(1) eq '{bucket}' && $2==0.95 ? $4 : 1/0):2 with points pt 7 ps 1.5 lc {n + 1} notitle"
        for n, bucket in enumerate(buckets))
    figure.plot(f"""
set xlabel 's until a unit comes free (dots: estimated for 0.95)'
set ylabel 'probability'
set logscale x
set yrange [0:1]
set key right bottom
plot {lines}
""", "700,420")
    figure.says("less than 8 % between the estimated and the measured time",
                "; ".join(f"bucket {row[0]}: by the {row[3]} s estimated for 95 %, {100 * row[4]:.0f} % had come"
                          for row in shown))


if __name__ == "__main__":
    main()
