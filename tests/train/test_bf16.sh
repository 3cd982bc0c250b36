#!/bin/sh
# test_bf16.sh -- training in bf16 gives one model: for any number of threads and ranks, any kernel, after kill -9, and when a run is made
# of two. It is not that of f32, and learns as well.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
unset HEED_KERNEL
cd "$here" || exit 1
corpus 11 150 t.en t.fr
corpus 12 8 e.en e.fr
text='--src t.en --tgt t.fr --dev-src e.en --dev-tgt e.fr'
# Odd widths, so that pairs are filled up.
transformer='--arch transformer --dim 18 --ffn 15 --heads 2 --layers 1 --patience 0 --warmup 3 --word-dropout 0.1 --batch-tokens 900'
recurrent='--layers 1 --dim 18 --embed 13 --patience 0 --warmup 3 --dropout 0.2 --batch-tokens 900'

# learn NAME OPTIONS...: the model is NAME.safetensors
learn() {
    out=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 $launcher "$heed" train $text -q --tokens words --valid-every 3 --precision bf16 --out "$out.safetensors" "$@" >"$out.out" 2>&1
}
same() { # SENTENCE A B
    problem=
    cmp -s "$2.safetensors" "$3.safetensors" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2.safetensors" "$3.safetensors" 2>&1; cat "$3.out" 2>/dev/null)"
}
launcher=

for model in transformer luong bahdanau; do
    case $model in
    transformer) sizes=$transformer ;;
    *) sizes="--arch $model $recurrent" ;;
    esac
    # shellcheck disable=SC2086
    learn one $sizes --updates 6 -j 1
    # shellcheck disable=SC2086
    for threads in 2 3; do
        learn j $sizes --updates 6 -j $threads
        same "$threads threads change no bit of a $model" one j
        rm -f j.*
    done
    for kernel in $("$heed" info | sed -n 's/^kernels *//p'); do
        # shellcheck disable=SC2086
        HEED_KERNEL=$kernel learn k $sizes --updates 6 -j 2
        same "the kernel $kernel changes no bit of a $model" one k
        rm -f k.*
    done
    # shellcheck disable=SC2086
    for first in 1 3 5; do
        learn parts $sizes --updates $first -j 2
        learn parts $sizes --updates 6 -j 2
        same "$first updates and then up to 6 are 6 of a $model" one parts
        rm -f parts.*
    done
    rm -f one.*
done

# ---- ranks -----------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
learn one $transformer --updates 6 -j 1
if command -v mpirun >/dev/null && [ -e "$(dirname "$heed")/heed_mpi.so" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
    for n in 1 2 4; do
        launcher="mpirun -n $n"
        # shellcheck disable=SC2086
        learn ranks $transformer --updates 6 -j 1
        same "$n ranks end in the same file" one ranks
        rm -f ranks.*
    done
    launcher=
fi

# ---- what is fixed, and what is said ---------------------------------------------------------------------
problem=
[ "$("$heed" info one.safetensors --json | grep -c '"precision":"bf16"')" = 1 ] || problem='it is not in the record'
verdict 'the precision is in the record' "$problem" "$("$heed" info one.safetensors --json)"
# shellcheck disable=SC2086
expect 'a run does not go on in another precision' 2 '' '*precision is f32, but the run that is saved*has bf16, which cannot change*' \
    "$heed" train $text --tokens words $transformer --updates 9 --precision f32 -q --out one.safetensors
# shellcheck disable=SC2086
learn f32 $transformer --updates 6 --precision f32
problem=
cmp -s one.safetensors f32.safetensors && problem='they are the same'
verdict 'f32 is another model' "$problem" ''

# ---- kill -9 ---------------------------------------------------------------------------------------------
seed=${HEED_TEST_SEED:-$(date +%s)}
echo "kill: HEED_TEST_SEED=$seed repeats these moments"
# shellcheck disable=SC2086
learn whole $transformer --updates 120 --save-every 2 -j 2
# shellcheck disable=SC2086
for k in 1 2 3 4; do
    "$heed" train $text -q --tokens words --valid-every 3 --precision bf16 $transformer --updates 120 --save-every 2 -j 2 --out killed.safetensors 2>/dev/null &
    pid=$!
    sleep "0.$(awk -v s="$seed" -v k=$k 'BEGIN { printf "%03d", (s * 16807 + k * 7919 * 31) % 2147483647 % 200 + 20 }')"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
done
# shellcheck disable=SC2086
learn killed $transformer --updates 120 --save-every 2 -j 2
same 'four kills later the model is the same' whole killed
finish
