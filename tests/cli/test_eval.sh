#!/bin/sh
# test_eval.sh -- `heed eval` as a user meets it. The numbers are sacreBLEU's.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
version=$("$heed" --version | sed -n 's/^heed \([0-9.]*\).*/\1/p')
toy=$PWD/tests/translate/toy.safetensors
fixed=$PWD/tests/fuzz/corpus/model/fixed
cd "$here" || exit 1

cat >hyp <<'END'
The cat sat on the mat.
There is a cat on the mat, isn't there?
He paid $1,000.50 for 3-4 apples.
SHE WILL COME
END
cat >ref <<'END'
The cat sat on the mat.
There's a cat on the mat, isn't there?
He paid $1,000.50 for three or four apples.
She will come
END

expect 'all scores are printed, with their signatures' 0 \
    "BLEU = 68.10 74.2/70.4/65.2/63.2 (BP = 1.000 ratio = 1.033 hyp_len = 31 ref_len = 30)
chrF2 = 71.51
exact = 25.00 % (1 of 4)
WER = 32.00 % (errors = 8 words = 25)
BLEU signature: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|heed:$version
chrF2 signature: nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|heed:$version" '' \
    "$heed" eval --hyp hyp --ref ref
expect 'what is asked for is printed' 0 "chrF2++ = *
chrF2++ signature: nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|heed:$version" '' \
    "$heed" eval --hyp hyp --ref ref --metrics chrf++
expect 'case can be left out of it' 0 'exact = 50.00 % (2 of 4)
WER = 20.00 % (errors = 5 words = 25)' '' \
    "$heed" eval --hyp hyp --ref ref --metrics exact,wer --lowercase
for tok in none char intl zh; do
    expect "--tok $tok is obeyed" 0 "BLEU = *
BLEU signature: nrefs:1|case:lc|eff:no|tok:$tok|smooth:exp|heed:$version" '' \
        "$heed" eval --hyp hyp --ref ref --metrics bleu --tok $tok --lowercase
done
expect 'eval speaks JSON' 0 \
    '{"sentences": 4, "bleu": {"score": 68.098377*, "precisions": ?74.193548*, 70.370370*, 65.217391*, 63.157894*?, "brevity_penalty": 1, "ratio": 1.033333*, "hyp_len": 31, "ref_len": 30, "signature": "nrefs:1|*"}, "chrf": {"score": 71.506435*, "signature": "nrefs:1|*"}, "exact": {"score": 25, "exact": 1}, "wer": {"score": 32, "errors": 8, "words": 25}}' '' \
    "$heed" eval --hyp hyp --ref ref --json
if command -v python3 >/dev/null; then
    expect 'and it is JSON' 0 '5' '' sh -c "'$heed' eval --hyp hyp --ref ref --json --metrics bleu,chrf,chrf++,exact,wer |
        python3 -c 'import json, sys; print(len(json.load(sys.stdin)) - 1)'"
fi
expect 'a text is its own best' 0 'BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000*chrF2 = 100.00*exact = 100.00 %*WER = 0.00 %*' '' \
    "$heed" eval --hyp ref --ref ref
expect 'standard input is -' 0 'BLEU = 68.10*' '' sh -c "'$heed' eval --hyp - --ref ref <hyp"
expect 'on either side' 0 'BLEU = 68.10*' '' sh -c "'$heed' eval --hyp hyp --ref=- <ref"
expect 'but not on both' 1 '' 'heed: hypotheses and references cannot both come from standard input; *' \
    "$heed" eval --hyp - --ref -
if command -v gzip >/dev/null; then
    gzip -c hyp >hyp.gz
    expect 'compressed files are read' 0 'BLEU = 68.10*' '' "$heed" eval --hyp hyp.gz --ref ref
fi
sed 's/$/\r/' ref >crlf
expect 'line ends of another system do not matter' 0 'BLEU = 68.10*exact = 25.00 %*' '' "$heed" eval --hyp hyp --ref crlf
printf '\n\n' >nothing
printf 'a\nb\n' >something
expect 'empty lines are sentences without words' 0 'BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 2)
chrF2 = 0.00
exact = 0.00 % (0 of 2)
WER = 100.00 % (errors = 2 words = 2)*' '' "$heed" eval --hyp nothing --ref something

head -n 3 hyp >short
head -n 1 hyp >one
printf 'good\nschl\366n\n' >latin1
: >empty
expect 'different numbers of lines are refused' 1 '' \
    'heed: short has 3 lines, but ref has 4; every line must have its reference at the same place' \
    "$heed" eval --hyp short --ref ref
expect 'even one' 1 '' 'heed: one has 1 line, but short has 3; *' "$heed" eval --hyp one --ref short
expect 'bad UTF-8 is found' 1 '' 'heed: latin1:2: not UTF-8 at byte 5 of the line; convert the file first, *iconv*' \
    "$heed" eval --hyp latin1 --ref something
expect 'in standard input too' 1 '' 'heed: standard input:2: not UTF-8 *' \
    sh -c "'$heed' eval --hyp something --ref - <latin1"
expect 'a missing file is named' 1 '' 'heed: nowhere: there is no such file*' "$heed" eval --hyp hyp --ref nowhere
expect 'a folder is no file' 1 '' 'heed: .: this is a folder*' "$heed" eval --hyp . --ref ref
expect 'an empty file is refused' 1 '' 'heed: empty: there is no text in it, not even a line' \
    "$heed" eval --hyp hyp --ref empty
expect 'a closed standard input too' 1 '' 'heed: standard input: *' sh -c "'$heed' eval --hyp - --ref ref <&-"
expect 'both files are wanted' 2 '' 'heed: eval needs --hyp FILE and --ref FILE, or -m MODEL with SRC and REF or --tsv FILE; see heed eval --help' \
    "$heed" eval --hyp hyp
expect 'other words are not' 2 '' 'heed: eval needs --hyp FILE and --ref FILE*' "$heed" eval --hyp hyp --ref ref ref
expect 'a mistyped metric is answered with the right one' 2 '' \
    "heed: metrics must be some of bleu, chrf, chrf++, exact and wer, separated by commas, not 'blue'; did you mean bleu?" \
    "$heed" eval --hyp hyp --ref ref --metrics chrf,blue
expect 'an empty metric is none' 2 '' "heed: metrics must be *, not ''" "$heed" eval --hyp hyp --ref ref --metrics bleu,
expect 'a tokeniser that does not exist is refused' 2 '' 'heed: tok must be 13a, none, char, intl or zh, not *' \
    "$heed" eval --hyp hyp --ref ref --tok 14

# with models: the toy says German numbers backwards in English
printf 'eins zwei drei vier fünf\nneun\nacht sieben sechs fünf\neins Katze\n' >src
printf 'five four three two one\nnine\nfive six seven seven\ncat one\n' >right
expect 'a model is asked and scored' 0 'BLEU = *
chrF2 = *
exact = 50.00 % (2 of 4)
WER = 16.67 % (errors = 2 words = 12)
BLEU signature: *' '' "$heed" eval -m "$toy" src right
expect 'by length if so wanted' 0 'exact = 50.00 % (2 of 4)

words    sentences        exact
1-5              4        50.00' '' "$heed" eval -m "$toy" --metrics exact --by-length src right
expect 'as JSON' 0 '{"model": "*toy.safetensors", "sentences": 4, "exact": {"score": 50, "exact": 2}, "by_length": ?{"words": "1-5", "sentences": 4, "exact": {"score": 50, "exact": 2}}?}' '' \
    "$heed" eval -m "$toy" --metrics exact --by-length --json src right
expect 'several models stand side by side' 0 'exact       score   95 % of samples  difference   95 % of samples       p
(1)         50.00    0.00 to 100.00
(2)          0.00      0.00 to 0.00      -50.00  -100.00 to +0.00   0.0*

WER *
(1)         16.67*
(2)        *

(1) *toy.safetensors
(2) *fixed' '' "$heed" eval -m "$toy,$fixed" --metrics exact,wer src right
expect 'as JSON, one a line' 0 '{"model": "*toy.safetensors", *"comparison": {"exact": {"low": 0, "high": 100, "difference": 0, *"p": 1}}}
{"model": "*fixed", *"difference": -50, *}' '' "$heed" eval -m "$toy,$fixed" --metrics exact --json src right
expect 'an ensemble is one system' 0 'exact = 50.00 % (2 of 4)' '' "$heed" eval -m "$toy,$toy" --ensemble --metrics exact src right
expect 'its models share their vocabulary' 1 '' 'heed: model 2 has another vocabulary than the first; *' \
    "$heed" eval -m "$toy,$fixed" --ensemble src right
expect 'ready text has no models that could be one' 2 '' 'heed: eval needs *' "$heed" eval --hyp hyp --ref ref --ensemble
printf 'neun\tnein\tx\neins zwei\ttwo two\nneun\tnine\neins zwei\ttwo three\n' >rows.tsv
expect 'rows of one source are alternatives' 0 'exact = 50.00 % (1 of 2)
WER = 33.33 % (errors = 1 words = 3)' '' "$heed" eval -m "$toy" --tsv rows.tsv --metrics exact,wer
expect 'length can count more, so that outputs are too long' 0 'exact = 25.00 % (1 of 4)' '' \
    "$heed" eval -m "$toy" --metrics exact --length-norm power:50 src right
expect 'a length normalisation must be one' 2 '' "heed: length-norm must be none, power:X or gnmt:X, *, not 'long'" \
    "$heed" eval -m "$toy" --length-norm long src right
expect 'tables of other kinds are told apart' 1 '' 'heed: rows.csv: heed train learns from such files, but eval reads TSV alone*' "$heed" eval -m "$toy" --tsv rows.csv
expect 'a row has a tab' 1 '' 'heed: src:1: there is no tab in it*' "$heed" eval -m "$toy" --tsv src
expect 'source and reference have as many lines' 1 '' 'heed: src has 4 lines, but short has 3; *' "$heed" eval -m "$toy" src short
expect 'a missing model is named' 1 '' 'heed: nowhere: there is no such file*' "$heed" eval -m nowhere src right
expect 'a missing text too' 1 '' 'heed: nowhere: there is no such file*' "$heed" eval -m "$toy" src nowhere
expect 'two texts are wanted' 2 '' 'heed: eval needs *' "$heed" eval -m "$toy" src
expect 'ready text has no source to sort by' 2 '' 'heed: eval needs *' "$heed" eval --hyp hyp --ref ref --by-length
expect 'eval has a help of its own' 0 'Usage: heed eval --hyp FILE --ref FILE*--metrics LIST*default: bleu,chrf,exact,wer*Examples*' '' \
    "$heed" eval --help
finish
