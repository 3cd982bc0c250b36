#!/bin/sh
# check_rooms.sh -- proves that rooms include only rooms below them, and that programs see public headers only.
#
# The rooms and what each may see are the table in this file; ARCHITECTURE.md draws the same house.
# `check_rooms.sh FOLDER` checks another tree: the test of this script has a crooked one.
set -eu
cd "${1:-$(dirname "$0")/..}"

awk '
BEGIN {
    # room: the rooms it may include, besides itself
    below["base"]      = ""
    below["option"]    = "base"
    below["kernel"]    = "base"
    below["graph"]     = "base kernel"
    below["format"]    = "base"
    below["text"]      = "base"
    below["exchange"]  = "base text markup"
    below["align"]     = "base text"
    below["vector"]    = "base option format features"
    below["model"]     = "base option kernel graph format text vector"
    below["search"]    = "base option kernel graph format text vector model"
    below["translate"] = "base option kernel graph format text vector align model search picture markup exchange"
    below["train"]     = "base option kernel graph format text vector align model search translate picture mpi exchange"
    below["picture"]   = "base draw"
    below["mpi"]       = "base"                             # outside of src, too
    below["server"]    = "base option serve"
    below["draw"]      = "base"                             # outside of src: a module of its own
    below["serve"]     = "base"                             # this one, too
    below["markup"]    = "base"                             # and another
    below["features"]  = "base"                             # and one more
    for (i = 1; i < ARGC; i++)
        n_files++
}

function complain(why) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, $0, why
    n_bad++
}

FNR == 1 {
    split(FILENAME, part, "/")
    top = part[1]
    room = top == "src" && part[3] != "" ? part[2] : ""     # src/heed.c is in no room: it sees all
    if (top == "draw" || top == "mpi" || top == "serve" || top == "markup" || top == "features")
        room = top
    if (room != "" && !(room in below))
        complain("there is no room \"" room "\" in tools/check_rooms.sh; add it with what it may see")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    name = $0
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    if (name ~ /\.\./)
        complain("an include names its room and never goes up with ..")
    else if (top == "cli" || top == "examples") {
        if (name ~ /\//)
            complain("programs include public headers only, <heed*.h>")
    } else if (top == "include") {
        if (name !~ /^heed/)
            complain("public headers include public headers only")
    } else {
        if (name !~ /\//)
            complain("an include names its room: \"room/" name "\"")
        else if (room != "") {
            split(name, of, "/")
            if (of[1] != room && index(" " below[room] " ", " " of[1] " ") == 0)
                complain(room " may include only: itself" (below[room] == "" ? "" : ", " below[room]))
        }
    }
}

/^[ \t]*#[ \t]*include[ \t]*<[^>]*\// {
    if (top == "cli" || top == "examples") {
        name = $0
        sub(/^[^<]*</, "", name)
        split(name, of, "/")
        if (of[1] in below)
            complain("programs include public headers only, <heed*.h>")
    }
}

END {
    if (n_bad > 0) {
        printf "check_rooms: %d includes point the wrong way\n", n_bad
        exit 1
    }
    printf "check_rooms: %d files, every include points downwards\n", n_files
}' $(find include src draw mpi serve markup features cli examples -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.inc' \) 2>/dev/null | sort)
