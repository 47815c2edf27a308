#!/usr/bin/env python3
"""Checks who includes whom: the project's layers and the libraries that each may use.

    scripts/check-includes.py [BUILD_FOLDER]     default build/release; everything must have been built there
    scripts/check-includes.py --self-test        plants violations in a scratch project and expects them to be caught

What is checked is what the compiler read, by `ninja -t deps`. In every file of the project among it each #include line
is held against the table below; then each object's whole list, so that a header that came in some other way (a macro,
a compiler flag) is found too. Fails also when there are no dependencies to read or some are missing, and for a source
that no object is made from: nobody would notice what is in it.

Where logic ends and I/O begins is read from the path: a row of the table speaks for its folder and for all below it that
have no row of their own. core/, lsh/, latebinding/, sim/, master/store/ and each role's logic/ have no library of the
outside world in theirs.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Libraries by the first part of the header's path; what is not here and ends in .h is the operating system's.
LIBRARIES = {
    "kj": "kj", "capnp": "capnp", "rocksdb": "rocksdb", "spdlog": "spdlog", "fmt": "fmt", "yaml-cpp": "yaml-cpp",
    "CLI": "CLI", "nlohmann": "nlohmann", "Eigen": "Eigen", "eigen3": "Eigen", "boost": "boost",
    "absl": "absl", "prometheus": "prometheus", "gtest": "gtest", "gmock": "gtest", "benchmark": "benchmark",
    "grpcpp": "grpc", "grpc": "grpc", "google": "grpc", "rapidcheck": "rapidcheck", "rapidcheck.h": "rapidcheck", "openssl": "openssl",
    "archive.h": "archive", "archive_entry.h": "archive",
}
# Standard headers that do what pure code does not: I/O and threads.
IMPURE_STD = {"fstream", "iostream", "filesystem", "thread", "future"}
# Headers of the one are written in terms of the other.
IMPLIED = {"capnp": {"kj"}, "spdlog": {"fmt"}}

CORE = ["core/base", "core/model", "core/state", "core/decide"]
ENV = ["env", "env/linux"]
LOGIC = ["audit/logic", "identity/logic", "secrets/logic", "master/logic", "master/store", "agent/logic", "monitor/logic", "gateway/logic"]
IO_LIBRARIES = {"kj", "capnp", "spdlog", "fmt", "os", "prometheus"}
# What the roles' processes stand on.
BELOW_ROLES = [*CORE, "audit", "audit/logic", "identity", "identity/logic", "secrets", "secrets/logic", "latebinding", "schema", "rpc", "metrics", *ENV]
# What is around the roles' decisions.
AROUND = ["etcd", "master/store/codec", "master/store/etcd", "master/store/rocks", "master/server", "agent/late", "agent/server", "monitor/container", "monitor/late",
          "monitor/pressure", "monitor/performance", "monitor/server", "gateway/server"]

# folder -> (folders whose files it may include besides its own, libraries besides std). None: anything.
TABLE = {
    "core/base": ([], {"boost"}),
    "core/model": (CORE[:1], {"boost"}),
    "core/state": (CORE[:2], {"boost"}),
    "core/decide": (CORE[:3], {"boost"}),
    "lsh": (CORE, {"boost"}),
    "latebinding": (CORE, {"boost"}),
    "classifier": (CORE, {"Eigen"}),
    "classifier/kernels": (CORE[:2], {"os"}),
    "profiler": ([*CORE, "classifier", "classifier/kernels"], {"os"}),
    "schema": ([*CORE, "identity/logic", "secrets/logic"], {"capnp", "kj"}),
    "env": (["core/base"], {"kj", "spdlog", "fmt"}),
    "env/linux": (["core/base", "env"], {"kj", "spdlog", "fmt", "absl", "os"}),
    # Who is who: what is decided about certificates, and their texts, which OpenSSL makes.
    "identity/logic": (CORE[:3], {"boost"}),
    "identity": (["core/base", "identity/logic"], {"openssl"}),
    # Secrets of jobs: whose they are, and how OpenSSL seals them.
    "secrets/logic": (CORE[:2], set()),
    "secrets": (["core/base", "secrets/logic"], {"openssl"}),
    # The audit log: what is said of what, how often; its text and chain, and the files that it is kept in.
    "audit/logic": (["core/base"], set()),
    "audit": (["core/base", "audit/logic", "identity", "identity/logic", "env"], {"nlohmann", "kj", "os"}),
    "rpc": ([*CORE, "schema", "identity", "identity/logic", *ENV], {"kj", "capnp", "os"}),
    "metrics": (["core/base", "rpc"], {"kj", "prometheus"}),
    "shim": ([], {"os"}),
    # The program that fetches an image, which shares its arguments with the monitor.
    "image": (CORE[:2], {"archive", "nlohmann", "openssl", "os"}),
    # What is asked of etcd; and the module that asks it, which alone has gRPC.
    "etcd": (["core/base"], {"os"}),
    "etcd/grpc": (["core/base", "etcd"], {"absl", "grpc", "os"}),
    # The roles: their decisions, and what is around those. No role includes another.
    "master/store": ([*CORE, "audit/logic", "identity/logic", "secrets/logic", "latebinding"], {"boost"}),
    "master/logic": ([*CORE, "audit/logic", "identity/logic", "secrets/logic", "lsh", "latebinding", "master/store"], {"boost"}),
    # Records as bytes, and the stores that keep these.
    "master/store/codec": ([*CORE, "identity/logic", "secrets/logic", "latebinding", "master/store", "schema"], {"kj", "capnp"}),
    "master/store/rocks": ([*CORE, "identity/logic", "secrets/logic", "master/store", "master/store/codec", "schema", "rpc", *ENV], {"rocksdb", *IO_LIBRARIES}),
    "master/store/etcd": ([*CORE, "identity/logic", "secrets/logic", "master/store", "master/store/codec", "master/store/rocks", "etcd", "schema", *ENV],
                          IO_LIBRARIES),
    "master/server": ([*BELOW_ROLES, "master/logic", "master/store", "master/store/codec", "master/store/rocks"], IO_LIBRARIES),
    "agent/logic": ([*CORE, "lsh", "latebinding"], {"boost"}),
    "agent/late": ([*BELOW_ROLES, "agent/logic", "agent/server"], IO_LIBRARIES),
    "agent/server": ([*BELOW_ROLES, "agent/logic", "agent/late"], IO_LIBRARIES),
    "monitor/logic": ([*CORE, "latebinding"], {"boost"}),
    "monitor/pressure": ([*CORE, "monitor/logic"], {"kj", "os"}),
    "monitor/performance": ([*CORE, "monitor/logic", "monitor/pressure"], {"kj", "os"}),
    # Of the shim: the format of the files that it leaves.
    "monitor/container": ([*BELOW_ROLES, "monitor/logic", "monitor/pressure", "monitor/performance", "shim", "image"], IO_LIBRARIES),
    "monitor/late": ([*BELOW_ROLES, "monitor/logic", "monitor/container", "monitor/server"], IO_LIBRARIES),
    "monitor/server": ([*BELOW_ROLES, "monitor/logic", "monitor/pressure", "monitor/performance", "monitor/container",
                        "monitor/late"], IO_LIBRARIES),
    # What people and programs use.
    "include/tarcil": ([], set()),
    "examples": (["include/tarcil"], {"os"}),
    "sim": ([*CORE, "lsh", "latebinding", "classifier", *LOGIC], {"boost"}),
    "formats": ([*CORE, "latebinding", "profiler", "sim", "env"], {"os", "yaml-cpp", "nlohmann"}),
    "client": ([*CORE, "identity", "identity/logic", "latebinding", "include/tarcil", "formats", "schema", "rpc", *ENV], {"kj", "capnp", "os"}),
    # A gateway shows what commands show, and so it has their code.
    "gateway/logic": (CORE, set()),
    "gateway/server": ([*BELOW_ROLES, "client", "formats", "cli", "gateway/logic"], {"nlohmann", "openssl", *IO_LIBRARIES}),
    "deploy": ([*BELOW_ROLES, "client", "formats", *LOGIC, *AROUND], IO_LIBRARIES),
    # What is in cli/tarcild/ is another program: the one that everybody starts has nothing of the roles' own.
    "cli": ([*CORE, "audit", "audit/logic", "identity", "identity/logic", "secrets/logic", "latebinding", "schema", "rpc", "metrics", *ENV, "classifier", "client", "formats"],
            {"CLI", "nlohmann", "kj", "capnp", "os"}),
    "cli/tarcild": ([*BELOW_ROLES, "classifier", "classifier/kernels", "profiler", "client", "formats", "deploy", "cli",
                     "sim", "etcd", "master/store", "master/store/etcd", "master/store/rocks"], {"CLI", "nlohmann", *IO_LIBRARIES}),
    "tests": None,
    "bench": None,
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def library_of(header):
    """Of a header as written between <>: a library, "os", or None for the pure part of std."""
    first = header.split("/")[0]
    if first.endswith("intrin.h"):
        return None  # the compiler's own, for vector instructions
    if first in LIBRARIES:
        return LIBRARIES[first]
    return "os" if header.endswith(".h") or header in IMPURE_STD else None


def library_of_path(path):
    """Of a file outside the project: the library whose folder it lies in, or None."""
    return next((LIBRARIES[p] for p in path.split("/") if p in LIBRARIES), None)


class Checker:
    def __init__(self, root, build):
        self.root = str(Path(root).resolve())
        self.build = str(Path(build).resolve())
        self.paths = {}  # as ninja prints it -> (absolute, relative to the source root or None)
        self.seen = {}  # file of the project -> its violations
        self.problems = []
        self.objects_read = 0

    def part_of(self, path):
        """The row of TABLE for a file of the project, that of the nearest folder; None where the table has none."""
        folders = path.split("/")[:-1]
        rows = ("/".join(folders[:depth]) for depth in range(len(folders), 0, -1))
        return next((row for row in rows if row in TABLE), None)

    def inside(self, path):
        """Path relative to the source root; generated files as if they were there; None for a file outside.

        Precompiled headers are outside: nothing but libraries is in them (cmake/precompiled.cmake). So are the files
        that CMake makes to build several sources as one unit.
        """
        if path == self.build + "/precompiled.cc" or path.startswith(self.build + "/CMakeFiles/") or "/Unity/" in path:
            return None
        for base in (self.build, self.root):
            if path.startswith(base + "/"):
                return path[len(base) + 1:]
        return None

    def located(self, printed):
        """(absolute path, path inside the project or None) of a file as ninja prints it; remembered, for speed."""
        if printed not in self.paths:
            path = os.path.normpath(os.path.join(self.build, printed))
            self.paths[printed] = path, self.inside(path)
        return self.paths[printed]

    def objects(self):
        """(object, [located files]) of each up-to-date entry of ninja's dependency log."""
        text = subprocess.run(["ninja", "-C", self.build, "-t", "deps"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        for block in text.split("\n\n"):
            head, *files = block.strip().split("\n")
            if head.endswith("(VALID)"):
                yield head.split(":")[0], [self.located(f.strip()) for f in files]

    def check_lines(self, name, path):
        """Violations of one file's own #include lines."""
        part = self.part_of(name)
        if part is None:
            return [f"{name}: no row for this folder in the table of scripts/check-includes.py: add one"]
        if TABLE[part] is None:
            return []
        parts, libraries = TABLE[part]
        found = []
        for number, line in enumerate(Path(path).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match[1] or match[2]
            target = self.resolve(header, path)
            if target:
                other = self.part_of(target)
                if other != part and other not in parts:
                    found.append(f"{name}:{number}: {part} may not include {target} ({other or 'no part'})")
            else:
                library = library_of(header)
                if library and library not in libraries:
                    found.append(f"{name}:{number}: {part} may not include <{header}> ({library})")
        return found

    def resolve(self, header, includer):
        """The file of the project that an #include means, or None."""
        for base in (os.path.dirname(includer), self.root, self.build):
            path = os.path.normpath(os.path.join(base, header))
            if os.path.isfile(path):
                return self.inside(path)
        return None

    def check_object(self, name, files):
        """Checks the lines of each file new to us, then the object's whole list against what those lines may bring."""
        ours = [inside for _, inside in files if inside]
        if not ours:
            return  # the precompiled headers themselves
        for path, inside in files:
            if inside and inside not in self.seen:
                generated = inside.endswith((".capnp.h", ".capnp.c++"))
                self.seen[inside] = [] if generated else self.check_lines(inside, path)
        if any(self.seen[n] for n in ours) or any(TABLE[self.part_of(n)] is None for n in ours):
            return  # said already, by line; or may include anything
        self.check_libraries(name, ours, [path for path, inside in files if not inside])
        self.check_folders(name, ours)

    def check_libraries(self, name, ours, others):
        """Of the files outside the project, none may be of a library that no file of ours here may include."""
        allowed = set().union(*(TABLE[self.part_of(n)][1] for n in ours))
        allowed = allowed.union(*(IMPLIED.get(library, set()) for library in allowed))
        for path in others:
            library = library_of_path(path)
            if library and library not in allowed:
                self.problems.append(f"{name}: reads {path} ({library}), which none of its files may include")
                return

    def check_folders(self, name, ours):
        """Of our files, each must be in a part that the sources among them may reach through allowed includes."""
        sources = [n for n in ours if not n.endswith(".h")]
        reachable, todo = set(), [self.part_of(n) for n in sources]
        while todo:
            part = todo.pop()
            if part not in reachable:
                reachable.add(part)
                todo += TABLE[part][0]
        self.problems += [f"{name}: {self.part_of(sources[0])} reaches {other} ({self.part_of(other)})"
                          for other in ours if self.part_of(other) not in reachable]

    def unread(self, read):
        """Objects of the build folder whose dependencies are not known."""
        commands = Path(self.build, "compile_commands.json")
        entries = json.loads(commands.read_text()) if commands.is_file() else []
        objects = [re.search(r" -o (\S+)", entry["command"])[1] for entry in entries]
        return [name for name in objects if name not in read]

    def not_built(self):
        """Sources that no object is made from."""
        folders = [f for f in Path(self.root).iterdir() if f.is_dir() and f.name != "build" and not f.name.startswith(".")]
        sources = sorted(str(path.relative_to(self.root)) for folder in folders for path in folder.rglob("*.cc"))
        return [name for name in sources if name not in self.seen]

    def run(self):
        """All violations, and what could not be read."""
        read = set()
        for name, files in self.objects():
            read.add(name)
            self.check_object(name, files)
        self.problems += [v for found in self.seen.values() for v in found]
        self.problems += [f"{name}: not built, so nothing is known of it" for name in self.unread(read)]
        self.problems += [f"{name}: no target is built from it: list it in a CMakeLists.txt" for name in self.not_built()]
        if not read:
            self.problems.append(f"{self.build}: ninja has no dependencies to read: build everything there first")
        self.objects_read = len(read)
        return sorted(self.problems)


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = Path(__file__).resolve().parent.parent
    build = Path(arguments[0]) if arguments else root / "build/release"
    if len(arguments) > 1 or not (build / "build.ninja").is_file():
        print(f"check-includes: {build} is not a configured Ninja build folder: cmake --preset release",
              file=sys.stderr)
        return 2
    checker = Checker(root, build)
    problems = checker.run()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check-includes: {checker.objects_read} objects, {len(checker.seen)} files of the project, "
          f"{len(problems)} violations")
    return 1 if problems else 0


# Scratch projects: what is planted in a sound one, and a piece of the message that must come of it (None: no message).
PLANTS = [
    ("a sound project", {}, None),
    ("a library in pure code", {"core/base/a.cc": "#include <kj/k.h>\n"}, "core/base/a.cc:1: core/base may not"),
    ("a library in a header of pure code", {"core/base/a.h": "\n#include <kj/k.h>\n"}, "core/base/a.h:2:"),
    ("a later layer of core", {"core/base/a.cc": '#include "core/decide/d.h"\n'}, "core/decide/d.h (core/decide)"),
    ("I/O in logic", {"agent/logic/agent_logic.cc": '#include "agent/server/agent_server.h"\n'}, "agent/logic may not include"),
    ("I/O by a relative path", {"agent/logic/agent_logic.cc": '#include "../server/agent_server.h"\n'}, "(agent/server)"),
    ("a library in a folder of logic", {"master/logic/jobs/j.cc": "#include <kj/k.h>\n"}, "master/logic may not include"),
    ("one role in another", {"agent/server/agent_server.cc": '#include "master/logic/options.h"\n'}, "(master/logic)"),
    ("rocksdb beside its store", {"agent/server/agent_server.cc": "#include <rocksdb/db.h>\n"}, "(rocksdb)"),
    ("a store in the small program", {"cli/main.cc": '#include "master/store/s.h"\n'}, "cli may not include"),
    ("the project in the shim", {"shim/main.cc": '#include "core/base/a.h"\n'}, "shim may not include"),
    ("input and output in pure code", {"core/base/a.cc": "#include <fstream>\n"}, "<fstream> (os)"),
    ("an unknown folder", {"misc/m.cc": "int m;\n"}, "misc/m.cc: no row"),
    ("a library by a macro", {"core/base/a.cc": "#define H <kj/k.h>\n#include H\n"}, "kj/k.h (kj), which none"),
    ("a source of no target", {"core/base/lost.cc": ""}, "core/base/lost.cc: no target is built from it"),
    ("a folder by a macro", {"core/base/a.cc": '#define H "core/decide/d.h"\n#include H\n'}, "core/base reaches"),
]
SOUND = {
    "core/base/a.h": "#include <vector>\n", "core/base/a.cc": '#include "core/base/a.h"\n',
    "core/decide/d.h": '#include "core/base/a.h"\n', "core/decide/d.cc": '#include "core/decide/d.h"\n',
    "agent/server/agent_server.h": "#include <kj/k.h>\n", "agent/server/agent_server.cc": '#include "agent/server/agent_server.h"\n',
    "agent/logic/agent_logic.cc": '#include "core/decide/d.h"\n', "master/logic/options.h": "", "master/store/s.h": "",
    "shim/main.cc": "#include <unistd.h>\n", "tests/t.cc": '#include "agent/server/agent_server.h"\n#include <gtest/t.h>\n',
}
LIBRARY_STUBS = ["kj/k.h", "rocksdb/db.h", "gtest/t.h"]
RULES = "rule cxx\n command = g++ -std=c++20 -MD -MF $out.d -I.. -isystem {include} -fsyntax-only $in && touch $out\n" \
        " depfile = $out.d\n deps = gcc\n"


def problems_of(files, scratch):
    """Builds these files as a project in the scratch folder and checks it."""
    root, include = Path(scratch, "project"), Path(scratch, "include")
    for name, text in files.items():
        Path(root, name).parent.mkdir(parents=True, exist_ok=True)
        Path(root, name).write_text(text)
    for name in LIBRARY_STUBS:
        Path(include, name).parent.mkdir(parents=True, exist_ok=True)
        Path(include, name).touch()
    Path(root, "build").mkdir(parents=True)
    edges = [f"build {n.replace('/', '_')}.o: cxx ../{n}\n" for n in files if n.endswith(".cc") and "lost" not in n]
    Path(root, "build/build.ninja").write_text(RULES.format(include=include) + "".join(edges))
    subprocess.run(["ninja", "-C", str(root / "build"), "--quiet"], stdout=subprocess.DEVNULL, check=True)
    return Checker(root, root / "build").run()


def self_test():
    failures = 0
    print("check-includes --self-test:")
    for title, planted, expected in [*PLANTS, ("no dependencies", None, "no dependencies to read")]:
        with tempfile.TemporaryDirectory() as scratch:
            problems = problems_of({} if planted is None else {**SOUND, **planted}, scratch)
        caught = any(expected in p for p in problems) if expected else not problems
        failures += not caught
        print(f"  {'ok    ' if caught else 'MISSED'} {title}" + ("" if caught else f": got {problems}"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
