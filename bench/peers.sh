#!/bin/sh
# peers.sh -- whom decoding is measured against: CTranslate2 in a Python environment of its own, and its copy of the model.
#
#   peers.sh FOLDER SHARED HEED     downloads ctranslate2, sentencepiece, numpy and pyyaml (about 80 MB) from PyPI into FOLDER/ct2
#                                   the first time; PyTorch is used if somebody has installed it there
set -eu
folder=$1 shared=$2 heed=$3
oracle=$shared/oracles/marian-ende-transformer
[ -f "$oracle/model.npz" ] || { echo "peers.sh: there is no $oracle/model.npz; make SHARED=folder says where it is" >&2; exit 1; }
mkdir -p "$folder"
if [ ! -x "$folder/ct2/bin/ct2-marian-converter" ]; then
    echo "peers.sh: downloads ctranslate2, sentencepiece, numpy and pyyaml into $folder/ct2"
    python3 -m venv "$folder/ct2"
    "$folder/ct2/bin/pip" install -q ctranslate2 sentencepiece numpy pyyaml
fi
[ -f "$folder/ende-ct2/model.bin" ] ||
    "$folder/ct2/bin/python" "$shared/prototypes/marian_to_ct2.py" "$oracle/model.npz" "$oracle/vocab.spm" "$folder/ende-ct2"
"$heed" import "$oracle/model.npz" --vocab "$oracle/vocab.spm" -o "$folder/ende.heed" >/dev/null
