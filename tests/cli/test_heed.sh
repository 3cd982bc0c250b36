#!/bin/sh
# test_heed.sh -- the program as a user meets it.
. tests/transcript.sh
heed=$BUILD/heed
unset HEED_KERNEL NO_COLOR
newline='
'

expect 'without a word heed shows its help and calls it wrong usage' \
    2 '' 'Usage: heed COMMAND*  info *--version*' "$heed"
expect 'the help is a result' 0 'Usage: heed COMMAND*  info *HEED_KERNEL*' '' "$heed" --help
expect 'the help has a short form' 0 'Usage: heed COMMAND*' '' "$heed" -h
expect 'the version names compiler and kernels' \
    0 "heed [0-9]*.[0-9]*.[0-9]*, built with ?* [0-9]*${newline}kernels of this CPU: ref generic*; in use: ?*" '' \
    "$heed" --version
expect 'the version has a short form' 0 'heed [0-9]*' '' "$heed" -V
expect 'info says what there is' \
    0 'version   [0-9]*compiler  *kernel    ?*kernels   ref generic*cores     [1-9]*' '' "$heed" info
expect 'info speaks JSON' \
    0 '{"version": "[0-9]*", "compiler": "?*", "kernel": "?*", "kernels": \["ref", "generic"*\], "cores": [1-9]*}' '' \
    "$heed" info --json
expect 'a command has a help of its own' 0 'Usage: heed info*--json*-h, --help*' '' "$heed" info --help
expect 'help is a command as well' 0 'Usage: heed COMMAND*  train *  translate *  align *  score *  eval *  info *  convert *' '' "$heed" help
expect 'with a command, its help' 0 'Usage: heed train *Examples*heed train --src *' '' "$heed" help train
expect 'whatever its name was' 0 'Usage: heed convert *' '' "$heed" help import
expect 'a mistyped command is answered there, too' 2 '' "heed: there is no command 'trian'; did you mean 'train'?" "$heed" help trian
expect 'a mistyped command is answered with the right one' \
    2 '' "heed: there is no command 'ifno'; did you mean 'info'?" "$heed" ifno
expect 'a strange command is answered with the way to the list' \
    2 '' "heed: there is no command 'banana'; 'heed --help' lists what there is" "$heed" banana
expect 'a mistyped option is answered with the right one' \
    2 '' "heed: there is no option 'jso'; did you mean json?" "$heed" info --jso
expect 'a mistyped option of the program too' \
    2 '' "heed: there is no option '--verison'; did you mean '--version'?" "$heed" --verison
expect 'a model that is not there is named' 1 '' 'heed: nowhere.safetensors: there is no such file*' "$heed" info nowhere.safetensors
expect 'what is not a model is refused' 1 '' 'heed: Makefile: *' "$heed" info Makefile
expect 'convert says what it needs' 2 '' 'heed: convert needs a model and -o FILE*' "$heed" convert
expect 'convert names a missing model' 1 '' 'heed: nowhere.npz: there is no such file*' \
    "$heed" convert nowhere.npz --vocab nowhere.spm -o nowhere.safetensors
expect 'a text is no model' 1 '' 'heed: README.md: this is no model that heed knows*' "$heed" convert README.md -o "$here/none.safetensors"
expect 'convert needs the vocabulary' 1 '' 'heed: tests/format/data/stored.npz: a Marian model needs its vocabulary*' \
    "$heed" convert tests/format/data/stored.npz -o nowhere.safetensors
expect 'a model of heed has it inside' 1 '' 'heed: tests/translate/toy.safetensors: a model of heed has its vocabulary inside*' \
    "$heed" convert tests/translate/toy.safetensors --vocab nowhere.spm -o nowhere.safetensors
expect 'a model of heed is stored anew, with notes' 0 '' '' "$heed" convert tests/translate/toy.safetensors --store f16 \
    --attribution 'Jane & Co.' --licence 'CC-BY 2.0' -o "$here/half.safetensors"
expect 'which info tells' 0 '*  attribution          Jane & Co.*  licence              CC-BY 2.0*' '' "$heed" info "$here/half.safetensors"
expect 'and an empty note takes out' 0 '' '' "$heed" convert "$here/half.safetensors" --licence '' -o "$here/again.safetensors"
problem=
"$heed" info "$here/again.safetensors" | grep -q licence && problem='the licence is still there'
[ "$(wc -c <"$here/half.safetensors")" -lt "$(wc -c <"$here/again.safetensors")" ] || problem='it is no smaller'
verdict 'half the space, no licence' "$problem" "$(ls -l "$here")"
expect 'convert was once called import' 0 '' '' "$heed" import tests/translate/toy.safetensors -o "$here/alias.safetensors"
problem=
"$heed" --help | grep -q import && problem='the help still lists it'
verdict 'which no help mentions' "$problem" "$("$heed" --help)"
expect 'notes are UTF-8' 1 '' "heed: a note in a model's record must be UTF-8*" \
    "$heed" convert tests/translate/toy.safetensors --licence "$(printf '\377')" -o "$here/bad.safetensors"
expect 'words nobody asked for are refused' 2 '' "heed: info does not know what to do with 'y'*" "$heed" info x y
expect 'an empty word is no command' 2 '' "heed: there is no command ''*" "$heed" ''

for kernel in $("$heed" info | sed -n 's/^kernels *//p'); do
    expect "HEED_KERNEL=$kernel is obeyed" 0 "*\"kernel\": \"$kernel\"*" '' env HEED_KERNEL="$kernel" "$heed" info --json
done
expect 'a kernel that does not exist fails with a sentence' 1 '' 'heed: *HEED_KERNEL*banana*' \
    env HEED_KERNEL=banana "$heed" info
expect 'also for the version' 1 '' 'heed: *HEED_KERNEL*banana*' env HEED_KERNEL=banana "$heed" --version

if [ -w /dev/full ]; then
    expect 'a full disk fails with a sentence' 1 '' 'heed: standard output cannot be written: ?*' \
        sh -c "'$heed' info >/dev/full"
    expect 'even for the help' 1 '' 'heed: standard output cannot be written: ?*' sh -c "'$heed' --help >/dev/full"
fi
expect 'a closed stdout fails with a sentence' 1 '' 'heed: standard output cannot be written: ?*' \
    sh -c "'$heed' info >&-"
expect 'a closed stderr does not change the status' 2 '' '' sh -c "'$heed' banana 2>&-"

# What a terminal gets: script(1) makes one.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    esc=$(printf '\033')
    expect 'headings are bold on a terminal' 0 "*${esc}?1mCommands*" '' \
        env TERM=xterm script -qec "$heed --help" /dev/null
    "$heed" --help >"$here/plain"
    env TERM=xterm NO_COLOR=1 script -qec "$heed --help" /dev/null </dev/null | tr -d '\r' >"$here/no_color"
    problem=
    grep -q "$esc" "$here/no_color" && problem='there are escapes'
    verdict 'NO_COLOR is respected' "$problem" "$(cat "$here/no_color")"
fi
finish
