#!/bin/sh
# Every row of docs/models.md is a model that trains: its options, and each of the values it offers, behind the command given there.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac

awk 'BEGIN { for (i = 0; i < 240; i++) print "a b " i % 7 "\t" i % 7 " b a" }' >"$here/pairs.tsv"

# The first column of each row: `--tie output`, `source-target`, `all` is three rows.
awk -F'|' '/^## The Transformer/ { is_transformer = 1 }
/^## Searching/ { exit }
/^## / { is_of_text = !/Other outputs|Vectors/ } # those want other text: test_tasks.sh, test_vectors.sh
/^\| `--/ && is_of_text {
    n = split($2, part, "`")
    for (i = 2; i <= n; i += 2) {
        if (part[i] !~ /^--/) { first = whole; sub(/[^ ]+$/, part[i], first); whole = first } else whole = part[i]
        options = whole
        gsub(/max-source N/, "max-source 20", options); gsub(/ N/, " 2", options); gsub(/ X/, " 0.1", options); gsub(/ D/, " 3", options); gsub(/ LIST/, " 0", options); gsub(/ L( |$)/, " 1 ", options)
        if (options !~ /--arch/) options = (is_transformer ? "--arch transformer " : "--arch bahdanau ") options
        print options
    }
}' docs/models.md >"$here/rows"

n=0
while read -r options; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    "$heed" train --tsv "$here/pairs.tsv" --out "$here/m$n.safetensors" --vocab-size 40 --dim 8 $options --updates 2 -q -j 1 \
        --valid-metric ce >"$here/out" 2>&1
    verdict "heed train $options" "$(sed -n 1p "$here/out")" ""
done <"$here/rows"
[ "$n" -gt 45 ] || verdict "the table has its rows" "only $n were found" "$(cat "$here/rows")"
finish
