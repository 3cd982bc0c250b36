#!/bin/sh
# default_model_golden.sh -- what the model inside heed makes of a dozen sentences, for tests/cli/test_default.sh to hold it to.
#
#   tools/default_model_golden.sh [BUILD]     after a new models/en-fr.safetensors and `make`; look at the difference, then commit it
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
sentences=$(mktemp)
trap 'rm -f "$sentences"' EXIT

cat >"$sentences" <<'END'
Good morning!
I love my cat.
The red house is very old.
Where did you buy these shoes?
She doesn't want to talk about it.
My brother and I are learning French.
If it rains tomorrow, we will stay at home.
He gave the book back to his teacher yesterday.
Nobody knows why the train was so late.
I have lived in this town for ten years.
Could you open the window, please?
The children were playing in the garden when their mother called them.
END
"$build/heed" translate --align hard "$sentences" | sed 's/ ||| /	/' | paste "$sentences" - >tests/cli/default.tsv.new
mv tests/cli/default.tsv.new tests/cli/default.tsv
cat tests/cli/default.tsv
