#!/usr/bin/env python3
"""Runs an MPI program over the tasks of a gang, one task on each server: gang.py PROGRAM [ARGUMENT]...

Task 0 runs mpirun. The other tasks stand in for ssh: each waits for mpirun to ask for Open MPI's daemon on its
server, runs it, and ends with it. Who asks has to know the file "token", which each task of the job has a copy of:

    head -c 32 /dev/urandom > token; chmod 600 token

Nobody learns the token from what crosses the network, but nothing is encrypted, and what MPI sends is not
authenticated either: use it where only your own cluster can alter what is on the wire.
"""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener

PORT = 20000 + int(os.environ["TARCIL_JOB"], 16) % 10000  # two jobs on a server hardly have the same
PATIENCE = 60  # seconds for which tasks wait for each other
SCRIPT = os.path.abspath(__file__)


def token():
    with open(os.path.join(os.path.dirname(SCRIPT), "token"), "rb") as file:
        return file.read()


def caller(listener):
    """The first connection of somebody who knows the token."""
    while True:
        try:
            return listener.accept()
        except (AuthenticationError, EOFError, OSError) as problem:
            print(f"turned away: {problem!r}", file=sys.stderr)


def serve(host):
    """Tasks 1 and up: runs the command that task 0 asks for. Its exit code."""
    signal.alarm(PATIENCE)
    with Listener((host, PORT), authkey=token()) as listener, caller(listener) as connection:
        command = connection.recv_bytes().decode()
        signal.alarm(0)
        code = subprocess.run(command, shell=True).returncode
        connection.send_bytes(str(code).encode())
    return code


def ask(host, command):
    """What mpirun runs in place of ssh: has the task on that host run the command. Its exit code."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection = Client((host, PORT), authkey=token())
            break
        except ConnectionRefusedError:  # the task has not come so far
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    connection.send_bytes(command.encode())
    return int(connection.recv_bytes())


def run(program):
    """Task 0."""
    options = ["--hostfile", os.environ["TARCIL_HOSTFILE"],
               "--mca", "plm_rsh_agent", f"{sys.executable} {SCRIPT} --start",
               "--mca", "plm_rsh_no_tree_spawn", "1",  # all daemons are asked for by task 0
               "--leave-session-attached",             # they stay in the foreground, or their tasks would end
               "--bind-to", "none",                    # tarcil has given each task its cores
               "--allow-run-as-root"]
    return subprocess.run(["mpirun", *options, *program]).returncode


def main():
    if sys.argv[1] == "--start":
        return ask(sys.argv[2], " ".join(sys.argv[3:]))
    hosts = os.environ["TARCIL_HOSTS"].split(",")
    if len(set(hosts)) < len(hosts):
        return "each task needs a server of its own: write 'spread: server' and 'at_most: 1'"
    rank = int(os.environ["TARCIL_RANK"])
    return run(sys.argv[1:]) if rank == 0 else serve(hosts[rank])


sys.exit(main())
