#!/bin/sh
# test_show.sh -- attention for people: --show and --plot of `heed translate` and `heed align`. The toy model says German
# numbers backwards in English.
. tests/transcript.sh
heed=$BUILD/heed
toy=tests/translate/toy.safetensors
unset COLUMNS NO_COLOR
printf 'eins zwei\n\nzwei drei eins\n' >"$here/source"
printf 'two one\n\none three two\n' >"$here/target"

expect 'translate shows what each word was made from' 0 'two one

     eins zwei (end)
two  .... %%x%
one  %%x%

0  .:-=+\*#%@ 1   x link


one three two

       zwei drei eins (end)
one         .... %%x%
*' '' "$heed" translate -m "$toy" --show "$here/source"
expect 'links are printed as well' 0 'two one ||| 1-0 0-1

     eins*' '' "$heed" translate -m "$toy" --show --align hard "$here/source"
expect 'align shows the pair' 0 '1-0 0-1

     eins zwei (end)
two  *' '' "$heed" align -m "$toy" --show "$here/source" "$here/target"
expect 'a narrow terminal gets stairs' 0 '*,- zwei*| ,- drei*' '' \
    env COLUMNS=12 "$heed" translate -m "$toy" --show "$here/source"

expect 'people or programs' 2 '' 'heed: --show is for people and --json for programs*' "$heed" translate -m "$toy" --show --json
expect 'the same for pairs' 2 '' 'heed: --show is for people; it does not go with --json or --gold' \
    "$heed" align -m "$toy" --show --json "$here/source" "$here/target"
expect 'without attention there is nothing to show' 1 '' 'heed: *the model has no attention*' \
    "$heed" translate -m tests/fuzz/corpus/model/fixed --show "$here/source"
yes eins | head -n 301 | tr '\n' ' ' >"$here/long"
expect 'too many words are refused' 1 'one one *' 'heed: a picture shows 0 to 300 source words, not 301*' \
    "$heed" translate -q -m "$toy" --show "$here/long"

if [ -f "$BUILD/heed_draw.so" ]; then
    expect 'a missing folder is named' 1 'two one' 'heed: *a.b/p.svg: the folder for this file does not exist*' \
        "$heed" translate -m "$toy" --plot "$here/a.b/p.svg" "$here/source"
    mkdir "$here/a.b"
    expect 'translate draws' 0 'two one

one three two' '' "$heed" translate -m "$toy" --plot "$here/a.b/p.svg" "$here/source"
    expect 'a picture for each line with words' 0 'p-2.svg
p.svg' '' ls "$here/a.b"
    expect 'with the words in it' 0 '[1-9]*' '' grep -c 'drei' "$here/a.b/p-2.svg"
    expect 'align draws' 0 '1-0 0-1*' '' "$heed" align -m "$toy" --plot "$here/q.png" "$here/source" "$here/target"
    expect 'another kind of file' 0 '' '' test -s "$here/q-2.png"
    expect 'unknown kinds are refused' 1 'two one' 'heed: *p.gif: a picture*s name ends in .svg, .png or .pdf' \
        "$heed" translate -m "$toy" --plot "$here/p.gif" "$here/source"
fi
finish
