#!/bin/sh
# test_translate.sh -- `heed translate` as a user meets it. The toy model says German numbers backwards in English.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
toy=$PWD/tests/translate/toy.safetensors
fixed=$PWD/tests/fuzz/corpus/model/fixed
gru=$PWD/tests/fuzz/corpus/model/gru
npz=$PWD/tests/format/data/stored.npz
shared=$PWD/$SHARED
case $SHARED in /*) shared=$SHARED ;; esac
cd "$here" || exit 1
unset HEED_KERNEL

printf 'eins zwei drei\n\n  vier  fünf \nzwei Katzen\n' >in
says() { # NAME IN OUT OPTIONS...
    name=$1 text=$2 wanted=$3
    shift 3
    printf '%b' "$text" >"$here/text"
    expect "$name" 0 "$wanted" '' "$heed" translate -m "$toy" "$@" text
}

expect 'lines come out as they go in' 0 'three two one

  five four 
<unk> two' '' "$heed" translate -m "$toy" in
expect 'standard input is translated' 0 'three two one*' '' sh -c "'$heed' translate -m '$toy' <in"
expect 'and is -' 0 'three two one*' '' sh -c "'$heed' translate -m '$toy' - <in"
expect 'files follow each other' 0 'one
one' '' sh -c "echo eins >a; '$heed' translate -m '$toy' a a"
expect 'nothing in, nothing out' 0 '' '' "$heed" translate -m "$toy"
says 'the last line needs no end' 'eins zwei' 'two one'
says 'a byte order mark is passed over' '\0357\0273\0277eins zwei' 'two one'
if command -v gzip >/dev/null; then
    gzip -c in >in.gz
    expect 'compressed files are read' 0 'three two one*two' '' "$heed" translate -m "$toy" in.gz
fi
says 'unknown words can be replaced' 'zwei Katzen\n' 'Katzen two' --replace-unknown
says 'links follow the text' 'eins zwei drei\n\nvier\n' 'three two one ||| 2-0 1-1 0-2
 ||| 
four ||| 0-0' --align hard
says 'weights do in the format of Marian' 'vier\n' 'four ||| 0.99*,0.0* 0.8*,0.1*' --align soft
says 'confidence does' 'eins zwei\n' 'two one ||| 0.99* 0.99* *' --confidence
says 'n-best lists are those of Moses' 'neun\neins zwei\n' '0 ||| nine ||| logprob= -0.00* ||| -0.00*
0 ||| * ||| logprob= -*
1 ||| two one ||| logprob= -*
1 ||| *' --n-best 2
says 'greedy search finds it too' 'eins zwei drei vier\n' 'four three two one' --beam 1
says 'several models translate together' 'eins zwei\n' 'two one' -m "$toy,$toy"
for norm in gnmt:0.6=1.1884 gnmt:1=1.3333 power:1=3.0000 none=1.0000; do # ((5 + n) / 6)^x and n^x, of two words and the end
    expect "length counts by ${norm%=*}" 0 "${norm#*=}" '' sh -c "echo 'eins zwei' | '$heed' translate -m '$toy' --json --length-norm ${norm%=*} |
        awk '{ sub(/.*\"score\": /, \"\"); score = \$1 + 0; sub(/^[^:]*: /, \"\"); printf \"%.4f\", (\$1 + 0) / score }' FS=,"
done
says 'or not at all' 'eins zwei\n' 'two one' --length-norm none --coverage-penalty 0.2
# At this temperature all words are about as likely, so only the choice of candidates makes a sentence.
says 'of one word the likeliest is drawn' 'eins zwei drei\n' 'three two one' --sample topk=1 --temperature 50
says 'of nine another one' 'eins zwei drei\n' 'six <unk> eight' --sample topk=9 --temperature 50
says 'so it is of those that are likely together' 'eins zwei drei\n' 'three two one' --sample topp=0.000001 --temperature 50
says 'and of all of them' 'eins zwei drei\n' 'eight eight five' --sample topp=1 --temperature 50
says 'another seed draws others' 'eins zwei drei\n' 'six' --sample topp=0.99 --temperature 50 --seed 8
printf 'nine nine\n\n' >prefixes
printf 'eins\nzwei\n' >two
expect 'a translation begins as it must' 0 'nine nine*
two' '' "$heed" translate -m "$toy" --prefix prefixes two
expect 'every line wants its prefix' 1 '' 'heed: prefixes has 2 lines, but there are more to translate*' \
    "$heed" translate -m "$toy" --prefix prefixes in

expect 'JSON has everything' 0 \
    '{"source": "eins zwei", "warnings": \[\], "translations": \[{"text": "two one", "score": -*, "logprob": -*, "confidence": 0.99*, "source_words": \[{"text": "eins", "start": 0, "end": 4}, {"text": "zwei", "start": 5, "end": 9}\], "target_words": \[{"text": "two", "start": 0, "end": 3, "logprob": -*, "confidence": 0.99*}, {"text": "one", "start": 4, "end": 7, *}\], "links": \[\[1, 0\], \[0, 1\]\], "attention": \[\[*\], \[*\]\], "attention_end": \[*\], "subwords": {"source": \["eins", "zwei", "</s>"\], "target": \["two", "one", "</s>"\], "attention": \[\[*\], \[*\], \[*\]\]}}\], "sentences": \[{"source": \[0, 9\], "target": \[0, 7\]}\]}' '' \
    sh -c "echo 'eins zwei' | '$heed' translate -m '$toy' --json"
if command -v python3 >/dev/null; then
    printf 'eins "zwei\\" \001\t\nfünf\n\n' >odd
    expect 'and it is JSON' 0 '3' '' sh -c "'$heed' translate -m '$toy' --json --n-best 3 odd |
        python3 -c 'import json, sys; print(len([json.loads(l) for l in sys.stdin]))'"
    expect 'without attention there is none' 0 'None None' '' sh -c "echo a b | '$heed' translate -m '$fixed' -q --json |
        python3 -c 'import json, sys; t = json.loads(sys.stdin.read())[\"translations\"][0]; print(t[\"attention\"], t[\"attention_end\"])'"
fi

# pictures
expect 'attention is shown below' 0 'two one
*eins zwei (end)
two *
one *x*
*x link' '' sh -c "echo 'eins zwei' | COLUMNS=60 '$heed' translate -m '$toy' --show"
if [ -e "${heed%heed}heed_draw.so" ]; then
    expect 'or drawn' 0 'two one' '' sh -c "echo 'eins zwei' | '$heed' translate -m '$toy' --plot one.svg && grep -q '<svg' one.svg"
    expect 'several lines have their number' 0 'two-1.svg two-3.svg' '' \
        sh -c "printf 'eins\n\nzwei\n' | '$heed' translate -m '$toy' --plot two.svg >/dev/null && echo two*.svg"
    expect 'even when the second comes late' 0 'late-1.svg late-2.svg' '' \
        sh -c "(echo eins; sleep 1; echo zwei) | '$heed' translate -m '$toy' --plot late.svg >/dev/null && echo late*.svg"
    echo mine >mine.svg && cp mine.svg two-1.svg && cp "$toy" model.svg
    expect 'what heed has not drawn is not replaced by a picture' 1 '' 'heed: mine.svg: there is a file of this name that heed has not drawn; *' \
        sh -c "echo 'eins zwei' | '$heed' translate -m '$toy' --plot mine.svg"
    expect 'nor is a model' 1 '' 'heed: model.svg: there is a file of this name that heed has not drawn; *' \
        sh -c "echo 'eins zwei' | '$heed' translate -m model.svg --plot model.svg"
    expect 'nor what is read' 1 '' 'heed: mine.svg: there is a file of this name *' "$heed" align -m "$toy" --plot mine.svg mine.svg mine.svg
    expect 'nor by a picture that gets a number' 0 'mine' 'heed: line 1 is not drawn: two-1.svg: there is *' \
        sh -c "printf 'eins\n\nzwei\n' | '$heed' translate -m '$toy' --plot two.svg >/dev/null; cat two-1.svg"
    expect 'a picture of its own is replaced' 0 'two one' '' sh -c "echo 'eins zwei' | '$heed' translate -m '$toy' --plot one.svg"
    expect 'all heads are a page' 0 'two one' '' sh -c "echo 'eins zwei' | '$heed' translate -m '$toy' --head all --plot heads.svg && test -s heads.svg"
    expect 'given pairs are drawn as well' 0 '1-0 0-1' '' \
        sh -c "echo 'eins zwei' >x; echo 'two one' >y; '$heed' align -m '$toy' --plot pair.svg x y && test -s pair.svg"
    expect 'scores by length too' 0 'exact = 100.00 % (1 of 1)' '' \
        sh -c "'$heed' eval -m '$toy' --metrics exact --plot length.svg x y && test -s length.svg"
    expect 'where there is a folder for it' 1 'two one' 'heed: line 1 is not drawn: *' \
        sh -c "echo 'eins zwei' | '$heed' translate -m '$toy' --plot nowhere/one.svg"
fi
expect 'a picture has a kind' 2 '' "heed: --plot takes a file that ends in .svg, .png, .pdf or .tex, not 'cat'" \
    "$heed" translate -m "$toy" --plot cat in
expect 'JSON is not shown' 2 '' 'heed: --json and --show do not go together*' "$heed" translate -m "$toy" --json --show in

# what is odd is said, and nothing is lost
printf 'eins \377\n\001\na\000b\n' >hostile
expect 'bad bytes are told' 0 '<unk> one
<unk>
<unk>' 'heed: hostile:1: 1 byte of the text is not UTF-8 and stands as U+FFFD
heed: hostile:3: 1 byte*' "$heed" translate -m "$toy" hostile
expect 'unless it shall be quiet' 0 '*' '' "$heed" translate -m "$toy" -q hostile
expect 'sentences are translated one by one' 0 '<unk> one <unk> two two one' '' sh -c "echo 'eins x! zwei x! eins zwei' | '$heed' translate -m '$toy'"
expect 'unless they shall stay together' 0 '* *"sentences": \[{"source": \[0, 25\]*' '' sh -c "echo 'eins x! zwei x! eins zwei' | '$heed' translate -m '$toy' --split never --json"
expect 'long sentences are cut' 0 '*' 'heed: standard input:1: a sentence is longer than the 12 subwords *; it was cut into parts' \
    sh -c "echo 'eins zwei eins zwei eins zwei eins zwei eins zwei eins zwei eins zwei' | '$heed' translate -m '$toy'"
printf 'a\nb\nc' | tr '\n' '\r' >returns
expect 'a carriage return is white space' 0 '*' '*' "$heed" translate -m "$toy" returns
yes 'zwei eins' | head -n 20000 >many
expect 'many lines are as many' 0 '20000 1' '' \
    sh -c "'$heed' translate -m '$toy' -b 1 many >answers && echo \$(wc -l <answers) \$(sort -u answers | wc -l)"

# a filter answers line by line: the second line is written only when the first answer is there
expect 'a pipe gets its answer at once' 0 'one
two' '' sh -c "mkfifo to from; '$heed' translate -m '$toy' <to >from & exec 3>to 4<from
    echo eins >&3; read -r a <&4; echo \"\$a\"; echo zwei >&3; read -r b <&4; echo \"\$b\"; exec 3>&-; wait"

# the same bits
expect 'no batch, thread or kernel changes a bit' 0 '' '' sh -c "
    for i in 1 2 3 4 5 6 7 8 9; do echo \"eins zwei drei fünf \$i\"; echo neun; echo 'acht Katzen sieben'; done >bits
    '$heed' translate -m '$toy' -q --json bits >wanted || exit 1
    for batch in 1 2 100; do for threads in 1 3; do
        '$heed' translate -m '$toy' -q --json --batch \$batch -j \$threads bits | cmp - wanted || exit 1; done; done
    for kernel in \$('$heed' info | sed -n 's/^kernels *//p'); do
        HEED_KERNEL=\$kernel '$heed' translate -m '$toy' -q --json bits | cmp - wanted || exit 1; done"
model=$shared/oracles/marian-ende-transformer
if [ -r "$model/model.npz" ]; then
    expect 'nor of real text' 0 '' '' sh -c "
        '$heed' import '$model/model.npz' --vocab '$model/vocab.spm' -o real.safetensors || exit 1
        head -n 12 '$model/source.en' >real
        '$heed' translate -q -m real.safetensors -q --json real >wanted || exit 1
        for kernel in \$('$heed' info | sed -n 's/^kernels *//p'); do
            HEED_KERNEL=\$kernel '$heed' translate -q -m real.safetensors --json --batch 5 real | cmp - wanted || exit 1; done"
else
    echo "skipped: there is no $model; make check SHARED=folder says where it is"
fi

# 8 bits
"$heed" convert "$toy" --store int8 -o int8.safetensors
expect 'a model in 8 bits translates' 0 'three two one*' '' "$heed" translate -m int8.safetensors in
expect 'one quantised when it is loaded is the same; so is one with another batch' 0 '' '' sh -c "
    '$heed' translate -m int8.safetensors --json in >wanted &&
    '$heed' translate -m '$toy' --compute int8 --json in | cmp - wanted &&
    '$heed' translate -m int8.safetensors --compute stored --batch 1 --json in | cmp - wanted"
expect 'it can be computed in floats, as if it had been stored so' 0 '' '' sh -c "
    '$heed' convert int8.safetensors -o f32.safetensors && '$heed' translate -m f32.safetensors --json in >wanted &&
    '$heed' translate -m int8.safetensors --compute f32 --json in | cmp - wanted"
expect 'in bf16 threads, batches and kernels change nothing' 0 '' '' sh -c "
    '$heed' translate -m '$toy' --compute bf16 -j 1 --json in >wanted && [ -s wanted ] &&
    '$heed' translate -m '$toy' --compute bf16 -j 2 --batch 1 --json in | cmp - wanted &&
    for kernel in ref generic; do HEED_KERNEL=\$kernel '$heed' translate -m '$toy' --compute bf16 --json in | cmp - wanted || exit 1; done"
expect 'a way to compute that there is not is refused' 2 '' '*compute must be stored, f32, bf16 or int8*' "$heed" translate -m "$toy" --compute bf8 in
expect 'and scores go with it' 0 '-*' '*' sh -c "echo eins >a; echo one >b; '$heed' score -m int8.safetensors --compute f32 a b"
expect 'every kernel says the same in 8 bits' 0 '' '' sh -c "
    '$heed' translate -m int8.safetensors --json in >wanted
    for kernel in \$('$heed' info | sed -n 's/^kernels *//p'); do
        HEED_KERNEL=\$kernel '$heed' translate -m int8.safetensors --json in | cmp - wanted || exit 1; done"
expect '8-bit models ask for a kernel that exists' 1 '' 'heed: *HEED_KERNEL*banana*' \
    env HEED_KERNEL=banana "$heed" translate -m int8.safetensors in

# what would cost without end
expect 'a beam of 10,000 is too large' 2 '' "heed: beam must be a whole number from 1 to 1000, not '10000'" "$heed" translate -m "$toy" -b 10000 in

# what is wrong
expect 'a missing model is named' 1 '' 'heed: nowhere: there is no such file*' "$heed" translate -m nowhere in
expect 'each of several' 1 '' 'heed: nowhere: there is no such file*' "$heed" translate -m "$toy,nowhere" in
expect 'vocabularies must be the same' 1 '' 'heed: model 2 has another vocabulary*' "$heed" translate -m "$toy,$gru" in
expect 'a missing file is named' 1 'three*' 'heed: nowhere: there is no such file' "$heed" translate -m "$toy" in nowhere
expect 'words are no files: what to type is told' 1 '' \
    "heed: Hello world: there is no such file; to translate words, give them on standard input: echo 'Hello world' | heed translate" \
    "$heed" translate -m "$toy" 'Hello world'
expect 'whatever is in them' 1 '' "*: echo \"It's me\" | heed translate" "$heed" translate -m "$toy" "It's" me
expect 'a closed standard input is no empty one' 1 '' 'heed: standard input: it is closed, so nothing can be read from it' \
    sh -c "'$heed' translate -m '$toy' <&-"
expect 'for the library as well' 1 '' 'heed: standard input: it is closed, so nothing can be read from it' \
    sh -c "'$heed' eval --hyp - --ref in <&-"
expect 'a text is no model' 1 '' 'heed: in: this is text, not a model; *' "$heed" translate -m in in
printf 'eins' >short
gzip -c "$toy" >packed
expect 'a compressed model is to be unpacked' 1 '' 'heed: packed: this is compressed by gzip; unpack it first, with gunzip' "$heed" translate -m packed in
printf '%%PDF-1.4\n\001\n' >paper
expect 'a PDF is one' 1 '' 'heed: paper: this is a PDF, not a model' "$heed" translate -m paper in
printf '\007\006\005\004\003\002\001\000\111\222\333' >noise
expect 'bytes of something else are no model' 1 '' 'heed: noise: this is no model; *' "$heed" translate -m noise in
expect 'however short' 1 '' 'heed: short: this is text, not a model; *' "$heed" translate -m short in
expect 'nor is an archive' 1 '' 'heed: *stored.npz: this is a zip archive, as models of Marian are (.npz); heed convert *' \
    "$heed" translate -m "$npz" in
cp "$toy" 'a,b.safetensors'
expect 'a comma may be part of a name' 0 'three two one*' '' "$heed" translate -m a,b.safetensors in
expect 'for eval as well' 0 '*BLEU*' '*' "$heed" eval -m a,b.safetensors in in
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    expect 'at a terminal what to do is told' 0 'Type a line and press Enter to have it translated; Ctrl-D ends.*' '' \
        script -qec "'$heed' translate -m '$toy'" /dev/null
fi
expect 'a folder is no file' 1 '' 'heed: .: this is a folder*' "$heed" translate -m "$toy" .
expect 'a missing prefix file is named' 1 '' 'heed: nowhere: there is no such file*' "$heed" translate -m "$toy" --prefix nowhere in
expect 'a length normalisation must be one' 2 '' "heed: length-norm must be none, power:X or gnmt:X, *, not 'long'" \
    "$heed" translate -m "$toy" --length-norm long in
expect 'so must a way of drawing' 2 '' "heed: sample must be none, all, topk=N*, not 'topk=0'" "$heed" translate -m "$toy" --sample topk=0 in
expect 'so must a head; all are for pictures' 2 '' "heed: head must be a whole number from 0, or mean, not 'all'" "$heed" translate -m "$toy" --head all --json in
expect 'a layer must be there' 1 '' 'heed: layer must be a whole number from 1 to 1 with this model, not 9' "$heed" translate -m "$toy" --layer 9 --json in
expect 'also where it would not be looked at' 1 '' 'heed: head must be a whole number from 0 to 0 with this model, or mean, not 7' \
    "$heed" translate -m "$toy" --head 7 --attention none in
expect 'however far it is beside the range' 1 '' 'heed: head must be a whole number from 0 to 0 with this model, or mean, not 99' \
    "$heed" translate -m "$toy" --head 99 in
expect 'layers as well' 1 '' 'heed: layer must be a whole number from 1 to 1 with this model, not 99' "$heed" translate -m "$toy" --layer 99 in
expect 'where there is no attention there are no layers' 1 '' 'heed: the model has no attention, so there is no layer or head to choose' \
    "$heed" translate -m "$fixed" --layer 1 in
expect 'no attention, no replacing' 1 '' 'heed: the model has no attention*' "$heed" translate -m "$fixed" --replace-unknown in
expect 'a mistyped option is answered with the right one' 2 '' "heed: there is no option 'bean'; did you mean beam?" \
    "$heed" translate -m "$toy" --bean 5
expect 'numbers have their range' 2 '' 'heed: beam must be *' "$heed" translate -m "$toy" --beam 0
if [ -w /dev/full ]; then
    expect 'a full disk fails with a sentence' 1 '' 'heed: standard output cannot be written*' \
        sh -c "'$heed' translate -m '$toy' in >/dev/full"
fi
expect 'translate has a help of its own' 0 'Usage: heed translate *-m MODEL*--beam N*--json*' '' "$heed" translate --help
finish
