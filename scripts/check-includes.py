#!/usr/bin/env python3
"""Checks who includes whom: the project's layers and the libraries that each may use.

    scripts/check-includes.py [BUILD_FOLDER]     default build/release; everything must have been built there
    scripts/check-includes.py --self-test        plants violations in a scratch project and expects them to be caught

What is checked is what the compiler read, by `ninja -t deps`. In every file of the project among it each #include line
is held against the table below; then each object's whole list, so that a header that came in some other way (a macro,
a compiler flag) is found too. Fails also when there are no dependencies to read or some are missing, and for a source
that no object is made from: nobody would notice what is in it.

In master/, agent/ and monitor/ a file is logic if CMakeLists.txt there lists it in tarcil_<role>_logic, or if it is one
of PURE_FILES; otherwise it is shell.
"""

import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Pure like logic, wherever they are listed: what parses the text of a machine's files.
PURE_FILES = [f"monitor/{name}.*" for name in ("psi", "cgroup", "cgroup_v1", "cgroup_v2", "perf", "resctrl")]

# Libraries by the first part of the header's path; what is not here and ends in .h is the operating system's.
LIBRARIES = {
    "kj": "kj", "capnp": "capnp", "rocksdb": "rocksdb", "spdlog": "spdlog", "fmt": "fmt", "yaml-cpp": "yaml-cpp",
    "CLI": "CLI", "nlohmann": "nlohmann", "Eigen": "Eigen", "eigen3": "Eigen", "boost": "boost",
    "prometheus": "prometheus", "gtest": "gtest", "gmock": "gtest", "benchmark": "benchmark",
    "rapidcheck": "rapidcheck", "rapidcheck.h": "rapidcheck",
}
# Standard headers that do what pure code does not: I/O and threads.
IMPURE_STD = {"fstream", "iostream", "filesystem", "thread", "future"}
# Headers of the one are written in terms of the other.
IMPLIED = {"capnp": {"kj"}, "spdlog": {"fmt"}}

CORE = ["core/base", "core/model", "core/state", "core/decide"]
ROLES = ["master", "agent", "monitor"]
LOGIC = [f"{role} logic" for role in ROLES]
SHELLS = [f"{role} shell" for role in ROLES]
ENV = ["env", "env/linux"]
SHELL_LIBRARIES = {"kj", "capnp", "spdlog", "fmt", "os", "prometheus"}

# part -> (parts whose headers it may include besides its own, libraries besides std). None: anything.
TABLE = {
    "core/base": ([], {"boost"}),
    "core/model": (CORE[:1], {"boost"}),
    "core/state": (CORE[:2], {"boost"}),
    "core/decide": (CORE[:3], {"boost"}),
    "lsh": (CORE, set()),
    "latebinding": (CORE, set()),
    "classifier": (CORE, {"Eigen"}),
    "classifier/kernels": (CORE[:2], {"os"}),
    "profiler": ([*CORE, "classifier", "classifier/kernels"], {"os"}),
    "schema": (CORE, {"capnp", "kj"}),
    "env": (["core/base"], {"kj", "spdlog", "fmt"}),
    "env/linux": (["core/base", "env"], {"kj", "spdlog", "fmt", "os"}),
    "env/fake": (["core/base", "env"], {"kj"}),
    "rpc": ([*CORE, "schema", *ENV], {"kj", "capnp", "os"}),
    "metrics": (["core/base", "rpc"], {"kj", "prometheus"}),
    "include/tarcil": ([], set()),
    "client": ([*CORE, "latebinding", "include/tarcil", "schema", "rpc", *ENV], {"kj", "capnp", "os"}),
    "examples": (["include/tarcil"], {"os"}),
    "shim": ([], {"os"}),
    **{f"{role} logic": ([*CORE, "lsh", "latebinding", "classifier"], set()) for role in ROLES},
    **{f"{role} shell": ([f"{role} logic", *CORE, "latebinding", "schema", "rpc", "metrics", *ENV], SHELL_LIBRARIES) for role in ROLES},
    "master rocks_store": (["master logic", "master shell", *CORE, "schema", *ENV], {"rocksdb", *SHELL_LIBRARIES}),
    "sim": ([*CORE, "lsh", "latebinding", "classifier", *LOGIC], set()),
    "cli": ([*CORE, "lsh", "latebinding", "classifier", "classifier/kernels", "profiler", "schema", "rpc", "metrics", "client",
             "include/tarcil", "sim",
             *ENV, *LOGIC, *SHELLS, "master rocks_store"],
            {"CLI", "yaml-cpp", "nlohmann", *SHELL_LIBRARIES}),
    "tests": None,
    "bench": None,
}
TABLE["master shell"][0].append("master rocks_store")
TABLE["monitor shell"][0].append("shim")  # the format of the files that the shim leaves

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


LOGIC_LIBRARY = r"tarcil_library\(\s*tarcil_{}_logic\s+SOURCES\s([^)]*?)(?:\sLINK\s[^)]*)?\)"


def logic_files(root):
    """The files that the roles' CMakeLists.txt list in their logic libraries."""
    found = set()
    for role in ROLES:
        lists = Path(root, role, "CMakeLists.txt")
        text = re.sub(r"#.*", "", lists.read_text()) if lists.is_file() else ""
        match = re.search(LOGIC_LIBRARY.format(role), text)
        found |= {f"{role}/{name}" for name in match[1].split()} if match else set()
    return found


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
        self.logic = logic_files(self.root)
        self.paths = {}  # as ninja prints it -> (absolute, relative to the source root or None)
        self.seen = {}  # file of the project -> its violations
        self.problems = []
        self.objects_read = 0

    def part_of(self, path):
        """The row of TABLE for a file of the project, or None where the table has none for its folder."""
        folders = path.split("/")[:-1]
        if not folders:
            return None
        if folders[0] in ROLES:
            if path.startswith("master/rocks_store."):
                return "master rocks_store"
            pure = path in self.logic or any(fnmatch.fnmatch(path, pattern) for pattern in PURE_FILES)
            return f"{folders[0]} {'logic' if pure else 'shell'}"
        longest = "/".join(folders[:2])
        row = longest if longest in TABLE else folders[0]
        return row if row in TABLE else None

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
        self.problems += [f"{role}/CMakeLists.txt: lists no files for tarcil_{role}_logic" for role in ROLES
                          if Path(self.root, role).is_dir() and not any(f.startswith(role + "/") for f in self.logic)]
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
    ("shell in logic", {"agent/logic/agent_logic.cc": '#include "agent/server/agent_server.h"\n'}, "agent logic may not include"),
    ("a neighbour by its bare name", {"agent/logic/agent_logic.cc": '#include "agent_server.h"\n'}, "(agent shell)"),
    ("one role in another", {"agent/server/agent_server.cc": '#include "master/logic/options.h"\n'}, "(master logic)"),
    ("rocksdb beside its store", {"agent/server/agent_server.cc": "#include <rocksdb/db.h>\n"}, "(rocksdb)"),
    ("the project in the shim", {"shim/main.cc": '#include "core/base/a.h"\n'}, "shim may not include"),
    ("input and output in pure code", {"core/base/a.cc": "#include <fstream>\n"}, "<fstream> (os)"),
    ("a role whose logic is not listed", {"agent/CMakeLists.txt": ""}, "lists no files for tarcil_agent_logic"),
    ("an unknown folder", {"misc/m.cc": "int m;\n"}, "misc/m.cc: no row"),
    ("a library by a macro", {"core/base/a.cc": "#define H <kj/k.h>\n#include H\n"}, "kj/k.h (kj), which none"),
    ("a source of no target", {"core/base/lost.cc": ""}, "core/base/lost.cc: no target is built from it"),
    ("a folder by a macro", {"core/base/a.cc": '#define H "core/decide/d.h"\n#include H\n'}, "core/base reaches"),
]
SOUND = {
    "core/base/a.h": "#include <vector>\n", "core/base/a.cc": '#include "core/base/a.h"\n',
    "core/decide/d.h": '#include "core/base/a.h"\n', "core/decide/d.cc": '#include "core/decide/d.h"\n',
    "agent/server/agent_server.h": "#include <kj/k.h>\n", "agent/server/agent_server.cc": '#include "agent/server/agent_server.h"\n',
    "agent/logic/agent_logic.cc": '#include "core/decide/d.h"\n', "master/logic/options.h": "",
    "agent/CMakeLists.txt": "tarcil_library(tarcil_agent_logic SOURCES\n  agent_logic.cc\n  LINK tarcil_core\n)\n",
    "master/CMakeLists.txt": "tarcil_library(tarcil_master_logic SOURCES options.h)\n",
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
