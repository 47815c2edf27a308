#!/usr/bin/env python3
"""Means over the seeds of what `tarcil sim --json` printed: NAME.json to a table on stdout and NAME.csv for gnuplot."""

import json
import sys
from pathlib import Path


def main(arguments):
    name = arguments[0]
    runs = json.loads(Path(name + ".json").read_text())
    runs = runs if isinstance(runs, list) else [runs]
    policies = list(dict.fromkeys(run["policy"] for run in runs))
    if any(run["violations"] or run["unfinished"] for run in runs):
        print("a run is void: violations or unfinished jobs", file=sys.stderr)
        return 1

    def mean(policy, figure):
        values = [figure(run) for run in runs if run["policy"] == policy]
        return sum(values) / len(values)

    print(f"{'policy':14}{'performance':>12}{'worst 5 %':>11}{'worst 1 %':>11}{'of ideal':>10}{'worst 5 %':>11}"
          f"{'>= 95 %':>9}{'quality':>9}"
          f"{'response s':>12}{'wait s':>9}{'used':>7}{'conflicts':>11}")
    for policy in policies:
        performance = [100 * mean(policy, lambda r, k=k: r["performance"][k])
                       for k in ("mean", "p5", "p1", "at_least_95")]
        of_ideal = [100 * mean(policy, lambda r, k=k: r["of_ideal_policy"][k]) for k in ("mean", "p5")]
        print(f"{policy:14}{performance[0]:12.1f}{performance[1]:11.1f}{performance[2]:11.1f}"
              f"{of_ideal[0]:10.1f}{of_ideal[1]:11.1f}{performance[3]:9.1f}"
              f"{100 * mean(policy, lambda r: r['quality']['mean']):9.1f}"
              f"{mean(policy, lambda r: r['response_ms']['mean']) / 1e3:12.1f}"
              f"{mean(policy, lambda r: r['wait_ms']['mean']) / 1e3:9.2f}"
              f"{100 * mean(policy, lambda r: r['utilisation']):7.1f}"
              f"{mean(policy, lambda r: r['conflicts']):11.0f}")
    lines = ["jobs," + ",".join(policies)]
    points = len(runs[0]["performance_curve"])
    for i in range(points):
        curve = [f"{mean(policy, lambda r, i=i: r['performance_curve'][i]):.6f}" for policy in policies]
        lines.append(f"{100 * i / (points - 1):g}," + ",".join(curve))
    Path(name + ".csv").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
