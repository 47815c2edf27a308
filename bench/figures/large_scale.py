#!/usr/bin/env python3
"""Means over the seeds, and their standard errors, of what `tarcil sim --json` printed: NAME.json to a table on stdout
and NAME.csv for gnuplot."""

import json
import sys
from pathlib import Path

from figure import estimate


def main(arguments):
    name = arguments[0]
    runs = json.loads(Path(name + ".json").read_text())
    runs = runs if isinstance(runs, list) else [runs]
    every, runs = runs, [run for run in runs if run["policy"] != "bound"]
    policies = list(dict.fromkeys(run["policy"] for run in runs))
    if any(run["violations"] or run["unfinished"] for run in runs):
        print("a run is void: violations or unfinished jobs", file=sys.stderr)
        return 1

    def mean(policy, figure):
        return estimate([figure(run) for run in runs if run["policy"] == policy])

    def cell(value, digits=1):
        return f"{value:.{digits}f} ± {value.error:.{digits}f}"

    columns = {
        "performance %": lambda r: 100 * r["performance"]["mean"],
        "worst 5 %": lambda r: 100 * r["performance"]["p5"],
        "worst 1 %": lambda r: 100 * r["performance"]["p1"],
        "of ideal %": lambda r: 100 * r["of_ideal_policy"]["mean"],
        "its worst 5 %": lambda r: 100 * r["of_ideal_policy"]["p5"],
        ">= 95 %": lambda r: 100 * r["performance"]["at_least_95"],
        "quality %": lambda r: 100 * r["quality"]["mean"],
        "response s": lambda r: r["response_ms"]["mean"] / 1e3,
        "wait s": lambda r: r["wait_ms"]["mean"] / 1e3,
        "used %": lambda r: 100 * r["utilisation"],
        "conflicts": lambda r: r["conflicts"],
    }
    print(f"{'policy':20}" + "".join(f"{name:>17}" for name in columns))
    for policy in policies:
        print(f"{policy:20}" + "".join(f"{cell(mean(policy, figure)):>17}" for figure in columns.values()))
    bounds = [run["performance"]["mean"] for run in every if run["policy"] == "bound"]
    if bounds:
        print(f"no schedule passes: {cell(100 * estimate(bounds))}")
    lines = ["jobs," + ",".join(policies)]
    points = len(runs[0]["performance_curve"])
    for i in range(points):
        curve = [f"{mean(policy, lambda r, i=i: r['performance_curve'][i]):.6f}" for policy in policies]
        lines.append(f"{100 * i / (points - 1):g}," + ",".join(curve))
    Path(name + ".csv").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
