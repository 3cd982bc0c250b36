#!/usr/bin/env python3
"""fit_confidence.py -- the constants behind confidence, and how well they tell.

    heed translate -m MODEL --json dev.src > dev.json
    tools/fit_confidence.py dev.json dev.ref [other.json other.ref...]
    tools/fit_confidence.py --report test.json test.ref [other.json other.ref...]

A word of a translation counts as right when the reference has it too (as often). The chance of that is modelled as
sigmoid(a + b log(p / (1 - p))), p being the word's probability. A translation counts as of use when its chrF is 30 at least; the chance of
that is modelled as sigmoid(c + d w + e l + f s): w is the mean confidence of its words, l the mean log-probability of its subwords, s the log of
its length over the source's (in characters and 5 more), 0 where that is above 0. The six are the likeliest for all texts together (Newton's
method); give text from inside and from outside of what the model was trained on. `heed convert MODEL --confidence A,B,C,D,E,F -o OUT` keeps
them in the model; those for models that have none stand in src/translate/job.c.

--report prints what the confidence in the results is worth: for each text, of the translations that are unsure (below 0.6), how many are below
30 chrF (precision), and of those below 30 chrF, how many are unsure (recall); what confidence promises on average, and what came."""
import collections
import json
import math
import sys

UNSURE, OF_USE = 0.6, 30


def odds(logprob):
    """log(p / (1 - p)), between -20 and 20, as src/translate/assemble.c has it."""
    p = math.exp(logprob)
    return min(20.0, max(-20.0, logprob - math.log(1 - p))) if p < 1 else 20.0


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def chrf(hyp, ref):
    """chrF2 of one sentence, runs of one to six characters."""
    hyp, ref = "".join(hyp.split()), "".join(ref.split())
    precision = recall = orders = 0
    for n in range(1, 7):
        a = collections.Counter(hyp[i:i + n] for i in range(len(hyp) - n + 1))
        b = collections.Counter(ref[i:i + n] for i in range(len(ref) - n + 1))
        if a and b:
            same = sum((a & b).values())
            precision += same / sum(a.values())
            recall += same / sum(b.values())
            orders += 1
    if orders == 0 or precision + recall == 0:
        return 0.0
    return 100 * 5 * (precision / orders) * (recall / orders) / (4 * precision / orders + recall / orders)


def read(results, references):
    """(result, its best translation, reference) of each line."""
    for line, reference in zip(open(results, encoding="utf-8"), open(references, encoding="utf-8")):
        result = json.loads(line)
        yield result, result["translations"][0], reference.rstrip("\n")


def words_of(translation, reference):
    left = collections.Counter(reference.split())
    for word in translation["target_words"]:
        is_right = left[word["text"]] > 0
        left[word["text"]] -= 1
        yield [1.0, odds(word["logprob"])], is_right


def sentence_of(result, translation, a, b):
    words = [sigmoid(a + b * odds(w["logprob"])) for w in translation["target_words"]]
    n = len(translation["subwords"]["target"])
    if not words or n == 0:
        return None
    length = math.log((len(translation["text"]) + 5) / (len(result["source"]) + 5))
    return [1.0, sum(words) / len(words), translation["logprob"] / n, min(0.0, length)]


def solve(matrix, right):
    """matrix x = right, by elimination."""
    rows = [row + [value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(len(rows)):
            if r != i:
                by = rows[r][i] / rows[i][i]
                rows[r] = [x - by * y for x, y in zip(rows[r], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fit(samples):
    """The likeliest weights of a logistic regression, held a little towards 0."""
    n = len(samples[0][0])
    weights = [0.0] * n
    for _ in range(40):
        gradient = [-1e-3 * w for w in weights]
        curvature = [[1e-3 * (i == j) for j in range(n)] for i in range(n)]
        for x, y in samples:
            p = sigmoid(sum(w * v for w, v in zip(weights, x)))
            for i in range(n):
                gradient[i] += (y - p) * x[i]
                for j in range(n):
                    curvature[i][j] += p * (1 - p) * x[i] * x[j]
        weights = [w + s for w, s in zip(weights, solve(curvature, gradient))]
    return weights


def report(name, judged):
    """judged: (confidence, is of use) of each translation."""
    unsure = [not use for told, use in judged if told < UNSURE]
    bad = [told < UNSURE for told, use in judged if not use]
    print(f"{name}: {len(judged)} translations, {len(bad)} below {OF_USE} chrF, {len(unsure)} unsure; "
          f"precision {100 * sum(unsure) / max(1, len(unsure)):.0f} %, recall {100 * sum(bad) / max(1, len(bad)):.0f} %; "
          f"of use {100 * (1 - len(bad) / len(judged)):.1f} %, promised {100 * sum(told for told, _ in judged) / len(judged):.1f} %")


def main():
    is_report = sys.argv[1:2] == ["--report"]
    paths = sys.argv[1 + is_report:]
    if not paths or len(paths) % 2:
        sys.exit(__doc__)
    texts = list(zip(paths[::2], paths[1::2]))
    judged = {}
    if is_report:
        for results, references in texts:
            judged[results] = [(t["confidence"], chrf(t["text"], ref) >= OF_USE) for _, t, ref in read(results, references)]
    else:
        lines = {results: list(read(results, references)) for results, references in texts}
        a, b = fit([word for some in lines.values() for _, t, ref in some for word in words_of(t, ref)])
        samples = {name: [(x, chrf(t["text"], ref) >= OF_USE) for r, t, ref in some
                          for x in [sentence_of(r, t, a, b)] if x] for name, some in lines.items()}
        weights = fit([sample for some in samples.values() for sample in some])
        print("--confidence " + ",".join(f"{w:.3f}" for w in [a, b, *weights]))
        for name, some in samples.items():
            judged[name] = [(sigmoid(sum(w * v for w, v in zip(weights, x))), use) for x, use in some]
    for name, some in judged.items():
        report(name, some)


main()
