#!/bin/sh
# heed convert: every kind of model that Marian trains becomes one that translates, aligns, is quantised and trained further; what is broken
# or not known is said in a sentence. The models of tests/model/marian are small, made by tools/marian_golden.py.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
marian=$PWD/tests/model/marian
corpus=$PWD/tests/fuzz/corpus/marian_bin
cd "$here" || exit 1

for file in post.npz pre.npz tied-layers.npz ssru.bin int8.bin ssru-pre.npz amun.npz nematus.npz s2s.npz s2s-lstm.npz s2s-alternating.bin s2s-tanh.npz s2s-deep.npz s2s-skip.npz s2s-norm.npz nematus-norm.npz; do
    kind=${file%.*}
    vocab=$marian/source.yml,$marian/target.yml
    case $kind in post | ssru | int8 | s2s) vocab=$marian/joint.yml ;; esac
    cut -f 1 "$marian/$kind.tsv" >source
    cut -f 2 "$marian/$kind.tsv" >greedy
    cut -f 3 "$marian/$kind.tsv" >target
    expect "$kind: it is converted" 0 '*' '*' "$heed" convert "$marian/$file" --vocab "$vocab" -o m.heed
    "$heed" translate -m m.heed --beam 1 --loops keep --split never --protect no --restore-case no -q source >said 2>why
    [ $kind = pre ] || expect "$kind: and says what it said to Marian" 0 '' '' cmp said greedy
    expect "$kind: it aligns" 0 '*-*' '' "$heed" align -q -m m.heed source target
    expect "$kind: it is quantised" 0 '*' '*' "$heed" convert m.heed --store int8 -o int8.heed
    expect "$kind: and translates in 8 bits" 0 '*' '' "$heed" translate -m int8.heed -q source
    expect "$kind: it is trained further" 0 '*' '*' "$heed" train --from m.heed --src source --tgt target --dev-src source --dev-tgt target \
        --updates 2 --valid-every 2 -q -o more.heed
    rm -f m.heed int8.heed more.*
done
expect 'the record says where it comes from' 0 '' '' "$heed" convert "$marian/ssru.bin" --vocab "$marian/joint.yml" -o m.heed
expect 'and its version' 0 '*marian*v1.12.42*' '' "$heed" info --json m.heed

# refused FILE WORDS
refused() { expect "$1 is refused" 1 '' "*$2*" "$heed" convert "$1" --vocab "$marian/joint.yml" -o never.heed; }
for seed in fork packed encrypted cut; do cp "$corpus/$seed" $seed.bin; done
refused fork.bin "fork.bin: its tensor 'q8' is packed in the way of the Marian that browsers have"
refused packed.bin "packed.bin: its tensor 'q8' is packed for one kind of CPU"
refused encrypted.bin 'encrypted.bin: it is encrypted'
refused cut.bin 'cut.bin: it ends too early; it is damaged, or not a model.bin of Marian'
cp "$corpus/good" good.bin
refused good.bin 'good.bin: a Marian model of type'
echo 'no model at all' >text.bin
refused text.bin 'text.bin: this is not a model.bin of Marian; of a model of transformers or CTranslate2 give the folder that it is in'
expect 'the vocabulary is asked for' 1 '' '*a Marian model needs its vocabulary*' "$heed" convert "$marian/ssru.bin" -o never.heed
finish
