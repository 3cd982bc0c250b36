#!/bin/sh
# test_answers.sh -- answers to questions about documents, as a user meets them: training, asking, scoring, and what is refused.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
unset HEED_KERNEL
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
cd "$here" || exit 1

# questions SEED N: who is where, of three sentences of which two may be about the same person; the last one counts
questions() {
    awk -v seed="$1" -v n="$2" 'BEGIN {
        srand(seed); split("anna bert carl dora emil", name, " "); split("kitchen cellar garden attic hall", place, " ")
        while (n-- > 0) {
            document = ""; token = 0
            for (i = 1; i <= 3; i++) {
                who = name[int(5 * rand()) + 1]; where = place[int(5 * rand()) + 1]
                document = document (i > 1 ? " " : "") who " went to the " where " ."
                at[who] = where; number[who] = token + 4; token += 6; last = i == int(3 * rand()) + 1 || i == 1 ? who : last
            }
            print document "\twhere is " last " ?\t" at[last] "\t" number[last] "\tignored"
        }
    }' </dev/null
}
questions 1 400 >t.tsv
questions 2 60 >e.tsv
tiny='--task span --tokens words --dim 16 --batch-tokens 600 --patience 0 --warmup 20 -q'
files='--tsv t.tsv --dev-tsv e.tsv'
learn() { # NAME OPTIONS...: the model is NAME.safetensors
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

# ---- learning and asking ---------------------------------------------------------------------------------
# shellcheck disable=SC2086
{
    learn qa $files --arch bahdanau --rate 0.01 --updates 160 --valid-every 80 --max-answer 4 --label-smoothing 0
    "$heed" eval -q -m qa.safetensors --tsv e.tsv >scores 2>&1
    problem=
    awk '/^exact/ { exit !($3 >= 95) }' scores || problem='it has not learned to answer'
    [ "$(sed -n 2p scores | cut -c1-5)" = 'F1 = ' ] || problem='there is no F1'
    verdict 'answers are learned' "$problem" "$(cat scores qa.out)"
    expect 'scores are told as JSON' 0 '{"model": "qa.safetensors", "questions": *, "exact": *, "f1": *}' '' \
        "$heed" eval -q -m qa.safetensors --tsv e.tsv --json
    # words that nobody has seen, in any order: which is asked for is known by what it looks like alone
    shapes() { # SEED N
        awk -v seed="$1" -v n="$2" 'function word(i, w) { for (i = 0; i < 6; i++) w = w substr("bcdfglmnprst", int(12 * rand()) + 1, 1); return w }
        BEGIN {
            srand(seed)
            while (n-- > 0) {
                first = int(3 * rand()); t[0] = word(); t[1] = "B" word(); t[2] = 1000 + int(9000 * rand())
                asked = 1 + int(2 * rand())
                print t[first] " and " t[(first + 1) % 3] " and " t[(first + 2) % 3] " .\t" (asked == 1 ? "who" : "when") " ?\t" t[asked]
            }
        }' </dev/null
    }
    shapes 1 400 >s.tsv
    shapes 2 60 >u.tsv
    unseen='--tsv s.tsv --dev-tsv u.tsv --arch bahdanau --vocab-size 10 --rate 0.01 --updates 160 --valid-every 80 --max-answer 1'
    learn looks $unseen --word-traits yes
    learn blind $unseen
    expect 'words that were never seen are known by what they look like' 0 'exact = 100.00 % (60 of 60)*' '' "$heed" eval -q -m looks.safetensors --tsv u.tsv
    problem=
    "$heed" eval -q -m blind.safetensors --tsv u.tsv >scores 2>&1
    awk '/^exact/ { exit !($3 < 70) }' scores || problem='it cannot know'
    verdict 'and without traits they are not' "$problem" "$(cat scores blind.out)"
    expect 'asking does as scoring' 0 '1234' '' sh -c "printf 'ffgl and 1234 and Bccd .\\twhen ?\n' | '$heed' translate -m looks.safetensors"
    refuse 2 'traits are for questions' '*word-traits is for task span, but task is translate; leave it out*' \
        --task translate --word-traits yes --src t.tsv --tgt t.tsv --dev-src e.tsv --dev-tgt e.tsv
    # two answers of one question: the one that is met counts
    printf 'anna went to the hall . bert went to the attic . carl went to the cellar .\twhere is bert ?\t%s\n' hall 'The Attic!' >several.tsv
    expect 'of several right answers the best counts' 0 'exact = 100.00 % (1 of 1)
F1 = 100.00' '' "$heed" eval -q -m qa.safetensors --tsv several.tsv
    expect 'a row without an answer is told' 1 '' '*short.tsv:2: a row is a document, a tab, a question, a tab and the answer*' \
        sh -c "{ cat several.tsv | head -n 1; printf 'a\tb\n'; } >short.tsv; '$heed' eval -q -m qa.safetensors --tsv short.tsv"
    printf ' anna went to the hall . bert went to the attic . carl went to the cellar .\twhere is bert ?\n' >q
    expect 'a line becomes its answer' 0 'attic' '' "$heed" translate -m qa.safetensors q
    expect 'with its probability' 0 'attic ||| [01].*' '' "$heed" translate -m qa.safetensors q --confidence
    expect 'and its place in the document' 0 \
        '{"source": " anna *cellar .", "warnings": ??, "question": "where is bert ?", "answer": {"text": "attic", "start": 42, "end": 47, "probability": *}, "source_words": ?{"text": "anna", "start": 1, "end": 5}, *?, "attention": ??*?, ?*???' \
        '' "$heed" translate -m qa.safetensors q --json
    expect 'where it was seen can be seen' 0 'attic

*anna*attic*
start *
end *' '' "$heed" translate -m qa.safetensors q --show
    expect 'n-best are spans of the document' 0 '0 ||| attic ||| logprob= *
0 ||| * ||| logprob= *' '' "$heed" translate -m qa.safetensors q --n-best 2
    expect 'two models decide together' 0 'attic' '' "$heed" translate -m qa.safetensors,qa.safetensors q
    expect 'the file of questions and answers will do' 0 '*' '' sh -c "'$heed' translate -m qa.safetensors e.tsv | grep -c ."
    expect 'the model says what it is' 0 '*task           span*question *reading *pointers *max_answer           4*' '' "$heed" info qa.safetensors
    printf '\n\twho ?\nanna .\t\n' >odd
    expect 'what cannot be answered has no answer' 0 '' '*odd:2: not answered: there is no document; *
*odd:3: not answered: there is no question; *' "$heed" translate -m qa.safetensors odd
    { echo 'no question'; head -n 1 q; } >odd
    expect 'nor has a line without a question, and the next is answered' 0 '
attic' '*odd:1: not answered: there is no question; a line is a document, a TAB and a question' "$heed" translate -m qa.safetensors odd
    expect 'an answer is not sampled' 1 '' '*the model gives answers, which sample is not for*' "$heed" translate -m qa.safetensors --sample topk=3 q
    expect 'nor scored' 1 '' '*gives answers*' "$heed" score -q -m qa.safetensors q q
    learn former $files --arch transformer --layers 1 --heads 2 --ffn 16 --updates 2
    expect 'self-attention is not shown with an answer' 1 '' '*gives answers, which self-attention is not for*' "$heed" translate -m former.safetensors --attention encoder --json q
    expect 'transformers have no place for it' 1 '' '*it gives answers, and MarianMT and Pegasus write words*' "$heed" convert former.safetensors --to hf -o hf
    expect 'it is held in 8 bits' 0 'attic' '' sh -c "'$heed' convert qa.safetensors --store int8 -o eight.safetensors 2>convert.err && '$heed' translate -m eight.safetensors q"
    expect 'nor served' 1 '' '*qa.safetensors answers questions about documents, for which no interface*' timeout 20 "$heed" serve -m qa.safetensors --port 0
    awk 'BEGIN { for (i = 0; i < 100; i++) printf "anna went to the hall . "; print "\twhere is anna ?" }' </dev/null >long
    expect 'what is too long is read as far as it was learned' 0 '?*' '*only the first * of the document were read*' "$heed" translate -m qa.safetensors long

    # subwords: the text is not tokenised, and the answer is cut out of it as it stands
    sed 's/ \././g; s/ ?/?/g; s/	[0-9]*	ignored//' t.tsv >s.tsv
    learn spm --tsv s.tsv --dev-tsv s.tsv --tokens spm --vocab-size 60 --arch bahdanau --dim 32 --rate 0.01 --updates 12 --valid-every 12
    printf 'anna went to the hall. bert went to the attic.\twhere is bert?\n' >q
    "$heed" translate -m spm.safetensors --json q >spm.json
    problem=
    python3 - spm.json <<'P' || problem='the answer is not what stands there, or cuts a word'
import json, re, sys
r = json.load(open(sys.argv[1]))
a = r["answer"]
assert r["source"][a["start"]:a["end"]] == a["text"] and a["text"].strip() == a["text"]
before, after = r["source"][:a["start"]], r["source"][a["end"]:]
assert not (re.search(r"\w$", before) and re.match(r"\w", a["text"])) and not (re.search(r"\w$", a["text"]) and re.match(r"\w", after))
P
    command -v python3 >/dev/null || problem=
    verdict 'of subwords, too, answers are parts of the text' "$problem" "$(cat spm.json spm.out)"
}

# ---- the same bits ------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
for arch in 'bahdanau --hops 2' 'transformer --layers 1 --heads 2 --ffn 16'; do
    short="$files --arch $arch --updates 12 --valid-every 4 --word-dropout 0.1"
    name=${arch%% *}
    learn "j1$name" $short -j 1
    learn "j3$name" $short -j 3
    same "$name: threads change no bit" "j1$name" "j3$name"
    for kernel in $("$heed" info | sed -n 's/^kernels *//p'); do
        [ "$kernel" != ref ] || continue
        HEED_KERNEL=$kernel learn "k$kernel" --fresh $short -j 1
        same "$name: nor does the kernel $kernel" "j1$name" "k$kernel"
    done
    learn "parts$name" $files --arch $arch --word-dropout 0.1 --updates 5 --valid-every 4
    learn "parts$name" $short
    same "$name: nor does stopping on the way" "j1$name" "parts$name"
    if command -v mpirun >/dev/null && [ -e "$(dirname "$heed")/heed_mpi.so" ]; then
        timeout 100 mpirun -n 2 "$heed" train $tiny $short -j 1 --out "ranks$name.safetensors" >"ranks$name.out" 2>&1
        same "$name: nor do ranks" "j1$name" "ranks$name"
    fi
done
# shellcheck disable=SC2086
{
    long="$files --arch bahdanau --updates 150 --valid-every 10 --save-every 5 -j 2"
    learn whole $long
    for pause in 0.1 0.2 0.15; do
        "$heed" train $tiny $long --out killed.safetensors >killed.out 2>&1 &
        pid=$!
        sleep $pause
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    learn killed $long
    same 'nor do kills' whole killed
    learn from $files --from qa.safetensors --updates 5
    expect 'a run starts from a model of answers' 0 '*' '' "$heed" eval -q -m from.safetensors --tsv e.tsv
    learn agree $files --arch luong --layers 1 --rdrop 1 --updates 4
    expect 'two passes can be made to agree' 0 '*exact = *' '' "$heed" eval -q -m agree.safetensors --tsv e.tsv
}

# ---- what is refused ----------------------------------------------------------------------------------------
# shellcheck disable=SC2086
{
    cut -f1,2 t.tsv >two.tsv
    refuse 1 'two columns are not enough' '*two.tsv:1: this line has no answer; lines are document, TAB, question, TAB, answer*' --tsv two.tsv --dev-tsv e.tsv
    { head -n 3 t.tsv; printf 'a b c\twhat ?\td\n'; } >nowhere.tsv
    refuse 1 'an answer must be in the document' '*nowhere.tsv:4: the answer is not in the document*--skip-bad*' --tsv nowhere.tsv --dev-tsv e.tsv
    { head -n 3 t.tsv; printf 'a b c\twhat ?\tc\t3\n'; } >outside.tsv
    refuse 1 'and inside of it' '*outside.tsv:4: the fourth column is no number of a token of the document*' --tsv outside.tsv --dev-tsv e.tsv
    { cat t.tsv; printf '\twhat ?\tc\nc\t\tc\n'; } >empty.tsv
    refuse 1 'an empty document is told' '*empty.tsv:401: the document is empty*' --tsv empty.tsv --dev-tsv e.tsv
    sed 401d empty.tsv >missing.tsv
    refuse 1 'so is a question that is missing' '*missing.tsv:401: the question is missing*' --tsv missing.tsv --dev-tsv e.tsv
    cat nowhere.tsv outside.tsv empty.tsv >bad.tsv
    # shellcheck disable=SC2086
    timeout 100 "$heed" train ${tiny% -q} --tsv bad.tsv --dev-tsv e.tsv --skip-bad --updates 2 --out skipped.safetensors >skipped.out 2>&1
    problem=
    grep -q '4 of 410 pairs are left out' skipped.out || problem='they were not left out and counted'
    verdict 'bad lines are left out where that is wanted' "$problem" "$(cat skipped.out)"
    refuse 2 'the text is one file' '*task span reads document, question and answer from one file: name it with --tsv*' --src two.tsv --tgt two.tsv
    refuse 2 'and there must be one' '*name it with --tsv, lines of document, TAB, question, TAB, answer*'
    refuse 2 'a span wants attention' '*task span points by attention, but score is none*' $files --arch seq2seq
    refuse 2 'by what stands there' '*score location looks at positions only*' $files --arch luong --score location
    refuse 2 'hops are for recurrent models' '*hops is for recurrent models, but arch is transformer*' $files --arch transformer --hops 2
    refuse 2 'BLEU does not measure answers' '*valid-metric bleu does not measure task span*' $files --valid-metric bleu
    refuse 2 'answers have their place' '*subword-sampling cuts a document anew each time*' $files --subword-sampling 0.1
    awk '{ print "text " NR "\t" NR % 2 }' t.tsv >label.tsv
    expect 'hops are for answers' 2 '' '*hops is for task span, but task is label*' timeout 60 "$heed" train -q --task label --arch luong --hops 2 --tsv label.tsv --dev-tsv label.tsv --out no.safetensors
    expect 'lines of questions are no pairs, which is told' 1 '' '*t.tsv:1: this line is not two columns*' timeout 60 "$heed" train --tsv t.tsv --out no.safetensors -q
}
finish
