#!/bin/sh
# test_align.sh -- `heed align` and `heed score` as a user meets them. The toy model says German numbers backwards in English.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
toy=$PWD/tests/translate/toy.safetensors
fixed=$PWD/tests/fuzz/corpus/model/fixed
cd "$here" || exit 1

printf 'eins zwei drei\nneun\n\n  acht  sieben\n' >src
printf 'three two one\nnine\n\nseven eight \n' >tgt
align() { expect "$1" 0 "$2" "" "$heed" align -m "$toy" src tgt ${3-}; }

# ---- align
align 'links are told line by line' '2-0 1-1 0-2
0-0

1-0 0-1'
align 'weights too' '*,*,*,* *,*,*,* *,*,*,* *,*,*,*
*,* *,*
*
*,*,* *,*,* *,*,*' --soft
align 'of subwords' '2-0 1-1 0-2
0-0

1-0 0-1' --subwords
align 'as weights' '*,*,*,* *,*,*,* *,*,*,* *,*,*,*
*,* *,*
*
*,*,* *,*,* *,*,*' '--subwords --soft'
align 'as JSON' '{"source": "eins zwei drei", "warnings": *"links": \[\[2, 0\], \[1, 1\], \[0, 2\]\]*' --json
align 'at the next step the model looks on' '1-0 0-1*' '--shift 1'
align 'threads and batches change nothing' '2-0 1-1 0-2
0-0

1-0 0-1' '--batch 1 -j 2'
printf '3-1 2-2 1-3\n1-1\n\n2p1 1-1\n' >gold
align 'links are judged' 'precision = 83.33 %
recall = 80.00 %
AER = 18.18 % (links = 6 sure = 5)' '--gold gold'
align 'as JSON too' '{"precision": 83.33*, "recall": 80, "aer": 18.18*, "links": 6, "sure": 5}' '--gold gold --json'
printf 'eins zwei\n' >a
printf 'one two\n' >b
expect 'models of both directions are joined' 0 '*' '' "$heed" align -m "$toy" --reverse "$toy" a b
expect 'as is wanted' 0 '*' '' "$heed" align -m "$toy" --reverse "$toy" --symmetrize intersect a b

# Two models that have learned half of their task, one for each direction: numbers, said backwards in the other language. Who is linked to
# whom is known; joined by default, their links are better than those of each. (The seed of rand is of its own making: awks differ.)
mkdir both
awk 'function next_of(n) { seed = (seed * 1103 + 12345) % 65536; return int(seed / 64) % n }
     BEGIN { n_words = split("null eins zwei drei vier acht neun zehn elf", de); split("zero one two three four eight nine ten eleven", en)
         seed = 7
         for (k = 0; k < 600; k++) {
             src = tgt = gold = turned = ""
             n = 3 + next_of(6)
             for (i = 1; i <= n; i++) {
                 w = 1 + next_of(n_words)
                 src = src " " de[w]; tgt = " " en[w] tgt
                 gold = gold " " i "-" (n + 1 - i); turned = turned " " (n + 1 - i) "-" i
             }
             part = k < 500 ? "both/train" : "both/test"
             print src >(part ".de"); print tgt >(part ".en"); print gold >(part ".gold"); print turned >(part ".turned")
         } }'
learn() { # FROM TO
    "$heed" train --src both/train.$1 --tgt both/train.$2 --dev-src both/test.$1 --dev-tgt both/test.$2 --out both/$1.safetensors \
        --tokens words --arch bahdanau --dim 32 --embed 16 --updates 200 --batch-tokens 256 --rate 0.01 --warmup 10 --dropout 0 \
        --valid-every 1000 --valid-metric ce -j 1 -q --fresh
}
learn de en && learn en de
errors() { "$heed" align -q "$@" | sed -n 's/^AER = \([0-9.]*\) %.*/\1/p'; }
there=$(errors -m both/de.safetensors --gold both/test.gold both/test.de both/test.en)
back=$(errors -m both/en.safetensors --gold both/test.turned both/test.en both/test.de)
for how in '' intersect; do
    joined=$(errors -m both/de.safetensors --reverse both/en.safetensors ${how:+--symmetrize $how} --gold both/test.gold both/test.de both/test.en)
    expect "links of both directions are better than those of each ${how:-by default}" 0 '' '' awk -v a="$there" -v b="$back" -v c="$joined" '
        BEGIN { if (!(a > 0 && b > 0 && c != "" && c + 0 <= a + 0 && c + 0 <= b + 0))
                    printf "AER %s there, %s back, %s joined\n", a, b, c }'
done
echo "    AER $there % there, $back % back, $joined % of what both say"

expect 'align wants two files' 2 '' 'heed: align needs two files*' "$heed" align -m "$toy" src
expect 'of as many lines' 1 '' 'heed: src has 4 lines, but a has 1; *' "$heed" align -m "$toy" src a
expect 'so has the gold' 1 '' 'heed: src has 4 lines, but a has 1; *' "$heed" align -m "$toy" --gold a src tgt
expect 'of one line too' 1 '' 'heed: a has 1 line, but tgt has 4; *' "$heed" align -m "$toy" a tgt
printf '1-1\n1+1\n\n\n' >crooked
expect 'links must be links' 1 '' "heed: crooked:2: '1+1' is no link*" "$heed" align -m "$toy" --gold crooked src tgt
printf '0-1\n\n\n\n' >zero
expect 'counted from 1' 1 '' "heed: zero:1: '0-1' is no link*" "$heed" align -m "$toy" --gold zero src tgt
expect 'attention is wanted' 1 '' 'heed: *fixed: the model has no attention*' "$heed" align -m "$fixed" a b
expect 'weights of two directions are not joined' 2 '' 'heed: --reverse joins links of words*' \
    "$heed" align -m "$toy" --reverse "$toy" --soft a b
expect 'a missing file is named' 1 '' 'heed: nowhere: there is no such file*' "$heed" align -m "$toy" src nowhere
printf 'x\000y\n' >nul
expect 'a file with a NUL is no text' 1 '' 'heed: nul:1: there is a NUL byte*' "$heed" align -m "$toy" a nul
printf '\377\n' >latin
expect 'nor is one that is not UTF-8' 1 '' 'heed: latin:1: not UTF-8*' "$heed" align -m "$toy" a latin
yes zwei | head -n 60 | tr '\n' ' ' >longer
expect 'what is too long is told' 0 '' 'heed: longer:1: not looked at: the pair has 60 and 2 subwords*12' \
    "$heed" align -m "$toy" longer b
expect 'align has a help of its own' 0 'Usage: heed align *-m MODEL*--symmetrize*grow-diag-final*' '' "$heed" align --help

# ---- align without a model
expect 'without a model words are linked by the text' 0 '' '' sh -c "
    '$heed' align --method hmm both/train.de both/train.en | awk '{ \$1 = \$1; print }' >found
    awk '{ for (i = 1; i <= NF; i++) { split(\$i, p, \"-\"); \$i = p[1] - 1 \"-\" p[2] - 1 } print }' both/train.gold >wanted
    awk 'NR == FNR { w[FNR] = \" \" \$0 \" \"; next }
         { for (i = 1; i <= NF; i++) { n++; ok += index(w[FNR], \" \" \$i \" \") > 0 } }
         END { if (ok < 0.97 * n || n < 2000) print ok, n }' wanted found"
expect 'and judged' 0 'precision = *
recall = *
AER = [0-4].?? %*' '' "$heed" align --method hmm --gold both/train.gold both/train.de both/train.en
"$heed" align --method hmm -j 1 both/train.de both/train.en >one
expect 'threads change nothing there' 0 '' '' sh -c "'$heed' align --method hmm -j 3 both/train.de both/train.en | cmp - one"
expect 'links are told as JSON' 0 '{"source": "eins zwei", "target": "one two", "links": \[\[0, 0\]*' '' \
    "$heed" align --method hmm --json a b
paste both/train.de both/train.en >more.tsv
printf 'eins elf\n' >one.de
printf 'eleven one\n' >one.en
expect 'more text may be learned from' 0 '1-0 0-1' '' "$heed" align --method hmm one.de one.en --tsv more.tsv
expect 'which has two columns' 1 '' 'heed: a:1: there is no TAB*' "$heed" align --method hmm one.de one.en --tsv a
expect 'text is learned from without a model only' 2 '' 'heed: --tsv is text to learn from*' "$heed" align -m "$toy" a b --tsv more.tsv
"$heed" align --method hmm one.de one.en --lexicon words.tsv --tsv more.tsv
expect 'words that belong together are written' 0 '9' '' sh -c "awk -F '\t' 'NF == 5 && \$3 > 100 && \$4 > 0.9 { n++ } END { print n }' words.tsv"
expect 'words instead of links' 2 '' 'heed: --lexicon writes words instead of links*' "$heed" align --method hmm --lexicon x --json a b
expect 'a lexicon wants a place' 1 '' 'heed: nowhere/x.tsv cannot be written*' "$heed" align --method hmm --lexicon nowhere/x.tsv a b
expect 'and text' 2 '' 'heed: --lexicon is learned from text*' "$heed" align -m "$toy" --lexicon x a b
expect 'and a model is no text' 2 '' 'heed: --method hmm *--model' "$heed" align --method hmm -m "$toy" a b
expect 'there must be words' 1 '' 'heed: no pair of the text has words on both sides*' sh -c "echo >none; '$heed' align --method hmm none none"

# ---- score
expect 'scores are told line by line' 0 '-0.00*
-0.0*
-[0-9]*
-0.0*' 'heed: perplexity 1.* per subword (10 subwords, end markers included)' "$heed" score -m "$toy" src tgt
expect 'those of words too' 0 '-0.00????	-0.00????	-0.00????	-0.00????
*' '' "$heed" score -q -m "$toy" --words src tgt
expect 'as JSON' 0 '{"source": "eins zwei drei"*"attention": null*' '' "$heed" score -q -m "$toy" --json src tgt
printf 'eins zwei. vier drei zwei.\n\nnull %%s eins\nEINS ZWEI\n' >odd
expect 'subwords get the very number that they were found with' 0 '' '' sh -c "
    '$heed' translate -q -m '$toy' --subwords odd >odd.subwords && '$heed' score -q -m '$toy' --subwords odd.subwords |
        awk '{ s += \$1 } END { printf \"%.5f\\n\", s }' >odd.scored &&
    '$heed' translate -q -m '$toy' --json odd | sed 's/.*\"score\": [^,]*, \"logprob\": \([^,]*\),.*/\1/' | awk '{ s += \$1 } END { printf \"%.5f\\n\", s }' >odd.found &&
    test -s odd.subwords && paste odd.scored odd.found | awk '{ d = \$1 - \$2; exit !(\$1 < 0 && d < 0.00001 && d > -0.00001) }'"
expect 'a sentence a line' 0 'eins*	*
*' '' cat odd.subwords
echo 'eins nothing	one' >no.subwords
expect 'what is no subword is not scored' 0 'nan*' "*no.subwords:1: *'nothing' is no subword of the model*" "$heed" score -m "$toy" --subwords no.subwords
expect 'lines of subwords have two sides' 1 '' 'heed: src:1: this line is not source subwords, TAB, target subwords*' "$heed" score -m "$toy" --subwords src
expect 'subwords are not JSON' 2 '' 'heed: --subwords and --json do not go together*' "$heed" translate -m "$toy" --subwords --json src
expect 'what is wrong is unlikely' 0 '-[1-9]*' '*' sh -c "'$heed' score -m '$toy' a b"
expect 'a translation has the score it was made with' 0 '' '' sh -c "
    '$heed' translate -m '$toy' --n-best 4 src | grep -v unk >list
    cut -d ' ' -f 1 list | while read -r n; do sed -n \$((n + 1))p src; done >sources
    sed 's/^[0-9]* ||| //; s/ ||| .*//' list >hyps
    sed 's/.*logprob= //; s/ .*//' list >wanted
    '$heed' score -q -m '$toy' sources hyps >got
    paste -d ' ' wanted got src /dev/null | awk 'NF >= 2 && \$1 != \$2 && \$1 != \"\" && src != \"\" { print }'"
expect 'an n-best list gets one more feature' 0 '0 ||| three two one ||| logprob= -0.00???? heed= -0.00* ||| -0.00*
*' '' sh -c "'$heed' translate -m '$toy' --n-best 2 a >list; echo eins zwei drei >c
    '$heed' translate -m '$toy' --n-best 2 c >list; '$heed' score -m '$toy' --n-best list c"
printf '0 ||| two one\n' >short
expect 'a list without features gets its first' 0 '0 ||| two one ||| heed= -0.0*' '' "$heed" score -m "$toy" --n-best short a
printf 'two one\n' >plain
expect 'an n-best list must be one' 1 '' 'heed: plain:1: an n-best list has lines *' "$heed" score -m "$toy" --n-best plain a
printf '5 ||| two one\n' >beyond
expect 'its numbers are lines of the source' 1 '' 'heed: beyond:1: *numbers from 0 to 0*' "$heed" score -m "$toy" --n-best beyond a
expect 'score wants two files' 2 '' 'heed: score needs two files*' "$heed" score -m "$toy" src
expect 'of as many lines as each other' 1 '' 'heed: src has 4 lines, but b has 1; *' "$heed" score -m "$toy" src b
expect 'what cannot be looked at has no score' 0 'nan' 'heed: longer:1: not looked at*' "$heed" score -m "$toy" longer b
expect 'score has a help of its own' 0 'Usage: heed score *-m MODEL*--n-best FILE*' '' "$heed" score --help

# ---- info --recipe
expect 'a recipe is told as lines' 0 'freeze = a
freeze = b
max-length = 12
rate = 0.012
arch = bahdanau
*' '' "$heed" info --recipe "$toy"
expect 'where there is one' 1 '' 'heed: the model does not say how it was trained*' "$heed" info --recipe "$fixed"
finish
