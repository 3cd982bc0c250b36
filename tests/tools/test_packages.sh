#!/usr/bin/env bash
# test_packages.sh -- missing packages are named where they cannot be installed, and nothing is asked.
. tests/transcript.sh
packages=$PWD/tools/packages.sh

# A machine without a compiler and without apt: a PATH with nothing but the few tools the script itself uses.
bare=$here/bin
mkdir "$bare"
for tool in bash env sed id printf; do
    ln -s "$(command -v $tool)" "$bare/$tool"
done

expect 'what is there needs nothing' 0 '' '' "$packages" build check
if command -v clang++ >/dev/null; then
    expect 'nor does it for clang' 0 '' '' env CC=clang CXX=clang++ "$packages" build check
fi
expect 'an unknown group is refused' 2 '' '*there is no group*banana*' "$packages" banana
expect 'no group shows how it is used' 2 '*packages.sh GROUP*' '' "$packages"
expect 'elsewhere the names are printed' 1 '' \
    '*Fedora: *dnf install make gcc gcc-c++ sentencepiece-devel *libcmocka-devel*Arch: *pacman -S make gcc *cmocka*Homebrew: *brew install make gcc *cmocka*' \
    env PATH="$bare" CC=cc "$packages" build check
expect 'pictures ask for cairo, pango and a font' 1 '' '*apt-get install pkg-config libcairo2-dev libpango1.0-dev fontconfig fonts-dejavu-core*dnf install * pango-devel *' \
    env PATH="$bare" CC=cc "$packages" draw
expect 'clang is asked for where clang is used' 1 '' '*dnf install make clang*' env PATH="$bare" CC=clang "$packages" build

# A Debian with an apt-get that only writes down what it is told, and knows no package before an update.
cat >"$bare/apt-get" <<END
#!/bin/bash
echo "\$DEBIAN_FRONTEND \$*" >>"$here/told"
case \$1 in
update) : >"$here/updated" ;;
install) [ -f "$here/updated" ] ;;
esac
END
cp "$bare/apt-get" "$bare/dpkg"
chmod +x "$bare/apt-get" "$bare/dpkg"
printf '#!/bin/bash\necho 0\n' >"$bare/id.new" && chmod +x "$bare/id.new" && mv "$bare/id.new" "$bare/id"
for tool in mktemp rm tail; do
    ln -s "$(command -v $tool)" "$bare/$tool"
done
expect 'where nothing may be installed they are named' 1 '' \
    'Missing: libcmocka-dev; nothing is installed, as NO_INSTALL is set.*apt-get install libcmocka-dev*' \
    env PATH="$bare" CC=false NO_INSTALL=1 "$packages" check
problem=
[ ! -e "$here/told" ] || problem='apt-get was called'
verdict 'and apt-get is left alone' "$problem" ''
expect 'on Debian they are installed' 0 '' 'Installing: make gcc libc6-dev g++ libsentencepiece-dev libjansson-dev libutf8proc-dev zlib1g-dev libcmocka-dev' \
    env PATH="$bare" CC=cc "$packages" build check
wanted='noninteractive install -y --no-install-recommends make gcc libc6-dev g++ libsentencepiece-dev libjansson-dev libutf8proc-dev zlib1g-dev libcmocka-dev
noninteractive update
noninteractive install -y --no-install-recommends make gcc libc6-dev g++ libsentencepiece-dev libjansson-dev libutf8proc-dev zlib1g-dev libcmocka-dev'
problem=
[ "$(cat "$here/told")" = "$wanted" ] || problem='apt-get was told something else'
verdict 'the list of packages is fetched only when needed' "$problem" "$(cat "$here/told")"
finish
