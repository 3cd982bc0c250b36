"""torch_train.py -- how fast PyTorch trains the models that train.py has heed train: the same sizes, text, subwords and batches of sentences.

usage: torch_train.py SRC TGT SPM transformer|gru THREADS BATCH STEPS [bf16]      run by train.py

Batches are made as toolkits make them: a pool of a hundred batches is sorted by length and cut, and each batch is padded. Adam, label smoothing
0.1, dropout 0.1, gradients clipped; bf16 is PyTorch's autocast. Prints target tokens per second of the steps after the first fifth; the end of
a sentence is a token, padding is none. Reading and cutting text is not in it.
"""
import random
import sys
import time
import warnings

import sentencepiece
import torch
from torch import nn
from torch.nn import functional

warnings.filterwarnings("ignore")
source_file, target_file, spm_file, kind, threads, batch_size, n_steps = sys.argv[1:8]
threads, batch_size, n_steps = int(threads), int(batch_size), int(n_steps)
is_bf16 = "bf16" in sys.argv[8:]
torch.set_num_threads(threads)
torch.manual_seed(1)
shuffler = random.Random(1)
spm = sentencepiece.SentencePieceProcessor(model_file=spm_file)
V, END, PAD = spm.get_piece_size(), spm.eos_id(), spm.unk_id()  # nothing else is written as unknown here, so it can stand for padding
POSITIONS = 512


def read():
    with open(source_file, encoding="utf-8") as sources, open(target_file, encoding="utf-8") as targets:
        pairs = list(zip(sources, targets))
    shuffler.shuffle(pairs)
    ids = [[spm.encode(text.strip())[:POSITIONS - 1] + [END] for text in pair] for pair in pairs[:2 * batch_size * n_steps]]
    batches = []
    for start in range(0, len(ids), 100 * batch_size):
        pool = sorted(ids[start:start + 100 * batch_size], key=lambda pair: (len(pair[1]), len(pair[0])))
        here = [pool[i:i + batch_size] for i in range(0, len(pool), batch_size)]
        shuffler.shuffle(here)
        batches += here
    return batches


def padded(rows):
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


class Transformer(nn.Module):
    """3+3 layers of 256, norms after each part, one table for everything."""

    def __init__(self, d=256, ffn=1024, layers=3, heads=4):
        super().__init__()
        self.table = nn.Embedding(V, d)
        nn.init.normal_(self.table.weight, std=d ** -0.5)
        self.layers = nn.Transformer(d, heads, layers, layers, ffn, 0.1, batch_first=True)
        self.bias = nn.Parameter(torch.zeros(V))
        angles = torch.arange(POSITIONS)[:, None] * 1e4 ** (-torch.arange(0, d, 2) / d)
        self.register_buffer("places", torch.stack((angles.sin(), angles.cos()), -1).flatten(1))
        self.drop = nn.Dropout(0.1)

    def embed(self, ids):
        return self.drop(self.table(ids) * self.table.embedding_dim ** 0.5 + self.places[:ids.size(1)])

    def forward(self, source, target):
        is_pad = source == PAD
        later = torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1)
        states = self.layers(self.embed(source), self.embed(target), tgt_mask=later, src_key_padding_mask=is_pad,
                             memory_key_padding_mask=is_pad)
        return functional.linear(states, self.table.weight, self.bias)


class Gru(nn.Module):
    """Bahdanau et al. (2015): a bidirectional GRU, additive attention, a GRU of 512, tied table."""

    def __init__(self, embed=256, each_way=256, dim=512):
        super().__init__()
        self.each_way = each_way
        self.table = nn.Embedding(V, embed)
        self.encoder = nn.GRU(embed, each_way, batch_first=True, bidirectional=True)
        self.first = nn.Linear(each_way, dim)
        self.cell = nn.GRUCell(embed + 2 * each_way, dim)
        self.of_state = nn.Linear(dim, dim, bias=False)
        self.of_source = nn.Linear(2 * each_way, dim)
        self.score = nn.Linear(dim, 1, bias=False)
        self.readout = nn.Linear(dim + 2 * each_way + embed, embed)
        self.bias = nn.Parameter(torch.zeros(V))
        self.drop = nn.Dropout(0.1)

    def forward(self, source, target):
        annotations = self.encoder(self.table(source))[0]
        keys, hidden = self.of_source(annotations), (source == PAD) * -1e9
        state = torch.tanh(self.first(annotations[:, 0, self.each_way:]))
        words, states, contexts = self.table(target), [], []
        for step in range(target.size(1)):
            energies = self.score(torch.tanh(keys + self.of_state(state)[:, None])).squeeze(-1)
            weights = functional.softmax(energies + hidden, -1)
            context = torch.bmm(weights[:, None], annotations)[:, 0]
            state = self.cell(torch.cat((words[:, step], context), -1), state)
            states.append(state)
            contexts.append(context)
        joined = torch.cat((torch.stack(states, 1), torch.stack(contexts, 1), words), -1)
        return functional.linear(self.drop(torch.tanh(self.readout(joined))), self.table.weight, self.bias)


model = {"transformer": Transformer, "gru": Gru}[kind]()
optimizer = torch.optim.Adam(model.parameters(), 3e-4, betas=(0.9, 0.98))
seconds = n_tokens = 0
for step, batch in enumerate(read()[:n_steps]):
    source, wanted = padded([pair[0] for pair in batch]), padded([pair[1] for pair in batch])
    given = functional.pad(wanted[:, :-1], (1, 0), value=END)
    start = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", torch.bfloat16, enabled=is_bf16):
        logits = model(source, given)
    loss = functional.cross_entropy(logits.float().flatten(0, 1), wanted.flatten(), ignore_index=PAD, label_smoothing=0.1)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step >= max(5, n_steps // 5):
        seconds += time.perf_counter() - start
        n_tokens += int((wanted != PAD).sum())
print("%s, %.2f million parameters, loss %.3f: %.0f target tokens/s" % (
    kind, sum(p.numel() for p in model.parameters()) / 1e6, loss.item(), n_tokens / seconds))
