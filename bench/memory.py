#!/usr/bin/env python3
"""memory.py -- what a translation memory is worth, and what it costs.

    bench/memory.py BUILD SHARED [--tune]

A small English-German model that was trained on Tatoeba translates Multi30k, which is about other things, without and with a memory of the first
20,000 lines of Multi30k's training text. Prints BLEU on test2016 and the CPU time of one thread: of a first run, and of the next, which finds what
the remembered sentences make of the model in the file beside the memory. --tune looks for the settings on val instead.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

GRID = {"reach": (0.5, 1, 2, 4), "temperature": (0.05, 0.1, 0.2, 0.4), "share": (0.65, 0.8, 0.9, 0.97), "neighbours": (4, 8, 16),
        "sentences": (8, 16, 24)}


def run(heed, model, source, out, *options):
    """CPU seconds of a translation by one thread."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(out, "wb") as file:
        subprocess.run([heed, "translate", "-q", "-m", model, "-j", "1", "--attention", "none", *map(str, options), source], stdout=file, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bleu(heed, out, reference):
    said = subprocess.run([heed, "eval", "--hyp", out, "--ref", reference, "--metrics", "bleu"], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"BLEU = ([\d.]+)", said)[1])


def tune(heed, model, data, memory, out):
    best, chosen = 0, {"reach": 2, "temperature": 0.2, "share": 0.9, "neighbours": 8, "sentences": 16}
    for name, values in GRID.items():
        for value in values:
            tried = {**chosen, name: value}
            run(heed, model, data / "val.raw.en", out, "--memory", memory, *(x for n, v in tried.items() for x in (f"--memory-{n}", v)))
            score = bleu(heed, out, data / "val.raw.de")
            print(f"{score:6.2f}  {tried}", flush=True)
            if score > best:
                best, chosen = score, tried


def main():
    heed, shared = Path(sys.argv[1]) / "heed", Path(sys.argv[2])
    data, oracle = shared / "data/multi30k", shared / "oracles/marian-ende-transformer"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        model, memory, out = folder / "ende.safetensors", folder / "memory.tsv", folder / "out"
        subprocess.run([heed, "convert", oracle / "model.npz", "--vocab", oracle / "vocab.spm", "-o", model], check=True, stdout=subprocess.DEVNULL)
        with open(data / "train.raw.en") as source, open(data / "train.raw.de") as target, open(memory, "w") as file:
            file.writelines(f"{s.strip()}\t{t.strip()}\n" for (s, t), _ in zip(zip(source, target), range(20000)))
        if "--tune" in sys.argv:
            tune(heed, model, data, memory, out)
            return
        source, reference = data / "test2016.raw.en", data / "test2016.raw.de"
        plain = run(heed, model, source, out)
        without = bleu(heed, out, reference)
        first = run(heed, model, source, out, "--memory", memory)
        then = min(run(heed, model, source, out, "--memory", memory) for _ in range(3))
        plain = min([plain] + [run(heed, model, source, folder / "plain") for _ in range(3)])
        score = bleu(heed, out, reference)
        size = sum(os.path.getsize(f) for f in folder.glob("memory.tsv.*"))
        print(f"test2016: BLEU {without:.2f} without, {score:.2f} with a memory of 20,000 lines")
        print(f"CPU seconds: {plain:.2f} without, {first:.2f} with in the first run, {then:.2f} in the next; {size / 1e6:.0f} MB are kept beside the memory")
        print(f"headline memory_gain_bleu {score - without:.2f}")
        print(f"headline memory_cost {then / plain:.2f}")
        print(f"headline memory_cost_first {first / plain:.2f}")


main()
