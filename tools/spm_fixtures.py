#!/usr/bin/env python3
"""spm_fixtures.py -- writes tests/text/data: tiny SentencePiece models, and what the library itself makes of a few sentences.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install sentencepiece
    /tmp/venv/bin/python tools/spm_fixtures.py tests/text/data

unigram.spm has Marian's ids (</s> 0, <unk> 1, no <s>); bpe.spm has the library's own (<unk> 0, <s> 1, </s> 2, <pad> 3) and
falls back to bytes; rules.spm has a table of character rules. expected.tsv: model, sentence, ids, decoded.
"""
import contextlib
import io
import sys
import tempfile
from pathlib import Path

import sentencepiece as spm

WORDS = "the a cat dog house sees likes finds small big red old my your and with in on near tree".split()
SENTENCES = ["the small cat sees a big dog.", " my  house ", "", "a zebra", "the cat </s> <s> <unk>", "dog猫\tdog", "▁the", "ﬁnds Ａ ａ Éé",
             "Ⅷ ﬁﬁ"]
RULES = {"ﬁ": "fi", "Ａ": "a", "ａ": "a", "É": "e", "é": "e", "Ⅷ": "", "\t": " ", "ﬁﬁ": "big"}


def corpus():
    state = 1
    for _ in range(400):
        line = []
        for _ in range(6):
            state = state * 1103515245 + 12345 & 0x7FFFFFFF
            line.append(WORDS[(state >> 16) % len(WORDS)])
        yield " ".join(line) + "."


def train(path, **options):
    model = io.BytesIO()
    if "normalization_rule_tsv" not in options:
        options["normalization_rule_name"] = "identity"
    spm.SentencePieceTrainer.train(sentence_iterator=corpus(), model_writer=model, hard_vocab_limit=False, num_threads=1,
                                   minloglevel=2, **options)
    path.write_bytes(model.getvalue())


def main(folder):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    train(folder / "unigram.spm", model_type="unigram", vocab_size=60, bos_id=-1, eos_id=0, unk_id=1)
    train(folder / "bpe.spm", model_type="bpe", vocab_size=320, byte_fallback=True, pad_id=3)
    with tempfile.TemporaryDirectory() as somewhere, contextlib.chdir(somewhere):  # the model keeps the name
        with open("rules.tsv", "w", encoding="utf-8") as rules:
            for before, after in RULES.items():
                rules.write("\t".join(" ".join(f"{ord(c):X}" for c in text) for text in (before, after)) + "\n")
        train(folder / "rules.spm", model_type="unigram", vocab_size=60, normalization_rule_tsv="rules.tsv")
    with open(folder / "expected.tsv", "w", encoding="utf-8") as out:
        for name in ["unigram.spm", "bpe.spm", "rules.spm"]:
            model = spm.SentencePieceProcessor(model_file=str(folder / name))
            for sentence in SENTENCES:
                ids = model.encode(sentence)
                fields = [name, sentence.replace("\t", "\\t"), " ".join(map(str, ids)), model.decode(ids).replace("\t", "\\t")]
                out.write("\t".join(fields) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
