#!/bin/sh
# sentences.sh -- whom cutting into sentences is measured against, in a Python environment of its own.
#
#   sentences.sh FOLDER     downloads pysbd, nltk, sentence-splitter, sentencex and Punkt's lists (about 20 MB) from PyPI the first time
set -eu
folder=$1
[ ! -d "$folder/nltk/tokenizers/punkt_tab" ] || exit 0
echo "sentences.sh: downloads pysbd, nltk, sentence-splitter, sentencex and Punkt's lists into $folder"
[ -x "$folder/bin/pip" ] || python3 -m venv "$folder"
"$folder/bin/pip" install -q pysbd nltk sentence-splitter sentencex
# NLTK's own server is not always within reach; this package carries the lists.
"$folder/bin/pip" download -q --no-deps -d "$folder/download" llama-index-core
"$folder/bin/python" - "$folder" <<'END'
import glob, os, sys, zipfile
folder = sys.argv[1]
archive = zipfile.ZipFile(glob.glob(folder + "/download/llama_index_core-*.whl")[0])
for name in archive.namelist():
    where = name.find("tokenizers/punkt_tab/")
    if where >= 0 and not name.endswith("/"):
        path = os.path.join(folder, "nltk", name[where:])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(archive.read(name))
END
