#!/bin/sh
# test_commands.sh -- every command of the pages runs, in its order, in a folder of its own, with heed installed.
#
# Blocks ```sh are commands; a block ```LANGUAGE FILE is written to FILE. Numbers of updates and of lines are made smaller,
# everything else is as it stands.
. tests/transcript.sh
. tests/train/corpus.sh

if [ "$BUILD" != build ] || ! command -v pkg-config >/dev/null; then
    echo "skipped: for the plain build, where pkg-config is"
    exit 0
fi
prefix=$here/prefix
expect 'make install works' 0 '*' '*' make install DESTDIR= PREFIX="$prefix"
PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH

# unfold PAGE: its files and its commands.sh into the folder we are in
unfold() {
    awk '
        function smaller(line, before, by,   n) {
            if (!match(line, before "[0-9]+")) return line
            n = int(substr(line, RSTART + length(before), RLENGTH - length(before)) / by)
            return substr(line, 1, RSTART - 1) before (n < 1 ? 1 : n) substr(line, RSTART + RLENGTH)
        }
        /^```/ { file = in_block || NF == 0 ? "" : $0 == "```sh" ? "commands.sh" : NF == 2 ? $2 : ""; in_block = !in_block; next }
        file == "commands.sh" { $0 = smaller(smaller(smaller($0, "--updates ", 100), "--valid-every ", 100), "lines=", 40) }
        file != "" { print > file }' "$1"
}

n=0
for page in README.md docs/tutorial.md docs/course.md docs/howto/*.md; do
    folder=$here/$(echo "$page" | tr / _)
    mkdir "$folder"
    (cd "$folder" && unfold "$OLDPWD/$page")
    [ -f "$folder/commands.sh" ] || continue
    n=$((n + 1))
    (cd "$folder" && corpus 1 300 train.en train.fr && corpus 2 10 test.en test.fr) # two texts of one's own
    (cd "$folder" && sh -ex commands.sh >out 2>err </dev/null)
    status=$?
    problem=
    [ "$status" = 0 ] || problem="status $status"
    verdict "the commands of $page run" "$problem" "$(tail -n 5 "$folder/err")"
done
[ "$n" -ge 8 ] || verdict 'the pages have commands' "only $n have" ''
finish
