#!/bin/sh
# test_glossary.sh -- `heed translate --glossary` as a user meets it. The toy model says German numbers backwards in English.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
toy=$PWD/tests/translate/toy.safetensors
cd "$here" || exit 1

printf 'eins zwei drei\nvier drei\n' >in
printf 'zwei\tnine\n' >one
expect 'the term is said in its place, other lines as ever' 0 'three nine one
three four' '' "$heed" translate -m "$toy" --glossary one in
expect 'greedy search has it too' 0 'three nine one
three four' '' "$heed" translate -m "$toy" -b 1 --glossary one in
expect 'threads and batches change nothing' 0 'three nine one
three four' '' "$heed" translate -m "$toy" --glossary one --batch 1 -j 3 in
printf 'zwei drei\tnine six\neins\teight\n' >two
expect 'several terms, and terms of several words' 0 '*eight*nine six*' '' sh -c "'$heed' translate -m '$toy' --glossary two in | head -n 1"
printf 'zwei\tnine\ttwo\n' >either
expect 'any of several translations will do' 0 'three two one
three four' '' "$heed" translate -m "$toy" --glossary either in
printf 'zwei\tKatze\n' >unknown
expect 'what the model cannot spell is told' 0 'three two one*' '*:1: the glossary*translation of*zwei*cannot be spelled by the model' "$heed" translate -m "$toy" --glossary unknown in
printf 'zwei nine\n' >bad
expect 'a line without TAB is refused' 2 '' '*bad:1: there is no TAB in this line*' "$heed" translate -m "$toy" --glossary bad in
printf 'zwei\tnine\nzwei\tsix\n' >bad
expect 'lines that contradict each other are refused' 2 '' '*bad:2:*line 1*' "$heed" translate -m "$toy" --glossary bad in
expect 'a missing file is told' 2 '' '*nothing*' "$heed" translate -m "$toy" --glossary nothing in
expect 'samples have no glossary' 1 '' '*use either glossary or sample*' "$heed" translate -m "$toy" --sample all --glossary one in
finish
