"""torch_gru.py -- PyTorch's side of decoding with a GRU and additive attention: one sentence at a time, as many words out as in.

usage: torch_gru.py WORDS SENTENCES      answers every line of standard input, f32 or int8, with the seconds on a CPU; run by decode.py

int8 are PyTorch's dynamically quantised layers: weights and, row by row, their inputs in 8 bits.
"""
import sys
import time

import torch

words, n = int(sys.argv[1]), int(sys.argv[2])
embed, half, dim, vocab = 256, 256, 512, 8000
torch.set_num_threads(1)
torch.manual_seed(1)
table, encoder = torch.nn.Embedding(vocab, embed), torch.nn.GRU(embed, half, batch_first=True, bidirectional=True)
begin, cell = torch.nn.Linear(half, dim), torch.nn.GRUCell(embed + 2 * half, dim)
W, U, v = torch.nn.Linear(dim, dim, bias=False), torch.nn.Linear(2 * half, dim), torch.nn.Linear(dim, 1, bias=False)
output = torch.nn.Linear(dim, vocab)


layers = {"f32": (encoder, begin, cell, W, U, output)}


def quantised(layer):
    kinds = {torch.nn.Linear, torch.nn.GRU, torch.nn.GRUCell}
    return torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(layer), kinds, dtype=torch.qint8)[0]


def decode_all(encoder, begin, cell, W, U, output):
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


for line in sys.stdin:
    kind = line.strip()
    if kind not in layers:
        layers[kind] = [quantised(layer) for layer in layers["f32"]]
    print("%.6f" % decode_all(*layers[kind]), flush=True)
