"""length.py -- is a fixed vector a bottleneck? BLEU by source length, on real text, with and without attention."""
from page import command, table
from systems import SYSTEMS, TEXTS, Text

DRAWN = ("first", "every", "bahdanau", "luong", "transformer")
FEW = 30  # sentences: of fewer, a score says nothing


def evaluate(lab, text, systems):
    found = lab.objects("eval", "-m", text.models(systems), text.files["test", "en"], text.files["test", "de"], "--metrics", "bleu",
                        "--tok", "none", "--by-length")
    return dict(zip(systems, found))


def measure(lab):
    systems = tuple(SYSTEMS)
    for name in TEXTS:
        text = Text(lab, name)
        runs = text.train(systems)
        lab.known("length/" + name, [runs, systems], lambda: {
            "runs": runs, "scores": evaluate(lab, text, systems), "command": text.options("bahdanau")})


def bins(score):
    """{words: (BLEU, sentences)}"""
    return {row["words"]: (row["bleu"]["score"], row["sentences"]) for row in score["by_length"]}


def name_of(system):
    return SYSTEMS[system][0].replace("`", "")


def report_text(lab, page, name):
    found = lab.result("length/" + name)
    scores, runs = found["scores"], found["runs"]
    shown = [words for words, (_, n) in bins(scores["bahdanau"]).items() if n >= FEW or lab.is_smoke]
    counts = [bins(scores["bahdanau"])[words][1] for words in shown]
    rows = []
    for system, score in scores.items():
        c = score["comparison"]["bleu"]
        rows.append([SYSTEMS[system][0], "%.1f (%.1f to %.1f)" % (score["bleu"]["score"], c["low"], c["high"]),
                     "–" if system == "bahdanau" else "%+.1f (p %.3f)" % (c["difference"], c["p"]),
                     *("%.1f" % bins(score)[words][0] for words in shown),
                     "%.2f" % (runs[system]["parameters"] / 1e6), "%.1f" % (runs[system]["seconds"] / 60)])
    head = ["system", "BLEU, 95 % of samples", "against Bahdanau",
            *("%s words (%d)" % (words.replace("-", "–"), n) for words, n in zip(shown, counts)), "million parameters", "core-minutes"]
    drawn = [system for system in DRAWN if system in scores]
    picture = page.picture("length-" + name, [
        ("title", "BLEU by source length, %s" % name.capitalize()), ("x", "words of the source"), ("bars", "BLEU"),
        *(("group", words.replace("-", "–"), n) for words, n in zip(shown, counts)),
        *(row for system in drawn for row in [("series", name_of(system)), *(("is", "%.4f" % bins(scores[system])[w][0]) for w in shown)])],
        "BLEU by words of the source for %s" % ", ".join(map(name_of, drawn)))
    falls = ["%s %+.1f" % (name_of(s), bins(scores[s])[shown[-1]][0] - bins(scores[s])[shown[0]][0]) for s in drawn]
    run = runs["bahdanau"]
    return "\n\n".join([
        "**%s**: %d updates, %.1f passes over the text, seed 1; beam 5." % (
            name.capitalize(), found["command"][found["command"].index("--updates") + 1], run["epochs"]),
        command(found["command"]), picture, table(head, rows),
        "From %s words to %s, BLEU changes by: %s." % (shown[0].replace("-", "–"), shown[-1].replace("-", "–"), ", ".join(falls))])


def report(lab, page):
    return "\n\n".join(report_text(lab, page, name) for name in TEXTS)
