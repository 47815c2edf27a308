#!/usr/bin/env python3
"""Prints what runs of `tarcil sim --json` came to, as a table by load and policy: means over the seeds.

late_binding.py RUNS.json...    one file for each load
"""

import json
import sys


def mean(values):
    return sum(values) / len(values)


def main():
    if len(sys.argv) < 2:
        sys.exit("late_binding.py: name the files of runs")
    print("| load | policy | mean delay ms | delay p95 ms | mean response ms | quality of tasks |")
    print("|---|---|---|---|---|---|")
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            runs = json.load(file)
        for policy in dict.fromkeys(run["policy"] for run in runs):
            of = [run for run in runs if run["policy"] == policy]
            print(f"| {mean([run['load'] for run in of]):.2f} | {policy} "
                  f"| {mean([run['delay_ms']['mean'] for run in of]):.2f} "
                  f"| {mean([run['delay_ms']['p95'] for run in of]):.2f} "
                  f"| {mean([run['response_ms']['mean'] for run in of]):.1f} "
                  f"| {100 * mean([run['quality']['mean'] for run in of]):.1f} % |")


if __name__ == "__main__":
    main()
