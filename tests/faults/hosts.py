"""Several hosts on one machine: a network namespace each, joined by a bridge, between any two of which packets can be lost, either way."""

import contextlib
import os
import subprocess

from campaign import Failed, Skipped, require

NOWHERE = "02:00:00:00:00:01"  # no host has this address: what is sent there is lost, and nobody is told


def ip(*words, check=True):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    require(not check or done.returncode == 0, f"ip {' '.join(words)}: {done.stderr.strip()}")


class Hosts:
    def __init__(self, names):
        self.prefix = f"tarcil-{os.getpid()}-"
        self.addresses = {name: f"10.199.7.{number + 1}" for number, name in enumerate(names)}
        try:
            self.make()
        except BaseException as failure:
            self.end()
            if isinstance(failure, Failed):
                raise Skipped(f"no hosts of their own: {failure}") from failure
            raise

    def make(self):
        hub = self.space("hub")
        ip("netns", "add", hub)
        ip("-n", hub, "link", "add", "bridge", "type", "bridge")
        ip("-n", hub, "link", "set", "bridge", "up")
        for name, address in self.addresses.items():
            space = self.space(name)
            ip("netns", "add", space)
            ip("-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", name, "netns", hub)
            ip("-n", hub, "link", "set", name, "master", "bridge", "up")
            ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                ip("-n", space, "link", "set", link, "up")

    def end(self):
        for name in ["hub", *self.addresses]:
            ip("netns", "delete", self.space(name), check=False)

    def space(self, name):
        return self.prefix + name

    def on(self, name, words):
        """The words of a command that runs there; files and processes are this machine's."""
        return ["nsenter", f"--net=/run/netns/{self.space(name)}", "--", *words]

    @contextlib.contextmanager
    def cut(self, pairs):
        """Nothing that the first of a pair sends gets to the second meanwhile."""
        try:
            for sender, receiver in pairs:
                self.neighbour("replace", sender, receiver, "lladdr", NOWHERE, "nud", "permanent")
            yield
        finally:
            for sender, receiver in pairs:
                self.neighbour("delete", sender, receiver, check=False)

    def neighbour(self, verb, sender, receiver, *more, check=True):
        ip("-n", self.space(sender), "neighbour", verb, self.addresses[receiver], *more, "dev", "eth0", check=check)
