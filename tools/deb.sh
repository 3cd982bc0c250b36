#!/bin/sh
# deb.sh -- `make deb`: what `make install` puts on a system, as a Debian package.    deb.sh BUILD VERSION
#
# DEBFULLNAME and DEBEMAIL say who answers for the package, as they do for Debian's own tools.
# Libraries that the program and libheed link are depended on; those of the modules are recommended, as heed works
# without and says what is missing.
set -eu
build=$1 version=$2
cpu=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
root=$PWD/$build/deb/heed_${version}_$cpu
package=$build/heed_${version}_$cpu.deb

rm -rf "$build/deb"
mkdir -p "$root/DEBIAN" "$build/deb/debian"
make --no-print-directory BUILD="$build" DESTDIR="$root" PREFIX=/usr LIBDIR="lib/$triplet" install >/dev/null
strip --strip-unneeded "$root/usr/bin/heed" "$root/usr/lib/$triplet/libheed.so.$version" "$root"/usr/lib/heed/*.so 2>/dev/null || true
strip --strip-debug "$root/usr/lib/$triplet/libheed.a"
gzip -n9 "$root"/usr/share/man/man1/*.1
install -d "$root/usr/share/zsh/vendor-completions" "$root/usr/share/doc/heed"
mv "$root/usr/share/zsh/site-functions/_heed" "$root/usr/share/zsh/vendor-completions/_heed"
rmdir "$root/usr/share/zsh/site-functions"
install -m 644 LICENSE "$root/usr/share/doc/heed/copyright"
install -m 644 README.md "$root/usr/share/doc/heed/README.md"
gzip -n9c CHANGELOG.md >"$root/usr/share/doc/heed/changelog.gz"
chmod 644 "$root/usr/share/doc/heed/changelog.gz"

# The packages of the libraries that files link: needs FILE...
needs() {
    printf 'Source: heed\n\nPackage: heed\nArchitecture: any\n' >"$build/deb/debian/control"
    (cd "$build/deb" && dpkg-shlibdeps -O --ignore-missing-info "$@" 2>/dev/null) | sed 's/^shlibs:Depends=//'
}
# The same without what the program needs anyway.
more_needs() {
    needs "$@" | sed 's/libc6 ([^)]*), //'
}
depends=$(needs "$root/usr/bin/heed" "$root/usr/lib/$triplet/libheed.so.$version")
recommends=
suggests=
[ ! -f "$root/usr/lib/heed/heed_draw.so" ] || recommends="$(more_needs "$root/usr/lib/heed/heed_draw.so"), fonts-dejavu-core"
[ ! -f "$root/usr/lib/heed/heed_markup.so" ] || recommends="${recommends:+$recommends, }$(more_needs "$root/usr/lib/heed/heed_markup.so")"
[ ! -f "$root/usr/lib/heed/heed_features.so" ] || recommends="${recommends:+$recommends, }$(more_needs "$root/usr/lib/heed/heed_features.so")"
[ ! -f "$root/usr/lib/heed/heed_serve.so" ] || recommends="${recommends:+$recommends, }$(more_needs "$root/usr/lib/heed/heed_serve.so")"
[ ! -f "$root/usr/lib/heed/heed_mpi.so" ] || suggests=$(more_needs "$root/usr/lib/heed/heed_mpi.so")
{
    echo "Package: heed"
    echo "Version: $version"
    echo "Architecture: $cpu"
    echo "Maintainer: ${DEBFULLNAME:-the authors of heed} <${DEBEMAIL:-heed@localhost}>"
    echo "Section: science"
    echo "Priority: optional"
    echo "Installed-Size: $(du -sk "$root/usr" | cut -f1)"
    echo "Depends: $depends"
    [ -z "$recommends" ] || echo "Recommends: $recommends"
    [ -z "$suggests" ] || echo "Suggests: $suggests"
    echo "Description: attention-based sequence-to-sequence learning on the CPU"
    echo " heed trains translation models, translates with them and shows which words they"
    echo " looked at. The same input gives the same output, to the last bit, for any number"
    echo " of threads and on any CPU. This package has the program, the C library, its"
    echo " headers, man pages and completions for shells."
} >"$root/DEBIAN/control"
printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$root"
dpkg-deb --build --root-owner-group "$root" "$package" >/dev/null
echo "$package"
