"""beam.py -- what a wider beam gains and costs: BLEU and time of two of the models of length.py."""
from page import command, lines_of, table
from systems import SYSTEMS, Text

BEAMS = (1, 2, 5, 10, 20)
MODELS = ("bahdanau", "transformer")


def measure(lab):
    text = Text(lab, "multi30k")
    runs = text.train(MODELS)
    test = text.files["test", "en"], text.files["test", "de"]

    def evaluate():
        found = {model: [] for model in MODELS}
        for beam in BEAMS:
            scores = lab.objects("eval", "-m", text.models(MODELS), *test, "--metrics", "bleu", "--tok", "none", "-b", beam)
            for model, score in zip(MODELS, scores):
                seconds = min(lab.timed("translate", "-m", text.models([model]), "-b", beam, "-j", 1, "-q", test[0]) for _ in range(2))
                interval = score["comparison"]["bleu"]
                found[model].append({"beam": beam, "bleu": score["bleu"]["score"], "low": interval["low"], "high": interval["high"],
                                     "ratio": score["bleu"]["ratio"], "seconds": seconds})
        return found
    lab.known("beam", [runs, BEAMS], evaluate)


def report(lab, page):
    found = lab.result("beam")
    names = {model: SYSTEMS[model][0].replace("`", "") for model in found}
    picture = page.picture("beam", [
        ("title", "A wider beam: what it gains and what it costs, Multi30k"), ("x", "beam"), ("panel", "BLEU"),
        *lines_of({names[m]: [(r["beam"], r["bleu"]) for r in rows] for m, rows in found.items()}), ("panel", "seconds for the test text"),
        *lines_of({names[m]: [(r["beam"], r["seconds"]) for r in rows] for m, rows in found.items()})],
        "BLEU and seconds over the size of the beam for two models")
    head = ["", *("beam %d" % beam for beam in BEAMS)]
    rows = []
    for model, row in found.items():
        rows.append([names[model] + ": BLEU (95 % of samples)", *("%.1f (%.1f to %.1f)" % (r["bleu"], r["low"], r["high"]) for r in row)])
        rows.append([names[model] + ": words over the reference's", *("%.3f" % r["ratio"] for r in row)])
        rows.append([names[model] + ": core-seconds", *("%.1f" % r["seconds"] for r in row)])
    return "\n\n".join([command(["-m", "multi30k-bahdanau.safetensors", "-b", "5", "-j", "1", "multi30k.test.en"], "heed translate"),
                        picture, table(head, rows)])
