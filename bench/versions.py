#!/usr/bin/env python3
"""versions.py -- is a newer build as fast as an older one? Training and searching, the two in turn.

usage: versions.py OLD NEW SHARED PEERS      OLD and NEW are build folders with heed, bench/bench_decode; PEERS is filled by peers.sh

Prints the ratio of the best rounds, above 1 where NEW is faster. For a change of shape, which must cost nothing; wants a quiet machine.
"""
import json
import os
import subprocess
import sys
import tempfile

old, new, shared, peers = sys.argv[1:5]
rounds = int(os.environ.get("ROUNDS", "4"))
text = os.path.join(shared, "data", "tatoeba", "train.en-de")
spm = os.path.join(shared, "oracles", "marian-ende-transformer", "vocab.spm")
COMMON = ["--dropout", "0.1", "--label-smoothing", "0.1", "--clip", "1", "--warmup", "100", "--rate", "0.0003", "--ema", "0",
          "--valid-metric", "ce", "--valid-every", "1000000", "--max-length", "510", "--fresh", "--batch-tokens", "690", "--updates", "100",
          "-j", "2", "-q"]
PLAIN = [w for name in ("vary-punctuation", "vary-case", "vary-quotes", "join", "copy", "placeholders") for w in ("--" + name, "0")]
MODELS = {
    "transformer": ["--arch", "transformer", "--dim", "256", "--ffn", "1024", "--heads", "4", "--layers", "3", "--norm", "post"],
    "gru": ["--arch", "bahdanau", "--dim", "512", "--embed", "256", "--readout", "tanh"],
}


def knows_variation(build):
    return "--vary-case" in subprocess.run([os.path.join(build, "heed"), "train", "--help"], stdout=subprocess.PIPE, text=True,
                                           check=True).stdout


def train_rate(build, model):
    """Target pieces per second from the tenth update on."""
    with tempfile.TemporaryDirectory() as folder:
        dev = os.path.join(folder, "dev")
        with open(dev, "w") as f:
            f.write("a\ta\n")
        subprocess.run([os.path.join(build, "heed"), "train", "--src", text + ".en", "--tgt", text + ".de", "--dev-tsv", dev, "--spm", spm,
                        "--out", os.path.join(folder, "m.safetensors"), *COMMON, *MODELS[model], *(PLAIN if knows_variation(build) else [])],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(folder, "m.jsonl")) as f:
            notes = [n for n in map(json.loads, f) if n["event"] == "update"]
    return (notes[-1]["target_pieces"] - notes[0]["target_pieces"]) / (notes[-1]["seconds"] - notes[0]["seconds"])


def decode_rates(build, arguments, questions):
    """Words per CPU second, by question."""
    process = subprocess.Popen([os.path.join(build, "bench", "bench_decode"), *arguments], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    answers = {}
    for question in questions:
        process.stdin.write(question + "\n")
        process.stdin.flush()
        cpu, _, words = process.stdout.readline().split()
        answers[question] = int(words) / float(cpu)
    process.stdin.close()
    process.wait()
    return answers


def told(name, best):
    print("%-36s old %8.0f, new %8.0f a second: %.3f" % (name, best[old], best[new], best[new] / best[old]), flush=True)


for model in MODELS:
    best = {old: 0, new: 0}
    for _ in range(rounds):
        for build in (old, new):
            best[build] = max(best[build], train_rate(build, model))
    told("train " + model, best)

source = os.path.join(shared, "data", "tatoeba", "test.en-de.en")
QUESTIONS = ("greedy batched words", "greedy batched", "beam5 batched", "greedy single words", "beam5 single")
for label, arguments, questions in (("small", [os.path.join(peers, "small.heed"), source], QUESTIONS),
                                    ("large", [os.path.join(peers, "large.heed"), source, "25", "24"], QUESTIONS[:3]),
                                    ("gru", ["gru", "25", "20"], ("greedy single",))):
    best = {b: dict.fromkeys(questions, 0.0) for b in (old, new)}
    for _ in range(rounds):
        for build in (old, new):
            for question, rate in decode_rates(build, arguments, questions).items():
                best[build][question] = max(best[build][question], rate)
    for question in questions:
        told("decode %s, %s" % (label, question), {b: best[b][question] for b in (old, new)})
