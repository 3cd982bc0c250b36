#!/bin/sh
# test_markup.sh -- `heed translate --markup` as a user meets it. The toy model says German numbers backwards in English.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
toy=$PWD/tests/translate/toy.safetensors
module=$PWD/$BUILD/heed_markup.so
case $BUILD in /*) module=$BUILD/heed_markup.so ;; esac
cd "$here" || exit 1

printf '<p>\n  eins <b>zwei</b>\n  drei\n</p>\n' >page.html
if [ ! -f "$module" ]; then
    expect 'without the module there is a sentence' 1 '' '*heed_markup.so*libgumbo-dev*' "$heed" translate -m "$toy" --markup html page.html
    finish
fi
expect 'a page is one document' 0 '<p>
  three <b>two</b> one
</p>' '' "$heed" translate -m "$toy" --markup html page.html
printf 'eins <b>zwei</b>' >fragment
expect 'a fragment needs no line end and gets none' 0 '14' '' sh -c "'$heed' translate -m '$toy' --markup html <fragment | wc -c | sed 's/ *//'"
expect 'an empty document stays empty' 0 '' '' "$heed" translate -m "$toy" --markup html /dev/null
printf '\357\273\277eins zwei' >marked
expect 'a byte order mark stays where it was' 0 "$(printf '\357\273\277two one')" '' "$heed" translate -m "$toy" --markup html marked
if command -v gzip >/dev/null; then
    gzip -c page.html >page.gz
    expect 'compressed documents are read' 0 '<p>
  three <b>two</b> one
</p>' '' "$heed" translate -m "$toy" --markup html page.gz
fi
expect 'JSON is one object' 0 '{"source": "eins <b>zwei</b>"*"text": "<b>two</b> one"*"start": 8, "end": 12*"start": 3, "end": 6*"links": \[\[1, 0\], \[0, 1\]\]*' '' \
    "$heed" translate -m "$toy" --markup html --json fragment
printf 'eins <b>zwei' >open
expect 'a tag that is never closed is closed' 0 '<b>two</b> one' '*open:1: 1 tag was never closed; the end was added' "$heed" translate -m "$toy" --markup html open
expect 'XML that is not well-formed comes back' 0 'eins <b>zwei' '*open:1: not translated: the XML is not well-formed; line 1: *' "$heed" translate -m "$toy" --markup xml open
printf '<d><s>eins <b>zwei</b></s><s/></d>' >file.xml
expect 'XML is XML' 0 '<d><s><b>two</b> one</s><s/></d>' '' "$heed" translate -m "$toy" --markup xml file.xml
expect 'a line with tags of HTML is HTML by itself, beside lines that are not' 0 '<b>two</b> one
two one
<unk> one' '' sh -c "printf 'eins <b>zwei</b>\neins zwei\neins <b>zwei\n' | '$heed' translate -m '$toy' --protect no"
expect 'in JSON as well' 0 '{"source": "eins <b>zwei</b>"*"text": "<b>two</b> one"*' '' "$heed" translate -m "$toy" --json fragment
expect 'without the module tags are text' 0 '<unk> one' '' env HEED_MARKUP_MODULE=/nowhere/x.so "$heed" translate -m "$toy" --protect no fragment
expect 'and so they are where it is said' 0 '<unk> one' '' "$heed" translate -m "$toy" --markup none --protect no fragment
for option in '--align hard' --confidence '--n-best 2' '--prefix fragment'; do
    # shellcheck disable=SC2086
    expect "$option has no room" 2 '' '*--markup and * do not go together*' "$heed" translate -m "$toy" --markup html $option fragment
done
expect 'a wrong kind is told what there is' 2 '' '*markup must be none, html, xml or auto*' "$heed" translate -m "$toy" --markup htm fragment
expect 'a missing module says what to install' 1 '' '*HTML and XML need the module heed_markup.so*libgumbo-dev libxml2-dev*' \
    env HEED_MARKUP_MODULE=/nowhere/x.so "$heed" translate -m "$toy" --markup html fragment
finish
