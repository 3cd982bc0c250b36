#!/bin/sh
# test_files.sh -- files of which only some is text, as a user translates them: PO, subtitles, paragraphs.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
toy=$PWD/tests/translate/toy.safetensors
cd "$here" || exit 1

printf '1\n00:00:01,000 --> 00:00:02,000\neins zwei\n\n2\n00:00:02,100 --> 00:00:03,000\ndrei vier\n' >a.srt
expect 'a sentence over two cues is translated as one' 0 '1
00:00:01,000 --> 00:00:02,000
four three

2
00:00:02,100 --> 00:00:03,000
two one' '' "$heed" translate -m "$toy" a.srt
printf 'WEBVTT\n\n00:01.000 --> 00:02.000\neins zwei\n' >a.vtt
expect 'WebVTT is known by its ending' 0 'WEBVTT

00:01.000 --> 00:02.000
two one' '' "$heed" translate -m "$toy" a.vtt
printf 'msgid "eins"\nmsgstr ""\n\nmsgid "zwei"\nmsgstr "deux"\n' >a.po
expect 'messages without a translation get one' 0 '#, fuzzy
msgid "eins"
msgstr "one"

msgid "zwei"
msgstr "deux"' '*a.po: 1 of 2 messages have a translation, which stays' "$heed" translate -m "$toy" a.po
expect 'a format can be said' 0 'WEBVTT*two one*' '' sh -c "'$heed' translate -m '$toy' --format vtt <a.vtt"
printf 'eins\nzwei\n\ndrei\n' >a.txt
expect 'paragraphs are joined' 0 'two
one

three' '' "$heed" translate -m "$toy" --format text a.txt
expect 'and lines are lines' 0 'one
two

three' '' "$heed" translate -m "$toy" a.txt
expect 'what is broken is told with its line' 1 '' 'heed: standard input:1: a WebVTT file begins*' sh -c "'$heed' translate -m '$toy' --format vtt <a.srt"
expect 'a file has no room for JSON' 1 '' 'heed: --json is for lines of text*' "$heed" translate -m "$toy" --json a.srt
expect 'unless it is lines' 0 '{*' '*' "$heed" translate -m "$toy" --json --format lines a.srt
gzip -k a.po
expect 'a file may be compressed' 0 '#, fuzzy
msgid "eins"
msgstr "one"*' '*' "$heed" translate -m "$toy" a.po.gz
printf 'a,b\n' >a.csv
expect 'a table is not torn' 1 '' 'heed: a.csv: a table can be learned from, not translated*--format lines*' "$heed" translate -m "$toy" a.csv
expect 'unless it is lines, too' 0 '*' '*' "$heed" translate -m "$toy" --format lines a.csv
printf 'msgid ""\nmsgstr "Language: de_AT\\n"\n\nmsgid "Good morning!"\nmsgstr ""\n' >de.po
expect 'the header of a PO file says the language' 0 '*"Guten Morgen!"' '' "$heed" translate -m default de.po
expect 'which is of one file alone' 0 '*"Guten Morgen!"*Bonjour*' '' sh -c "echo 'Good morning!' >b.txt; '$heed' translate -m default de.po b.txt"
expect 'unless another is asked for' 0 '*"Bonjour !"' '*Language: de_AT, and --to says fr*' "$heed" translate -m default --to fr de.po
sed 's/de_AT/ja/' de.po >ja.po
expect 'and a language that is not known is told' 0 '*' '*its header says Language: ja, which the model does not translate to (it has*' "$heed" translate -m default ja.po
expect 'there is no other format' 2 '' "heed: format must be *po*srt*" "$heed" translate -m "$toy" --format docx a.txt
finish
