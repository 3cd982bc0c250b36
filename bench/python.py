"""python.py -- one short sentence from Python: heed's package against CTranslate2's, on the same weights, in the same precision.

usage: python.py PEERS      run by `make bench-python` in an environment that has both

What is timed is what people write: a text goes in and a text comes out. For CTranslate2 that is SentencePiece, translate_batch and SentencePiece
again, and no score, as it gives none unless asked; so heed is not asked for one either (scores=False), and what its call takes with one, as it
does it by itself, is told beside. One thread each; calls alternate in short rounds, and the best round of each counts.
"""
import json
import os
import sys
import time

import ctranslate2
import heed
import sentencepiece

peers = sys.argv[1]
TEXTS = ["Good morning.", "Where is the station?", "I love my cat.", "She doesn't want to talk about it."]
ROUNDS, CALLS = 12, 50

pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(peers, "small.spm"))
with open(os.path.join(peers, "small-ct2", "config.json"), encoding="utf-8") as f:
    END = [] if json.load(f).get("add_source_eos") else ["</s>"]
with open(os.path.join(peers, "symbol"), encoding="utf-8") as f:
    SYMBOL = f.read().split()  # what sources begin with, of a model of several languages


def seconds(call):
    """A call's time, over all texts."""
    begin = time.perf_counter()
    for i in range(CALLS):
        call(TEXTS[i % len(TEXTS)])
    return (time.perf_counter() - begin) / CALLS


def main():
    print(f"heed {heed.__version__}, CTranslate2 {ctranslate2.__version__}; milliseconds a call")
    for precision, name in (("float32", "small.heed"), ("int8", "small-int8.heed")):
        engine = ctranslate2.Translator(os.path.join(peers, "small-ct2"), device="cpu", compute_type=precision, inter_threads=1, intra_threads=1)
        for beam in (1, 4):
            scored = heed.Translator(os.path.join(peers, name), beam=beam, threads=1)
            mine = heed.Translator(os.path.join(peers, name), beam=beam, threads=1, scores=False)

            def other(text, beam=beam, engine=engine):
                best = engine.translate_batch([SYMBOL + pieces.encode(text, out_type=str) + END], beam_size=beam)[0].hypotheses[0]
                return pieces.decode(best)

            times = [(seconds(mine.translate), seconds(other), seconds(scored.translate)) for _ in range(ROUNDS)]
            ours, theirs, ours_scored = (1e3 * min(t[i] for t in times) for i in (0, 1, 2))
            short = "f32" if precision == "float32" else "int8"
            print(f"{short}, beam {beam}: heed {ours:.3f} (with scores {ours_scored:.3f}), CTranslate2 {theirs:.3f}")
            print(f"headline python_{short}_beam{beam}_time_vs_ct2 {ours / theirs:.3f}")
            mine.close()
            scored.close()


main()
