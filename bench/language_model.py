"""language_model.py -- what a language model of heed knows after some updates, and what the same model in PyTorch does.

usage: language_model.py BUILD SHARED PEERS [UPDATES [BATCH]]      run by `make bench-language-model` with the Python of PEERS/torch

One LSTM layer of 256 and a Transformer decoder of two layers of 128, on Tatoeba's English (train.en-fr.en) in 8,000 subwords. Both sides begin
with the same weights, those that heed draws, read from a model that was trained for one update at a rate of next to nothing. Adam with the same
constants, the same warmup, gradients clipped at 1, batches of about as many tokens, each cut from sentences of a like length; no dropout, no
smoothing, no mean of weights. The order of the sentences is each side's own, so the results differ by chance as those of two seeds do. Perplexity
is of test.en-fr.en, of subwords and ends. PyTorch has one thread and heed, too.
"""
import math
import os
import random
import re
import subprocess
import sys
import time

import sentencepiece
import torch
from safetensors.torch import load_file
from torch import nn
from torch.func import functional_call
from torch.nn import functional

build, shared, peers = sys.argv[1:4]
UPDATES, BATCH = (int(x) for x in (sys.argv[4:6] + ["400", "1000"][len(sys.argv) - 4:])[:2])
RATE, WARMUP, BETAS, EPSILON = 0.002, 50, (0.9, 0.98), 1e-9
HEED = os.path.join(build, "heed")
TRAIN, TEST = (os.path.join(shared, "data", "tatoeba", name + ".en-fr.en") for name in ("train", "test"))
SHAPES = {
    "lstm": "--arch seq2seq --cell lstm --layers 1 --dim 256 --embed 256 --tie output",
    "transformer": "--arch transformer --layers 2 --dim 128 --ffn 512 --heads 4 --norm pre",
}
torch.set_num_threads(1)
torch.manual_seed(1)


def subwords():
    path = os.path.join(peers, "tatoeba-en.spm")
    if not os.path.exists(path):
        sentencepiece.SentencePieceTrainer.train(input=TRAIN, model_prefix=path, vocab_size=8000, minloglevel=2, num_threads=1)
        os.rename(path + ".model", path)
    return path


def heed(*arguments):
    return subprocess.run([HEED, *arguments], check=True, capture_output=True, text=True)


def train(kind, spm, out, updates, rate):
    for ending in (".safetensors", ".state.safetensors"):
        if os.path.exists(out + ending):
            os.remove(out + ending)
    heed("train", "--source", "none", "--tgt", TRAIN, "--dev-tgt", TEST, "--spm", spm, *SHAPES[kind].split(), "--updates", str(updates),
         "--rate", str(rate), "--warmup", str(WARMUP if updates > 1 else 0), "--schedule", "constant", "--batch-tokens", str(BATCH),
         "--valid-every", str(updates), "--patience", "0", "--dropout", "0", "--label-smoothing", "0", "--ema", "0", "--clip", "1",
         "-j", "1", "-q", "--out", out + ".safetensors")


def perplexity_by_heed(model):
    return float(re.search(r"perplexity\D*([0-9.]+)", heed("score", "-j", "1", "-m", model, TEST).stderr).group(1))


class Lstm(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.table = nn.Parameter(p["target.embed"])
        D = p["decoder.1.U"].shape[0]
        self.cell = nn.LSTM(self.table.shape[1], D, batch_first=True)
        self.cell.weight_ih_l0.data = p["decoder.1.W"].T.contiguous()
        self.cell.weight_hh_l0.data = p["decoder.1.U"].T.contiguous()
        self.cell.bias_ih_l0.data = p["decoder.1.b"]
        del self.cell.bias_hh_l0  # heed has one bias
        self.cell.register_buffer("bias_hh_l0", torch.zeros(4 * D))
        self.bias = nn.Parameter(p["output.b"])

    def forward(self, seen):
        return functional.linear(self.cell(seen)[0], self.table, self.bias)


class Former(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.table = nn.Parameter(p["target.embed"])
        D = self.table.shape[1]
        layer = nn.TransformerEncoderLayer(D, 4, p["decoder.1.ffn.1.W"].shape[1], 0.0, batch_first=True, norm_first=True, layer_norm_eps=1e-6)
        norm = nn.LayerNorm(D, 1e-6) if "decoder.norm.gain" in p else None
        self.layers = nn.TransformerEncoder(layer, 2, norm=norm, enable_nested_tensor=False)
        state = {}
        for i in (0, 1):
            at = f"decoder.{i + 1}."
            state |= {f"layers.{i}.self_attn.in_proj_weight": torch.cat([p[at + f"self.{m}.W"].T for m in "qkv"]),
                      f"layers.{i}.self_attn.in_proj_bias": torch.cat([p[at + f"self.{m}.b"] for m in "qkv"]),
                      f"layers.{i}.self_attn.out_proj.weight": p[at + "self.o.W"].T, f"layers.{i}.self_attn.out_proj.bias": p[at + "self.o.b"]}
            for m, part in ((1, "self"), (2, "ffn")):
                state |= {f"layers.{i}.norm{m}.weight": p[at + part + ".norm.gain"], f"layers.{i}.norm{m}.bias": p[at + part + ".norm.bias"],
                          f"layers.{i}.linear{m}.weight": p[at + f"ffn.{m}.W"].T, f"layers.{i}.linear{m}.bias": p[at + f"ffn.{m}.b"]}
        if norm:
            state |= {"norm.weight": p["decoder.norm.gain"], "norm.bias": p["decoder.norm.bias"]}
        self.layers.load_state_dict(state)
        self.bias = nn.Parameter(p["output.b"])
        angle = torch.arange(512.0)[:, None] * 10000 ** (-torch.arange(0, D, 2) / D)
        self.register_buffer("places", torch.stack((angle.sin(), angle.cos()), -1).flatten(1))

    def forward(self, seen):
        n = seen.shape[1]
        later = nn.Transformer.generate_square_subsequent_mask(n)
        x = self.layers(seen * math.sqrt(seen.shape[2]) + self.places[:n], mask=later, is_causal=True)
        return functional.linear(x, self.table, self.bias)


def batches(sentences, shuffler):
    """Endless batches of about BATCH tokens, of like lengths."""
    while True:
        shuffler.shuffle(sentences)
        for start in range(0, len(sentences), 5000):
            pool, made, n = sorted(sentences[start:start + 5000], key=len), [[]], 0
            for ids in pool:
                if n + len(ids) > BATCH:
                    made, n = made + [[]], 0
                made[-1].append(ids)
                n += len(ids)
            shuffler.shuffle(made)
            yield from made


def loss_of(model, rows):
    """The sum over all tokens, and their number; before the first word stands a row of zeros."""
    wanted = nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in rows], batch_first=True, padding_value=-100)
    seen = functional.pad(model.table[wanted[:, :-1].clamp(min=0)], (0, 0, 1, 0))
    return functional.cross_entropy(model(seen).flatten(0, 1), wanted.flatten(), reduction="sum"), int((wanted != -100).sum())


def read(path, spm):
    cutter = sentencepiece.SentencePieceProcessor(model_file=spm)
    with open(path, encoding="utf-8") as lines:
        return [ids + [cutter.eos_id()] for ids in cutter.encode([line.strip() for line in lines])]


def train_by_torch(model, spm):
    optimizer = torch.optim.Adam(model.parameters(), RATE, betas=BETAS, eps=EPSILON)
    stream = batches(read(TRAIN, spm), random.Random(1))
    for update in range(1, UPDATES + 1):
        optimizer.param_groups[0]["lr"] = RATE * min(1, update / WARMUP)
        optimizer.zero_grad(set_to_none=True)
        loss, n = loss_of(model, next(stream))
        (loss / n).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def perplexity_by_torch(model, spm):
    total = count = 0
    test = sorted(read(TEST, spm), key=len)
    with torch.no_grad():
        for i in range(0, len(test), 64):
            loss, n = loss_of(model, test[i:i + 64])
            total, count = total + loss.item(), count + n
    return math.exp(total / count)


spm = subwords()
for kind, Model in (("transformer", Former), ("lstm", Lstm)):
    out = os.path.join(peers, "lm-" + kind)
    start = time.time()
    train(kind, spm, out + "-begin", 1, 1e-12)
    train(kind, spm, out, UPDATES, RATE)
    ours, seconds = perplexity_by_heed(out + ".safetensors"), time.time() - start
    start = time.time()
    model = Model({name: value.float() for name, value in load_file(out + "-begin.safetensors").items() if value.is_floating_point()})
    n = sum(p.numel() for p in model.parameters())
    first = [perplexity_by_heed(out + "-begin.safetensors"), perplexity_by_torch(model, spm)]
    assert abs(first[0] / first[1] - 1) < 1e-3, f"the models are not the same to begin with: {first}"
    train_by_torch(model, spm)
    theirs = perplexity_by_torch(model, spm)
    print(f"{kind}, {n / 1e6:.2f} million parameters, {UPDATES} updates of {BATCH} tokens: test perplexity {ours:.2f} by heed, "
          f"{theirs:.2f} by PyTorch {torch.__version__}, {100 * (ours / theirs - 1):+.1f} % ({first[0]:.0f} before, in both; {seconds:.0f} s and "
          f"{time.time() - start:.0f} s)", flush=True)
    print(f"headline language-model-{kind}-perplexity-of-pytorch {ours / theirs:.3f}", flush=True)
