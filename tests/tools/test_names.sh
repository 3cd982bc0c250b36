#!/bin/sh
# test_names.sh -- the check of the names finds a name with two meanings, and only that.
. tests/transcript.sh
check=$PWD/tools/check_names.py

expect 'every name is one thing' 0 'check_names: *each of one room' '' "$check"

tree=$here/tree
put() { # put FILE TEXT
    mkdir -p "$tree/$(dirname "$1")"
    printf '%s\n' "$2" >"$tree/$1"
}
put include/heed.h 'typedef struct heed_model heed_model;'
put src/model/net.h 'struct heed_model { int n; };
int hd_net_size(const struct heed_model *m);'
put src/model/net.c 'int hd_net_size(const struct heed_model *m) { return m->n; }
struct line { int n; };'
put src/text/lines.c 'struct line { char *s; };'
expect 'a room that defines what it declares is fine' 0 'check_names: 4 files, 2 names, *' '' "$check" "$tree"

bad() { # bad NAME FILE LINE WHY
    put "$2" "$3"
    expect "$1" 1 "$4" '' "$check" "$tree"
    rm "$tree/$2"
}
bad 'a function of two rooms' src/text/x.h 'void hd_net_size(void);' 'function hd_net_size: src/model/net.h, src/text/x.h*'
bad 'a struct of two rooms' src/text/x.c 'struct heed_model { char c; };' 'type heed_model: src/model/net.h, src/text/x.c*'
bad 'a struct and an enum are two things as well' draw/x.h 'enum heed_model { A };' 'type heed_model: draw/x.h, src/model/net.h*'
bad 'one file name in two rooms' src/text/net.c 'int x;' 'file net.c: src/model/net.c, src/text/net.c*'
put src/text/x.h '/* struct heed_model { } is told of in a comment */'
expect 'comments declare nothing' 0 'check_names: *' '' "$check" "$tree"
finish
