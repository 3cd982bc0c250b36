#!/bin/sh
# test_rooms.sh -- the check of the rooms finds what is wrong, and only that.
. tests/transcript.sh
check=$PWD/tools/check_rooms.sh

expect 'the house is in order' 0 'check_rooms: *every include points downwards' '' "$check"

tree=$here/tree
put() { # put FILE TEXT
    mkdir -p "$tree/$(dirname "$1")"
    printf '%s\n' "$2" >"$tree/$1"
}
put include/heed.h '#include <stddef.h>'
put src/base/arena.c '#include "base/arena.h"'
put src/graph/tape.c '#include "kernel/kernel.h"'
put src/heed.c '#include "graph/tape.h"'
put cli/main.c '#include "command.h"'
expect 'a straight house is fine' 0 'check_rooms: 5 files, *' '' "$check" "$tree"

bad() { # bad NAME FILE LINE WHY
    put "$2" "$3"
    expect "$1" 1 "$2:1: *$4*" '' "$check" "$tree"
    rm "$tree/$2"
}
bad 'base must not see graph' src/base/x.c '#include "graph/tape.h"' 'base may include only: itself'
bad 'pictures see no models' src/picture/x.c '#include "model/model.h"' 'picture may include only: itself, base draw'
bad 'the drawing module sees base only' draw/x.c '#include "text/vocab.h"' 'draw may include only: itself, base'
bad 'kernel must not see graph' src/kernel/x.inc '  #  include "graph/tape.h"' 'kernel may include only: itself, base'
bad 'text must not see format' src/text/x.h '#include "format/npz.h"' 'text may include only'
bad 'nobody goes up' src/graph/x.c '#include "../base/arena.h"' 'never goes up'
bad 'an include names its room' src/graph/x.c '#include "tape.h"' 'names its room'
bad 'an unknown room is asked about' src/attic/x.c 'int x;' 'there is no room "attic"'
bad 'the program sees public headers only' cli/x.c '#include "base/arena.h"' 'public headers only'
bad 'angle brackets do not help' cli/x.c '#include <base/arena.h>' 'public headers only'
bad 'examples see public headers only' examples/x.c '#include "graph/tape.h"' 'public headers only'
bad 'public headers see public headers only' include/x.h '#include "base/arena.h"' 'public headers only'
finish
