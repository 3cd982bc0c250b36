"""lines.py -- a corpus larger than memory: ten million lines are trained on, and what it takes is told.

usage: lines.py BUILD SHARED FOLDER [LINES [CGROUP]]      run by `make bench-lines`

The text is Tatoeba's English and German with a number put before each line, so that no two lines are alike: about 1.1 GB in FOLDER, kept for the
next time. CGROUP is a folder of a memory control group (v1 or v2) with a limit of its own, in which heed is run: its limit holds for
the pages of the files as well, so that a text larger than it cannot be kept in memory by anybody.
"""
import json
import os
import subprocess
import sys
import threading
import time

build, shared, folder = sys.argv[1:4]
n_lines = int(sys.argv[4]) if len(sys.argv) > 4 else 10_000_000
group = sys.argv[5] if len(sys.argv) > 5 else None
os.makedirs(folder, exist_ok=True)
files = [os.path.join(folder, "%d.%s" % (n_lines, side)) for side in ("en", "de")]
for side, path in zip(("en", "de"), files):
    if os.path.exists(path):
        continue
    tatoeba = os.path.join(shared, "data", "tatoeba", "train.en-de." + side)
    if not os.path.exists(tatoeba):
        sys.exit("lines.py: there is no %s; make SHARED=folder says where it is" % tatoeba)
    with open(tatoeba) as text:
        lines = text.readlines()
    with open(path + ".part", "w") as out:
        for start in range(0, n_lines, len(lines)):
            out.writelines("%d %s" % (start + i, line) for i, line in enumerate(lines[:n_lines - start]))
    os.rename(path + ".part", path)
print("text: %d pairs, %.0f MB" % (n_lines, sum(map(os.path.getsize, files)) / 1e6), flush=True)


def enter_group():
    if group:
        with open(os.path.join(group, "cgroup.procs"), "w") as processes:
            processes.write(str(os.getpid()))


def train(updates):
    """Seconds until the first update and in all, and the most memory of its own that heed held, in MB. Pages of the text, which the system lends it
    and takes back when it wants them, do not count."""
    out = os.path.join(folder, "lines.safetensors")
    start = time.time()
    process = subprocess.Popen([os.path.join(build, "heed"), "train", "--src", files[0], "--tgt", files[1], "--out", out,
                                "--size", "tiny", "--updates", str(updates), "--valid-every", "50", "--valid-metric", "ce", "-q", "--json",
                                "--vary-punctuation", "0", "--vary-case", "0", "--vary-quotes", "0", "--join", "0", "--copy", "0", "--placeholders", "0"],
                               stdout=subprocess.PIPE, text=True, preexec_fn=enter_group)
    held = [0]

    def watch():
        while process.poll() is None:
            with open("/proc/%d/status" % process.pid) as status:
                held[0] = max([held[0]] + [int(line.split()[1]) for line in status if line.startswith("RssAnon")])
            time.sleep(0.1)

    threading.Thread(target=watch, daemon=True).start()
    first = None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "note":
            print("    " + event["text"], flush=True)
        elif event["event"] == "update" and first is None:
            first = time.time() - start
    if process.wait() != 0:
        sys.exit("heed train failed")
    return first, time.time() - start, held[0] * 1.024e-3


for name in ("lines.safetensors", "lines.state.safetensors", "lines.jsonl", "lines.log", "lines.svg"):
    if os.path.exists(os.path.join(folder, name)):
        os.remove(os.path.join(folder, name))
for updates in (50, 100):
    first, seconds, memory = train(updates)
    print("to update %d: first update noted after %.1f s, %.1f s in all, at most %.0f MB of its own" % (updates, first, seconds, memory),
          flush=True)
