"""frames.py -- does attention over sound go from left to right? Nobody tells it to: a decoder may look at any position at any step.

A model of recipes/an4-letters.conf spells recordings of speakers that it never heard; where each letter looked is the position of its largest weight.
"""
import pathlib

from lab import Missing, SOURCES
from page import command, table

RECIPE = pathlib.Path(__file__).resolve().parent.parent / "recipes" / "an4-letters.conf"


def options(lab):
    folder = lab.shared / "data" / "speech" / "an4"
    if not folder.exists():
        raise Missing("%s is not there; SHARED=folder says where the text is, %s" % (folder, SOURCES["speech"]))
    lines = [line.split("=", 1) for line in RECIPE.read_text(encoding="utf-8").splitlines() if "=" in line and not line.startswith("#")]
    of_recipe = [word for name, value in lines for word in ("--" + name.strip(), value.strip())]
    return ["--src", folder / "train.safetensors", "--tgt", folder / "train.letters", "--dev-src", folder / "dev.safetensors",
            "--dev-tgt", folder / "dev.letters", *of_recipe]


def look(lines):
    """Of texts in JSON: how often attention goes on, stays and goes back from letter to letter, and by how much of the recording."""
    ways, back, right, weights, n = {"on": 0, "stays": 0, "back": 0}, [], 0, 0.0, 0
    for line in lines:
        alpha = line["translations"][0]["attention"]
        places = [max(range(len(row)), key=row.__getitem__) for row in alpha]
        for before, now, row in zip(places, places[1:], alpha[1:]):
            ways["on" if now > before else "stays" if now == before else "back"] += 1
            back += [(before - now) / len(row)] if now < before else []
            weights += sum(row[before:])
            n += 1
        right += places == sorted(places)
    return {"steps": n, "ways": ways, "back": sum(back) / len(back) if back else 0, "weights": weights / max(n, 1), "sorted": right, "lines": len(lines)}


def measure(lab):
    test = lab.shared / "data" / "speech" / "an4" / "test.safetensors"
    asked = options(lab)
    run = lab.train("frames", asked)
    lab.known("frames", run, lambda: look(lab.objects("translate", "-m", lab.model("frames"), test)))


def report(lab, page):
    f = lab.result("frames")
    share = {way: "%.1f %%" % (100 * n / max(f["steps"], 1)) for way, n in f["ways"].items()}
    rows = [["the position of the largest weight goes on", share["on"]], ["stays", share["stays"]],
            ["goes back", "%s, by %.1f %% of the recording on average" % (share["back"], 100 * f["back"])],
            ["weight at the last letter's position or behind it", "%.1f %%" % (100 * f["weights"])],
            ["recordings in which it never goes back", "%d of %d" % (f["sorted"], f["lines"])]]
    asked = ["--src", "train.safetensors", "--tgt", "train.letters", "--dev-src", "dev.safetensors", "--dev-tgt", "dev.letters", "--config",
             "recipes/" + RECIPE.name]
    return "\n\n".join([command(asked + ["--out", "frames.safetensors"]).replace("--config an4", "--config recipes/an4"),
                        "```\nheed translate -m frames.safetensors --json test.safetensors\n```",
                        table(["from letter to letter, %d steps" % f["steps"], ""], rows)])
