#!/usr/bin/env python3
"""glossary.py -- what --glossary is worth: sentences whose reference has a term that the plain output lacks.

    bench/glossary.py BUILD SHARED [N]

Terms come from word statistics: of each pair of words of the training text the Dice coefficient; of a dev sentence, a source word and its best
partner in the reference that the plain translation lacks. Every sentence has a glossary of its one term. Prints how many outputs have their term,
BLEU without and with glossaries, and the time.
"""
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def words(line):
    return [w for w in WORD.findall(line) if len(w) > 3]


def lines(path, n=None):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line, _ in zip(file, range(n or 10 ** 9))]


def association(source, target):
    """dice[s][t] of words that are together more than once."""
    n_source, n_target, n_both = Counter(), Counter(), Counter()
    for s, t in zip(source, target):
        ws, wt = set(map(str.lower, words(s))), set(map(str.lower, words(t)))
        n_source.update(ws)
        n_target.update(wt)
        n_both.update((a, b) for a in ws for b in wt)
    return {pair: 2 * n / (n_source[pair[0]] + n_target[pair[1]]) for pair, n in n_both.items() if n > 1}


def has(text, term):
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.I) is not None


def best_term(dice, source, reference, output):
    best = (0.1, None, None)
    for s in words(source):
        for t in words(reference):
            d = dice.get((s.lower(), t.lower()), 0)
            if d > best[0] and not has(output, t) and source.count(s) == 1:
                best = (d, s, t)
    return best[1:]


def main():
    build, shared, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 500
    data, heed = shared / "data/tatoeba", build / "heed"
    dice = association(lines(data / "train.en-fr.en", 60000), lines(data / "train.en-fr.fr", 60000))
    source, reference = lines(data / "dev.en-fr.en"), lines(data / "dev.en-fr.fr")
    source += lines(data / "test.en-fr.en")  # dev alone has fewer such sentences
    reference += lines(data / "test.en-fr.fr")
    run = lambda args, text: subprocess.run([heed, "translate", *args], input=text, capture_output=True, text=True,
                                            check=True).stdout
    plain = run([], "".join(s + "\n" for s in source)).splitlines()
    chosen = []
    for s, r, o in zip(source, reference, plain):
        term, translation = best_term(dice, s, r, o)
        if term and len(chosen) < most:
            lower = translation if translation not in r.split()[0] else translation.lower()
            chosen.append((s, r, o, term.lower(), lower))
    with tempfile.TemporaryDirectory() as folder:
        glossary, out, n_there, seconds = Path(folder) / "g.tsv", [], 0, [0.0, 0.0]
        for s, _, _, term, translation in chosen:
            glossary.write_text(f"{term}\t{translation}\n", encoding="utf-8")
            for k, args in enumerate(([], ["--glossary", str(glossary)])):
                begin = time.perf_counter()
                said = run(args, s + "\n").rstrip("\n")
                seconds[k] += time.perf_counter() - begin
            out.append(said)
            n_there += has(said, translation)
        Path(folder, "ref").write_text("".join(c[1] + "\n" for c in chosen), encoding="utf-8")
        for name, hyps in (("plain", [c[2] for c in chosen]), ("glossary", out)):
            path = Path(folder, name)
            path.write_text("".join(h + "\n" for h in hyps), encoding="utf-8")
            score = subprocess.run([heed, "eval", "--hyp", path, "--ref", Path(folder, "ref"), "--metrics", "bleu"],
                                   capture_output=True, text=True, check=True).stdout.split("\n")[0]
            print(f"{name:10} {score}")
        for c, said in list(zip(chosen, out))[:int(sys.argv[4]) if len(sys.argv) > 4 else 0]:
            print(f"  {c[3]} = {c[4]}: {c[0]}\n    {c[2]}\n    {said}\n    {c[1]}")
    print(f"{len(chosen)} sentences; the term is there in {n_there} ({100 * n_there / len(chosen):.1f} %)")
    print(f"a sentence, program start included: {1e3 * seconds[0] / len(chosen):.1f} ms plain, "
          f"{1e3 * seconds[1] / len(chosen):.1f} ms with its glossary")
    print(f"headline glossary_terms {n_there / len(chosen):.4f}")


if __name__ == "__main__":
    main()
