"""A translator: models, options, and what stays warm between calls."""
from __future__ import annotations

import asyncio
import gzip
import json
import os
import threading
import warnings
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Optional, Sequence, Union, overload

from ._library import OptionError, TextArray, bytes_of, check, failure, ffi, keep_raised, lib, named, new_error, taken, text_of
from ._results import Translation, all_translations, translations_of

DEFAULT_MODEL = Path(__file__).parent / "default.safetensors"
FEW, SHORT = 8, 1000  # texts, and bytes of them, that are done before anybody could press Ctrl-C
PathLike = Union[str, "os.PathLike[str]"]


class Model:
    """A model file, only read once loaded; translators may share it."""

    def __init__(self, path: Optional[PathLike] = None):
        err = new_error()
        self.path = os.fspath(DEFAULT_MODEL if path is None else path)
        self._at = ffi.gc(check(lib.heed_model_load(bytes_of(self.path, "the path"), err), err), lib.heed_model_free)

    @property
    def info(self) -> dict[str, Any]:
        """Architecture, sizes, vocabularies, languages, training record: what `heed info --json` prints."""
        err = new_error()
        return json.loads(taken(lib.heed_model_info(self._at, True, err), err))

    @property
    def architecture(self) -> str:
        """What it is, in a few words: "transformer", "gru", ..."""
        return text_of(lib.heed_model_architecture(self._at))

    @property
    def recipe(self) -> str:
        """How it was trained, as lines that heed.train() takes as its `config` file."""
        err = new_error()
        return taken(lib.heed_model_recipe(self._at, err), err)

    @property
    def has_attention(self) -> bool:
        """Does it attend to source words, so that there are links and attention?"""
        return bool(lib.heed_model_has_attention(self._at))

    def __str__(self) -> str:
        err = new_error()
        return taken(lib.heed_model_info(self._at, False, err), err)

    def __repr__(self) -> str:
        return f"heed.Model({self.path!r})"


@ffi.def_extern(onerror=keep_raised, error=False)
def heed_python_watch(context: Any, n_done: int, n: int) -> bool:
    return not ffi.from_handle(context).is_interrupted


class _Patient:
    """A long call on the main thread: it is made by another, so that Ctrl-C is heard meanwhile and ends it, and nothing else."""

    def __init__(self, translator: Any):
        self.translator, self.is_interrupted, self.raised = translator, False, None
        self.handle = ffi.new_handle(self)

    def _run(self, function: Any, arguments: Any, made: list[Any]) -> None:
        lib.heed_translator_watch(self.translator, lib.heed_python_watch, self.handle)
        try:
            made.append(function(*arguments))
        finally:
            lib.heed_translator_watch(self.translator, ffi.NULL, ffi.NULL)

    def call(self, function: Any, *arguments: Any) -> Any:
        made: list[Any] = []
        worker = threading.Thread(target=self._run, args=(function, arguments, made), name="heed call")
        worker.start()
        interrupt: Optional[BaseException] = None
        while worker.is_alive():
            try:
                worker.join(0.1)
            except BaseException as e:  # another Ctrl-C changes nothing
                interrupt, self.is_interrupted = interrupt or e, True
        if interrupt is not None:
            raise interrupt
        return made[0]


class _Requests:
    """Texts that were submitted, and a thread that hands their results to whoever waits."""

    def __init__(self, translator: Any):
        self.translator, self.lock, self.waiting = translator, threading.Lock(), {}
        self.is_closed = False
        self.wakes = threading.Condition(self.lock)
        threading.Thread(target=self._run, name="heed results", daemon=True).start()

    def submit(self, text: bytes, options: Any) -> "Future[Translation]":
        err, future = new_error(), Future()
        with self.lock:
            number = check(lib.heed_translator_submit(self.translator, text, options, err), err)
            self.waiting[number] = future
            self.wakes.notify()
        future.heed_number = number
        return future

    def cancel(self, future: "Future[Translation]") -> bool:
        with self.lock:
            if self.waiting.pop(future.heed_number, None) is None:
                return False
            lib.heed_translator_cancel(self.translator, future.heed_number)
        return future.cancel()

    def close(self) -> None:
        with self.lock:
            self.is_closed = True
            left, self.waiting = list(self.waiting.items()), {}
            for number, future in left:
                lib.heed_translator_cancel(self.translator, number)
                future.cancel()
            self.wakes.notify()

    def _run(self) -> None:
        number = ffi.new("uint64_t *")
        while True:
            with self.lock:
                while not self.waiting and not self.is_closed:
                    self.wakes.wait()
                if self.is_closed:
                    return
            err = new_error()
            result = lib.heed_translator_take(self.translator, 200, number, err)
            if number[0] == 0:
                continue
            with self.lock:
                future = self.waiting.pop(number[0], None)
            owner = ffi.gc(result, lib.heed_result_free) if result else None
            if future is None or not future.set_running_or_notify_cancel():
                continue
            if owner is None:
                future.set_exception(failure(err))
            else:
                future.set_result(translations_of(owner, owner))


_FORMATS = ("auto", "lines", "po", "srt", "vtt", "text")


def _checked_format(name: str) -> str:
    if name not in _FORMATS:
        raise OptionError(f"format must be one of {', '.join(_FORMATS)}, not '{name}'")
    return name


class Translator:
    """Translates, aligns and scores with a model, or several together.

    >>> t = heed.Translator()                       # the model inside
    >>> t = heed.Translator("mine.safetensors", beam=4)
    >>> t.translate("Good morning!")
    >>> t.translate(["One.", "Two."], n_best=3)

    Options are those of `heed translate`, with underscores or dashes, for the translator or for one call. Threads may share a
    translator; Python's lock is released while it works.
    """

    def __init__(self, model: Union[PathLike, Model, Sequence[Union[PathLike, Model]], None] = None, **options: Any):
        given = list(model) if isinstance(model, (list, tuple)) else [model]
        self.models = [m if isinstance(m, Model) else Model(m) for m in given]
        err = new_error()
        array = ffi.new("heed_model *[]", [m._at for m in self.models])
        made = check(lib.heed_translator_new(array, len(self.models), err), err)
        self._at: Any = ffi.gc(made, lib.heed_translator_free)
        self._requests: Optional[_Requests] = None
        self._lock, self._calls = threading.Lock(), threading.Lock()
        self._lm: Optional[Model] = None
        self._lm_weight, self._format, self._to = 0.2, "auto", None
        self.set(**options)

    @property
    def model(self) -> Model:
        """The model, or the first of several."""
        return self.models[0]

    def _open(self) -> Any:
        if self._at is None:
            raise ValueError("the translator has been closed")
        return self._at

    def set(self, **options: Any) -> None:
        """Set options for all later calls. `lm`, a language model to search with (shallow fusion, `lm_weight`), comes before the first text."""
        at, err = self._open(), new_error()
        if "lm" in options or "lm_weight" in options:
            self._fuse(options.pop("lm", self._lm), options.pop("lm_weight", self._lm_weight))
        self._format = _checked_format(options.pop("format", self._format))
        self._to = options.get("to", self._to)
        for name, value in named(options):
            check(lib.heed_translator_set(at, name.encode(), bytes_of(value, name), err), err)

    def _fuse(self, lm: Union[PathLike, Model, None], weight: float) -> None:
        self._lm = lm if lm is None or isinstance(lm, Model) else Model(lm)
        self._lm_weight = weight
        if self._lm is not None:
            err = new_error()
            check(lib.heed_translator_fuse(self._open(), self._lm._at, float(weight), err), err)

    def _options(self, options: dict[str, Any]) -> Any:
        if not options:
            return ffi.NULL
        err = new_error()
        made = ffi.gc(check(lib.heed_options_new(self._open(), err), err), lib.heed_options_free)
        for name, value in named(options):
            check(lib.heed_options_set(made, name.encode(), bytes_of(value, name), err), err)
        return made

    def submit(self, text: str, **options: Any) -> "Future[Translation]":
        """Begin to translate a text; the future has the translation. Texts that are under way share batches."""
        data, made = bytes_of(text), self._options(options)
        with self._lock:
            if self._requests is None:
                self._requests = _Requests(self._open())
            return self._requests.submit(data, made)

    @overload
    def translate(self, text: str, **options: Any) -> Translation: ...
    @overload
    def translate(self, text: Sequence[str], **options: Any) -> list[Translation]: ...

    def translate(self, text: Any, **options: Any) -> Any:
        """Translate a text, or a list of texts, which is faster than one by one. Options hold for this call."""
        if isinstance(text, str):
            return self._call(lib.heed_translator_translate, [text])[0] if not options else self.submit(text, **options).result()
        if not options:
            return list(self._call(lib.heed_translator_translate, list(text)))
        return [future.result() for future in [self.submit(one, **options) for one in text]]

    async def translate_async(self, text: str, **options: Any) -> Translation:
        """For asyncio: await translator.translate_async("Good morning!"). A task that is cancelled is not translated to its end."""
        future = self.submit(text, **options)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if self._requests is not None:
                self._requests.cancel(future)
            raise

    def translate_file(self, path: PathLike, out: Optional[PathLike] = None, *, format: Optional[str] = None, **options: Any) -> str:
        """Translate a file as `heed translate` does, and return it: PO, subtitles, paragraphs (`format="text"`) or lines.

        >>> t.translate_file("film.srt", "film.fr.srt")

        `format` is auto (by the file's name), lines, po, srt, vtt or text; `out` is where it is written. What stays and why is a warning of Python's.
        """
        name = os.fspath(path)
        with open(name, "rb") as f:
            data = f.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        kind = _checked_format(self._format if format is None else format)
        if kind == "auto":
            known = lib.heed_file_format(bytes_of(name, "the path"))
            kind = "lines" if known == ffi.NULL else text_of(known)
        made = self._lines(data, options) if kind == "lines" else self._whole(data, kind, name, options)
        if out is not None:
            with open(out, "w", encoding="utf-8", newline="") as f:
                f.write(made)
        return made

    def _lines(self, data: bytes, options: dict[str, Any]) -> str:
        lines = data.decode("utf-8", "replace").split("\n")
        return "\n".join(self.translate(lines, **options))

    def _whole(self, data: bytes, kind: str, name: str, options: dict[str, Any]) -> str:
        err = new_error()
        made = lib.heed_file_read(data, len(data), kind.encode(), bytes_of(name, "the path"), err)
        file = ffi.gc(check(made, err), lib.heed_file_free)
        language = lib.heed_file_language(file)
        if language != ffi.NULL and self._to is None and "to" not in options:
            options = {**options, "to": self._target(text_of(language), name)}
        numbers = range(lib.heed_file_size(file))
        for has_tags in (False, True):
            chosen = [i for i in numbers if bool(lib.heed_file_has_tags(file, i)) == has_tags]
            texts = [text_of(lib.heed_file_text(file, i)) for i in chosen]
            for i, text in zip(chosen, self.translate(texts, **{**options, "markup": "html" if has_tags else "none"})):
                check(lib.heed_file_put(file, i, bytes_of(text), err), err)
        i = 0
        while lib.heed_file_warning(file, i) != ffi.NULL:
            warnings.warn(text_of(lib.heed_file_warning(file, i)), stacklevel=3)
            i += 1
        return taken(lib.heed_file_write(file, err), err)

    def _target(self, language: str, name: str) -> Optional[str]:
        """The model's own name of a language that a PO file says it is in."""
        directions = (text_of(lib.heed_model_languages(self.model._at)) if lib.heed_model_languages(self.model._at) != ffi.NULL else "").split(",")
        targets = [one.split("-", 1)[1] for one in directions if "-" in one]
        wanted = language.replace("-", "_").lower()
        for to in targets:
            own = to.replace("-", "_").lower()
            if wanted == own or wanted.startswith((own + "_", own + "@")):
                return to
        if targets:
            warnings.warn(f"{name}: its header says Language: {language}, which the model does not translate to (it has {','.join(directions)})", stacklevel=4)
        return None

    def _run(self, function: Any, array: Any, n: int, is_long: bool) -> Sequence[Translation]:
        at, err = self._open(), new_error()
        if is_long and threading.current_thread() is threading.main_thread():
            with self._calls:
                return all_translations(check(_Patient(at).call(function, at, array, n, err), err))
        made = function(at, array, n, err)
        while not made and err.code == lib.HEED_CANCELLED:  # that was meant for a call of another thread
            err = new_error()
            made = function(at, array, n, err)
        return all_translations(check(made, err))

    def _call(self, function: Any, texts: Sequence[str]) -> Sequence[Translation]:
        if not texts:
            return []
        array = TextArray(texts)
        return self._run(function, array.at, array.n, array.n > FEW or array.n_bytes > SHORT)

    def _pairs(self, function: Any, source: Any, target: Any) -> Any:
        is_one = isinstance(source, str)
        sources, targets = ([source], [target]) if is_one else (list(source), list(target))
        if len(sources) != len(targets):
            raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets")
        if not sources:
            return []
        a, b = TextArray(sources), TextArray(targets)
        pairs = ffi.new("heed_text_pair[]", [{"source": s, "target": t} for s, t in zip(a.kept, b.kept)])
        made = self._run(function, pairs, a.n, a.n > FEW or a.n_bytes > SHORT)
        return made[0] if is_one else list(made)

    @overload
    def align(self, source: str, target: str) -> Translation: ...
    @overload
    def align(self, source: Sequence[str], target: Sequence[str]) -> list[Translation]: ...

    def align(self, source: Any, target: Any) -> Any:
        """Which words of given translations belong together: results with links and attention, one or a list as given."""
        return self._pairs(lib.heed_translator_align, source, target)

    @overload
    def score(self, source: str, target: str) -> float: ...
    @overload
    def score(self, source: Sequence[str], target: Sequence[str]) -> list[float]: ...

    def score(self, source: Any, target: Any) -> Any:
        """How likely given translations are: their log-probabilities, one or a list as given."""
        made = self._pairs(lib.heed_translator_score, source, target)
        return made.logprob if isinstance(made, Translation) else [t.logprob for t in made]

    @overload
    def complete(self, source: str, beginning: str) -> Translation: ...
    @overload
    def complete(self, source: Sequence[str], beginning: Sequence[str]) -> list[Translation]: ...

    def complete(self, source: Any, beginning: Any) -> Any:
        """Translations that begin as given."""
        return self._pairs(lib.heed_translator_complete, source, beginning)

    def close(self) -> None:
        """End its threads; what is under way is dropped."""
        with self._lock:
            if self._requests is not None:
                self._requests.close()
                self._requests = None
            self._at = None

    def __enter__(self) -> "Translator":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"heed.Translator({', '.join(repr(m.path) for m in self.models)})"


@overload
def translate(text: str, **options: Any) -> Translation: ...
@overload
def translate(text: Sequence[str], **options: Any) -> list[Translation]: ...


def translate(text: Any, **options: Any) -> Any:
    """Translate with the model inside, which is loaded the first time."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Translator()
    return _default.translate(text, **options)


_default: Optional[Translator] = None
_default_lock = threading.Lock()
