#!/bin/sh
# run_test.sh -- run one test program and say in one line how it went; show all it said if it went wrong.
#
#   run_test.sh RESULTS NAME COMMAND...      writes RESULTS/NAME.log and RESULTS/NAME.counts (its tests: passed, failed, skipped);
#                                            always succeeds, so that one failure does not hide the others
#   run_test.sh --summary RESULTS NAME...    the sums, in a line of their own; fails if a test failed or a program did not run
#
# Tests are counted by what cmocka and tests/transcript.sh print for each. A program that prints no such lines is one test. A script
# that leaves something out prints a line that begins with "skipped:".
set -u

if [ "$1" = --summary ]; then
    results=$2
    shift 2
    passed=0 failed=0 skipped=0 names=
    for name in "$@"; do
        # shellcheck disable=SC2046
        set -- $(cat "$results/$name.counts" 2>/dev/null || echo 0 1 0)
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
        [ "$2" = 0 ] || names="$names $name"
    done
    [ -z "$names" ] || echo "FAILED:$names (the logs are in $results)"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ -z "$names" ]
    exit
fi

results=$1
name=$2
shift 2
log=$results/$name.log
mkdir -p "$(dirname "$log")"
rm -f "$results/$name.counts"

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

# cmocka names what it skipped or what failed a second time at its end.
passed=$(grep -c '^\[       OK \]' "$log")
failed=$(grep '^\[  FAILED  \]' "$log" | grep -cv 'test(s), listed below:$')
skipped=$(grep '^\[  SKIPPED \]' "$log" | grep -cv 'test(s), listed below:$')
if grep -q '^\[==========\]' "$log"; then
    failed=$((failed / 2)) skipped=$((skipped / 2))
else
    skipped=$((skipped + $(grep -c '^skipped:' "$log")))
fi
if [ "$status" != 0 ]; then
    [ "$failed" -gt 0 ] || failed=1
else
    failed=0
    [ $((passed + skipped)) -gt 0 ] || passed=1
fi
echo "$passed $failed $skipped" >"$results/$name.counts"

count="$passed test$([ "$passed" = 1 ] || echo s)"
if [ "$status" = 0 ]; then
    printf '  %-7s %-28s %10s %4d s%s\n' "$([ "$passed" = 0 ] && echo skipped || echo ok)" "$name" "$count" "$seconds" \
        "$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
else
    [ "$status" = 124 ] && echo "stopped after ${TEST_SECONDS:-600} seconds" >>"$log"
    printf '  FAILED  %-28s (status %d)\n' "$name" "$status"
    sed 's/^/    | /' "$log"
fi
exit 0
