#!/bin/sh
# test_tasks.sh -- what a model gives beside translations, as a user meets it: labels, and a language model alone and in a search.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
unset HEED_KERNEL
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
cd "$here" || exit 1
corpus 3 400 t.en t.fr
corpus 4 60 e.en e.fr
for file in t e; do # a label of two words, and one of one
    awk '{ print $0 "\t" ($0 ~ /red/ ? "has red" : "plain") }' $file.en >$file.tsv
done
tiny='--tokens words --dim 16 --batch-tokens 300 --patience 0 --warmup 10 -q'
labels='--task label --tsv t.tsv --dev-tsv e.tsv'

# learn NAME OPTIONS...: the model is NAME.safetensors
learn() {
    out=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 "$heed" train $tiny --out "$out.safetensors" "$@" >"$out.out" 2>&1
}
same() { # SENTENCE A B
    problem=
    cmp -s "$2.safetensors" "$3.safetensors" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2.safetensors" "$3.safetensors" 2>&1; cat "$3.out" 2>/dev/null)"
}
refuse() { # STATUS NAME STDERR OPTIONS...
    wanted=$1 name=$2 says=$3
    shift 3
    # shellcheck disable=SC2086
    expect "$name" "$wanted" '' "$says" timeout 60 "$heed" train $tiny --out no.safetensors "$@"
}

# ---- labels ----------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
{
    learn label $labels --arch bahdanau --rate 0.02 --updates 150 --valid-every 50
    expect 'labels are learned, and told apart' 0 'accuracy = 100.00 % (60 of 60)
macro F1 = 100.00

label    found as
*has red*plain*
has red * 0
plain * 0 *' '' "$heed" eval -q -m label.safetensors --tsv e.tsv
    expect 'and as JSON' 0 '{"model": "label.safetensors", "sentences": 60, "accuracy": 100, "f1": 100, "labels": ?"has red", "plain"?, "confusion": ??*, 0?, ?0, *???' \
        '' "$heed" eval -q -m label.safetensors --tsv e.tsv --json
    printf 'the red cat sees a house\n\n  a dog finds the tree \n' >three.en
    expect 'a line becomes its label' 0 'has red

plain' '' "$heed" translate -m label.safetensors three.en
    expect 'with the probabilities of all' 0 'has red ||| has red 0.9?? ||| plain 0.0*' '' \
        sh -c "head -n 1 three.en | '$heed' translate -m label.safetensors --confidence"
    expect 'and what was looked at' 0 \
        '{"source": "the red cat sees a house", "warnings": ??, "labels": ?{"label": "has red", "probability": 0.9*}, {"label": "plain", "probability": 0.0*}?, "source_words": ?{"text": "the", "start": 0, "end": 3}, {"text": "red", *?, "attention": ??0.*??, "attention_end": ?0.*?}' \
        '' sh -c "head -n 1 three.en | '$heed' translate -m label.safetensors --json"
    expect 'which can be seen' 0 'has red

*the*red*cat*' '' sh -c "head -n 1 three.en | '$heed' translate -m label.safetensors --show"
    expect 'two models decide together' 0 'has red

plain' '' "$heed" translate -m label.safetensors,label.safetensors three.en
    expect 'the model says what it is' 0 '*task           label*e_tj = v·tanh(W q + U h_j)*labels         labels, 2 entries*' '' \
        "$heed" info label.safetensors
    expect 'a label is not sampled' 1 '' '*the model gives labels, which sample is not for*' \
        "$heed" translate -m label.safetensors --sample topk=3 three.en
    expect 'nor scored' 1 '' '*gives labels*' "$heed" score -q -m label.safetensors three.en three.en

    short='--updates 12 --valid-every 4'
    learn j1 $labels $short -j 1
    learn j3 $labels $short -j 3
    same 'threads change no bit' j1 j3
    for kernel in $("$heed" info | sed -n 's/^kernels *//p'); do
        [ "$kernel" != ref ] || continue
        HEED_KERNEL=$kernel learn "k$kernel" $labels $short -j 1
        same "nor does the kernel $kernel" j1 "k$kernel"
    done
    learn parts $labels --updates 5 --valid-every 4
    learn parts $labels $short
    same 'nor does stopping on the way' j1 parts
    if command -v mpirun >/dev/null && [ -e "$(dirname "$heed")/heed_mpi.so" ]; then
        # shellcheck disable=SC2086
        timeout 100 mpirun -n 2 "$heed" train $tiny $labels $short -j 1 --out ranks.safetensors >ranks.out 2>&1
        same 'nor do ranks' j1 ranks
    fi
    long='--updates 200 --valid-every 10 --save-every 5 -j 2'
    learn whole $labels $long
    for pause in 0.1 0.2 0.15; do
        # shellcheck disable=SC2086
        "$heed" train $tiny $labels $long --out killed.safetensors >killed.out 2>&1 &
        pid=$!
        sleep $pause
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    learn killed $labels $long
    same 'nor do kills' whole killed
    learn from $labels --from label.safetensors --updates 10
    expect 'a run starts from a model of labels' 0 'has red*' '' "$heed" translate -m from.safetensors three.en

    awk '{ print $0 "\tx" }' t.tsv >t3.tsv
    refuse 1 'the text has two columns, not three' '*t3.tsv:1: *' --task label --tsv t3.tsv --dev-tsv e.tsv
    awk '{ print $0 "\tsame" }' t.en >same.tsv
    refuse 1 'one label is none' '*all 400 lines have the label ?same?, so there is nothing to tell apart*' --task label --tsv same.tsv --dev-tsv e.tsv
    awk '{ print "plain\t" $0 NR }' t.en >turned.tsv
    refuse 1 'columns that are turned round are told' '*400 lines have 400 different labels*are the columns in that order?*' \
        --task label --tsv turned.tsv --dev-tsv e.tsv
    printf 'a cat\tgreen\n' >other.tsv
    refuse 1 'a label of the dev text that is not learned is told' '*green* is none of the 2 labels*' --task label --tsv t.tsv --dev-tsv other.tsv
    refuse 2 'what is for pairs is refused' '*vary-case is for sentences and their translations, but task is label*' $labels --vary-case 0.1
    refuse 2 'what is for decoders is refused' '*attend is for models that have a decoder, but task is label*' $labels --arch luong --attend before
    refuse 2 'BLEU does not measure labels' '*valid-metric bleu does not measure task label*' $labels --valid-metric bleu
    refuse 2 'a model of labels is told' '*label.safetensors is a model of task label; say --task label*' \
        --tsv t.tsv --dev-tsv e.tsv --from label.safetensors
}

# ---- a language model ------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
{
    learn lm --source none --tgt t.fr --dev-tgt e.fr --arch seq2seq --rate 0.02 --updates 120 --valid-every 60
    "$heed" score -m lm.safetensors e.fr >scores 2>perplexity
    problem=
    awk '{ exit !($3 < 6) }' perplexity || problem='it has learned nothing'
    [ "$(wc -l <scores)" = 60 ] || problem='not a number for each line'
    verdict 'a language model learns, and tells its perplexity' "$problem" "$(cat perplexity lm.out)"
    echo 'le kato' >begin
    expect 'it goes on from a line' 0 'le kato ?*' '' "$heed" translate -m lm.safetensors begin
    expect 'or from a prefix' 0 'le kato ?*' '' "$heed" translate -m lm.safetensors --prefix begin
    expect 'by samples, too' 0 '0 ||| le kato *
0 ||| le kato *' '' "$heed" translate -m lm.safetensors --sample topk=5 --n-best 2 begin
    expect 'a language model has no source' 2 '' '*which has no source; give score the text alone*' "$heed" score -q -m lm.safetensors e.en e.fr
    refuse 2 'nor has its text' '*a language model has no source: name its text with --tgt*' --source none --src t.en --tgt t.fr
    refuse 2 'nor a score' '*score is for models that have an encoder, but task is language-model*' --source none --tgt t.fr --dev-tgt e.fr --arch luong --score dot
    lm='--task language-model --tgt t.fr --dev-tgt e.fr --heads 2 --ffn 16 --layers 1 --updates 12 --valid-every 4'
    learn lm1 $lm -j 1
    learn lm3 $lm -j 3
    same 'threads change no bit of it' lm1 lm3

    learn mt --src t.en --tgt t.fr --dev-src e.en --dev-tgt e.fr --arch luong --layers 1 --rate 0.02 --updates 120 --valid-every 60
    learn fuse --source none --tgt t.fr --dev-tgt e.fr --vocab-from mt.safetensors --arch seq2seq --rate 0.02 --updates 120 --valid-every 60
    "$heed" translate -m mt.safetensors e.en >plain.fr
    "$heed" translate -m mt.safetensors --lm fuse.safetensors --lm-weight 0 e.en >zero.fr
    problem=
    cmp -s plain.fr zero.fr || problem='they differ'
    verdict 'a language model of weight 0 changes nothing' "$problem" "$(diff plain.fr zero.fr)"
    "$heed" translate -m mt.safetensors --lm fuse.safetensors --lm-weight 3 e.en >fused.fr
    "$heed" translate -m mt.safetensors --lm fuse.safetensors --lm-weight 3 --batch 1 -j 1 e.en >alone.fr
    problem=
    ! cmp -s plain.fr fused.fr || problem='a heavy one changes nothing'
    cmp -s alone.fr fused.fr || problem='neighbours change something'
    before=$("$heed" score -m fuse.safetensors plain.fr 2>&1 >scores | awk '{ print $3 }')
    after=$("$heed" score -m fuse.safetensors fused.fr 2>&1 >scores | awk '{ print $3 }')
    awk -v a="$after" -v b="$before" 'BEGIN { exit !(a <= b) }' || problem="the fused text is less likely: $before, $after"
    verdict 'a heavy one makes likelier text' "$problem" "$(head -n 3 plain.fr fused.fr; cat fuse.out mt.out)"
    learn chars --source none --tgt t.fr --dev-tgt e.fr --tokens chars --arch seq2seq --updates 2
    expect 'another vocabulary is refused' 1 '' '*chars.safetensors: the language model has another vocabulary*train it with --vocab-from*' \
        "$heed" translate -m mt.safetensors --lm chars.safetensors e.en
    expect 'labels are not searched for' 1 '' '*fuse.safetensors: the model gives no words, so lm is of no use to it*' \
        "$heed" translate -m label.safetensors --lm fuse.safetensors e.en
    expect 'so is what is no language model' 1 '' '*mt.safetensors: lm wants a language model, but this one is of task translate*' \
        "$heed" translate -m mt.safetensors --lm mt.safetensors e.en
}
finish
