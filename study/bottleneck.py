"""bottleneck.py -- the same question where nothing but memory counts: letters to be copied, of up to 40, and what share of sentences is all right."""
import random

from page import command, lines_of, spread, table
from systems import FIXED, SYSTEMS

SEEDS = (1, 2, 3)
RECURRENT = ["--rate", "0.003", "--warmup", "50"]
COPIERS = {
    "first": [*FIXED, "--context", "first", *RECURRENT],
    "every": [*FIXED, "--context", "every", *RECURRENT],
    "bahdanau": ["--arch", "bahdanau", *RECURRENT],
    "luong": ["--arch", "luong", "--layers", "1", *RECURRENT],
    "transformer": ["--arch", "transformer", "--layers", "2", "--heads", "4", "--ffn", "256", "--rate", "0.003", "--warmup", "200"],
}
LETTERS = "abcdefghijklmnopqrst"
LONGEST, LONGEST_TESTED = 40, 50


def sentences(n, longest, seed):
    chance = random.Random(seed)
    for i in range(n):
        words = " ".join(chance.choice(LETTERS) for _ in range(1 + i % longest))
        yield words + "\t" + words


def measure(lab):
    train = lab.write("copy.train.tsv", sentences(400 if lab.is_smoke else 20000, LONGEST, "train"))
    dev = lab.write("copy.dev.tsv", sentences(40 if lab.is_smoke else 200, LONGEST, "dev"))
    test = lab.write("copy.test.tsv", sentences(50 if lab.is_smoke else 1000, LONGEST_TESTED, "test"))

    def options(system, seed):
        return ["--tsv", train, "--dev-tsv", dev, "--tokens", "words", "--dim", 64, "--embed", 64, *COPIERS[system], "--updates", 1200,
                "--schedule", "cosine", "--batch-tokens", 2000, "--dropout", 0, "--label-smoothing", 0, "--ema", 0,
                "--valid-metric", "ce", "--valid-every", 200, "--patience", 0, "--seed", seed]

    runs = lab.train_all({"copy-%s-%d" % (system, seed): options(system, seed) for seed in SEEDS for system in COPIERS})

    def evaluate():
        models = {system: [lab.model("copy-%s-%d" % (system, seed)) for seed in SEEDS] for system in COPIERS}
        return {"command": options("bahdanau", 1), "seconds": {name: run["seconds"] for name, run in runs.items()}, "scores": {
            system: [[(row["words"], row["sentences"], row["exact"]["score"], row["wer"]["score"]) for row in one["by_length"]]
                     for one in lab.objects("eval", "-m", ",".join(files), "--tsv", test, "--metrics", "exact,wer", "--by-length", "-b", 1)]
            for system, files in models.items()}}
    lab.known("bottleneck", runs, evaluate)


def middle(words):
    low, high = words.split("-")
    return (int(low) + int(high)) / 2


def report(lab, page):
    found = lab.result("bottleneck")
    scores = found["scores"]
    shown = [row[0] for row in scores["bahdanau"][0]]
    names = {system: SYSTEMS[system][0].replace("`", "") for system in scores}

    def values(system, bin, field):
        return [seed[bin][field] for seed in scores[system]]

    series = {field: {names[system]: [
        (middle(words), sum(v) / len(v), min(v), max(v)) for bin, words in enumerate(shown) for v in [values(system, bin, field)]]
        for system in scores} for field in (2, 3)}
    end = lines_of({"longest in training": [(LONGEST, 0, 0, 0), (LONGEST, 100, 100, 100)]})
    picture = page.picture("bottleneck", [
        ("title", "Letters copied, by source length; bands are three seeds"), ("x", "letters of the source"),
        ("panel", "sentences all right, %", 0, 100), *lines_of(series[2]), *end,
        ("panel", "wrong letters, %", 0, 100), *lines_of(series[3]), *end],
        "Share of sentences copied without an error, and of letters that are wrong, by length")
    head = ["all right, %: mean (seeds)", *("%s letters" % words.replace("-", "–") for words in shown)]
    rows = [[names[system], *(spread(values(system, bin, 2)) for bin in range(len(shown)))] for system in scores]
    return "\n\n".join([command(found["command"]), picture, table(head, rows)])
