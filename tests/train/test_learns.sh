#!/bin/sh
# test_learns.sh -- a real run: it must translate sentences that it has never seen, which nothing untrained or broken does.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
unset HEED_KERNEL
cd "$here" || exit 1
corpus 21 3000 all.en all.fr
corpus 22 100 dev.en dev.fr
# What is in the dev text is not learned from.
paste all.en all.fr | grep -v -x -F "$(paste dev.en dev.fr)" >t.tsv
paste dev.en dev.fr >e.tsv

# best METRIC: what the log calls the best
best() { sed -n "s/.*the best, $1 \([0-9.]*\) at.*/\1/p" m.log | tail -n 1; }
learn() { # NAME LEAST MOST OPTIONS...
    name=$1 least=$2 most=$3
    shift 3
    timeout 200 "$heed" train --tsv t.tsv --dev-tsv e.tsv -q --out m.safetensors "$@" >m.out 2>&1
    status=$? score=$(best BLEU) problem=
    [ $status = 0 ] || problem="status $status"
    awk -v score="${score:-0}" -v least="$least" -v most="$most" 'BEGIN { exit !(score >= least && score <= most) }' ||
        problem="BLEU ${score:-none} is not from $least to $most"
    verdict "$name (BLEU ${score:-none})" "$problem" "$(cat m.out m.log)"
    rm -f m.*
}
case $BUILD in
*san*) updates=20 level=0 ;; # sanitizers look for other things
*) updates=600 level=80 ;;
esac
learn 'a transformer translates what it has never seen' $level 100 --dim 64 --ffn 128 --heads 4 --layers 1 --dropout 0.1 --rate 0.005 \
    --warmup 50 --vocab-size 100 --batch-tokens 512 --updates $updates --valid-every 50
learn 'and so does a recurrent model' $level 100 --arch luong --dim 64 --layers 1 --dropout 0.1 --rate 0.005 --warmup 50 \
    --tokens words --batch-tokens 512 --updates $((updates / 3)) --valid-every 50
learn 'what is broken does not' 0 5 --dim 64 --ffn 128 --heads 4 --layers 1 --rate 0 --vocab-size 100 --batch-tokens 512 --updates 2 --valid-every 1
finish
