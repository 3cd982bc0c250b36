#!/bin/sh
# default_model_golden.sh -- what the model inside heed makes of some sentences, for tests/cli/test_default.sh to hold it to.
#
#   tools/default_model_golden.sh [BUILD]     after a new models/default.safetensors and `make`; look at the difference, then commit it
#
# A line is a pair of languages, a sentence, its translation and the links between their words. What is asked of each pair stands here.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
asked=$(mktemp)
trap 'rm -f "$asked"' EXIT

cat >"$asked" <<'END'
en-fr	Good morning!
en-fr	I love my cat.
en-fr	The red house is very old.
en-fr	Where did you buy these shoes?
en-fr	If it rains tomorrow, we will stay at home.
en-fr	Write to me at jane.doe@example.org before 17:45.
fr-en	Bonjour !
fr-en	Où est la gare ?
fr-en	Mon frère n'aime pas le café.
fr-en	Il a rendu le livre à son professeur hier.
en-de	Good morning!
en-de	The red house is very old.
en-de	Could you open the window, please?
en-de	I have lived in this town for ten years.
de-en	Guten Morgen!
de-en	Wo ist der Bahnhof?
de-en	Meine Schwester lernt seit zwei Jahren Englisch.
de-en	Niemand weiß, warum der Zug so spät kam.
END
while IFS='	' read -r pair sentence; do
    printf '%s\n' "$sentence" | "$build/heed" translate --from "${pair%-*}" --to "${pair#*-}" --align hard |
        sed "s/ ||| /	/; s/^/$pair	$(printf '%s' "$sentence" | sed 's/[&/\\]/\\&/g')	/"
done <"$asked" >tests/cli/default.tsv.new
mv tests/cli/default.tsv.new tests/cli/default.tsv
cat tests/cli/default.tsv
