#!/bin/sh
# default-model.sh -- train a model for all that the program speaks: English to French and German and back, in one model.
#
#   recipes/default-model.sh SHARED FOLDER [OPTION...]
#
# SHARED/data has tatoeba and libreoffice; text and model go to FOLDER. Options are those of `heed train`, such as --updates 300. The same
# command goes on where it was interrupted. HEED names the program (build/heed).
#
# Of Tatoeba the train split is learned; of LibreOffice all lines but the last 2,000, which are dev and test; phrasebook.tsv
# PHRASES times (50), and half as often with the first letter of the other size, what has up to three words: people type `yes`, `Yes` and `Seven`.
# Entries of up to four words come SHORT times more (0), with either letter. EVERY=4 takes each fourth pair of the other texts: for a short last stage,
# in which phrases are learned by heart.
# Three times comes each other single word that `heed align --method hmm` finds a translation of in this text, since sentences alone
# teach no model what to say to a single word. No pair is learned that has a side in any dev or test set, of either language pair.
#
# With `--from MODEL` what is learned is added to what a model knows already: that is how the model inside goes on being trained.
#
# A model that was begun by a heed without a detector of languages gets one at the end.
set -eu
if [ $# -lt 2 ]; then
    echo 'usage: recipes/default-model.sh SHARED FOLDER [OPTION...]' >&2
    exit 2
fi
data=$1/data folder=$2
shift 2
here=$(dirname "$0")
heed=${HEED:-build/heed}
mkdir -p "$folder"

swap() { # swap FILE: its columns
    awk -F '\t' '{ print $2 "\t" $1 }' "$1"
}
# other_first_letter FILE: of each short pair whose source begins with a small letter the one that begins with capitals, and the other way round
other_first_letter() {
    python3 - "$1" <<'EOF'
import sys
for line in open(sys.argv[1], encoding="utf-8"):
    source, target = line.rstrip("\n").split("\t")
    if len(source.split()) <= 3 and not source[1:2].isupper():
        change = str.upper if source[0].islower() else str.lower
        changed = [change(text[0]) + text[1:] for text in (source, target)]
        if changed[0] != source:
            print("\t".join(changed))
EOF
}

for pair in en-fr en-de; do
    from=${pair%-*} to=${pair#*-}
    tatoeba=$data/tatoeba libreoffice=$data/libreoffice/$pair.tsv
    for split in train dev test; do
        paste "$tatoeba/$split.$pair.$from" "$tatoeba/$split.$pair.$to" >"$folder/tatoeba.$split.$pair.tsv"
    done
    head -n -2000 "$libreoffice" >"$folder/libreoffice.train.$pair.tsv"
    tail -n 2000 "$libreoffice" | head -n 1000 >"$folder/libreoffice.dev.$pair.tsv"
    tail -n 1000 "$libreoffice" >"$folder/libreoffice.test.$pair.tsv"
    cat "$folder/tatoeba.train.$pair.tsv" "$folder/libreoffice.train.$pair.tsv" >"$folder/train.$pair.tsv"
    cut -f 1 "$folder/train.$pair.tsv" >"$folder/words.$from"
    cut -f 2 "$folder/train.$pair.tsv" >"$folder/words.$to"
    "$heed" align --method hmm --lexicon "$folder/words.$pair.lexicon" "$folder/words.$from" "$folder/words.$to"
    awk -F '\t' 'FNR == NR { is_known[tolower($1)] = 1; next }
        $3 >= 3 && $4 >= 0.35 && $5 >= 0.2 && !(tolower($1) in is_known) { for (i = 0; i < 3; i++) print $1 "\t" $2 }' \
        "$here/phrasebook.tsv" "$folder/words.$pair.lexicon" >>"$folder/train.$pair.tsv"
    [ "$to" = fr ] && column=2 || column=3
    cut -f "1,$column" "$here/phrasebook.tsv" >"$folder/phrases.$pair.tsv"
    swap "$folder/train.$pair.tsv" >"$folder/train.$to-$from.tsv"
    swap "$folder/phrases.$pair.tsv" >"$folder/phrases.$to-$from.tsv"
    for direction in "$pair" "$to-$from"; do
        awk -v every="${EVERY:-1}" 'NR % every == 0' "$folder/train.$direction.tsv" >"$folder/some.$direction.tsv"
        mv "$folder/some.$direction.tsv" "$folder/train.$direction.tsv"
        other_first_letter "$folder/phrases.$direction.tsv" >"$folder/letters.$direction.tsv"
        n=0
        while [ $n -lt "${PHRASES:-50}" ]; do
            cat "$folder/phrases.$direction.tsv"
            [ $((n % 2)) = 0 ] || cat "$folder/letters.$direction.tsv"
            n=$((n + 1))
        done >>"$folder/train.$direction.tsv"
        n=0
        while [ $n -lt "${SHORT:-0}" ]; do
            awk -F '\t' 'split($1, words, " ") <= 4' "$folder/phrases.$direction.tsv"
            cat "$folder/letters.$direction.tsv"
            n=$((n + 1))
        done >>"$folder/train.$direction.tsv"
    done
    { head -n 300 "$folder/tatoeba.dev.$pair.tsv"; head -n 150 "$folder/libreoffice.dev.$pair.tsv"; } >"$folder/dev.$pair.tsv"
done
"$heed" train \
    --pair en-fr="$folder/train.en-fr.tsv" fr-en="$folder/train.fr-en.tsv" en-de="$folder/train.en-de.tsv" de-en="$folder/train.de-en.tsv" \
    --dev-pair en-fr="$folder/dev.en-fr.tsv" fr-en="$folder/dev.en-fr.tsv" en-de="$folder/dev.en-de.tsv" de-en="$folder/dev.en-de.tsv" \
    --exclude "$folder"/*.dev.*.tsv "$folder"/*.test.*.tsv \
    --config "$here/default.conf" --out "$folder/default.safetensors" "$@"
if ! "$heed" info "$folder/default.safetensors" | grep -q 'tells the language'; then
    for pair in en-fr en-de; do
        cut -f 1 "$folder/train.$pair.tsv" >"$folder/train.$pair.${pair%-*}"
        cut -f 2 "$folder/train.$pair.tsv" >"$folder/train.$pair.${pair#*-}"
    done
    "$heed" convert "$folder/default.safetensors" --store f16 -o "$folder/detecting.safetensors" \
        --detect en="$folder/train.en-fr.en" en="$folder/train.en-de.en" fr="$folder/train.en-fr.fr" de="$folder/train.en-de.de"
    mv "$folder/detecting.safetensors" "$folder/default.safetensors"
fi
