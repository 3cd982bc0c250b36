#!/bin/sh
# test_exchange.sh -- training from the files that people have: TMX, CSV, PO and a folder of them; pairs that help nobody are left out and counted.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
markup=${heed%/heed}/heed_markup.so
cd "$here" || exit 1
small='--dim 8 --ffn 8 --heads 2 --layers 1 --tokens words --updates 3 --patience 0 --batch-tokens 200 --valid-metric ce'
corpus 41 60 t.en t.fr
corpus 42 10 d.en d.fr
paste t.en t.fr >t.tsv
paste d.en d.fr >d.tsv
mkdir -p all/more
awk -F '\t' 'BEGIN { print "n;fr;en" } { print NR ";\"" $2 "\";" $1 }' t.tsv >all/a.csv
awk -F '\t' '{ printf "msgid \"%s\"\nmsgstr \"%s\"\n\n", $1, $2 } END { print "msgid \"x\"\nmsgstr \"\"" }' t.tsv >all/more/b.po
{ echo '<tmx><header srclang="en"/><body>'
  awk -F '\t' '{ printf "<tu><tuv xml:lang=\"en\"><seg>%s</seg></tuv><tuv xml:lang=\"fr\"><seg>%s</seg></tuv></tu>\n", $1, $2 }' t.tsv
  echo '</body></tmx>'; } >t.tmx
learn() { # NAME OPTIONS...
    out=$1
    shift
    # shellcheck disable=SC2086
    "$heed" train $small --dev-tsv d.tsv --languages en-fr --out "$out.safetensors" "$@" >"$out.out" 2>&1
}
same() { # SENTENCE A B
    problem=
    cmp -s "$2.safetensors" "$3.safetensors" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cat "$2.out" "$3.out")"
}
learn plain --tsv t.tsv
learn csv --tsv all/a.csv
same 'a table is the same text' plain csv
learn po --tsv all/more/b.po
same 'so are messages' plain po
expect 'those without a translation are counted' 0 '*reading the text: 1 entries have no translation*' '' cat po.out
if [ -f "$markup" ]; then
    learn tmx --tsv t.tmx
    same 'so is a translation memory' plain tmx
    learn turned --pair fr-en=t.tmx --languages fr-en --dev-tsv d.tsv
    expect 'in the other direction, too' 0 '*text: 60 pairs*' '' cat turned.out
else
    expect 'without the module what is missing is told' 1 '' '*HTML and XML need the module*' "$heed" train --tsv t.tmx --out tmx.safetensors
fi
learn folder --tsv all
expect 'a folder is all that is in it' 0 '*text: 120 pairs*' '' cat folder.out
cp all/a.csv table
expect 'a table is known by its kind, not its name alone' 1 '' '*table:*say --format csv*' "$heed" train --tsv table --out no.safetensors
learn said --tsv table --format csv
same 'and may be said to be one' plain said
printf '<tmx><tu>' >broken.tmx
[ ! -f "$markup" ] || expect 'a broken file is told with its line' 1 '' '*broken.tmx:1: the XML is not well-formed*' "$heed" train --tsv broken.tmx --out no.safetensors
expect 'a folder without text is told' 1 '' '*this is a folder without a file that ends in*' sh -c "mkdir -p none; '$heed' train --tsv none --out no.safetensors"
{ cat t.tsv t.tsv; printf 'a cat\ta cat\n'
  printf 'the cat sees a dog\tle kato vide uno hundo and much more that nobody has said in the other language at all, on and on and on\n'
  printf 'cat 12\tkato 13\n'; head -n 1 t.tsv | awk -F '\t' '{ print $2 "\t" $1 }'; } >dirty.tsv
learn clean --tsv dirty.tsv --clean all
expect 'what teaches nothing is left out and counted' 0 '*cleaning: * of 124 pairs are left out: 1 with the same text on both sides, 1 of lengths that do not fit, 1 with other numbers, 1 with a side of another language, * that were there before
*' '' cat clean.out
sort -u t.tsv >sorted.tsv
expect 'and the rest stays' 0 '' '' sh -c "grep -q \"text: $(wc -l <sorted.tsv) pairs\" clean.out"
learn once --tsv dirty.tsv --clean duplicates same
expect 'rules are chosen by name' 0 '*cleaning: * of 124 pairs are left out: 1 with the same text on both sides, * that were there before
*' '' cat once.out
expect 'a rule must be one' 2 '' '*clean must be some of duplicates, *not *dust*' "$heed" train --tsv t.tsv --clean dust --out no.safetensors
expect 'nothing is left behind' 0 '' '' sh -c 'ls -d ./*spool* no.* 2>/dev/null; true'
finish
