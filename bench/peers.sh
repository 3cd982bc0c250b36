#!/bin/sh
# peers.sh -- whom decoding is measured against: CTranslate2 in a Python environment of its own, and its copies of the models.
#
#   peers.sh FOLDER SHARED HEED     downloads ctranslate2, sentencepiece, numpy and pyyaml (about 80 MB) from PyPI into FOLDER/ct2
#                                   the first time; makes ende.heed and ende-ct2, and large.heed and large-ct2 (large.py), v32k.heed and
#                                   v32k-ct2 (the same with 32,000 words), and NAME-int8.heed of each
set -eu
folder=$1 shared=$2 heed=$3
oracle=$shared/oracles/marian-ende-transformer
bench=$(dirname "$0")
[ -f "$oracle/model.npz" ] || { echo "peers.sh: there is no $oracle/model.npz; make SHARED=folder says where it is" >&2; exit 1; }
mkdir -p "$folder"
python=$folder/ct2/bin/python
if [ ! -x "$folder/ct2/bin/ct2-marian-converter" ]; then
    echo "peers.sh: downloads ctranslate2, sentencepiece, numpy and pyyaml into $folder/ct2"
    python3 -m venv "$folder/ct2"
    "$folder/ct2/bin/pip" install -q ctranslate2 sentencepiece numpy pyyaml
fi
# both NAME MODEL.npz VOCAB.spm: NAME.heed, NAME-int8.heed and NAME-ct2
both() {
    [ -f "$folder/$1-ct2/model.bin" ] || "$python" "$shared/prototypes/marian_to_ct2.py" "$2" "$3" "$folder/$1-ct2"
    [ "$folder/$1.heed" -nt "$2" ] || "$heed" convert "$2" --vocab "$3" -o "$folder/$1.heed" >/dev/null
    [ "$folder/$1-int8.heed" -nt "$folder/$1.heed" ] || "$heed" convert "$folder/$1.heed" --store int8 -o "$folder/$1-int8.heed" >/dev/null
}
# random NAME VOCAB.spm: both, of random weights
random() {
    [ "$folder/$1.npz" -nt "$bench/large.py" ] || {
        rm -rf "$folder/$1-ct2"
        "$python" "$bench/large.py" "$2" "$folder/$1.npz"
    }
    both "$1" "$folder/$1.npz" "$2"
}
both ende "$oracle/model.npz" "$oracle/vocab.spm"
random large "$oracle/vocab.spm"
if [ ! -f "$folder/v32k.spm" ]; then
    "$python" -c 'import sentencepiece, sys
sentencepiece.SentencePieceTrainer.train(input=sys.argv[2:], model_prefix=sys.argv[1], vocab_size=32000, model_type="bpe", minloglevel=2,
                                         eos_id=0, unk_id=1, bos_id=-1)' \
        "$folder/v32k" "$shared/data/tatoeba/train.en-de.en" "$shared/data/tatoeba/train.en-de.de"
    rm "$folder/v32k.vocab"
    mv "$folder/v32k.model" "$folder/v32k.spm"
fi
random v32k "$folder/v32k.spm"
