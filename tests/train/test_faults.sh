#!/bin/sh
# test_faults.sh -- a run that goes on while the system fails it, at every call in turn: it ends as it would have ended, or with a sentence,
# and then the same command ends as it would have ended. (`make torture` does the same at random, and with kills.)
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed faults=$PWD/$BUILD/torture/faults.so
case $BUILD in /*) heed=$BUILD/heed faults=$BUILD/torture/faults.so ;; esac
unset HEED_KERNEL
cd "$here" || exit 1
if ! LD_PRELOAD=$faults "$heed" info >/dev/null 2>&1; then
    echo 'skipped: faults.so cannot be loaded before this heed'
    finish
fi
corpus 3 60 t.en t.fr
corpus 4 12 e.en e.fr
# Nothing is learned, so the first model stays the best, and whoever takes a later one for it is seen by its record.
train() {
    timeout 60 "$heed" train --src t.en --tgt t.fr --dev-src e.en --dev-tgt e.fr --arch luong --dim 12 --layers 2 --tokens words --batch-tokens 60 \
        --patience 0 --valid-every 4 --rate 0 -q -j 1 --out m.safetensors "$@" 2>err
}
train --updates 10
mkdir half whole
cp m.* half
train --updates 14
cp m.safetensors whole
problem=
cmp -s half/m.safetensors whole/m.safetensors || problem='the second half finds a better one'
verdict 'the best model is from the first half' "$problem" "$(cat m.log)"

# every CALL:FAULT: the rule for the first call, the second, and so on, until the run does not come to it any more
every() {
    problem= n=0
    while n=$((n + 1)) && [ -z "$problem" ] && [ $n -lt 100 ]; do
        rm -f m.*
        cp half/* .
        HEED_FAULTS=$1:$n LD_PRELOAD=$faults train --updates 14
        status=$?
        case $status in
        0) ;;
        1) grep -q '^heed: ' err || problem="call $n: there is no sentence" ;;
        137) ;;
        *) problem="call $n: status $status" ;;
        esac
        "$heed" info m.safetensors >/dev/null 2>&1 || problem="call $n: the model does not load"
        train --updates 14 || problem="call $n: it does not go on"
        cmp -s m.safetensors whole/m.safetensors || problem="call $n: another model"
        [ $status = 0 ] && [ $n -gt 20 ] && break
    done
    verdict "$2" "$problem" "$(cat err m.log)"
}
every open:EMFILE 'no descriptor left'
every mmap:ENOMEM 'no memory to map a file'
every rename:EIO 'a file that cannot be renamed'
every fsync:EIO 'a disk that does not take it'
every write:ENOSPC 'a disk that is full'
every write:torn 'a kill in the middle of writing'
every rename:kill 'a kill before a rename'
finish
