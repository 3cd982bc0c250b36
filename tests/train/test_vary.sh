#!/bin/sh
# test_vary.sh -- text that is varied while it is read, pairs of several languages, lines that are excluded: what users see, and that a
# model's file stays the same for any number of threads and ranks, and after a kill.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
cd "$here" || exit 1

# The made-up language as people write: a capital, a full stop, now and then a name or a number.
natural() { # SEED N STEM
    corpus "$1" "$2" "$3.en.plain" "$3.fr.plain"
    for side in en fr; do
        awk -v side=$side 'BEGIN { split("Anna Paul Zoe Karim", name, " "); with["en"] = "with"; with["fr"] = "kun" }
            { s = toupper(substr($0, 1, 1)) substr($0, 2)
              if (NR % 3 == 0) s = s " " with[side] " " name[NR % 4 + 1]
              if (NR % 5 == 0) s = s " at " NR ":30"
              print s (NR % 7 ? "." : "?") }' "$3.$side.plain" >"$3.$side"
    done
    paste "$3.en" "$3.fr" >"$3.tsv"
}
natural 21 400 t
natural 22 30 d
text='--tsv t.tsv --dev-tsv d.tsv'
small='--dim 16 --ffn 16 --heads 2 --layers 1 --patience 0 --warmup 3 --valid-metric ce --vocab-size 700 --batch-tokens 300 --updates 14 --valid-every 7'
varied='--vary-punctuation 0.3 --vary-case 0.3 --vary-quotes 0.3 --join 0.3 --copy 0.3 --placeholders 0.2'
none='--vary-punctuation 0 --vary-case 0 --vary-quotes 0 --join 0 --copy 0 --placeholders 0'

learn() { # NAME OPTIONS...
    out=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 "$heed" train $text $small -q --out "$out.safetensors" "$@" >"$out.out" 2>&1
}
same() { # SENTENCE A B
    problem=
    cmp -s "$2.safetensors" "$3.safetensors" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2.safetensors" "$3.safetensors" 2>&1; cat "$3.out" 2>/dev/null)"
}
differ() { # SENTENCE A B
    problem=
    if [ ! -e "$2.safetensors" ] || cmp -s "$2.safetensors" "$3.safetensors"; then problem="$2 and $3 are the same"; fi
    verdict "$1" "$problem" "$(cat "$2.out" "$3.out" 2>/dev/null)"
}

# ---- the same bits ----------------------------------------------------------------------------------------
# shellcheck disable=SC2086
{
    learn one $varied -j 1
    learn two $varied -j 2
    learn parts $varied --updates 5 -j 2
    learn parts $varied --updates 14 -j 1
    learn plain -j 2
    learn zero $none -j 2
}
same 'variation is the same for two threads' one two
same 'and for a run in two parts' one parts
differ 'it does change what is learned' one plain
same 'few pairs are not varied by themselves' plain zero
# shellcheck disable=SC2086
{
    long="$varied --updates 80 --save-every 5"
    learn whole $long
    for seconds in 0.2 0.6; do
        "$heed" train $text $small $long -q --out killed.safetensors 2>killed.err & pid=$!
        while kill -0 $pid 2>/dev/null && [ ! -e killed.state.safetensors ]; do sleep 0.02; done
        sleep $seconds
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    learn killed $long
}
same 'and after kill -9' whole killed
if command -v mpirun >/dev/null && [ -e "$(dirname "$heed")/heed_mpi.so" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
    # shellcheck disable=SC2086
    timeout 100 mpirun -n 2 "$heed" train $text $small $varied -q -j 1 --out ranks.safetensors >ranks.out 2>&1
    same 'and for two ranks' one ranks
fi

# ---- what is chosen and told ------------------------------------------------------------------------------
train() { # SENTENCE STATUS STDERR OPTIONS...
    name=$1 status=$2 words=$3
    shift 3
    # shellcheck disable=SC2086
    expect "$name" "$status" '' "$words" "$heed" train $small --updates 1 --fresh "$@"
}
natural 23 12000 big
train 'natural text is varied by itself, and the reasons are told' 0 \
    '*variation: punctuation 0.15 (100 % of pairs end in it), case 0.15 (100 % of sentences begin with a capital), join 0.1 (100 % of pairs are sentences), copy 0.1 (* % of pairs share a name or number), placeholders 0.05*' \
    --tsv big.tsv --dev-tsv d.tsv --out big.safetensors
paste big.en.plain big.fr.plain >lower.tsv
train 'lower-cased text is not' 0 '*variation: none, since the text is lower-cased*' --tsv lower.tsv --dev-tsv d.tsv --out lower.safetensors
sed 's/\([.?]\)\(	\|$\)/ \1\2/g' big.tsv >tokenised.tsv
train 'tokenised text is not' 0 '*variation: none, since the text is tokenised*' --tsv tokenised.tsv --dev-tsv d.tsv --out tokenised.safetensors
train 'words are not' 0 '*variation: none, since words and characters are left as they are*' --tsv big.tsv --dev-tsv d.tsv --tokens words --out words.safetensors
train 'few pairs are not' 0 '*variation: none, since there are few pairs*' --tsv t.tsv --dev-tsv d.tsv --out few.safetensors
train 'placeholders want subwords' 2 '*the vocabulary has no symbol ⟨1⟩, so there can be no placeholders; learn subwords from the text, or leave --placeholders out*' \
    --tsv t.tsv --dev-tsv d.tsv --tokens words --placeholders 0.1 --out none.safetensors
train 'a rate is at most 1' 2 '*join must be a number from 0 to 1*' --tsv t.tsv --dev-tsv d.tsv --join 2 --out none.safetensors
expect 'the recipe tells the rates' 0 '*vary-case = 0.3*' '' "$heed" info --recipe one.safetensors

# ---- lines that are excluded ------------------------------------------------------------------------------
{ sed -n 3p t.en | tr '[:lower:]' '[:upper:]'; sed -n 9p t.fr | sed 's/[.?]$//'; echo 'not there'; } >test.txt
wanted=$(awk -v a="$(sed -n 3p t.en)" -v b="$(sed -n 9p t.fr)" -F'\t' '{ x = $1; y = $2; sub(/[.?]$/, "", x); sub(/[.?]$/, "", a); sub(/[.?]$/, "", y); sub(/[.?]$/, "", b) }
    x == a || y == b { n++ } END { print n }' t.tsv)
train 'excluded lines are left out by either side, whatever their case and full stop' 0 \
    "*reading the text: $wanted of 400 pairs are left out, since a side of them is in the excluded files*" --tsv t.tsv --dev-tsv d.tsv --exclude test.txt --out ex.safetensors
train 'all excluded is a mistake' 1 '*t.tsv: no pair is left of 400: 400 have a side that is to be excluded; are these the right files?*' \
    --tsv t.tsv --dev-tsv d.tsv --exclude t.en --out none.safetensors
train 'a file that is not there' 1 '*nowhere.txt*' --tsv t.tsv --dev-tsv d.tsv --exclude nowhere.txt --out none.safetensors

# ---- several languages ------------------------------------------------------------------------------------
awk 'BEGIN { srand(5); split("a b c d e f g h", w, " ")
    for (i = 0; i < 4000; i++) {
        n = 2 + int(rand() * 4); s = t = ""
        for (k = 0; k < n; k++) { x = w[1 + int(rand() * 8)]; s = s (k ? " " : "") x; t = x (k ? " " : "") t }
        print s "\t" t >(i < 100 ? "dev-rev.tsv" : "rev.tsv"); print s "\t" s >(i < 100 ? "dev-copy.tsv" : "copy.tsv")
    } }' </dev/null
pairs='--pair x-rev=rev.tsv x-copy=copy.tsv --dev-pair x-rev=dev-rev.tsv x-copy=dev-copy.tsv'
toy='--tokens words --arch bahdanau --dim 48 --rate 0.003 --warmup 50 --updates 400 --valid-every 200 --valid-metric exact'
# shellcheck disable=SC2086
expect 'two directions are learned in one model' 0 '' \
    '*languages: x-rev 3900, x-copy 3900 pairs; sampled at temperature 1*exact 100.0 %*' "$heed" train $pairs $toy --out two-ways.safetensors
expect 'the model lists them' 0 '*directions *"x-rev", "x-copy"*' '' "$heed" info two-ways.safetensors
for way in rev copy; do
    cut -f1 dev-$way.tsv >in.txt
    cut -f2 dev-$way.tsv >ref.txt
    "$heed" translate -m two-ways.safetensors -b 1 --to $way in.txt >out.txt 2>err.txt
    right=$(paste out.txt ref.txt | awk -F'\t' '$1 == $2 { n++ } END { print n + 0 }')
    problem=
    [ "$right" -ge 90 ] || problem="$right of 100 are right"
    verdict "--to $way asks for $way" "$problem" "$(head -3 out.txt err.txt)"
    "$heed" score -q -m two-ways.safetensors --to $way in.txt ref.txt >score.txt
    problem=$(awk '$1 > -0.7 { n++ } END { if (n < 90) print n + 0, "of 100 are likely" }' score.txt)
    verdict "scores are of the language, too" "$problem" "$(head -3 score.txt)"
    expect "so is eval" 0 'exact = [91]*' '' "$heed" eval -m two-ways.safetensors --to $way --metrics exact in.txt ref.txt
done
echo 'a b c' >abc.txt
expect 'without it the first one is meant, and JSON says so' 0 '*"text": "c b a"*"subwords": {"source": \["<2rev>", "a", *"from": "x", "to": "rev"}' '' \
    "$heed" translate -m two-ways.safetensors --json abc.txt
expect 'the symbol is nowhere in the text' 0 '*"source_words": \[{"text": "a", "start": 0, "end": 1}*"links": \[\[0, 0\], \[1, 1\], \[2, 2\]\]*' '' \
    "$heed" translate -m two-ways.safetensors --json --to copy abc.txt
expect 'links are given for a language' 0 '0-0 1-1 2-2' '' "$heed" align -m two-ways.safetensors --to copy abc.txt abc.txt
expect 'letters of a name do not matter' 0 'a b c' '' "$heed" translate -m two-ways.safetensors --from X --to Copy abc.txt
expect 'a language that it does not know' 1 '' "heed: the model does not translate to 'de'; it has x-rev,x-copy" \
    "$heed" translate -m two-ways.safetensors --to de abc.txt
expect 'nor from' 1 '' "heed: the model does not translate from 'rev'; it has x-rev,x-copy" \
    "$heed" translate -m two-ways.safetensors --from rev abc.txt

few='--tokens words --arch luong --dim 8 --updates 2 --valid-every 2 --valid-metric ce -q -j 1'
# shellcheck disable=SC2086
{
    "$heed" train --pair en-fr=t.tsv fr-en=t.tsv --dev-pair en-fr=d.tsv fr-en=d.tsv $few --out turned.safetensors 2>turned.out
    awk -F'\t' '{ print $2 "\t" $1 }' t.tsv >back.tsv
    awk -F'\t' '{ print $2 "\t" $1 }' d.tsv >dev-back.tsv
    "$heed" train --pair en-fr=t.tsv fr-en=back.tsv --dev-pair en-fr=d.tsv fr-en=dev-back.tsv $few --out apart.safetensors 2>apart.out
    { printf 'fr\ten\n'; cat back.tsv; } >header.tsv
    "$heed" train --pair en-fr=header.tsv fr-en=header.tsv --dev-pair en-fr=d.tsv fr-en=d.tsv $few --out header.safetensors 2>header.out
    { printf 'to\tsource\tfrom\ttarget\n'; awk '{ print "fr\t" $0 }' t.tsv | awk -F'\t' '{ print $1 "\t" $2 "\ten\t" $3 }'
      awk -F'\t' '{ print "en\t" $2 "\tfr\t" $1 }' t.tsv; } >four.tsv
    "$heed" train --tsv four.tsv --dev-pair en-fr=d.tsv fr-en=d.tsv $few --out four.safetensors 2>four.out
    "$heed" train --pair en-fr=t.tsv fr-en=t.tsv --dev-pair en-fr=d.tsv fr-en=d.tsv $few --pair-temperature 5 -j 2 --out hot.safetensors 2>hot.out
}
same 'a file that is named twice is turned round' turned apart
same 'a header says which column is which' turned header
same 'four columns say it for every line' turned four
expect 'a model that translates from two languages tells them apart' 0 'languages *en-fr, fr-en; tells the language of a text*' '' \
    sh -c "'$heed' info turned.safetensors | sed -n '/^languages/p'"
expect 'it goes from the language of the text' 0 '*"from": "fr", "to": "en"}' '' \
    sh -c "echo 'merci beaucoup' | '$heed' translate -q -m turned.safetensors --json"
expect 'each line from its own' 0 'en fr
fr en' '' sh -c "printf 'Hello\nBonjour\n' | '$heed' translate -q -m turned.safetensors --json |
    sed 's/.*\"from\": \"\(..\)\", \"to\": \"\(..\)\"}/\1 \2/'"
expect 'which can be told instead' 0 '*"from": "en", "to": "fr"}' '' \
    sh -c "echo 'Bonjour' | '$heed' translate -q -m turned.safetensors --json --from en"
expect 'a text of the language that is wanted stays as it is' 0 'Thank you very much, hello and good morning' 'heed: standard input:1: the text seems to be of the language en already*' \
    sh -c "echo 'Thank you very much, hello and good morning' | '$heed' translate -m turned.safetensors --to en"
expect 'the detector is part of the file, however it is stored' 0 '' '' sh -c "
    '$heed' convert turned.safetensors --store f16 -o f16.safetensors && '$heed' info f16.safetensors | grep -q 'tells the language'"
expect 'another one can be learned' 0 '' '' \
    sh -c "'$heed' convert turned.safetensors --detect en=t.en fr=t.fr -o told.safetensors && '$heed' info told.safetensors | grep -q 'tells the language'"
expect 'from text of every language' 1 '' 'heed: the model translates from fr, and there is no text of it to know it by' \
    "$heed" convert turned.safetensors --detect en=t.en de=t.fr -o none.safetensors
expect 'which is named' 1 '' "heed: --detect takes a language and a file, en=FILE, not 't.en'" \
    "$heed" convert turned.safetensors --detect t.en -o none.safetensors
expect 'from one that is not there nothing is translated' 1 '' 'heed: the model does not translate from en to en*' \
    "$heed" translate -m turned.safetensors --from en --to en abc.txt

# shellcheck disable=SC2086
{
    train 'without dev text there is none for several languages' 2 '*with several languages validation text must be named, with --dev-pair or --dev-tsv*' \
        --pair en-fr=t.tsv fr-en=t.tsv --out none.safetensors
    train 'dev text of several languages names them' 2 '*the text is of several languages, and those of the dev text are not named; name them with --dev-pair en-fr=FILE.tsv*' \
        --pair en-fr=t.tsv fr-en=t.tsv --dev-tsv d.tsv --out none.safetensors
    train 'a language that is not there' 2 '*dev text of en-de cannot be validated on: no text becomes de*' \
        --pair en-fr=t.tsv fr-en=t.tsv --dev-pair en-de=d.tsv --out none.safetensors
    train 'a pair has a file' 2 "*a pair is two languages and a file, en-fr=FILE.tsv, not 't.tsv'*" --pair t.tsv --out none.safetensors
    train 'a pair has two languages' 2 "*'english' are not the languages of t.tsv; write them as en-fr*" --pair english=t.tsv --out none.safetensors
    train 'a file has two languages' 2 '*t.tsv is named as en-fr and as en-de, but has two columns; only one of the two can be right*' \
        --pair en-fr=t.tsv en-de=t.tsv --out none.safetensors
    train 'a file is named once for a direction' 2 '*t.tsv is named twice as en-fr; once is enough*' --pair en-fr=t.tsv en-fr=t.tsv --out none.safetensors
    train 'pairs are one way to name text' 2 '*pair is given and tsv, src or tgt as well; choose one way*' --pair en-fr=t.tsv --tsv t.tsv --out none.safetensors
    printf 'source\ttarget\tfrom\tto\nA.\tB.\ten\n' >bad.tsv
    train 'four columns are four in every line' 1 '*bad.tsv:2: this line does not have the columns that the first line names*' --tsv bad.tsv --out none.safetensors
    printf 'source\ttarget\tfrom\tto\nA.\tB.\ten\ten\n' >bad.tsv
    train 'languages have names' 1 '*bad.tsv:2: from and to must be two languages by names such as en or pt_BR*' --tsv bad.tsv --out none.safetensors
    expect 'more text for a model of several languages names its own' 2 '' '*those of the text are not named; name them with --pair en-fr=FILE.tsv*' \
        "$heed" train --from two-ways.safetensors --tsv t.tsv --dev-tsv d.tsv --updates 1 --out none.safetensors
    train 'one direction is a model as ever' 0 '*vocabulary: * subwords learned*' --pair en-fr=t.tsv --out single.safetensors
    expect 'which says its languages' 0 '*languages *"en", "fr"*' '' "$heed" info single.safetensors
}
finish
