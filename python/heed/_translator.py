"""A translator: models, options, and what stays warm between calls."""
from __future__ import annotations

import asyncio
import functools
import json
import os
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Optional, Sequence, Union, overload

from ._library import TextArray, bytes_of, check, failure, ffi, lib, named, new_error, taken, text_of
from ._results import Translation, all_translations, translations_of

DEFAULT_MODEL = Path(__file__).parent / "default.safetensors"
FEW = 8  # texts that are translated before anybody could press Ctrl-C
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
        return text_of(lib.heed_model_architecture(self._at))

    @property
    def recipe(self) -> str:
        """How it was trained, as lines that heed.train() takes as its `config` file."""
        err = new_error()
        return taken(lib.heed_model_recipe(self._at, err), err)

    @property
    def has_attention(self) -> bool:
        return bool(lib.heed_model_has_attention(self._at))

    def __str__(self) -> str:
        err = new_error()
        return taken(lib.heed_model_info(self._at, False, err), err)

    def __repr__(self) -> str:
        return f"heed.Model({self.path!r})"


@ffi.def_extern(error=False)
def heed_python_watch(context: Any, n_done: int, n: int) -> bool:
    return not _Patient.is_interrupted


class _Patient:
    """A long call on the main thread is made by another, so that Ctrl-C is heard meanwhile and ends it."""

    is_interrupted = False

    @classmethod
    def call(cls, function: Any, *arguments: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return function(*arguments)
        made: list[Any] = []
        worker = threading.Thread(target=lambda: made.append(function(*arguments)), name="heed call")
        worker.start()
        try:
            while worker.is_alive():
                worker.join(0.1)
        except BaseException:
            cls.is_interrupted = True
            worker.join()
            raise
        finally:
            cls.is_interrupted = False
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
        lib.heed_translator_watch(self._at, lib.heed_python_watch, ffi.NULL)
        self._requests: Optional[_Requests] = None
        self._lock = threading.Lock()
        self.set(**options)

    @property
    def model(self) -> Model:
        return self.models[0]

    def _open(self) -> Any:
        if self._at is None:
            raise ValueError("the translator has been closed")
        return self._at

    def set(self, **options: Any) -> None:
        """Set options for all later calls."""
        at, err = self._open(), new_error()
        for name, value in named(options):
            check(lib.heed_translator_set(at, name.encode(), bytes_of(value, name), err), err)

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

    def _call(self, function: Any, texts: Sequence[str]) -> Sequence[Translation]:
        if not texts:
            return []
        err, array = new_error(), TextArray(texts)
        call = function if array.n <= FEW else functools.partial(_Patient.call, function)
        return all_translations(check(call(self._open(), array.at, array.n, err), err))

    def _pairs(self, function: Any, source: Any, target: Any) -> Any:
        is_one = isinstance(source, str)
        sources, targets = ([source], [target]) if is_one else (list(source), list(target))
        if len(sources) != len(targets):
            raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets")
        if not sources:
            return []
        err, a, b = new_error(), TextArray(sources), TextArray(targets)
        pairs = ffi.new("heed_text_pair[]", [{"source": s, "target": t} for s, t in zip(a.kept, b.kept)])
        call = function if a.n <= FEW else functools.partial(_Patient.call, function)
        made = all_translations(check(call(self._open(), pairs, a.n, err), err))
        return made[0] if is_one else list(made)

    def align(self, source: Any, target: Any) -> Any:
        """Which words of given translations belong together: results with links and attention, one or a list as given."""
        return self._pairs(lib.heed_translator_align, source, target)

    def score(self, source: Any, target: Any) -> Any:
        """How likely given translations are: their log-probabilities, one or a list as given."""
        made = self._pairs(lib.heed_translator_score, source, target)
        return made.logprob if isinstance(made, Translation) else [t.logprob for t in made]

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


def translate(text: Any, **options: Any) -> Any:
    """Translate with the model inside, which is loaded the first time."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Translator()
    return _default.translate(text, **options)


_default: Optional[Translator] = None
_default_lock = threading.Lock()
