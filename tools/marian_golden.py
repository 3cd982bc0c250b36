#!/usr/bin/env python3
"""marian_golden.py -- small models trained by Marian for tests, and what Marian makes of them.

    tools/marian_golden.py PYMARIAN tests/model/marian [NAME ...]

PYMARIAN is the program of that name (PyPI: pymarian). Each model learns for some seconds, on one thread, to say the words of a made-up
language backwards in another. NAME.npz (or .bin) is the model, NAME.tsv what Marian says: a source, its greedy translation, a target,
and the sum of the target's log-probabilities.
"""
import os
import random
import subprocess
import sys
import tempfile
import zipfile

WORDS = ["an", "be", "ci", "do", "eh", "fu", "go", "ha", "in", "ja"]
OTHERS = ["ka", "lo", "mu", "ne", "oh", "pi", "qu", "re", "so", "ta", "us", "vi"]

TRANSFORMER = dict(type="transformer", dim_emb=8, transformer_heads=2, transformer_dim_ffn=12, enc_depth=1, dec_depth=2,
                   learn_rate=0.01, lr_warmup=50)
SSRU = dict(TRANSFORMER, transformer_decoder_autoreg="rnn", dec_cell="ssru")
PRE = dict(transformer_preprocess="n", transformer_postprocess="da", transformer_postprocess_top="n")
RNN = dict(type="s2s", dim_emb=6, dim_rnn=8, learn_rate=0.02)

# `joint` is one vocabulary for both languages; `file` says as what the model is kept.
CASES = {
    "post": dict(TRANSFORMER, transformer_ffn_activation="relu", joint=True, tied_embeddings_all=True),
    "pre": dict(TRANSFORMER, **PRE, transformer_ffn_activation="gelu"),
    "tied-layers": dict(TRANSFORMER, transformer_tied_layers=[1, 1], tied_embeddings=True),
    "ssru": dict(SSRU, transformer_ffn_activation="relu", joint=True, tied_embeddings_all=True, file="bin"),
    "int8": dict(SSRU, dim_emb=64, transformer_dim_ffn=64, dec_depth=1, learn_rate=0.003, joint=True, tied_embeddings_all=True, file="int8"),
    "ssru-pre": dict(SSRU, **PRE, tied_embeddings=True),
    "amun": dict(RNN, type="amun"),
    "nematus": dict(RNN, type="nematus", enc_cell="gru-nematus", dec_cell="gru-nematus", tied_embeddings=True),
    "nematus-deep": dict(RNN, type="nematus", enc_cell="gru-nematus", dec_cell="gru-nematus", enc_cell_depth=3, dec_cell_base_depth=4,
                         tied_embeddings=True),
    "nematus-norm": dict(RNN, type="nematus", enc_cell="gru-nematus", dec_cell="gru-nematus", tied_embeddings=True,
                         layer_normalization=True),
    "s2s": dict(RNN, enc_depth=2, dec_depth=2, joint=True, tied_embeddings_all=True),
    "s2s-lstm": dict(RNN, enc_cell="lstm", dec_cell="lstm", enc_depth=2, enc_type="bi-unidirectional", dec_depth=2),
    "s2s-alternating": dict(RNN, enc_cell="lstm", dec_cell="lstm", enc_depth=2, enc_type="alternating", tied_embeddings=True, file="bin"),
    "s2s-tanh": dict(RNN, enc_cell="tanh", dec_cell="tanh", dec_cell_base_depth=1),
    "s2s-deep": dict(RNN, enc_depth=2, enc_cell_depth=2, dec_cell_base_depth=3, dec_cell_high_depth=2, dec_depth=2),
    "s2s-norm": dict(RNN, layer_normalization=True),
    "amun-norm": dict(RNN, type="amun", layer_normalization=True),
    "nematus-norm-deep": dict(RNN, type="nematus", enc_cell="gru-nematus", dec_cell="gru-nematus", enc_cell_depth=2,
                              dec_cell_base_depth=3, layer_normalization=True),
    "s2s-norm-lstm": dict(RNN, enc_cell="lstm", dec_cell="lstm", enc_depth=2, enc_type="bi-unidirectional", dec_cell_base_depth=3,
                          layer_normalization=True),
    "s2s-norm-tanh": dict(RNN, enc_cell="tanh", dec_cell="tanh", layer_normalization=True),
    "s2s-norm-deep": dict(RNN, enc_depth=2, enc_cell_depth=2, dec_cell_base_depth=3, dec_cell_high_depth=2, dec_depth=2,
                          layer_normalization=True, skip=True),
    "s2s-skip": dict(RNN, enc_depth=2, dec_depth=2, skip=True),
}


def sentence(chance):
    return [chance.randrange(len(WORDS)) for _ in range(chance.randrange(1, 7))]


def say(ids):
    """The other language: the words backwards, with an ending after every third."""
    told = []
    for i, w in enumerate(reversed(ids)):
        told.append(OTHERS[w])
        if i % 3 == 2:
            told.append(OTHERS[10 + w % 2])
    return told


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))


def options_of(case):
    told = []
    for name, value in case.items():
        if name in ("joint", "file") or value is False:
            continue
        told += ["--" + name.replace("_", "-")]
        if isinstance(value, list):
            told += [str(v) for v in value]
        elif value is not True:
            told += [str(value)]
    return told


def run(pymarian, *arguments, text=None):
    done = subprocess.run([pymarian, *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(arguments), done.stderr[-3000:]))
    return done.stdout


def pack(source, target):
    """The same archive, smaller."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name in old.namelist():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, old.read(name))


def make(pymarian, out, name, case, work):
    vocabs = [os.path.join(out, v) for v in (("joint.yml", "joint.yml") if case.get("joint") else ("source.yml", "target.yml"))]
    model = os.path.join(work, name + ".npz")
    common = ["--vocabs", *vocabs, "--cpu-threads", "1", "-w", "200", "--quiet"]
    run(pymarian, "train", "-m", model, "--train-sets", work + "/train.src", work + "/train.tgt", *options_of(case), *common,
        "--seed", "7", "--mini-batch", "64", "--maxi-batch", "10", "--max-length", "30", "--after-batches", os.environ.get("UPDATES", "700"),
        "--no-shuffle", "--cost-type", "ce-mean-words", "--overwrite", "--disp-freq", "100", "--clip-norm", "1", "-T", work,
        "--save-freq", "100000")
    kind = {"bin": "float32", "int8": "intgemm8"}.get(case.get("file"))
    if kind:
        run(pymarian, "convert", "-f", model, "-t", os.path.join(out, name + ".bin"), "-g", kind)
        decoded = os.path.join(out, name + ".bin")  # Marian's scorer takes no weights of 8 bits
    else:
        decoded = model
        pack(model, os.path.join(out, name + ".npz"))
    with open(work + "/test.src", encoding="utf-8") as f:
        text = f.read()
    greedy = run(pymarian, "decode", "-m", decoded, *common, "-b", "1", "--mini-batch", "1", "--maxi-batch", "1", "--max-length-factor", "3",
                 text=text)
    scores = run(pymarian, "score", "-m", model, "-t", work + "/test.src", work + "/test.tgt", *common, "--mini-batch", "1",
                 "--maxi-batch", "1")
    with open(work + "/test.tgt", encoding="utf-8") as f:
        rows = list(zip(text.splitlines(), greedy.splitlines(), f.read().splitlines(), scores.split()))
    write(os.path.join(out, name + ".tsv"), ["\t".join(row) for row in rows])
    right = sum(row[1] == row[2] for row in rows)
    print("%s: %d of %d greedy translations are right" % (name, right, len(rows)), flush=True)


def main():
    pymarian, out = sys.argv[1:3]
    names = sys.argv[3:] or list(CASES)
    chance = random.Random(7)
    os.makedirs(out, exist_ok=True)
    for side, words in (("source", WORDS), ("target", OTHERS), ("joint", WORDS + OTHERS)):
        write(os.path.join(out, side + ".yml"), ["%s: %d" % (w, i) for i, w in enumerate(["</s>", "<unk>"] + words)])
    with tempfile.TemporaryDirectory() as work:
        for part, n in (("train", 4000), ("test", 8)):
            rows = [sentence(chance) for _ in range(n)]
            write(work + "/%s.src" % part, [" ".join(WORDS[w] for w in row) for row in rows])
            write(work + "/%s.tgt" % part, [" ".join(say(row)) for row in rows])
        for name in names:
            make(pymarian, out, name, CASES[name], work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
