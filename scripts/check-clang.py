#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy over every translation unit of the project, in parallel.

    scripts/check-clang.py [--product] [BUILD_FOLDER]

With --product the sources of tests and benchmarks are left out: half of the time.

BUILD_FOLDER (default build/release, where several sources are one unit: a third of the time) has the compile commands
and the generated headers:

    cmake --preset release && cmake --build --preset release --target tarcil_generated

What clang++ itself warns of counts too, thread annotations among it. A unit that passed is not checked again while it,
everything it includes, its command, .clang-tidy and clang stay the same: BUILD_FOLDER/clang-gate remembers, where the
unit has been built.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Warnings that only g++ has are not an error; those that only clang has are asked for.
OWN_WARNINGS = ["-Wno-unknown-warning-option", "-Wthread-safety"]
# g++ takes precompiled headers (cmake/precompiled.cmake); clang reads each source with its own includes alone.
PRECOMPILED = re.compile(r" -fpch-preprocess\b| -Winvalid-pch -include \S+")


def clang_command(entry, build):
    """The command that checks one entry of compile_commands.json."""
    warnings = [f"--extra-arg={w}" for w in OWN_WARNINGS]
    return ["clang-tidy", "--quiet", "-p", str(Path(build, "clang-gate")), *warnings, entry["file"]]


def dependencies(build):
    """Object -> the files it was made from, by ninja's log."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], stdout=subprocess.PIPE, text=True, check=True).stdout
    blocks = [block.strip().split("\n") for block in text.split("\n\n") if block.strip()]
    return {head.split(":")[0]: [os.path.join(build, f.strip()) for f in files] for head, *files in blocks}


class Stamps:
    """The files that say which units passed, by a hash of all that the verdict depends on."""

    def __init__(self, build):
        self.build = build
        self.folder = Path(build, "clang-gate")
        self.dependencies = dependencies(build)
        self.contents = {}
        self.common = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, check=True).stdout
        self.common += (ROOT / ".clang-tidy").read_bytes()

    def content(self, path):
        if path not in self.contents:
            try:
                self.contents[path] = hashlib.sha256(Path(path).read_bytes()).digest()
            except OSError:
                self.contents[path] = b"absent"
        return self.contents[path]

    def of(self, entry):
        """The unit's file, there if the unit passed; None where ninja does not know what it includes."""
        output = re.search(r" -o (\S+)", entry["command"])[1]
        files = self.dependencies.get(output)
        if not files:
            return None
        command = clang_command(entry, self.build)
        digest = hashlib.sha256(self.common + "\0".join(command + [entry["command"]]).encode())
        for path in files:
            digest.update(self.content(path))
        return self.folder / f"passed-{digest.hexdigest()}"


def sources(entry):
    """The project's sources in a unit: what CMake wrote for several includes them."""
    if "/Unity/" not in entry["file"]:
        return [entry["file"]]
    return re.findall(r'#include "(/.+)"', Path(entry["file"]).read_text())


def units(build):
    """The project's own entries of compile_commands.json, not the generated ones.

    Leaves all entries, as clang is to see them, in BUILD_FOLDER/clang-gate for clang-tidy.
    """
    entries = json.loads(Path(build, "compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    folder = Path(build, "clang-gate")
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return [e for e in entries
            if any(Path(s).is_relative_to(ROOT) and not Path(s).is_relative_to(build) for s in sources(e))]


def is_of_tests(entry):
    return all(Path(s).relative_to(ROOT).parts[0] in ("tests", "bench") for s in sources(entry))


def check(command, entry, stamp):
    """(whether it passed, what clang said) of one unit."""
    done = subprocess.run(command, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        return False, re.sub(r"(?m)^\d+ warnings?( and \d+ errors?)? generated\.\n", "", done.stdout)
    if stamp:
        stamp.touch()
    return True, ""


def main(arguments):
    is_product = arguments[:1] == ["--product"]
    arguments = arguments[1:] if is_product else arguments
    if len(arguments) > 1 or any(a.startswith("-") for a in arguments):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    build = str((Path(arguments[0]) if arguments else ROOT / "build/release").resolve())
    if not Path(build, "compile_commands.json").is_file():
        print(f"check-clang: {build} is not configured: cmake --preset release && "
              "cmake --build --preset release --target tarcil_generated", file=sys.stderr)
        return 2
    todo = [e for e in units(build) if not (is_product and is_of_tests(e))]
    if not todo:
        print("check-clang: nothing to check: compile_commands.json has no source of this project", file=sys.stderr)
        return 1
    return run(build, todo)


def run(build, todo):
    """Checks the units that are not known to pass; 1 if any fails."""
    stamps = Stamps(build)
    failed = known = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {}
        for entry in todo:
            stamp = stamps.of(entry)
            if stamp and stamp.exists():
                known += 1
            else:
                future = pool.submit(check, clang_command(entry, build), entry, stamp)
                running[future] = " ".join(os.path.relpath(source, ROOT) for source in sources(entry))
        for future in concurrent.futures.as_completed(running):
            passed, output = future.result()
            failed += not passed
            print(f"  {'passed' if passed else 'failed'} {running[future]}\n{output}", end="", flush=True)
    print(f"check-clang: {len(running) - failed} passed, {known} unchanged since they passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
