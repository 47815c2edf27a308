#!/usr/bin/env python3
"""Checks the documents: names in docs/ are kebab-case, and every relative link in a Markdown file leads somewhere.

    scripts/check-docs.py [FOLDER]     default: the source tree
"""

import re
import sys
import urllib.parse
from pathlib import Path

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+")
# ](target) and ](target "title"); [name]: target; the two ways to link in Markdown.
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
SKIPPED = {"build", ".git"}


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


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    documents = [p for p in sorted(root.rglob("*.md")) if not SKIPPED & set(p.relative_to(root).parts)]
    problems = [f"{p.relative_to(root)}: a document's name is kebab-case, such as job-file.md"
                for p in sorted((root / "docs").rglob("*")) if p.is_file() and not KEBAB.fullmatch(p.name)]
    problems += [f"{path.relative_to(root)}:{line}: link to {target}: {what}"
                 for path in documents for line, target, what in broken_links(root, path)]
    if not documents:
        problems.append(f"{root}: no Markdown file at all")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check-docs: {len(documents)} documents, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
