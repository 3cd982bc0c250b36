#!/bin/sh
# check_page.sh BUILD [PART...] -- the page of heed serve in a real Chromium; pictures of it stay in BUILD/page, to be looked at.
set -eu
build=$1
shift
out=$build/page
if [ ! -f "$build/heed_serve.so" ]; then
    echo 'check-page: skipped, as there is no heed_serve.so (tools/packages.sh serve installs what it needs)'
    exit 0
fi
if ! command -v chromedriver >/dev/null || ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then
    echo 'check-page: skipped, as there is no Chromium with its driver (tools/packages.sh page installs them)'
    exit 0
fi
mkdir -p "$out"

# A model without attention, which need not be good at it: German numbers, backwards in English.
awk 'BEGIN { split("eins zwei drei vier fünf sechs sieben acht", de); split("one two three four five six seven eight", en)
    for (i = 0; i < 400; i++) { n = i % 3 + 1; s = t = ""
        for (k = 0; k < n; k++) { w = (i * 7 + k * 5 + int(i / 9)) % 8 + 1; s = s (k ? " " : "") de[w]; t = en[w] (k ? " " : "") t }
        print s "\t" t } }' >"$out/numbers.tsv"
"$build/heed" train --tsv "$out/numbers.tsv" --out "$out/vector.safetensors" --arch seq2seq --tokens words --dim 16 --embed 8 --layers 1 --updates 60 \
    --fresh --quiet >"$out/train.log" 2>&1 || { cat "$out/train.log"; exit 1; }

python3 tests/page/page.py "$build/heed" "$PWD/tests/translate/toy.safetensors" "$out/vector.safetensors" "$out" "$@"
