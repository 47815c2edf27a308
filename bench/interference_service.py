#!/usr/bin/env python3
"""A real service that says how well it does: memcached on a Unix socket, and one client that asks it without pause.

    interference_service.py SECONDS        as a task of tarcil; see bench/interference.py

Each half second prints "TIME REQUESTS_A_SECOND" (TIME as `date +%s.%N`) and sends the rate to TARCIL_METRIC_SOCKET.
"""
import os
import socket
import subprocess
import sys
import time

KEYS = 1000
VALUE = b"x" * 1000
BATCH = 50  # requests under way at once


def connect(path):
    for _ in range(500):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            client.connect(path)
            return client
        except OSError:
            client.close()
            time.sleep(0.01)
    sys.exit("memcached does not answer")


def read_until(client, count, token):
    """Reads until `token` has come `count` times."""
    seen, rest = 0, b""
    while seen < count:
        data = client.recv(1 << 16)
        if not data:
            sys.exit("memcached is gone")
        rest += data
        seen += rest.count(token)
        rest = rest[-(len(token) - 1):]  # too short for a whole token, long enough for a part of one


def main():
    seconds = float(sys.argv[1])
    path = os.path.join(os.environ.get("TMPDIR", "."), "memcached.socket")
    server = subprocess.Popen(["memcached", "-s", path, "-m", "64", "-t", "1", "-u", "nobody"])
    client = connect(path)
    for key in range(KEYS):
        client.sendall(b"set key%d 0 0 %d\r\n%s\r\n" % (key, len(VALUE), VALUE))
        read_until(client, 1, b"STORED\r\n")
    batches = [b"".join(b"get key%d\r\n" % ((i + j) % KEYS) for j in range(BATCH)) for i in range(0, KEYS, BATCH)]
    metric = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    begin = last = time.time()
    requests, turn = 0, 0
    while last - begin < seconds:
        client.sendall(batches[turn % len(batches)])
        read_until(client, BATCH, b"END\r\n")
        requests, turn = requests + BATCH, turn + 1
        now = time.time()
        if now - last < 0.5:
            continue
        rate = requests / (now - last)
        print(f"{now:.3f} {rate:.0f}", flush=True)
        try:
            metric.sendto(b"requests %.0f\n" % rate, os.environ["TARCIL_METRIC_SOCKET"])
        except OSError:
            pass  # the monitor is being restarted
        requests, last = 0, now
    server.terminate()
    server.wait()


main()
