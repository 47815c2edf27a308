"""Takes out one guard after the other and expects a test to notice.

Works on a copy of the tree below the scratch folder, which is kept and makes the next time faster. Every program is
built unchanged first, and its tests must pass; then, for each guard of guards.toml, it is built without the guard, and
the same tests must fail. A guard whose text is not in its file exactly once, or that cannot be compiled away, is an
error: the table is out of date.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A test that hangs without its guard has noticed it.
PATIENCE_S = 100


@dataclass
class Guard:
    name: str
    file: str
    guard: str
    without: str
    program: str
    filter: str


def read_guards():
    table = tomllib.loads(Path(__file__).with_name("guards.toml").read_text())
    guards = []
    for name, row in table.items():
        # A newline after the opening quotes is dropped by TOML; what remains is taken as it is.
        guards.append(Guard(name, **row))
        found = (ROOT / row["file"]).read_text().count(row["guard"])
        if found != 1:
            sys.exit(f"{name}: its text is in {row['file']} {found} times, not once: bring guards.toml up to date")
    return guards


def copy_tree(tree):
    """Brings the copy up to date; files that are the same keep their time, so that little is built again."""
    git = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    names = {name for name in names if name and (ROOT / name).is_file()}
    for old in [path for path in tree.rglob("*") if path.is_file()]:
        if str(old.relative_to(tree)) not in names:
            old.unlink()
    for name in names:
        target = tree / name
        if target.is_file() and filecmp.cmp(ROOT / name, target, shallow=False):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        shutil.copymode(ROOT / name, target)


class Workshop:
    def __init__(self, scratch, jobs):
        self.tree, self.build, self.jobs = scratch / "tree", scratch / "build", jobs
        self.tree.mkdir(parents=True, exist_ok=True)
        copy_tree(self.tree)
        self.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                  "-DCMAKE_CXX_FLAGS_DEBUG=-O0"], check=True)

    def run(self, command, check=False):
        """The exit code and what was said; None for a command that took too long."""
        timeout = None if check else PATIENCE_S
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "1"}
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=timeout, env=environment)
        except subprocess.TimeoutExpired:
            return None, ""
        if check and done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}")
        return done.returncode, done.stdout

    def make(self, program):
        self.run(["cmake", "--build", self.build, "--parallel", str(self.jobs), "--target", program], check=True)

    def test(self, guard):
        """"passed", "failed", "skipped" or "no such test"."""
        program = self.build / "tests" / guard.program
        code, said = self.run([program, f"--gtest_filter={guard.filter}"])
        if code is None:
            return "failed"
        if "[ RUN      ]" not in said:
            return "no such test"
        if code == 0 and "[  SKIPPED ]" in said:
            return "skipped"
        return "passed" if code == 0 else "failed"

    def test_without(self, guard):
        path = self.tree / guard.file
        intact = path.read_text()
        path.write_text(intact.replace(guard.guard, guard.without))
        try:
            self.make(guard.program)
            return self.test(guard)
        finally:
            path.write_text(intact)


def check(workshop, guards):
    """Prints a line for each guard; the names of those that nobody noticed."""
    for program in sorted({guard.program for guard in guards}):
        workshop.make(program)
    problems = []
    intact = {guard.name: workshop.test(guard) for guard in guards}
    print(f"{'guard':48} {'intact':8} {'without':8} {'seconds':>7}  test", flush=True)
    for guard in guards:
        began = time.monotonic()
        verdict = workshop.test_without(guard) if intact[guard.name] == "passed" else "-"
        skipped = intact[guard.name] == "skipped"
        if verdict != "failed" and not skipped:
            problems.append(guard.name)
        print(f"{guard.name:48} {intact[guard.name]:8} {verdict:8} {time.monotonic() - began:7.0f}  "
              f"{guard.program} {guard.filter}", flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser(prog="check-guards.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the guards and do nothing")
    parser.add_argument("--only", action="append", metavar="NAME", help="this guard alone; may be repeated")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "guards", help="default: build/guards")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    guards = read_guards()
    if unknown := set(arguments.only or []) - {guard.name for guard in guards}:
        sys.exit(f"no such guard: {', '.join(sorted(unknown))}; --list names all")
    if arguments.only:
        guards = [guard for guard in guards if guard.name in arguments.only]
    if arguments.list:
        for guard in guards:
            print(f"{guard.name:48} {guard.file}")
        return
    problems = check(Workshop(arguments.scratch.resolve(), arguments.jobs), guards)
    if problems:
        sys.exit(f"not noticed by its test: {', '.join(problems)}")
    print(f"each of the {len(guards)} guards is noticed when it is missing")


if __name__ == "__main__":
    main()
