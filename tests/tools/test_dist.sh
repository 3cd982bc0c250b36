#!/bin/sh
# test_dist.sh -- the tarball holds what git has and is enough for make; the Debian package has its parts.
. tests/transcript.sh

if [ "$BUILD" != build ] || ! command -v git >/dev/null || ! git rev-parse --git-dir >/dev/null 2>&1; then
    echo "skipped: for the plain build in a git checkout"
    exit 0
fi
expect 'make dist makes a tarball' 0 '*build/heed-*.tar.gz*' '*' make dist
version=$(sed -n 's/^#define HEED_VERSION "\(.*\)"/\1/p' include/heed.h)
expect 'which unpacks into a folder of its name' 0 '' '' tar -C "$here" -xzf "build/heed-$version.tar.gz"
(cd "$here/heed-$version" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$here/unpacked"
git ls-tree -r --name-only HEAD | LC_ALL=C sort >"$here/committed"
expect 'with every committed file and no other' 0 '' '' diff "$here/committed" "$here/unpacked"
expect 'make knows there what to do, without git' 0 '*LINK build/heed*install -m 755 build/heed*' '*' \
    env GIT_DIR=/nowhere make -C "$here/heed-$version" -n BUILD=build install

if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
    expect 'make deb makes a package' 0 '*build/heed_*.deb*' '*' make deb
    deb=$(ls build/heed_"$version"_*.deb)
    expect 'which says what it needs' 0 '*libjansson*libsentencepiece*' '' dpkg-deb -f "$deb" Depends
    dpkg-deb -c "$deb" | sed 's/.* \.//' >"$here/files"
    for file in /usr/bin/heed "/usr/lib/.*/libheed.so.${version%.*}" '/usr/lib/.*/pkgconfig/heed.pc' /usr/include/heed.h \
        /usr/share/man/man1/heed-train.1.gz /usr/share/bash-completion/completions/heed; do
        expect "and has $file" 0 '/usr/*' '' grep -m 1 -x "$file\( -> .*\)*" "$here/files"
    done
fi
finish
