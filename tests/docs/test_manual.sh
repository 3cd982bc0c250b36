#!/bin/sh
# test_manual.sh -- the reference, the man pages and the shells' completions say what the program says.
. tests/transcript.sh

"$BUILD/heed" --tables >"$here/tables"
awk -v format=markdown -f tools/manual.awk "$here/tables" >"$here/commands.md"
expect 'docs/reference/commands.md is what make reference writes' 0 '' '' diff docs/reference/commands.md "$here/commands.md"

for command in $(sed -n 's/^command\t\([a-z]*\)\t.*/\1/p' "$here/tables"); do
    # What the help of a command names stands in its man page and in the completion.
    "$BUILD/heed" "$command" --help | sed -n 's/^  [- ].[, ] --\([a-z0-9-]*\).*/\1/p' | sort >"$here/options"
    sed -n 's/^\.B[I ] *"\(\\-., \)*\\-\\-\([^ "]*\).*/\2/p' "$BUILD/man/heed-$command.1" | tr -d '\\' | sort >"$here/in_man"
    expect "heed-$command.1 has every option" 0 '' '' diff "$here/options" "$here/in_man"
    sed -n "s/^    $command) options='\(.*\)' ;;/\1/p" "$BUILD/completion/heed.bash" | tr ' ' '\n' | sed 's/--//' | sort >"$here/in_bash"
    expect "bash completes every option of $command" 0 '' '' diff "$here/options" "$here/in_bash"
done

if command -v mandoc >/dev/null; then
    expect 'mandoc finds no fault with the man pages' 0 '' '' mandoc -T lint -W error "$BUILD"/man/*.1
fi
if command -v groff >/dev/null; then
    expect 'nor does groff' 0 '' '' groff -man -ww -z "$BUILD"/man/heed.1 "$BUILD"/man/heed-train.1 "$BUILD"/man/heed-eval.1
fi
for shell in bash zsh fish; do
    ! command -v $shell >/dev/null || expect "the completion is $shell" 0 '' '' $shell -n "$BUILD/completion/heed.$shell"
done

# completes WORDS... with the last one under way
cat >"$here/complete.bash" <<'E2'
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_heed
printf '%s\n' "${COMPREPLY[*]}"
E2
if command -v bash >/dev/null; then
    expect 'a command is completed' 0 'train translate' '' bash "$here/complete.bash" "$BUILD/completion/heed.bash" heed tr
    expect 'an option is' 0 '--symmetrize' '' bash "$here/complete.bash" "$BUILD/completion/heed.bash" heed align --sy
    expect 'a value is' 0 'gru' '' bash "$here/complete.bash" "$BUILD/completion/heed.bash" heed train --cell g
    expect 'a file is left to the shell' 0 '' '' bash "$here/complete.bash" "$BUILD/completion/heed.bash" heed train --src te
fi
if command -v fish >/dev/null; then
    expect 'fish completes a value' 0 'gru*' '' fish -c "source $BUILD/completion/heed.fish; complete -C 'heed train --cell g'"
fi
finish
