"""Takes out one guard after the other and expects a test to notice.

Works on a copy of the tree below the scratch folder, which is kept and makes the next time faster. Everything is built
unchanged first, and the tests must pass; then, for each guard of guards.toml, its programs are built without the guard,
and each of its tests must fail. A guard whose text is not in its file exactly once, or that cannot be compiled away, is an
error: the table is out of date. The tests of one guard run at the same time: without it, most of them just wait.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    tests: list  # of "program filter"
    also: list = field(default_factory=list)  # names of guards to be taken out with it
    simulated: bool = False  # the fault simulation finds it too (check_fault_simulation.py)

    def programs(self):
        return sorted({test.split()[0] for test in self.tests})


def read_guards():
    table = tomllib.loads(Path(__file__).with_name("guards.toml").read_text())
    guards = []
    for name, row in table.items():
        # A newline after the opening quotes is dropped by TOML; what remains is taken as it is.
        guards.append(Guard(name, **row))
        found = (ROOT / row["file"]).read_text().count(row["guard"])
        if found != 1:
            sys.exit(f"{name}: its text is in {row['file']} {found} times, not once: bring guards.toml up to date")
        if unknown := set(guards[-1].also) - set(table):
            sys.exit(f"{name}: also: no such guard: {', '.join(sorted(unknown))}")
    return guards


def copy_tree(tree):
    """Brings the copy up to date; files that are the same keep their time, so that little is built again."""
    git = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    names = {name for name in names if name and (ROOT / name).is_file()}
    built = tree / "build"
    for old in [path for path in tree.rglob("*") if path.is_file() and built not in path.parents]:
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
    def __init__(self, scratch, jobs, guards, optimised=False):
        self.guards = {guard.name: guard for guard in guards}
        self.tree, self.jobs = scratch / "tree", jobs
        # Where the tree itself is built, so that a compiler cache that has its objects knows them again.
        self.build = self.tree / "build" / "release" if optimised else scratch / "build"
        self.tree.mkdir(parents=True, exist_ok=True)
        copy_tree(self.tree)
        self.environment = {**os.environ, "CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "1"}
        how = ["--preset", "release"] if optimised else ["-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                                                        "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]
        subprocess.run(["cmake", "-S", self.tree, *how], check=True, stdout=subprocess.DEVNULL)

    def make(self, programs):
        """What the compiler had against them; empty where they were built."""
        command = ["cmake", "--build", self.build, "--parallel", str(self.jobs), "--target", *programs]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=self.environment)
        return "" if done.returncode == 0 else done.stdout[-4000:]

    def verdict(self, test):
        """"passed", "failed", "skipped" or "no such test"."""
        program, pattern = test.split()
        try:
            done = subprocess.run([self.build / "tests" / program, f"--gtest_filter={pattern}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            return "failed"
        if "[ RUN      ]" not in done.stdout:
            return "no such test"
        if done.returncode == 0 and "[  SKIPPED ]" in done.stdout:
            return "skipped"
        return "passed" if done.returncode == 0 else "failed"

    def verdicts(self, tests):
        with ThreadPoolExecutor(max_workers=2 * self.jobs) as pool:
            return dict(zip(tests, pool.map(self.verdict, tests)))

    @contextmanager
    def without(self, guard):
        """The tree lacks the guard, and those to be taken out with it, as long as this lasts."""
        intact = {}
        for out in [guard, *(self.guards[name] for name in guard.also)]:
            path = self.tree / out.file
            text = path.read_text()
            intact.setdefault(path, text)
            path.write_text(text.replace(out.guard, out.without))
        try:
            yield
        finally:
            for path, text in intact.items():
                path.write_text(text)

    def verdicts_without(self, guard):
        with self.without(guard):
            if problem := self.make(guard.programs()):
                print(problem, file=sys.stderr)
                return {test: "unbuilt" for test in guard.tests}
            return self.verdicts(guard.tests)


def check(workshop, guards, programs):
    """Builds the programs on the unchanged tree, then takes out the guards: a line for each guard and test. Returns
    the names of the guards that one of their tests did not notice."""
    if problem := workshop.make(programs):
        sys.exit(problem)
    intact = workshop.verdicts(sorted({test for guard in guards for test in guard.tests}))
    print(f"{'guard':50} {'intact':8} {'without':8} test", flush=True)
    problems = []
    for guard in guards:
        without = workshop.verdicts_without(guard)
        for test in guard.tests:
            print(f"{guard.name:50} {intact[test]:8} {without[test]:8} {test}", flush=True)
            skipped = intact[test] == without[test] == "skipped"
            if (intact[test], without[test]) != ("passed", "failed") and not skipped:
                problems.append(f"{guard.name} ({test})")
    return problems


def main():
    parser = argparse.ArgumentParser(prog="check-guards.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the guards and do nothing")
    parser.add_argument("--only", action="append", metavar="NAME", help="this guard alone; may be repeated")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "guards", help="default: build/guards")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    guards = every = read_guards()
    if unknown := set(arguments.only or []) - {guard.name for guard in guards}:
        sys.exit(f"no such guard: {', '.join(sorted(unknown))}; --list names all")
    if arguments.only:
        guards = [guard for guard in guards if guard.name in arguments.only]
    if arguments.list:
        for guard in guards:
            print(f"{guard.name:50} {guard.file}")
        return
    # With all guards all there is, each source as a unit of its own: that shows too which of them lacks an include.
    programs = sorted({program for guard in guards for program in guard.programs()}) if arguments.only else ["all"]
    problems = check(Workshop(arguments.scratch.resolve(), arguments.jobs, every), guards, programs)
    if problems:
        sys.exit("not noticed: " + ", ".join(problems))
    print(f"each of the {len(guards)} guards is noticed when it is missing")


if __name__ == "__main__":
    main()
