#!/bin/sh
# unsure.sh -- what the warning "unsure" is worth: its precision and recall for translations below 30 chrF, of the test sentences of Tatoeba and
# of captions (Multi30k), which are outside of what the model inside was trained on.
#
#   bench/unsure.sh [SHARED [MODEL]]     default: ../shared and the model inside; HEED names the program (build/heed)
#
# `bench/unsure.sh --fit SHARED MODEL` prints the constants that fit the dev sentences of the same texts, for heed convert --confidence.
set -eu
cd "$(dirname "$0")/.."
mode=--report tatoeba=test multi30k=test2016.raw
if [ "${1:-}" = --fit ]; then
    mode='' tatoeba=dev multi30k=val.raw
    shift
fi
data=${1:-../shared}/data heed=${HEED:-build/heed}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
if [ $# -gt 1 ]; then set -- -m "$2"; else set --; fi
has=$("$heed" info --json ${2:+"$2"})
files=
for to in fr de; do
    case $has in *\""en-$to"\"*) ;; *) continue ;; esac
    for text in "tatoeba/$tatoeba.en-$to" "multi30k/$multi30k"; do
        name=$(echo "$text" | sed 's/\/.*//').en-$to
        "$heed" translate -q --json --from en --to $to "$@" "$data/$text.en" >"$here/$name"
        files="$files $here/$name $data/$text.$to"
    done
done
# shellcheck disable=SC2086
python3 tools/fit_confidence.py $mode $files | sed "s|$here/||"
