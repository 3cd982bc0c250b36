"""The C library: errors as exceptions, texts as bytes, options by name."""
from __future__ import annotations

from typing import Any, Iterable, Mapping, Tuple

from ._heed import ffi, lib


class Error(Exception):
    """Something that heed could not do; the sentence says what, where, and what to do."""


class OptionError(Error, ValueError):
    """An option with a name or value that cannot be used."""


class TextError(Error, ValueError):
    """Text that is not what was asked for."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class ModelError(Error):
    """A model file that contradicts itself, or a model that cannot do what is asked."""


class DivergedError(Error):
    """Training whose numbers grow without bound."""


class CancelledError(Error):
    """Work that was asked to stop."""


_KINDS = {
    lib.HEED_BAD_OPTION: OptionError,
    lib.HEED_BAD_TEXT: TextError,
    lib.HEED_BAD_FILE: FileError,
    lib.HEED_BAD_MODEL: ModelError,
    lib.HEED_DIVERGED: DivergedError,
    lib.HEED_CANCELLED: CancelledError,
}


def keep_raised(kind: Any, value: BaseException, traceback: Any) -> None:
    """What a function raised that the library called: it is kept by the object that is its context, and raised when the call is over."""
    if traceback is not None:
        ffi.from_handle(traceback.tb_frame.f_locals["context"]).raised = value


def new_error() -> Any:
    return ffi.new("heed_error *")


def failure(err: Any) -> Exception:
    """The exception that an error of the library is."""
    sentence = text_of(err.message)
    if err.code == lib.HEED_NO_MEMORY:
        return MemoryError(sentence)
    return _KINDS.get(err.code, Error)(sentence)


def check(result: Any, err: Any) -> Any:
    """What a call returned, unless it failed."""
    if not result:
        raise failure(err)
    return result


def text_of(pointer: Any) -> str:
    return ffi.string(pointer).decode("utf-8", "replace")


def bytes_of(text: Any, what: str = "a text") -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    if "\0" in text:
        raise TextError(f"{what} has a NUL character in it")
    # A lone surrogate is no character; the library replaces it, with a warning.
    return text.encode("utf-8", "surrogatepass")


def taken(pointer: Any, err: Any) -> str:
    """A text that the library gave away."""
    check(pointer, err)
    try:
        return text_of(pointer)
    finally:
        lib.heed_free(pointer)


def typed(value: Any) -> str:
    """A value as one would type it on the command line."""
    if value is True or value is False:
        return "yes" if value else "no"
    return str(value)


def named(options: Mapping[str, Any]) -> Iterable[Tuple[str, str]]:
    """Names and values for the library. `from_` is the option "from", which Python keeps for itself; None is left out; lists are several values."""
    for name, value in options.items():
        if value is None:
            continue
        name = name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else (value,):
            yield name, typed(one)


class TextArray:
    """char *[n], with the texts it points to."""

    def __init__(self, texts: Iterable[str]):
        self.kept = [ffi.new("char[]", bytes_of(text)) for text in texts]
        self.at = ffi.new("char *[]", self.kept)
        self.n = len(self.kept)
        self.n_bytes = sum(map(len, self.kept))
