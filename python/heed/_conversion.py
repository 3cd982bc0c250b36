"""Models of other toolkits become models of heed, and back."""
from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, Union

from ._library import OptionError, TextArray, bytes_of, check, ffi, lib, new_error
from ._translator import DEFAULT_MODEL, PathLike

_STORES = {"f32": lib.HEED_STORE_F32, "f16": lib.HEED_STORE_F16, "bf16": lib.HEED_STORE_BF16, "int8": lib.HEED_STORE_INT8}


def convert(
    model: PathLike,
    out: PathLike,
    *,
    vocab: Union[PathLike, Sequence[PathLike], None] = None,
    to: str = "heed",
    store: str = "f32",
    attribution: Optional[str] = None,
    licence: Optional[str] = None,
    confidence: Optional[str] = None,
    detect: Optional[Mapping[str, PathLike]] = None,
) -> str:
    """Convert a model and return the path of what was written, as `heed convert` does.

    >>> heed.convert("opus-mt-en-fr", "en-fr.safetensors", store="int8")
    >>> heed.convert("default", "folder", to="hf")          # the model inside, for transformers

    `vocab` is the vocabulary of the model, or those of source and target; `detect` has text of each language, {"en": FILE}.
    """
    for name, value, known in (("store", store, tuple(_STORES)), ("to", to, ("heed", "hf"))):
        if value not in known:
            raise OptionError(f"{name} must be one of {', '.join(known)}, not '{value}'")
    path = os.fspath(model)
    vocabs = TextArray(os.fspath(v) for v in ([] if vocab is None else vocab if isinstance(vocab, (list, tuple)) else [vocab]))
    err = new_error()
    made: Any = lib.heed_model_import(bytes_of(str(DEFAULT_MODEL) if path == "default" else path, "the path"), vocabs.at, vocabs.n, err)
    made = ffi.gc(check(made, err), lib.heed_model_free)
    for name, text in (("attribution", attribution), ("licence", licence), ("confidence", confidence)):
        if text is not None:
            check(lib.heed_model_note(made, name.encode(), bytes_of(text, name), err), err)
    if detect:
        kept = [(ffi.new("char[]", bytes_of(name)), ffi.new("char[]", bytes_of(os.fspath(file)))) for name, file in detect.items()]
        texts = ffi.new("heed_language_text[]", kept)
        check(lib.heed_model_learn_detector(made, texts, len(kept), err), err)
    write = lib.heed_model_export if to == "hf" else lib.heed_model_save
    check(write(made, bytes_of(os.fspath(out), "out"), _STORES[store], err), err)
    return os.fspath(out)
