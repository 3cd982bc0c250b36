"""decode.py -- searching sentences against CTranslate2, on the same weights, and against PyTorch.

usage: decode.py BUILD SHARED PEERS [PYTHON_WITH_TORCH]      run by `make bench-decode`, after peers.sh has filled PEERS

Rounds alternate between the contestants, so that whatever else the machine does meets all; the best round of each counts. One thread is
compared by seconds on a CPU, for which other programs do not count; two threads, and the start of a program, by the clock.
"""
import json
import os
import subprocess
import sys
import time

build, shared, peers = sys.argv[1:4]
torch_python = sys.argv[4] if len(sys.argv) > 4 else None
rounds = int(os.environ.get("ROUNDS", "3"))
spm = os.path.join(shared, "oracles", "marian-ende-transformer", "vocab.spm")
source = os.path.join(shared, "data", "tatoeba", "test.en-de.en")
headlines = []

import ctranslate2
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file=spm)


class Heed:
    """bench_decode, which answers questions."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([os.path.join(build, "bench", "bench_decode"), *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, question):
        """Seconds on a CPU, seconds on the clock, words."""
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        cpu, clock, words = self.process.stdout.readline().split()
        return float(cpu), float(clock), int(words)

    def most_memory(self):
        """In MB."""
        with open("/proc/%d/status" % self.process.pid) as status:
            return [int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM")][0]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class CTranslate2:
    """Has the better of two ways to make batches."""

    def __init__(self, name, n_sentences, longest):
        self.folder = os.path.join(peers, name + "-ct2")
        with open(os.path.join(self.folder, "config.json")) as config:
            end = [] if json.load(config).get("add_source_eos") else ["</s>"]  # or it adds one itself
        with open(source) as lines:
            self.sentences = [pieces.encode(line.strip(), out_type=str) + end for line in lines][:n_sentences]
        self.longest = longest
        self.one = self.translator()

    def translator(self, **threads):
        return ctranslate2.Translator(self.folder, device="cpu", compute_type="float32",
                                      **{"inter_threads": 1, "intra_threads": 1, **threads})

    def run(self, beam, is_single, translator=None, clock=time.process_time):
        """Seconds."""
        translator = translator or self.one
        how = {"beam_size": beam, "return_scores": False, "max_decoding_length": self.longest}
        if is_single:
            start = clock()
            for sentence in self.sentences[:200]:
                translator.translate_batch([sentence], **how)
            return clock() - start
        best = 1e9
        for size, kind in ((1024, "tokens"), (32, "examples")):
            start = clock()
            translator.translate_batch(self.sentences, max_batch_size=size, batch_type=kind, **how)
            best = min(best, clock() - start)
        return best


def compare(label, kinds, heed, other, n_rounds):
    """One thread each."""
    for name, beam, is_single, question in kinds:
        mine, theirs = [], []
        for _ in range(n_rounds):
            mine.append(heed.ask(question))
            theirs.append(other.run(beam, is_single))
        best = min(mine)
        print("%-20s heed %7.0f words/s, %6.3f s; CTranslate2 %6.3f s; rounds %s" % (
            label + " " + name, best[2] / best[0], best[0], min(theirs),
            " ".join("%.2f" % (t / m[0]) for m, t in zip(mine, theirs))), flush=True)
        headlines.append(("decode_%s_%s_vs_ct2" % (label, name), min(theirs) / best[0]))


def two_threads(heed):
    """From text to text: two threads over one, and what two bare loops of multiply-adds gain at the same moment."""
    names = ("greedy translate 1", "greedy translate 2", "beam5 translate 1", "beam5 translate 2", "loops 1", "loops 2")
    best = dict.fromkeys(names, 1e9)
    for _ in range(rounds + 2):
        for name in names:
            best[name] = min(best[name], heed.ask(name)[1])
    bare = best["loops 1"] / best["loops 2"]
    gains = {kind: best[kind + " translate 1"] / best[kind + " translate 2"] for kind in ("greedy", "beam5")}
    print("two threads: greedy %.3f s, beam 5 %.3f s, %.2f and %.2f times as fast as one; bare loops %.2f times" % (
        best["greedy translate 2"], best["beam5 translate 2"], gains["greedy"], gains["beam5"], bare), flush=True)
    headlines.append(("decode_threads_speedup", min(gains.values()) / bare))


def calls(heed):
    """200 sentences, a call each: by a translator that stays warm, and by a new one for each."""
    for kind in ("greedy", "beam5"):
        warm, cold = ([heed.ask("%s calls %s" % (kind, how))[0] for _ in range(rounds)] for how in ("warm", "cold"))
        print("one sentence a call, %s: %.3f ms; %.3f ms by a new translator each, %.2f of it" % (
            kind, 5 * min(warm), 5 * min(cold), min(warm) / min(cold)), flush=True)


def two_threads_of_large(heed, other):
    both = other.translator(inter_threads=2)
    for kind, beam in (("greedy", 1), ("beam5", 5)):
        mine, theirs = [], []
        for _ in range(2):
            mine.append(heed.ask(kind + " threads" + (" words" if beam == 1 else ""))[1])
            theirs.append(other.run(beam, False, both, time.perf_counter))
        print("large %s, two threads: heed %.3f s, CTranslate2 %.3f s on the clock, %.2f" % (
            kind, min(mine), min(theirs), min(theirs) / min(mine)), flush=True)


# What a person who writes a program with CTranslate2 has to run; the seconds after its imports are its last word.
THEIR_START = """
import ctranslate2, sentencepiece, sys, time
start = time.perf_counter()
pieces = sentencepiece.SentencePieceProcessor(model_file=sys.argv[2])
translator = ctranslate2.Translator(sys.argv[1], device="cpu", compute_type="float32", inter_threads=1, intra_threads=1)
best = translator.translate_batch([pieces.encode("Hello.", out_type=str)], beam_size=1)[0].hypotheses[0]
print(pieces.decode(best), time.perf_counter() - start)
"""


def starting():
    """From the start of a process to a short sentence's translation, all of it, on the clock."""

    def clocked(command):
        start = time.perf_counter()
        out = subprocess.run(command, input="Hello.\n", stdout=subprocess.PIPE, text=True, check=True).stdout
        return time.perf_counter() - start, out.split()

    mine, theirs, later = [], [], []
    for _ in range(4 * rounds):
        seconds, said = clocked([os.path.join(build, "heed"), "translate", "-m", os.path.join(peers, "ende.heed"), "--beam", "1"])
        mine.append(seconds)
        seconds, answer = clocked([sys.executable, "-c", THEIR_START, os.path.join(peers, "ende-ct2"), spm])
        theirs.append(seconds)
        later.append(float(answer[-1]))
        if said != answer[:-1]:
            sys.exit("decode.py: heed says %s, CTranslate2 %s" % (" ".join(said), " ".join(answer[:-1])))
    print("start to first translation: heed %.1f ms; CTranslate2 %.1f ms, of which after its imports %.1f ms, %.2f times heed's whole" % (
        1e3 * min(mine), 1e3 * min(theirs), 1e3 * min(later), min(later) / min(mine)), flush=True)
    headlines.append(("load_ms_vs_ct2", min(theirs) / min(mine)))


def against_torch():
    """A GRU with additive attention, one sentence of 25 words at a time, 25 words out."""
    if not torch_python or not os.path.exists(torch_python):
        print("There is no Python with PyTorch: decode_gru_single_vs_torch is left out; make bench-decode TORCH=/path/to/python")
        return
    words, n = "25", "20"
    other = subprocess.Popen([torch_python, os.path.join(os.path.dirname(__file__), "torch_gru.py"), words, n],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    heed = Heed("gru", words, n)
    mine, theirs = [], []
    for _ in range(rounds + 1):
        mine.append(heed.ask("greedy single")[0])
        other.stdin.write("\n")
        other.stdin.flush()
        theirs.append(float(other.stdout.readline()))
    other.stdin.close()
    heed.close()
    print("GRU, one sentence at a time: heed %.2f ms, PyTorch %.2f ms" % (
        1e3 * min(mine) / int(n), 1e3 * min(theirs) / int(n)), flush=True)
    headlines.append(("decode_gru_single_vs_torch", min(theirs) / min(mine)))


# Greedy words are asked for without their probabilities on both sides; with them, ours are measured beside.
model = os.path.join(peers, "ende.heed")
heed = Heed(model, source)
compare("fp32", (
    ("greedy", 1, False, "greedy batched words"), ("greedy_scored", 1, False, "greedy batched"),
    ("beam5", 5, False, "beam5 batched"), ("single", 1, True, "greedy single words"),
    ("single_scored", 1, True, "greedy single"), ("single_beam5", 5, True, "beam5 single")),
    heed, CTranslate2("ende", None, 256), rounds)
over_file = heed.most_memory() - os.path.getsize(model) / 1e6
two_threads(heed)
calls(heed)
heed.close()
starting()
against_torch()

# Random weights never end a sentence: outputs have 25 words.
N_LARGE, N_SINGLE, LONGEST = 48, 6, 25
heed, other = Heed(os.path.join(peers, "large.heed"), source, str(LONGEST), str(N_LARGE)), CTranslate2("large", N_LARGE, LONGEST)
compare("large", (("greedy", 1, False, "greedy batched words"), ("beam5", 5, False, "beam5 batched")), heed, other, 2)
two_threads_of_large(heed, other)
heed.close()
heed = Heed(os.path.join(peers, "large.heed"), source, str(LONGEST), str(N_SINGLE))
other.sentences = other.sentences[:N_SINGLE]
compare("large", (("single", 1, True, "greedy single words"),), heed, other, 2)
heed.close()

for name, value in headlines:
    print("headline %s %.2f" % (name, value))
print("headline decode_mb_over_file %.1f" % over_file)
