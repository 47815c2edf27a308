#!/usr/bin/env python3
"""Any one process of nine and more: three etcd, three masters, agents and monitors, on hosts of their own, harmed at random.

    tests/faults/nine.py [--seconds N] [--seed S] [--build DIR] [--json]     also as scripts/kill-masters.sh

As root. A process is killed or stopped, a host is cut off from one other, either way or both, or from all, or the disk of a member of
etcd is full for a while; commands submit jobs meanwhile. In the end everything that was acknowledged is there and done, no attempt of a
task was started twice, no exclusive task had two live copies, no unit leaks, and the audit log is whole. Exits with 1 where that is not
so, and keeps the cluster's folder. Prints what was done, and how long submissions waited at the longest.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from campaign import PATIENCE, Cluster, Failed, Skipped, go_on, require, stop, until
from hosts import Hosts

ETCD, MASTERS, AGENTS, SERVERS = (tuple(f"{kind}{number + 1}" for number in range(count)) for kind, count in (("e", 3), ("m", 3), ("a", 2), ("s", 2)))
ROLES = {**dict.fromkeys(ETCD, "etcd"), **dict.fromkeys(MASTERS, "master"), **dict.fromkeys(AGENTS, "agent"), **dict.fromkeys(SERVERS, "server")}
USER = "user"  # a host that nothing happens to
SMALL_DISK = ETCD[-1]
DISK = 400 << 20  # bytes: room for its log, which is written ahead in files of 64 MB, and a snapshot
AT_ONCE = 2  # clients that submit
NO_CLUSTER = 3  # exit code where nobody has answered for ten seconds: nothing was acknowledged
TENDED = 0.05  # seconds between looks at who has ended


class Role:
    """A process that is started again whenever it ends, until it is told to."""

    def __init__(self, words, log):
        self.words, self.log, self.is_ending = words, open(log, "ab"), False
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def tend(self):
        if self.process.poll() is not None and not self.is_ending:
            self.start()

    def end(self):
        self.is_ending = True
        go_on(self.process.pid)
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Nine(Cluster):
    """Each process on a host of its own, as the roles of a company's cluster would be, with what `tarcil join` gave them."""

    def __init__(self):
        super().__init__()
        (self.folder / "log").mkdir()
        self.hosts = None
        self.roles = {}
        self.ended, self.tending = threading.Event(), threading.Thread(target=self.tend)
        self.disk = self.folder / SMALL_DISK

    def at(self, host, port):
        return f"{self.hosts.addresses[host]}:{port}"

    def all_of(self, hosts, port, scheme=""):
        return ",".join(scheme + self.at(host, port) for host in hosts)

    # --- Coming up, and going down
    def up(self):
        self.hosts = Hosts([*ROLES, USER])
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", self.disk], check=True)
        for member in ETCD:
            self.start(member, self.etcd(member))
        self.tarcil_on(MASTERS[0], "init", "--listen", self.at(MASTERS[0], 7001))
        self.start(MASTERS[0], self.master(MASTERS[0]))
        until("the first master leads", lambda: self.leads(MASTERS[0]))
        for host in (*MASTERS[1:], *AGENTS, *SERVERS):
            self.join(host)
        for master in MASTERS[1:]:
            self.start(master, self.master(master))
        for agent in AGENTS:
            self.start(agent, self.command_on(agent, "serve", "agent", "--listen", self.at(agent, 7101)))
        for server in SERVERS:
            self.start(server, self.command_on(server, "serve", "monitor", "--listen", self.at(server, 7201), "--rus", "6", "--memory", "4GiB", "--tag",
                                               f"{self.folder.name}-{server}", "--stop-tasks", "--stop-grace", "1s", "--pressure-period", "off"))
        self.tending.start()
        until("the servers are up", lambda: self.tarcil("server", "list", "--json", check=False).stdout.count('"up"') == len(SERVERS))

    def __enter__(self):
        try:
            return super().__enter__()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    def down(self):
        self.ended.set()
        if self.tending.is_alive():
            self.tending.join()
        for host in (*SERVERS, *AGENTS, *MASTERS, *ETCD):
            if host in self.roles:
                self.roles[host].end()
        if self.hosts:
            self.hosts.end()
        subprocess.run(["umount", self.disk], check=False)

    def start(self, host, words):
        self.roles[host] = Role(self.hosts.on(host, [str(word) for word in words]), self.folder / f"log/{host}.log")

    def tend(self):
        while not self.ended.wait(TENDED):
            for role in self.roles.values():
                role.tend()

    def etcd(self, member):
        here = f"http://{self.at(member, 2379)}"
        peer = f"http://{self.at(member, 2380)}"
        words = ["/usr/bin/etcd", "--name", member, "--data-dir", (self.disk if member == SMALL_DISK else self.folder) / f"{member}-data",
                 "--listen-client-urls", here, "--advertise-client-urls", here, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", ",".join(f"{each}=http://{self.at(each, 2380)}" for each in ETCD),
                 "--logger", "zap", "--log-level", "warn", "--log-outputs", "stderr"]
        # It notices within seconds that its disk is full where it writes a snapshot that often.
        return [*words, "--snapshot-count", "500"] if member == SMALL_DISK else words

    def master(self, host):
        return self.command_on(host, "serve", "master", "--etcd", self.all_of(ETCD, 2379, "http://"), "--etcd-new", "--etcd-wait", "1m",
                               "--masters", self.all_of(MASTERS, 7001))

    def join(self, host):
        role = {"server": "monitor"}.get(ROLES[host], ROLES[host])
        word = self.tarcil_on(MASTERS[0], "join-token", role, "--name", host).strip()
        listen = ["--listen", self.at(host, 7001)] if role == "master" else []
        self.tarcil_on(host, "join", self.at(MASTERS[0], 7002), "--token", word, *listen)

    # --- Commands
    def command_on(self, host, *words):
        return [*super().command(*words), "--data", self.folder / host]

    def tarcil_on(self, host, *words):
        done = subprocess.run(self.hosts.on(host, self.command_on(host, *words)), capture_output=True, text=True, timeout=PATIENCE, check=False)
        require(done.returncode == 0, f"`tarcil {' '.join(words)}` on {host} exits with {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def command(self, *words):
        return self.hosts.on(USER, super().command(*words))

    def environment(self):
        return {**os.environ, "TARCIL_CLUSTER": self.all_of(AGENTS, 7101), "TARCIL_TOKEN_FILE": str(self.folder / MASTERS[0] / "tokens/operate.token"),
                "TARCIL_AUTHORITY": str(self.folder / MASTERS[0] / "identity/authority.pem")}

    # --- What is there
    def leads(self, master):
        words = self.command_on(master, "certificate", "list")
        return subprocess.run(self.hosts.on(master, words), capture_output=True, timeout=PATIENCE, check=False).returncode == 0

    def leader(self):
        """The host of the master that leads; None where nobody leads or says so."""
        told = self.tarcil("master", "list", "--json", check=False)
        if told.returncode != 0:
            return None
        leaders = [master["address"] for master in json.loads(told.stdout) if master["leader"]]
        return next((host for host in MASTERS if leaders and self.at(host, 7001) == leaders[0]), None)


class Load:
    """Commands that submit jobs of two tasks, one of three exclusive, until they are told to end."""

    def __init__(self, cluster):
        self.cluster, self.ending = cluster, threading.Event()
        self.jobs, self.turned_away, self.refused, self.longest = [], 0, [], 0.0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.submit_again_and_again, args=(i,)) for i in range(AT_ONCE)]
        for thread in self.threads:
            thread.start()

    def submit_again_and_again(self, client):
        number = 0
        while not self.ending.is_set():
            number += 1
            name = f"job-{client}-{number}"
            script = f"echo $TARCIL_TASK.$TARCIL_ATTEMPT >> {self.cluster.traces}/{name}; sleep 0.5"
            job = {"command": ["sh", "-c", script], "tasks": 2, "name": name}
            if number % 3 == 0:
                job = {**job, "command": ["sh", "-c", self.cluster.hold_lock(name) + script], "exclusive": True, "restart": {"attempts": 5}}
            began = time.monotonic()
            done = self.cluster.tarcil("submit", "--json", "-", check=False, text=json.dumps(job))
            with self.lock:
                self.longest = max(self.longest, time.monotonic() - began)
                if done.returncode == 0:
                    self.jobs.append((name, json.loads(done.stdout)["job"]))
                elif done.returncode == NO_CLUSTER:
                    self.turned_away += 1
                else:
                    self.refused.append(done.stderr.strip()[-200:])
            time.sleep(0.1)

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()


# --- Harm: each does it to a host, for a while, and says what it was.


def kill(cluster, host, _):
    process = cluster.roles[host].process
    process.kill()
    until(f"{host} is back", lambda: cluster.roles[host].process is not process)
    return f"killed {ROLES[host]}"


def stop_for_a_while(cluster, host, choose):
    pid = cluster.roles[host].process.pid
    stop(pid)
    time.sleep(choose.uniform(0.5, 8))
    go_on(pid)
    return f"stopped {ROLES[host]}"


def cut_off_from_one(cluster, host, choose):
    other = choose.choice([each for each in ROLES if each != host])
    pairs = choose.choice([[(host, other)], [(other, host)], [(host, other), (other, host)]])
    with cluster.hosts.cut(pairs):
        time.sleep(choose.uniform(0.5, 8))
    return "cut between two, " + ("one way" if len(pairs) == 1 else "both ways")


def cut_off_from_all(cluster, host, choose):
    others = [each for each in ROLES if each != host]
    with cluster.hosts.cut([*((host, other) for other in others), *((other, host) for other in others)]):
        time.sleep(choose.uniform(0.5, 8))
    return f"cut off {ROLES[host]}"


def fill_disk(cluster, _, choose):
    filler, process = cluster.disk / "filler", cluster.roles[SMALL_DISK].process
    with open(filler, "wb", buffering=0) as file:
        for piece in (bytes(1 << 20), bytes(1 << 12)):
            with contextlib.suppress(OSError):
                while file.write(piece) == len(piece):
                    pass
    until("etcd finds its disk full", lambda: cluster.roles[SMALL_DISK].process is not process)
    time.sleep(choose.uniform(0, 5))
    filler.unlink()
    return "filled disk of etcd"


HARMS = {kill: 9, stop_for_a_while: 6, cut_off_from_one: 7, cut_off_from_all: 4, fill_disk: 2}


def harm(cluster, choose):
    host = choose.choice(list(ROLES))
    if choose.random() < 0.3:  # who leads has the most to lose
        host = cluster.leader() or host
    return choose.choices(list(HARMS), HARMS.values())[0](cluster, host, choose)


def judge(cluster, load):
    require(load.jobs, "no job was accepted")
    require(load.turned_away <= len(load.jobs) / 20, f"{load.turned_away} submissions were turned away, and {len(load.jobs)} accepted")
    until("all jobs end", lambda: not cluster.json("job", "list", "--state", "queued,starting,running"))
    states = {job["id"]: job["state"] for job in cluster.json("job", "list", "--all")}
    for name, job in load.jobs:
        require(states.get(job) == "done", f"{name} (job {job}) is {states.get(job, 'lost')}")
        started = cluster.lines(name)
        require(len(set(started)) == len(started), f"{name} (job {job}) was started twice: {started}")
        require({line.split(".")[0] for line in started} == {"0", "1"}, f"{name} (job {job}) did not run: {started}")
    cluster.expect_no_overlap()
    cluster.expect_units_free()
    verified = cluster.tarcil("audit", "--verify", *(str(cluster.folder / master / "master/audit") for master in MASTERS), check=False)
    require(verified.returncode == 0, f"the audit log: {verified.stdout}{verified.stderr}")
    require(not load.refused, f"{len(load.refused)} of {len(load.refused) + len(load.jobs)} submissions were refused, such as: {load.refused[:1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=Path, default=Cluster.build)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    Cluster.build = arguments.build.absolute()
    choose = random.Random(arguments.seed)
    done = {}
    try:
        with Nine() as cluster:
            cluster.tarcil("run", "--", "true")
            load = Load(cluster)
            try:
                end = time.monotonic() + arguments.seconds
                while time.monotonic() < end:
                    what = harm(cluster, choose)
                    done[what] = done.get(what, 0) + 1
                    time.sleep(choose.uniform(0, 3))
            finally:
                load.end()
            judge(cluster, load)
    except Skipped as skipped:
        print(f"nine.py: skipped, {skipped}")
        return
    except Failed as failed:
        print(f"nine.py: {failed}; seed {arguments.seed}, {done}", file=sys.stderr)
        sys.exit(1)
    told = {"seconds": arguments.seconds, "seed": arguments.seed, "jobs": len(load.jobs), "turned_away": load.turned_away, "longest_submission_s": round(load.longest, 2), "done": done}
    print(json.dumps(told) if arguments.json else f"{told['jobs']} jobs, all done and none twice; {load.turned_away} were turned away; the longest submission took {told['longest_submission_s']} s; {done}")


if __name__ == "__main__":
    main()
