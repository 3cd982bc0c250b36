#!/usr/bin/env python3
"""average_models.py -- the mean of models that one run, or several that began alike, have made.

usage: tools/average_models.py OUT.safetensors MODEL.safetensors...

Models are of one configuration and stored in f32; the record and the vocabulary are those of the first. In the place of a model may stand the state of a
run, MODEL.state.safetensors, whose moving average counts; the model beside it has to be there."""
import array
import json
import os
import struct
import sys

from heedfile import Fault, run


def read(path):
    """Its header, and where its tensors begin, and all bytes."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        size = struct.unpack("<Q", data[:8])[0]
        return json.loads(data[8:8 + size]), 8 + size, data
    except (struct.error, ValueError):
        raise Fault(f"{path}: this is no safetensors file") from None


def weights(header):
    """Names of what is averaged, in the order of the file."""
    names = [name for name in header if name != "__metadata__" and header[name]["dtype"] == "F32"]
    return sorted(names, key=lambda name: header[name]["data_offsets"][0])


def model_of(path):
    return path.replace(".state.safetensors", ".safetensors")


def numbers_of(path):
    """All weights of a model as one array; of a state its moving average, which has them in the same order, each beginning at a multiple of
    16 numbers."""
    header, start, data = read(path)
    numbers = array.array("f")
    if path.endswith(".state.safetensors"):
        begin = start + header["ema"]["data_offsets"][0]
        model, _, _ = read(model_of(path))
        for name in weights(model):
            first, last = model[name]["data_offsets"]
            numbers.frombytes(data[begin:begin + last - first])
            begin += (last - first + 63) // 64 * 64
    else:
        for name in weights(header):
            first, last = header[name]["data_offsets"]
            numbers.frombytes(data[start + first:start + last])
    return numbers


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out, paths = sys.argv[1], sys.argv[2:]
    if os.path.exists(out):
        read(out)  # nothing but a model is written over
    header, start, data = read(model_of(paths[0]))
    several = [numbers_of(path) for path in paths]
    if len({len(numbers) for numbers in several}) != 1:
        raise Fault("these models differ in size")
    mean = array.array("f", (sum(column) / len(several) for column in zip(*several)))
    body, at = bytearray(data[start:]), 0
    for name in weights(header):
        begin, end = header[name]["data_offsets"]
        n = (end - begin) // 4
        body[begin:end] = mean[at:at + n].tobytes()
        at += n
    header["__metadata__"].pop("checksums", None)
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(out + ".new", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)
    os.replace(out + ".new", out)


run(main)
