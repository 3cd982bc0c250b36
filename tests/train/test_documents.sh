#!/bin/sh
# test_documents.sh -- a model that was trained on lines of several sentences is given lines of several sentences.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
cd "$here" || exit 1

# Sentences with a capital and a full stop, one a line and three a line.
corpus 31 180 s.en.plain s.fr.plain
for side in en fr; do
    awk '{ print toupper(substr($0, 1, 1)) substr($0, 2) "." }' "s.$side.plain" >"s.$side"
    paste -d ' ' - - - <"s.$side" >"d.$side"
done
small='--dim 16 --ffn 16 --heads 2 --layers 1 --valid-metric ce --vocab-size 300 --updates 2 -q'
for kind in s d; do
    # shellcheck disable=SC2086
    "$heed" train --src $kind.en --tgt $kind.fr --dev-src $kind.en --dev-tgt $kind.fr $small --out $kind.safetensors >log 2>&1 || cat log
done
head -n 1 d.en >text
count() { "$heed" translate -q -b 1 --json "$@" text | grep -o '"source": \[[0-9]' | wc -l; }
expect 'sentences make a model of sentences' 0 '' '' sh -c "'$heed' info --json s.safetensors | grep -o '\"documents\": *true'; true"
expect 'documents make one of documents' 0 '"documents"*true' '' sh -c "'$heed' info --json d.safetensors | grep -o '\"documents\": *true'"
expect 'the one gets three sentences' 0 '3' '' count -m s.safetensors
expect 'the other gets one text' 0 '1' '' count -m d.safetensors
expect 'as does the one if so wanted' 0 '1' '' count -m s.safetensors --split never
finish
