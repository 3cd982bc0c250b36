#!/bin/sh
# The Python package: a wheel made from this checkout, installed into an environment of its own, and tested there.
. tests/transcript.sh
if ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo 'skipped: there is no Python 3.9 or later with venv'
    exit 0
fi
if grep -qe '-fsanitize' "$BUILD/flags"; then
    echo 'skipped: Python cannot load a library with sanitizers'
    exit 0
fi
case $BUILD in /*) build=$BUILD ;; *) build=$PWD/$BUILD ;; esac
env=$build/python/env
if ! tools/python.sh "$build" wheel >"$here/log" 2>&1; then
    if grep -q 'No matching distribution\|Could not find a version\|Connection\|NewConnectionError' "$here/log"; then
        echo 'skipped: the packages that build a wheel cannot be downloaded'
        exit 0
    fi
    verdict "a wheel is made" "tools/python.sh failed" "$(tail -n 40 "$here/log")"
    finish
fi
verdict "a wheel is made from a checkout" "" ""
# Without a library of ours, as `pip install .` builds it; ninja says before it builds when something has no rule.
PATH=$env/bin:$PATH
expect "a checkout is built by ninja, the library first" 0 '*libheed.a*' '' sh -c '
    cmake -S python -B "$1" -G Ninja -DPython_EXECUTABLE="$2" >"$1.log" 2>&1 || cat "$1.log" >&2
    ninja -C "$1" -n -v' sh "$here/ninja" "$env/bin/python"
size=$(wc -c <"$(ls "$build"/python/wheel/heed-*.whl)")
[ "$size" -le 26214400 ] && problem= || problem="it has $size bytes"
verdict "the wheel has at most 25 MB" "$problem" ""
expect "every test in Python passes" 0 '*passed*' '' "$env/bin/python" -m pytest -q -p no:cacheprovider tests/python
expect "without NumPy attention is lists" 0 '3 4' '' "$env/bin/python" -c "
import sys
sys.modules['numpy'] = None
import heed
a = heed.Translator(beam=1).align('I love my cat.', 'J\'aime mon chat.').attention
print(len(a), len(a[0]))"
expect "help() shows what to type" 0 '*Translator*translate*' '' "$env/bin/python" -c 'import heed; help(heed)'
finish
