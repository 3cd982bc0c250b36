#!/bin/sh
# check_clients.sh -- clients of LibreTranslate and of DeepL, as they are published, against `heed serve`.    check_clients.sh BUILD FOLDER
#
# Installs libretranslatepy and deepl from PyPI into FOLDER/python and, where there is npm, translate and libretranslate-ts into
# FOLDER/node, the first time; then all of it works without a network.
set -eu
build=$1 folder=$2
here=$(cd "$(dirname "$0")/.." && pwd)
toy=$here/tests/translate/toy.safetensors
[ -f "$build/heed_serve.so" ] || { echo "check_clients.sh: there is no $build/heed_serve.so (tools/packages.sh serve installs what it needs)" >&2; exit 1; }
mkdir -p "$folder/node"
folder=$(cd "$folder" && pwd)
[ -x "$folder/python/bin/python" ] || python3 -m venv "$folder/python"
"$folder/python/bin/python" -c 'import libretranslatepy, deepl' 2>/dev/null ||
    "$folder/python/bin/pip" install -q libretranslatepy deepl
if command -v npm >/dev/null && [ ! -d "$folder/node/node_modules/translate" ]; then
    (cd "$folder/node" && npm install --silent --no-audit --no-fund --prefix . translate libretranslate-ts >/dev/null)
fi

work=$(mktemp -d)
"$build/heed" serve -q --port 0 -m de-en="$toy" >"$work/out" 2>"$work/err" &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$work"' EXIT
tries=0
until address=$(sed -n 's/.*listening at \(http.*\)\/$/\1/p' "$work/out") && [ -n "$address" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { cat "$work/err" >&2; exit 1; }
    sleep 0.1
done
"$folder/python/bin/python" "$here/tests/serve/published.py" "$address"
if [ -d "$folder/node/node_modules/translate" ]; then
    cp "$here/tests/serve/published.mjs" "$folder/node/"
    node "$folder/node/published.mjs" "$address"
else
    echo 'skipped: clients from npm, as there is no npm'
fi
