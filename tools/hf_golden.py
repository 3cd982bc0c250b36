#!/usr/bin/env python3
"""hf_golden.py -- folders of transformers for tests, and what transformers makes of them.

    tools/hf_golden.py tests/model/hf               the small folders of the tests, with golden.json (d 8, seconds)
    tools/hf_golden.py --real OUT --text SRC TGT    a MarianMT of OPUS-MT's size in OUT: d 512, 6+6 layers, ffn 2048, 32,000 subwords of
                                                    each side of a text; random, or, with --updates N, trained that long; --dim, --layers
                                                    and --words make it smaller. For tools/check_hf.py

Small ones: a random MarianMT in every way that files can be (pytorch_model.bin as zip and as the pickles of old, safetensors in f32 and
f16; one list of words or two; tied or not; relu, gelu in both ways, swish, tanh), and a Pegasus. golden.json has, for each, sentences, their ids, logits of a
forced target, and what greedy and beam search give.

Needs transformers, torch and sentencepiece (PyPI).
"""
import argparse
import json
import os
import shutil
import sys

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel, MarianTokenizer, PegasusConfig, PegasusForConditionalGeneration

TEXT = """a small cat sees a big dog
the dog sees the small cat
a cat and a dog and a bird
the bird sings a song in the tree
one two three four five
we see the house by the river
""".splitlines()


def learn(path, lines, size, kind="unigram"):
    with open(path + ".txt", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    sentencepiece.SentencePieceTrainer.train(input=path + ".txt", model_prefix=path, vocab_size=size, model_type=kind,
                                             hard_vocab_limit=False, normalization_rule_name="identity", minloglevel=2, num_threads=1)
    os.replace(path + ".model", path + ".spm")
    os.remove(path + ".vocab")
    os.remove(path + ".txt")


def pieces(path):
    spm = sentencepiece.SentencePieceProcessor(model_file=path)
    return [spm.id_to_piece(i) for i in range(spm.get_piece_size()) if not spm.is_control(i) and not spm.is_unknown(i)]


def write_vocab(path, tokens):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({token: i for i, token in enumerate(tokens)}, f, ensure_ascii=False, indent=0)


def make_folder(folder, case):
    """The tokenizer's files; returns the sizes of the vocabularies."""
    os.makedirs(folder, exist_ok=True)
    learn(os.path.join(folder, "source"), TEXT, 40)
    learn(os.path.join(folder, "target"), [line[::-1] for line in TEXT], 36, case.get("kind", "unigram"))
    source, target = (pieces(os.path.join(folder, side + ".spm")) for side in ("source", "target"))
    source.remove("▁and" if "▁and" in source else source[-1])  # a subword without an id
    more = case.get("languages", [])
    if case.get("separate"):
        lists = [["</s>", "<unk>"] + source + ["<pad>"], ["</s>", "<unk>"] + target]
        lists[1] += ["<filler%d>" % i for i in range(len(lists[0]) - 1 - len(lists[1]))] + ["<pad>"]
        lists[0] += ["<filler%d>" % i for i in range(len(lists[1]) - len(lists[0]))]
        assert lists[0].index("<pad>") == lists[1].index("<pad>") and len(lists[0]) == len(lists[1])
        write_vocab(os.path.join(folder, "vocab.json"), lists[0])
        write_vocab(os.path.join(folder, "target_vocab.json"), lists[1])
        return len(lists[0]), len(lists[1]), lists[0].index("<pad>")
    tokens = ["</s>", "<unk>"] + more + sorted(set(source) | set(target)) + ["<pad>"]
    write_vocab(os.path.join(folder, "vocab.json"), tokens)
    return len(tokens), len(tokens), len(tokens) - 1


def make_model(case, V, W, pad):
    common = dict(vocab_size=V, d_model=case.get("d", 8), encoder_layers=2, decoder_layers=case.get("layers", 2),
                  encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=12, decoder_ffn_dim=12,
                  activation_function=case.get("activation", "swish"), max_position_embeddings=case.get("positions", 32),
                  scale_embedding=True, pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=None,
                  bad_words_ids=[[pad]], num_beams=4, init_std=case.get("std", 0.3),
                  tie_word_embeddings=case.get("tied", True))
    if case.get("pegasus"):
        model = PegasusForConditionalGeneration(PegasusConfig(**common))
    else:
        model = MarianMTModel(MarianConfig(decoder_vocab_size=W, share_encoder_decoder_embeddings=not case.get("separate"), **common))
    model.eval()
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            if "embed_positions" not in name:
                spread = 0.1 if name.endswith("bias") else case.get("std", 0.3)
                p.copy_(torch.randn(p.shape, generator=generator) * spread + (1 if "norm.weight" in name else 0))
                if "shared" in name or "embed_tokens" in name:
                    p[pad] = 0
        model.final_logits_bias.copy_(torch.randn(model.final_logits_bias.shape, generator=generator) * 0.1)
        model.final_logits_bias[0, pad] = 0
    return model


def save(model, folder, case):
    model.save_pretrained(folder)
    if case.get("file", "safetensors") != "safetensors":
        state = model.state_dict()
        if case.get("half"):
            state = {k: v.half() for k, v in state.items()}
        torch.save(state, os.path.join(folder, "pytorch_model.bin"), _use_new_zipfile_serialization=case["file"] == "zip")
        os.remove(os.path.join(folder, "model.safetensors"))
    elif case.get("half"):
        model.half().save_pretrained(folder)
    if case.get("half"):
        model.half().float()


def golden_of(model, tokenizer, lines, beam, longest=None):
    """Ids, logits and outputs of transformers itself."""
    rows = []
    pad = model.config.pad_token_id
    common = dict(bad_words_ids=[[pad]], do_sample=False, forced_eos_token_id=None)
    with torch.no_grad():
        for line in lines:
            ids = tokenizer(line, return_tensors="pt").input_ids
            most = dict(max_new_tokens=longest or 3 * ids.shape[1] + 50)
            greedy = model.generate(ids, num_beams=1, **common, **most)[0].tolist()[1:]
            best = model.generate(ids, num_beams=beam, length_penalty=1.0, early_stopping=False, **common, **most)[0].tolist()[1:]
            forced = torch.tensor([[pad] + greedy[:-1]])
            logits = model(input_ids=ids, decoder_input_ids=forced).logits[0]
            rows.append(dict(text=line, ids=ids[0].tolist(), greedy=greedy, beam=best,
                             greedy_text=tokenizer.decode(greedy, skip_special_tokens=True),
                             beam_text=tokenizer.decode(best, skip_special_tokens=True), logits=logits))
    return rows


LONGEST = 12  # words of an output
CASES = {
    "tied": dict(),
    "zip": dict(file="zip", activation="relu", languages=[">>fra<<", ">>deu<<"]),
    "old": dict(file="old", activation="gelu", half=True),
    "separate": dict(separate=True),
    "untied": dict(tied=False, kind="bpe"),
    "gelu-new": dict(activation="gelu_new", layers=1),
    "tanh": dict(activation="tanh", layers=1),
    "pegasus": dict(pegasus=True, activation="relu", layers=1),
}


def small(out):
    golden = {}
    for name, case in CASES.items():
        folder = os.path.join(out, name)
        shutil.rmtree(folder, ignore_errors=True)
        model = make_model(case, *make_folder(folder, case))
        save(model, folder, case)
        config = dict(separate_vocabs=bool(case.get("separate")), source_lang="en", target_lang="xx", tokenizer_class="MarianTokenizer")
        with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
            json.dump(config, f)
        tokenizer = MarianTokenizer.from_pretrained(folder)
        lines = TEXT[:3] + ["the zebra sees and sings"] + ([">>deu<< a small cat"] if case.get("languages") else [])
        rows = golden_of(model, tokenizer, lines, 4, LONGEST)
        for row in rows:
            row["logits"] = [[round(x, 6) for x in step] for step in row["logits"].tolist()[:3]]
            row["greedy"], row["beam"] = row["greedy"][:40], row["beam"][:40]
        golden[name] = rows
        for surplus in ("generation_config.json", "special_tokens_map.json"):
            if os.path.exists(os.path.join(folder, surplus)):
                os.remove(os.path.join(folder, surplus))
    with open(os.path.join(out, "golden.json"), "w", encoding="utf-8") as f:
        f.write("{" + ",\n".join(json.dumps(k) + ": [" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in v) + "]"
                                   for k, v in golden.items()) + "}\n")


def real_folder(folder, texts, words):
    """Subwords of both sides and one list of all of them, as OPUS-MT's folders have it."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for side, lines in zip(("source", "target"), texts):
        learn(os.path.join(folder, side), lines, words)
    both = [pieces(os.path.join(folder, side + ".spm")) for side in ("source", "target")]
    tokens = ["</s>", "<unk>"] + sorted(set(both[0]) | set(both[1])) + ["<pad>"]
    write_vocab(os.path.join(folder, "vocab.json"), tokens)
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
        json.dump(dict(source_lang="en", target_lang="xx", tokenizer_class="MarianTokenizer"), f)
    return len(tokens)


def train(model, tokenizer, texts, updates, sentences=64):
    """Adam and cross-entropy, no more: for outputs that are a language's, not good ones."""
    pad = model.config.pad_token_id
    pairs = [p for p in zip(*texts) if p[0] and p[1] and len(p[0]) < 200 and len(p[1]) < 200]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
    order = torch.Generator().manual_seed(3)
    model.train()
    for n in range(updates):
        chosen = [pairs[i] for i in torch.randint(len(pairs), (sentences,), generator=order).tolist()]
        x = tokenizer([a for a, _ in chosen], text_target=[b for _, b in chosen], return_tensors="pt", padding=True)
        x["labels"] = x["labels"].masked_fill(x["labels"] == pad, -100)
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min((n + 1) / 100, (100 / (n + 1)) ** 0.5)
        loss = model(**x).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if (n + 1) % 50 == 0:
            print("update %d, cross-entropy %.3f" % (n + 1, loss.item()), flush=True)
    model.eval()


def real(out, text, words, d, layers, updates):
    texts = []
    for path in text:
        with open(path, encoding="utf-8") as f:
            texts.append(f.read().split("\n"))
    V = real_folder(out, texts, words)
    model = MarianMTModel(MarianConfig(
        vocab_size=V, decoder_vocab_size=V, d_model=d, encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=8,
        decoder_attention_heads=8, encoder_ffn_dim=4 * d, decoder_ffn_dim=4 * d, activation_function="swish",
        max_position_embeddings=512, scale_embedding=True, pad_token_id=V - 1, eos_token_id=0, decoder_start_token_id=V - 1,
        forced_eos_token_id=None, bad_words_ids=[[V - 1]], num_beams=4, init_std=0.02 if updates else 0.05)).eval()
    with torch.no_grad():
        model.final_logits_bias.normal_(std=0.1, generator=torch.Generator().manual_seed(7))
        model.final_logits_bias[0, V - 1] = 0
    if updates:
        train(model, MarianTokenizer.from_pretrained(out), texts, updates)
    model.save_pretrained(out)
    print("%s: d %d, %d+%d layers, %d words, %.1f million parameters" %
          (out, d, layers, layers, V, sum(p.numel() for p in model.parameters()) / 1e6))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", help="folder of the small ones")
    parser.add_argument("--real", metavar="OUT")
    parser.add_argument("--text", nargs=2, metavar=("SRC", "TGT"))
    parser.add_argument("--words", type=int, default=32000, help="subwords of a side")
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--updates", type=int, default=0)
    args = parser.parse_args()
    if (args.out is None) == (args.real is None) or (args.real is None) != (args.text is None):
        parser.error("give the folder of the small ones, or --real OUT --text SRC TGT")
    torch.manual_seed(1)
    if args.real:
        real(args.real, args.text, args.words, args.dim, args.layers, args.updates)
    else:
        small(args.out)


if __name__ == "__main__":
    sys.exit(main())
