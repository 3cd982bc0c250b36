#!/bin/sh
# peers.sh -- whom decoding is measured against: CTranslate2 in a Python environment of its own, and its copies of the models.
#
#   peers.sh FOLDER SHARED HEED     downloads ctranslate2, sentencepiece, numpy and pyyaml (about 80 MB) from PyPI into FOLDER/ct2
#                                   the first time; makes ende.heed and ende-ct2, and large.heed and large-ct2 (large.py)
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
# both NAME MODEL.npz: NAME.heed and NAME-ct2
both() {
    [ -f "$folder/$1-ct2/model.bin" ] ||
        "$python" "$shared/prototypes/marian_to_ct2.py" "$2" "$oracle/vocab.spm" "$folder/$1-ct2"
    "$heed" import "$2" --vocab "$oracle/vocab.spm" -o "$folder/$1.heed" >/dev/null
}
both ende "$oracle/model.npz"
[ "$folder/large.npz" -nt "$bench/large.py" ] || {
    rm -rf "$folder/large-ct2"
    "$python" "$bench/large.py" "$oracle/vocab.spm" "$folder/large.npz"
}
both large "$folder/large.npz"
