#!/bin/sh
# In 8 bits, real sentences have one translation: whatever the batch, the threads and the kernel, and whenever the model was quantised. Needs the
# models and texts of SHARED; says so when they are not there.
. tests/transcript.sh
heed=$PWD/$BUILD/heed shared=$PWD/$SHARED
case $BUILD in /*) heed=$BUILD/heed ;; esac
case $SHARED in /*) shared=$SHARED ;; esac
text=$shared/data/tatoeba/test.en-de.en

for kind in transformer rnn; do
    oracle=$shared/oracles/marian-ende-$kind
    if [ ! -f "$oracle/model.npz" ] || [ ! -f "$text" ]; then
        echo "skipped: there is no $oracle/model.npz or no $text; make check SHARED=folder says where they are"
        exit 0
    fi
    "$heed" convert "$oracle/model.npz" --vocab "$oracle/vocab.spm" -o "$here/m.heed" >/dev/null
    "$heed" convert "$here/m.heed" --store int8 -o "$here/int8.heed" >/dev/null
    "$heed" translate -m "$here/int8.heed" --beam 1 -q "$text" >"$here/all"
    head -n 12 "$text" >"$here/few.en"
    head -n 12 "$here/all" >"$here/few"
    # as NAME EXPECTED OPTIONS...
    as() {
        name=$1 expected=$2
        shift 2
        "$heed" translate --beam 1 -q "$@" >"$here/other" 2>"$here/why"
        expect "$kind: $name" 0 '' '' cmp "$here/$expected" "$here/other"
    }
    [ "$(wc -l <"$here/all")" = 1000 ] || verdict "$kind: all sentences have a line" "$(wc -l <"$here/all")" ''
    as 'one sentence at a time' all -m "$here/int8.heed" --batch 1 -j 1 "$text"
    as 'odd batches by two threads' all -m "$here/int8.heed" --batch 7 -j 2 "$text"
    as 'quantised when it is loaded' all -m "$here/m.heed" --compute int8 "$text"
    # who asks for confidence has all logits, and no screen that says for many words at once that they are not it
    for compute in int8 f32; do
        "$heed" translate -m "$here/m.heed" --compute $compute --beam 1 -q "$text" >"$here/screened"
        "$heed" translate -m "$here/m.heed" --compute $compute --beam 1 -q --confidence "$text" | sed 's/ ||| [0-9. ]*$//' >"$here/dense"
        expect "$kind: screened words are those of all logits, $compute" 0 '' '' cmp "$here/screened" "$here/dense"
    done
    for kernel in $("$heed" --version | sed -n 's/^kernels of this CPU: \(.*\);.*/\1/p'); do
        HEED_KERNEL=$kernel
        export HEED_KERNEL
        if [ "$kernel" = ref ]; then # slow
            as "by $kernel" few -m "$here/int8.heed" "$here/few.en"
        else
            as "by $kernel" all -m "$here/int8.heed" "$text"
        fi
    done
    unset HEED_KERNEL
    head -n 200 "$text" >"$here/some.en"
    "$heed" translate -m "$here/int8.heed" -q "$here/some.en" >"$here/beam"
    "$heed" translate -m "$here/int8.heed" -q --batch 1 -j 1 "$here/some.en" >"$here/other"
    expect "$kind: and with a beam" 0 '' '' cmp "$here/beam" "$here/other"
    HEED_KERNEL=generic "$heed" translate -m "$here/int8.heed" -q "$here/some.en" >"$here/other"
    expect "$kind: and with a beam by generic" 0 '' '' cmp "$here/beam" "$here/other"
done
finish
