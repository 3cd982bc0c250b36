#!/usr/bin/env python3
"""check_hf.py -- does heed translate a folder of transformers as transformers does?

    tools/check_hf.py FOLDER MODEL.safetensors TEXT [--lines 200] [--beam 5] [--before '>>fr<< ']

FOLDER was converted to MODEL, or MODEL to FOLDER (heed convert). TEXT has a sentence a line. Prints how many greedy and beam outputs
are the same texts, and how far apart the log-probabilities of the greedy outputs are. HEED names the program (build/heed).

Needs transformers, torch and sentencepiece (PyPI).
"""
import argparse
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

HEED = os.environ.get("HEED", "build/heed")
PLAIN = ["--split", "never", "--protect", "no", "--restore-case", "no", "--loops", "keep", "-q"]


def heed(*arguments, lines=()):
    done = subprocess.run([HEED, *arguments], input="".join(line + "\n" for line in lines), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout.split("\n")[:-1]


def groups_of(tokenizer, lines, most=25):
    """Lines of as many subwords each, so that nothing is padded and all have the same limit: their numbers, and their ids."""
    ids = [tokenizer(line).input_ids for line in lines]
    order = sorted(range(len(lines)), key=lambda i: len(ids[i]))
    while order:
        group = [i for i in order[:most] if len(ids[i]) == len(ids[order[0]])]
        order = order[len(group):]
        yield group, torch.tensor([ids[i] for i in group])


def log_probability(model, ids, out):
    """Of an output, begin and end with it."""
    logits = model(input_ids=ids, decoder_input_ids=out[None, :-1]).logits[0].clone()
    logits[:, model.config.pad_token_id] = -float("inf")
    return logits.log_softmax(-1).gather(1, out[1:, None]).sum().item()


def generate(model, tokenizer, lines, beam):
    texts, scores = [""] * len(lines), [0.0] * len(lines)
    end = model.config.eos_token_id
    for group, ids in groups_of(tokenizer, lines):
        found = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), num_beams=beam, do_sample=False, length_penalty=1.0,
                               early_stopping=False, bad_words_ids=[[model.config.pad_token_id]], max_length=3 * ids.shape[1] + 51)
        for i, source, out in zip(group, ids, found):
            stop = (out[1:] == end).nonzero()
            out = out[:stop[0, 0] + 2] if len(stop) > 0 else out
            texts[i] = tokenizer.decode(out, skip_special_tokens=True)
            scores[i] = log_probability(model, source[None], out) if beam == 1 else 0.0
    return texts, scores


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--longest", type=int, default=120, help="characters of a line")
    parser.add_argument("--scores-alone", action="store_true", help="only log-probabilities, for random models")
    args = parser.parse_args()
    with open(args.text, encoding="utf-8") as f:
        lines = [line for line in f.read().split("\n") if 0 < len(line) < args.longest][:args.lines]
    tokenizer = AutoTokenizer.from_pretrained(args.folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(args.folder).eval()
    with torch.no_grad():
        if args.scores_alone:
            greedy, scores = lines[::-1], []
            for a, b in zip(lines, greedy):
                y = torch.tensor([model.config.decoder_start_token_id] + tokenizer(text_target=b).input_ids)
                scores.append(log_probability(model, tokenizer(a, return_tensors="pt").input_ids, y))
        else:
            greedy, scores = generate(model, tokenizer, lines, 1)
            best, _ = generate(model, tokenizer, lines, args.beam)
            for name, theirs, beam in (("greedy", greedy, 1), ("beam %d" % args.beam, best, args.beam)):
                ours = heed("translate", "-m", args.model, "-b", str(beam), *PLAIN, lines=lines)
                same = sum(a.strip() == b.strip() for a, b in zip(ours, theirs))
                print("%s: %d of %d outputs are the same" % (name, same, len(lines)))
                for source, a, b in [x for x in zip(lines, ours, theirs) if x[1].strip() != x[2].strip()][:5]:
                    print("    %s\n      heed:         %s\n      transformers: %s" % (source, a, b))
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("source", "target")]
        for path, texts in zip(paths, (lines, greedy)):
            with open(path, "w", encoding="utf-8") as f:
                f.writelines(text + "\n" for text in texts)
        told = heed("score", "-m", args.model, *paths)
    differences = sorted(abs(float(a.split()[0]) - b) for a, b in zip(told, scores))
    print("log-probabilities of %d outputs: %.2g off in the middle, %.2g at most" %
          (len(differences), differences[len(differences) // 2], differences[-1]))


if __name__ == "__main__":
    main()
