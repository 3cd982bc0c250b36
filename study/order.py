"""order.py -- what positions are for: "a more than b" and "b more than a" are the same words, and a Transformer without positions cannot tell them apart.

Names are compared, and the answer is the greater first, then the other. Pairs of names that are tested were never seen together; both orders of each are
tested, so whoever gives both the same answer has half of them right at most.
"""
import itertools
import random

from lab import Missing
from page import command, spread, table

SEEDS = (1, 2, 3)
COMMON = ["--dim", "64", "--embed", "64", "--rate", "0.003", "--warmup", "50"]
TRANSFORMER = ["--arch", "transformer", "--layers", "2", "--heads", "4", "--ffn", "128", *COMMON]
MODELS = {
    "none": ("Transformer, `--positions none`", [*TRANSFORMER, "--positions", "none"]),
    "sin": ("Transformer, `--positions sin`", [*TRANSFORMER, "--positions", "sin"]),
    "learned": ("Transformer, `--positions learned`", [*TRANSFORMER, "--positions", "learned"]),
    "bahdanau": ("RNN, Bahdanau", ["--arch", "bahdanau", *COMMON]),
}


def sentences():
    """To learn from and to test with; the two orders of a pair follow each other."""
    names = ["n%d" % i for i in range(40)]
    pairs = list(itertools.combinations(names, 2))
    random.Random("order").shuffle(pairs)

    def both(pair, word):
        for a, b in (pair, pair[::-1]):
            yield "%s %s than %s\t%s" % (a, word, b, "%s %s" % ((a, b) if word == "more" else (b, a)))
    parts = [[line for pair in some for word in ("more", "less") for line in both(pair, word)] for some in (pairs[80:], pairs[:80])]
    return parts


def measure(lab):
    learned, tested = sentences()
    train, test = lab.write("order.train.tsv", learned), lab.write("order.test.tsv", tested)
    dev = lab.write("order.dev.tsv", learned[:100])
    source = lab.write("order.test.src", [line.split("\t")[0] for line in tested])

    def options(model, seed):
        return ["--tsv", train, "--dev-tsv", dev, "--tokens", "words", *MODELS[model][1], "--updates", 600, "--schedule", "cosine",
                "--batch-tokens", 600, "--dropout", 0, "--label-smoothing", 0, "--ema", 0, "--valid-metric", "ce", "--valid-every", 200,
                "--patience", 0, "--seed", seed]

    runs = lab.train_all({"order-%s-%d" % (model, seed): options(model, seed) for seed in SEEDS for model in MODELS})

    def evaluate():
        found = {}
        for model, seed in itertools.product(MODELS, SEEDS):
            file = lab.model("order-%s-%d" % (model, seed))
            answers = lab.call("translate", "-m", file, "-q", "-b", 1, source).splitlines()
            exact = lab.objects("eval", "-m", file, "--tsv", test, "--metrics", "exact", "-b", 1)[0]["exact"]["score"]
            same = 100 * sum(a == b for a, b in zip(answers[::2], answers[1::2])) / (len(answers) // 2)
            found.setdefault(model, []).append({"exact": exact, "same": same})
        return {"scores": found, "command": options("none", 1)}
    lab.known("order", runs, evaluate)


def report(lab, page):
    found = lab.result("order")
    rows = [[MODELS[model][0], spread([s["exact"] for s in scores]), spread([s["same"] for s in scores])]
            for model, scores in found["scores"].items()]
    parts = [command(found["command"]), table(["", "all right, %: mean (seeds)", "same answer to both orders, %"], rows)]
    try:
        scores = lab.result("length/multi30k")["scores"]
        with_, without = (scores[s]["bleu"]["score"] for s in ("transformer", "transformer-none"))
        parts.append("On Multi30k, with the runs of the first section, a Transformer has %.1f BLEU with positions and %.1f without." % (with_, without))
    except Missing:
        pass
    return "\n\n".join(parts)
