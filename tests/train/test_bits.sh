#!/bin/sh
# test_bits.sh -- the model's file is the same to the last bit: for any number of threads, any kernel, after kill -9 at any moment, after
# an interrupt, and when a run is made of two.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
unset HEED_KERNEL
cd "$here" || exit 1
corpus 11 150 t.en t.fr
corpus 12 8 e.en e.fr
text='--src t.en --tgt t.fr --dev-src e.en --dev-tgt e.fr'
small='--dim 16 --ffn 16 --heads 2 --layers 1 --patience 0 --warmup 3 --valid-metric ce --word-dropout 0.1'

# learn NAME OPTIONS...: the model is NAME.safetensors
learn() {
    out=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 "$heed" train $text $small -q --out "$out.safetensors" "$@" >"$out.out" 2>&1
}
same() { # SENTENCE A B
    problem=
    cmp -s "$2.safetensors" "$3.safetensors" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2.safetensors" "$3.safetensors" 2>&1; cat "$3.out" 2>/dev/null)"
}

# ---- threads and kernels: shards enough for three -------------------------------------------------------
wide='--tokens words --batch-tokens 900 --updates 6 --valid-every 3'
learn one $wide -j 1
for threads in 2 3; do
    learn j$threads $wide -j $threads
    same "$threads threads change no bit" one j$threads
done
learn alone --tokens words --batch-tokens 120 --updates 5 --valid-every 2 -j 2
for kernel in $("$heed" info | sed -n 's/^kernels *//p'); do
    [ "$kernel" != ref ] || continue
    HEED_KERNEL=$kernel learn "k$kernel" --tokens words --batch-tokens 120 --updates 5 --valid-every 2 -j 2
    same "the kernel $kernel changes no bit" alone "k$kernel"
done
for arch in luong bahdanau; do
    recurrent="--arch $arch --dim 16 --layers 1 --patience 0 --warmup 3 --dropout 0.2"
    # shellcheck disable=SC2086
    for threads in 1 3; do
        timeout 100 "$heed" train $text $recurrent $wide -q -j $threads --out $arch$threads.safetensors >$arch$threads.out 2>&1
    done
    same "nor do they for $arch" ${arch}1 ${arch}3
done

# ---- two runs that are one -----------------------------------------------------------------------------
parts='--tokens spm --vocab-size 60 --subword-sampling 0.1 --batch-tokens 150 -j 2'
for variant in '' '--average 2' '--average 2 --average-of best' '--ema 0 --optimizer sgd --rate 0.1' '--schedule plateau' '--store f16'; do
    learn whole $parts $variant --updates 27 --valid-every 5
    for first in 1 5 13 26; do
        learn parts $parts $variant --updates $first --valid-every 5
        learn parts $parts $variant --updates 27 --valid-every 5
        same "$first updates and then up to 27 are 27${variant:+ with $variant}" whole parts
        rm -f parts*
    done
    rm -f whole*
done
# The first look is the best there is, since nothing is learned behind it.
learn whole $parts --rate 0.5 --clip 0 --warmup 0 --ema 0 --updates 12 --valid-every 4
learn parts $parts --rate 0.5 --clip 0 --warmup 0 --ema 0 --updates 6 --valid-every 4
learn parts $parts --rate 0.5 --clip 0 --warmup 0 --ema 0 --updates 12 --valid-every 4
same 'also when the end of the first part was the best' whole parts
rm -f whole* parts*
learn whole $parts --epochs 3 --valid-every 7
learn parts $parts --epochs 1 --valid-every 7
learn parts $parts --epochs 3 --valid-every 7
same 'one epoch and then up to three are three' whole parts
rm -f whole* parts*

# ---- interrupts ------------------------------------------------------------------------------------------
long='--tokens spm --vocab-size 60 --batch-tokens 150 --valid-every 20 --save-every 7 -j 2'
learn whole $long --updates 300
for signal in INT TERM HUP; do
    case $signal in INT) code=130 ;; TERM) code=143 ;; HUP) code=129 ;; esac
    # shellcheck disable=SC2086
    "$heed" train $text $small $long --updates 300 --out stopped.safetensors 2>stopped.err &
    pid=$!
    while [ ! -s stopped.safetensors ]; do sleep 0.01; done
    kill -$signal $pid
    wait $pid
    status=$?
    problem=
    case $(tail -n 1 stopped.err) in
    'heed: stopped after update '*'; the state is saved, and the same command goes on from there') [ $status = $code ] || problem="status $status" ;;
    'done: '*) ;; # it was faster
    *) problem='no such sentence' ;;
    esac
    verdict "SIG$signal ends a run with a sentence" "$problem" "$(cat stopped.err)"
    learn stopped $long --updates 300
    same "after SIG$signal the same command goes on to the same model" whole stopped
    rm -f stopped*
done

# Stopped again and again, in updates, validations and looks at the end: it goes on with what was left.
seed=${HEED_TEST_SEED:-$(date +%s)}
stops=0
for ends in 41 47 300; do
    for again in 1 2 3 4; do
        # shellcheck disable=SC2086
        "$heed" train $text $small $long --valid-metric bleu --updates $ends --out stopped.safetensors -q 2>/dev/null &
        pid=$!
        stops=$((stops + 1))
        sleep "0.$(awk -v s="$seed" -v k=$stops 'BEGIN { printf "%03d", (s * 16807 + k * 7919 * 31) % 2147483647 % 90 + 20 }')"
        kill -TERM $pid 2>/dev/null
        wait $pid
    done
done
learn stopped $long --valid-metric bleu --updates 300
rm -f whole*
learn whole $long --valid-metric bleu --updates 300
same "twelve stops later the model is the same (HEED_TEST_SEED=$seed)" whole stopped
rm -f stopped* whole*
learn whole $long --updates 300

# One update of many seconds is left in the middle; a second signal does not wait for the state.
awk 'BEGIN { for (i = 0; i < 4000; i++) { s = ""; for (k = 0; k < 25; k++) s = s " w" (i * 31 + k * 7) % 3000; print substr(s, 2) "\t" substr(s, 2) } }' >wide.tsv
large='--tokens words --arch transformer --size small --batch-tokens 100000 --valid-metric ce -j 2'
for second in no yes; do
    # shellcheck disable=SC2086
    "$heed" train --tsv wide.tsv $large --updates 1 --out wide.safetensors 2>wide.err &
    pid=$!
    while [ ! -s wide.state.safetensors ]; do sleep 0.05; done
    sleep 1
    begin=$(date +%s)
    kill -TERM $pid
    [ $second = no ] || { sleep 0.1; kill -TERM $pid; }
    wait $pid
    status=$?
    took=$(($(date +%s) - begin))
    problem=
    [ $status = 143 ] && [ $took -le 20 ] || problem="status $status after $took seconds"
    grep -q 'stopping, the state is being saved; once more leaves at once' wide.err || problem="$problem; it was not acknowledged"
    [ $second = yes ] || grep -q 'stopped after update 0' wide.err || problem="$problem; the update was not left"
    verdict "a long update is left at once (second signal: $second)" "$problem" "$(cat wide.err)"
done
rm -f wide*

# ---- kill -9 at random moments, writing included ------------------------------------------------------------
echo "kill: HEED_TEST_SEED=$seed repeats these moments"
kills=0
# shellcheck disable=SC2086
while [ $kills -lt 10 ]; do
    "$heed" train $text $small $long --updates 300 -q --out killed.safetensors 2>killed.out &
    pid=$!
    kills=$((kills + 1))
    sleep "0.$(awk -v s="$seed" -v k=$kills 'BEGIN { printf "%03d", (s * 16807 + k * 7919 * 31) % 2147483647 % 130 + 10 }')"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
done
learn killed $long --updates 300
same 'ten kills later the model is the same' whole killed

# ---- losses that are not finite: the way back is the same, killed or not --------------------------------------
wild='--tokens words --batch-tokens 100 --valid-every 500 --save-every 5 --optimizer sgd --clip 0 --warmup 30 --rate 30 --ema 0 --word-dropout 0 --updates 400'
learn wild $wild
case $(cat wild.out) in
*'the loss does not stay finite, even at 1/1024 of the rate'*) verdict 'what never stays finite is given up' '' '' ;;
*) verdict 'what never stays finite is given up' 'it is not' "$(cat wild.out)" ;;
esac
for delay in 0.05 0.08 0.12; do
    # shellcheck disable=SC2086
    "$heed" train $text $small $wild -q --out tamed.safetensors 2>/dev/null &
    pid=$!
    sleep $delay
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
done
learn tamed $wild
same 'after a kill it ends in the same state' wild.state tamed.state

left=$(ls | grep -v '^killed\.\(safetensors\|state\.safetensors\(\.previous\)\?\|log\|jsonl\|svg\|out\)$' | grep killed)
verdict 'and nothing else is left' "$left" "$left"
finish
