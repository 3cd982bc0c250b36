#!/bin/sh
# test_links.sh -- the pages point where they say, and their lines are as long as .editorconfig says.
. tests/transcript.sh

if command -v python3 >/dev/null; then
    expect 'pages name functions, files and headings that are there' 0 '' '' tools/check_links.py
    expect 'their prose has at most 120 columns' 0 '' '' tools/wrap_markdown.py --check
else
    echo 'python3 is not here: the links and lines of the pages are not checked'
fi
finish
