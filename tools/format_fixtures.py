#!/usr/bin/env python3
"""format_fixtures.py -- writes tests/format/data: small files by the libraries that others write theirs with.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy safetensors ml_dtypes
    /tmp/venv/bin/python tools/format_fixtures.py tests/format/data

The tests know the numbers: element i of a tensor is i / 2 - 1 for floats, i for the rest, i % 2 for booleans.
"""
import sys
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

FLOATS = ["float32", "float16", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def numbers(kind, shape):
    i = np.arange(int(np.prod(shape)))
    if kind in FLOATS:
        i = i / 2 - 1
    if kind == "bool":
        i = i % 2
    return i.astype(kind).reshape(shape)


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {kind: numbers(kind, (2, 3)) for kind in FLOATS + INTEGERS + ["bool"]}
    arrays["scalar"] = numbers("float32", ())
    arrays["empty"] = numbers("float32", (1, 0))
    arrays["a näme.with \"quotes\""] = numbers("float32", (5,))

    save_file(arrays, folder / "python.safetensors", metadata={"note": "grüße\n\"x\""})
    save_file({"bf16": numbers("float32", (7, 1)).astype(ml_dtypes.bfloat16)}, folder / "python_bf16.safetensors")
    save_file({}, folder / "python_empty.safetensors")

    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "deflated.npz", **arrays)
    np.savez(folder / "fortran.npz", W=np.asfortranarray(numbers("float32", (2, 3))))
    np.savez(folder / "big_endian.npz", W=numbers("float32", (2, 3)).astype(">f4"))
    np.savez(folder / "text.npz", W=np.array(["a", "bc"]))
    np.savez(folder / "pickle.npz", W=np.array([{}, None], dtype=object))
    np.savez(folder / "record.npz", W=np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]))
    with zipfile.ZipFile(folder / "versions.npz", "w") as archive:
        for version in [(1, 0), (2, 0), (3, 0)]:
            member = zipfile.ZipInfo(f"v{version[0]}.npy")
            with archive.open(member, "w") as out:
                np.lib.format.write_array(out, numbers("float32", (3,)), version=version)

    for file in folder.iterdir():
        file.chmod(0o644)


if __name__ == "__main__":
    main(sys.argv[1])
