#!/usr/bin/env python3
"""Check that the pages point where they say.

Every link of the form [name](../src/model/model_file.c#L10-L20) must name a function or table of that file, and its lines must be
that definition's, from its first line to its closing brace. Every other link to a file must find it, and one to a heading
the heading; a `make something` must be a target. With --fix the line numbers are written anew."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), ROOT / "recipes" / "README.md"]
CODE = re.compile(r"\[`?(\w+)`?\]\(((?:\.\./)*src/[\w/]+\.c)#L(\d+)-L(\d+)\)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MAKE = re.compile(r"`make ([a-z][a-z-]*)(?![a-z/-])")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), flags=re.M))


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


def without_blocks(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def headings(path):
    """The names that a page's headings have in links."""
    found = re.findall(r"^#+ (.*)$", without_blocks(path.read_text()), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def check(page, fix, faults):
    text = page.read_text()
    name_of = page.relative_to(ROOT)

    def one(match):
        name, path, first, last = match.group(1), match.group(2), int(match.group(3)), int(match.group(4))
        source = page.parent / path
        found = definition(source.read_text().splitlines(), name) if source.exists() else None
        if found is None:
            faults.append(f"{name_of}: {path} has no {name}")
            return match.group(0)
        if found != (first, last) and not fix:
            faults.append(f"{name_of}: {name} is at {path} lines {found[0]} to {found[1]}, not {first} to {last}")
        return match.group(0).replace(f"#L{first}-L{last}", f"#L{found[0]}-L{found[1]}")

    fixed = CODE.sub(one, text)
    for link in LINK.findall(without_blocks(text)):
        path, _, heading = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / path if path else page
        if not target.exists():
            faults.append(f"{name_of}: there is no {link}")
        elif heading and target.suffix == ".md" and heading not in headings(target):
            faults.append(f"{name_of}: {path or name_of} has no heading for {link}")
    faults.extend(f"{name_of}: there is no make {target}" for target in MAKE.findall(text) if target not in TARGETS)
    if fix and fixed != text:
        page.write_text(fixed)
    return len(CODE.findall(text))


def main():
    fix = sys.argv[1:] == ["--fix"]
    faults = []
    n_links = sum(check(page, fix, faults) for page in PAGES)
    if n_links == 0:
        faults.append("no page has links into the code")
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults and not fix:
        print("run tools/check_links.py --fix, and look at the result", file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
