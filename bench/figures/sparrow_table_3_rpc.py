#!/usr/bin/env python3
"""Sparrow, Table 3, with real RPC in real time: what a user of low priority costs one of high priority, by how much he
asks for. 25 emulated servers of 16 units, five agents, jobs of 10 tasks of 100 ms, 8 s for each load.
  bench/figures/sparrow_table_3_rpc.py [FOLDER]"""

from figure import Figure
from sparrow_table_3 import HIGH, LOW, PLOT

SECONDS = 8
PAPER = {0: "106 (111)", 0.25: "108 (114)", 0.5: "110 (148)", 0.75: "136 (170)", 1.75: "141 (226)"}


def part(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def main():
    figure = Figure("sparrow-table-3-rpc", "1")
    cluster = f"--servers 25 --slots 16 --monitors 5 --agents 5 --task-ms 100 --seconds {SECONDS}".split()
    runs = figure.measure({f"{low}": [*cluster, "--stream", f"0:80:{HIGH}:0:{SECONDS}",
                                      *(["--stream", f"1:20:{low}:0:{SECONDS}"] if low else [])] for low in LOW})
    rows = []
    for low in LOW:
        row = [HIGH, low]
        for user in runs[f"{low}"]["users"]:
            row += [round(part(user["response_ms"], 0.5), 1), round(part(user["response_ms"], 0.95), 1)]
        rows.append(row + ["-"] * (6 - len(row)) + [round(100 * runs[f"{low}"]["busy"]), PAPER[low]])
    figure.table(["high load", "low load", "high p50, ms", "p95", "low p50, ms", "p95", "machine busy, %",
                  "paper: high p50 (p95)"], rows)
    figure.plot(PLOT)
    worst = max(row[2] for row in rows)
    figure.says("high priority at most 40 % above alone, median 141 ms, however much the other asks for",
                f"at most {100 * (worst / rows[0][2] - 1):.0f} % above alone, median {worst} ms")


if __name__ == "__main__":
    main()
