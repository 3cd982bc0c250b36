#!/bin/sh
# demo.sh -- `make demo`: builds heed, translates, shows what the model looked at, and trains a small model that learns to look.
#
#   tools/demo.sh BUILD            built first by the command in MAKE, if there is one
#   tools/demo.sh BUILD UPDATES    with another number of updates than the recipe's
set -eu
build=$1
updates=${2:-}
heed=$build/heed
work=$build/demo
mkdir -p "$work"

bold='' faint='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$(printf '\033[1m') faint=$(printf '\033[2m') plain=$(printf '\033[0m')
fi
heading() {
    printf '\n%s── %s ──%s\n\n' "$bold" "$1" "$plain"
}
say() {
    printf '%s\n' "$1" | fold -s -w 78 | sed 's/ *$//'
}
command_line() { # what is run, as one would type it; a second argument is a second line
    printf '%s$ %s%s\n' "$faint" "$1${2:+
      $2}" "$plain"
}

# ---- building -----------------------------------------------------------------------------------------------------------------

# One line that changes stands for a hundred; all of them are in the log, and are shown when something is wrong.
build_heed() {
    log=$work/build.log
    begin=$(date +%s)
    # shellcheck disable=SC2086
    { $MAKE --no-print-directory program 2>&1 || touch "$work/failed"; } | tee "$log" | while read -r line; do
        [ ! -t 1 ] || printf '\r%.78s\033[K' "  $line"
    done
    [ ! -t 1 ] || printf '\r\033[K'
    if [ -e "$work/failed" ]; then
        cat "$log"
        exit 1
    fi
    say "Done in $(($(date +%s) - begin)) s: $heed, $(($(wc -c <"$heed") / 1000000)) MB."
}

rm -f "$work/failed"
if [ -n "${MAKE:-}" ]; then
    heading 'Building heed'
    say 'The first time this takes a minute or two.'
    build_heed
fi

# ---- translating --------------------------------------------------------------------------------------------------------------

has_model() {
    "$heed" info --json | grep -q '"model": {'
}

if has_model; then
    heading 'Translating, with the model inside heed'
    cat >"$work/text" <<'END'
Thank you very much.
I love my cat.
Where did you buy these shoes?
She doesn't want to talk about it.
END
    command_line "$heed translate"
    "$heed" translate "$work/text" >"$work/translated"
    paste "$work/text" "$work/translated" | awk -F '\t' '{ printf "%-36s %s\n", $1, $2 }'

    heading 'What people type'
    say 'Words, capitals, no capitals, lists, links, several sentences, French and German; what is not to be translated comes through.'
    echo
    cat >"$work/typed" <<'END'
I LOVE MY CAT.
do you speak english?
butterfly
Wo ist der Bahnhof?
Merci beaucoup !
- The door is closed.
• I’m very tired. 😀
It is raining. Take your umbrella.
Write to jane.doe@example.org before 17:45.
https://example.com/page?id=7
%s
END
    command_line "$heed translate"
    "$heed" translate -q "$work/typed" >"$work/answered"
    paste "$work/typed" "$work/answered" | awk -F '\t' '{ printf "%s\n    %s\n", $1, $2 }'

    heading 'What it looked at'
    command_line "echo 'The red house is very old.' |" "$heed translate --show --plot $build/demo.svg"
    echo 'The red house is very old.' >"$work/sentence"
    "$heed" translate --show "$work/sentence"
    if "$heed" translate --plot "$build/demo.svg" "$work/sentence" >/dev/null 2>"$work/problem"; then
        drawn="The same as a picture: $build/demo.svg."
    else
        drawn="There is no picture of it: $(sed 's/^heed: *//' "$work/problem")"
    fi
    say "A row is a French word, a column an English one: the stronger a cell, the more the model looked there to write the word. $drawn"
else
    heading 'Translating'
    say 'This heed was built without a model inside (models/default.safetensors), so there is nothing to translate with until one is trained.'
fi

# ---- training -----------------------------------------------------------------------------------------------------------------

# reverse SEED N: lines "a b c <TAB> c b a" of 3 to 10 letters, the same under every awk
reverse() {
    awk -v seed="$1" -v n="$2" '
        function below(m) { state = (state * 16807) % 2147483647; return int(state / 7) % m }
        BEGIN {
            state = seed * 7919 + 1
            for (i = 0; i < n; i++) {
                source = target = ""
                for (k = 3 + below(8); k > 0; k--) {
                    letter = substr("abcdefghijklmnopqrstuvwxyz", below(26) + 1, 1)
                    source = source letter (k > 1 ? " " : "")
                    target = letter (target == "" ? "" : " ") target
                }
                print source "\t" target
            }
        }' </dev/null
}

heading 'Learning: letters turned around'
say 'A model of 70,000 numbers, all of them random, is shown 20,000 made-up lines such as these. Nobody tells it where to look.'
reverse 1 20000 >"$work/train.tsv"
reverse 2 500 >"$work/unseen.tsv"
head -n 2 "$work/train.tsv" | awk -F '\t' '{ printf "\n  %s  ->  %s", $1, $2 } END { print "\n" }'
model=$work/reverse.safetensors
command_line "$heed train --config recipes/reverse.conf \\" "--tsv $work/train.tsv --out $model"
# shellcheck disable=SC2086
"$heed" train --config recipes/reverse.conf --tsv "$work/train.tsv" --out "$model" --fresh ${updates:+--updates $updates} 2>&1

heading 'What it learned'
command_line "echo 'a t t e n t i o n' |" "$heed translate -m $model --show"
echo 'a t t e n t i o n' | "$heed" translate -m "$model" --show
say 'The diagonal is turned around: to write the first letter it looks at the last, for the second at the last but one. Of 500 lines that it has never seen it gets right:'
echo
command_line "$heed eval -m $model \\" "--tsv $work/unseen.tsv --metrics exact"
"$heed" eval -q -m "$model" --tsv "$work/unseen.tsv" --metrics exact

# ---- and now ------------------------------------------------------------------------------------------------------------------

heading 'To try next'
if has_model; then
    echo "  $heed translate --show       type English, French or German"
else
    echo "  $heed translate --show -m $model"
fi
has_model && echo "  $heed serve --open           a page to translate and look on"
echo "  $heed train --src my.en --tgt my.fr --out my.safetensors"
echo "  $heed --help                 everything else"
