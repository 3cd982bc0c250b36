"""heedfile.py -- what the tools that convert other people's models share: tensors, and writing a model file of heed.

A model file is a safetensors file: the configuration and a record as JSON in its metadata, each vocabulary as the bytes of
a list with one token a line, and the parameters under the names that src/model/model.h lists. Maps are [in,out] there,
[out,in] in PyTorch and CTranslate2. Only Python's standard library is used.
"""
import array
import json
import os
import struct
import sys

ALIGNMENT = 64  # where the data begins, as heed writes it


class Fault(Exception):
    """What is wrong with a file: a sentence for the person."""


def run(convert):
    """Call it; a failure is one line and a status of 1."""
    try:
        convert()
    except (Fault, OSError) as fault:
        why = f"{fault.filename}: {fault.strerror}" if isinstance(fault, OSError) else fault
        sys.exit(f"{os.path.basename(sys.argv[0])}: {why}")


def floats(data):
    """Little-endian bytes as numbers."""
    numbers = array.array("f")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class Tensor:
    """Numbers row by row; a vector has one dimension."""

    def __init__(self, shape, numbers):
        self.shape = tuple(shape)
        self.numbers = numbers

    def transposed(self):
        rows, columns = self.shape
        numbers = array.array("f")
        for c in range(columns):
            numbers.extend(self.numbers[c::columns])
        return Tensor((columns, rows), numbers)

    def rows(self, first, last):
        """Rows [first, last); numbers, for a vector."""
        width = len(self.numbers) // self.shape[0] if self.shape[0] else 0
        return Tensor((last - first, *self.shape[1:]), self.numbers[first * width:last * width])

    def without_rows(self, left_out):
        rows, width = self.shape
        numbers = array.array("f")
        for r in range(rows):
            if r not in left_out:
                numbers.extend(self.numbers[r * width:(r + 1) * width])
        return Tensor((rows - len(left_out), width), numbers)

    def plus(self, other):
        return Tensor(self.shape, array.array("f", (a + b for a, b in zip(self.numbers, other.numbers))))


def zeros(n):
    return Tensor((n,), array.array("f", [0.0] * n))


class Archive:
    """The tensors of another file by name. Every one of them must be taken: what is left over would be a part of the model
    that was not understood."""

    def __init__(self, path, tensors):
        self.path = path
        self.tensors = tensors
        self.left = set(tensors)

    def shape(self, name):
        if name not in self.tensors:
            raise Fault(f"{self.path}: there is no tensor {name}; it is another kind of model, or damaged")
        return self.tensors[name].shape

    def sizes(self, name):
        """Rows and columns of a matrix."""
        shape = self.shape(name)
        if len(shape) != 2 or 0 in shape:
            raise Fault(f"{self.path}: the tensor {name} is {list(shape)}, and should be a matrix")
        return shape

    def take(self, name, *shape):
        """That tensor, which must have this shape. A vector may be stored as one row."""
        there = self.shape(name)
        if there != shape and there != (1, *shape):
            raise Fault(f"{self.path}: the tensor {name} is {list(there)}, but the other sizes ask for {list(shape)}")
        self.left.discard(name)
        return Tensor(shape, self.tensors[name].numbers)

    def finish(self):
        if self.left:
            raise Fault(f"{self.path}: the tensor {min(self.left)} has no place in heed's model ({len(self.left)} such tensors); "
                        "this kind of model cannot be converted")


def write_model(path, config, record, vocabularies, tensors):
    """Write a model file, whole or not at all.

    config and record are dictionaries; vocabularies are two lists of words, source and target; tensors are by heed's names."""
    items = [(name, "F32", t.shape, t.numbers) for name, t in tensors.items()]
    metadata = {"format": "heed-1", "heed.config": compact(config), "heed.record": compact(record)}
    for side, tokens in zip(("source", "target"), vocabularies):
        data = "".join(token + "\n" for token in tokens).encode()
        items.append((f"vocab.{side}", "U8", (len(data),), array.array("B", data)))
        metadata[f"heed.vocab.{side}"] = "words"
    header, at = {"__metadata__": metadata}, 0
    for name, kind, shape, numbers in items:
        size = len(numbers) * numbers.itemsize
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    part = f"{path}.part"
    try:
        with open(part, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text)
            for _, _, _, numbers in items:
                if sys.byteorder == "big":
                    numbers.byteswap()
                out.write(numbers.tobytes())
        os.replace(part, path)
    except OSError:
        if os.path.exists(part):
            os.unlink(part)
        raise


def compact(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
