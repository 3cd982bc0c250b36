#!/usr/bin/env python3
"""wrap_markdown.py -- prose of the pages in lines of at most 120 columns, as .editorconfig says.

usage: tools/wrap_markdown.py [--check] [FILE.md...]     without files: all pages of the project

A paragraph or an item of a list that has a longer line is wrapped anew; nothing else is touched: blocks of code, tables, headings, formulas and HTML
stay as they are, and so does what a reader sees of the rest. Words are not cut, nor code between backticks, formulas between dollars and the
address of a link, so a line that is one of these may be longer. --check changes nothing and says which lines are too long.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 120
FENCE = re.compile(r"^\s*(```|~~~)")
APART = re.compile(r"^\s*(\||#|<|\[[^\]]+\]: |!\[[^\]]*\]\([^)]*\)$|(---+|===+|\*\*\*+)$)")  # lines that are none of a paragraph
ITEM = re.compile(r"^(\s*(?:> ?)*(?:[-*+]|\d+[.)])\s+|\s*(?:> ?)+|\s*)")
STARTS_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
WHOLE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\$[^$\s](?:[^$]*[^$\s])?\$")  # code and formulas
BEGINS_OTHER = re.compile(r"^([-+*]|[>|<].*|#+|=+|-+|\d+[.)]|(```|~~~|\$\$).*)$")  # words that would mean something at the beginning of a line


def words_of(text):
    """What stands on a line together: words, each with the code or the formula that it has, and with what may begin no line."""
    glued = WHOLE.sub(lambda m: m.group(0).replace(" ", "\0"), text)
    words = []
    for word in glued.split():
        if words and BEGINS_OTHER.match(word):
            words[-1] += "\0" + word
        else:
            words.append(word)
    return [word.replace("\0", " ") for word in words]


def wrapped(lines):
    """A paragraph or item in lines that are short enough; the first one's beginning says how the others are indented."""
    first = ITEM.match(lines[0]).group(1)
    quote = re.match(r"\s*(?:> ?)*", first).group(0)
    rest = quote + " " * (len(first) - len(quote))
    text = " ".join([lines[0][len(first):], *(line.strip().lstrip("> ") if quote.strip() else line.strip() for line in lines[1:])])
    result, line = [], first
    is_empty = True
    for word in words_of(text):
        if not is_empty and len(line) + 1 + len(word) > WIDTH:
            result.append(line)
            line, is_empty = rest, True
        line += word if is_empty else " " + word
        is_empty = False
    result.append(line)
    assert " ".join(text.split()) == " ".join(" ".join(part[len(rest):] for part in result).split()), text
    return result


def is_quote(line):
    return line.lstrip().startswith(">")


def paragraphs(lines):
    """(first, end, is_prose) of what belongs together."""
    at, fence, in_formula = 0, None, False
    while at < len(lines):
        line, begin = lines[at], at
        at += 1
        mark = FENCE.match(line)
        if fence or mark:
            fence = None if fence and mark and mark.group(1) == fence else fence or mark.group(1)
            yield begin, at, False
        elif in_formula or line.lstrip().startswith("$$"):
            in_formula ^= line.count("$$") % 2 == 1
            yield begin, at, False
        elif not line.strip() or APART.match(line):
            yield begin, at, False
        else:
            while at < len(lines) and lines[at].strip() and not (
                    is_quote(lines[at]) != is_quote(line) or FENCE.match(lines[at]) or APART.match(lines[at]) or STARTS_ITEM.match(lines[at]) or lines[at].lstrip().startswith("$$")):
                at += 1
            is_broken = any(part.endswith(("  ", "\\")) for part in lines[begin:at])  # line ends that are meant
            yield begin, at, not is_broken


def wrap(text):
    """The text wrapped, and the numbers of lines that were too long and can be mended."""
    lines, result, faults = text.split("\n"), [], []
    for begin, end, is_prose in paragraphs(lines):
        part = lines[begin:end]
        long = [begin + i + 1 for i, line in enumerate(part) if len(line) > WIDTH]
        new = wrapped(part) if is_prose and long else part
        if new != part:
            faults += long
        result += new
    return "\n".join(result), faults


def pages():
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("*/README.md"))]


def main():
    is_check = "--check" in sys.argv[1:]
    files = [Path(name) for name in sys.argv[1:] if name != "--check"] or list(dict.fromkeys(pages()))
    n_faults = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        new, faults = wrap(text)
        n_faults += len(faults)
        if is_check:
            for line in faults:
                name = file.relative_to(ROOT) if ROOT in file.parents else file
                print("%s:%d: longer than %d columns; tools/wrap_markdown.py wraps it" % (name, line, WIDTH), file=sys.stderr)
        elif new != text:
            file.write_text(new, encoding="utf-8")
    return 1 if is_check and n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
