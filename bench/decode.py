"""decode.py -- searching sentences against CTranslate2, on the same weights, and against PyTorch.

usage: decode.py BUILD PEERS [PYTHON_WITH_TORCH]      run by `make bench-decode`, after peers.sh has filled PEERS

Rounds alternate between the contestants, so that whatever else the machine does meets all; the best round of each counts. One thread is
compared by seconds on a CPU, for which other programs do not count; two threads, and the start of a program, by the clock.
ONLY="fp32 large" in the environment measures these parts alone: fp32, int8, large, int8_large, v32k, memory, start, gru, avx2.
"""
import json
import os
import subprocess
import sys
import time

build, peers = sys.argv[1:3]
torch_python = sys.argv[3] if len(sys.argv) > 3 else None
rounds = int(os.environ.get("ROUNDS", "3"))
spm = os.path.join(peers, "small.spm")
source = os.path.join(peers, "sentences.en")
with open(os.path.join(peers, "symbol")) as symbol_file:
    symbol = symbol_file.read().split()  # what sources of the small model begin with, if it has several languages
headlines = []

import ctranslate2
import sentencepiece


def peer(name):
    return os.path.join(peers, name)


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
        return most_memory_of(self.process.pid)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def most_memory_of(process):
    """In MB."""
    with open("/proc/%s/status" % process) as status:
        return [int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM")][0]


class CTranslate2:
    """Has the better of two ways to make batches."""

    def __init__(self, name, n_sentences, longest, compute="float32", vocab=spm):
        self.folder, self.compute = peer(name + "-ct2"), compute
        pieces = sentencepiece.SentencePieceProcessor(model_file=vocab)
        with open(os.path.join(self.folder, "config.json")) as config:
            end = [] if json.load(config).get("add_source_eos") else ["</s>"]  # or it adds one itself
        with open(source) as lines:
            begin = symbol if name == "small" else []
            self.sentences = [begin + pieces.encode(line.strip(), out_type=str) + end for line in lines][:n_sentences]
        self.longest = longest
        self.one = self.translator()

    def translator(self, **threads):
        return ctranslate2.Translator(self.folder, device="cpu", compute_type=self.compute,
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


def compare(name, kinds, heed, other, n_rounds):
    """One thread each. `name` has a place for the kind."""
    for kind, beam, is_single, question in kinds:
        mine, theirs = [], []
        for _ in range(n_rounds):
            mine.append(heed.ask(question))
            theirs.append(other.run(beam, is_single))
        best = min(mine)
        print("%-32s heed %7.0f words/s, %6.3f s; CTranslate2 %6.3f s; rounds %s" % (
            name % kind, best[2] / best[0], best[0], min(theirs),
            " ".join("%.2f" % (t / m[0]) for m, t in zip(mine, theirs))), flush=True)
        headlines.append(("decode_" + name % kind, min(theirs) / best[0]))
    return best


# Greedy words are asked for without their probabilities on both sides; with them, ours are measured beside.
GREEDY, BEAM5 = ("greedy", 1, False, "greedy batched words"), ("beam5", 5, False, "beam5 batched")
SINGLE = ("single", 1, True, "greedy single words")


def two_threads(heed, name):
    """From text to text: two threads over one, and what two bare loops of multiply-adds gain at the same moment."""
    names = ("greedy translate 1", "greedy translate 2", "beam5 translate 1", "beam5 translate 2", "loops 1", "loops 2")
    best = dict.fromkeys(names, 1e9)
    for _ in range(rounds + 2):
        for question in names:
            best[question] = min(best[question], heed.ask(question)[1])
    bare = best["loops 1"] / best["loops 2"]
    gains = {kind: best[kind + " translate 1"] / best[kind + " translate 2"] for kind in ("greedy", "beam5")}
    print("two threads: greedy %.3f s, beam 5 %.3f s, %.2f and %.2f times as fast as one; bare loops %.2f times" % (
        best["greedy translate 2"], best["beam5 translate 2"], gains["greedy"], gains["beam5"], bare), flush=True)
    headlines.append((name, min(gains.values()) / bare))


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
import ctranslate2, json, sentencepiece, sys, time
end = [] if json.load(open(sys.argv[1] + "/config.json")).get("add_source_eos") else ["</s>"]
start = time.perf_counter()
pieces = sentencepiece.SentencePieceProcessor(model_file=sys.argv[2])
translator = ctranslate2.Translator(sys.argv[1], device="cpu", compute_type=sys.argv[3], inter_threads=1, intra_threads=1)
best = translator.translate_batch([sys.argv[5:] + pieces.encode("Hello.", out_type=str) + end], beam_size=1, max_decoding_length=int(sys.argv[4]))[0].hypotheses[0]
print(pieces.decode(best), time.perf_counter() - start)
"""


def clocked(command, said):
    start = time.perf_counter()
    out = subprocess.run(command, input=said, stdout=subprocess.PIPE, text=True, check=True).stdout
    return time.perf_counter() - start, out.split()


def starting():
    """From the start of a process to a short sentence's translation, all of it, on the clock."""
    mine, theirs, later = [], [], []
    for _ in range(4 * rounds):
        seconds, said = clocked([os.path.join(build, "heed"), "translate", "-m", peer("small.heed"), "--beam", "1"], "Hello.\n")
        mine.append(seconds)
        seconds, answer = clocked([sys.executable, "-c", THEIR_START, peer("small-ct2"), spm, "float32", "256", *symbol], "")
        theirs.append(seconds)
        later.append(float(answer[-1]))
        if said != answer[:-1]:
            sys.exit("decode.py: heed says %s, CTranslate2 %s" % (" ".join(said), " ".join(answer[:-1])))
    print("start to first translation: heed %.1f ms; CTranslate2 %.1f ms, of which after its imports %.1f ms, %.2f times heed's whole" % (
        1e3 * min(mine), 1e3 * min(theirs), 1e3 * min(later), min(later) / min(mine)), flush=True)
    headlines.append(("load_ms_vs_ct2", min(theirs) / min(mine)))


def starting_large():
    """The same for the large model in 8 bits and the first three words of a translation: its sentences never end."""
    mine, theirs = [], []
    for _ in range(2 * rounds):
        mine.append(clocked([os.path.join(build, "bench", "bench_decode"), peer("large-int8.heed"), source, "3", "1"],
                            "greedy single words\n")[0])
    for _ in range(2):
        theirs.append(float(clocked([sys.executable, "-c", THEIR_START, peer("large-ct2"), spm, "int8", "3"], "")[1][-1]))
    print("start to first translation, large, int8: heed %.1f ms; CTranslate2, after its imports, %.1f ms" % (
        1e3 * min(mine), 1e3 * min(theirs)), flush=True)
    headlines.append(("load_int8_large_ms", 1e3 * min(mine)))


# Their memory at its most, in MB, after the same sentences.
THEIR_MEMORY = """
import ctranslate2, json, sys
translator = ctranslate2.Translator(sys.argv[1], device="cpu", compute_type=sys.argv[2], inter_threads=1, intra_threads=1)
translator.translate_batch(json.load(sys.stdin), max_batch_size=32, beam_size=1, return_scores=False, max_decoding_length=25)
print([int(line.split()[1]) * 1024 / 1e6 for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""


def memory():
    """Resident at its most over 48 sentences, greedy."""
    sentences = json.dumps(CTranslate2("large", N_LARGE, LONGEST).sentences)
    for name, compute, question in (("large", "float32", "greedy batched words"), ("large-int8", "int8", "greedy batched words")):
        heed = Heed(peer(name + ".heed"), source, str(LONGEST), str(N_LARGE))
        heed.ask(question)
        mine, size = heed.most_memory(), os.path.getsize(peer(name + ".heed")) / 1e6
        heed.close()
        theirs = float(clocked([sys.executable, "-c", THEIR_MEMORY, peer("large-ct2"), compute], sentences)[1][0])
        print("memory, large, %s: heed %.0f MB, a file of %.0f MB; CTranslate2 %.0f MB" % (compute, mine, size, theirs), flush=True)
        headlines.append(("decode_int8_large_mb_over_file", mine - size) if compute == "int8" else
                         ("decode_large_memory_vs_file", mine / size))


def against_torch():
    """A GRU with additive attention, one sentence of 25 words at a time, 25 words out: one that heed trained a little, since the likeliest
    of its words stands out, and in 8 bits a random one beside it. PyTorch multiplies all words out, whatever they are."""
    if not torch_python or not os.path.exists(torch_python):
        print("There is no Python with PyTorch: decode_gru_single_vs_torch is left out; make bench-decode TORCH=/path/to/python")
        return
    words, n = "25", "20"
    other = subprocess.Popen([torch_python, "-W", "ignore", os.path.join(os.path.dirname(__file__), "torch_gru.py"), words, n],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    mine, theirs = {"f32": [], "int8": [], "random int8": []}, {"f32": [], "int8": []}
    heeds = {"f32": Heed("gru", words, n, "f32", peer("gru/gru.safetensors")), "int8": Heed("gru", words, n, "int8", peer("gru/gru.safetensors")),
             "random int8": Heed("gru", words, n, "int8")}
    for _ in range(rounds + 1):
        for kind, heed in heeds.items():
            mine[kind].append(heed.ask("greedy single words")[0])
        for kind in theirs:
            other.stdin.write(kind + "\n")
            other.stdin.flush()
            theirs[kind].append(float(other.stdout.readline()))
    other.stdin.close()
    for heed in heeds.values():
        heed.close()
    print("GRU, one sentence at a time: heed %s, PyTorch %s" % tuple(
        ", ".join("%.2f ms (%s)" % (1e3 * min(seconds[kind]) / int(n), kind) for kind in seconds) for seconds in (mine, theirs)), flush=True)
    headlines.append(("decode_gru_single_vs_torch", min(theirs["f32"]) / min(mine["f32"])))
    best = min(theirs["f32"] + theirs["int8"])
    headlines.append(("decode_int8_gru_single_vs_torch", best / min(mine["int8"])))
    headlines.append(("decode_int8_gru_random_single_vs_torch", best / min(mine["random int8"])))


def small(name, compute, kinds):
    path = peer("small.heed" if compute == "float32" else "small-int8.heed")
    heed = Heed(path, source)
    compare(name, kinds, heed, CTranslate2("small", None, 256, compute), rounds)
    over_file = heed.most_memory() - os.path.getsize(path) / 1e6
    if compute == "float32":
        two_threads(heed, "decode_threads_speedup")
        calls(heed)
        headlines.append(("decode_mb_over_file", over_file))
    elif kinds[-1] == SINGLE and not is_avx2:
        two_threads(heed, "decode_int8_threads_speedup")
    heed.close()


# Random weights never end a sentence: outputs have 25 words.
N_LARGE, N_SINGLE, LONGEST = 48, 6, 25
D, FFN, LAYERS = 512, 2048, 6


def large(name, file, other, has_threads=False, has_share=False):
    heed = Heed(peer(file), source, str(LONGEST), str(N_LARGE))
    fastest = compare(name, (GREEDY,), heed, other, 2)
    if has_share:
        share_of_peak(heed, other, fastest)
    compare(name, (BEAM5,), heed, other, 2)
    if has_threads:
        two_threads_of_large(heed, other)
    heed.close()
    heed = Heed(peer(file), source, str(LONGEST), str(N_SINGLE))
    other.sentences = other.sentences[:N_SINGLE]
    compare(name, (SINGLE,), heed, other, 3)
    heed.close()


def share_of_peak(heed, other, greedy):
    """The dense operations of all products over what the core's unit could have done in the time."""
    peak = max(n * 1e6 / cpu for cpu, _, n in (heed.ask("peak") for _ in range(20)))
    if peak == 0:
        return
    n_source, n_target, V = sum(len(s) for s in other.sentences), greedy[2], 8000
    per_source = LAYERS * (4 * D * D + 2 * D * FFN) + LAYERS * 2 * D * D
    per_target = LAYERS * (6 * D * D + 2 * D * FFN) + D * V
    operations = 2 * (n_source * per_source + n_target * per_target)
    print("large greedy, int8: %.0f of %.0f GOP/s" % (operations / greedy[0] * 1e-9, peak * 1e-9), flush=True)
    headlines.append(("decode_int8_share_of_peak", operations / greedy[0] / peak))


def avx2():
    """The 8-bit rows again by CPUs without AVX-512: another process, since CTranslate2 asks for its instruction set but once."""
    env = {**os.environ, "ONLY": "int8 int8_large", "HEED_KERNEL": "avx2", "CT2_FORCE_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2"}
    out = subprocess.run([sys.executable, *sys.argv], env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if words[0] == "headline":
            headlines.append((words[1], float(words[2])))
        else:
            print(line, flush=True)


is_avx2 = os.environ.get("HEED_KERNEL") == "avx2"
ending = "_avx2" if is_avx2 else ""
parts = {
    "fp32": lambda: small("fp32_%s_vs_ct2", "float32", (
        GREEDY, ("greedy_scored", 1, False, "greedy batched"), BEAM5, SINGLE, ("single_scored", 1, True, "greedy single"),
        ("single_beam5", 5, True, "beam5 single"))),
    "int8": lambda: small("int8_%s_vs_ct2int8" + ending, "int8", (GREEDY, BEAM5, SINGLE)),
    "start": lambda: (starting(), starting_large()),
    "gru": against_torch,
    "large": lambda: large("large_%s_vs_ct2", "large.heed", CTranslate2("large", N_LARGE, LONGEST), has_threads=True),
    "int8_large": lambda: large("int8_large_%s_vs_ct2int8" + ending, "large-int8.heed",
                                CTranslate2("large", N_LARGE, LONGEST, "int8"), has_share=not is_avx2),
    "v32k": lambda: large("int8_large_%s_vs_ct2int8_v32k", "v32k-int8.heed",
                          CTranslate2("v32k", N_LARGE, LONGEST, "int8", peer("v32k.spm"))),
    "memory": memory,
    "avx2": avx2,
}
for part in os.environ.get("ONLY", " ".join(parts)).split():
    parts[part]()

print("CTranslate2 %s, heed %s" % (ctranslate2.__version__, subprocess.run(
    [os.path.join(build, "heed"), "--version"], stdout=subprocess.PIPE, text=True).stdout.split("\n")[0]))
for name, value in headlines:
    print("headline %s %.2f" % (name, value))
