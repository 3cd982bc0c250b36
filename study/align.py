"""align.py -- does attention learn which words belong together? Its links against those made by people."""
from page import command, table
from systems import SYSTEMS, TEXTS, WITH_ATTENTION, Text

DRAWN = tuple(s for s in WITH_ATTENTION if s not in ("mlp", "transformer-none"))  # as many as have room for their names


def gold(lab):
    """The sentences, English as source, and their links turned round to match."""
    english, german = lab.lines("wordalign", "deen.tgt"), lab.lines("wordalign", "deen.src")
    links = []
    for line in lab.lines("wordalign", "deen.gold"):
        turned = []
        for link in line.split():
            sign = "p" if "p" in link else "-"
            i, j = link.split(sign)
            turned.append(j + sign + i)
        links.append(turned)
    return english, german, links


def diagonal(english, german, links):
    """What links along the diagonal would get, without looking at a word: Och & Ney (2003)."""
    n_links = n_sure = hits = sure_hits = 0
    for source, target, right in zip(english, german, links):
        n, m = len(target.split()), len(source.split())
        ours = {(1 + (2 * j + 1) * m // (2 * n), 1 + j) for j in range(n)}
        sure = {tuple(map(int, link.split("-"))) for link in right if "-" in link}
        possible = sure | {tuple(map(int, link.split("p"))) for link in right if "p" in link}
        n_links, n_sure = n_links + len(ours), n_sure + len(sure)
        hits, sure_hits = hits + len(ours & possible), sure_hits + len(ours & sure)
    return {"precision": 100 * hits / n_links, "recall": 100 * sure_hits / n_sure, "aer": 100 * (1 - (hits + sure_hits) / (n_links + n_sure)),
            "links": n_links, "sure": n_sure}


def words_known(lab, text, english, german):
    """Share of the words with gold links, in percent, that the text has as well."""
    shares = []
    for language, lines in (("en", english), ("de", german)):
        known = set(open(text.files["train", language], encoding="utf-8").read().split())
        words = " ".join(lines).split()
        shares.append(100 * sum(word in known for word in words) / len(words))
    return shares


def measure(lab):
    english, german, links = gold(lab)
    files = [lab.write("gold.en", english), lab.write("gold.de", german), "--gold", lab.write("gold.links", map(" ".join, links))]
    for name in TEXTS:
        text = Text(lab, name)
        runs = text.train(WITH_ATTENTION)
        lab.known("align/" + name, [runs, WITH_ATTENTION], lambda: {
            "diagonal": diagonal(english, german, links), "known": words_known(lab, text, english, german),
            "scores": {system: lab.objects("align", "-m", text.models([system]), *files)[-1] for system in WITH_ATTENTION}})


def report(lab, page):
    found = {name: lab.result("align/" + name) for name in TEXTS}
    head = ["attention", "AER on Multi30k", "precision", "recall", "AER on Tatoeba", "precision", "recall"]
    fields = ("aer", "precision", "recall")

    def row(label, cells):
        return [label, *("%.1f" % cells[name][field] for name in TEXTS for field in fields)]
    rows = [row(SYSTEMS[s][0], {name: found[name]["scores"][s] for name in TEXTS}) for s in WITH_ATTENTION]
    rows.append(row("none: the diagonal", {name: found[name]["diagonal"] for name in TEXTS}))
    known = ", ".join("%s %.0f %% of the English and %.0f %% of the German words" % (name.capitalize(), *found[name]["known"]) for name in TEXTS)
    best = {name: min(found[name]["scores"].items(), key=lambda item: item[1]["aer"]) for name in TEXTS}
    picture = page.picture("align", [
        ("title", "Alignment error rate: less is better"), ("x", "attention"), ("bars", "AER, %"),
        *(("group", s) for s in DRAWN), ("group", "diagonal"),
        *(row for name in TEXTS for row in [("series", "learned from " + name.capitalize()), *(
            ("is", "%.4f" % found[name]["scores"][s]["aer"]) for s in DRAWN), ("is", "%.4f" % found[name]["diagonal"]["aer"])])],
        "Alignment error rates of attention learned from two texts, and of the diagonal")
    return "\n\n".join([
        command(["-m", "multi30k-bahdanau.safetensors", "gold.en", "gold.de", "--gold", "gold.links"], "heed align"), picture, table(head, rows),
        "Of the text with gold links, the text that was learned from has: %s." % known,
        " ".join("Best on %s: %s, %.1f; the diagonal gets %.1f." % (
            name.capitalize(), SYSTEMS[s][0], score["aer"], found[name]["diagonal"]["aer"]) for name, (s, score) in best.items())])
