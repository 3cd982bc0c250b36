#!/bin/sh
# test_average.sh -- the mean of models: of two that are equal it is both, of a state it is its moving average, and others are refused.
. tests/transcript.sh

if ! command -v python3 >/dev/null; then
    echo "skipped: there is no Python"
    exit 0
fi
average=$PWD/tools/average_models.py heed=$PWD/$BUILD/heed toy=$PWD/tests/translate/toy.safetensors
cd "$here" || exit 1
"$heed" convert "$toy" --store f32 -o a.safetensors
expect 'of two equal models it is both' 0 '' '' "$average" mean.safetensors a.safetensors a.safetensors
echo 'eins zwei drei' >text
"$heed" translate -m a.safetensors --confidence text >one
expect 'which says the same' 0 "$(cat one)" '' "$heed" translate -m mean.safetensors --confidence text
printf 'a b\nb a\nc a\n%.0s' 1 2 3 4 5 6 7 8 >src
printf 'x y\ny x\nz x\n%.0s' 1 2 3 4 5 6 7 8 >tgt
"$heed" train -q --src src --tgt tgt --dev-src src --dev-tgt tgt --tokens words --dim 16 --updates 4 --valid-every 4 --out b.safetensors
expect 'of a state it is the moving average, which the model at the end is' 0 '' '' "$average" mean.safetensors b.state.safetensors
"$heed" score -m b.safetensors src tgt >scores 2>/dev/null
expect 'which scores the same' 0 "$(cat scores)" '*' "$heed" score -m mean.safetensors src tgt
expect 'models of other sizes are refused' 1 '' 'average_models.py: these models differ in size' "$average" mean.safetensors a.safetensors b.safetensors
expect 'a file that is not there is told' 1 '' 'average_models.py: nofile.safetensors: No such file or directory' "$average" mean.safetensors nofile.safetensors
: >empty
expect 'one that is no model as well' 1 '' 'average_models.py: empty: this is no safetensors file' "$average" mean.safetensors empty
expect 'and nothing but a model is written over' 1 '' 'average_models.py: text: this is no safetensors file' "$average" text a.safetensors
finish
