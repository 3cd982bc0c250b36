"""page.py -- what was measured, as Markdown between two marks of a page, and as pictures that heed draws.

A page says `<!-- study:NAME -->` and `<!-- /study:NAME -->`; what stands between them is the study's, the rest is written by hand.
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from wrap_markdown import wrap


class Page:
    def __init__(self, path, images, lab):
        self.path, self.images, self.lab = pathlib.Path(path), pathlib.Path(images), lab

    def fill(self, name, text):
        """Put text between the marks of this name."""
        page = self.path.read_text(encoding="utf-8")
        begin, end = "<!-- study:%s -->" % name, "<!-- /study:%s -->" % name
        parts = re.split("(?<=%s)\n.*?(?=%s)" % (re.escape(begin), re.escape(end)), page, flags=re.S)
        if len(parts) != 2:
            raise RuntimeError("%s must have %s and %s once, in this order" % (self.path, begin, end))
        self.path.write_text(parts[0] + "\n\n" + wrap(text.strip())[0] + "\n\n" + parts[1], encoding="utf-8")

    def picture(self, name, rows, about):
        """A picture of a table, rows of fields as study/chart.c reads them, which is kept beside it; the Markdown that shows it."""
        self.images.mkdir(parents=True, exist_ok=True)
        table = self.images / ("study-%s.tsv" % name)
        table.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
        image = self.images / ("study-%s.svg" % name)
        subprocess.run([self.lab.chart, str(table), str(image)], check=True)
        return "![%s](%s/%s)" % (about, self.images.name, image.name)


def table(head, rows):
    """Markdown; the first column is text, the others are numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def command(options, program="heed train"):
    """A command as it was given, without the folders of its files, in lines of at most 130 characters."""
    lines, line = [], program
    for word in map(str, options):
        word = word.rsplit("/", 1)[-1] if "/" in word and not word.startswith("-") else word
        if len(line) + len(word) > 126 and word.startswith("-"):
            lines.append(line + " \\")
            line = "   "
        line += " " + word
    return "```\n" + "\n".join([*lines, line]) + "\n```"


def lines_of(series):
    """Rows of a panel: {name: [(x, y) or (x, y, low, high), ...]}."""
    rows = []
    for name, points in series.items():
        rows.append(("line", name))
        rows += [("at", *("%.6g" % number for number in point)) for point in points]
    return rows


def spread(values, digits=1):
    """Mean of several seeds, and from where to where they go."""
    mean = sum(values) / len(values)
    if len(values) == 1 or round(max(values) - min(values), digits) == 0:
        return "%.*f" % (digits, mean)
    return "%.*f (%.*f to %.*f)" % (digits, mean, digits, min(values), digits, max(values))
