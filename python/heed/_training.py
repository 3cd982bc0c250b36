"""Training: from two text files to a model."""
from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ._library import CancelledError, bytes_of, check, failure, ffi, keep_raised, lib, named, new_error, text_of

_NEWS = {
    lib.HEED_TRAINING_SAYS: "says",
    lib.HEED_TRAINING_PREPARES: "prepares",
    lib.HEED_TRAINING_LEARNED: "learned",
    lib.HEED_TRAINING_VALIDATES: "validates",
    lib.HEED_TRAINING_VALIDATED: "validated",
    lib.HEED_TRAINING_SAVED: "saved",
    lib.HEED_TRAINING_WAITS: "waits",
}


@dataclass(frozen=True)
class TrainingEvent:
    """What happens in a training run: `news` is says, prepares, learned, validates, validated or saved."""

    news: str
    text: str
    share: float
    update: int
    epoch: float
    loss: float
    rate: float
    tokens_per_second: float
    seconds: float
    seconds_left: float
    ce: float
    perplexity: float
    bleu: float
    chrf: float
    exact: float
    wer: float
    has_text: bool
    is_best: bool
    metric: str
    best: float


def _event(e: Any) -> TrainingEvent:
    fields = {}
    for name, kind in TrainingEvent.__annotations__.items():
        if name == "news":
            fields[name] = _NEWS[e.news]
            continue
        value = getattr(e, name)
        fields[name] = (text_of(value) if value != ffi.NULL else "") if kind == "str" else bool(value) if kind == "bool" else value
    return TrainingEvent(**fields)


class _Watch:
    """Tells the caller, and a line of progress on a terminal; it goes on unless the caller says False."""

    def __init__(self, callback: Optional[Callable[[TrainingEvent], Any]], progress: bool):
        self.callback, self.is_shown = callback, progress
        self.raised: Optional[BaseException] = None

    def line(self, text: str, stays: bool) -> None:
        out = sys.stderr
        if out.isatty():
            out.write("\r\033[K" + text + ("\n" if stays else ""))
        elif stays:
            out.write(text + "\n")
        out.flush()

    def show(self, e: TrainingEvent) -> None:
        if e.news == "says":
            self.line(e.text, True)
        elif e.news == "prepares":
            self.line(f"{e.text} {100 * e.share:.0f} %", False)
        elif e.news == "learned":
            left = f", {e.seconds_left / 60:.0f} min left" if e.seconds_left >= 0 else ""
            self.line(f"update {e.update}, epoch {e.epoch:.2f}, loss {e.loss:.3f}, {e.tokens_per_second:.0f} tokens/s{left}", False)
        elif e.news == "validated":
            score = f", BLEU {e.bleu:.2f}" if e.has_text else ""
            self.line(f"update {e.update}: perplexity {e.perplexity:.3f}{score}{', best so far' if e.is_best else ''}", True)

    def __call__(self, e: Any) -> bool:
        if e.news == lib.HEED_TRAINING_WAITS:
            return True
        event = _event(e)
        if self.is_shown:
            self.show(event)
        return self.callback is None or self.callback(event) is not False


@ffi.def_extern(onerror=keep_raised, error=False)
def heed_python_learned(context: Any, event: Any) -> bool:
    return ffi.from_handle(context)(event)


def train(
    *,
    out: Any,
    callback: Optional[Callable[[TrainingEvent], Any]] = None,
    progress: Optional[bool] = None,
    config: Any = None,
    **options: Any,
) -> str:
    """Train a model and return its path.

    >>> heed.train(src="train.en", tgt="train.fr", out="en-fr.safetensors", dim=256, updates=5000)

    Options are those of `heed train`, with underscores or dashes; lists give several values. callback(event) is told what happens and
    stops the run by returning False. Ctrl-C saves the state and raises KeyboardInterrupt; the same call goes on from there.
    `progress` prints what happens to standard error; by default it does so on a terminal.
    """
    err = new_error()
    run = ffi.gc(check(lib.heed_training_new(err), err), lib.heed_training_free)
    for name, value in named({"out": os.fspath(out), **options}):
        check(lib.heed_training_set(run, name.encode(), bytes_of(value, name), err), err)
    if config is not None:
        check(lib.heed_training_read(run, bytes_of(os.fspath(config), "config"), err), err)
    watch = _Watch(callback, sys.stderr.isatty() if progress is None else progress)
    handle = ffi.new_handle(watch)
    done = lib.heed_training_run(run, lib.heed_python_learned, handle, err)
    if watch.raised is not None:
        raise watch.raised
    if not done:
        problem = failure(err)
        if not isinstance(problem, CancelledError) or callback is None:
            raise problem
    return os.fspath(out)
