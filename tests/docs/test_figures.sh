#!/bin/sh
# test_figures.sh -- figures of the tutorial and the course are those that their commands print, digit for digit, on every machine.
#
# Looked at are tables, blocks that show output, and quotes like `exact = 96.45 %`: numbers with two decimals or more.
. tests/transcript.sh
. tests/docs/unfold.sh

if [ "$BUILD" != build ]; then
    echo "skipped: for the plain build"
    exit 0
fi
PATH=$PWD/$BUILD:$PATH
export PATH

# figures PAGE: one a line
figures() {
    awk '
        function tell(text) {
            while (match(text, /[0-9]+\.[0-9][0-9]+/)) {
                print substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
            }
        }
        /^```/ { is_output = !in_block && $0 == "```"; in_block = !in_block; next }
        is_output || (!in_block && /^\|/) { tell($0); next }
        !in_block && match($0, /`exact = [^`]*`/) { tell(substr($0, RSTART, RLENGTH)) }' "$1"
}

for page in docs/tutorial.md docs/course.md; do
    folder=$here/$(echo "$page" | tr / _)
    mkdir "$folder"
    (cd "$folder" && unfold "$OLDPWD/$page" whole && sh -e commands.sh >out 2>err </dev/null)
    status=$?
    problem= n=0
    [ "$status" = 0 ] || problem="status $status"
    for figure in $(figures "$page"); do
        n=$((n + 1))
        cat "$folder/out" "$folder/err" | grep -qwF -e "$figure" || problem="$problem $figure"
    done
    [ "$n" -ge 10 ] || problem="$problem; only $n figures were found"
    verdict "figures of $page are what its commands print" "$problem" "$(cat "$folder/out"; grep dev: "$folder/err")"
done
finish
