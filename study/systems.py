"""systems.py -- the models of the study, and the real text that they learn from.

All are small and get the same number of updates, so that differences are those of the models at an equal budget, not the best that each can reach.
The learning rate is chosen once per family. Scores are compared inside one model, Bahdanau's, where nothing but the score changes.
"""
import re

RECURRENT = ["--rate", "0.003", "--warmup", "200"]
TRANSFORMER = ["--arch", "transformer", "--layers", "2", "--heads", "4", "--ffn", "512", "--rate", "0.004", "--warmup", "400"]
FIXED = ["--arch", "bahdanau", "--score", "none", "--start", "last"]


def bahdanau(score, *more):
    return ["--arch", "bahdanau", "--score", score, *more, *RECURRENT]


# name: (what tables call it, options)
SYSTEMS = {
    "bahdanau": ("Bahdanau: `additive`", bahdanau("additive")),
    "first": ("fixed vector, first step", [*FIXED, "--context", "first", *RECURRENT]),
    "every": ("fixed vector, every step", [*FIXED, "--context", "every", *RECURRENT]),
    "luong": ("Luong: `bilinear`, input feeding", ["--arch", "luong", "--layers", "1", *RECURRENT]),
    "dot": ("`dot`", bahdanau("dot")),
    "scaled-dot": ("`scaled-dot`", bahdanau("scaled-dot")),
    "bilinear": ("`bilinear`", bahdanau("bilinear")),
    "mlp": ("`mlp`: `additive` with seed 2", bahdanau("mlp", "--seed", "2")),  # one function and the same bits, so another seed says more
    "tanh-sum": ("`tanh-sum`", bahdanau("tanh-sum")),
    "projected": ("`projected`", bahdanau("projected")),
    "scaled": ("`scaled`", bahdanau("scaled")),
    "multi-head": ("`multi-head`, 4 heads", bahdanau("multi-head", "--heads", "4")),
    "location": ("`location`", bahdanau("location", "--max-source", "200")),
    "local-p": ("`bilinear --local p`", bahdanau("bilinear", "--local", "p")),
    "transformer": ("Transformer", TRANSFORMER),
    "transformer-none": ("Transformer without positions", [*TRANSFORMER, "--positions", "none"]),
}
WITH_ATTENTION = tuple(system for system in SYSTEMS if system not in ("first", "every"))
TEXTS = ("multi30k", "tatoeba")  # that all of them learn from


def tokenised(line):
    """Lower case, with spaces around signs: the form of Multi30k's tok.lc, and of the text with gold links."""
    line = re.sub(r"([^\w\s'-])", r" \1 ", line.lower().replace("’", "'"))
    return " ".join(re.sub(r"(\w)('(?:s|m|d|t|re|ve|ll))\b", r"\1 \2", line).split())


class Text:
    """A parallel text, English to German: files to train, validate and test with, cut short for a smoke test."""

    def __init__(self, lab, name):
        self.lab, self.name = lab, name
        parts = {"train": "train", "dev": "dev", "test": "test"}
        if name == "multi30k":
            parts.update(dev="val", test="test2016")
        self.files = {}
        for part, stem in parts.items():
            for language in ("en", "de"):
                if name == "multi30k":
                    lines = lab.lines(name, "%s.tok.lc.%s" % (stem, language))
                else:
                    lines = [tokenised(line) for line in lab.lines(name, "%s.en-de.%s" % (stem, language))]
                if lab.is_smoke:
                    lines = lines[:300 if part == "train" else 30]
                self.files[part, language] = lab.write("%s.%s.%s" % (name, part, language), lines)

    def options(self, system):
        """Of heed train, for a system."""
        updates, between = {"multi30k": (1600, 400), "tatoeba": (2000, 500)}[self.name]
        return ["--src", self.files["train", "en"], "--tgt", self.files["train", "de"], "--dev-src", self.files["dev", "en"],
                "--dev-tgt", self.files["dev", "de"], "--tokens", "spm", "--vocab-size", 300 if self.lab.is_smoke else 4000, "--joint-vocab", "yes", "--dim", 128,
                "--embed", 128, *SYSTEMS[system][1], "--updates", updates, "--schedule", "cosine", "--batch-tokens",
                2000, "--dropout", "0.2", "--label-smoothing", "0.1", "--ema", "0.995", "--valid-metric", "ce",
                "--valid-every", between, "--save-every", between, "--patience", 0,
                *([] if "--seed" in SYSTEMS[system][1] else ["--seed", 1])]

    def run(self, system):
        """The name of its training."""
        return "%s-%s" % (self.name, system)

    def train(self, systems):
        """All of them; what each run was."""
        runs = self.lab.train_all({self.run(system): self.options(system) for system in systems})
        return {system: runs[self.run(system)] for system in systems}

    def models(self, systems):
        return ",".join(self.lab.model(self.run(system)) for system in systems)
