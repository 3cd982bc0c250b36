"""parallel.py -- RNNs go word by word, Transformers take all words at once: training speed over batch and length, on one core.

What a core can do at once is a product of many rows. A Transformer's products have a row per word of the batch, a recurrent step's one per sentence:
so small batches cost an RNN its speed and a Transformer less of it. The step of the optimiser is the same for every batch and not what is asked
for; what an update of one pair of single words takes is taken off.
"""
import itertools

from cost import MODELS as COSTS, options, pace
from lab import Missing, say
from page import command, table

MODELS = {"RNN without attention": COSTS["no attention"], "RNN, Bahdanau": COSTS["Bahdanau, additive"], "Transformer": COSTS["Transformer"]}
ROUNDS = 2


def grid(lab):
    """Lengths, and sentences of a batch."""
    return ((8,), (1, 4)) if lab.is_smoke else ((16, 64), (1, 4, 16, 64, 256))


def measure(lab):
    lengths, batches = grid(lab)

    def seconds(model, length, batch):
        return min(pace(lab, model, length, batch)[0] for _ in range(1 if lab.is_smoke else ROUNDS))

    def run():
        found = {}
        for name, model in MODELS.items():
            least = seconds(model, 2, 1)
            for length, batch in itertools.product(lengths, batches):
                say("parallel: %s, %d pieces, batches of %d" % (name, length, batch))
                found["%s/%d/%d" % (name, length, batch)] = length * batch / max(seconds(model, length, batch) - least, 1e-6)
        return {"speeds": found, "command": options(lab, MODELS["Transformer"], lengths[-1], batches[-1])}
    lab.known("parallel", [MODELS, lengths, batches, ROUNDS], run)


def report(lab, page):
    found = lab.result("parallel")
    lengths, batches = grid(lab)
    speeds = {(name, length): [found["speeds"]["%s/%d/%d" % (name, length, batch)] for batch in batches] for name in MODELS for length in lengths}
    picture = page.picture("parallel", [
        ("title", "Training speed by batch size, one core"), ("x", "sentences of a batch"),
        ("bars", "% of its best speed"), *(("group", batch) for batch in batches),
        *(row for (name, length), row_of in speeds.items() if length == lengths[-1]
          for row in [("series", name), *(("is", "%.4f" % (100 * s / max(row_of))) for s in row_of)])],
        "Training speed as a share of the best one, by sentences of a batch, sentences of %d pieces" % lengths[-1])
    head = ["target pieces/s", "pieces of a sentence", *("batch of %d" % batch for batch in batches), "largest over smallest"]
    rows = [[name, length, *("{:,.0f}".format(s) for s in row), "%.1f" % (row[-1] / row[0])] for (name, length), row in speeds.items()]
    parts = [command(found["command"]), picture, table(head, rows)]
    try:
        real = lab.result("length/multi30k")
        parts.append(table(["on Multi30k, 2000 target pieces an update", "target pieces/s", "BLEU"], [
            [label, "{:,.0f}".format(real["runs"][s]["pieces"] / real["runs"][s]["seconds"]), "%.1f" % real["scores"][s]["bleu"]["score"]]
            for s, label in (("every", "RNN, fixed vector at every step"), ("bahdanau", "RNN, Bahdanau"), ("luong", "RNN, Luong"),
                             ("transformer", "Transformer"))]))
    except Missing:
        pass
    return "\n\n".join(parts)
