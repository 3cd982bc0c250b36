#!/bin/sh
# Several ranks train the very model that one process trains; a rank that is lost ends the run instead of hanging it.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac

if ! command -v mpirun >/dev/null || [ ! -e "$(dirname "$heed")/heed_mpi.so" ]; then
    echo "skipped: no MPI here (tools/packages.sh mpi installs it)"
    exit 0
fi
# Open MPI asks before it runs as root or with more ranks than cores; both are fine here.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1

awk 'BEGIN { srand(7); split("ba do ki lu me no pa ri so tu", w, " ")
    for (i = 0; i < 1200; i++) {
        n = 2 + int(rand() * 6); s = t = ""
        for (k = 0; k < n; k++) { x = w[1 + int(rand() * 10)] w[1 + int(rand() * 10)]; s = s (k ? " " : "") x; t = x (k ? " " : "") t }
        print s "\t" t
    } }' >"$here/pairs.tsv"

train() { # train OUT LAUNCHER...
    out=$1
    shift
    "$@" "$heed" train --tsv "$here/pairs.tsv" --out "$here/$out.safetensors" --vocab-size 120 --dim 16 --ffn 32 --heads 2 \
        --updates 24 --valid-every 10 --save-every 7 --batch-tokens 1800 --average 2 --seed 3 -q -j 1
}

train alone env && alone=$(sha256sum <"$here/alone.safetensors")
for n in 1 2 3 4; do
    train "ranks$n" mpirun -n $n
    sum=$(sha256sum <"$here/ranks$n.safetensors")
    problem=
    [ "$sum" = "$alone" ] || problem="$sum instead of $alone"
    verdict "$n ranks end in the same file" "$problem" ""
done

# One rank goes on with what two began, and the other way round.
train mixed mpirun -n 2 2>"$here/err" & pid=$!
sleep 1
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
pkill -9 -f "$here/mixed" 2>/dev/null
# What was killed has no name any more while it is taken down, but still holds the journal's lock.
until train mixed env 2>"$here/again" || ! grep -q 'is in use' "$here/again"; do sleep 0.1; done
sum=$(sha256sum <"$here/mixed.safetensors")
problem=
[ "$sum" = "$alone" ] || problem="$sum instead of $alone"
verdict "one process goes on where two ranks were killed" "$problem" "$(cat "$here/err" "$here/again")"

expect "standard input reaches one rank only" 1 '' '*standard input reaches one of the 2 ranks only*' \
    mpirun -n 2 "$heed" train --tsv - --out "$here/x.safetensors" -q
finish
