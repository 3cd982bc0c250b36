"""scale.py -- training by 1, 2 and 4 ranks on this machine, and a small model of what many machines would do.

usage: scale.py BUILD SHARED      run by `make bench-scale`; docs/scale.md explains the model

Each rank has one thread. With more ranks than cores the ranks share cores, so what is compared is the time that all cores together
spend on an update, and how much of it ranks spend waiting for each other.
"""
import json
import os
import subprocess
import sys
import tempfile

build, shared = sys.argv[1:3]
text = os.path.join(shared, "data", "tatoeba", "train.en-de")
spm = os.path.join(shared, "oracles", "marian-ende-transformer", "vocab.spm")
TOKENS, UPDATES = 4096, int(os.environ.get("UPDATES", "20"))
cores = len(os.sched_getaffinity(0))
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_mpi_yield_when_idle="1")


def measure(ranks):
    """Seconds per update from the tenth on, seconds of it that rank 0 waits, and the number of parameters."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "m.safetensors")
        with open(os.path.join(folder, "dev"), "w") as dev:
            dev.write("a\ta\n")
        subprocess.run(["mpirun", "-n", str(ranks), os.path.join(build, "heed"), "train", "--src", text + ".en", "--tgt", text + ".de",
                        "--dev-tsv", os.path.join(folder, "dev"), "--spm", spm, "--out", out, "--size", "small", "--batch-tokens",
                        str(TOKENS), "--updates", str(UPDATES), "--valid-metric", "ce", "--valid-every", "1000000", "-j", "1", "-q",
                        "--vary-punctuation", "0", "--vary-case", "0", "--vary-quotes", "0", "--join", "0", "--copy", "0", "--placeholders", "0"],
                       check=True)
        notes = [json.loads(line) for line in open(os.path.join(folder, "m.jsonl"))]
        notes = [n for n in notes if n["event"] == "update"]
        n = notes[-1]["update"] - notes[0]["update"]
        waits = (notes[-1].get("exchange_seconds", 0) - notes[0].get("exchange_seconds", 0)) / n
        info = json.loads(subprocess.run([os.path.join(build, "heed"), "info", "--json", out], check=True, stdout=subprocess.PIPE).stdout)
        parameters = info["parameters"]
        return (notes[-1]["seconds"] - notes[0]["seconds"]) / n, waits, parameters["total"] if isinstance(parameters, dict) else parameters


print("%d cores; updates of %d target pieces" % (cores, TOKENS))
print("ranks   s/update   of it waiting   MB sent by a rank per update   speed over 1 rank / usable cores")
times = {}
for ranks in (1, 2, 4):
    seconds, waits, parameters = measure(ranks)
    times[ranks] = seconds
    sent = 2 * 4 * parameters * (ranks - 1) / ranks / 1e6
    print("%5d %10.3f %15.3f %30.1f %34.2f" % (ranks, seconds, waits, sent, times[1] / seconds / min(ranks, cores)), flush=True)

# What an update of one rank is made of: products (which shards share out), and passes over the parameters, which are memory-bound: adding, stepping
# and packing. A rank adds and steps its part alone, but packs all.
passes = parameters * 4 * 12 / 12e9  # bytes of all passes at 12 GB/s
pack = parameters * 4 * 4 / 12e9
compute = times[1] - passes
print("model: %.3f s of products, %.3f s of passes over %.1f million parameters, %.3f s of packing" % (compute, passes, parameters / 1e6, pack))
print("model for 2 ranks: %.3f s, measured %.3f" % (compute / 2 + (passes - pack) / 2 + pack + 2 * 4 * parameters * 0.5 / 10e9, times[2]))
print("expected efficiency, weak scaling (an update grows with the ranks, %d pieces each):" % TOKENS)
print("  ranks   10 Gbit/s   100 Gbit/s")
for ranks in (8, 64, 512):
    row = []
    for bits in (10e9, 100e9):
        exchange = 2 * 4 * parameters * (ranks - 1) / ranks / (bits / 8) + 2 * ranks * 2e-6
        hidden = min(exchange / 2, (passes - pack) / ranks)  # what adding and stepping can hide
        update = compute + (passes - pack) / ranks + pack + exchange - hidden
        row.append(times[1] / update)
    print("%7d %11.2f %12.2f" % (ranks, *row))
