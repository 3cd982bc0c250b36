#!/bin/sh
# test_train.sh -- `heed train` as a user meets it: what goes in, what comes out, what is refused. Runs are tiny; test_bits.sh holds
# them to their bits, test_learns.sh to learning something.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
unset HEED_KERNEL
cd "$here" || exit 1
newline='
'
corpus 3 60 t.en t.fr
corpus 4 5 e.en e.fr
text='--src t.en --tgt t.fr'
dev='--dev-src e.en --dev-tgt e.fr'
small='--dim 16 --ffn 16 --heads 2 --layers 1 --tokens words --batch-tokens 60 --patience 0 --valid-every 4 --warmup 3 -j 2'

# train STATUS STDERR NAME WORDS...: the words are options behind the small ones
train() {
    wanted=$1 says=$2 name=$3
    shift 3
    # shellcheck disable=SC2086
    expect "$name" "$wanted" '' "$says" timeout 60 "$heed" train $text $dev $small --updates 1000 "$@"
}
same() {
    problem=
    cmp -s "$2" "$3" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2" "$3" 2>&1)"
}
there() {
    problem=
    for file in "$@"; do [ -s "$file" ] || problem="there is no $file"; done
    verdict "there is $*" "$problem" "$(ls)"
}
forget() { rm -f "$@" m.* ; }

# ---- one line is enough ------------------------------------------------------------------------------
expect 'two texts make a model, and what was chosen is told' 0 '' \
    'text: 60 pairs, *vocabulary: * subwords learned from the text, shared by both sides*model: transformer, 2+2 layers of 128, pre-norm, *recipe: adam, rate 0.003 *runs until 3 updates, 10 validations without a better BLEU or cross entropy; validates every 50 updates on 5 sentences; seed 1, *update 3 * best so far, saved*done: all updates are done after 3 updates; the best, BLEU * at update 3, is in m.safetensors' \
    timeout 60 "$heed" train $text $dev --updates 3 --out m.safetensors
there m.safetensors m.state.safetensors m.log m.jsonl
[ ! -e "$BUILD/heed_draw.so" ] || there m.svg
expect 'the model says what it is' 0 '*transformer*' '' "$heed" info m.safetensors
forget
train 0 '' 'quiet is quiet' -q --updates 3 --out m.safetensors
train 0 'text: *model: *goes on after update 3*nothing to do: all updates are done after 3 updates; the best, BLEU * at update 3, is in m.safetensors' \
    'a finished run is told to be finished' --updates 3 --out m.safetensors
cp m.safetensors before
train 0 '' 'and again' -q --updates 3 --out m.safetensors
same 'which changes nothing' before m.safetensors
printf '{"event":"upd' >>m.jsonl
printf '[2026-01-01 00:' >>m.log
train 0 '*done: *' 'a run goes on whose last lines are half-written' --updates 5 --out m.safetensors
problem=
grep -qv '^{.*}$' m.jsonl && problem='a line of m.jsonl is none'
grep -q '^{"event":"upd{' m.jsonl && problem='half a line is in m.jsonl'
grep -q '^.2026-01-01' m.log && problem='half a line is in m.log'
verdict 'and they are taken out' "$problem" "$(cat m.jsonl m.log)"
forget
expect 'how long it will take is told after the first updates' 0 '' \
    '*runs until 150 updates; validates every 150 updates*takes about * on * thread*, besides validations; every 150 updates, about *, a validation shows perplexity*update 150 *done: *' \
    timeout 120 "$heed" train $text $dev --updates 150 --valid-every 150 --patience 0 --valid-metric ce --dim 8 --heads 1 --layers 1 --ffn 8 --batch-tokens 20 --out m.safetensors
forget
expect 'JSON is on stdout, a line each' 0 '{"event":"note",*{"event":"update","update":10,*{"event":"validation","update":12,"cross_entropy":*' '' \
    timeout 60 "$heed" train $text $dev $small -q --json --updates 12 --out m.safetensors
if command -v python3 >/dev/null; then
    cp out lines
    expect 'every line is JSON' 0 '' '' python3 -c 'import json; [json.loads(l) for l in open("lines")]'
    same 'and in the file as well' lines m.jsonl
fi
forget
expect 'a name without .safetensors is a name' 0 '' '* is in plain' timeout 60 "$heed" train $text $dev $small --updates 3 --out plain
there plain plain.state.safetensors plain.log plain.jsonl
rm -f plain*

# ---- text --------------------------------------------------------------------------------------------
train 0 '' 'the model of two files' -q --updates 9 --out files.safetensors
paste t.en t.fr >t.tsv
paste e.en e.fr >e.tsv
expect 'one file with TABs is the same text' 0 '' '' \
    timeout 60 "$heed" train --tsv t.tsv --dev-tsv e.tsv --languages en-fr $small -q --updates 9 --out m.safetensors
same 'and gives the same model' files.safetensors m.safetensors
forget
head -n 25 t.en >h1.en; tail -n +26 t.en >h2.en; head -n 25 t.fr >h1.fr; tail -n +26 t.fr >h2.fr
expect 'several files are one text' 0 '' '' \
    timeout 60 "$heed" train --src h1.en h2.en --tgt h1.fr h2.fr $dev $small -q --updates 9 --out m.safetensors
same 'and give the same model' files.safetensors m.safetensors
forget
if command -v gzip >/dev/null; then
    gzip -c t.en >t.en.gz
    gzip -c t.fr >t.fr.gz
    expect 'compressed files and standard input are read' 0 '' '' sh -c \
        "gzip -dc t.fr.gz | timeout 60 '$heed' train --src t.en.gz --tgt - $dev $small --languages en-fr -q --updates 9 --out m.safetensors"
    same 'and give the same model again' files.safetensors m.safetensors
    forget
fi
sed 's/$/\r/' t.en >crlf.en
{ printf '\357\273\277'; cat t.fr; } >bom.fr
expect 'line ends and marks of other systems are no text' 0 '' '' \
    timeout 60 "$heed" train --src crlf.en --tgt bom.fr $dev $small -q --updates 9 --out m.safetensors
same 'and do not change the model' files.safetensors m.safetensors
forget files.* plain*
corpus 5 450 l.en l.fr
expect 'without dev text some of the pairs are held out' 0 '' '*on 2 sentences (every 200th pair, held out: no dev text was given)*' \
    timeout 60 "$heed" train --src l.en --tgt l.fr $small --updates 2 --out m.safetensors
forget
awk 'BEGIN { for (i = 0; i < 400200; i++) print "a b\tb" }' >many.tsv
# shellcheck disable=SC2086
expect 'of very many pairs some are validated on' 0 '' '*validates every 1 updates on 1001 sentences (of every 200th pair, held out: no dev text was given)*' \
    timeout 100 "$heed" train --tsv many.tsv $small --valid-every 1 --updates 1 --valid-metric ce --out many.safetensors
rm -f many.*
expect 'too few pairs cannot be held out' 2 '' 'heed: there are only 60 pairs, too few to hold some out for validation; give --dev-src and --dev-tgt, or --dev-tsv' \
    timeout 60 "$heed" train $text $small --updates 2 --out m.safetensors
for tokens in spm chars; do
    train 0 '*' "tokens can be $tokens" --tokens $tokens --updates 2 --out m.safetensors
    forget
done
train 0 '*vocabulary: 40 subwords learned from the text, shared by both sides*' 'subwords can be made by bpe' \
    --tokens spm --spm-type bpe --vocab-size 40 --subword-sampling 0.2 --updates 2 --out m.safetensors
forget
train 2 '*heed: a vocabulary of 3 has no room for the text*' 'a vocabulary needs room for the characters' \
    --tokens spm --vocab-size 3 --updates 2 --out m.safetensors
train 2 '*heed: a vocabulary cannot have 1 entries; *' 'one entry is no vocabulary' --vocab-size 1 --updates 2 --out m.safetensors
train 0 '*' 'a vocabulary larger than the text is as large as it can be' --tokens spm --vocab-size 5000 --updates 2 --out m.safetensors
forget
train 0 '*of 60 pairs * are left out because a side is longer than max-length 6, and 0 because *' 'long sentences are left out and counted' \
    --max-length 6 --updates 0 --epochs 1 --out m.safetensors
forget
train 1 '*heed: no pair of sentences can be trained on: all are longer than max-length 2, or empty; raise --max-length' 'but not all of them' \
    --max-length 2 --updates 2 --out m.safetensors
forget
{ cat e.en; awk 'BEGIN { for (i = 0; i < 3000; i++) printf "cat "; print "" }'; } >far.en
{ cat e.fr; echo kato; } >far.fr
expect 'a dev sentence may be longer than anything learned' 0 '' '*on 6 sentences*done: *' timeout 60 "$heed" train $text --dev-src far.en --dev-tgt far.fr \
    $small --positions learned --max-positions 8 --updates 3 --out m.safetensors
forget

# ---- text that cannot be ------------------------------------------------------------------------------
bad() { # NAME STDERR SOURCE TARGET OPTIONS...
    name=$1 says=$2 src=$3 tgt=$4
    shift 4
    # shellcheck disable=SC2086
    expect "$name" 1 '' "$says" timeout 60 "$heed" train --src "$src" --tgt "$tgt" $dev $small --updates 2 --out bad.safetensors "$@"
}
bad 'a missing file is named' 'heed: nowhere.fr: there is no such file*' t.en nowhere.fr
bad 'a folder is no text' 'heed: .: this is a folder*' . t.fr
bad 'different numbers of lines are refused' 'heed: *t.en*60*h1.fr*25*' t.en h1.fr
{ head -n 3 t.en; printf 'schl\366n\n'; tail -n +5 t.en; } >latin.en
bad 'bad UTF-8 is found' 'heed: latin.en:4: *UTF-8*--skip-bad*' latin.en t.fr
{ head -n 7 t.en; echo ' '; tail -n +9 t.en; } >empty.en
bad 'an empty line is found' 'heed: empty.en:8: *--skip-bad*' empty.en t.fr
{ head -n 9 t.en; head -c 1100000 /dev/zero | tr '\0' 'x'; echo; tail -n +11 t.en; } >long.en
bad 'a line without end is found' 'heed: long.en:10: *--skip-bad*' long.en t.fr
printf 'one\ttwo\nthree\n' >odd.tsv
expect 'a line of one column is found' 1 '' 'heed: odd.tsv:2: *--skip-bad*' \
    timeout 60 "$heed" train --tsv odd.tsv $dev $small --updates 2 --out bad.safetensors
: >nothing
bad 'an empty file is no text' 'heed: nothing: *' nothing nothing
# by the name of what it is, with what to do
printf '\377\376a\0b\0c\0\n\0' >wide.en
bad 'UTF-16 is recognised' 'heed: wide.en: this is UTF-16, not UTF-8; convert it first, with iconv -f UTF-16 -t UTF-8' wide.en t.fr
printf '"a cat","un chat"\n"a dog","un chien"\n' >two
expect 'so is CSV' 1 '' 'heed: two: this looks like CSV, *' timeout 60 "$heed" train --tsv two $dev $small --updates 2 --out bad.safetensors
bad 'also where one side is wanted' 'heed: two: this is CSV, not lines of text; give it as --tsv FILE.csv, or as --pair en-fr=FILE.csv' two t.fr
cp t.en t.csv
bad 'or by its name' 'heed: t.csv: this is CSV, not lines of text; *' t.csv t.fr
printf '"yes","no"\nsaid she\n' >two
printf 'un\ndeux\n' >deux
expect 'a line with quotes makes no CSV' 0 '' 'text: 2 pairs*' timeout 60 "$heed" train --src two --tgt deux $dev $small --updates 2 --out m.safetensors
forget
expect 'what is odd is told before training' 0 '' \
    '*warning: 60 pairs are very few: *warning: in 100 % of the pairs source and target are the same text; *warning: 5 of 5 different dev pairs are learned from as well, *' \
    sh -c "head -n 5 t.en >d.en; timeout 60 '$heed' train --src t.en --tgt t.en --dev-src d.en --dev-tgt d.en $small --updates 2 --out m.safetensors"
expect 'and not again when a run goes on' 0 '' 'text: 60 pairs, about * words
model: *' timeout 60 "$heed" train --src t.en --tgt t.en --dev-src d.en --dev-tgt d.en $small --updates 2 --out m.safetensors
forget
# shellcheck disable=SC2086
expect 'standard input cannot be both' 2 '' 'heed: *standard input*' "$heed" train --src - --tgt - $dev $small --out bad.safetensors
bad 'bad dev text is found, too' 'heed: latin.en:4: *UTF-8*' t.en t.fr --dev-src latin.en --dev-tgt t.fr
{ head -n 3 t.en; printf 'schl\366n\n\n'; tail -n +6 t.en; } >both.en
expect 'what is bad can be skipped, and is counted' 0 '' \
    '*: 2 of 60 pairs are left out: *UTF-8*empty*text: 58 pairs*' \
    timeout 60 "$heed" train --src both.en --tgt t.fr $dev $small --updates 2 --skip-bad --out m.safetensors
forget bad.*

# ---- options that cannot be --------------------------------------------------------------------------
train 2 "heed: there is no option 'ratte'; did you mean rate?" 'a mistyped option is answered with the right one' --ratte 1 --out m.safetensors
train 2 "heed: rate must be a number from 0 to 1000, not 'fast'" 'a number is a number' --rate fast --out m.safetensors
train 2 "heed: updates must be a whole number from 0 to 2*, not '1.5'" 'a whole number is whole' --updates 1.5 --out m.safetensors
train 2 "heed: schedule must be inv-sqrt, cosine, plateau or constant, not 'cosin'; did you mean cosine?" 'a choice is one of some' \
    --schedule cosin --out m.safetensors
train 2 "heed: dim*'banana'*" 'a field of the model is looked at at once' --dim banana --out m.safetensors
train 2 "heed: arch must be *, not 'transfomer'; did you mean transformer?" 'so is the model' --arch transfomer --out m.safetensors
train 2 "heed: size must be tiny, small or base, not 'huge'" 'and its size' --size huge --out m.safetensors
train 2 '*heed: rdrop and simcut are two ways to the same end; choose one of them' 'R-Drop and SimCut exclude each other' \
    --rdrop 1 --simcut 1 --out m.safetensors
train 2 '*heed: the schedule cosine ends at the last update, so it needs updates; or choose inv-sqrt' 'a cosine needs an end' \
    --schedule cosine --updates 0 --out m.safetensors
train 2 '*heed: the schedule cosine needs more updates (3) than warmup (3)' 'behind its warm-up' --schedule cosine --updates 3 --out m.safetensors
train 2 '*heed: max-length 200 lets in longer sentences than the model has places for; max-positions must be 201 or more, or max-length 63 or less' \
    'learned positions must suffice' --positions learned --max-positions 64 --max-length 200 --out m.safetensors
train 0 '*' 'where nobody says how many, they do' -q --positions learned --max-length 600 --updates 1 --out positions.safetensors
expect 'as many as the longest sentence takes' 0 '*"max_positions":601,*' '' "$heed" info --json positions.safetensors
expect 'so do the places of score location' 0 '' '' timeout 60 "$heed" train $text $dev -q --tokens words --arch luong --dim 16 \
    --score location --updates 1 --out location.safetensors
expect 'with the default of max-length' 0 '*"max_source":201,*' '' "$heed" info --json location.safetensors
forget positions.* location.*
train 2 'heed: tsv is given and src or tgt as well; choose one way' 'text comes one way' --tsv t.tsv --out m.safetensors
expect 'dev text has two sides' 2 '' 'heed: dev-src and dev-tgt go together; one is missing' \
    "$heed" train $text --dev-src e.en --out m.safetensors
expect 'some text is needed' 2 '' 'heed: there is no text: name it with --src and --tgt, or with --tsv' "$heed" train --out m.safetensors
expect 'and a name for the model' 2 '' 'heed: out is missing; say where the model should go: --out MODEL.safetensors' "$heed" train $text $dev
expect 'text without an option is answered with what to type' 2 '' \
    "heed: train does not know what to do with 'x.tsv'; name the text by an option: heed train --tsv x.tsv --out MODEL.safetensors, *" "$heed" train x.tsv
expect 'so are two' 2 '' "heed: train does not know what to do with 'a.en'; name the text by options: heed train --src a.en --tgt a.fr --out MODEL.safetensors" \
    "$heed" train a.en a.fr
train 1 'heed: nowhere/m.log: the folder for this file does not exist; make it first' 'a folder must be there' --updates 1 --out nowhere/m.safetensors
mkdir folder
train 2 'heed: out: folder is a folder; name a file in it, such as folder/model.safetensors' 'a folder is no model' --updates 1 --out folder
train 2 'heed: out: the model would take the place of t.en; choose another name' 'a text is not overwritten' --updates 1 --out ./t.en
forget

# ---- nothing is written over that heed did not write --------------------------------------------------
left() { # NAME FILES...: these are as they were, and nothing else of o.* is there
    problem=
    name=$1
    shift
    for file in "$@"; do cmp -s "$file" "kept-$file" || problem="$file has changed"; done
    for file in o.*; do
        case " $* " in *" $file "*) ;; *) problem="$problem; there is $file" ;; esac
    done
    verdict "$name" "$problem" "$(ls -l)"
}
paste t.en t.fr >o.tsv
for ending in svg log jsonl state.safetensors; do
    cp o.tsv "o.$ending"
    cp o.tsv "kept-o.$ending"
    case $ending in svg) what='learning curves' ;; log) what=log ;; jsonl) what=figures ;; *) what=state ;; esac
    rm -f o.tsv
    expect "a text that is called o.$ending is not touched" 2 '' "heed: out: the $what would take the place of o.$ending; choose another name" \
        timeout 60 "$heed" train --tsv "o.$ending" $dev $small --updates 2 --out o.safetensors
    ln -s "o.$ending" link
    expect 'nor by another name' 2 '' "heed: out: the $what would take the place of link; choose another name" \
        timeout 60 "$heed" train --tsv link $dev $small --updates 2 --out o.safetensors
    expect 'nor as standard input' 2 '' "heed: out: the $what would take the place of standard input; choose another name" \
        sh -c "timeout 60 '$heed' train --tsv - $dev $small --updates 2 --out o.safetensors <o.$ending"
    rm link
    [ $ending = state.safetensors ] || train 2 "heed: out: the $what would take the place of o.$ending, which is another file; move it away or choose another name" \
        "nor is another o.$ending" --updates 2 --out o.safetensors
    left 'and nothing is written' "o.$ending"
    mv "o.$ending" o.tsv
done
echo 'buy milk' >o.txt
cp o.txt kept-o.txt
rm o.tsv
train 2 'heed: out: the model would take the place of o.txt, which is another file; move it away or choose another name' 'notes are no model' --updates 2 --out o.txt
left 'and stay' o.txt
rm o.txt
: >o.safetensors
train 0 '' 'nothing is lost with an empty file' -q --updates 2 --out o.safetensors
train 2 'heed: out: the model would take the place of o.safetensors; choose another name' 'a model does not take the place of what it begins with' \
    --from o.safetensors --updates 2 --out o.safetensors
train 2 'heed: out: o would share its state and log with o.safetensors, which is another model; choose another name' 'files beside a model belong to it alone' \
    --updates 2 --out o
mv o.safetensors o
train 2 'heed: out: o.safetensors would share its state and log with o, which is another model; choose another name' 'by either name' \
    --updates 2 --out o.safetensors
rm -rf o o.*
mkdir elsewhere
ln -s elsewhere/real.safetensors o.safetensors
train 0 '' 'a link is followed when the file is not there yet' -q --updates 4 --out o.safetensors
train 0 '' 'and when it is' -q --updates 8 --out o.safetensors
problem=
[ -L o.safetensors ] && [ -f elsewhere/real.safetensors ] || problem='the link or its file is gone'
verdict 'and stays a link' "$problem" "$(ls -l . elsewhere)"
rm -rf o.* elsewhere
ln -s missing/real.safetensors o.safetensors
train 1 'heed: missing/real.safetensors: the folder for this file does not exist; make it first' 'a link into a folder that is missing is told at once' --updates 4 --out o.safetensors
rm -f o.*
train 0 '' 'a model' -q --updates 2 --out o.safetensors
train 2 'heed: out: the model would take the place of o.safetensors; choose another name' 'a model does not take the place of whose vocabulary it takes' \
    --vocab-from o.safetensors --updates 2 --out o.safetensors
echo 'updates = 2' >o.log
train 2 'heed: out: the log would take the place of o.log; choose another name' 'nor of its configuration' --config o.log --out o.safetensors
echo '0-0' >o.log
train 2 'heed: out: the log would take the place of o.log; choose another name' 'nor of links' --guided-alignment o.log --updates 2 --out o.safetensors
mkdir pairs
paste t.en t.fr >pairs/a.tsv
mv pairs/a.tsv o.log
ln -s ../o.log pairs/a.tsv
expect 'nor of what is in a folder of text' 2 '' 'heed: out: the log would take the place of pairs; choose another name' \
    timeout 60 "$heed" train --tsv pairs $dev $small --updates 2 --out o.safetensors
rm -rf pairs o.*
echo '{"event":"click","at":1}' >o.jsonl
train 2 'heed: out: the figures would take the place of o.jsonl, which is another file; *' 'figures of others are not added to' --updates 2 --out o.safetensors
rm o.jsonl
echo '[2026-01-31 12:00:00] nginx started' >o.log
train 2 'heed: out: the log would take the place of o.log, which is another file; *' 'nor are logs' --updates 2 --out o.safetensors
rm -f o.*

# ---- a stop while subwords are learned, which takes long --------------------------------------------------
awk 'BEGIN { for (i = 0; i < 300000; i++) print "word" i * 7919 % 300007 " and " i * 104729 % 299993 "\tmot" i * 611953 % 299987 " et " i }' >many.tsv
"$heed" train --tsv many.tsv --vocab-size 16000 -j 1 --out o.safetensors 2>stopped.err &
while ! grep -q text: o.log 2>/dev/null; do sleep 0.05; done
sleep 2
kill -INT $!
wait $!
status=$?
problem=
[ $status = 130 ] || problem="status $status"
case $(tail -n 1 stopped.err) in 'stopped; there was nothing new to be saved' | 'heed: stopped '*) ;; *) problem="$problem; another sentence" ;; esac
[ ! -e o.state.safetensors ] || problem="$problem; there is a state"
verdict 'a stop is heeded then, too' "$problem" "$(cat stopped.err)"
rm -f o.* many.tsv

# ---- refused runs leave nothing -----------------------------------------------------------------------
train 2 "*heed: freeze: no parameter is called 'banana'; *" 'a run that is refused' --freeze banana --updates 2 --out o.safetensors
train 1 '*heed: no pair of sentences can be trained on: *raise --max-length' 'so is one without sentences' --max-length 2 --updates 2 --out o.safetensors
problem=
for file in o.*; do [ ! -e "$file" ] || problem="there is $file"; done
verdict 'neither leaves anything' "$problem" "$(ls)"
train 0 '' 'so the advice can be followed' -q --max-length 20 --updates 2 --out o.safetensors
cp o.state.safetensors state-before
cp o.log log-before
cp o.jsonl jsonl-before
train 2 "*heed: freeze: no parameter is called 'banana'; *" 'starting over may be refused' --fresh --freeze banana --updates 2 --out o.safetensors
same 'which forgets nothing' state-before o.state.safetensors
same 'and adds nothing to the log' log-before o.log
same 'nor to the figures' jsonl-before o.jsonl
rm -f o.*

# ---- a model that is gone -----------------------------------------------------------------------------
for updates in '8 --valid-metric ce' '10 --valid-metric ce'; do # at a validation, and between two
    # shellcheck disable=SC2086
    train 0 '' 'a finished run' -q --updates $updates --rate 0.01 --out o.safetensors
    mv o.safetensors kept-o.safetensors
    train 0 '*o.safetensors was gone; it is written again*nothing to do: *is in o.safetensors' 'a model that is gone is written again' \
        --updates $updates --rate 0.01 --out o.safetensors
    same 'as it was' kept-o.safetensors o.safetensors
    rm -f o.*
done
train 0 '' 'a finished run' -q --updates 8 --rate 0.01 --valid-metric ce --out o.safetensors
mv o.safetensors kept-o.safetensors
: >o.safetensors
train 0 '*o.safetensors was gone; it is written again*' 'an empty model is written again' --updates 8 --rate 0.01 --valid-metric ce --out o.safetensors
same 'as it was' kept-o.safetensors o.safetensors
train 0 '' 'another model' -q --updates 4 --seed 2 --out p.safetensors
cp p.safetensors o.safetensors
for updates in 8 12; do
    train 1 '*heed: o.safetensors is another model than the best of this run, which is that of update 8; move it away and type the same command again, *' \
        'another model is not said to be the best' --updates $updates --rate 0.01 --valid-metric ce --out o.safetensors
    same 'nor is it lost' p.safetensors o.safetensors
done
head -c 3000 kept-o.safetensors >o.safetensors
train 1 'heed: o.safetensors: *; move it away and type the same command again, or choose another --out' 'a model that was cut off is told to be damaged' \
    --updates 8 --rate 0.01 --valid-metric ce --out o.safetensors
rm o.safetensors
train 0 '*o.safetensors was gone; it is written again*' 'what was said can be done' --updates 8 --rate 0.01 --valid-metric ce --out o.safetensors
same 'and gives the model' kept-o.safetensors o.safetensors
rm -f o.* p.*
train 0 '' 'a run whose best model is not its last' -q --updates 4 --rate 0.01 --out o.safetensors
train 0 '' 'by a rate without reason' -q --updates 8 --rate 1 --warmup 0 --clip 0 --out o.safetensors
rm o.safetensors
train 1 '*heed: o.safetensors is gone, and the state has the weights of update 8, not those of the best model, 4; raise --updates *' \
    'is not said to be there' --updates 8 --rate 1 --warmup 0 --clip 0 --out o.safetensors
train 0 '*o.safetensors is gone; the next validation writes another*done: *' 'and can go on' --updates 12 --rate 0.001 --out o.safetensors
there o.safetensors
rm -f o.*
expect 'the help lists every option with its meaning' 0 \
    'Usage: heed train *Files*--config *--src *Vocabulary*--vocab-size *chosen from your text*Run*--updates *--from *Optimization*--rate *Regularization*--dropout-embed *Validation and output*--valid-every *Model*--arch *--dim *' '' \
    "$heed" train --help

# ---- settings from a file ----------------------------------------------------------------------------
cat >config <<'END'
# a comment
rate = 0.01
  warmup=2
valid-every = 3
dim = 500

quiet = yes
END
train 0 '' 'a file can say it all, and quiet counts' --config config --updates 6 --out m.safetensors
case $("$heed" info --json m.safetensors) in
*'"rate":"0.01"'*) verdict 'its values are taken' '' '' ;;
*) verdict 'its values are taken' 'rate is not 0.01' "$("$heed" info --json m.safetensors)" ;;
esac
case $("$heed" info --json m.safetensors) in
*'"dim":16,'*'"warmup":"3"'*) verdict 'the command line wins' '' '' ;;
*) verdict 'the command line wins' 'warmup or dim is not as it was typed' "$("$heed" info --json m.safetensors)" ;;
esac
forget
printf '# one\nratte = 3\n' >wrong
train 2 "heed: wrong:2: there is no option 'ratte'; did you mean rate?" 'unknown names are refused with their line' --config wrong --out m.safetensors
printf 'embed = wide\n' >wrong
train 2 "heed: wrong:1: embed*'wide'*" 'wrong values too' --config wrong --out m.safetensors
printf 'dim 5\n' >wrong
train 2 "heed: wrong:1: 'dim 5' is not of the form name = value" 'and lines that say nothing' --config wrong --out m.safetensors
train 1 'heed: nowhere: there is no such file*' 'the file must be there' --config nowhere --out m.safetensors
forget

# ---- going on ----------------------------------------------------------------------------------------
train 0 '*done: the hours are over after * updates; *' 'even no time is enough for one update' --updates 0 --hours 0.00000001 --out m.safetensors
forget
train 0 '' 'a run of six updates' -q --updates 6 --out m.safetensors
train 0 '*updates changes from 6 to 8*rate changes from 0.003 to 0.2*goes on after update 6*done: all updates are done after 8 updates; *' \
    'the rate may change on the way' --updates 8 --rate 0.2 --out m.safetensors
train 0 '*licence changes from *' 'and for the record, whose text it is and on what terms' --updates 10 \
    --attribution 'people of a town' --licence 'CC-BY 2.0' --rate 0.2 --out m.safetensors
train 2 'heed: licence is recorded, so it must be UTF-8, not *' 'what is recorded is UTF-8' --licence "$(printf '\377')" --out m.safetensors
train 0 '' 'a run that says whose text it is' -q --updates 4 --attribution 'people of a town' --licence 'CC-BY 2.0' --out said.safetensors
expect 'tells it with the model' 0 '*  attribution          people of a town*  licence              CC-BY 2.0*' '' "$heed" info said.safetensors
expect 'and with the recipe' 0 '*attribution = people of a town*' '' "$heed" info --recipe said.safetensors
train 0 '*patience changes from 0 to 1*' 'so may the patience' --updates 20 --patience 1 --out m.safetensors
train 2 "*heed: dim 32 would be another model than the run that is saved has; leave it out, or start over with --fresh" \
    'the dimension may not' --updates 30 --dim 32 --out m.safetensors
expect 'nor the size' 2 '' "*heed: size small would be another model than the run that is saved has; leave it out, or start over with --fresh" \
    timeout 60 "$heed" train $text $dev --tokens words --batch-tokens 60 --size small --updates 30 --out m.safetensors
train 2 "*heed: arch is luong, but the run that is saved is a transformer; *" 'nor the model' --updates 30 --arch luong --out m.safetensors
train 2 "*heed: seed is 2, but the run that is saved in m.state.safetensors has 1, which cannot change on the way; use 1, another --out, or --fresh" \
    'nor the seed' --updates 30 --seed 2 --out m.safetensors
train 2 "*heed: freeze differs from the run that is saved in m.state.safetensors; *" 'nor what is frozen' --updates 30 --freeze encoder --out m.safetensors
expect 'nor the text' 2 '' "*heed: the text is not the one that m was trained on so far; use the same text, another --out, or --fresh" \
    timeout 60 "$heed" train --src h1.en --tgt h1.fr $dev $small --updates 30 --out m.safetensors
train 0 '*model: transformer, 1+1 layers of 32*done: all updates are done after 4 updates*' 'starting over may change it all' \
    --updates 4 --dim 32 --fresh --out m.safetensors
forget
train 0 '' 'a run without momentum' -q --optimizer sgd --momentum 0 --updates 4 --out m.safetensors
train 0 '*momentum changes from 0 to 0.5*' 'may get some' --optimizer sgd --momentum 0.5 --updates 6 --out m.safetensors
head -c 300 m.state.safetensors >cut && mv cut m.state.safetensors
train 1 'text: *heed: m.state.safetensors: *' 'a broken state is told' --optimizer sgd --updates 8 --out m.safetensors
cp m.safetensors m.state.safetensors
rm m.state.safetensors.previous
train 2 'heed: out: the state would take the place of m.state.safetensors, which is another file; move it away or choose another name' \
    'a model is no state' --updates 8 --out m.safetensors
forget
train 0 '' 'a run with a state' -q --updates 8 --out m.safetensors
cp m.safetensors before
middle=$(($(wc -c <m.state.safetensors) / 2))
for byte in '\125' '\252'; do # one of them is another than what is there
    # shellcheck disable=SC2059
    printf "$byte" | dd of=m.state.safetensors bs=1 seek=$middle conv=notrunc 2>/dev/null
    "$heed" train $text $dev $small -q --updates 12 --out m.safetensors >/dev/null 2>"$here/err" || break
done
expect 'a damaged state is refused by the name of what is damaged, and the one before it is offered' 1 '' \
    "heed: m.state.safetensors: the tensor '*' is damaged: *; the state before it is whole: to go on from there, type mv 'm.state.safetensors.previous' 'm.state.safetensors'" \
    timeout 60 "$heed" train $text $dev $small -q --updates 8 --out m.safetensors
eval "$(sed 's/.* type //' err)"
train 0 '' 'which is what can be typed' -q --updates 8 --out m.safetensors
same 'and ends in the same model' before m.safetensors
forget

# ---- starting from a model --------------------------------------------------------------------------
train 0 '' 'a model to start from' -q --updates 6 --out base.safetensors
from() { # STATUS STDERR NAME OPTIONS...
    wanted=$1 says=$2 name=$3
    shift 3
    # shellcheck disable=SC2086
    expect "$name" "$wanted" '' "$says" timeout 60 "$heed" train $text $dev --batch-tokens 60 --valid-every 4 --out m.safetensors "$@"
}
from 0 '*model: transformer, *as it was*rate 0.0003 *done: *' 'a model can be trained further, its vocabulary kept' --from base.safetensors --freeze encoder '*embed' --updates 8
from 0 '*nothing to do*' 'such a run is resumed as any other' --from base.safetensors --freeze encoder '*embed' --updates 8
forget
"$heed" info --recipe base.safetensors >base.conf
from 0 '*done: *' 'the configuration that made it may be given again' --config base.conf --from base.safetensors --updates 8
from 0 '*nothing to do*' 'also when such a run is resumed' --config base.conf --from base.safetensors --updates 8
forget
"$heed" convert base.safetensors --store int8 -o base8.safetensors
from 0 '*model: transformer, *as it was*done: *' 'a model in 8 bits is trained further as floats' --from base8.safetensors --updates 8
forget
from 0 '*done: *' 'a training is finished in 8 bits' --from base.safetensors --quantize 8 --store int8 --updates 8 -j 1
expect 'and stored so' 0 '*stored         I8 *' '' "$heed" info m.safetensors
mv m.safetensors by_one.safetensors
forget
from 0 '*done: *' 'by two threads, too' --from base.safetensors --quantize 8 --store int8 --updates 8 -j 2
expect 'with the same bits' 0 '' '' cmp m.safetensors by_one.safetensors
forget
from 0 '*the best, * at update 0, is in *' 'what does not help is not kept' --from base.safetensors --quantize 8 --rate 0 --updates 8 --valid-metric ce
forget
from 0 '*model: transformer, 3+*, grown from what it was*done: *' 'a model grows: wider layers, more of them' --from base.safetensors --ffn 96 --encoder-layers 3 --updates 8
from 0 '*nothing to do*' 'such a run is resumed, too' --from base.safetensors --ffn 96 --encoder-layers 3 --updates 8
from 0 '*done: *' 'and goes on' --from base.safetensors --ffn 96 --encoder-layers 3 --updates 12
forget
from 0 '*done: *' 'before it learns it is what it was' --from base.safetensors --ffn 96 --encoder-layers 3 --rate 0 --updates 4
expect 'word for word' 0 "$("$heed" translate -m base.safetensors -q t.en)" '' "$heed" translate -m m.safetensors -q t.en
forget
from 2 "*heed: ffn 3 would be another model than base.safetensors has; leave it out, or train without --from" 'it does not shrink' --from base.safetensors --ffn 3 --updates 8
from 2 "*heed: freeze: no parameter is called 'banana'; the names of this model's begin with *encoder*" 'what is frozen must be there' --from base.safetensors --freeze banana --updates 8
from 2 "*heed: freeze leaves nothing that could learn" 'not all can be frozen' --from base.safetensors --freeze '*' --updates 8
from 2 "*heed: from keeps the vocabulary of base.safetensors, so tokens cannot be chars" 'the vocabulary cannot be chosen' --from base.safetensors --tokens chars --updates 8
from 2 "*heed: size tiny would be another model than base.safetensors has; leave it out, or train without --from" 'nor the size' --from base.safetensors --size tiny --updates 8
from 2 "*heed: dim 32 would be another model than base.safetensors has; leave it out, or train without --from" 'nor the dimension' --from base.safetensors --dim 32 --updates 8
from 2 "*heed: arch is luong, but base.safetensors is a transformer; leave it out, or train without --from" 'nor the architecture' --from base.safetensors --arch luong --updates 8
from 2 "*heed: from keeps the vocabulary of base.safetensors, so normalize cannot be identity" 'nor the rule for characters' --from base.safetensors --normalize identity --updates 8
from 2 "*heed: from keeps the vocabulary of base.safetensors, so spm cannot be chosen" 'nor a vocabulary of somebody else' --from base.safetensors --spm some.model --updates 8
from 1 "*heed: nowhere: there is no such file*" 'the model must be there' --from nowhere --updates 8
forget

# ---- odd runs ----------------------------------------------------------------------------------------
head -n 1 t.en >one.en
head -n 1 t.fr >one.fr
expect 'one pair is a text' 0 '' '*done: *' timeout 60 "$heed" train --src one.en --tgt one.fr --dev-src one.en --dev-tgt one.fr $small --updates 5 --out m.safetensors
forget
for odd in '--batch-tokens 1' '--shards 1 --accumulate 3' '--valid-every 1000' '--ema 0' '--average 3' '--average 2 --average-of best' \
    '--valid-metric wer' '--valid-metric chrf --valid-beam 3' '--valid-metric exact --valid-tok char' '--store f16' '--store bf16 --norm post' '--quantize 8 --store int8' \
    '--rdrop 1 --dropout 0.2' '--simcut 1 --word-dropout 0.1' '--optimizer adamw --weight-decay 0.1' '--schedule plateau --valid-every 1' \
    '--schedule cosine' '--label-smoothing 0 --clip 0'; do
    # shellcheck disable=SC2086
    train 0 '*done: all updates are done after 7 updates; *' "$odd" $odd --updates 7 --out m.safetensors
    forget
done
train 0 '*done: it no longer improves after * updates; *' 'patience ends' --updates 0 --patience 1 --rate 0 --out m.safetensors
forget
train 1 '*not a finite number; skipped*back to update *, with half the rate*heed: training diverges: the loss does not stay finite, even at 1/1024 of the rate; choose a lower --rate, *' \
    'a rate without reason ends in a sentence' --valid-every 500 --save-every 4 --rate 1000 --warmup 0 --clip 0 --optimizer sgd --updates 400 --out m.safetensors
forget
train 1 '*heed: training diverges: after update 4 the cross entropy of the dev text is *, when guessing has 3.*; choose a lower --rate or a longer --warmup, and start over with --fresh' \
    'a model that is far worse than guessing is told' --rate 1000 --warmup 0 --clip 0 --updates 30 --valid-metric ce --out m.safetensors
problem=
[ ! -e m.safetensors ] || problem='there is m.safetensors'
verdict 'and not saved' "$problem" "$(ls)"
train 0 '*rate changes from * to 0.003*done: *' 'a lower rate helps' --rate 0.003 --warmup 0 --clip 0 --updates 30 --valid-metric ce --out m.safetensors
if command -v python3 >/dev/null; then
    expect 'and their lines are JSON' 0 '' '' python3 -c 'import json; [json.loads(l) for l in open("m.jsonl")]'
fi
forget

# ---- two at once, and no room ------------------------------------------------------------------------
"$heed" train $text $dev $small -q --updates 1000000 --out m.safetensors &
first=$!
while [ ! -s m.state.safetensors ]; do sleep 0.02; done
train 1 'heed: m.log is in use: another heed train is writing this model' 'two runs do not share a model' --updates 5 --out m.safetensors
kill -9 $first
wait $first 2>/dev/null
forget
train 0 '' 'a model that is there' -q --updates 4 --out m.safetensors
cp m.safetensors before
cp m.state.safetensors state-before
expect 'a disk without room is told' 1 '' 'heed: *safetensors: the file grows beyond *ulimit -f*the state of the last save is still there, and the same command goes on from it' \
    sh -c "ulimit -f 1; timeout 60 '$heed' train $text $dev $small -q --updates 8 --out m.safetensors"
same 'the last good model is still there' before m.safetensors
same 'and so is its state' state-before m.state.safetensors
train 0 '*goes on after update 4*done: *' 'from which the run goes on' --updates 8 --out m.safetensors
if mkdir tiny && mount -t tmpfs -o size=64k none tiny 2>/dev/null; then
    expect 'a full disk is told' 1 '' 'heed: tiny/m*: the disk is full; *' \
        sh -c "timeout 60 '$heed' train $text $dev $small -q --dim 64 --updates 8 --out tiny/m.safetensors"
    umount tiny
fi
finish
