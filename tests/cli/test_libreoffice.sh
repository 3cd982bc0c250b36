#!/bin/sh
# test_libreoffice.sh -- recipes/libreoffice.sh, on an archive of our own in place of LibreOffice's: what it makes of messages, what it holds
# out, and that it trains and evaluates.
. tests/transcript.sh
recipe=$PWD/recipes/libreoffice.sh
HEED=$PWD/$BUILD/heed
case $BUILD in /*) HEED=$BUILD/heed ;; esac
FOLDER=$here/text
export HEED FOLDER
for program in curl xz tar sha256sum; do
    command -v $program >/dev/null || { echo "skipped: there is no $program here"; exit 0; }
done

# An archive whose languages are known is not fetched again.
po=$here/translations/source/xx/sw
mkdir -p "$po" "$here/translations/source/xx/helpcontent2" "$here/translations/source/yy" "$FOLDER"
cat >"$po/messages.po" <<'END'
msgid ""
msgstr "Language: xx\n"

#. a
msgctxt "menu"
msgid "~Open File"
msgstr "Malfermi ~dosieron"

msgctxt "menu"
msgid "Save _As..."
msgstr "Konservi kiel (_A)..."

#, fuzzy
msgid "Never learned"
msgstr "Neniam lernita"

msgid "Not translated"
msgstr ""

msgid "One thing"
msgid_plural "Many things"
msgstr[0] "Unu afero"
msgstr[1] "Multaj aferoj"

msgid "The same"
msgstr "The same"

msgid ""
"A text in "
"two \"parts\""
msgstr ""
"Teksto en du "
"\"partoj\""
END
cat >"$here/translations/source/xx/helpcontent2/text.po" <<'END'
msgid "Choose <emph>File - %PRODUCTNAME</emph> &lt;now&gt;."
msgstr "Elektu <emph>Dosiero - %PRODUCTNAME</emph> &lt;nun&gt;."
END
awk 'BEGIN { split("ba do ki lu me no pa ri so tu", w, " ")
    for (i = 0; i < 1000; i++) {
        x = w[i % 10 + 1] w[int(i / 10) % 10 + 1] " " w[int(i / 100) % 10 + 1]
        printf "msgid \"%s\"\nmsgstr \"z%s\"\n\nmsgid \"%s...\"\nmsgstr \"z%s...\"\n\nmsgid \"the %s\"\nmsgstr \"la z%s\"\n\n", x, x, x, x, x, x
    } }' >"$po/many.po"
printf 'msgid "a few"\nmsgstr "kelkaj"\n' >"$here/translations/source/yy/few.po"
tar -cJf "$FOLDER/libreoffice_7.4.7.orig-translations.tar.xz" -C "$here" translations
printf 'xx\nyy\n' >"$FOLDER/languages"

expect 'it is told how it is used' 2 '' 'usage: recipes/libreoffice.sh LANG*' "$recipe"
expect 'a language that is not there is answered with those that are' 1 '' "*no language 'cy'; it has xx yy*" "$recipe" cy
expect 'a language with few messages is refused' 1 '' '*only 1 messages*into yy, too few*' "$recipe" yy
expect 'it trains and evaluates' 0 '*BLEU*' '*3004 pairs*' sh -c "'$recipe' xx --updates 20 --dim 16 --ffn 32 --heads 2 --vocab-size 60 --valid-every 20 -q -j 1 2>&1; \
    cat '$FOLDER'/*.xx.tsv | wc -l | sed 's/\$/ pairs/' >&2"
all=$(cat "$FOLDER"/train.xx.tsv "$FOLDER"/dev.xx.tsv "$FOLDER"/test.xx.tsv)
for pair in 'Open File	Malfermi dosieron' 'Save As...	Konservi kiel...' 'A text in two "parts"	Teksto en du "partoj"' \
    'Choose File - LibreOffice <now>.	Elektu Dosiero - LibreOffice <nun>.'; do
    printf '%s\n' "$all" | grep -qxF -e "$pair" && problem='' || problem="is not there"
    verdict "made of a message: $pair" "$problem" ''
done
for text in 'Never learned' 'Not translated' 'The same' 'One thing'; do
    printf '%s\n' "$all" | grep -q "$text" && problem='is there' || problem=''
    verdict "left out: $text" "$problem" ''
done
plain() { cut -f 1 "$1" | tr -d '. ' | LC_ALL=C sort -u; }
plain "$FOLDER/train.xx.tsv" >"$here/learned"
for set in dev test; do
    n=$(wc -l <"$FOLDER/$set.xx.tsv")
    [ "$n" -ge 150 ] && [ "$n" -le 153 ] && problem='' || problem="$n pairs"
    plain "$FOLDER/$set.xx.tsv" | comm -12 - "$here/learned" | grep . >"$here/both" && problem="$problem; both have $(head -n 1 "$here/both")"
    verdict "nothing of $set is learned, nor the like of it" "$problem" ''
done
expect 'the model names its text' 0 '*en-xx*LibreOffice contributors, MPL-2.0*' '' "$HEED" info "$FOLDER/en-xx.safetensors"
expect 'and the way back' 0 '*BLEU*' '*' env TURN=1 "$recipe" xx --updates 20 --dim 16 --ffn 32 --heads 2 --vocab-size 60 --valid-every 20 -q -j 1
expect 'which is from xx' 0 '*xx-en*' '' "$HEED" info "$FOLDER/xx-en.safetensors"
finish
