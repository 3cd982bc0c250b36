#!/bin/sh
# test_docs.sh -- the pages point where they say.
. tests/transcript.sh

if command -v python3 >/dev/null; then
    expect 'docs/models.md names functions where they stand' 0 '' '' tools/check_models_map.py
else
    echo 'python3 is not here: docs/models.md is not checked'
fi
finish
