#!/usr/bin/env python3
"""Checks the documents: names in docs/ are kebab-case, every relative link in a Markdown file leads somewhere, and every
path in `backticks` or (parentheses) that begins with a folder of the sources is there.

    scripts/check-docs.py [FOLDER]     default: the source tree
    scripts/check-docs.py --self-test  plants each fault in a scratch tree and expects it to be caught
"""

import re
import sys
import tempfile
import urllib.parse
from pathlib import Path

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+")
# ](target) and ](target "title"); [name]: target; the two ways to link in Markdown.
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
SKIPPED = {"build", ".git"}
# A file or folder of the sources as prose names it; a file may be named without its ending.
SOURCE_PATH = re.compile(r"[`(]((?:[a-z_]+/)+[a-z0-9_.{},-]*)[`)]")


def anchors_of(text):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+\s+(.*?)\s*#*$", re.sub(r"(?ms)^(```|~~~).*?^\1[^\n]*$", "", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(root, path):
    """(line number, target, what is wrong) of each relative link that leads nowhere."""
    text = path.read_text()
    # Code is blanked rather than cut, so that positions stay.
    prose = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in LINK.finditer(prose):
        target = match[1] or match[2]
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        name = urllib.parse.unquote(name)
        file = (root / name.lstrip("/") if name.startswith("/") else path.parent / name) if name else path
        line = text.count("\n", 0, match.start(match.lastindex)) + 1
        if not file.exists():
            yield line, target, "there is no such file"
        elif anchor and file.suffix == ".md" and anchor.lower() not in anchors_of(file.read_text()):
            yield line, target, "there is no such heading"


def lost_paths(root, path):
    """(line number, path, what is wrong) of each path of the sources that is not there."""
    text = re.sub(r"(?ms)^(```|~~~).*?^\1[^\n]*$", lambda match: re.sub(r"[^\n]", " ", match[0]), path.read_text())
    for match in SOURCE_PATH.finditer(text):
        name = match[1]
        if not (root / name.split("/")[0] / "CMakeLists.txt").is_file() or "{" in name:
            continue
        if not ((root / name).exists() or (root / f"{name}.h").exists() or (root / f"{name}.cc").exists()):
            yield text.count("\n", 0, match.start(1)) + 1, name, "there is no such file or folder"


def problems_of(root):
    """Everything that is wrong with the documents below a folder, and how many there are."""
    documents = [p for p in sorted(root.rglob("*.md")) if not SKIPPED & set(p.relative_to(root).parts)]
    problems = [f"{p.relative_to(root)}: a document's name is kebab-case, such as job-file.md"
                for p in sorted((root / "docs").rglob("*")) if p.is_file() and not KEBAB.fullmatch(p.name)]
    problems += [f"{path.relative_to(root)}:{line}: link to {target}: {what}"
                 for path in documents for line, target, what in broken_links(root, path)]
    problems += [f"{path.relative_to(root)}:{line}: {name}: {what}"
                 for path in documents for line, name, what in lost_paths(root, path)]
    if not documents:
        problems.append(f"{root}: no Markdown file at all")
    return problems, len(documents)


# What is planted in a sound tree, and a piece of the message that must come of it (None: no message).
PLANTS = [
    ("a sound tree", {}, None),
    ("a lost file", {"docs/a.md": "[x](gone.md)\n"}, "there is no such file"),
    ("a lost heading", {"docs/a.md": "[x](b.md#gone)\n"}, "there is no such heading"),
    ("a lost source", {"docs/a.md": "see `core/gone.h`\n"}, "core/gone.h: there is no such file or folder"),
    ("a name in capitals", {"docs/Big.md": "# Big\n"}, "kebab-case"),
]
SOUND = {"docs/a.md": "# A\n[x](b.md#bee) and `core/a` and (core/)\n", "docs/b.md": "# Bee\n", "core/a.h": "",
         "core/CMakeLists.txt": ""}


def self_test():
    failures = 0
    for title, planted, expected in PLANTS:
        with tempfile.TemporaryDirectory() as scratch:
            for name, text in {**SOUND, **planted}.items():
                Path(scratch, name).parent.mkdir(parents=True, exist_ok=True)
                Path(scratch, name).write_text(text)
            problems, _ = problems_of(Path(scratch).resolve())
        caught = any(expected in p for p in problems) if expected else not problems
        failures += not caught
        print(f"  {'ok    ' if caught else 'MISSED'} {title}" + ("" if caught else f": got {problems}"))
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    problems, documents = problems_of(root)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check-docs: {documents} documents, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
