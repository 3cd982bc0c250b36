#!/bin/sh
# run_test.sh -- run one test program and say in one line how it went; show all it said if it went wrong.
#
#   run_test.sh RESULTS NAME COMMAND...      writes RESULTS/NAME.log and RESULTS/NAME.status; always succeeds,
#                                            so that one failure does not hide the others
#   run_test.sh --summary RESULTS NAME...    counts; fails if one of them failed or did not run
set -u

if [ "$1" = --summary ]; then
    results=$2
    shift 2
    passed=0
    failed=
    for name in "$@"; do
        if [ "$(cat "$results/$name.status" 2>/dev/null)" = 0 ]; then
            passed=$((passed + 1))
        else
            failed="$failed $name"
        fi
    done
    if [ -n "$failed" ]; then
        echo "FAILED:$failed ($passed of $# passed; the logs are in $results)"
        exit 1
    fi
    echo "all $# programs passed"
    exit 0
fi

results=$1
name=$2
shift 2
log=$results/$name.log
mkdir -p "$(dirname "$log")"
rm -f "$results/$name.status"

# Asking for more memory than there is must be answered with NULL, under the sanitizers as well.
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export TSAN_OPTIONS="allocator_may_return_null=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
limit=
if command -v timeout >/dev/null; then
    limit="timeout ${TEST_SECONDS:-600}"
fi
begin=$(date +%s)
$limit "$@" >"$log" 2>&1 </dev/null
status=$?
seconds=$(($(date +%s) - begin))
echo "$status" >"$results/$name.status"

tests=$(grep -c '^\[       OK \]' "$log")
[ "$tests" -gt 0 ] && count="$tests tests" || count=
if [ "$status" = 0 ]; then
    printf '  ok      %-28s %10s %4d s\n' "$name" "$count" "$seconds"
else
    [ "$status" = 124 ] && echo "stopped after ${TEST_SECONDS:-600} seconds" >>"$log"
    printf '  FAILED  %-28s (status %d)\n' "$name" "$status"
    sed 's/^/    | /' "$log"
fi
exit 0
