#!/bin/sh
# Python's safetensors opens what heed writes, and heed reads what it writes. Needs the package; says so when it is not there.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac

if ! python3 -c 'import numpy, safetensors.numpy' 2>/dev/null; then
    echo "skipped: Python's safetensors is not installed (pip install safetensors numpy)"
    exit 0
fi
cd "$here" || exit 1
awk 'BEGIN { for (i = 0; i < 300; i++) print "a b " i % 7 "\t" i % 7 " b a" }' >pairs.tsv
"$heed" train --tsv pairs.tsv --out m.safetensors --tokens words --dim 8 --ffn 8 --heads 2 --layers 1 --updates 2 -q -j 1

cat >again.py <<'END'
import json
import safetensors
import safetensors.numpy
with safetensors.safe_open("m.safetensors", "numpy") as f:
    notes = f.metadata()
    tensors = {name: f.get_tensor(name) for name in f.keys()}
config = json.loads(notes["heed.config"])
assert tensors["encoder.1.self.q.W"].shape == (8, 8), tensors["encoder.1.self.q.W"].shape
assert config["dim"] == 8 and all(t.size > 0 for t in tensors.values())
safetensors.numpy.save_file(tensors, "again.safetensors", notes)
END
expect "Python opens what heed writes" 0 '' '' python3 again.py
expect "heed opens what Python writes" 0 '*transformer*' '' "$heed" info again.safetensors
printf 'a b 3\n' >line
"$heed" translate -m m.safetensors line >ours 2>/dev/null
"$heed" translate -m again.safetensors line >theirs 2>/dev/null
expect "and it is the same model" 0 '' '' cmp ours theirs

"$heed" convert m.safetensors --store int8 -o int8.safetensors
cat >int8.py <<'END'
import numpy
import safetensors.numpy
whole, eighth = safetensors.numpy.load_file("m.safetensors"), safetensors.numpy.load_file("int8.safetensors")
for name, x in whole.items():
    q = eighth[name]
    if q.dtype == numpy.int8:
        scale = eighth[name + ".scale"]
        scale = scale[:, None] if name.endswith("embed") else scale[None, :]
        assert abs(q.astype(int)).max() <= 127 and abs(x - scale * q).max() <= 0.5001 * scale.max(), name
    else:
        assert (q == x).all() and x.dtype != numpy.float32 or x.ndim == 1, name
END
expect "Python reads 8-bit matrices and their scales" 0 '' '' python3 int8.py
expect "and heed info says what is stored how" 0 '*stored         I8 *, F32 *' '' "$heed" info int8.safetensors
finish
