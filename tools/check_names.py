#!/usr/bin/env python3
"""check_names.py -- one name, one thing: no two rooms declare the same function, struct, enum, typedef or file.

A room is a folder of src, or draw, mpi, markup, features, serve, cli; include is one as well. Static functions and structs that a .c file keeps
to itself count too, but only where they carry our prefix: a file's own `struct line` is nobody's business, while a second
`struct hd_line` is. The same file name in two rooms is a second meaning as well. `check_names.py FOLDER` checks another tree.
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

PREFIX = r"(?:hd|heed)_\w+"
STRUCT = re.compile(rf"^\s*(?:typedef\s+)?(struct|enum|union)\s+({PREFIX})\s*\{{", re.M)
TYPEDEF = re.compile(rf"^typedef\s+(?:struct\s+)?(\w+)[^;{{]*?\b({PREFIX})\s*;", re.M)
# A function at the beginning of a line: return type, name, arguments; a body or a semicolon follows.
FUNCTION = re.compile(rf"^(?!\s|return\b|else\b|typedef\b|#)[\w\s\*\(\)]*?\b({PREFIX})\s*\(", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)


def room_of(path, top):
    parts = path.relative_to(top).parts
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def names_of(text):
    text = COMMENT.sub(" ", text)
    for kind, name in STRUCT.findall(text):
        yield kind, name
    for base, name in TYPEDEF.findall(text):
        if base != name: # `typedef struct x x;` only announces a struct that its room defines
            yield "typedef", name
    for name in FUNCTION.findall(text):
        yield "function", name


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    files = sorted(p for folder in ("include", "src", "draw", "mpi", "markup", "features", "serve", "cli") for p in (top / folder).rglob("*")
                   if p.suffix in (".c", ".h", ".cc", ".inc"))
    declared, named = defaultdict(lambda: defaultdict(set)), defaultdict(set)
    for path in files:
        room = room_of(path, top)
        named[path.name].add(str(path.relative_to(top)))
        for kind, name in names_of(path.read_text(encoding="utf-8")):
            # A header declares; a definition elsewhere in the same room, or of a public name, is the same thing.
            if path.suffix == ".h" or kind in ("struct", "enum", "union"):
                declared[("function" if kind == "function" else "type", name)][room].add(
                    str(path.relative_to(top)))
    bad = []
    for (kind, name), rooms in sorted(declared.items(), key=lambda item: item[0][1]):
        if len(rooms) > 1:
            bad.append(f"{kind} {name}: " + ", ".join(sorted(f for files in rooms.values() for f in files)))
    for name, paths in sorted(named.items()):
        if len(paths) > 1:
            bad.append(f"file {name}: " + ", ".join(sorted(paths)))
    for line in bad:
        print(line)
    if bad:
        print(f"check_names: {len(bad)} names mean two things")
        return 1
    print(f"check_names: {len(files)} files, {len(declared)} names, each of one room")
    return 0


sys.exit(main())
