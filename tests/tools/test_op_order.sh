#!/bin/sh
# test_op_order.sh -- ops whose order C leaves open are found, and only those.
. tests/transcript.sh
check=$PWD/tools/check_op_order.py

if ! command -v python3 >/dev/null; then
    echo 'python3 is not here: the order of ops is not checked'
    finish
fi
expect 'every formula has one order' 0 '' '' "$check"

tree=$here/tree
mkdir -p "$tree/include" "$tree/src/model"
cat >"$tree/include/heed_graph.h" <<'END'
HEED_API hd_node *hd_lin(hd_node *W, hd_node *x);
HEED_API hd_node *hd_add(hd_node *a, hd_node *b);
END
formula() { # formula STATEMENTS
    printf 'static struct keys map(hd_tape *t)\n{\n}\nvoid f(void)\n{\n%s\n}\n' "$1" >"$tree/src/model/x.c"
}
fine() { # fine NAME STATEMENTS
    formula "$2"
    expect "$1" 0 '' '' "$check" "$tree"
}
bad() { # bad NAME STATEMENTS
    formula "$2"
    expect "$1" 1 '' 'src/model/x.c:6: *either order*' "$check" "$tree"
}
fine 'declarators are in order' 'hd_node *a = hd_lin(W, s), *b = hd_lin(U, h); hd_add(a, b);'
fine 'nested ops are in order' 'hd_add(hd_lin(W, hd_lin(U, s)), h);'
fine 'one of two is made' 'hd_add(a, is_first ? hd_lin(W, s) : hd_lin(U, h));'
fine 'comments and strings are no ops' 'hd_add(hd_lin(W, s), h /* , hd_lin( */, ", hd_lin(");'
bad 'two arguments' 'hd_add(hd_lin(W, s), hd_lin(U, h));'
bad 'arguments of another function, deep inside' 'g(1, -h(hd_lin(W, s)), (hd_lin(U, h)));'
bad 'values in braces' 'hd_node *p[] = {hd_lin(W, s), hd_lin(U, h)};'
bad 'structs of nodes' 'struct both b = {.one = map(t), .other = map(t)};'
finish
