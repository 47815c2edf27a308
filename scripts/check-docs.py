#!/usr/bin/env python3
"""Checks the documents: names in docs/ are kebab-case; every relative link in a Markdown file, with its #section, leads
somewhere; every path in `backticks` or (parentheses) that begins with a folder of the sources is there; every option that
a command takes is named in some document, and every field of a job file in docs/job-file.md; every test named in
docs/limits.md is there. An option that no help shows (`group("")`) need not be.

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
SKIPPED = {"build", ".git", "node_modules"}
# A file or folder of the sources as prose names it; a file may be named without its ending.
SOURCE_PATH = re.compile(r"[`(]((?:[a-z_]+/)+[a-z0-9_.{},-]*)[`)]")
# How a command declares an option: its names, of which a later one behind a comma is an earlier name or a short one. The
# rest of the statement may hide it.
OPTION = re.compile(r"""\b(?:add_(?:option|flag)\w*|text|texts|duration|size|optionalSize|bandwidth|flag|count|optionalCount)
                        \(\s*"([^"]*--[a-z][^"]*)"([^;]*);""", re.VERBOSE)
# How the table of a job's fields and the reader of job files name a field, and the sources that do.
FIELD = re.compile(r'(?:\btake\(|\bJobField\{(?:\.path = )?)"([a-z_.]+)"')
FIELD_SOURCES = ["core/model/job_fields.h", "formats/job_file.cc", "formats/extras_field.cc", "formats/profile_file.cc"]

# A test as docs/limits.md and docs/faults.md name it, and as it is written.
NAMED_TEST = re.compile(r"`([A-Z]\w*)\.([A-Z]\w*)`")
TEST = re.compile(r"\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\)")


def anchors_of(text):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+\s+(.*?)\s*#*$", re.sub(r"(?ms)^(```|~~~).*?^\1[^\n]*$", "", text), re.MULTILINE)
    anchors = set()
    for heading in headings:
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        repeats = sum(1 for other in anchors if re.fullmatch(re.escape(anchor) + r"(-\d+)?", other))
        anchors.add(f"{anchor}-{repeats}" if anchor in anchors else anchor)
    return anchors


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


def undescribed_options(root, documents):
    """(source, line number, option) of each option that no document names."""
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", "\n".join(path.read_text() for path in documents)))
    for path in sorted((root / "cli").rglob("*.cc")):
        text = path.read_text()
        for match in OPTION.finditer(text):
            option = re.search(r"--[a-z][a-z0-9-]*", match[1])[0]
            if option not in named and 'group("")' not in match[2]:
                yield path.relative_to(root), text.count("\n", 0, match.start(1)) + 1, option


def undescribed_fields(root):
    """(source, line number, field, what is wrong) of each field of a job file that docs/job-file.md has in no code."""
    document = root / "docs/job-file.md"
    code = "\n".join(match[0] for match in CODE.finditer(document.read_text())) if document.is_file() else ""
    described = set(re.findall(r"[a-z_.]+", code)) | set(re.findall(r"[a-z_]+", code))
    for path in (root / name for name in FIELD_SOURCES):
        text = path.read_text() if path.is_file() else ""
        for match in FIELD.finditer(text):
            if match[1] not in described:
                yield path.relative_to(root), text.count("\n", 0, match.start(1)) + 1, match[1]


def lost_tests(root):
    """(document, line number, test) of each test that docs/limits.md or docs/faults.md names and nobody has written."""
    written = {match.groups() for path in (root / "tests").rglob("*.cc") for match in TEST.finditer(path.read_text())}
    for document in ("docs/limits.md", "docs/faults.md"):
        text = (root / document).read_text() if (root / document).is_file() else ""
        for match in NAMED_TEST.finditer(text):
            if match.groups() not in written:
                yield document, text.count("\n", 0, match.start()) + 1, ".".join(match.groups())


def fields_are_found(root):
    """Whether the reader of job files still takes fields in the way that this script looks for, where there is one."""
    reader = root / "formats/job_file.cc"
    return not reader.is_file() or FIELD.search(reader.read_text())


def problems_of(root):
    """Everything that is wrong with the documents below a folder, and how many there are."""
    documents = [p for p in sorted(root.rglob("*.md")) if not SKIPPED & set(p.relative_to(root).parts)]
    problems = [f"{p.relative_to(root)}: a document's name is kebab-case, such as job-file.md"
                for p in sorted((root / "docs").rglob("*")) if p.is_file() and not KEBAB.fullmatch(p.name)]
    problems += [f"{path.relative_to(root)}:{line}: link to {target}: {what}"
                 for path in documents for line, target, what in broken_links(root, path)]
    problems += [f"{path.relative_to(root)}:{line}: {name}: {what}"
                 for path in documents for line, name, what in lost_paths(root, path)]
    problems += [f"{path}:{line}: option {option}: no document names it"
                 for path, line, option in undescribed_options(root, documents)]
    problems += [f"{path}:{line}: field {field}: docs/job-file.md does not describe it"
                 for path, line, field in undescribed_fields(root)]
    problems += [f"{document}:{line}: {test}: there is no such test" for document, line, test in lost_tests(root)]
    if not fields_are_found(root):
        problems.append("formats/job_file.cc: no field that is taken; tell FIELD how fields are read now")
    if not documents:
        problems.append(f"{root}: no Markdown file at all")
    return problems, len(documents)


# What is planted in a sound tree, and a piece of the message that must come of it (None: no message).
PLANTS = [
    ("a sound tree", {}, None),
    ("a lost file", {"docs/a.md": "[x](gone.md)\n"}, "there is no such file"),
    ("a lost heading", {"docs/a.md": "[x](b.md#gone)\n"}, "there is no such heading"),
    ("a lost source", {"docs/a.md": "see `core/gone.h`\n"}, "core/gone.h: there is no such file or folder"),
    ("a lost heading of the same document", {"docs/a.md": "# A\n[x](#gone)\n"}, "there is no such heading"),
    ("a heading twice", {"docs/a.md": "[x](b.md#bee-1)\n", "docs/b.md": "# Bee\n# Bee\n`--data`\n"}, None),
    ("a heading that looks like a repeat", {"docs/a.md": "[x](b.md#bee-1)\n"}, "there is no such heading"),
    ("a name in capitals", {"docs/Big.md": "# Big\n"}, "kebab-case"),
    ("an option that no document names", {"cli/commands/a.cc": 'table.count("--new", n, 0, 1, "help");\n'},
     "option --new: no document names it"),
    ("an option by a longer name", {"cli/commands/a.cc": 'app.add_flag("-d,--dat", d, "help");\n'}, "option --dat"),
    ("an option over two lines", {"cli/commands/a.cc": 'command\n  .add_option(\n    "--new", n)\n  ->check(x);\n'},
     "a.cc:3: option --new"),
    ("an earlier name", {"cli/commands/a.cc": 'table.text("--data,--old-data", d, "DIR", "help");\n'}, None),
    ("a hidden option", {"cli/commands/a.cc": 'app.add_flag("--new", d)->group("");\n'}, None),
    ("a field that is not described", {"formats/job_file.cc": 'root_.take("tasks");\nroot_.take("new_field");\n'},
     "job_file.cc:2: field new_field"),
    ("a field in prose alone", {"formats/job_file.cc": 'root_.take("prose");\n'}, "field prose"),
    ("a field of the table", {"core/model/job_fields.h": 'JobField{.path = "placement.at_most",\n'}, "field placement.at_most"),
    ("a test that is not there", {"docs/limits.md": "`Bounds.Hold`, `Bounds.Break`\n"}, "limits.md:1: Bounds.Break"),
    ("a test that is there", {"docs/limits.md": "`Bounds.Hold`\n"}, None),
    ("a reader that reads otherwise", {"formats/job_file.cc": "read(root)\n"}, "tell FIELD"),
]
SOUND = {"docs/a.md": "# A\n[x](b.md#bee) and `core/a` and (core/), [a](#a)\n", "docs/b.md": "# Bee\n`--data DIR`\n",
         "docs/job-file.md": "# Job file\n```yaml\nname: x\n```\n`tasks`, prose\n", "core/a.h": "",
         "core/CMakeLists.txt": "", "cli/commands/a.cc": 'table.text("--data", data, "DIR", "help");\n',
         "formats/job_file.cc": 'root_.take("tasks");\nroot_.take("name");\n', "tests/a.cc": "TEST_F(Bounds, Hold) {}\n"}


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
