#!/bin/sh
# test_run_test.sh -- the one who runs the tests does not hide a failure.
. tests/transcript.sh
run=tools/run_test.sh
results=$here/results

expect 'a pass is one line' 0 '  ok      a/good * s' '' $run "$results" a/good sh -c 'echo fine'
expect 'a failure shows all that was said' 0 '  FAILED  a/bad *(status 3)*| one*| two' '' \
    $run "$results" a/bad sh -c 'echo one; echo two >&2; exit 3'
expect 'a crash is a failure' 0 '  FAILED  a/crash *' '*' $run "$results" a/crash sh -c 'kill -9 $$'
expect 'tests are counted' 0 '  ok      a/two * 2 tests *' '' \
    $run "$results" a/two printf '[       OK ] one\n[       OK ] two\n'
expect 'one that takes too long is stopped' 0 '  FAILED  a/slow *stopped after 1 seconds' '*' \
    env TEST_SECONDS=1 $run "$results" a/slow sleep 20
expect 'a missing program is a failure' 0 '  FAILED  a/none *' '' $run "$results" a/none "$here/none"
expect 'the summary of passes is a pass' 0 'all 2 programs passed' '' $run --summary "$results" a/good a/two
expect 'one failure fails the summary' 1 'FAILED: a/bad (1 of 2 passed*' '' $run --summary "$results" a/good a/bad
expect 'one that did not run fails it too' 1 'FAILED: a/never (1 of 2 passed*' '' \
    $run --summary "$results" a/good a/never
finish
