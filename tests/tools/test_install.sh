#!/bin/sh
# test_install.sh -- what is installed can be found, compiled against and run, and leaves nothing when it goes.
. tests/transcript.sh

if [ "$BUILD" != build ] || ! command -v pkg-config >/dev/null; then
    echo "skipped: for the plain build, where pkg-config is"
    exit 0
fi
root=$here/root
expect 'make install works' 0 '*' '*' make install DESTDIR="$root" PREFIX=/opt/heed
for file in man/man1/heed.1 man/man1/heed-train.1 bash-completion/completions/heed zsh/site-functions/_heed \
    fish/vendor_completions.d/heed.fish; do
    problem=
    [ -s "$root/opt/heed/share/$file" ] || problem='it is not there'
    verdict "share/$file is installed" "$problem" ''
done
export PKG_CONFIG_PATH="$root/opt/heed/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
expect 'pkg-config knows the version' 0 '[0-9]*.[0-9]*.[0-9]*' '' pkg-config --modversion heed

cat >"$here/user.c" <<'END'
#include <heed.h>
#include <stdio.h>
int main(void)
{
    return printf("%s\n", heed_version()) < 0;
}
END
expect 'a program is compiled with it' 0 '' '*' \
    sh -c "${CC:-cc} '$here/user.c' -o '$here/user' \$(pkg-config --cflags --libs heed)"
expect 'and runs' 0 '[0-9]*.[0-9]*.[0-9]*' '' env LD_LIBRARY_PATH="$root/opt/heed/lib" "$here/user"
expect 'the static library is enough too' 0 '' '*' \
    sh -c "${CC:-cc} '$here/user.c' -o '$here/user' -I'$root/opt/heed/include' '$root/opt/heed/lib/libheed.a' \
           \$(pkg-config --static --libs heed | sed 's/-lheed//')"
expect 'and runs alone' 0 '[0-9]*.[0-9]*.[0-9]*' '' "$here/user"
expect 'the headers are C++ as well' 0 '' '*' \
    sh -c "command -v c++ >/dev/null || exit 0
           for h in '$root'/opt/heed/include/*.h; do c++ -fsyntax-only -I'$root/opt/heed/include' -x c++ \"\$h\" || exit 1; done"

if [ -f build/heed_draw.so ]; then
    cat >"$here/draw.c" <<'END'
#include <heed_draw.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    const char *const words[] = {"word"};
    const float one[] = {1};
    const heed_picture_attention attention = {.words = {words, 1, words, 1}, .weights = one};
    heed_error err = {0};
    const bool is_drawn = heed_draw(&(heed_picture){.attention = &attention}, argv[argc - 1], &err);
    fputs(err.message, stderr);
    return !is_drawn;
}
END
    expect 'a program that draws is compiled' 0 '' '*' \
        sh -c "${CC:-cc} '$here/draw.c' -o '$here/draw' \$(pkg-config --cflags --libs heed)"
    expect 'and finds the module below the library' 0 '' '' \
        env LD_LIBRARY_PATH="$root/opt/heed/lib" "$here/draw" "$here/picture.svg"
    expect 'a program with the static library' 0 '' '*' \
        sh -c "${CC:-cc} '$here/draw.c' -o '$root/opt/heed/bin/draw' -I'$root/opt/heed/include' '$root/opt/heed/lib/libheed.a' \
               \$(pkg-config --static --libs heed | sed 's/-lheed//')"
    expect 'finds it beside its own folder' 0 '' '' env PATH="$root/opt/heed/bin:$PATH" draw "$here/picture.png"
    mv "$root/opt/heed/bin/draw" "$here/elsewhere"
    if [ ! -d /usr/local/lib/heed ] && [ ! -d /usr/lib/heed ]; then
        expect 'and elsewhere says what is missing' 1 '' 'pictures need the module heed_draw.so, *' "$here/elsewhere" "$here/x.svg"
    fi
fi


plain='env -u PKG_CONFIG_PATH -u PKG_CONFIG_SYSROOT_DIR' # as it was built
# another place: pkg-config has to be told, programs find their library by themselves
expect 'make install says what to type' 0 "*For programs of your own: export PKG_CONFIG_PATH=$here/own/lib/pkgconfig*" '*' $plain make install PREFIX="$here/own"
(
    unset PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
    export PKG_CONFIG_PATH="$here/own/lib/pkgconfig"
    ${CC:-cc} "$here/user.c" -o "$here/own-user" $(pkg-config --cflags --libs heed) && "$here/own-user"
) >"$here/own-said" 2>&1
problem=
grep -q '^[0-9]*\.[0-9]*\.[0-9]*$' "$here/own-said" || problem='it does not run'
verdict 'a program finds the library there without LD_LIBRARY_PATH' "$problem" "$(cat "$here/own-said")"
expect 'the system has no such path in it' 0 '' '*' sh -c "$plain make install DESTDIR='$here/system' PREFIX=/usr >/dev/null && ! grep rpath '$here/system/usr/lib/pkgconfig/heed.pc'"

# the example that a reader copies
expect 'the example is compiled with what is installed' 0 '' '*' \
    sh -c "${CC:-cc} -std=c11 -Wall -Wextra -Werror examples/translate.c -o '$here/translate' \$(pkg-config --cflags --libs heed)"
expect 'and translates' 0 'three two one
    drei - three
    zwei - two
    eins - one' '' env LD_LIBRARY_PATH="$root/opt/heed/lib" "$here/translate"

# what the library promises: a name that goes, or comes unseen, is a change of the API
expected=$(cat include/heed*.h | tr '\n' ' ' | grep -o 'HEED_API [a-z][^;(]*(' | sed 's/.*[ *]\([a-z]*_[a-z_]*\)($/\1/' | grep '^heed_' | sort)
got=$(nm -D --defined-only build/libheed.so | awk '$3 ~ /^heed_/ { sub(/@.*/, "", $3); print $3 }' | sort)
problem=
[ "$expected" = "$got" ] || problem='these names and those of the headers differ'
verdict 'the shared library shows what the headers say' "$problem" "$got"
problem=
nm -D --defined-only build/libheed.so | grep -q ' heed_translator_text@@HEED_0.2$' || problem='heed_translator_text has no version'
verdict 'with their versions' "$problem" ''
problem=
symbols=$(nm -D --defined-only build/libheed.so | awk '$2 != "A" && $3 !~ /^(heed_|hd_)/ && $3 !~ /^_/ { print $3 }')
[ -z "$symbols" ] || problem='other names are visible'
verdict 'the shared library shows only names of heed' "$problem" "$symbols"

expect 'make uninstall works' 0 '*' '*' make uninstall DESTDIR="$root" PREFIX=/opt/heed
problem=
left=$(find "$root" ! -type d)
[ -z "$left" ] || problem='something is left'
verdict 'nothing is left' "$problem" "$left"
finish
