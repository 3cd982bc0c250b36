#!/usr/bin/env bash
# packages.sh -- see that what a command needs is there, and install it where that is possible.
#
#   tools/packages.sh GROUP...      build   compilers, make, and the libraries that libheed links
#                                   draw    cairo, pango and a few fonts, for pictures
#                                   mpi     Open MPI, for training on several machines
#                                   hosts   iproute2, for hosts of our own (make check-hosts)
#                                   serve   libmicrohttpd, for heed serve, and curl, by which pages show it
#                                   page    Chromium and its driver, which test the page of heed serve (large)
#                                   markup  gumbo and libxml2, for texts with tags
#                                   features  libsndfile, libpng and libjpeg, for sound and pictures
#                                   check   cmocka, for the tests
#                                   fonts   letters of many scripts, for pictures of all languages (large)
#                                   arm     a compiler and an emulator for aarch64
#                                   clang   the second compiler that every change must please
#                                   lint    clang-tidy, clang-format
#                                   abi     libabigail, which compares binary interfaces
#                                   bench   oneDNN, the yardstick of the kernels
#                                   deb     what makes a Debian package
#
# Whatever is there already is found by trying it, so nothing happens, and quickly, on a machine that is ready. On Debian
# and Ubuntu what is missing is installed, without questions; elsewhere, and with NO_INSTALL=1, its names are printed and the status
# is 1.
set -u
CC=${CC:-cc}
CXX=${CXX:-c++}

compiles() { # compiles FLAGS < program; CPPFLAGS and LDFLAGS as make has them
    # shellcheck disable=SC2086
    "$CC" ${CPPFLAGS:-} -x c - -o /dev/null ${LDFLAGS:-} "$@" 2>/dev/null
}
links_cmocka() {
    printf '%s\n' '#include <stdarg.h>' '#include <stddef.h>' '#include <stdint.h>' '#include <setjmp.h>' \
        '#include <cmocka.h>' 'int main(void) { return cmocka_run_group_tests((struct CMUnitTest *)0, 0, 0); }' |
        compiles -w -lcmocka
}
links_jansson() {
    printf '#include <jansson.h>\nint main(void) { return json_object() == 0; }\n' | compiles -ljansson
}
links_zlib() {
    printf '#include <zlib.h>\nint main(void) { return zlibVersion() == 0; }\n' | compiles -lz
}
links_utf8proc() {
    printf '#include <utf8proc.h>\nint main(void) { return utf8proc_version() == 0; }\n' | compiles -lutf8proc
}
links_sentencepiece() {
    # shellcheck disable=SC2086
    printf '#include <sentencepiece_trainer.h>\nint main() { return sentencepiece::SentencePieceTrainer::Train("").ok(); }\n' |
        "$CXX" -std=c++17 ${CPPFLAGS:-} -x c++ - -o /dev/null ${LDFLAGS:-} -lsentencepiece_train -lsentencepiece 2>/dev/null
}
compiles_pango() { # and pkg-config, by which the Makefile finds it
    # shellcheck disable=SC2046
    printf '#include <pango/pangocairo.h>\nint main(void) { return pango_version() == 0; }\n' |
        compiles $(pkg-config --cflags --libs cairo pangocairo 2>/dev/null)
}
links_microhttpd() {
    printf '#include <microhttpd.h>\nint main(void) { return MHD_get_version() == 0; }\n' | compiles -lmicrohttpd
}
compiles_gumbo() {
    # shellcheck disable=SC2046
    printf '#include <gumbo.h>\n#include <libxml/parser.h>\nint main(void) { return gumbo_parse == 0 || xmlNewParserCtxt == 0; }\n' |
        compiles -w $(pkg-config --cflags --libs gumbo libxml-2.0 2>/dev/null)
}
compiles_sndfile() {
    # shellcheck disable=SC2046
    printf '%s\n' '#include <stdio.h>' '#include <sndfile.h>' '#include <png.h>' '#include <jpeglib.h>' \
        'int main(void) { return sf_open == 0 || png_access_version_number() == 0 || jpeg_std_error == 0; }' |
        compiles -w $(pkg-config --cflags --libs sndfile libpng libjpeg 2>/dev/null)
}
has_font() { # has_font LANGUAGE: nothing is known without fontconfig, which comes with pango
    [ -n "$(fc-list ":lang=$1" 2>/dev/null)" ]
}
links_dnnl() {
    printf '%s\n' '#include <dnnl.h>' 'int main(void) { return dnnl_version() == 0; }' | compiles -ldnnl
}
compiles_for_arm() {
    printf 'int main(void) { return 0; }\n' | aarch64-linux-gnu-gcc -x c - -o /dev/null 2>/dev/null
}
has() {
    command -v "$1" >/dev/null 2>&1
}

# need DEBIAN FEDORA ARCH HOMEBREW: note a package that is missing ("-": there is none)
debian=() fedora=() arch=() homebrew=()
need() {
    local name
    for name in $1; do debian+=("$name"); done
    [ "$2" = - ] || fedora+=("$2")
    [ "$3" = - ] || arch+=("$3")
    [ "$4" = - ] || homebrew+=("$4")
}

[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
for group in "$@"; do
    case $group in
    build)
        has make || need make make make make
        if ! printf '#include <stdio.h>\nint main(void) { return 0; }\n' | compiles; then
            case $CC in
            *clang*) need "clang libc6-dev" clang clang llvm ;;
            *) need "gcc libc6-dev" gcc gcc gcc ;;
            esac
        fi
        printf 'int main() { return 0; }\n' | "$CXX" -x c++ - -o /dev/null 2>/dev/null || need g++ gcc-c++ gcc gcc
        links_sentencepiece || need libsentencepiece-dev sentencepiece-devel sentencepiece sentencepiece
        links_jansson || need libjansson-dev jansson-devel jansson jansson
        links_utf8proc || need libutf8proc-dev utf8proc-devel libutf8proc utf8proc
        links_zlib || need zlib1g-dev zlib-devel zlib zlib ;;
    check)
        links_cmocka || need libcmocka-dev libcmocka-devel cmocka cmocka ;;
    draw)
        has pkg-config || need pkg-config pkgconf-pkg-config pkgconf pkgconf
        compiles_pango || need "libcairo2-dev libpango1.0-dev" "pango-devel" pango pango
        has_font en || need "fontconfig fonts-dejavu-core" dejavu-sans-fonts ttf-dejavu - ;;
    fonts)
        has_font ar && has_font hi && has_font th || need "fontconfig fonts-noto-core" google-noto-sans-fonts noto-fonts -
        has_font ja || need fonts-noto-cjk google-noto-sans-cjk-fonts noto-fonts-cjk -
        has_font und-zsye || need fonts-noto-color-emoji google-noto-emoji-color-fonts noto-fonts-emoji - ;;
    mpi)
        has mpicc && has mpirun || need "libopenmpi-dev openmpi-bin" openmpi-devel openmpi open-mpi ;;
    hosts)
        has ip && has tc || need iproute2 "iproute iproute-tc" iproute2 - ;;
    serve)
        has pkg-config || need pkg-config pkgconf-pkg-config pkgconf pkgconf
        has curl || need curl curl curl curl
        links_microhttpd || need libmicrohttpd-dev libmicrohttpd-devel libmicrohttpd libmicrohttpd ;;
    markup)
        has pkg-config || need pkg-config pkgconf-pkg-config pkgconf pkgconf
        compiles_gumbo || need "libgumbo-dev libxml2-dev" "gumbo-parser-devel libxml2-devel" "gumbo-parser libxml2" "gumbo-parser libxml2" ;;
    page)
        has chromedriver || need chromium-driver chromedriver chromium chromedriver
        has chromium || has chromium-browser || has google-chrome || need chromium chromium chromium chromium ;;
    features)
        has pkg-config || need pkg-config pkgconf-pkg-config pkgconf pkgconf
        compiles_sndfile || need "libsndfile1-dev libpng-dev libjpeg-dev" "libsndfile-devel libpng-devel libjpeg-turbo-devel" \
            "libsndfile libpng libjpeg-turbo" "libsndfile libpng jpeg-turbo" ;;
    arm)
        compiles_for_arm ||
            need "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc -
        has qemu-aarch64 || need qemu-user qemu-user qemu-user - ;;
    clang)
        has clang || need clang clang clang llvm ;;
    lint)
        has clang-tidy || need clang-tidy clang-tools-extra - -
        has clang-format || need clang-format - - clang-format ;;
    abi)
        has abidw && has abidiff || need abigail-tools libabigail libabigail - ;;
    bench)
        links_dnnl || need libdnnl-dev onednn-devel onednn onednn ;;
    deb)
        has dpkg-architecture && has dpkg-shlibdeps || need dpkg-dev dpkg-dev dpkg - ;;
    *)
        echo "packages.sh: there is no group '$group'; choose from build, draw, mpi, hosts, serve, page, markup, features, check, fonts, arm, clang, lint, abi, bench, deb" >&2
        exit 2 ;;
    esac
done
[ ${#debian[@]} -gt 0 ] || exit 0

names() {
    [ $# -gt 0 ] && echo "$*" || echo '(nothing)'
}
print_names() {
    echo "Please install these packages and run the command again:"
    echo "  Debian, Ubuntu: sudo apt-get install $(names "${debian[@]}")"
    echo "  Fedora:         sudo dnf install $(names ${fedora[@]+"${fedora[@]}"})"
    echo "  Arch:           sudo pacman -S $(names ${arch[@]+"${arch[@]}"})"
    echo "  Homebrew:       brew install $(names ${homebrew[@]+"${homebrew[@]}"})"
} >&2

if [ -n "${NO_INSTALL:-}" ]; then
    echo "Missing: ${debian[*]}; nothing is installed, as NO_INSTALL is set." >&2
    print_names
    exit 1
fi
if ! has apt-get || ! has dpkg; then
    print_names
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! has sudo; then
        print_names
        exit 1
    fi
    as_root="sudo -n"
    if ! sudo -n true 2>/dev/null; then
        if [ ! -t 0 ]; then # nobody there to type a password
            print_names
            exit 1
        fi
        as_root=sudo
    fi
fi
echo "Installing${as_root:+ with sudo}: ${debian[*]}" >&2

log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_all() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${debian[@]}" \
        </dev/null >"$log" 2>&1
}
# The list of packages is fetched only if it turns out to be missing or old.
if ! install_all; then
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update </dev/null >"$log" 2>&1
    if ! install_all; then
        tail -n 20 "$log" >&2
        echo "packages.sh: the packages could not be installed; the reason is above" >&2
        print_names
        exit 1
    fi
fi
