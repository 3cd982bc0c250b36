"""Scores of translations, sacreBLEU's numbers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Union

from ._library import OptionError, TextArray, check, ffi, lib, new_error, text_of

_METRICS = {
    "bleu": lib.HEED_METRIC_BLEU,
    "chrf": lib.HEED_METRIC_CHRF,
    "chrfpp": lib.HEED_METRIC_CHRFPP,
    "exact": lib.HEED_METRIC_EXACT,
    "wer": lib.HEED_METRIC_WER,
}
_TOKENIZERS = {
    "13a": lib.HEED_TOK_13A,
    "none": lib.HEED_TOK_NONE,
    "char": lib.HEED_TOK_CHAR,
    "intl": lib.HEED_TOK_INTL,
    "zh": lib.HEED_TOK_ZH,
}


@dataclass(frozen=True)
class Evaluation:
    """Scores of a text; what was not asked for is 0. BLEU and chrF from 0 to 100, exact and word error rate in percent."""

    bleu: float
    chrf: float
    chrfpp: float
    exact: float
    wer: float
    n_sentences: int
    signature: str


@dataclass(frozen=True)
class AnswerScores:
    """How answers were found, in percent, as the script of SQuAD counts them."""

    exact: float
    f1: float
    n: int


def _pairs(hyp: Union[str, Sequence[str]], ref: Union[str, Sequence[str]]) -> tuple[Any, list[Any]]:
    hyps, refs = ([hyp], [ref]) if isinstance(hyp, str) else (list(hyp), list(ref))
    if len(hyps) != len(refs):
        raise ValueError(f"there are {len(hyps)} hypotheses and {len(refs)} references")
    a, b = TextArray(hyps), TextArray(refs)
    return ffi.new("heed_pair[]", [{"hyp": h, "ref": r} for h, r in zip(a.kept, b.kept)]), [a, b]


def score_answers(hyp: Union[str, Sequence[str]], ref: Union[str, Sequence[str]]) -> AnswerScores:
    """Compare answers that were found with those that are right, one or a list each.

    >>> heed.score_answers(["The cellar."], ["cellar"]).exact
    """
    err, scores = new_error(), ffi.new("heed_answer_scores *")
    pairs, kept = _pairs(hyp, ref)
    check(lib.heed_score_answers(pairs, len(kept[0].kept), scores, err), err)
    return AnswerScores(scores.exact, scores.f1, scores.n)


def evaluate(
    hyp: Union[str, Sequence[str]],
    ref: Union[str, Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "exact", "wer"),
    tok: str = "13a",
    lowercase: bool = False,
) -> Evaluation:
    """Score hypotheses against references, one text or a list each.

    >>> heed.evaluate(["the cat sat"], ["the cat sat down"]).chrf
    """
    for name in metrics:
        if name not in _METRICS:
            raise OptionError(f"metrics must be some of {', '.join(_METRICS)}, not '{name}'")
    if tok not in _TOKENIZERS:
        raise OptionError(f"tok must be one of {', '.join(_TOKENIZERS)}, not '{tok}'")
    err = new_error()
    pairs, kept = _pairs(hyp, ref)
    options = ffi.new("heed_eval_options *")
    options.size = ffi.sizeof("heed_eval_options")
    options.metrics = sum({_METRICS[name] for name in metrics})
    options.tok, options.is_lowercase = _TOKENIZERS[tok], lowercase
    made: Any = ffi.gc(check(lib.heed_evaluate(pairs, len(kept[0].kept), options, err), err), lib.heed_evaluation_free)
    return Evaluation(made.bleu, made.chrf, made.chrfpp, made.exact, made.wer, made.n_sentences, text_of(made.bleu_signature))
