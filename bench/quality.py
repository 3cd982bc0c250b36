"""quality.py -- what 8 bits cost: BLEU of models in f32 and in int8, and how many sentences stay the same; CTranslate2's own loss beside it.

usage: quality.py BUILD SHARED PEERS      run by `make bench-quality`, after peers.sh has filled PEERS

Test sets are Tatoeba's, 1,000 sentences each, and Multi30k's of 2016, as many; sacreBLEU's BLEU (13a, cased) by heed eval.
"""
import os
import subprocess
import sys
import tempfile

import ctranslate2
import sentencepiece

build, shared, peers = sys.argv[1:4]
heed = os.path.join(build, "heed")
tatoeba = os.path.join(shared, "data", "tatoeba")
if not os.path.isdir(tatoeba) or not os.path.isdir(os.path.join(shared, "oracles")):
    sys.exit("quality.py: there is no %s, of which translations are counted; make bench-quality SHARED=folder says where it is" % tatoeba)
folder = tempfile.mkdtemp()


multi30k = os.path.join(shared, "data", "multi30k")


def text_of(pair, language, corpus):
    return os.path.join(multi30k, "test2016.raw." + language) if corpus == "multi30k" else os.path.join(tatoeba, "test.%s.%s" % (pair, language))


def bleu(hypotheses, pair, corpus="tatoeba"):
    path = os.path.join(folder, "out")
    with open(path, "w") as out:
        out.write("".join(line + "\n" for line in hypotheses))
    reference = text_of(pair, pair[-2:], corpus)
    said = subprocess.run([heed, "eval", "--hyp", path, "--ref", reference, "--metrics", "bleu"], stdout=subprocess.PIPE, text=True, check=True)
    return float(said.stdout.split()[2])


def of_heed(model, pair, beam, compute, corpus="tatoeba"):
    languages = ["--from", pair[:2], "--to", pair[-2:]] if model == "default" else []
    return subprocess.run([heed, "translate", "-m", model, "--beam", str(beam), "--compute", compute, "-q", *languages, text_of(pair, "en", corpus)],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def of_ctranslate2(beam, compute):
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(shared, "oracles", "marian-ende-transformer", "vocab.spm"))
    translator = ctranslate2.Translator(os.path.join(peers, "small-ct2"), device="cpu", compute_type=compute)
    with open(os.path.join(tatoeba, "test.en-de.en")) as lines:
        sentences = [pieces.encode(line.strip(), out_type=str) + ["</s>"] for line in lines]
    return [pieces.decode(result.hypotheses[0]) for result in translator.translate_batch(sentences, beam_size=beam, max_batch_size=32)]


def compare(label, f32, int8, pair, corpus="tatoeba"):
    whole, eighth = bleu(f32, pair, corpus), bleu(int8, pair, corpus)
    same = sum(a == b for a, b in zip(f32, int8)) / len(f32)
    print("%-44s f32 %6.2f, int8 %6.2f (%+.2f), %5.1f %% of sentences the same" % (label, whole, eighth, eighth - whole, 100 * same), flush=True)
    return eighth - whole


losses = []
for name in ("marian-ende-transformer", "marian-ende-rnn"):
    model = os.path.join(folder, name + ".heed")
    oracle = os.path.join(shared, "oracles", name)
    subprocess.run([heed, "convert", os.path.join(oracle, "model.npz"), "--vocab", os.path.join(oracle, "vocab.spm"), "-o", model],
                   stdout=subprocess.DEVNULL, check=True)
    for beam in (1, 5):
        losses.append(compare("%s, beam %d" % (name, beam), of_heed(model, "en-de", beam, "f32"), of_heed(model, "en-de", beam, "int8"), "en-de"))
for beam in (1, 5):
    losses.append(compare("the model inside, en-fr, beam %d" % beam, of_heed("default", "en-fr", beam, "f32"),
                          of_heed("default", "en-fr", beam, "int8"), "en-fr"))
for pair in ("en-fr", "en-de"):
    if os.path.isdir(multi30k):
        losses.append(compare("the model inside, Multi30k %s, beam 5" % pair, of_heed("default", pair, 5, "f32", "multi30k"),
                              of_heed("default", pair, 5, "int8", "multi30k"), pair, "multi30k"))
    else:
        print("skipped: there is no %s" % multi30k)
for beam in (1, 5):
    compare("CTranslate2 %s, transformer, beam %d" % (ctranslate2.__version__, beam), of_ctranslate2(beam, "float32"),
            of_ctranslate2(beam, "int8"), "en-de")
print("headline int8_worst_bleu_difference %.2f" % min(losses))
