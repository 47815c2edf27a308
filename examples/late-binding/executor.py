#!/usr/bin/env python3
"""An executor: a process that runs one short task after the other (docs/late-binding.md, "Executors").

A task of this one is a command of two words, `square N` or `fail CODE`, each ended by a zero byte, as job files give it.
"""

import os
import socket
import struct


def work(words):
    """Runs one task; its exit code."""
    if words[0] == "square":
        number = int(words[1])
        return 0 if number * number >= 0 else 1
    if words[0] == "fail":
        return int(words[1])
    return 127


def send(connection, kind, body):
    connection.sendall(struct.pack("<I", 1 + len(body)) + kind + body)


def receive(stream):
    """The next message's kind and body; None where the monitor has gone."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    message = stream.read(struct.unpack("<I", head)[0])
    return message[:1], message[1:]


def main():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["TARCIL_EXECUTOR_SOCKET"])
    send(connection, b"H", os.environ["TARCIL_EXECUTOR_KEY"].encode())
    with connection.makefile("rb") as stream:
        while (message := receive(stream)) is not None:
            kind, body = message
            if kind != b"T":
                continue
            number, _index, _tasks = struct.unpack_from("<QII", body)
            words = body[16:].decode().split("\0")
            send(connection, b"E", struct.pack("<Qi", number, work(words)))


if __name__ == "__main__":
    main()
