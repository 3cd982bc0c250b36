#!/bin/sh
# peers.sh -- whom decoding is measured against: CTranslate2 in a Python environment of its own, and its copies of the models.
#
#   peers.sh FOLDER SHARED HEED MODEL TORCH     downloads ctranslate2, sentencepiece, numpy and pyyaml (about 80 MB) from PyPI into FOLDER/ct2
#                                               the first time; makes small.heed and small-ct2, large.heed and large-ct2 (large.py), v32k.heed
#                                               and v32k-ct2 (the same with 32,000 words), NAME-int8.heed of each, gru, trained for a minute
#                                               or two, small.spm, the vocabulary of the first two, symbol, what their sources begin with, and sentences.en, to be translated
#
# Where SHARED has them, the small model is Marian's of SHARED/oracles (d 128, 2+2 layers) and the sentences are Tatoeba's. Anywhere else, and
# with SHARED= , the model is MODEL, the one inside heed, as Hugging Face's transformers has it (`heed convert --to hf`) and as CTranslate2's own
# converter makes it of that, for which TORCH is a Python with PyTorch; and the sentences are made of the phrasebook (text.py). Figures of the
# two are not to be compared. FOLDER/origin says which it was.
set -eu
folder=$1 shared=$2 heed=$3 model=$4 torch=$5
oracle=$shared/oracles/marian-ende-transformer
bench=$(dirname "$0")
python=$folder/ct2/bin/python
if [ -n "$shared" ] && [ -f "$oracle/model.npz" ] && [ -f "$shared/data/tatoeba/test.en-de.en" ]; then
    origin="Marian's model of $shared, en-de"
else
    origin="the model inside heed, $model, $("$heed" info "$model" | sed -n 's/^languages *//p')"
fi
mkdir -p "$folder"
if [ "$(cat "$folder/origin" 2>/dev/null)" != "$origin" ] || { [ -f "$model" ] && [ "$model" -nt "$folder/origin" ]; }; then
    for name in small large v32k; do
        rm -rf "$folder/$name.heed" "$folder/$name-int8.heed" "$folder/$name-ct2" "$folder/$name.npz" "$folder/$name.spm" "$folder/$name-hf"
    done
    rm -rf "$folder/gru"
    echo "$origin" >"$folder/origin"
fi
echo "common weights of the small model: $origin"
if [ ! -x "$folder/ct2/bin/ct2-marian-converter" ]; then
    echo "peers.sh: downloads ctranslate2, sentencepiece, numpy and pyyaml into $folder/ct2"
    python3 -m venv "$folder/ct2"
    "$folder/ct2/bin/pip" install -q ctranslate2 sentencepiece numpy pyyaml
fi
int8() { # int8 NAME: NAME-int8.heed
    [ "$folder/$1-int8.heed" -nt "$folder/$1.heed" ] || "$heed" convert "$folder/$1.heed" --store int8 -o "$folder/$1-int8.heed" >/dev/null
}
# both NAME MODEL.npz VOCAB.spm: NAME.heed, NAME-int8.heed and NAME-ct2
both() {
    [ -f "$folder/$1-ct2/model.bin" ] || "$python" "$bench/marian_to_ct2.py" "$2" "$3" "$folder/$1-ct2"
    [ "$folder/$1.heed" -nt "$2" ] || "$heed" convert "$2" --vocab "$3" -o "$folder/$1.heed" >/dev/null
    int8 "$1"
}
# random NAME VOCAB.spm: both, of random weights
random() {
    [ "$folder/$1.npz" -nt "$bench/large.py" ] || {
        rm -rf "$folder/$1-ct2"
        "$python" "$bench/large.py" "$2" "$folder/$1.npz"
    }
    both "$1" "$folder/$1.npz" "$2"
}
# learn NAME FILE...: NAME.spm, 32,000 subwords
learn() {
    name=$1
    shift
    [ -f "$folder/$name.spm" ] || {
        "$python" -c 'import sentencepiece, sys
sentencepiece.SentencePieceTrainer.train(input=sys.argv[2:], model_prefix=sys.argv[1], vocab_size=32000, model_type="bpe", minloglevel=2,
                                         eos_id=0, unk_id=1, bos_id=-1)' "$folder/$name" "$@"
        rm "$folder/$name.vocab"
        mv "$folder/$name.model" "$folder/$name.spm"
    }
}

# gru SOURCE TARGET: gru/gru.safetensors, a GRU of d 512 with additive attention after 150 short updates: no translator, but it knows which words
# are likely
gru() {
    [ -f "$folder/gru/gru.safetensors" ] || {
        mkdir -p "$folder/gru"
        head -n 100 "$1" >"$folder/gru/dev.source"
        head -n 100 "$2" >"$folder/gru/dev.target"
        "$heed" train -q --src "$1" --tgt "$2" --dev-src "$folder/gru/dev.source" --dev-tgt "$folder/gru/dev.target" --arch bahdanau --size base \
            --embed 256 --readout linear --spm "$folder/small.spm" --joint-vocab yes --updates 150 --batch-tokens 500 --rate 0.002 --warmup 40 \
            --label-smoothing 0 --dropout 0 --valid-every 150 --valid-metric ce --fresh --out "$folder/gru/gru.safetensors"
        rm -f "$folder"/gru/gru.state.*
    }
}

case $origin in
Marian*)
    cp "$oracle/vocab.spm" "$folder/small.spm"
    cp "$shared/data/tatoeba/test.en-de.en" "$folder/sentences.en"
    : >"$folder/symbol"
    both small "$oracle/model.npz" "$folder/small.spm"
    learn v32k "$shared/data/tatoeba/train.en-de.en" "$shared/data/tatoeba/train.en-de.de"
    gru "$shared/data/tatoeba/train.en-de.en" "$shared/data/tatoeba/train.en-de.de" ;;
*)
    [ -f "$folder/text/words.txt" ] || "$python" "$bench/text.py" "$bench/../recipes/phrasebook.tsv" "$folder/text"
    cp "$folder/text/sentences.en" "$folder/sentences.en"
    [ -d "$folder/small-hf" ] || "$heed" convert "$model" --to hf -o "$folder/small-hf" >/dev/null
    cp "$folder/small-hf/source.spm" "$folder/small.spm"
    # Sources of a model of several languages begin with a symbol, here that of its first direction.
    symbol=">>$("$heed" info "$model" | sed -n 's/^languages *[^-]*-\([^, ]*\).*/\1/p')<<"
    grep -qF "\"$symbol\"" "$folder/small-hf/vocab.json" && echo "$symbol" >"$folder/symbol" || : >"$folder/symbol"
    if [ ! -f "$folder/small-ct2/model.bin" ]; then
        # What only the converter needs is kept out of both environments.
        [ -d "$folder/converter/transformers" ] || {
            echo "peers.sh: downloads transformers, which CTranslate2's converter needs, into $folder/converter"
            "$torch" -m pip install -q --target "$folder/converter" transformers ctranslate2 sentencepiece sacremoses
        }
        TRANSFORMERS_VERBOSITY=error PYTHONPATH=$folder/converter "$torch" -c 'import sys
from ctranslate2.converters import TransformersConverter
TransformersConverter(sys.argv[1]).convert(sys.argv[2], force=True)' "$folder/small-hf" "$folder/small-ct2"
    fi
    # All that heed stores of it is what it says in f32.
    [ -f "$folder/small.heed" ] || "$heed" convert "$model" --store f32 -o "$folder/small.heed" >/dev/null
    int8 small
    learn v32k "$folder/text/train.en" "$folder/text/train.de" "$folder/text/words.txt"
    gru "$folder/text/train.en" "$folder/text/train.de" ;;
esac
random large "$folder/small.spm"
random v32k "$folder/v32k.spm"
