"""heed: attention-based sequence-to-sequence learning, on the CPU.

    import heed
    print(heed.translate("Good morning!"))              # the model inside

    t = heed.Translator("mine.safetensors", beam=4)
    result = t.translate("The red house is old.")       # a str
    result.links, result.attention, result.confidence
    result.plot("attention.svg")

    heed.train(src="train.en", tgt="train.fr", out="mine.safetensors")
    heed.convert("opus-mt-en-fr", "en-fr.safetensors")
    heed.evaluate(["the cat sat"], ["the cat sat down"]).bleu

Options are those of the command line, by the same names and with the same errors.
"""
from ._conversion import convert
from ._evaluation import AnswerScores, Evaluation, evaluate, score_answers
from ._library import CancelledError, DivergedError, Error, FileError, ModelError, OptionError, TextError, ffi, lib
from ._results import Answer, Link, Sentence, Translation, Word
from ._training import TrainingEvent, train
from ._translator import Model, Translator, translate

__version__: str = ffi.string(lib.heed_version()).decode()
__all__ = [
    "Answer", "AnswerScores", "CancelledError", "DivergedError", "Error", "Evaluation", "FileError", "Link", "Model", "ModelError", "OptionError", "Sentence",
    "TextError", "TrainingEvent", "Translation", "Translator", "Word", "convert", "evaluate", "score_answers", "train", "translate",
]
