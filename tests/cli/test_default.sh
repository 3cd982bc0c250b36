#!/bin/sh
# test_default.sh -- the model inside the program: what it says of some sentences in each direction (tests/cli/default.tsv, written by
# tools/default_model_golden.sh), and how good it is on the test sentences when they are at hand.
least_bleu='en-fr 42.0 fr-en 48.4 en-de 36.3 de-en 44.5' # of the whole test splits, 13a, cased

. tests/transcript.sh
heed=$BUILD/heed
golden=tests/cli/default.tsv
printf 'Hello.\n' >"$here/text"

if [ "$(cat "$BUILD/embedded")" = '' ]; then
    wanted='heed: no model is embedded in this heed; name one with -m MODEL'
    expect 'without a model inside, translate wants one' 2 '' "$wanted" "$heed" translate "$here/text"
    expect 'align wants one' 2 '' "$wanted" "$heed" align "$here/text" "$here/text"
    expect 'score wants one' 2 '' "$wanted" "$heed" score "$here/text" "$here/text"
    expect 'eval wants one' 2 '' "$wanted" "$heed" eval "$here/text" "$here/text"
    expect 'asking for it by name does not help' 1 '' "$wanted" "$heed" translate -m default "$here/text"
    expect 'info says that there is none' 0 '*model     none is embedded; name one with -m MODEL' '' "$heed" info
    expect 'in JSON as well' 0 '*"model": null}' '' "$heed" info --json
    expect 'a recipe is of a model' 2 '' 'heed: --recipe is of a model; name one' "$heed" info --recipe
else
    expect 'without -m the model inside translates' 0 '?*' '' "$heed" translate "$here/text"
    "$heed" translate "$here/text" >"$here/translated"
    expect 'it can be named' 0 "$(cat "$here/translated")" '' "$heed" translate -m default "$here/text"
    expect 'it aligns' 0 '0-0*' '' "$heed" align "$here/text" "$here/translated"
    expect 'it scores' 0 '-?*' 'heed: perplexity *' "$heed" score "$here/text" "$here/translated"
    expect 'it is evaluated' 0 'exact = 100.00 *' '' "$heed" eval --metrics exact "$here/text" "$here/translated"
    expect 'ready text needs no model' 0 'exact = 100.00 *' '' \
        "$heed" eval --metrics exact --hyp "$here/text" --ref "$here/text"
    expect 'info tells of it' 0 'version *The model inside*architecture *record*' '' "$heed" info
    expect 'in JSON as well' 0 '*"model": {"arch":*}}' '' "$heed" info --json
    expect 'its recipe can be used again' 0 '*seed = *arch = *' '' "$heed" info --recipe
fi

if [ "$(cat "$BUILD/embedded")" != models/default.safetensors ]; then
    echo 'skipped: the rest is for models/default.safetensors, which is not built in'
    finish
fi
expect 'it says whose sentences it learned from' 0 '*attribution *tatoeba.org*licence *CC-BY 2.0*' '' "$heed" info
size=$(wc -c <models/default.safetensors)
[ "$size" -le 12000000 ] && problem='' || problem='more than 12 MB'
verdict 'it is small' "$problem" "$size bytes"

translate_golden() { # the golden file anew, all sentences of a pair at once
    for pair in en-fr fr-en en-de de-en; do
        grep "^$pair	" "$golden" | cut -f 2 >"$here/sentences"
        "$heed" translate --from "${pair%-*}" --to "${pair#*-}" --align hard "$here/sentences" | sed 's/ ||| /	/' |
            paste "$here/sentences" - | sed "s/^/$pair	/"
    done
}
translate_golden >"$here/now"
difference=$(diff "$golden" "$here/now" 2>&1) && problem='' || problem='tools/default_model_golden.sh writes them anew, if they should change'
verdict 'sentences of all directions are translated and linked as they were' "$problem" "$difference"

expect 'English becomes French where nothing is said, German and French become English' 0 'Bonjour*
Good morning*
*station*' '' sh -c "printf '%s\\n' 'Hello!' 'Guten Morgen!' 'Où est la gare ?' | '$heed' translate"
expect 'or what is asked for' 0 'Guten Morgen!' '' sh -c "echo 'Good morning!' | '$heed' translate --to de"

# what heed translate --subwords writes has the symbol of its language, and the model read it once
printf '%s\n' 'I love my cat.' 'Where is the station?' 'The red house is old.' >"$here/three"
for to in fr de; do
    "$heed" translate -q --from en --to $to --subwords "$here/three" >"$here/subwords"
    "$heed" score -q --subwords "$here/subwords" >"$here/scored"
    "$heed" translate -q --from en --to $to --json "$here/three" | sed 's/.*"score": [^,]*, "logprob": \([^,]*\),.*/\1/' >"$here/found"
    expect "subwords for $to get the very number that they were found with" 0 '3 <2'$to'> *' '' sh -c "
        paste '$here/scored' '$here/found' '$here/subwords' |
            awk '{ d = \$1 - \$2; n += \$1 < 0 && d < 0.00001 && d > -0.00001 } END { print n, \$3, \$1, \$2 }'"
done

# self-attention is between words of one side
expect 'the encoder attends to its own words' 0 'The red house.*
*The red house. (end)
The *
red *
house. *' '' sh -c "echo 'The red house.' | COLUMNS=60 '$heed' translate --attention encoder --show | sed '1s/.*/The red house./'"
if command -v python3 >/dev/null; then
    expect 'the decoder to its own, and to none that come later' 0 'True True True' '' sh -c "echo 'The red house is old.' |
        '$heed' translate --attention decoder --layer 2 --head 1 --json | python3 -c 'import json, sys
t = json.loads(sys.stdin.read())[\"translations\"][0]; a = t[\"attention\"]; n = len(t[\"target_words\"])
print(len(a) == n, all(len(r) == n for r in a), all(a[i][j] == 0 for i in range(n) for j in range(i + 1, n)))'"
fi
if [ -e "${heed%heed}heed_draw.so" ]; then
    expect 'all heads of it are a page' 0 '*' '' sh -c "echo 'The red house.' |
        '$heed' translate --attention encoder --head all --plot '$here/heads.svg' && grep -q '<svg' '$here/heads.svg'"
fi
awk 'BEGIN { printf "I love my cat. "; for (i = 0; i < 8000; i++) printf "x"; print "" }' >"$here/long"
expect 'a word of 8,000 characters is kept, at no cost' 0 'J*8000' '*: a word of more than 500 characters is not translated and stands as it is' \
    sh -c "'$heed' translate '$here/long' | awk '{ text = \$0; print substr(text, 1, 20), gsub(/x/, \"\", text) }'"
expect 'there are no more layers than there are' 1 '' 'heed: layer must be a whole number from 1 to * with this model, not 7' \
    sh -c "echo 'The red house.' | '$heed' translate --attention encoder --layer 7 --json"

for kernel in $("$heed" info --json | sed 's/.*"kernels": \[\([^]]*\)\].*/\1/; s/[",]//g'); do
    [ "$kernel" != ref ] || continue # slow
    HEED_KERNEL=$kernel && export HEED_KERNEL
    translate_golden >"$here/other"
    unset HEED_KERNEL
    difference=$(diff "$here/now" "$here/other") && problem='' || problem='they differ'
    verdict "the kernel $kernel says the same" "$problem" "$difference"
done

tatoeba=$SHARED/data/tatoeba
if case $BUILD in *asan* | *tsan*) ;; *) false ;; esac then
    echo 'skipped: its BLEU, which takes minutes under a sanitizer'
elif [ -r "$tatoeba/test.en-fr.en" ]; then
    # shellcheck disable=SC2086
    set -- $least_bleu
    while [ $# -gt 0 ]; do
        from=${1%-*} to=${1#*-} least=$2
        [ "$from" = en ] && name=$from-$to || name=$to-$from
        out=$("$heed" eval -q --metrics bleu --from "$from" --to "$to" "$tatoeba/test.$name.$from" "$tatoeba/test.$name.$to" 2>&1)
        bleu=$(echo "$out" | sed -n 's/^BLEU = \([0-9.]*\).*/\1/p')
        awk -v bleu="$bleu" -v least="$least" 'BEGIN { exit !(bleu + 0 >= least) }' && problem='' || problem="less than $least"
        verdict "its BLEU on the test sentences $1 is $least at least" "$problem" "$out"
        shift 2
    done
else
    echo "skipped: its BLEU, as $tatoeba is not there"
fi
finish
