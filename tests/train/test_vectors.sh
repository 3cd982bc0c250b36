#!/bin/sh
# test_vectors.sh -- vectors as a source, as a user meets them: tones become words, and no thread, kernel, rank or kill changes a bit.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
if [ ! -e "$(dirname "$heed")/heed_features.so" ]; then
    echo "skipped: no heed_features.so here (tools/packages.sh features installs what it needs)"
    exit 0
fi
unset HEED_KERNEL
cd "$here" || exit 1

# Recordings of one to four tones, each with a name: 160 to learn from, 20 to validate on, one to read.
python3 - <<'END'
import math, random, struct, wave
names = {"la": 300, "mi": 700, "so": 1500, "ti": 3000}
random.seed(5)
def write(path, words):
    samples = []
    for w in words:
        n = random.randint(1300, 1900)
        samples += [int(6000 * math.sin(2 * math.pi * names[w] * t / 8000)) for t in range(n)] + [0] * 300
    with wave.open(path, "wb") as f:
        f.setnchannels(1); f.setsampwidth(2); f.setframerate(8000)
        f.writeframes(struct.pack("<%dh" % len(samples), *samples))
for split, n in (("train", 160), ("dev", 20)):
    with open(split + ".words", "w") as f:
        for i in range(n):
            words = random.sample(sorted(names), random.randint(1, 4))
            write("%s%03d.wav" % (split, i), words)
            f.write(" ".join(words) + "\n")
write("hello.wav", ["so", "la", "ti"])
def chunk(kind, data):
    import zlib
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(path, width, height):
    import zlib
    rows = b"".join(b"\0" + bytes((x * 9 + y * 5) % 256 for x in range(3 * width)) for y in range(height))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                           + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
png("a.png", 16, 8)
png("b.png", 15, 8)
END
sound='--sample-rate 8000 --high 3900 --mel 16 --average 2'

# ---- features ---------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
expect 'sound becomes vectors' 0 '' 'train.safetensors: 160 items, * vectors of 16 numbers' "$heed" features train???.wav $sound -o train.safetensors
expect 'and others in the same way' 0 '' 'dev.safetensors: 20 items, * vectors of 16 numbers' "$heed" features dev???.wav --like train.safetensors -o dev.safetensors
# shellcheck disable=SC2086
"$heed" features train???.wav $sound -q -o again.safetensors
problem=
cmp -s train.safetensors again.safetensors || problem='they differ'
verdict 'the same files are the same vectors' "$problem" ''
expect 'pictures become patches' 0 '' 'p.safetensors: 1 items, 2 vectors of 192 numbers' "$heed" features a.png --patches 8x8 -o p.safetensors
expect 'a picture of no whole patches is explained' 1 '' '*b.png: a picture of 15 by 8 pixels is not made of whole patches of 8 by 8; --resize 16x8 makes it so' \
    "$heed" features b.png -o p.safetensors
expect 'a sound among pictures is refused' 1 '' '*hello.wav is sound, but a picture is wanted' "$heed" features a.png hello.wav -o p.safetensors
echo 'no sound' >text.wav
expect 'a sound file that is none' 1 '' '*text.wav is neither sound (WAV, FLAC, Ogg) nor a picture (PNG, JPEG)' "$heed" features text.wav -o p.safetensors
head -c 50 hello.wav >short.wav
expect 'a sound that is too short' 1 '' '*short.wav: 0 ms of sound are shorter than a window of 25 ms' "$heed" features short.wav $sound -o p.safetensors
expect 'settings that do not go together' 2 '' '*bands from 100 to 7000 Hz do not lie within 0 and 4000 Hz*' "$heed" features hello.wav --sample-rate 8000 -o p.safetensors
expect 'nothing to write to' 2 '' '*features needs sound or picture files and -o FILE*' "$heed" features hello.wav
expect 'a missing module is explained' 1 '' '*sound and picture files*install libsndfile*' env HEED_FEATURES_MODULE=/nowhere.so "$heed" features hello.wav -o p.safetensors

# ---- training -----------------------------------------------------------------------------------------------
text='--src train.safetensors --tgt train.words --dev-src dev.safetensors --dev-tgt dev.words --tokens words --patience 0 --warmup 10'
masks='--time-masks 1 --band-masks 1 --band-mask 2 --noise 0.05'
rnn='--arch bahdanau --encoder-layers 2 --pyramid 1 --dim 32 --embed 16 --dropout 0.1 --rate 0.005'
located='--arch bahdanau --encoder-layers 2 --stack 2 --dim 32 --embed 16 --dropout 0.1 --rate 0.005 --score location-aware --location-width 9 --ctc 1 --scheduled-sampling 0.2 --scheduled-from 2'
attention='--dim 16 --ffn 16 --heads 2 --layers 1 --stack 2 --pyramid 1'
learn() { # NAME OPTIONS...
    out=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 "$heed" train $text -q --out "$out.safetensors" "$@" >"$out.out" 2>&1
}
same() { # SENTENCE A B
    problem=
    cmp -s "$2.safetensors" "$3.safetensors" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2.safetensors" "$3.safetensors" 2>&1; cat "$3.out" 2>/dev/null)"
}
few='--batch-tokens 100 --updates 7 --valid-every 4 --valid-metric ce'
for kind in rnn located attention; do
    eval "shape=\$$kind"
    # shellcheck disable=SC2086
    {
        learn "$kind-one" $shape $masks $few -j 1
        learn "$kind-three" $shape $masks $few -j 3
        same "$kind: three threads change no bit" "$kind-one" "$kind-three"
        HEED_KERNEL=generic learn "$kind-generic" $shape $masks $few -j 2
        same "$kind: nor does another kernel" "$kind-one" "$kind-generic"
        learn "$kind-parts" $shape $masks $few -j 2 --updates 3
        learn "$kind-parts" $shape $masks $few -j 1
        same "$kind: nor a run in two parts" "$kind-one" "$kind-parts"
    }
done
if command -v mpirun >/dev/null && [ -e "$(dirname "$heed")/heed_mpi.so" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    # shellcheck disable=SC2086
    mpirun -n 2 "$heed" train $text $rnn $masks $few -q -j 1 --out ranks.safetensors >ranks.out 2>&1
    same 'nor do two ranks' rnn-one ranks
fi
head -n 159 train.words >fewer.words
expect 'a line for every item' 1 '' '*train.safetensors has 160 items, but fewer.words has 159 lines; every item has its own*' \
    "$heed" train --src train.safetensors --tgt fewer.words --dev-src dev.safetensors --dev-tgt dev.words --out x.safetensors -q
expect 'vectors of another width' 1 '' '*p.safetensors: its vectors have width 192 and grids, but those to learn from have 16*' \
    "$heed" train --src train.safetensors --tgt train.words --dev-src p.safetensors --dev-tgt dev.words --out x.safetensors -q
expect 'a pyramid needs layers' 2 '' '*pyramid 2 halves the source between layers, so there must be 3 encoder layers*' \
    "$heed" train $text --arch bahdanau --layers 2 --pyramid 2 --out x.safetensors -q
expect 'text has no pyramid' 2 '' '*stack and pyramid are for a source of vectors*' \
    "$heed" train --src train.words --tgt train.words --dev-src dev.words --dev-tgt dev.words --tokens words --pyramid 1 --out x.safetensors -q

# ---- using the model ------------------------------------------------------------------------------------------
# shellcheck disable=SC2086
learn tones $rnn --batch-tokens 100 --updates 400 --valid-every 100
expect 'it has learned the tones' 0 'WER = [0-9].?? %*' '' "$heed" eval -m tones.safetensors dev.safetensors dev.words --metrics wer
expect 'a recording itself is read' 0 'so la ti' '' "$heed" translate -m tones.safetensors hello.wav
expect 'so is an item by its name' 0 "$(sed -n 3p dev.words)" '' sh -c "echo 'dev.safetensors#3' | '$heed' translate -m tones.safetensors"
"$heed" translate -m tones.safetensors dev.safetensors >from-file
"$heed" translate -m tones.safetensors dev???.wav >from-sound
problem=
cmp -s from-file from-sound || problem='they differ'
verdict 'a file of vectors and the recordings give the same' "$problem" "$(diff from-file from-sound)"
expect 'every item has its line' 0 '20' '' sh -c 'wc -l <from-file | tr -d " "'
expect 'batches change nothing' 0 '' '' sh -c "'$heed' translate -m tones.safetensors --batch 1 -b 1 -j 1 dev.safetensors >one; '$heed' translate -m tones.safetensors --batch 7 -b 1 -j 3 dev.safetensors | cmp - one"
expect 'JSON has seconds' 0 '{"source": "0.00 0.04 *", "item": "hello.wav", "seconds": 0.04, *' '' "$heed" translate -m tones.safetensors --json hello.wav
expect 'attention is shown over seconds' 0 '*so*' '' "$heed" translate -m tones.safetensors --show hello.wav
expect 'given outputs are scored' 0 '20' '*perplexity*' sh -c "'$heed' score -m tones.safetensors dev.safetensors dev.words | grep -c '^-'"
expect 'and aligned with positions' 0 '20' '' sh -c "'$heed' align -m tones.safetensors dev.safetensors dev.words | wc -l | tr -d ' '"
expect 'an item that is not there' 1 '' '*dev.safetensors#21: the file has only 20 items*' sh -c "echo 'dev.safetensors#21' | '$heed' translate -m tones.safetensors"
expect 'vectors of another model' 1 '' '*p.safetensors#1: its vectors have width 192 and grids, but the model reads width 16*' "$heed" translate -m tones.safetensors p.safetensors
expect 'a picture is no sound' 1 '' '*a.png is a picture, but sound is wanted*' "$heed" translate -m tones.safetensors a.png
# ---- CTC beside the attention -------------------------------------------------------------------------------------
# shellcheck disable=SC2086
learn heard $located --batch-tokens 100 --updates 300 --valid-every 100
expect 'with CTC it has learned them, too' 0 'WER = [0-9].?? %*' '' "$heed" eval -m heard.safetensors dev.safetensors dev.words --metrics wer --ctc-weight 0.5
expect 'what it is made of is told' 0 '*e_tj = v·tanh(W s_{t-1} + U h_j + L f_tj), f_t = F ∗ α_{t-1}: 10 filters of width 9*ctc *1.0*' '' "$heed" info heard.safetensors
expect 'CTC alone hears a recording' 0 'so la ti' '' "$heed" translate -m heard.safetensors --ctc-weight 1 hello.wav
expect 'batches and threads change nothing with CTC' 0 '' '' sh -c "'$heed' translate -m heard.safetensors --json --ctc-weight 0.3 --batch 1 -j 1 dev.safetensors >one; '$heed' translate -m heard.safetensors --json --ctc-weight 0.3 --batch 7 -j 3 dev.safetensors | cmp - one"
"$heed" translate -m heard.safetensors --json --ctc-weight 1 hello.wav >heard.json
cat >tones.py <<'END'
import json, struct, sys, wave
with wave.open("hello.wav") as f:
    samples = struct.unpack("<%dh" % f.getnframes(), f.readframes(f.getnframes()))
tones, begin = [], 0
for t in range(len(samples) - 299): # 300 samples of silence end a tone
    if samples[t] == 0 and not any(samples[t:t + 300]) and t > begin + 1000:
        tones.append((begin / 8000, t / 8000))
        begin = t + 300
result = json.load(open(sys.argv[1]))
best = result["translations"][0]
assert len(best["heard"]) == len(tones) == len(best["target_words"]), (best["heard"], tones)
for (first, last), (begin, end) in zip(best["heard"], tones):
    middle = (first + last + 1) / 2 * result["seconds"]
    assert first <= last and begin - 0.05 < middle < end + 0.05, (best["heard"], tones)
print(best["text"])
END
expect 'where CTC hears a word there is its tone' 0 'so la ti' '' python3 tones.py heard.json
HEED_KERNEL=generic "$heed" translate -m heard.safetensors --json --ctc-weight 1 hello.wav >generic.json
problem=
cmp -s heard.json generic.json || problem='they differ'
verdict 'and no kernel changes that' "$problem" "$(cat heard.json generic.json)"
expect 'which is shown below the attention' 0 "so la ti

*
CTC hears the words here:
*so *@@*
la *@@*
ti *@@*" '' "$heed" translate -m heard.safetensors --ctc-weight 1 --show hello.wav
"$heed" translate -m heard.safetensors,heard.safetensors --json --ctc-weight 1 hello.wav >two.json
problem=
[ "$(grep -o '"heard": [][0-9, ]*' two.json)" = "$(grep -o '"heard": [][0-9, ]*' heard.json)" ] || problem='they hear otherwise'
verdict 'two models hear together' "$problem" "$(cat heard.json two.json)"
echo 'so la ti' >hello.words
"$heed" features hello.wav --like train.safetensors -q -o hello.safetensors
expect 'and so is an output that is given' 0 "*$(grep -o '"heard": [][0-9, ]*' heard.json | sed 's/[][]/?/g')*" '' "$heed" align -m heard.safetensors --json hello.safetensors hello.words
expect 'a model without CTC hears nothing' 0 'so la ti*ti *@*1' '' "$heed" translate -m tones.safetensors --show hello.wav
expect 'nor does its JSON tell' 1 '' '' sh -c "'$heed' translate -m tones.safetensors --json hello.wav | grep heard"
if [ -e "$(dirname "$heed")/heed_draw.so" ]; then
    expect 'and drawn' 0 '3' '' sh -c "'$heed' translate -m heard.safetensors --ctc-weight 1 --plot heard.svg hello.wav >/dev/null && grep -c 'class=\"bar\"' heard.svg"
fi
expect 'a model without CTC says so' 1 '' '*the model was not trained with CTC, so ctc-weight cannot be used; leave it out, or train with --ctc 1*' "$heed" translate -m tones.safetensors --ctc-weight 0.3 hello.wav
expect 'targets that are too long are counted' 0 '' '*ctc: [1-9]* of 160 targets are longer than their source has positions*' \
    "$heed" train $text $located --stack 32 --batch-tokens 100 --updates 1 --out long.safetensors
expect 'scheduled sampling wants a recurrent decoder' 2 '' '*scheduled-sampling is for recurrent decoders*this model has a transformer*leave it out*' \
    "$heed" train $text $attention --scheduled-sampling 0.1 --out x.safetensors -q
expect 'such a model is not served' 1 '' '*only models of text are served*' "$heed" serve -m x-y=tones.safetensors --port 0
finish
