#!/usr/bin/env python3
"""Tarcil, Figures 9, 10 and 11a in real time: master, agents and a monitor as processes of their own, real RPC and a real
store; servers are emulated, tasks are timers. Response by load (11a), by the number R of slots drawn for each task (9) and
by the number of agents (10, both at 80 % load), on 10 servers of 8 units with tasks of 100 ms and on 100 of 8 with tasks
of 1 s. All share this machine with the client: a point at which it is busy for more than 70 % counts as void. For an idle
machine; takes about a quarter of an hour.
  [SECONDS=12] bench/figures/tarcil_real_time.py [FOLDER]"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from figure import TARCIL, Figure, refuse

LOADS = [0.1, 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95]
RATIOS = [1, 2, 4, 8, 16, 32, 64]
AGENTS = [1, 2, 4, 8, 10]
USUAL_AGENTS, HIGH = 4, 0.8
CLUSTERS = {"10 x 8": (10, 8, 100), "100 x 8": (100, 8, 1000)}
MOST_BUSY = 70  # percent
SECONDS = float(os.environ.get("SECONDS", "12"))
BENCH = TARCIL.parent / "bench/cluster_bench"


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        refuse(f"{' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return done.stdout


class Cluster:
    """A cluster of emulated servers while the block runs."""

    def __init__(self, servers, rus, agents):
        self.folder = tempfile.TemporaryDirectory(prefix="tarcil-real-time-")
        self.data = Path(self.folder.name, "data")
        file = Path(self.folder.name, "servers.yaml")
        file.write_text(json.dumps({"servers": [{"name": "s{n}", "count": servers, "rus": rus}]}))
        self.up = ["up", "--detach", "--data", self.data, "--emulate", file, "--agents", agents]

    def __enter__(self):
        command(TARCIL, *self.up)
        return self

    def __exit__(self, *problem):
        command(TARCIL, "down", "--data", self.data)
        self.folder.cleanup()

    def tune(self, ratio):
        command(TARCIL, "tune", "--data", self.data, "--ratio", ratio)

    def stream(self, rate, task_ms):
        output = command(BENCH, "--mode", "stream", "--data", self.data, "--rate", rate, "--task-ms", task_ms,
                         "--jobs", round(rate * max(SECONDS, 12 * task_ms / 1e3)))
        return json.loads(output.strip().split("\n")[-1])


def main():
    figure = Figure("tarcil-real-time", "1")
    rows = []

    def measure(cluster, part, x, load, size):
        servers, rus, task_ms = CLUSTERS[size]
        point = cluster.stream(load * servers * rus / (task_ms / 1e3), task_ms)
        rows.append([size, part, x, round(point["rate"]), *(round(point[key], 1) for key in
                     ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "busy_percent")),
                     "void" if point["busy_percent"] > MOST_BUSY else "ok"])
        print(*rows[-1], flush=True)

    for size, (servers, rus, _) in CLUSTERS.items():
        with Cluster(servers, rus, USUAL_AGENTS) as cluster:
            for load in LOADS:
                measure(cluster, "11a", load, load, size)
            for ratio in RATIOS:
                cluster.tune(ratio)
                measure(cluster, "9", ratio, HIGH, size)
        for agents in AGENTS:
            with Cluster(servers, rus, agents) as cluster:
                measure(cluster, "10", agents, HIGH, size)
    figure.table(["cluster", "figure", "load, R or agents", "jobs/s", "mean, ms", "p50", "p95", "p99", "busy %", ""], rows)
    titles = {"11a": "load", "9": "R", "10": "agents"}
    plots = "".join(f"set title '{size}, Figure {part}'\nset xlabel '{x}'\nplot " + ", ".join(
        f"'DATA.csv' using (strcol(1) eq '{size}' && strcol(2) eq '{part}' ? $3 : 1/0):{column} "
        f"with linespoints lw 2 title '{what}'" for column, what in ((5, "mean"), (7, "95 %"))) + "\n"
        for size in CLUSTERS for part, x in titles.items())
    figure.plot(f"set multiplot layout 2,3\nset ylabel 'response, ms'\nset yrange [0:*]\n{plots}unset multiplot\n", "1200,600")

    def of(size, part, x):
        return next(row for row in rows if row[:3] == [size, part, x])

    figure.says("mean flat to 85 % load, 95 % above 2.5 times the task only beyond 80 %; R costs little to 32; 3 agents are enough",
                "; ".join(f"{size}: mean {of(size, '11a', 0.1)[4]} ms at 10 %, {of(size, '11a', 0.85)[4]} at 85 %, "
                          f"{of(size, '11a', 0.95)[4]} at 95 %; R = 1 {of(size, '9', 1)[4]}, 64 {of(size, '9', 64)[4]}; "
                          f"1 agent {of(size, '10', 1)[4]}, 10 {of(size, '10', 10)[4]}" for size in CLUSTERS)
                + f"; busiest {max(row[8] for row in rows)} % of the machine")


if __name__ == "__main__":
    main()
