#!/usr/bin/env python3
"""How many questions a gateway answers, and how soon an event is with who listens.

    bench/gateway.py --tarcil build/release/tarcil [--seconds 10] [--servers 100] [--rate 500]

Starts a cluster of emulated servers with `tarcil up` in a folder of its own, and stops it in the end.

1. Status questions a second: wrk (Debian) over keep-alive connections asks GET /api/v1/status, with what the gateway asked the cluster meanwhile
   beside it, by its metrics, and its processor time for each, which other load of the machine changes less.
2. Latency of events at p50, p95 and p99: from when a job's submission was answered to when its first event has been read from a stream,
   while so many jobs a second are submitted over HTTP, each a task of some milliseconds. What falls behind the rate is said. With the processor time that
   the recorder beside the gateway takes for each job.

Both share the machine with the cluster and with the load.
"""

import argparse
import http.client
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SERVERS = "servers: [{{name: \"s{{n}}\", count: {count}, rus: 8}}]\n"
JOB = "name: bench\ncommand: [sleep, 20ms]\n"


class Cluster:
    def __init__(self, tarcil, folder, servers):
        self.tarcil, self.data = tarcil, f"{folder}/data"
        Path(folder, "servers.yaml").write_text(SERVERS.format(count=servers))
        up = subprocess.run([tarcil, "up", "--detach", "--json", "--data", self.data, "--emulate", f"{folder}/servers.yaml"],
                            stdout=subprocess.PIPE, check=True, text=True)
        said = json.loads(up.stdout)
        self.address = said["page"].split("//")[1].split("/")[0]
        self.gateway = next(process["pid"] for process in said["processes"] if process["role"] == "gateway")
        self.token = Path(self.data, "tokens/operate.token").read_text().strip()
        self.headers = {"Authorization": f"Bearer {self.token}", "X-Tarcil": "1"}

    def metric(self, name):
        sources = json.loads(subprocess.run([self.tarcil, "metrics", "gateway", "--json", "--data", self.data],
                                            stdout=subprocess.PIPE, check=True, text=True).stdout)
        return next(sample["value"] for source in sources for sample in source["metrics"] if sample["name"] == name)

    def recorder(self):
        """The process that keeps the last day."""
        return int(Path(f"/proc/{self.gateway}/task/{self.gateway}/children").read_text().split()[0])

    def processor_seconds(self, pid=None):
        """Of the gateway, or of another process, all of its threads."""
        user, system = Path(f"/proc/{pid or self.gateway}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        subprocess.run([self.tarcil, "down", "--data", self.data], stdout=subprocess.DEVNULL, check=False)


def questions(cluster, seconds):
    """Status questions a second, what each costs the gateway, and how many of them the cluster was asked."""
    before, used = cluster.metric("tarcil_gateway_questions_total"), cluster.processor_seconds()
    out = subprocess.run(["wrk", "-t1", "-c32", f"-d{seconds}s", "-H", f"Authorization: Bearer {cluster.token}",
                          f"http://{cluster.address}/api/v1/status"], stdout=subprocess.PIPE, check=True, text=True).stdout
    if "Non-2xx" in out:
        sys.exit(f"wrk: {out}")
    rate = next(float(line.split()[1]) for line in out.splitlines() if line.startswith("Requests/sec"))
    used = cluster.processor_seconds() - used
    return {"per_second": rate, "processor_us_each": 1e6 * used / (rate * seconds), "asked_of_the_cluster_per_second": (cluster.metric("tarcil_gateway_questions_total") - before) / seconds}


def listen(cluster, seen, ready):
    """Notes when the first event of each job has been read."""
    connection = http.client.HTTPConnection(cluster.address)
    connection.request("GET", "/api/v1/events", headers=cluster.headers)
    response = connection.getresponse()
    ready.set()
    kind = ""
    while True:
        line = response.readline()
        if not line:
            return
        if line.startswith(b"event: "):
            kind = line[7:].strip()
        elif line.startswith(b"data: ") and kind == b"job":
            seen.setdefault(json.loads(line[6:])["id"], time.monotonic())


def submit(cluster, tokens, answered):
    connection = http.client.HTTPConnection(cluster.address)
    while tokens.get() is not None:
        connection.request("POST", "/api/v1/jobs", body=JOB, headers=cluster.headers)
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            sys.exit(f"a job was refused: {response.status} {body[:300]}")
        answered[json.loads(body)["job"]] = time.monotonic()


def events(cluster, seconds, rate):
    seen, answered, ready, tokens = {}, {}, threading.Event(), queue.Queue()
    threading.Thread(target=listen, args=(cluster, seen, ready), daemon=True).start()
    ready.wait()
    submitters = [threading.Thread(target=submit, args=(cluster, tokens, answered)) for _ in range(16)]
    for thread in submitters:
        thread.start()
    recorder = cluster.recorder()
    recorded = cluster.processor_seconds(recorder)
    start = time.monotonic()
    for number in range(rate * seconds):
        time.sleep(max(0, start + number / rate - time.monotonic()))
        tokens.put(True)
    for _ in submitters:
        tokens.put(None)
    for thread in submitters:
        thread.join()
    took = time.monotonic() - start
    time.sleep(2)  # for events that are still to come
    recorded = cluster.processor_seconds(recorder) - recorded
    lags = sorted(max(0, seen[job] - at) for job, at in answered.items() if job in seen)
    at = lambda share: 1000 * lags[int(share * (len(lags) - 1))]
    return {"jobs": len(answered), "jobs_per_second": len(answered) / took, "without_event": len(answered) - len(lags),
            "recorder_processor_us_a_job": 1e6 * recorded / len(answered), "p50_ms": at(0.5), "p95_ms": at(0.95), "p99_ms": at(0.99)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tarcil", default="build/release/tarcil")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--servers", type=int, default=100)
    parser.add_argument("--rate", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        cluster = Cluster(given.tarcil, folder, given.servers)
        try:
            result = {"questions": questions(cluster, given.seconds), "events": events(cluster, given.seconds, given.rate)}
        finally:
            cluster.stop()
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
