#!/usr/bin/env python3
"""fit_confidence.py -- the two constants behind a word's confidence, and how well they tell.

    heed translate -m MODEL --json dev.src > dev.json
    tools/fit_confidence.py dev.json dev.ref [test.json test.ref]

A word of a translation counts as right when the reference has it too (as often). The chance of that is modelled as
sigmoid(a + b log(p / (1 - p))), p being the word's probability; a and b are the likeliest for the first text (Newton's method). Then, for
each text, a table: of the words with a confidence in each tenth, how many were right. The constants stand in
src/translate/job.c; a model may have its own, "confidence": [a, b] in its record."""
import collections
import json
import math
import sys


def odds(logprob):
    """log(p / (1 - p)), between -20 and 20, as src/translate/assemble.c has it."""
    p = math.exp(logprob)
    return min(20.0, max(-20.0, logprob - math.log(1 - p))) if p < 1 else 20.0


def words_of(results, references):
    """(log(p / (1 - p)), is right) of every word of the best translations."""
    for line, reference in zip(open(results, encoding="utf-8"), open(references, encoding="utf-8")):
        left = collections.Counter(reference.split())
        for word in json.loads(line)["translations"][0]["target_words"]:
            is_right = left[word["text"]] > 0
            left[word["text"]] -= 1
            yield odds(word["logprob"]), is_right


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def fit(words):
    a, b = 0.0, 0.5
    for _ in range(50):
        ga = gb = haa = hab = hbb = 0.0
        for x, y in words:
            p = sigmoid(a + b * x)
            ga += y - p
            gb += (y - p) * x
            w = p * (1 - p)
            haa += w
            hab += w * x
            hbb += w * x * x
        det = haa * hbb - hab * hab
        a += (hbb * ga - hab * gb) / det
        b += (haa * gb - hab * ga) / det
    return a, b


def show(name, words, a, b):
    bins = [[0, 0, 0.0] for _ in range(10)]
    for x, y in words:
        p = sigmoid(a + b * x)
        one = bins[min(9, int(10 * p))]
        one[0] += 1
        one[1] += y
        one[2] += p
    error = sum(abs(right - told) for _, right, told in bins) / len(words)
    print(f"{name}: {len(words)} words, {100 * sum(y for _, y in words) / len(words):.1f} % right; "
          f"confidence is off by {100 * error:.1f} % on average")
    for i, (n, right, told) in enumerate(bins):
        if n:
            print(f"  {i / 10:.1f} to {(i + 1) / 10:.1f}  {n:6d} words  told {told / n:.2f}  right {right / n:.2f}")


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    dev = list(words_of(sys.argv[1], sys.argv[2]))
    a, b = fit(dev)
    print(f"a = {a:.3f}, b = {b:.3f}")
    show(sys.argv[1], dev, a, b)
    if len(sys.argv) == 5:
        show(sys.argv[3], list(words_of(sys.argv[3], sys.argv[4])), a, b)


main()
