"""large.py -- a larger Transformer with random weights, as Marian stores one: the same for heed and for CTranslate2 to decode.

usage: large.py VOCAB.spm OUT.npz      d 512, 6+6 layers, feed-forward 2048, 8 heads; run by peers.sh

Always the same weights. Attention adds little and tables are not tied, or the same word would be said again and again; the end marker is
so unlikely that no sentence ends before the limit of its length.
"""
import sys

import numpy
import sentencepiece

vocab_file, out = sys.argv[1:3]
D, FFN, LAYERS, HEADS = 512, 2048, 6, 8
vocab = sentencepiece.SentencePieceProcessor(model_file=vocab_file)
V = vocab.get_piece_size()
random = numpy.random.default_rng(1)
arrays = {}


def weight(name, rows, columns, gain=1):
    """Within `gain` times the range of Glorot and Bengio (2010)."""
    limit = gain * (6 / (rows + columns)) ** 0.5
    arrays[name] = random.uniform(-limit, limit, (rows, columns)).astype(numpy.float32)


def vector(name, n, value=0.0):
    arrays[name] = numpy.full((1, n), value, dtype=numpy.float32)


def norm(name):
    vector(name + "_ln_scale", D, 1)
    vector(name + "_ln_bias", D)


for side, kinds in (("encoder", ["self"]), ("decoder", ["self", "context"])):
    for layer in range(1, LAYERS + 1):
        here = "%s_l%d_" % (side, layer)
        for kind in kinds:
            for role in "qkvo":
                weight(here + "%s_W%s" % (kind, role), D, D, 0.2 if role == "o" else 1)
                vector(here + "%s_b%s" % (kind, role), D)
            norm(here + kind + "_Wo")
        for i, rows, columns in ((1, D, FFN), (2, FFN, D)):
            weight(here + "ffn_W%d" % i, rows, columns)
            vector(here + "ffn_b%d" % i, columns)
        norm(here + "ffn_ffn")
for name, shape in (("encoder_Wemb", (V, D)), ("decoder_Wemb", (V, D)), ("decoder_ff_logit_out_W", (D, V))):
    arrays[name] = random.normal(0, 0.06, shape).astype(numpy.float32)
vector("decoder_ff_logit_out_b", V)
arrays["decoder_ff_logit_out_b"][0, vocab.eos_id()] = -30

config = """dec-depth: %d
dim-emb: %d
dim-vocabs:
  - %d
  - %d
enc-depth: %d
layer-normalization: false
output-omit-bias: false
skip: false
tied-embeddings: false
tied-embeddings-all: false
tied-embeddings-src: false
transformer-aan-activation: swish
transformer-aan-depth: 2
transformer-aan-nogate: false
transformer-decoder-autoreg: self-attention
transformer-decoder-dim-ffn: 0
transformer-decoder-ffn-depth: 0
transformer-dim-aan: 2048
transformer-dim-ffn: %d
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: %d
transformer-no-projection: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
ulr: false
version: v1.12.42
""" % (LAYERS, D, V, V, LAYERS, FFN, HEADS)
arrays["special:model.yml"] = numpy.frombuffer(config.encode() + b"\0", dtype=numpy.int8)
numpy.savez(out, **arrays)
