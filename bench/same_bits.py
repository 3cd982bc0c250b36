#!/usr/bin/env python3
"""same_bits.py -- two builds of heed compute the same: for a change of shape that must change no result.

    bench/same_bits.py OLD/build/heed NEW/build/heed [--shared FOLDER] [--work FOLDER] [--lines N]

Ten short trainings on real text (every preset, dropout with subword sampling, averages, R-Drop, two ranks) must end in the same
sha256 of every tensor; N lines (2,000) translated by the model inside must have the same JSON: words, scores, attention;
and so must scores and alignments of given pairs. Members that only the newer build writes are left out of the comparison.
Exits 1 with the first differences. It is not a measurement: the machine may be busy.
"""
import argparse
import hashlib
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

COMMON = ["--vocab-size", "1000", "--dim", "48", "--batch-tokens", "512", "--updates", "24", "--valid-every", "12", "--valid-metric", "ce",
          "--seed", "3", "--threads", "2", "--quiet", "--fresh"]
TRANSFORMER = ["--arch", "transformer", "--ffn", "96", "--heads", "4", "--layers", "2"]
RUNS = {
    "seq2seq": ["--arch", "seq2seq"],
    "bahdanau": ["--arch", "bahdanau"],
    "luong": ["--arch", "luong"],
    "wang": ["--arch", "wang"],
    "ferreira": ["--arch", "ferreira"],
    "transformer": TRANSFORMER,
    "transformer-sampled": TRANSFORMER + ["--dropout", "0.2", "--subword-sampling", "0.2", "--spm-type", "bpe", "--norm", "post"],
    "bahdanau-sampled": ["--arch", "bahdanau", "--cell", "lstm", "--coverage", "yes", "--dropout", "0.3", "--subword-sampling", "0.1",
                         "--word-dropout", "0.1", "--average", "2"],
    "rdrop": TRANSFORMER + ["--rdrop", "1", "--dropout", "0.2", "--accumulate", "2", "--schedule", "cosine", "--warmup", "4"],
    "ranks": TRANSFORMER + ["--dropout", "0.1"],
}


def tensors(path):
    """sha256 of every tensor of a safetensors file."""
    data = Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: hashlib.sha256(data[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]]).hexdigest()
            for name, t in header.items()}


def run(command, stdin=None):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"same_bits: {' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def train(heed, name, options, text, work):
    out = work / f"{name}.safetensors"
    launch = ["mpirun", "-n", "2"] if name == "ranks" else []
    run(launch + [heed, "train", "--src", text[0], "--tgt", text[1], "--out", out] + COMMON + options)
    return tensors(out)


def without(new, old):
    """`new` less the members that `old` does not have."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {k: without(v, old[k]) for k, v in new.items() if k in old}
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [without(a, b) for a, b in zip(new, old)]
    return new


def same_lines(what, old, new, is_json):
    old, new = old.splitlines(), new.splitlines()
    bad = len(old) != len(new)
    for i, (a, b) in enumerate(zip(old, new)):
        if is_json:
            a, b = json.loads(a), json.loads(b)
            b = without(b, a)
        if a != b:
            bad = True
            print(f"  {what}, line {i + 1}:\n    old {str(a)[:300]}\n    new {str(b)[:300]}")
            break
    print(f"{'DIFFERS' if bad else 'same   '} {what}: {len(old)} lines")
    return not bad


def main():
    ask = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ask.add_argument("old")
    ask.add_argument("new")
    ask.add_argument("--shared", default="../shared")
    ask.add_argument("--work", default="build/same_bits")
    ask.add_argument("--lines", type=int, default=2000)
    args = ask.parse_args()
    data = Path(args.shared) / "data"
    work = {side: Path(args.work) / side for side in ("old", "new")}
    for folder in work.values():
        folder.mkdir(parents=True, exist_ok=True)
    text = []
    for lang in ("en", "fr"):
        lines = (data / f"tatoeba/train.en-fr.{lang}").read_text(encoding="utf-8").splitlines()[:4000]
        text.append(Path(args.work) / f"train.{lang}")
        text[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    ok = True
    for name, options in RUNS.items():
        sums = {side: train(heed, name, options, text, work[side]) for side, heed in (("old", args.old), ("new", args.new))}
        different = sorted(k for k in sums["old"] if sums["new"].get(k) != sums["old"][k])
        ok = ok and not different
        print(f"{'DIFFERS' if different else 'same   '} training {name}: {len(sums['old'])} tensors"
              + (f", not {', '.join(different[:5])}" if different else ""), flush=True)
    source = (data / "tatoeba/test.en-fr.en").read_text(encoding="utf-8").splitlines()
    target = (data / "tatoeba/test.en-fr.fr").read_text(encoding="utf-8").splitlines()
    source += (data / "multi30k/test2016.raw.en").read_text(encoding="utf-8").splitlines()
    target += (data / "multi30k/test2016.raw.fr").read_text(encoding="utf-8").splitlines()
    source, target = source[:args.lines], target[:args.lines]
    paths = [Path(args.work) / "pairs.en", Path(args.work) / "pairs.fr"]
    for path, lines in zip(paths, (source, target)):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rnn = {side: work[side] / "bahdanau-sampled.safetensors" for side in work}
    for what, options, is_json, with_rnn in (
            ("translate, beam 5", ["translate", "--json", paths[0]], True, False),
            ("translate, greedy", ["translate", "-b", "1", paths[0]], False, False),
            ("translate, 4 best", ["translate", "-b", "6", "--n-best", "4", "--length-norm", "gnmt:0.7", "--coverage-penalty", "0.2",
                                   paths[0]], False, False),
            ("translate, samples", ["translate", "--sample", "topk=20", "--n-best", "3", "--seed", "5", paths[0]], False, False),
            ("translate, layer and head", ["translate", "-b", "2", "--json", "--layer", "1", "--head", "2", paths[0]], True, False),
            ("score", ["score", "--words"] + paths, False, False),
            ("align", ["align", "--soft"] + paths, False, False),
            ("a recurrent model", ["translate", "--json", "-b", "3", "--max-length", "1", paths[0]], True, True)):
        out = {}
        for side, heed in (("old", args.old), ("new", args.new)):
            model = ["-m", rnn[side]] if with_rnn else ["-m", "default"]
            out[side] = run([heed, options[0]] + model + ["-q"] * (options[0] == "translate") + options[1:])
        ok = same_lines(what, out["old"], out["new"], is_json) and ok
    print("everything is the same" if ok else "not everything is the same")
    return 0 if ok else 1


sys.exit(main())
