"""decode.py -- searching sentences against CTranslate2 (and PyTorch, if it is there), on the same weights, one thread each.

usage: decode.py BENCH_DECODE SHARED CT2_MODEL      run by `make bench-decode`, which makes ende.heed beside CT2_MODEL

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


def start(*arguments):
    return subprocess.Popen([bench] + list(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(program, question):
    program.stdin.write(question + "\n")
    program.stdin.flush()
    cpu, clock, words = program.stdout.readline().split()
    return float(cpu), float(clock), int(words)


model = os.path.join(os.path.dirname(ct2_model), "ende.heed")
heed = start(model, "-", source)


def ours(question):
    return ask(heed, question)


headlines = []
# Greedy words are asked for without their probabilities on both sides; with them, ours are measured beside.
for name, beam, is_single, question in (
        ("greedy", 1, False, "greedy batched words"), ("greedy_scored", 1, False, "greedy batched"),
        ("beam5", 5, False, "beam5 batched"), ("single", 1, True, "greedy single words"),
        ("single_scored", 1, True, "greedy single"), ("single_beam5", 5, True, "beam5 single")):
    mine, other = [], []
    for _ in range(rounds):
        mine.append(ours(question))
        other.append(theirs(beam, is_single))
    best = min(mine)
    print("%-14s heed %7.0f words/s, %6.3f s; CTranslate2 %6.3f s; rounds %s" % (
        name, best[2] / best[0], best[0], min(other),
        " ".join("%.2f" % (o / m[0]) for m, o in zip(mine, other))), flush=True)
    headlines.append(("decode_fp32_%s_vs_ct2" % name, min(other) / best[0]))
with open("/proc/%d/status" % heed.pid) as status:
    resident = [int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM")][0]
one, two = [], []
for _ in range(rounds):
    one.append(ours("greedy batched")[1])
    two.append(ours("greedy threads")[1])
print("two threads: %.3f s on the clock, one: %.3f s" % (min(two), min(one)))
heed.stdin.close()


def against_torch():
    """A GRU with additive attention, one sentence of 25 words at a time, 25 words out."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not there: decode_gru_single_vs_torch is left out")
        return
    torch.set_num_threads(1)
    words, n, embed, half, dim = 25, 20, 256, 256, 512
    table, encoder = torch.nn.Embedding(8000, embed), torch.nn.GRU(embed, half, batch_first=True, bidirectional=True)
    begin, cell = torch.nn.Linear(half, dim), torch.nn.GRUCell(embed + 2 * half, dim)
    W, U, v = torch.nn.Linear(dim, dim, bias=False), torch.nn.Linear(2 * half, dim), torch.nn.Linear(dim, 1, bias=False)
    output = torch.nn.Linear(dim, 8000)

    def theirs():
        start = time.process_time()
        with torch.inference_mode():
            for i in range(n):
                h, _ = encoder(table(torch.arange(i, i + words).unsqueeze(0)))
                keys, s, y = U(h), torch.tanh(begin(h[:, 0, half:])), torch.zeros(1, dtype=torch.long)
                for _ in range(words):
                    e = v(torch.tanh(keys + W(s).unsqueeze(1))).squeeze(-1)
                    c = torch.bmm(torch.softmax(e, -1).unsqueeze(1), h).squeeze(1)
                    s = cell(torch.cat([table(y), c], -1), s)
                    y = output(s).argmax(-1)
        return time.process_time() - start

    gru = start("gru", str(words), str(n))
    mine, other = [], []
    for _ in range(rounds + 1):
        mine.append(ask(gru, "greedy single")[0])
        other.append(theirs())
    gru.stdin.close()
    print("GRU, one sentence at a time: heed %.2f ms, PyTorch %s %.2f ms" % (
        1e3 * min(mine) / n, torch.__version__, 1e3 * min(other) / n))
    headlines.append(("decode_gru_single_vs_torch", min(other) / min(mine)))


against_torch()
for name, value in headlines:
    print("headline %s %.2f" % (name, value))
print("headline decode_mb_over_file %.1f" % (resident - os.path.getsize(model) / 1e6))
