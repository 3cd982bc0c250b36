#!/bin/sh
# test_serve.sh -- `heed serve` as its clients meet it: tests/serve/*.py speak HTTP with it, on loopback alone.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
if [ ! -f "${heed%/heed}/heed_serve.so" ]; then
    echo 'skipped: there is no heed_serve.so, as libmicrohttpd is missing (tools/packages.sh serve installs it)'
    exit 0
fi
toy=$PWD/tests/translate/toy.safetensors

expect 'a port must be one' 2 '' 'heed: port must be a whole number from 0 to 65535, not*' "$heed" serve --port 70000
expect 'an unknown option is told' 2 '' 'heed: there is no option*did you mean port?' "$heed" serve --prot 1
expect 'a model must be there' 1 '' 'heed: *missing.safetensors*' "$heed" serve -m missing.safetensors --port 0
for i in 1 2 3 4 5 6 7 8; do printf 'eins zwei\tone two\n'; done >"$here/pairs.tsv"
"$heed" train --tsv "$here/pairs.tsv" --dev-tsv "$here/pairs.tsv" --out "$here/nameless.safetensors" --arch seq2seq --tokens words --dim 8 --embed 8 --updates 1 \
    --quiet >"$here/out" 2>&1 || cat "$here/out"
expect 'its languages must be known' 1 '' '*write it in front, as in -m en-fr=*' "$heed" serve -m "$here/nameless.safetensors" --port 0
expect 'beyond this machine keys are wanted' 1 '' '*--api-keys FILE, or --insecure*' "$heed" serve --host 0.0.0.0 --port 0 -m de-en="$toy"
: >"$here/none"
expect 'a file of keys has one' 1 '' '*none: *' "$heed" serve --api-keys "$here/none" --port 0 -m de-en="$toy"
echo 'secret often' >"$here/bad"
expect 'and nothing else' 1 '' '*bad:1: behind a key*' "$heed" serve --api-keys "$here/bad" --port 0 -m de-en="$toy"
expect 'a module that is missing is named' 1 '' '*libmicrohttpd*' env HEED_SERVE_MODULE=/nowhere.so "$heed" serve --port 0

# A browser that notes what it is asked to open.
mkdir -p "$here/bin"
printf '#!/bin/sh\necho "$1" >"%s/opened"\n' "$here" >"$here/bin/xdg-open"
chmod +x "$here/bin/xdg-open"
PATH="$here/bin:$PATH" "$heed" serve --open -q --port 0 -m de-en="$toy" >"$here/where" 2>/dev/null &
server=$!
until [ -s "$here/opened" ] || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
kill $server
wait $server
expect '--open opens the page' 0 "heed: listening at $(cat "$here/opened")" '' cat "$here/where"

parts='libre clients own languages memory safety large load'
if grep -q __tsan_init "$heed"; then # what threads share is in these; the locks of what draws are not seen
    parts='own memory large'
    export HEED_DRAW_MODULE=/nowhere.so
fi
for part in $parts; do
    python3 "tests/serve/$part.py" "$heed" "$toy" || n_failed=$((n_failed + 1))
done
finish
