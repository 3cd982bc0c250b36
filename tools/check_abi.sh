#!/usr/bin/env bash
# check_abi.sh -- does the library keep the binary interface of the last release?
#
#   tools/check_abi.sh BUILD VERSION          compares with tests/abi/libheed-VERSION.abi; VERSION is that of the ABI, 0.2
#   tools/check_abi.sh BUILD VERSION --write  writes that file, for a release
#
# Compared is what heed.h and heed_draw.h show: functions, structs and enums. New functions are no change; a struct that has grown at its
# end is one that somebody must look at. Needs abidw and abidiff of libabigail.
set -eu
build=$1 version=$2 mode=${3:-}
stored=tests/abi/libheed-$version.abi
if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
    echo 'check-abi: skipped, as abidw or abidiff is missing (tools/packages.sh abi installs them)'
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The C part of the library is enough, and leaves the types of SentencePiece's C++ out.
# shellcheck disable=SC2046
cc -shared -Wl,--version-script=tools/libheed.map -o "$work/libheed.so" \
    $(find "$build/obj/src" -name '*.o' ! -path '*/kernel/*' ! -name sentencepiece.o | sort)
{
    echo '[abi_whitelist]'
    nm -D --defined-only "$work/libheed.so" | awk '$3 ~ /^heed_/ { sub(/@.*/, "", $3); print "  " $3 }'
} >"$work/names"
abidw -w "$work/names" --headers-dir include --drop-private-types --no-show-locs --no-comp-dir-path --no-corpus-path \
    --no-elf-needed --no-parameter-names "$work/libheed.so" >"$work/now.abi"
if [ "$mode" = --write ]; then
    mkdir -p tests/abi
    cp "$work/now.abi" "$stored"
    echo "check-abi: $stored is written"
elif [ ! -e "$stored" ]; then
    echo "check-abi: there is no $stored; 'make abi' writes it for a release"
elif abidiff --no-added-syms "$stored" "$work/now.abi" >"$work/report"; then
    echo "check-abi: the same interface as $stored"
else
    cat "$work/report"
    echo "check-abi: programs built with heed $version may break; raise the minor version, or, where structs of the library have"
    echo "only grown at their end, let 'make abi' note the new interface"
    exit 1
fi
