#!/usr/bin/env python3
"""Check that formulas leave no order of evaluation open. check_op_order.py [TREE]

C evaluates the arguments of a call, and the values of an initialiser list, in any order. An op that
makes a node notes it on the tape, so of two such calls side by side each compiler would note another
one first, and gradients would differ in their last bits; parameters declared side by side would lie
in another order. So every maker of nodes must stand alone among its siblings. Makers are functions
that return hd_node *, and those that return a struct and are given nodes, parameters or a tape."""
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
FILES = ("include/*.h", "src/*/*.[ch]", "cli/*.[ch]", "examples/*.c", "tests/arm/*.c", "tests/*/*.h")
MAKER = re.compile(r"^(static )?(?:HEED_API |inline |const )*"
                   r"(?:hd_node \*+(\w+)\(|struct \w+ (\w+)\([^)]*(?<!const )hd_(?:node|tape|params|net)\b)", re.M)
MACROS = {"hd_input", "hd_variable", "hd_param", "hd_reshape"}
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^[ \t]*#(?:\\\n|[^\n])*|\w+|\n|\S',
                   re.S | re.M)


def tokens_of(text):
    """(token, line) without comments, strings and directives."""
    line = 1
    for match in TOKEN.finditer(text):
        token = match.group(0)
        if not re.match(r'\s|/\*|//|"|\'|#|[ \t]*#', token):
            yield token, line
        line += token.count("\n")


def faults_in(text, makers):
    """The lines where two node makers are siblings: (line, name of one, name of the other)."""
    open_lists = [[[None], False]]  # per open bracket: the first maker of each sibling, is a block
    previous = ""
    for token, line in tokens_of(text):
        top = open_lists[-1]
        if token in "([{":
            if token == "(" and previous in makers:
                top[0][-1] = top[0][-1] or previous
            open_lists.append([[None], False])
        elif token in ")]}" and len(open_lists) > 1:
            siblings, is_block = open_lists.pop()
            found = [name for name in siblings if name]
            if len(found) > 1 and not is_block:
                yield line, found[0], found[1]
            if found and not is_block:
                above = open_lists[-1][0]
                above[-1] = above[-1] or found[0]
        elif token == ",":
            top[0].append(None)
        elif token == ";":
            top[0], top[1] = [None], True
        previous = token


def main():
    texts = {f: f.read_text() for pattern in FILES for f in sorted(ROOT.glob(pattern))}
    makers = {f: MAKER.findall(text) for f, text in texts.items()}
    everywhere = {a or b for found in makers.values() for is_static, a, b in found if not is_static}
    is_fine = True
    for f, text in texts.items():
        for line, one, other in faults_in(text, MACROS | everywhere | {a or b for _, a, b in makers[f]}):
            is_fine = False
            print(f"{f.relative_to(ROOT)}:{line}: {one} and {other} are made in either order; "
                  "give each a statement of its own", file=sys.stderr)
    return 0 if is_fine else 1


sys.exit(main())
