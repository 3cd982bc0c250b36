#!/bin/sh
# check_hosts.sh -- training on several machines that are really several: two and four hosts (hosts.sh) with a network of
# 1 Gbit/s between them. They make the model file that one process makes; a host that dies or loses its cable ends the run
# with a sentence, and the run goes on from its state. Run by `make check-hosts`.
. tests/transcript.sh
. tests/hosts/hosts.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac

if ! hosts_possible || [ ! -e "$(dirname "$heed")/heed_mpi.so" ]; then
    echo 'check-hosts: skipped, as it needs root, network namespaces, ip and tc (tools/packages.sh hosts) and MPI (tools/packages.sh mpi)'
    exit 0
fi
trap 'hosts_down; rm -rf "$here"' EXIT
trap 'exit 130' INT TERM HUP

awk 'BEGIN { srand(7); split("ba do ki lu me no pa ri so tu", w, " ")
    for (i = 0; i < 1200; i++) {
        n = 2 + int(rand() * 6); s = t = ""
        for (k = 0; k < n; k++) { x = w[1 + int(rand() * 10)] w[1 + int(rand() * 10)]; s = s (k ? " " : "") x; t = x (k ? " " : "") t }
        print s "\t" t
    } }' >"$here/pairs.tsv"
train() { # train OUT LAUNCHER...
    out=$1
    shift
    "$@" "$heed" train --tsv "$here/pairs.tsv" --out "$here/$out.safetensors" --vocab-size 120 --dim 32 --ffn 64 --heads 2 \
        --updates 200 --valid-every 100 --save-every 20 --batch-tokens 1800 --seed 3 -q -j 1
}
sum_of() { sha256sum <"$here/$1.safetensors"; }
is_same() { [ "$(sum_of "$1")" = "$alone" ] && echo || echo "$(sum_of "$1") instead of $alone"; }

train alone env && alone=$(sum_of alone)
for n in 2 4; do
    hosts_up $n 1gbit
    echo "$n hosts, links of 1 Gbit/s, $hosts_delay"
    names=$(hosts_run $n hostname 2>"$here/err" | sort | tr '\n' ' ')
    [ "$names" = "$([ $n = 2 ] && echo 'host1 host2 ' || echo 'host1 host2 host3 host4 ')" ] && problem='' || problem="they are $names"
    verdict "the $n hosts are several" "$problem" "$(cat "$here/err")"
    train "hosts$n" hosts_run $n 2>"$here/err"
    verdict "$n hosts end in the same file" "$(is_same "hosts$n")" "$(cat "$here/err")"
    [ $n = 4 ] || hosts_down
done

lose() { # lose NAME COMMAND...: in mid-run something happens to host 2
    name=$1
    shift
    train "$name" hosts_run 2 >"$here/$name.err" 2>&1 &
    pid=$!
    until [ -s "$here/$name.state.safetensors" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    begin=$(date +%s)
    "$@"
    while kill -0 $pid 2>/dev/null && [ $(($(date +%s) - begin)) -lt 60 ]; do sleep 0.2; done
    seconds=$(($(date +%s) - begin)) problem=
    ! kill -0 $pid 2>/dev/null || problem="after $seconds s the run has not ended"
    hosts_kill 1
    wait $pid && problem="$problem; it says that all is well"
    [ "$seconds" -le 30 ] || problem="$problem; that took $seconds s"
    grep -q '[a-z] [a-z]' "$here/$name.err" || problem="$problem; nothing is said"
    verdict "$name: the run ends within 30 s ($seconds s) and says why" "$problem" "$(cat "$here/$name.err")"
    sed -n '/Warning/d; /[a-z] [a-z]/ { s/^/    /; p; }' "$here/$name.err" | head -n 2
}
again() { # again NAME: the same command goes on, once what was killed has let go of the journal
    until train "$1" hosts_run 2 2>"$here/again" || ! grep -q 'is in use' "$here/again"; do sleep 0.2; done
    problem=$(is_same "$1")
    grep -q 'goes on after update' "$here/$1.jsonl" || problem="$problem; it began anew"
    verdict "$1: the same command goes on from its state to the same file" "$problem" "$(cat "$here/again")"
}
lose 'a host dies' hosts_kill 2
again 'a host dies'
lose 'a cable is cut' hosts_cut 2
hosts_kill 2
hosts_join 2
again 'a cable is cut'
finish
