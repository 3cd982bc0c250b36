#!/bin/sh
# test_links.sh -- the pages point where they say.
. tests/transcript.sh

if command -v python3 >/dev/null; then
    expect 'pages name functions, files and headings that are there' 0 '' '' tools/check_links.py
else
    echo 'python3 is not here: the links of the pages are not checked'
fi
finish
