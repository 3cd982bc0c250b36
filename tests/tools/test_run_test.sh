#!/bin/sh
# test_run_test.sh -- the one who runs the tests does not hide a failure.
. tests/transcript.sh
run=tools/run_test.sh
results=$here/results

expect 'a pass is one line' 0 '  ok      a/good *1 test *s' '' $run "$results" a/good sh -c 'echo fine'
expect 'a failure shows all that was said' 0 '  FAILED  a/bad *(status 3)*| one*| two' '' \
    $run "$results" a/bad sh -c 'echo one; echo two >&2; exit 3'
expect 'a crash is a failure' 0 '  FAILED  a/crash *' '*' $run "$results" a/crash sh -c 'kill -9 $$'
expect 'tests are counted' 0 '  ok      a/two * 2 tests *' '' \
    $run "$results" a/two printf '[       OK ] one\n[       OK ] two\n'
expect 'one that takes too long is stopped' 0 '  FAILED  a/slow *stopped after 1 seconds' '*' \
    env TEST_SECONDS=1 $run "$results" a/slow sleep 20
expect 'a missing program is a failure' 0 '  FAILED  a/none *' '' $run "$results" a/none "$here/none"
expect 'a script that leaves something out is counted so' 0 '  ok      a/part * 1 test *, 1 skipped' '' \
    $run "$results" a/part printf '[       OK ] one\nskipped: the rest\n'
expect 'one that leaves out all did not pass' 0 '  skipped a/left * 0 tests *, 1 skipped' '' $run "$results" a/left echo 'skipped: no Python'
expect 'cmocka says twice what it skipped or what failed' 0 '  FAILED  a/mocka *' '' $run "$results" a/mocka sh -c \
    "printf '[==========] Running 3 test(s).\n[       OK ] a\nskipped: no b\n[  SKIPPED ] b\n[  FAILED  ] c\n[==========] 3 test(s) run.\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] b\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] c\n'; exit 1"
expect 'the summary of passes is a pass' 0 '4 passed, 0 failed, 2 skipped' '' $run --summary "$results" a/good a/two a/part a/left
expect 'one failure fails the summary' 1 'FAILED: a/bad a/mocka (the logs are in *)
2 passed, 2 failed, 1 skipped' '' $run --summary "$results" a/good a/bad a/mocka
expect 'one that did not run fails it too' 1 'FAILED: a/never (*
1 passed, 1 failed, 0 skipped' '' $run --summary "$results" a/good a/never
finish
