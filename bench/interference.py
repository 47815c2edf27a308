#!/usr/bin/env python3
"""Question: is a real service that suffers from a neighbour noticed, and the right one named?

    bench/interference.py [--calm N] [--disturbed N] [--hogs N] [--deviation SHARE] [--adjust | --yields]
                          [--window SECONDS] [--folder DIR] [--build DIR]

As root, with memcached and gnuplot (both are Debian packages). Starts a cluster of one server that has half of the
machine's cores and two units for each, so that two tasks share a core, and on it memcached with a client that reports its
throughput (bench/interference_service.py), and tasks that sleep for N calm seconds and then keep their cores busy for N
seconds; a last calm time follows. Prints when the service's monitor noticed, whom it named with what evidence, and when it saw that it was
over; plots the throughput. Fails where nobody or the wrong one is named. --adjust: the service may be moved or given
more units, a second server has the other cores, and the script fails where no such step is taken while the others run, or
the throughput is not back from five seconds after the last step on: at four fifths of what it is when all is calm, before
at the first place or afterwards at the last, whichever is less. --yields: the job of the others says so, they are
throttled, and the script fails where the throughput is not back at 95 % while they run. Throughputs are medians. Takes 2 N calm seconds and N
disturbed ones: two minutes by default. Other programs spoil it: it says the machine's load as it begins.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SERVICE = """\
name: service
command: [python3, interference_service.py, "{seconds}"]
files: [interference_service.py]
performance: {{metric: reported, deviation: {deviation}, window: {window}s}}
quality: {{protect_neighbours: false}}
{more}
"""

# A profile that hides what they do: otherwise they would not be placed beside the service.
OFFENDER = """\
name: offender
command: [sh, -c, "sleep {calm}; for i in $(seq {hogs}); do setsid sh -c 'while :; do :; done' & done; wait"]
tasks: {tasks}
timeout: {seconds}s
{more}
"""


class Cluster:
    def __init__(self, build, data, cores):
        self.tarcil, self.data, self.others = str(build / "tarcil"), str(data), []
        self.run("up", "--detach", "--rus", str(2 * len(cores)), "--cores", commas(cores), "--pressure-period", "1s")

    def add_server(self, name, cores):
        """A second server on this machine, on cores of its own."""
        run = f"{self.data}/run"
        log = open(f"{self.data}/log/{name}.log", "w")
        self.others.append(subprocess.Popen(
            [self.tarcil, "serve", "monitor", "--name", name, "--rus", str(2 * len(cores)), "--cores", commas(cores),
             "--memory", "1GiB", "--listen", f"unix:{run}/{name}.sock", "--master", f"unix:{run}/master.sock",
             "--token-file", f"{self.data}/tokens/monitor.token", "--data", f"{self.data}/monitors/{name}",
             "--tag", f"interference-{os.getpid()}", "--stop-tasks"], stdout=log, stderr=log))

    def run(self, *arguments, check=True):
        done = subprocess.run([self.tarcil, arguments[0], *self.where(arguments), *arguments[1:]], text=True,
                              capture_output=True)
        if check and done.returncode != 0:
            sys.exit(f"tarcil {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def where(self, arguments):
        # Commands with a verb below them take the flag after it.
        return [] if arguments[0] in ("job", "server") else ["--data", self.data]

    def ask(self, *arguments):
        os.environ["TARCIL_DATA"] = self.data
        return json.loads(self.run(*arguments, "--json"))

    def submit(self, folder, name, text):
        path = folder / f"{name}.yaml"
        path.write_text(text)
        return self.ask("submit", str(path))["job"]

    def down(self):
        for monitor in self.others:
            monitor.terminate()
            monitor.wait()
        self.run("down", check=False)


def commas(numbers):
    return ",".join(map(str, numbers))


def follow(cluster, job, until, seen, marks):
    """Asks once a second until then what is said of the job; keeps what is new."""
    while time.time() < until:
        explained = cluster.ask("job", "explain", job)
        seen["samples"].update(throughput(cluster, job))  # what it said before it was moved is gone then
        told = [describe(violation) for violation in explained["troubles"]]
        now = time.time()
        if bool(told) != bool(seen["told"]):
            marks.append((now, "noticed" if told else "over"))
        for line in told:
            if line not in seen["told"]:
                print(f"{now - seen['begin']:6.1f} s  {line}", flush=True)
        if seen["told"] and not told:
            print(f"{now - seen['begin']:6.1f} s  over", flush=True)
        for step in explained["steps"]:
            if step not in seen["steps"]:
                seen["steps"].append(step)
                marks.append((now, "step"))
                print(f"{now - seen['begin']:6.1f} s  step: {step['step']}", flush=True)
        seen["told"] = told
        seen["all"] += [cause for violation in explained["troubles"] for cause in violation["causes"][:1]]
        time.sleep(1)


def describe(violation):
    cause = violation["causes"][0]
    return (f"{violation['measured'] / violation['expected']:.0%} of what is expected: {cause['kind']} "
            f"{cause['neighbour'] or ''} on {cause['resource']}, {cause['evidence']}")


def throughput(cluster, job):
    """(time, requests a second) of each half second."""
    text = cluster.run("job", "logs", job)
    return [tuple(map(float, line.split())) for line in text.splitlines() if re.fullmatch(r"[\d.]+ \d+", line)]


def median(samples, begin, end):
    """0 where there is no sample."""
    values = [rate for when, rate in samples if begin <= when < end]
    return statistics.median(values) if values else 0


def plot(folder, samples, begin, marks):
    data = folder / "interference.tsv"
    data.write_text("".join(f"{when - begin:.1f}\t{rate:.0f}\n" for when, rate in samples))
    labels = folder / "interference-marks.tsv"
    labels.write_text("".join(f'{when - begin:.1f}\t"{text}"\n' for when, text in marks))
    subprocess.run(["gnuplot", "-c", str(ROOT / "bench/interference.gp"), str(folder)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calm", type=int, default=40)
    parser.add_argument("--disturbed", type=int, default=40)
    # In sessions of their own: kernels that group processes by session give each as much as the service.
    parser.add_argument("--hogs", type=int, default=1, help="processes of each of the others")
    parser.add_argument("--deviation", type=float, default=0.2)
    parser.add_argument("--window", type=float, default=5)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--adjust", action="store_true")
    what.add_argument("--yields", action="store_true")
    parser.add_argument("--folder", type=Path, default=None, help="for the results")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="tarcil-interference-", dir="/var/tmp"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "interference_service.py").write_text((ROOT / "bench/interference_service.py").read_text())

    cores = sorted(os.sched_getaffinity(0))
    print(f"load {os.getloadavg()[0]:.1f} on {len(cores)} cores", flush=True)
    half = max(1, len(cores) // 2)
    cluster = Cluster(arguments.build, folder / "data", cores[:half])
    try:
        sys.exit(experiment(arguments, folder, cluster, cores[:half], cores[half:]))
    finally:
        cluster.down()


def experiment(arguments, folder, cluster, cores, other_cores):
    more = "adjust: {more_rus: 1, move: true}" if arguments.adjust else ""
    seconds = 2 * arguments.calm + arguments.disturbed + 60
    begin = time.time()
    seen, marks = {"begin": begin, "told": [], "steps": [], "all": [], "samples": {}}, []
    service = cluster.submit(folder, "service", SERVICE.format(
        seconds=seconds, deviation=arguments.deviation, window=arguments.window, more=more))
    # All at once: no new task is placed beside one that is degraded, be it for another reason.
    offender = cluster.submit(folder, "offender", OFFENDER.format(
        tasks=2 * len(cores) - 1, hogs=arguments.hogs, calm=arguments.calm,
        seconds=arguments.calm + arguments.disturbed, more="yields: true" if arguments.yields else ""))
    if arguments.adjust:
        while cluster.ask("job", "status", offender)["state"] != "running":
            time.sleep(0.1)
        cluster.add_server("server-2", other_cores)
    disturbed = time.time() + arguments.calm
    follow(cluster, service, disturbed, seen, marks)
    marks.append((disturbed, "others begin"))
    print(f"{disturbed - begin:6.1f} s  others begin", flush=True)
    follow(cluster, service, disturbed + arguments.disturbed, seen, marks)
    states = {task["state"] for task in cluster.ask("job", "status", offender)["tasks"]}
    print(f"the others: {', '.join(sorted(states))}", flush=True)
    calm_again = time.time()
    marks.append((calm_again, "others end"))
    print(f"{calm_again - begin:6.1f} s  others end", flush=True)
    follow(cluster, service, calm_again + arguments.calm, seen, marks)

    samples = sorted(seen["samples"].items())
    steps = [when for when, what in marks if what == "step" and disturbed <= when < calm_again]
    settled = steps[-1] + 5 if steps else calm_again
    before, beside = median(samples, disturbed - 20, disturbed), median(samples, disturbed + 3, min(steps, default=calm_again))
    adjusted, after = median(samples, settled, calm_again), median(samples, calm_again + 5, time.time())
    print(f"requests a second: {before:.0f} before, {beside:.0f} beside the others, "
          + (f"{adjusted:.0f} after the last step, " if steps else "") + f"{after:.0f} when they have ended")
    plot(folder, samples, begin, marks)
    print(f"plotted: {folder}/interference.png")
    cluster.run("job", "cancel", service, check=False)
    # One that has just ended has no name any more.
    number = cluster.ask("job", "status", offender)["number"]
    named = [cause["neighbour"] for cause in seen["all"] if cause["kind"] == "neighbour" and cause["neighbour"]]
    if not named or any(f"(job {number})" not in neighbour for neighbour in named):
        print("the service's violation was not seen, or the offender was not named")
        return 1
    if arguments.yields:
        return throttled_in_time(samples, disturbed, calm_again, before)
    return came_back(steps, settled, calm_again, adjusted, min(before, after)) if arguments.adjust else 0


def throttled_in_time(samples, begin, end, before):
    """The script's exit code; says when the throughput was back at 95 %: for two seconds in a row."""
    during = [(when, rate) for when, rate in samples if begin <= when < end]
    low = next((i for i, (_, rate) in enumerate(during) if rate < 0.95 * before), None)
    if low is None:
        print("the others did not slow it down")
        return 1
    for i in range(low, len(during) - 3):
        if all(rate >= 0.95 * before for _, rate in during[i:i + 4]):
            print(f"back at 95 % {during[i][0] - begin:.1f} s after the others began, "
                  f"at {median(during[i:], begin, end) / before:.0%} from there on")
            return 0
    print("its throughput did not come back to 95 %")
    return 1


def came_back(steps, settled, end, adjusted, calm):
    """The script's exit code."""
    if not steps:
        print("nothing was done about it")
    elif end - settled < 5:
        print("the last step came too late to see what it did: give more --disturbed seconds")
    elif adjusted < 0.8 * calm:
        print(f"its throughput did not come back: {adjusted / calm:.0%} of what it is when all is calm")
    else:
        return 0
    return 1


main()
