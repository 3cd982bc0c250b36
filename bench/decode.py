"""decode.py -- searching sentences against CTranslate2 (and PyTorch, if it is there), on the same weights, one thread each.

usage: decode.py BENCH_DECODE SHARED CT2_MODEL      run by `make bench-decode`

Rounds alternate between the two, so that whatever else the machine does meets both; the best round of each counts. Compared are
seconds on a CPU for the same sentences: other programs that want the same CPU do not count.
"""
import os
import subprocess
import sys
import time

bench, shared, ct2_model = sys.argv[1:4]
oracle = os.path.join(shared, "oracles", "marian-ende-transformer")
source = os.path.join(shared, "data", "tatoeba", "test.en-de.en")
rounds = int(os.environ.get("ROUNDS", "3"))

import ctranslate2
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(oracle, "vocab.spm"))
sentences = [pieces.encode(line.strip(), out_type=str) + ["</s>"] for line in open(source)]
translator = ctranslate2.Translator(ct2_model, device="cpu", compute_type="float32", inter_threads=1, intra_threads=1)


def theirs(beam, is_single):
    """Seconds, best of its two ways to make batches."""
    if is_single:
        start = time.process_time()
        for sentence in sentences[:200]:
            translator.translate_batch([sentence], beam_size=beam, return_scores=False)
        return time.process_time() - start
    best = 1e9
    for size, kind in ((1024, "tokens"), (32, "examples")):
        start = time.process_time()
        translator.translate_batch(sentences, beam_size=beam, max_batch_size=size, batch_type=kind, return_scores=False)
        best = min(best, time.process_time() - start)
    return best


heed = subprocess.Popen([bench, os.path.join(oracle, "model.npz"), os.path.join(oracle, "vocab.spm"), source],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ours(question):
    heed.stdin.write(question + "\n")
    heed.stdin.flush()
    cpu, clock, words = heed.stdout.readline().split()
    return float(cpu), float(clock), int(words)


headlines = []
for name, beam, is_single in (("greedy", 1, False), ("beam5", 5, False), ("single", 1, True), ("single_beam5", 5, True)):
    question = "%s %s" % ("beam5" if beam == 5 else "greedy", "single" if is_single else "batched")
    mine, other = [], []
    for _ in range(rounds):
        mine.append(ours(question))
        other.append(theirs(beam, is_single))
    best = min(mine)
    print("%-13s heed %7.0f words/s, %6.3f s; CTranslate2 %6.3f s; rounds %s" % (
        name, best[2] / best[0], best[0], min(other),
        " ".join("%.2f" % (o / m[0]) for m, o in zip(mine, other))), flush=True)
    headlines.append(("decode_fp32_%s_vs_ct2" % name, min(other) / best[0]))
one, two = [], []
for _ in range(rounds):
    one.append(ours("greedy batched")[1])
    two.append(ours("greedy threads")[1])
print("two threads: %.3f s on the clock, one: %.3f s" % (min(two), min(one)))
with open("/proc/%d/status" % heed.pid) as status:
    resident = [int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")][0]
for name, value in headlines:
    print("headline %s %.2f" % (name, value))
print("headline decode_mb_over_file %.1f" % (resident - os.path.getsize(os.path.join(oracle, "model.npz")) / 1e6))
heed.stdin.close()
