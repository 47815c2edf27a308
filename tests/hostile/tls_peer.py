#!/usr/bin/env python3
"""A peer of tarcil's roles that is none of its own: connects, listens, or stands between two of them, with whatever certificate it is given.

    tls_peer.py connect HOST:PORT [--as FOLDER] [--authority FILE] [--at-most 1.2]   says the version of TLS, or why there is none
    tls_peer.py send HOST:PORT FILE       sends these bytes in clear and says how the other ends it
    tls_peer.py listen HOST:PORT --as FOLDER    speaks TLS to whoever comes, until it is ended; says "listening"
    tls_peer.py relay HOST:PORT TO:PORT [--record FILE] [--spoil N]   passes bytes on, from the connection's N-th record of the one who dials
                                          with one bit of each turned; says "listening"
FOLDER has certificate.pem and key.pem.
"""
import argparse
import socket
import ssl
import sys
import threading

PATIENCE = 10  # s


def place(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def context(purpose, options):
    made = ssl.SSLContext(purpose)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.set_ciphers("DEFAULT:@SECLEVEL=0")  # to offer what is old
    made.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    if options.at_most:
        made.maximum_version = {"1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2}[options.at_most]
    if options.folder:
        made.load_cert_chain(f"{options.folder}/certificate.pem", f"{options.folder}/key.pem")
    return made


def connect(options):
    with socket.create_connection(place(options.address), PATIENCE) as plain:
        with context(ssl.PROTOCOL_TLS_CLIENT, options).wrap_socket(plain) as secured:
            version = secured.version()
            # TLS 1.3 says only then what the other end thinks of our certificate.
            secured.settimeout(1)
            try:
                if not secured.recv(1):
                    return f"{version}, and the other ended it"
            except TimeoutError:
                pass
            return version


def send(options):
    with socket.create_connection(place(options.address), PATIENCE) as plain:
        plain.settimeout(PATIENCE)
        with open(options.more, "rb") as recorded:
            plain.sendall(recorded.read())
        got = b""
        while piece := plain.recv(4096):
            got += piece
        return f"ended after {len(got)} bytes"


def listen(options):
    made = context(ssl.PROTOCOL_TLS_SERVER, options)
    with socket.create_server(place(options.address)) as server:
        print("listening", flush=True)
        while True:
            plain, _ = server.accept()
            try:
                with made.wrap_socket(plain, server_side=True) as secured:
                    secured.recv(1)
            except OSError:
                pass


def records(stream):
    """Each record of TLS as it comes, header and all."""
    file = stream.makefile("rb")
    while len(head := file.read(5)) == 5:
        body = file.read(int.from_bytes(head[3:], "big"))
        yield head + body


def passed_on(dialler, other, options):
    for number, record in enumerate(records(dialler), 1):
        if options.record:
            with open(options.record, "ab") as file:
                file.write(record)
        if options.spoil and number >= options.spoil:
            record = record[:-1] + bytes([record[-1] ^ 1])
        other.sendall(record)


def relay(options):
    with socket.create_server(place(options.address)) as server:
        print("listening", flush=True)
        while True:
            dialler, _ = server.accept()
            other = socket.create_connection(place(options.more), PATIENCE)

            def there(dialler=dialler, other=other):
                try:
                    passed_on(dialler, other, options)
                except OSError:
                    pass
                other.close()

            def back(dialler=dialler, other=other):
                try:
                    while piece := other.recv(65536):
                        dialler.sendall(piece)
                except OSError:
                    pass
                dialler.close()

            for act in (there, back):
                threading.Thread(target=act, daemon=True).start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["connect", "send", "listen", "relay"])
    parser.add_argument("address")
    parser.add_argument("more", nargs="?")
    parser.add_argument("--as", dest="folder")
    parser.add_argument("--at-most")
    parser.add_argument("--record")
    parser.add_argument("--spoil", type=int)
    options = parser.parse_args()
    try:
        print({"connect": connect, "send": send, "listen": listen, "relay": relay}[options.verb](options))
    except (OSError, ssl.SSLError) as problem:
        print(f"refused: {problem}")
        sys.exit(1)


main()
