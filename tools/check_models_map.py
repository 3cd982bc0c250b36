#!/usr/bin/env python3
"""Check that docs/models.md points where it says.

Every link of the form [name](../src/model/file.c#L10-L20) must name a function or table of that file, and its lines must be
that definition's, from its first line to its closing brace. With --fix the line numbers are written anew."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "models.md"
LINK = re.compile(r"\[`?(\w+)`?\]\(\.\./(src/[\w/]+\.c)#L(\d+)-L(\d+)\)")


def definition(lines, name):
    """First and last line, from 1, of the definition of `name`; None when there is none."""
    start = re.compile(rf"^(?!\s)(?!.*;\s*$)[\w *]*\b{name}\b(\(|\[| = )")
    for i, line in enumerate(lines):
        if not start.match(line):
            continue
        is_open = False
        for j in range(i, len(lines)):
            is_open = is_open or lines[j].endswith("{")
            if lines[j].startswith("}"):
                return i + 1, j + 1
            if not is_open and lines[j].endswith(";"):
                break  # only declared here
    return None


def main():
    fix = sys.argv[1:] == ["--fix"]
    text = PAGE.read_text()
    faults = []

    def one(match):
        name, path, first, last = match.group(1), match.group(2), int(match.group(3)), int(match.group(4))
        source = ROOT / path
        found = definition(source.read_text().splitlines(), name) if source.exists() else None
        if found is None:
            faults.append(f"docs/models.md: {path} has no {name}")
            return match.group(0)
        if found != (first, last) and not fix:
            faults.append(f"docs/models.md: {name} is at {path} lines {found[0]} to {found[1]}, not {first} to {last}")
        return match.group(0).replace(f"#L{first}-L{last}", f"#L{found[0]}-L{found[1]}")

    fixed = LINK.sub(one, text)
    if not LINK.search(text):
        faults.append("docs/models.md has no links into the code")
    if fix:
        PAGE.write_text(fixed)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults and not fix:
        print("run tools/check_models_map.py --fix, and look at the result", file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
