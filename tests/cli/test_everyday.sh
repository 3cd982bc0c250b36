#!/bin/sh
# test_everyday.sh -- the model inside and what people type: capitals, small letters, lists, emoji, things to copy; and how many of the inputs
# of tests/cli/everyday it gets right.
least_right=95 # percent of them, in the directions that it has; a better model sets more

. tests/transcript.sh
heed=$BUILD/heed
if [ "$(cat "$BUILD/embedded")" = '' ]; then
    echo 'skipped: no model is embedded in this heed'
    finish
fi
says() { # NAME IN OUT OPTIONS...
    name=$1 text=$2 wanted=$3
    shift 3
    printf '%b' "$text\n" >"$here/text"
    expect "$name" 0 "$wanted" '*' "$heed" translate "$@" "$here/text"
}
copied() { says "$1" "$2" "$2"; }

copied 'an address passes' 'https://example.com/a?b=c'
copied 'a number does' '1850'
copied 'so do a time with spaces around it' '   12:30  '
copied 'a variable' '%s'
copied 'marks alone' '...'
copied 'and emoji' '😀'

"$heed" translate >"$here/plain" <<END
I love my cat.
END
plain=$(cat "$here/plain")
says 'the mark of an item stays' '- I love my cat.' "- $plain"
says 'a number does' '12. I love my cat.' "12. $plain"
says 'a letter does' '(b) I love my cat.' "(b) $plain"
says 'a bullet and emoji do, with their white space' '•  I love my cat.  😀' "•  $plain  😀"
says 'capitals come out as capitals' 'I LOVE MY CAT.' "$(printf '%s\n' "$plain" | tr 'a-z' 'A-Z')"
says 'small letters as small ones' 'i love my cat.' "$(printf '%s\n' "$plain" | sed 's/^./\l&/')"
echo 'THE CHILDREN WERE PLAYING IN THE GARDEN.' >"$here/text"
"$heed" translate "$here/text" >"$here/restored"
"$heed" translate --restore-case no "$here/text" >"$here/as-it-is"
cmp -s "$here/restored" "$here/as-it-is" && problem='nothing changes' || problem=''
verdict 'unless that is switched off' "$problem" "$(cat "$here/restored")"
expect 'places are in the text as it was typed' 0 '*"source_words": \[{"text": "-", "start": 0, "end": 1}, {"text": "I", "start": 2, "end": 3}, {"text": "LOVE", "start": 4, "end": 8}, *"sentences": \[{"source": \[2, 16\], "target": \[2, *' '' \
    sh -c "echo '- I LOVE MY CAT.' | '$heed' translate --json"

# confidence
says 'what is sure is translated' 'I love my cat.' "$plain" --min-confidence 0.6
says 'what is not stays as it is' 'The mitochondrial phosphorylation cascade upregulates apoptosis.' 'The mitochondrial phosphorylation cascade upregulates apoptosis.' --min-confidence 0.9
expect 'which JSON tells' 0 '*"warnings": \[*"unsure: *' '' sh -c "echo 'The mitochondrial phosphorylation cascade upregulates apoptosis.' | '$heed' translate --json"
expect '-v does on standard error' 0 '?*' '*standard input:1: unsure: *' sh -c "echo 'The mitochondrial phosphorylation cascade upregulates apoptosis.' | '$heed' translate -v"
expect 'and without it nothing is said of that' 0 '' '' sh -c "echo 'The mitochondrial phosphorylation cascade upregulates apoptosis.' | '$heed' translate 2>&1 >/dev/null | grep unsure; true"

if command -v python3 >/dev/null; then
    "$heed" translate --json "$here/text" >"$here/result"
    expect 'constants can be fitted' 0 '--confidence *,*,*,*,*,*
*result: 1 translations, *' '' tools/fit_confidence.py "$here/result" "$here/text"
    expect 'and recorded' 0 'wanted 0.000' '' sh -c "'$heed' convert tests/translate/toy.safetensors --confidence 0,0,-99,0,0,0 -o '$here/told.safetensors' &&
        echo eins | '$heed' translate -m '$here/told.safetensors' --confidence | sed 's/.*||| \\([0-9.]*\\) .*/wanted \\1/'"
    out=$(tools/everyday.py --heed "$heed" --least "$least_right" 2>&1) && problem='' || problem="less than $least_right %"
    verdict "it is right on $least_right % of what people type" "$problem" "$out"
    echo hello >"$here/en-fr.tsv"
    expect 'a set that is none is told' 1 '' '*en-fr.tsv:1: a line is a kind*' tools/everyday.py --heed "$heed" "$here/en-fr.tsv"
fi
finish
