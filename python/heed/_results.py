"""What comes back: a translation is a string that knows how it was made."""
from __future__ import annotations

import html
import json
from typing import Any, NamedTuple, Optional, Sequence

from ._library import OptionError, bytes_of, check, ffi, lib, new_error, taken, text_of

try:
    import numpy
except ImportError:  # attention is then lists of lists
    numpy = None  # type: ignore[assignment]


class Word(NamedTuple):
    """A word of a text; start and end count characters. A target word has a log-probability and a confidence from 0 to 1."""

    text: str
    start: int
    end: int
    logprob: float
    confidence: float


class Link(NamedTuple):
    """Two words that belong together, by their numbers from 0."""

    source: int
    target: int


class Sentence(NamedTuple):
    """A sentence and its translation: where they begin and end, in characters of the two texts."""

    source_start: int
    source_end: int
    target_start: int
    target_end: int


class Answer(NamedTuple):
    """What of a document answers a question: start and end count its characters."""

    text: str
    start: int
    end: int
    probability: float


def _words(words: Any, n: int) -> list[Word]:
    return [Word(text_of(w.text), w.start, w.end, w.logprob, w.confidence) for w in words[0:n]] if n else []


def _matrix(values: Any, n_rows: int, n_columns: int, owner: Any) -> Any:
    """Rows of weights: an array over the library's own memory, or lists where there is no NumPy."""
    if values == ffi.NULL:
        return None
    if numpy is None:
        flat = ffi.unpack(values, n_rows * n_columns)
        return [flat[i * n_columns : (i + 1) * n_columns] for i in range(n_rows)]
    memory = ffi.gc(values, lambda _, kept=owner: None)  # the result lives as long as the array does
    array = numpy.frombuffer(ffi.buffer(memory, 4 * n_rows * n_columns), numpy.float32)
    array.flags.writeable = False
    return array.reshape(n_rows, n_columns)


# What a translation reads from the library's memory when it is asked.
_IN_MEMORY = ("attention", "attention_end", "heard", "subwords", "source_subwords", "subword_attention", "_attention_kind")


def _copied(value: Any) -> Any:
    return value.copy() if numpy is not None and isinstance(value, numpy.ndarray) else value


def _weights(values: Any) -> Any:
    """A matrix or a row as the library takes it; NULL for None."""
    if values is None:
        return ffi.NULL
    rows = values.tolist() if hasattr(values, "tolist") else values
    flat = [x for row in rows for x in row] if rows and isinstance(rows[0], list) else rows
    return ffi.new("float[]", flat)


def _restored(text: str, fields: dict[str, Any]) -> "Translation":
    t = Translation(text)
    t.__dict__.update(fields)
    t._owner = t._result = t._raw = None
    return t


class Translation(str):
    """A translation: a str, with everything heed knows about it.

    score           what the search compares: log-probability with length and coverage
    logprob         sum of the natural log-probabilities of its subwords
    confidence      how likely it is right, from 0 to 1
    words, source_words, links, sentences
    attention       rows are target words, columns source words (a NumPy array, or lists without NumPy)
    attention_end   the share of the source's end marker in each row
    heard           of a model that was trained with CTC: the first and the last source word at which CTC hears each word, (-1, -1) where
                    it is at none (None of other models)
    alternatives    the next best translations, best first (option n_best)
    warnings        what was cut, repaired or searched again
    source          the text that was translated
    question, answer   of a model that answers questions: what was asked (None of others), and the best answer with its place in
                    the document (None where there is none). The string is the answer, source the document, and attention has two
                    rows: where the answer begins, and where it ends
    """

    source: str
    score: float
    logprob: float
    confidence: float
    is_cut: bool
    words: list[Word]
    source_words: list[Word]
    links: list[Link]
    sentences: list[Sentence]
    warnings: list[str]
    alternatives: list["Translation"]
    question: Optional[str]
    answer: Optional[Answer]
    _owner: Any
    _result: Any
    _raw: Any
    _plain: Optional[dict[str, Any]]  # of a copy: what the library's memory held
    _json: list[str]  # of all translations of a text, once somebody has asked

    @property
    def attention(self) -> Any:
        """What each target word attends to: a row for each, a column for each source word; None where there is no attention."""
        if self._plain is not None:
            return self._plain["attention"]
        t = self._raw
        return _matrix(t.attention, t.n_attention_rows, t.n_attention_columns, self._owner)

    @property
    def attention_end(self) -> Any:
        """The share of the source's end marker in each row of `attention`; None where there is none."""
        if self._plain is not None:
            return self._plain["attention_end"]
        t = self._raw
        row = _matrix(t.attention_end, 1, t.n_attention_rows, self._owner)
        return None if row is None else row[0]

    @property
    def heard(self) -> Optional[list[tuple[int, int]]]:
        """The first and the last source word at which CTC hears each target word; None of models without CTC."""
        if self._plain is not None:
            return self._plain["heard"]
        t = self._raw
        return None if t.heard == ffi.NULL else [(h.first, h.last) for h in t.heard[0 : t.n_words]]

    @property
    def subwords(self) -> list[str]:
        """The pieces that the model wrote."""
        if self._plain is not None:
            return self._plain["subwords"]
        return [text_of(s.text) for s in self._raw.subwords[0 : self._raw.n_subwords]] if self._raw.n_subwords else []

    @property
    def source_subwords(self) -> list[str]:
        """The pieces that the model read."""
        if self._plain is not None:
            return self._plain["source_subwords"]
        return [text_of(s.text) for s in self._result.subwords[0 : self._result.n_subwords]] if self._result.n_subwords else []

    @property
    def subword_attention(self) -> Any:
        """Attention between pieces: rows are `subwords`, columns `source_subwords`; None where there is none."""
        if self._plain is not None:
            return self._plain["subword_attention"]
        t = self._raw
        return _matrix(t.subword_attention, t.n_subword_rows, t.n_subword_columns, self._owner)

    @property
    def _attention_kind(self) -> int:
        return self._plain["_attention_kind"] if self._plain is not None else self._raw.attention_kind

    def _json_text(self) -> str:
        if not self._json:
            err = new_error()
            self._json.append(taken(lib.heed_result_json(self._result, err), err))
        return self._json[0]

    def json(self) -> dict[str, Any]:
        """The whole result, all alternatives included, as `heed translate --json` prints it."""
        return json.loads(self._json_text())

    def __reduce__(self) -> Any:
        """Copies and pickles are plain data: they need neither the library's memory nor its model."""
        self._json_text()
        fields = {name: value for name, value in self.__dict__.items() if name not in ("_owner", "_result", "_raw", "_plain")}
        fields["_plain"] = {name: _copied(getattr(self, name)) for name in _IN_MEMORY}
        return _restored, (str(self), fields)

    def _attention_picture(self, style: int) -> tuple[Any, list[Any]]:
        t = self._raw
        weights = _weights(self.attention) if t is None else t.attention
        if weights == ffi.NULL:
            raise OptionError("there is no attention to draw: the model has none, or it was not asked for")
        end = _weights(self.attention_end) if t is None else t.attention_end
        kind = self._attention_kind
        rows = self.source_words if kind == lib.HEED_ATTENTION_ENCODER else self.words
        columns = self.words if kind == lib.HEED_ATTENTION_DECODER else self.source_words
        names = ["start", "end"] if self.question is not None else [w.text for w in rows]
        texts = [[ffi.new("char[]", bytes_of(name)) for name in side] for side in (names, [w.text for w in columns])]
        arrays = [ffi.new("char *[]", side) for side in texts]
        attention = ffi.new("heed_picture_attention *")
        attention.words.rows, attention.words.n_rows = arrays[0], len(names)
        attention.words.columns, attention.words.n_columns = arrays[1], len(columns)
        attention.weights, attention.style = weights, style
        attention.end = end if self.question is None else ffi.NULL
        kept: list[Any] = [texts, arrays, attention, weights, end]
        if kind == lib.HEED_ATTENTION_CROSS and self.links:
            links = ffi.new("heed_picture_link[]", [{"column": k.source, "row": k.target} for k in self.links])
            attention.links, attention.n_links = links, len(self.links)
            kept.append(links)
        return attention, kept

    def _picture(self, title: Optional[str], dark: bool, style: str) -> tuple[Any, list[Any]]:
        styles = {"both": lib.HEED_DRAW_BOTH, "matrix": lib.HEED_DRAW_MATRIX, "lines": lib.HEED_DRAW_LINES}
        if style not in styles:
            raise OptionError(f"style must be one of {', '.join(styles)}, not '{style}'")
        attention, kept = self._attention_picture(styles[style])
        picture = ffi.new("heed_picture *")
        picture.attention, picture.is_dark = attention, dark
        if title is not None:
            kept.append(ffi.new("char[]", bytes_of(title, "the title")))
            picture.title = kept[-1]
        return picture, kept

    def plot(self, path: str, *, title: Optional[str] = None, dark: bool = False, style: str = "both") -> None:
        """Draw the attention into a file: .svg, .png, .pdf or .tex (TikZ). `style` is both, matrix or lines."""
        err = new_error()
        picture, kept = self._picture(title, dark, style)
        check(lib.heed_draw(picture, bytes_of(str(path), "the path"), err), err)
        del kept

    def svg(self, *, title: Optional[str] = None, dark: bool = False, style: str = "both") -> str:
        """The same as a text."""
        err, size = new_error(), ffi.new("size_t *")
        picture, kept = self._picture(title, dark, style)
        made = taken(lib.heed_draw_bytes(picture, b"svg", size, err), err)
        del kept
        return made

    def show(self, width: int = 0) -> str:
        """The attention as characters, for a terminal."""
        err = new_error()
        attention, kept = self._attention_picture(lib.HEED_DRAW_BOTH)
        made = taken(lib.heed_draw_text(attention, ffi.new("heed_text_options *", {"width": width}), err), err)
        del kept
        return made

    def _repr_svg_(self) -> Optional[str]:
        return self.svg() if self.attention is not None and self.words and self.source_words else None

    def _repr_html_(self) -> str:
        words = " ".join(
            f'<span title="log-probability {w.logprob:.2f}" style="opacity:{0.35 + 0.65 * min(max(w.confidence, 0), 1):.2f}">'
            f"{html.escape(w.text)}</span>"
            for w in self.words
        )
        rows = [("source", html.escape(self.source)), ("translation", words or html.escape(str(self)))]
        rows.append(("confidence", f"{self.confidence:.2f}"))
        rows += [("warning", html.escape(w)) for w in self.warnings]
        body = "".join(f'<tr><th style="text-align:left">{name}</th><td style="text-align:left">{value}</td></tr>' for name, value in rows)
        return f"<table>{body}</table>"


def translations_of(result: Any, owner: Any) -> Translation:
    """The best translation of a result, with the others as its alternatives. `owner` keeps the result's memory."""
    source = text_of(result.source)
    source_words = _words(result.words, result.n_words)
    warnings = [text_of(w) for w in result.warnings[0 : result.n_warnings]] if result.n_warnings else []
    question = None if result.question == ffi.NULL else text_of(result.question)
    a = result.answer
    answer = None if a == ffi.NULL else Answer(text_of(a.text), a.start, a.end, a.probability)
    made: list[Translation] = []
    json_of_all: list[str] = []
    for raw in result.translations[0 : result.n_translations]:
        t = Translation(text_of(raw.text))
        t.source, t.source_words, t.warnings = source, source_words, warnings
        t.question, t.answer = question, answer
        t.score, t.logprob, t.confidence, t.is_cut = raw.score, raw.logprob, raw.confidence, bool(raw.is_cut)
        t.words = _words(raw.words, raw.n_words)
        t.links = [Link(k.source, k.target) for k in raw.links[0 : raw.n_links]] if raw.n_links else []
        t.sentences = (
            [Sentence(s.source_start, s.source_end, s.target_start, s.target_end) for s in raw.sentences[0 : raw.n_sentences]]
            if raw.n_sentences
            else []
        )
        t.alternatives = []
        t._owner, t._result, t._raw, t._plain, t._json = owner, result, raw, None, json_of_all
        made.append(t)
    made[0].alternatives = made[1:]
    return made[0]


def all_translations(results: Any) -> Sequence[Translation]:
    owner = ffi.gc(results, lib.heed_results_free)
    return [translations_of(owner.at[i], owner) for i in range(owner.n)]
