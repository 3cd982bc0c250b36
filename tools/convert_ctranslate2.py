#!/usr/bin/env python3
"""convert_ctranslate2.py -- a Transformer of CTranslate2 as a model file of heed.

    tools/convert_ctranslate2.py FOLDER -o OUT.safetensors

FOLDER holds model.bin (binary version 2; float32, or int8 that is turned into float32 again) and source_vocabulary.txt and
target_vocabulary.txt with one token a line. Files of this version do not say how they are to be run; this is how CTranslate2
runs them:

    8 heads, pre-norm, relu, a last norm on both sides, layer norm with epsilon 1e-5
    input is sqrt(D) E x + p; p_t = [sin(t w); cos(t w)], w_i = 10000^(-i / (D/2 - 1)), and the first t is 1
    the source as it is, without markers; the target begins with <s> and ends with </s>
    an embedding without a line in the vocabulary, the last one, is <unk>

A source that has no end marker is told to heed by a source vocabulary that has none, so <s> and </s> are left out of it.

Needs nothing but Python.
"""
import argparse
import array
import math
import os
import re
import struct
import sys

sys.dont_write_bytecode = True  # the folder of tools stays as it is
from heedfile import Archive, Fault, Tensor, floats, run, write_model

HEADS = 8


def main():
    parser = argparse.ArgumentParser(description="Convert a Transformer of CTranslate2 (model.bin of version 2 and its "
                                     "vocabularies) into a model file of heed.")
    parser.add_argument("folder", metavar="FOLDER", help="with model.bin, source_vocabulary.txt and target_vocabulary.txt")
    parser.add_argument("-o", "--output", metavar="OUT.safetensors", required=True, help="the model file to write")
    args = parser.parse_args()
    archive = read_model(os.path.join(args.folder, "model.bin"))
    source = read_vocabulary(args.folder, "source", archive.sizes("encoder/embeddings/weight")[0])
    target = read_vocabulary(args.folder, "target", archive.sizes("decoder/embeddings/weight")[0])
    for token in ("<s>", "</s>"):
        if token not in target:
            raise Fault(f"{args.folder}: the target vocabulary has no {token}")
    config, tensors = convert(archive, len(source), len(target))
    archive.finish()
    markers = {source.index(token) for token in ("<s>", "</s>") if token in source}
    tensors["source.embed"] = tensors["source.embed"].without_rows(markers)
    source = [token for i, token in enumerate(source) if i not in markers]
    config.update(source_vocab=len(source), target_start=target.index("<s>"))
    write_model(args.output, config, {"imported_from": "ctranslate2"}, (source, target), tensors)


# ---- reading --------------------------------------------------------------------------------------------------------------


class Reader:
    """Little-endian values, one after the other."""

    def __init__(self, path):
        self.path = path
        self.at = 0
        with open(path, "rb") as file:
            self.data = file.read()

    def bytes(self, n):
        if n > len(self.data) - self.at:
            raise Fault(f"{self.path}: it ends too early, at byte {len(self.data)}; it is damaged or not CTranslate2's")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, kind):
        return struct.unpack("<" + kind, self.bytes(struct.calcsize("<" + kind)))[0]

    def string(self):
        return self.bytes(self.number("H")).rstrip(b"\0").decode("utf-8", "replace")


def read_model(path):
    file = Reader(path)
    version = file.number("I")
    if version != 2:
        raise Fault(f"{path}: it is of binary version {version}, and only version 2 can be converted")
    spec, revision = file.string(), file.number("I")
    if not spec.startswith("Transformer"):
        raise Fault(f"{path}: it is a {spec} (revision {revision}), not a Transformer")
    stored = {}
    for _ in range(file.number("I")):
        name = file.string()
        shape = tuple(file.number("I") for _ in range(file.number("B")))
        size, n = file.number("B"), file.number("I")
        if size not in (1, 4):
            raise Fault(f"{path}: {name} has numbers of {size} bytes, and only int8 and float32 can be converted")
        stored[name] = shape, size, file.bytes(size * n)
    return Archive(path, {name: as_floats(path, stored, name) for name in stored if not name.endswith("_scale")})


def as_floats(path, stored, name):
    """The numbers of a variable. Those of int8 are to be divided by a scale, one for each row."""
    shape, size, data = stored[name]
    n = math.prod(shape)
    if size * n != len(data):
        raise Fault(f"{path}: {name} is {list(shape)} but has {len(data) // size} numbers; the file is damaged")
    if size == 4:
        return Tensor(shape, floats(data))
    if name + "_scale" not in stored:
        raise Fault(f"{path}: {name} is of int8 without a {name}_scale, and cannot be converted")
    _, scale_size, scale_data = stored[name + "_scale"]
    scales = floats(scale_data) if scale_size == 4 else []
    if not scales or (len(scales),) != shape[:1] or 0.0 in scales:
        raise Fault(f"{path}: {name}_scale does not fit {name}; the file is damaged")
    width = n // len(scales)
    return Tensor(shape, array.array("f", (q / scales[i // width] for i, q in enumerate(array.array("b", data)))))


def read_vocabulary(folder, side, n_embeddings):
    path = os.path.join(folder, f"{side}_vocabulary.txt")
    with open(path, encoding="utf-8", newline="\n") as file:
        try:
            tokens = file.read().removesuffix("\n").split("\n")
        except UnicodeDecodeError as why:
            raise Fault(f"{path}: it is not UTF-8: {why}") from why
    if len(tokens) + 1 == n_embeddings and "<unk>" not in tokens:
        tokens.append("<unk>")
    if len(tokens) != n_embeddings:
        raise Fault(f"{path}: it has {len(tokens)} tokens, but model.bin has {n_embeddings} {side} embeddings")
    return tokens


# ---- converting -----------------------------------------------------------------------------------------------------------


def convert(archive, n_source, n_target):
    """heed's configuration and tensors."""
    D = archive.sizes("encoder/embeddings/weight")[1]
    F = archive.sizes("encoder/layer_0/ffn/linear_0/weight")[0]
    if D % HEADS:
        raise Fault(f"{archive.path}: its width {D} is not a multiple of {HEADS} heads")
    tensors = {"source.embed": archive.take("encoder/embeddings/weight", n_source, D),
               "target.embed": archive.take("decoder/embeddings/weight", n_target, D)}
    for side in ("encoder", "decoder"):
        for n in range(n_layers(archive, side)):
            block(tensors, archive, f"{side}.{n + 1}", f"{side}/layer_{n}", D, F, side == "decoder")
        norm(tensors, archive, f"{side}.norm", f"{side}/layer_norm", D)
    tensors["output.W"] = archive.take("decoder/projection/weight", n_target, D).transposed()
    tensors["output.b"] = archive.take("decoder/projection/bias", n_target)
    config = {"arch": "transformer", "target_vocab": n_target, "dim": D, "encoder_layers": n_layers(archive, "encoder"),
              "decoder_layers": n_layers(archive, "decoder"), "heads": HEADS, "ffn": F, "activation": "relu", "norm": "pre",
              "norm_eps": 1e-5, "final_norm": True, "positions": "sin", "position_layout": "halves", "position_shorter": True,
              "position_first": 1, "embed_scale": True, "tie": "none"}
    return config, tensors


def n_layers(archive, side):
    return len({name.split("/")[1] for name in archive.tensors if re.match(rf"{side}/layer_\d+/", name)})


def block(tensors, archive, ours, theirs, D, F, has_cross):
    """Queries, keys and values stand one below the other in one matrix; those of the source share theirs without queries."""
    attention = [("self", "self_attention", [("qkv", 3)])]
    if has_cross:
        attention.append(("cross", "attention", [("q", 1), ("kv", 2)]))
    for part, name, fused in attention:
        norm(tensors, archive, f"{ours}.{part}.norm", f"{theirs}/{name}/layer_norm", D)
        for i, (letters, n) in enumerate([*fused, ("o", 1)]):
            W = archive.take(f"{theirs}/{name}/linear_{i}/weight", n * D, D)
            b = archive.take(f"{theirs}/{name}/linear_{i}/bias", n * D)
            for k, letter in enumerate(letters):
                tensors[f"{ours}.{part}.{letter}.W"] = W.rows(k * D, (k + 1) * D).transposed()
                tensors[f"{ours}.{part}.{letter}.b"] = b.rows(k * D, (k + 1) * D)
    norm(tensors, archive, f"{ours}.ffn.norm", f"{theirs}/ffn/layer_norm", D)
    for i, (rows, columns) in enumerate([(F, D), (D, F)]):
        tensors[f"{ours}.ffn.{i + 1}.W"] = archive.take(f"{theirs}/ffn/linear_{i}/weight", rows, columns).transposed()
        tensors[f"{ours}.ffn.{i + 1}.b"] = archive.take(f"{theirs}/ffn/linear_{i}/bias", rows)


def norm(tensors, archive, ours, theirs, D):
    tensors[f"{ours}.gain"] = archive.take(f"{theirs}/gamma", D)
    tensors[f"{ours}.bias"] = archive.take(f"{theirs}/beta", D)


if __name__ == "__main__":
    run(main)
