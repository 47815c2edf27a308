#!/usr/bin/env python3
"""Runs the shell blocks of README.md and docs/guide.md as a reader would, one after the other, against a cluster of its own in a
scratch folder, and holds what they print against the document where that is always the same.

    tests/processes/guide_test.py TARCIL [DOCUMENT...] [--keep]     default: both documents, each with a cluster of its own

What is written behind the language of a fence says what to do with the block; readers do not see it:
    ```sh                    runs, and each command in it must succeed
    ```sh not-here           does not run: it needs another machine, more time or more rights than a test has
    ```yaml NAME             is the file NAME from here on
    ```text compared         what the block before it prints has these lines, in this order; others may be between them, which
                             `...` says to readers, and blanks count as one
    ```text alike            the same, but a word with a digit in it stands for any such word
In a block ID is the job that it submitted last; where it has submitted none yet, ID, ID1 and ID2 are jobs that the test submits
just before. DATA is the cluster's data folder, and what is below /tmp and /backups is below the scratch folder. Ends with exit code 77
where containers cannot be run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
SKIPPED = 77
# No block takes longer; the whole test has a bound of its own in CMakeLists.txt.
BLOCK_SECONDS = 60
# Jobs of documents that sleep do so for the time of a reader.
PATIENCE = ("sleep 20", "sleep 1")

# Before each block. `set -e` as the first command that fails ends it; sudo may be missing where root runs this.
PRELUDE = r"""
set -eo pipefail
export LC_ALL=C
sudo() { while [[ $1 == -* ]]; do shift; done; "$@"; }
first() { sed -n "s/.*\"$1\" *: *\"\([0-9a-f]*\)\".*/\1/p" | head -n 1; }
newest() { tarcil job list --json --limit 1 | first id; }
submitted() { tarcil submit --json "$SCRATCH/id.yaml" | first job; }
"""
# What blocks that do not run here would have made.
FILES = {
    "id.yaml": "command: [sh, -c, 'echo out; sleep 0.2']\ntasks: 2\n",
    "sort.yaml": "application: sort\ncaused: {core: 49}\ntolerated: {llc: 99}\n",
    "numbers.txt": "3\n1\n2\n",
    "other-profile.yaml": "caused: {llc: 30}\n",
}


def blocks_of(text):
    """(line number, words behind the fence, content) of each fenced block."""
    for match in FENCE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1].split(), match[2]


def for_here(script, scratch):
    """The script with what stands for something put in its place."""
    script = re.sub(r"(?<![\w.$/])ID[12]?\b",
                    lambda match: "$(newest)" if "tarcil submit" in script[:match.start()] else "$(submitted)", script)
    script = re.sub(r"(?<![\w.$/])DATA(?=/)", '"$TARCIL_DATA"', script)
    return re.sub(r"(?<![\w.])/(tmp|backups)\b", lambda match: f"{scratch}/{match[1]}", script)


def missing(expected, printed, alike=False):
    """The first expected line that is not among those printed after the lines before it; None where all are."""
    def plain(line):
        words = " ".join(line.split())
        return re.sub(r"\S*\d\S*", "#", words) if alike else words

    lines = iter([plain(line) for line in printed.splitlines()])
    return next((line for line in expected.splitlines() if plain(line) not in ("", "...") and plain(line) not in lines), None)


class Reader:
    """One reader of one document: a scratch folder and a shell in it."""

    def __init__(self, tarcil, document):
        self.document = document
        self.scratch = Path(tempfile.mkdtemp(prefix="tarcil-guide-", dir="/var/tmp"))
        self.scratch.chmod(0o711)  # tasks run as another user and must reach their folders inside
        for folder in ("tmp", "backups", "home"):
            (self.scratch / folder).mkdir()
        for name, text in FILES.items():
            (self.scratch / name).write_text(text)
        (self.scratch / "examples").symlink_to(ROOT / "examples")
        self.environment = {
            "PATH": f"{Path(tarcil).resolve().parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.scratch / "home"), "TARCIL_DATA": str(self.scratch / "data"), "SCRATCH": str(self.scratch),
        }

    def run(self, script):
        """Exit code and what was printed, both streams in order."""
        words = ["timeout", "--kill-after=5", str(BLOCK_SECONDS), "bash", "-c", PRELUDE + for_here(script, self.scratch)]
        # Into a file: what goes on in the background would hold a pipe open.
        with open(self.scratch / "printed", "w+") as printed:
            done = subprocess.run(words, cwd=self.scratch, env=self.environment, stdin=subprocess.DEVNULL, stdout=printed,
                                  stderr=subprocess.STDOUT, check=False)
            printed.seek(0)
            return done.returncode, printed.read()

    def read(self):
        """What is wrong with the document's blocks; ends with the first block that fails, as others follow from it."""
        printed = ""
        for line, words, content in blocks_of(self.document.read_text()):
            where = f"{self.document.name}:{line}"
            if words[:1] == ["yaml"] and len(words) == 2:
                (self.scratch / words[1]).write_text(content.replace(*PATIENCE))
            elif words == ["sh"]:
                began = time.monotonic()
                code, printed = self.run(content)
                print(f"{'ok' if code == 0 else 'FAILED'} {time.monotonic() - began:6.1f} s  {where}", flush=True)
                if code != 0:
                    return [f"{where}: exit code {code}\n{content}--- printed:\n{printed}"]
            elif words in (["text", "compared"], ["text", "alike"]):
                lost = missing(content, printed, alike=words[1] == "alike")
                if lost is not None:
                    return [f"{where}: not printed: {lost}\n--- printed:\n{printed}"]
        return []

    def close(self):
        self.run("tarcil down >&2 || true")
        shutil.rmtree(self.scratch, ignore_errors=True)


def can_run_containers():
    """Whether this user may make what a container needs."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False,
                                                stderr=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tarcil")
    parser.add_argument("documents", nargs="*", type=Path, default=[ROOT / "README.md", ROOT / "docs/guide.md"])
    arguments = parser.parse_args()
    if not can_run_containers():
        print("containers cannot be run here")
        return SKIPPED
    problems = []
    for document in arguments.documents:
        reader = Reader(arguments.tarcil, document)
        try:
            problems += reader.read()
        finally:
            reader.close()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
