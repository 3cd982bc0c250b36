"""cost.py -- what a longer sentence costs: time and memory of an update over m = t, without attention O(m + t), with it O(m t).

An update is four sentences, as many target pieces as heed keeps on one tape at m = 256; nothing of a batch is cut, so that memory is that of
the four. Words are drawn at random: nothing is to be learned, and nothing depends on it.
"""
import math
import random

from lab import say
from page import command, lines_of, table

SENTENCES = 4
ROUNDS = 3
MODELS = {
    "no attention": ["--arch", "bahdanau", "--score", "none", "--start", "last", "--context", "first"],
    "Bahdanau, additive": ["--arch", "bahdanau"],
    "Bahdanau, dot": ["--arch", "bahdanau", "--score", "dot"],
    "Transformer": ["--arch", "transformer", "--layers", "2", "--heads", "4", "--ffn", "512"],
}


def pieces(lab):
    """Lengths of both sides, end markers included."""
    return (8, 16) if lab.is_smoke else (8, 16, 32, 64, 128, 192, 256)


def noise(lab, length, n):
    """n pairs of so many pieces a side."""
    chance = random.Random(length)

    def side():
        return " ".join("w%d" % chance.randrange(50) for _ in range(length - 1))
    return lab.write("noise.%d.%d.tsv" % (length, n), [side() + "\t" + side() for _ in range(n)])


def options(lab, model, length, sentences):
    """Of a training whose updates are so many sentences of so many pieces."""
    return ["--tsv", noise(lab, length, 20 * sentences), "--dev-tsv", lab.write("noise.dev.tsv", ["w1\tw2"]), "--tokens", "words",
            "--max-length", 1024, "--dim", 128, "--embed", 128, *model, "--batch-tokens", sentences * length, "--shards", 1]


def pace(lab, model, length, sentences):
    """Seconds of an update, over as many updates as give some ten thousand pieces, and MB."""
    n_updates = 10 if lab.is_smoke else min(max(10, 20000 // (length * sentences)), 400)
    return lab.pace(options(lab, model, length, sentences), n_updates)


def measure(lab):
    def run():
        found = {name: [] for name in MODELS}
        for length in pieces(lab):
            for name, model in MODELS.items():
                rounds = [pace(lab, model, length, SENTENCES) for _ in range(1 if lab.is_smoke else ROUNDS)]
                seconds = [one[0] for one in rounds]
                found[name].append({"length": length, "seconds": min(seconds), "most": max(seconds), "memory": min(one[1] for one in rounds)})
            say("cost: %d pieces done" % length)
        return {"runs": found, "command": options(lab, MODELS["Bahdanau, additive"], pieces(lab)[-1], SENTENCES)}
    lab.known("cost", [MODELS, pieces(lab), SENTENCES, ROUNDS], run)


def slope(points):
    """The exponent p of y = c x^p, by least squares of the logarithms."""
    x, y = [math.log(p[0]) for p in points], [math.log(p[1]) for p in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def two_parts(points):
    """a and b of y = a x + b x², by least squares of y / x = a + b x."""
    x, y = [p[0] for p in points], [p[1] / p[0] for p in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    b = sum((u - mx) * (v - my) for u, v in zip(x, y)) / sum((u - mx) ** 2 for u in x)
    return my - b * mx, b


def growth(memory):
    """What the last doubling adds over what the one before added."""
    if not {64, 128, 256} <= set(memory):
        return "–"
    return "%.1f" % ((memory[256] - memory[128]) / max(memory[128] - memory[64], 1e-9))


def report(lab, page):
    found = lab.result("cost")
    runs = found["runs"]
    lengths = [one["length"] for one in runs["no attention"]]
    long = [length for length in lengths if length >= 64] or lengths
    times = {name: [(one["length"], one["seconds"]) for one in run] for name, run in runs.items()}
    memory = {name: [(one["length"], one["memory"]) for one in run] for name, run in runs.items()}
    picture = page.picture("cost", [
        ("title", "Cost of an update of four sentences, by their length"), ("x", "tokens of each side, m = t"),
        ("panel", "ms per target token"), *lines_of({n: [(m, 1000 * s / m / SENTENCES) for m, s in run] for n, run in times.items()}),
        ("panel", "peak of memory, MB"), *lines_of(memory)],
        "Milliseconds per target token and megabytes, by sentence length")
    head = ["ms per update", *lengths, "exponent from %d on" % long[0], "quadratic part at %d" % lengths[-1]]
    rows = []
    for name, points in times.items():
        a, b = two_parts([p for p in points if p[0] in long])
        last = lengths[-1]
        rows.append([name, *("%.1f" % (1000 * s) for _, s in points), "%.2f" % slope([p for p in points if p[0] in long]),
                     "%.0f %%" % (100 * b * last / (a + b * last))])
    spread = max(one["most"] / one["seconds"] for run in runs.values() for one in run)
    more = [[name, *("%.0f" % mb for _, mb in points), growth(dict(points))] for name, points in memory.items()]
    return "\n\n".join([
        command(found["command"]), picture, table(head, rows), table(["MB at most", *lengths, "growth"], more),
        "Seconds of computing, the best of %d rounds; the worst of them is up to %.0f %% more. The exponent p is that of "
        "seconds = c·mᵖ, fitted from %d pieces on; the quadratic part is that of b in a·m + b·m², fitted likewise. Growth of memory is what the last doubling of the length adds over "
        "what the one before added: 2 where memory is linear, 4 where it is quadratic." % (
            ROUNDS, 100 * (spread - 1), long[0])])
