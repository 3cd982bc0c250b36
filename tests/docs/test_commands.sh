#!/bin/sh
# test_commands.sh -- every command of the pages runs, in its order, in a folder of its own, with heed installed.
#
# Numbers of updates and of lines are made smaller, everything else is as it stands.
. tests/transcript.sh
. tests/docs/unfold.sh
. tests/train/corpus.sh

if [ "$BUILD" != build ] || ! command -v pkg-config >/dev/null; then
    echo "skipped: for the plain build, where pkg-config is"
    exit 0
fi
prefix=$here/prefix
expect 'make install works' 0 '*' '*' make install DESTDIR= PREFIX="$prefix"
PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH

n=0
for page in README.md docs/tutorial.md docs/course.md docs/howto/*.md; do
    folder=$here/$(echo "$page" | tr / _)
    mkdir "$folder"
    (cd "$folder" && unfold "$OLDPWD/$page" short)
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
