#!/bin/sh
# test_study.sh -- the study's driver, with models that learned for ten updates: it measures, keeps, reports and draws.
. tests/transcript.sh

if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not here'
    exit 0
fi
study() {
    python3 study/study.py --build "$BUILD" --folder "$here/study" --shared "$here/nowhere" "$@"
}
page=$here/study/smoke/study.md

# is_in PATTERN FILE NAME
is_in() {
    problem=
    grep -q -e "$1" "$2" || problem="there is no $1"
    verdict "$3" "$problem" "$(tail -n 5 "$2")"
}

expect 'a step measures and writes its part of the page' 0 '' '*order-none-1: 10 updates*order: in *' study --smoke order
is_in '^| Transformer, `--positions none` | .* | .* |$' "$page" 'a table stands between the marks'
is_in '^| Transformer: core-seconds |' "$page" 'other parts of the page stay as they are'
expect 'what was measured is not measured again' 0 '' '[0-9:]* step order
[0-9:]* order: in *' study --smoke order
expect 'a step that was never measured is not reported' 0 '' '*cost: left as it is on the page: no result cost' study --smoke --report cost
expect 'without its text, which is told at the start, a step is left out' 1 '' '*/data/multi30k: is not there; it is task 1 of github.com/multi30k/dataset*/data/tatoeba: is not there; *length: left as it is on the page: */data/multi30k/*SHARED=folder*' study --smoke length
expect 'a step that there is not is named' 2 '' '*there is no step legnth; there are bottleneck, length,*' study legnth

if [ -f "$BUILD/heed_draw.so" ]; then
    chart() {
        printf '%b' "$1" >"$here/table.tsv"
        "$BUILD/chart" "$here/table.tsv" "$here/picture.svg"
    }
    expect 'lines in panels are drawn' 0 '' '' chart 'title\tT\nx\tX\npanel\tY\t0\t5\nline\tA\nat\t1\t3\t2\t4\nat\t2\t5\t4\t6\n'
    is_in 'class="line"' "$here/picture.svg" 'the picture has the line'
    expect 'bars are drawn' 0 '' '' chart 'bars\tY\ngroup\tone\t10\ngroup\ttwo\t5\nseries\tA\nis\t3\nis\t4\n'
    is_in 'n = 10' "$here/picture.svg" 'the picture has the counts'
    expect 'a number that is none is refused with its line' 1 '' "chart: */table.tsv:3: 'three' is not a number" chart 'panel\tY\nline\tA\nat\tthree\t3\n'
    expect 'a point without a line is refused' 1 '' '*:2: a point belongs to a line' chart 'panel\tY\nat\t1\t3\n'
    expect 'a series with too few values is refused' 1 '' '*the last series has no value for every group' \
        chart 'bars\tY\ngroup\tone\ngroup\ttwo\nseries\tA\nis\t3\n'
    expect 'an unknown kind of line is refused' 1 '' "*:1: there is no kind of line 'pie'" chart 'pie\tY\n'
fi
finish
