"""marian_to_ct2.py -- a Marian model and its SentencePiece vocabulary as a folder of CTranslate2, by CTranslate2's own converter.

usage: marian_to_ct2.py MODEL.npz VOCAB.spm FOLDER      run by peers.sh

The converter reads vocabularies as YAML, and a configuration that ends with one zero byte, where Marian pads with several.
"""
import json
import os
import sys
import tempfile

import ctranslate2
import numpy
import sentencepiece

model_file, vocab_file, folder = sys.argv[1:4]
pieces = sentencepiece.SentencePieceProcessor(model_file=vocab_file)
with tempfile.TemporaryDirectory() as place:
    npz, vocab = os.path.join(place, "model.npz"), os.path.join(place, "vocab.yml")
    arrays = dict(numpy.load(model_file))
    config = arrays["special:model.yml"].tobytes().rstrip(b"\0").rstrip(b"\n") + b"\n\0"
    arrays["special:model.yml"] = numpy.frombuffer(config, dtype=numpy.int8)
    numpy.savez(npz, **arrays)
    with open(vocab, "w", encoding="utf-8") as out:
        for i in range(pieces.get_piece_size()):
            out.write("%s: %d\n" % (json.dumps(pieces.id_to_piece(i), ensure_ascii=False), i))
    ctranslate2.converters.MarianConverter(npz, [vocab, vocab]).convert(folder, force=True)
