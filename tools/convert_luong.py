#!/usr/bin/env python3
"""convert_luong.py -- a Luong model of OpenNMT-py as a model file of heed.

    tools/convert_luong.py MODEL.npz -o OUT.safetensors

MODEL.npz holds the model's parameters under their PyTorch names, and MODEL.json beside it the options it was trained with
("opt") and its vocabularies as lists ("src_vocab", "tgt_vocab"). These are its formulas (Luong et al. 2015, section 3):

    h_j = LSTM(E x_j, h_{j-1})                              the source as it is, without an end marker
    s_t = LSTM([E y_{t-1}; h~_{t-1}], s_{t-1})              s_0 is the encoder's last state, h~_0 is zeros, y_0 is <s>
    e_tj = h_j . (linear_in s_t), a_t = softmax(e_t), c_t = sum_j a_tj h_j
    h~_t = tanh(linear_out [c_t; s_t])
    p(y_t) = softmax(generator h~_t)

Needs nothing but Python.
"""
import argparse
import ast
import json
import math
import struct
import sys
import zipfile
import zlib

sys.dont_write_bytecode = True  # the folder of tools stays as it is
from heedfile import Archive, Fault, Tensor, floats, run, write_model, zeros

# What the formulas above take for granted.
WANTED = {"model_type": "text", "encoder_type": "rnn", "decoder_type": "rnn", "rnn_type": "LSTM", "global_attention": "general",
          "input_feed": 1, "brnn": False, "copy_attn": False, "coverage_attn": False, "context_gate": None}


def main():
    parser = argparse.ArgumentParser(description="Convert a Luong model of OpenNMT-py (LSTM, general attention, input feeding) "
                                     "into a model file of heed.")
    parser.add_argument("model", metavar="MODEL.npz", help="the parameters under their PyTorch names")
    parser.add_argument("--settings", metavar="FILE.json", help="options and vocabularies; default: MODEL.json")
    parser.add_argument("-o", "--output", metavar="OUT.safetensors", required=True, help="the model file to write")
    args = parser.parse_args()
    settings = args.settings or args.model.removesuffix(".npz") + ".json"
    options, source, target = read_settings(settings)
    archive = read_npz(args.model)
    config, tensors = convert(archive, options, len(source), len(target))
    archive.finish()
    config["target_start"] = place_of("<s>", target, settings)
    place_of("</s>", target, settings)
    write_model(args.output, config, {"imported_from": "opennmt-py"}, (source, target), tensors)


# ---- reading --------------------------------------------------------------------------------------------------------------


def read_settings(path):
    with open(path, encoding="utf-8") as file:
        try:
            settings = json.load(file)
            options, source, target = dict(settings["opt"]), list(settings["src_vocab"]), list(settings["tgt_vocab"])
            if not all(isinstance(token, str) for token in source + target):
                raise ValueError("a vocabulary should be a list of words")
        except (ValueError, KeyError, TypeError) as why:
            raise Fault(f"{path}: it should be JSON with opt, src_vocab and tgt_vocab: {why}") from why
    for name, wanted in WANTED.items():
        if options.get(name, wanted) != wanted:
            raise Fault(f"{path}: {name} is {options[name]!r}, and only models with {wanted!r} can be converted")
    for name in ("rnn_size", "enc_layers", "dec_layers"):
        if not isinstance(options.get(name), int) or options[name] < 1:
            raise Fault(f"{path}: opt should have a whole number {name}")
    return options, source, target


def place_of(token, vocabulary, path):
    if token not in vocabulary:
        raise Fault(f"{path}: the target vocabulary has no {token}")
    return vocabulary.index(token)


def read_npz(path):
    tensors = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                name = member.removesuffix(".npy")
                tensors[name] = read_npy(archive.read(member), f"{path}: {name}")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as why:
        raise Fault(f"{path}: it is not an .npz archive, or damaged: {why}") from why
    return Archive(path, tensors)


def read_npy(data, where):
    try:
        if data[:6] != b"\x93NUMPY":
            raise ValueError("it does not begin as one")
        kind = "<H" if data[6] == 1 else "<I"
        length, = struct.unpack_from(kind, data, 8)
        begin = 8 + struct.calcsize(kind) + length
        header = ast.literal_eval(data[8 + struct.calcsize(kind):begin].decode("latin-1"))
        shape = header["shape"]
        if header["descr"] != "<f4" or header["fortran_order"]:
            raise ValueError(f"its numbers are {header['descr']}, not <f4 row by row")
        if len(data) - begin != 4 * math.prod(shape):
            raise ValueError("its shape asks for another number of bytes")
    except (ValueError, SyntaxError, KeyError, IndexError, TypeError, struct.error) as why:
        raise Fault(f"{where} is not an array that can be read: {why}") from why
    return Tensor(shape, floats(data[begin:]))


# ---- converting -----------------------------------------------------------------------------------------------------------


def convert(archive, options, n_source, n_target):
    """heed's configuration and tensors."""
    take = archive.take
    embeddings = "{}.embeddings.emb_luts.0.weight"
    D, E = options["rnn_size"], archive.sizes(embeddings.format("encoder"))[1]
    layers = options["enc_layers"]
    if options["dec_layers"] != layers:
        raise Fault(f"{archive.path}: the decoder, of {options['dec_layers']} layers, begins with the states of the encoder, "
                    f"which has {layers}; only equal numbers can be converted")
    tensors = {"source.embed": take(embeddings.format("encoder"), n_source, E),
               "target.embed": take(embeddings.format("decoder"), n_target, E)}
    for n in range(layers):
        read = E if n == 0 else D  # how wide is what the layer reads
        cell(tensors, archive, f"encoder.{n + 1}.forward", f"encoder.rnn.{{}}_l{n}", {"W": read}, D)
        parts = {"W": E, "F": D} if n == 0 else {"W": D}  # [E y; h~]
        cell(tensors, archive, f"decoder.{n + 1}", f"decoder.rnn.layers.{n}.{{}}", parts, D)
    tensors["attention.W"] = take("decoder.attn.linear_in.weight", D, D).transposed()
    of_both = take("decoder.attn.linear_out.weight", D, 2 * D).transposed()
    tensors["readout.c"], tensors["readout.s"] = of_both.rows(0, D), of_both.rows(D, 2 * D)  # [c; s]
    tensors["readout.b"] = zeros(D)
    tensors["output.W"] = take("generator.0.weight", n_target, D).transposed()
    tensors["output.b"] = take("generator.0.bias", n_target)
    config = {"arch": "luong", "source_vocab": n_source, "target_vocab": n_target, "dim": D, "embed": E, "encoder_layers": layers,
              "decoder_layers": layers, "tie": "none", "cell": "lstm", "bidirectional": False, "score": "bilinear",
              "attend": "after", "input_feeding": True, "readout": "attended", "start": "copy"}
    return config, tensors


def cell(tensors, archive, ours, theirs, parts, D):
    """One LSTM. Gates stand i, f, g, o on both sides; PyTorch adds two biases where we have one. What it reads is one
    matrix there, and here one for each part of the input."""
    gates, width = 4 * D, sum(parts.values())
    W, at = archive.take(theirs.format("weight_ih"), gates, width).transposed(), 0
    for name, rows in parts.items():
        tensors[f"{ours}.{name}"] = W.rows(at, at + rows)
        at += rows
    tensors[f"{ours}.U"] = archive.take(theirs.format("weight_hh"), gates, D).transposed()
    b = archive.take(theirs.format("bias_ih"), gates)
    tensors[f"{ours}.b"] = b.plus(archive.take(theirs.format("bias_hh"), gates))


if __name__ == "__main__":
    run(main)
