#!/bin/sh
# demo.sh -- `make demo`: run what was built and say what is to be seen.    demo.sh BUILD EXAMPLE...
set -eu

build=$1
shift
"$build/heed" --version
for example in "$@"; do
    echo
    echo "--- examples/$example.c ---"
    "$build/examples/$example"
done
echo
if [ $# -gt 0 ]; then
    echo "That was all of it: each example is one short C file in examples/, made to be read and changed."
else
    echo "The library and the program were built; examples will follow."
fi
echo "Next: 'make check' runs the tests, '$build/heed --help' shows the commands."
