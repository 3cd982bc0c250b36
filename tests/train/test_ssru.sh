#!/bin/sh
# test_ssru.sh -- a Transformer whose decoder has a recurrent unit, as a user meets it: trained, gone on with, searched, in 8 bits, and what
# it has no attention for.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
unset HEED_KERNEL
cd "$here" || exit 1
corpus 3 60 t.en t.fr
corpus 4 5 e.en e.fr
common='--src t.en --tgt t.fr --dev-src e.en --dev-tgt e.fr --dim 16 --ffn 16 --heads 2 --layers 2 --tokens words --batch-tokens 200 --patience 0 --valid-every 20 --warmup 3 -q'

# train OUT WORDS...
train() {
    out=$1
    shift
    # shellcheck disable=SC2086
    timeout 120 "$heed" train $common --decoder ssru --out "$out" "$@"
}
same() {
    problem=
    cmp -s "$2" "$3" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2" "$3" 2>&1)"
}

# shellcheck disable=SC2086
expect 'it is said to have the unit' 0 '' '*model: transformer, 2+2 layers of 16, pre-norm, decoder ssru, *' \
    timeout 120 "$heed" train ${common% -q} --decoder ssru --out told.safetensors --updates 1
expect 'it is trained' 0 '' '' train m.safetensors --updates 40 -j 2
expect 'and says what it is' 0 '*"decoder":*"ssru"*' '' "$heed" info --json m.safetensors
expect 'by one thread' 0 '' '' train one.safetensors --updates 40 -j 1
same 'the same' m.safetensors one.safetensors
expect 'half of it' 0 '' '' train half.safetensors --updates 20 -j 2
expect 'and the rest' 0 '' '' train half.safetensors --updates 40 -j 2
same 'are the whole' m.safetensors half.safetensors
expect 'in bf16' 0 '' '' train bf16.safetensors --updates 20 --precision bf16

"$heed" translate -m m.safetensors -q -j 1 --batch 1 e.en >beam
"$heed" translate -m m.safetensors -q -j 2 --batch 5 e.en >other
same 'a beam finds the same in any batch' beam other
"$heed" translate -m m.safetensors -q --beam 1 e.en >greedy
for kernel in $("$heed" info | sed -n 's/^kernels *//p'); do
    HEED_KERNEL=$kernel "$heed" translate -m m.safetensors -q --beam 1 e.en >other
    same "and by $kernel" greedy other
done
expect 'it is stored in 8 bits' 0 '*' '*' "$heed" convert m.safetensors --store int8 -o int8.safetensors
"$heed" translate -m int8.safetensors -q e.en >int8
"$heed" translate -m m.safetensors --compute int8 -q -j 2 --batch 3 e.en >other
same 'which is the same as to compute so' int8 other
expect 'what it scores is what it found' 0 '-*' '*perplexity *' "$heed" score -m m.safetensors e.en greedy

head -n 1 e.en >one.en
expect 'its attention to the source is shown' 0 '*"attention":*' '*' "$heed" translate -m m.safetensors --json one.en
expect 'and that of its encoder' 0 '*"attention":*' '*' "$heed" translate -m m.safetensors --json --attention encoder one.en
expect 'but its decoder has none' 1 '' "*the model's decoder has a recurrent unit (decoder ssru) in the place of self-attention; choose attention encoder or cross*" \
    "$heed" translate -m m.safetensors --json --attention decoder one.en
expect 'words are linked' 0 '*-*' '' "$heed" align -m m.safetensors e.en e.fr
expect 'transformers cannot express it' 1 '' '*transformers cannot express this model: its decoder has a recurrent unit (decoder ssru)*' \
    "$heed" convert m.safetensors --to hf -o hf
expect 'a recurrent model has no such decoder' 2 '' '*decoder is for the transformer, but arch is luong*' \
    "$heed" train --src t.en --tgt t.fr --dev-src e.en --dev-tgt e.fr --arch luong --decoder ssru --out no.safetensors
expect 'nor is there any other' 2 '' '*decoder must be*self-attention*ssru*' train no.safetensors --decoder aan
finish
