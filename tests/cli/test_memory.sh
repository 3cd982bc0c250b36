#!/bin/sh
# test_memory.sh -- `heed translate --memory` as a user meets it. The toy model says German numbers backwards in English.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
toy=$PWD/tests/translate/toy.safetensors
cd "$here" || exit 1

printf 'eins zwei drei\n  eins   zwei drei \nvier fünf\n' >in
printf 'eins zwei drei\tOne, two; three?\n' >exact
expect 'what is remembered is the answer, letters that the model does not know as well' 0 'One, two; three?
  One, two; three? 
five four' '' "$heed" translate -m "$toy" --memory exact in
expect 'it has words, and the result says so' 0 '*"text": "One, two; three?"*"target_words": \[{"text": "One,"*"memory": \[{"line": 1, "source": "eins zwei drei", "target": "One, two; three?", "similarity": 1}\]}' '' \
    sh -c "head -n 1 in | '$heed' translate -m '$toy' --memory exact --json"
expect 'without a memory nothing is said of one' 0 '*"sentences": \[{"source": \[0, 14\], "target": \[0, 13\]}\]}' '' sh -c "head -n 1 in | '$heed' translate -m '$toy' --json"

printf 'eins zwei drei vier\tnine eight nine eight\nsieben sechs\tsix seven\n' >like
printf 'eins zwei drei fünf\nsechs acht\n' >in.like
expect 'a sentence that is like another is translated like it, and others are not' 0 'five eight nine eight
eight six' '' "$heed" translate -m "$toy" --memory like in.like
expect 'what remembered sentences make of the model is kept' 0 'like.*.steps' '' sh -c 'ls like.*.steps'
chmod 600 like
"$heed" translate -q -m "$toy" --memory like in.like >out
expect 'by those alone who may read the memory' 0 600 '' sh -c 'stat -c %a like.*.steps'
rm like.*.steps
"$heed" translate -q -m "$toy" --memory like in.like >out
expect 'also where it is new' 0 600 '' sh -c 'stat -c %a like.*.steps'
chmod 644 like
for change in 'is there' 'is cut' 'is broken' 'is of others'; do
    for file in like.*.steps; do
        case $change in
        'is cut') head -c 400 "$file" >cut && cp cut "$file" ;;
        'is broken') printf 'ZZZZ' | dd of="$file" bs=1 seek=300 conv=notrunc 2>/dev/null ;;
        'is of others') printf 'something else\n' >"$file" ;;
        esac
    done
    expect "and changes nothing where it $change" 0 'five eight nine eight
eight six' '' "$heed" translate -m "$toy" --memory like in.like
done
expect 'what is not ours stays as it is' 0 'something else' '' sh -c 'cat like.*.steps'
rm like.*.steps
"$heed" translate -q -m "$toy" --memory like --memory-cache no in.like >out
verdict 'nothing is kept if it is not wanted' "$(ls like.*.steps 2>/dev/null)" ''

# Bits: numbers forwards, which the model has learned to say backwards.
awk 'BEGIN { split("eins zwei drei vier fünf sechs sieben acht neun", de, " "); split("one two three four five six seven eight nine", en, " "); srand(3)
    for (i = 0; i < 300; i++) { n = 3 + int(rand() * 3); s = t = ""
        for (k = 0; k < n; k++) { x = 1 + int(rand() * 9); s = s (k ? " " : "") de[x]; t = t (k ? " " : "") en[x] }
        if (i < 20) { print s >"src"; asked[s] } else if (!(s in asked)) print s "\t" t >"forwards" } }' </dev/null
"$heed" translate -q -m "$toy" src >plain
"$heed" translate -q -m "$toy" --memory forwards --json src >json
for way in '-j 3' '--batch 1' '-j 2 --batch 3'; do
    # shellcheck disable=SC2086
    "$heed" translate -q -m "$toy" --memory forwards --memory-cache no --json $way src >other
    verdict "the same bits with $way" "$(cmp json other 2>&1)" ''
done
for kernel in ref generic; do
    HEED_KERNEL=$kernel "$heed" translate -q -m "$toy" --memory forwards --memory-cache no --json src >other
    verdict "the same bits by the kernel $kernel" "$(cmp json other 2>&1)" ''
done
tail -n 5 src >few
tail -n 5 json >few.json
"$heed" translate -q -m "$toy" --memory forwards --json few >other # with what is kept
verdict 'the same bits whatever else is translated' "$(cmp few.json other 2>&1)" ''
"$heed" translate -q -m "$toy" -b 1 --memory forwards src >greedy
"$heed" translate -q -m "$toy" -b 1 --memory forwards -j 3 src >other
verdict 'greedy search has it, too' "$(cmp greedy other 2>&1; cmp -s greedy plain && echo 'as without a memory')" ''
expect 'what it says can be nothing' 0 "$(cat plain)" '' "$heed" translate -q -m "$toy" --memory forwards --memory-share 0 src
expect 'an empty memory is one' 0 "$(cat plain)" '' "$heed" translate -q -m "$toy" --memory /dev/null src

printf 'eins zwei drei\tja\tde\ten\neins zwei drei\toui\tde\tfr\n' >languages
expect 'lines of another language are not for this model' 0 'ja*' '' "$heed" translate -m "$toy" --memory languages in
printf 'zwei nine\n' >bad
expect 'a line without TAB is refused' 2 '' '*bad:1: a line of a translation memory is source TAB translation*' "$heed" translate -m "$toy" --memory bad in
expect 'a missing file is told' 2 '' '*nothing*' "$heed" translate -m "$toy" --memory nothing in
expect 'a share is below 1' 2 '' '*memory-share must be a number from 0 to 0.999*' "$heed" translate -m "$toy" --memory-share 1 in
echo nine >pre
expect 'a prefix goes before' 0 '*"text": "nine*' '' sh -c "head -n 1 in | '$heed' translate -m '$toy' --memory exact --prefix pre --json"
finish
