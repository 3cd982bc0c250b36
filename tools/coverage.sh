#!/bin/sh
# coverage.sh -- which lines of src/, draw/, serve/ and cli/ a run of the tests reached.    coverage.sh BUILD
# gcovr makes the table if it is there; plain gcov otherwise.
set -eu

build=$1
if command -v gcovr >/dev/null; then
    exec gcovr --root . --filter src/ --filter draw/ --filter serve/ --filter cli/ "$build/obj"
fi
find "$build/obj/src" "$build/obj/draw" "$build/obj/serve" "$build/obj/cli" -name '*.gcda' | sort | xargs gcov -n 2>/dev/null | awk '
/^File / {
    file = $2
    gsub(/\047/, "", file)
    next
}
/^Lines executed:/ {
    if (file ~ /^(src|draw|serve|cli)\// && !(file in lines)) {
        split($0, part, /[:%]| of /)
        order[++n] = file
        share[file] = part[2]
        lines[file] = part[4]
    }
    file = ""
}
END {
    for (i = 1; i <= n; i++) {
        file = order[i]
        printf "%7.1f %%  of %5d lines  %s\n", share[file], lines[file], file
        all += lines[file]
        reached += share[file] * lines[file] / 100
    }
    if (all > 0)
        printf "%7.1f %%  of %5d lines  in all\n", 100 * reached / all, all
}'
