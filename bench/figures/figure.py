"""What the commands of this folder share: many runs of `tarcil sim` over all cores, real clusters, tables, CSV, plots.

A figure says what it simulates as scenarios (docs/simulator.md) under keys of its own, and gets the runs back under
the same keys. In the environment, SEEDS=1..8 asks for other seeds than the figure's own, TARCIL for another binary, and
LIMIT=300 for a run to be given up after so many seconds of processor time (900).
"""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = int(os.environ.get("LIMIT", 900))
TARCIL = Path(os.environ.get("TARCIL", ROOT / "build/release/tarcil"))


class Figure:
    """Writes NAME.csv, NAME.json, NAME.svg and NAME.png into the folder that the command line names."""

    def __init__(self, name, seeds):
        if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
            refuse(f"usage: {sys.argv[0]} [FOLDER]      where data and plots go; default: build/figures")
        if not TARCIL.exists():
            refuse("not built; run: cmake --preset release && cmake --build --preset release")
        self.name = name
        self.folder = Path(sys.argv[1] if len(sys.argv) == 2 else ROOT / "build/figures")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.seeds = seeds_of(os.environ.get("SEEDS", seeds))

    def simulate(self, points, partly=False):
        """{key: scenario} to {key: {policy: [a run for each seed]}}; `policies` of each scenario are those to run. One that
        is given up ends it, or is None where `partly`."""
        wanted = [(key, policy, seed) for key, scenario in points.items()
                  for policy in scenario["policies"] for seed in self.seeds]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(lambda one: run(points[one[0]], one[1], one[2]), wanted))
        if None in done and not partly:
            sys.exit("a run was given up; LIMIT says after how many seconds of processor time")
        runs = {key: {policy: [] for policy in scenario["policies"]} for key, scenario in points.items()}
        for (key, policy, _), result in zip(wanted, done):
            runs[key][policy].append(result)
        keyed = [{"point": key, **result} for (key, _, _), result in zip(wanted, done) if result]
        (self.folder / f"{self.name}.json").write_text(json.dumps(keyed))
        return runs

    def measure(self, points):
        """{key: arguments of `late_binding_rpc streams`} to {key: what it measured}, in real time, one after the other.
        Void where it kept the machine more than 70 % busy: what is measured then is the machine."""
        measured = {}
        for key, arguments in points.items():
            with tempfile.TemporaryDirectory(prefix="tarcil-figure-") as folder:
                result = f"{folder}/result.json"
                done = subprocess.run([TARCIL.parent / "bench/late_binding_rpc", "streams", "--data", f"{folder}/cluster",
                                       "--json", result, *arguments], capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    sys.exit(f"{key}: {done.stderr}")
                measured[key] = json.loads(Path(result).read_text())
            busy = measured[key]["busy"]
            print(f"{key}: machine {100 * busy:.0f} % busy")
            if busy > 0.7 or measured[key]["not_done"]:
                sys.exit(f"{key}: void: machine {100 * busy:.0f} % busy, {measured[key]['not_done']} tasks not done")
        (self.folder / f"{self.name}.json").write_text(json.dumps(measured))
        return measured

    def table(self, header, rows, name=None):
        """Writes it as CSV, and shows it unless it is long. Estimates are shown with their errors; in the CSV these are
        columns of their own behind all others."""
        shown = [] if len(rows) > 80 else [[text_of(cell) for cell in row] for row in [header, *rows]]
        widths = [max((len(row[i]) for row in shown), default=0) for i in range(len(header))]
        for row in shown:
            print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
        estimates = [i for i in range(len(header)) if any(isinstance(row[i], Estimate) for row in rows)]
        lines = [[*header, *(f"{header[i]}, standard error" for i in estimates)]]
        for row in rows:
            lines.append([float(cell) if isinstance(cell, Estimate) else cell for cell in row]
                         + [getattr(row[i], "error", "") for i in estimates])
        with open(self.folder / f"{name or self.name}.csv", "w", newline="") as file:
            csv.writer(file).writerows(lines)

    def plot(self, script, size="800,400", name=None):
        """Runs the commands of gnuplot; DATA in them is the CSV's path without its ending, as the plot's is."""
        name = name or self.name
        path = str(self.folder / name)
        for kind, terminal in (("svg", "svg"), ("png", "png")):
            head = (f"set terminal {terminal} size {size} background rgb 'white' noenhanced\nset output '{path}.{kind}'\n"
                    "set datafile separator ','\nset grid lc rgb '#dddddd'\n")
            subprocess.run(["gnuplot"], input=head + script.replace("DATA", path), text=True, check=True)
        print(f"written: {path}.csv, .svg, .png")

    @staticmethod
    def says(paper, measured):
        print(f"paper says: {paper}\nwe measure: {measured}")


class Estimate(float):
    """A mean over seeds and its standard error, which plain factors and rounding keep."""

    def __new__(cls, value, error):
        made = super().__new__(cls, value)
        made.error = error
        return made

    def __mul__(self, factor):
        return Estimate(float(self) * factor, self.error * abs(factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        return self * (1 / divisor)

    def __round__(self, digits=None):
        return Estimate(round(float(self), digits or 0), self.error)


def text_of(cell):
    if isinstance(cell, Estimate) and not math.isnan(cell.error):
        return f"{cell:.4g} ± {cell.error:.2g}"
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.4g}"
    return str(cell)


def refuse(problem):
    print(problem, file=sys.stderr)
    sys.exit(2)


def large_scale(load=None, **changes):
    """Tarcil 6.3: the scenario of large_scale.yaml, with other values of some fields."""
    sizes = [(40, 4), (40, 4), (40, 4), (46, 8), (40, 8), (40, 8), (40, 8), (40, 16), (40, 16), (34, 32)]
    return {
        "cluster": {"platforms": [{"servers": servers, "rus": rus} for servers, rus in sizes]},
        "workload": {"kind": "mixed", "jobs": 7200, "gap": "1s", "warm_up": 0, **({"load": load} if load else {})},
        **changes,
    }


def seeds_of(text):
    seeds = []
    for part in str(text).split(","):
        first, _, last = part.partition("..")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def run(scenario, policy, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(scenario, file)  # which is YAML too
        file.flush()
        done = subprocess.run(["prlimit", f"--cpu={LIMIT}:{LIMIT + 10}", TARCIL, "sim", file.name, "--policy", policy, "--seed", str(seed),
                               "--json"], capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        print(f"{policy}, seed {seed}: given up after {LIMIT} s of processor time", file=sys.stderr)
        return None
    if done.returncode != 0:
        sys.exit(f"{policy}, seed {seed}: {done.stderr}")
    result = json.loads(done.stdout)
    if result["violations"] or result["unfinished"]:
        sys.exit(f"{policy}, seed {seed}: void: {result['violations']} violations, {result['unfinished']} unfinished")
    return result


def mean(runs, *keys):
    """Over the seeds, of the number under these keys; not a number where a run has none there, or was given up."""
    values = []
    for result in runs:
        for key in keys:
            result = result and result[key]
        values.append(math.nan if result is None else result)
    return estimate(values)


def estimate(values):
    """Their mean; its error is not known of one alone."""
    middle = sum(values) / len(values)
    if len(values) < 2:
        return Estimate(middle, math.nan)
    squares = sum((value - middle) ** 2 for value in values)
    return Estimate(middle, math.sqrt(squares / (len(values) - 1) / len(values)))
