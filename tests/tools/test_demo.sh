#!/bin/sh
# test_demo.sh -- `make demo` comes to its end, with fewer updates, and can be read in a terminal of 80 columns.
. tests/transcript.sh
updates=200 right='9[0-9].*' said=
[ "$BUILD" = build ] || updates=5 right='*' said='*' # sanitizers are slow, and a model that has learned little goes round in circles

# In a folder of its own, as other tests use the program meanwhile.
mkdir "$here/demo"
cp "$BUILD/heed" "$here/demo/"
[ ! -f "$BUILD/heed_draw.so" ] || cp "$BUILD/heed_draw.so" "$here/demo/"

unset NO_COLOR COLUMNS MAKE
if [ "$(cat "$BUILD/embedded")" = '' ]; then
    translating='*This heed was built without a model inside*'
else
    translating='*I love my cat.*The red house is very old.*maison*'
fi
expect 'the demo translates, learns and shows what it learned' 0 \
    "$translating*best so far, saved*done: all updates are done*\$ echo 'a t t e n t i o n'*   a  t  t  e  n  t  i  o  n  (end)*exact = $right % (*To try next*" "$said" \
    env MAKE= tools/demo.sh "$here/demo" "$updates"
if [ -f "$here/demo/heed_draw.so" ] && [ "$(cat "$BUILD/embedded")" != '' ]; then
    expect 'and draws' 0 '' '' grep -q '<svg' "$here/demo/demo.svg"
fi
tools/demo.sh "$here/demo" 2 >"$here/plain" 2>&1 </dev/null
problem=
grep -q "$(printf '\033')" "$here/plain" && problem='there are escapes'
verdict 'a file gets no colours' "$problem" "$(cat "$here/plain")"

# Every state of a line that is drawn over counts as a line. Of a character of several bytes the first one counts.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    cd "$here" || exit 1
    ln -s "$OLDPWD/recipes" recipes
    env NO_COLOR=1 TERM=xterm script -qec "stty cols 80; $OLDPWD/tools/demo.sh demo 400" /dev/null </dev/null >screen 2>&1
    wide=$(tr '\r' '\n' <screen | sed "s/$(printf '\033')\[K//g" | LC_ALL=C tr -d '\200-\277' |
        LC_ALL=C awk 'length($0) > 80')
    [ -z "$wide" ] && problem='' || problem='lines that are too wide'
    grep -q 'left' screen || problem="$problem; no live line"
    verdict 'nothing is wider than 80 columns' "$problem" "$wide"
    [ "$(tr '\r' '\n' <screen | grep -c "$(printf '\033')\[[0-9]*m")" = 0 ] && problem='' || problem='there are colours'
    verdict 'NO_COLOR is respected' "$problem" "$(cat screen)"
fi
finish
