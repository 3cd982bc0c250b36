"""train.py -- training against PyTorch: same text, same sizes, same threads; our own full loop.

usage: train.py BUILD SHARED PEERS [PYTHON_WITH_TORCH]      run by `make bench-train`

Rounds alternate between heed and PyTorch (torch_train.py), so that whatever else the machine does meets both; the best
round of each counts. heed is the program as users run it, reading, batching, dropout, clipping and saving included; PyTorch's figure
leaves reading out. bench_train measures what an update is made of. On a CPU with a unit for bf16 both also run in bf16 (PyTorch's
autocast), and ..._vs_torch_best compares ours with the better of PyTorch's two.

ROUNDS=N: rounds, 3 by default. UPDATES=N: of each round, 100; 20 are enough to see that it runs. PARTS: some of "torch bf16 update ranks", all by default.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

build, shared, peers = sys.argv[1:4]
python = sys.argv[4] if len(sys.argv) > 4 else sys.executable
rounds = int(os.environ.get("ROUNDS", "3"))
updates = int(os.environ.get("UPDATES", "100"))
parts = os.environ.get("PARTS", "torch bf16 update ranks").split()
here = os.path.dirname(os.path.abspath(__file__))
peer = os.path.join(here, "torch_train.py")
text = os.path.join(shared, "data", "tatoeba", "train.en-de")
spm = os.path.join(shared, "oracles", "marian-ende-transformer", "vocab.spm")
if os.path.exists(text + ".en") and os.path.exists(spm):
    print("text: Tatoeba, English-German, of " + shared)
else:  # a text of our own, and a vocabulary of it
    text, spm = os.path.join(peers, "text", "train"), os.path.join(peers, "text", "train.spm")
    if not os.path.exists(text + ".de"):
        subprocess.run([sys.executable, os.path.join(here, "text.py"), os.path.join(here, "..", "recipes", "phrasebook.tsv"),
                        os.path.dirname(text)], check=True)
    if not os.path.exists(spm):
        learn = ("import sentencepiece, sys; sentencepiece.SentencePieceTrainer.train(input=sys.argv[2:], model_prefix=sys.argv[1], "
                 "vocab_size=8000, model_type='bpe', minloglevel=2, eos_id=0, unk_id=1, bos_id=-1)")
        subprocess.run([python, "-c", learn, text, text + ".en", text + ".de", os.path.join(os.path.dirname(text), "words.txt")], check=True)
        os.remove(text + ".vocab")
        os.replace(text + ".model", spm)
    print("text: made of the phrasebook (text.py), with a vocabulary of it; figures are not those of docs/benchmarks.md")
BATCH = 64   # sentences
TOKENS = 690  # target pieces of 64 sentences of Tatoeba
common = ["--dropout", "0.1", "--label-smoothing", "0.1", "--clip", "1", "--warmup", "100", "--rate", "0.0003", "--ema", "0",
          "--valid-metric", "ce", "--valid-every", "1000000", "--max-length", "510", "--fresh",
          "--vary-punctuation", "0", "--vary-case", "0", "--vary-quotes", "0", "--join", "0", "--copy", "0", "--placeholders", "0"]
models = {
    "transformer": ["--arch", "transformer", "--dim", "256", "--ffn", "1024", "--heads", "4", "--layers", "3", "--norm", "post"],
    "gru": ["--arch", "bahdanau", "--dim", "512", "--embed", "256", "--readout", "tanh"],
}


def run(command, **more):
    """Its output, and the most memory it held, in MB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    out, err = process.communicate()
    if process.returncode != 0:
        sys.exit("%s failed:\n%s%s" % (" ".join(command), out, err))
    return out


def ours(model, threads, tokens, updates, launcher=(), precision="f32", **more):
    """Target pieces per second of wall clock from the tenth update on, and the peak of memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "m.safetensors")
        with open(os.path.join(folder, "dev"), "w") as dev:
            dev.write("a\ta\n")
        command = [*launcher, "/usr/bin/env", "python3", "-c",
                   "import os,resource,sys,subprocess as s\ns.run(sys.argv[1:],check=True)\n"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                   os.path.join(build, "heed"), "train", "--src", text + ".en", "--tgt", text + ".de", "--dev-tsv",
                   os.path.join(folder, "dev"), "--spm", spm, "--out", out, "--batch-tokens", str(tokens), "--updates", str(updates),
                   "-j", str(threads), "-q", "--precision", precision, *models[model], *common]
        memory = run(command, **more).split()[-1]
        notes = [json.loads(line) for line in open(os.path.join(folder, "m.jsonl"))]
        notes = [n for n in notes if n["event"] == "update"]
        first, last = notes[0], notes[-1]
        return ((last["target_pieces"] - first["target_pieces"]) / (last["seconds"] - first["seconds"]), int(memory) / 1024)


def theirs(model, threads, steps, precision="f32"):
    out = run([python, "-c", "import resource,runpy,sys\nsys.argv=sys.argv[1:]\nrunpy.run_path(sys.argv[0])\n"
               "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)", peer, text + ".en", text + ".de", spm, model, str(threads),
               str(BATCH), str(steps), *(["bf16"] if precision == "bf16" else [])])
    return float(out.split(" target tokens/s")[0].split()[-1]), int(out.split()[-1]) / 1024


def best(figures):
    """The most pieces per second and the least memory of some rounds."""
    return max(f[0] for f in figures), min(f[1] for f in figures)


headlines = []
has_unit = "avx512bf16" in run([os.path.join(build, "heed"), "info"]).split("kernel ")[1].split("\n")[0]
precisions = ["f32", "bf16"] if has_unit else ["f32"]
if not has_unit:
    print("figures of bf16 are left out: heed uses no unit for bf16 on this CPU")

for model in models if "torch" in parts else []:
    mine, other = {p: [] for p in precisions}, {p: [] for p in precisions}
    for _ in range(rounds):
        for p in precisions:
            mine[p].append(ours(model, 2, TOKENS, updates, precision=p))
            other[p].append(theirs(model, 2, updates * 6 // 10, p))
            print("%-11s %-4s heed %5.0f target pieces/s, %4.0f MB; PyTorch %5.0f, %4.0f MB" % (model, p, *mine[p][-1], *other[p][-1]),
                  flush=True)
    mine, other = {p: best(f) for p, f in mine.items()}, {p: best(f) for p, f in other.items()}
    headlines.append(("train_%s_vs_torch" % model, mine["f32"][0] / other["f32"][0]))
    if has_unit:
        headlines.append(("train_%s_vs_torch_best" % model, mine["bf16"][0] / max(o[0] for o in other.values())))
    if model == "transformer":
        headlines.append(("train_memory_vs_torch", mine["f32"][1] / other["f32"][1]))

if "bf16" in parts and has_unit:
    without = dict(os.environ, HEED_KERNEL="avx512")
    f32, bf16, emulated, plain = [], [], [], []
    for _ in range(rounds):
        f32.append(ours("transformer", 2, 4096, 20))
        bf16.append(ours("transformer", 2, 4096, 20, precision="bf16"))
        plain.append(ours("transformer", 2, 4096, 20, env=without))
        emulated.append(ours("transformer", 2, 4096, 20, precision="bf16", env=without))
        print("batches of 4096: f32 %5.0f target pieces/s, %4.0f MB; bf16 %5.0f, %4.0f MB; by avx512 f32 %5.0f, bf16 %5.0f"
              % (*f32[-1], *bf16[-1], plain[-1][0], emulated[-1][0]), flush=True)
    headlines.append(("train_bf16_vs_f32", best(bf16)[0] / best(f32)[0]))
    headlines.append(("train_bf16_memory_vs_f32", best(bf16)[1] / best(f32)[1]))
    headlines.append(("train_bf16_emulated_vs_f32", best(emulated)[0] / best(plain)[0]))

for model in models if "update" in parts else []:
    out = run([os.path.join(build, "bench", "bench_train"), model, text + ".en", text + ".de", spm, "4096", str(2 * rounds)])
    print("%s: %s" % (model, out.replace("\n", ", ").strip(", ")), flush=True)
    if model == "transformer":
        figures = dict(line.split() for line in out.splitlines())
        headlines.append(("train_gemm_share", float(figures["gemm_share"])))
        headlines.append(("train_threads_speedup", float(figures["threads_speedup"])))

if {"ranks", "update"} <= set(parts) and os.path.exists(os.path.join(build, "heed_mpi.so")):
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    one, two = [], []
    for _ in range(rounds):
        one.append(ours("transformer", 1, 4096, 20)[0])
        two.append(ours("transformer", 1, 4096, 20, ["mpirun", "-n", "2"])[0])
        print("1 rank %5.0f target pieces/s, 2 ranks %5.0f" % (one[-1], two[-1]), flush=True)
    headlines.append(("train_mpi_speedup", max(two) / max(one) / float(figures["bare_gain"])))

for name, value in headlines:
    print("headline %s %.3f" % (name, value))
