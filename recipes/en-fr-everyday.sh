#!/bin/sh
# en-fr-everyday.sh -- the model inside heed, second stage: what recipes/tatoeba-en-fr.conf made goes on with text that people type.
#
#   recipes/en-fr-everyday.sh SHARED FIRST FOLDER [OPTION...]
#
# SHARED/data has tatoeba and libreoffice, FIRST is the model of the first stage; text and model go to FOLDER. Learned are the train split of
# Tatoeba, LibreOffice's strings but for the last 2,000 lines, and recipes/phrasebook.tsv 25 times, all of it varied; no pair is learned that
# has a side in a dev or test set, of French or of German. HEED names the program (build/heed).
set -eu
if [ $# -lt 3 ]; then
    echo 'usage: recipes/en-fr-everyday.sh SHARED FIRST FOLDER [OPTION...]' >&2
    exit 2
fi
data=$1/data first=$2 folder=$3
shift 3
here=$(dirname "$0")
heed=${HEED:-build/heed}
mkdir -p "$folder"

for pair in en-fr en-de; do
    from=${pair%-*} to=${pair#*-}
    for split in train dev test; do
        paste "$data/tatoeba/$split.$pair.$from" "$data/tatoeba/$split.$pair.$to" >"$folder/tatoeba.$split.$pair.tsv"
    done
    head -n -2000 "$data/libreoffice/$pair.tsv" >"$folder/libreoffice.train.$pair.tsv"
    tail -n 2000 "$data/libreoffice/$pair.tsv" | head -n 1000 >"$folder/libreoffice.dev.$pair.tsv"
    tail -n 1000 "$data/libreoffice/$pair.tsv" >"$folder/libreoffice.test.$pair.tsv"
done
{ head -n 300 "$folder/tatoeba.dev.en-fr.tsv"; head -n 150 "$folder/libreoffice.dev.en-fr.tsv"; } >"$folder/dev.tsv"
cat "$folder/tatoeba.train.en-fr.tsv" "$folder/libreoffice.train.en-fr.tsv" >"$folder/train.tsv"
n=0
while [ $n -lt 25 ]; do
    cut -f 1,2 "$here/phrasebook.tsv" >>"$folder/train.tsv"
    n=$((n + 1))
done
"$heed" train --from "$first" --tsv "$folder/train.tsv" --dev-tsv "$folder/dev.tsv" \
    --exclude "$folder"/*.dev.*.tsv "$folder"/*.test.*.tsv --languages en-fr \
    --licence 'CC-BY 2.0 (Tatoeba), MPL-2.0 (LibreOffice)' \
    --attribution 'sentences of tatoeba.org contributors, via www.manythings.org/anki; LibreOffice contributors, MPL-2.0' \
    --precision bf16 --rate 0.0015 --warmup 200 --schedule cosine --updates 2500 --batch-tokens 3000 --dropout 0.1 --label-smoothing 0.1 \
    --ema 0.999 --valid-every 500 --patience 0 --vary-punctuation 0.15 --vary-case 0.15 --vary-quotes 0.2 --join 0.1 --copy 0.1 \
    --placeholders 0 --seed 1 --out "$folder/en-fr.safetensors" "$@"
