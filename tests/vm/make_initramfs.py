#!/usr/bin/env python3
"""Writes an initramfs for scripts/vm-cgroup2.sh: a program as /init and kernel modules with all that they depend on.

    make_initramfs.py INIT MODULES_FOLDER OUTPUT MODULE...

Modules get numbers in their names, so that each stands behind those that it needs.
"""

import re
import sys
from pathlib import Path


def dependencies(module):
    """What the module's own information says that it needs."""
    found = re.search(rb"\0depends=([^\0]*)\0", module.read_bytes())
    return [name for name in found[1].decode().split(",") if name] if found else []


def in_order(names, folder):
    """The files of the modules, those that a module needs in front of it."""
    files = {path.stem.replace("-", "_"): path for path in folder.rglob("*.ko")}
    ordered = []

    def add(name):
        module = files.get(name.replace("-", "_"))
        if module is None or module in ordered:  # built into the kernel, or there already
            return
        for needed in dependencies(module):
            add(needed)
        ordered.append(module)

    for name in names:
        add(name)
    return ordered


def entry(name, mode, data=b"", number=[0]):
    """One file in the format newc of cpio."""
    number[0] += 1
    path = name.encode() + b"\0"
    fields = [number[0], mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
    pad = lambda block: block + b"\0" * (-len(block) % 4)
    return pad(head) + pad(data)


def main():
    init, folder, output, *names = sys.argv[1:]
    parts = [entry(name, 0o040755) for name in ("modules", "host", "layer", "root", "dev")]
    parts.append(entry("init", 0o100755, Path(init).read_bytes()))
    for place, module in enumerate(in_order(names, Path(folder))):
        parts.append(entry(f"modules/{place:02}-{module.name}", 0o100644, module.read_bytes()))
    parts.append(entry("TRAILER!!!", 0))
    Path(output).write_bytes(b"".join(parts))


main()
