#!/bin/sh
# test_default.sh -- the model inside the program: what it says of a dozen sentences (tests/cli/default.tsv, written by
# tools/default_model_golden.sh), and how good it is on the test sentences when they are at hand.
least_bleu=46.1 # of the whole test split, 13a, cased

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

if [ "$(cat "$BUILD/embedded")" != models/en-fr.safetensors ]; then
    echo 'skipped: the rest is for models/en-fr.safetensors, which is not built in'
    finish
fi
expect 'it says whose sentences it learned from' 0 '*attribution *tatoeba.org*licence *CC-BY 2.0*' '' "$heed" info
size=$(wc -c <models/en-fr.safetensors)
[ "$size" -le 6000000 ] && problem='' || problem='more than 6 MB'
verdict 'it is small' "$problem" "$size bytes"

cut -f 1 "$golden" >"$here/sentences"
"$heed" translate --align hard "$here/sentences" | sed 's/ ||| /	/' | paste "$here/sentences" - >"$here/now"
difference=$(diff "$golden" "$here/now" 2>&1) && problem='' || problem='tools/default_model_golden.sh writes them anew, if they should change'
verdict 'a dozen sentences are translated and linked as they were' "$problem" "$difference"

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
expect 'there are no more layers than there are' 1 '' 'heed: layer must be a whole number from 1 to * with this model, not 4' \
    sh -c "echo 'The red house.' | '$heed' translate --attention encoder --layer 4 --json"

for kernel in $("$heed" info --json | sed 's/.*"kernels": \[\([^]]*\)\].*/\1/; s/[",]//g'); do
    [ "$kernel" != ref ] || continue # slow
    HEED_KERNEL=$kernel "$heed" translate --align hard "$here/sentences" | sed 's/ ||| /	/' | paste "$here/sentences" - >"$here/other"
    difference=$(diff "$here/now" "$here/other") && problem='' || problem='they differ'
    verdict "the kernel $kernel says the same" "$problem" "$difference"
done

tatoeba=$SHARED/data/tatoeba
if [ -r "$tatoeba/test.en-fr.en" ]; then
    out=$("$heed" eval -q --metrics bleu "$tatoeba/test.en-fr.en" "$tatoeba/test.en-fr.fr" 2>&1)
    bleu=$(echo "$out" | sed -n 's/^BLEU = \([0-9.]*\).*/\1/p')
    awk -v bleu="$bleu" -v least="$least_bleu" 'BEGIN { exit !(bleu + 0 >= least) }' && problem='' || problem="less than $least_bleu"
    verdict "its BLEU on the test sentences is $least_bleu at least" "$problem" "$out"
else
    echo "skipped: its BLEU, as $tatoeba is not there"
fi
finish
