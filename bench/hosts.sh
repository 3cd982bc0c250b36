#!/bin/sh
# hosts.sh -- what a network costs a training: one, two and four hosts (tests/hosts/hosts.sh), one thread each, with links of
# 1 Gbit/s, 10 Gbit/s and as fast as they go, and beside it the time that docs/scale.md expects of the wire. Run by
# `make bench-hosts`, as root; UPDATES=N of each (20); those from the tenth on count.
#
# All hosts share this machine's cores, so the time of products says nothing about a cluster; what is compared is the time
# that a rank waits for the exchange, and how it grows as links get slower.
set -eu
here=$(mktemp -d)
. tests/hosts/hosts.sh
trap 'hosts_down; rm -rf "$here"' EXIT
trap 'exit 130' INT TERM HUP
heed=$PWD/$BUILD/heed updates=${UPDATES:-20}
case $BUILD in /*) heed=$BUILD/heed ;; esac
if ! hosts_possible || [ ! -e "$(dirname "$heed")/heed_mpi.so" ]; then
    echo 'bench-hosts: skipped, as it needs root, network namespaces, ip and tc (tools/packages.sh hosts) and MPI (tools/packages.sh mpi)'
    exit 0
fi

# Sentences of made-up words, translated word by word and turned round.
awk 'BEGIN { srand(7); n_letters = split("ba do ki lu me no pa ri so tu", w, " ")
    for (i = 0; i < 20000; i++) {
        n = 6 + int(rand() * 9); s = t = ""
        for (k = 0; k < n; k++) {
            x = w[1 + int(rand() * 10)] w[1 + int(rand() * 10)] w[1 + int(rand() * 10)]
            s = s (k ? " " : "") x; t = "z" x (k ? " " : "") t
        }
        print s "\t" t
    } }' >"$here/pairs.tsv"
head -n 2 "$here/pairs.tsv" >"$here/dev.tsv"

measure() { # measure HOSTS RATE LAUNCHER...: one line of the table
    n=$1 rate=$2
    shift 2
    rm -f "$here"/m.*
    "$@" "$heed" train --tsv "$here/pairs.tsv" --dev-tsv "$here/dev.tsv" --out "$here/m.safetensors" --size small --tokens words \
        --batch-tokens 1024 --shards 4 --updates "$updates" --valid-metric ce --valid-every 1000000 --seed 1 -q -j 1 \
        --join 0 --copy 0 --placeholders 0 --vary-case 0 --vary-quotes 0 --vary-punctuation 0 >"$here/log" 2>&1 || {
        cat "$here/log" >&2
        return 1
    }
    parameters=$("$heed" info --json "$here/m.safetensors" | sed 's/.*"parameters":{*\("total":\)*\([0-9]*\).*/\2/')
    awk -v n="$n" -v rate="$rate" -v parameters="$parameters" '
        function field(name,    text) {
            if (!match($0, "\"" name "\":[0-9.e+-]+")) return 0
            text = substr($0, RSTART, RLENGTH); sub(/.*:/, "", text)
            return text + 0
        }
        /"event":"update"/ {
            if (!first) { first = field("update"); begin = field("seconds"); waited = field("exchange_seconds") }
            last = field("update"); end = field("seconds"); waits = field("exchange_seconds")
        }
        END {
            bytes = 2 * 4 * parameters * (n - 1) / n
            wire = rate == "1gbit" ? bytes / 125e6 : rate == "10gbit" ? bytes / 1250e6 : 0
            if (last == first) exit 1
            printf "%5d %10s %12.3f %14.3f %14.1f %16.3f\n", n, n == 1 ? "-" : rate, (end - begin) / (last - first),
                (waits - waited) / (last - first), bytes / 1e6, wire
        }' "$here/m.jsonl"
}

echo "hosts       link     s/update  of it waiting    MB each way    wire expected"
measure 1 - env
echo "$parameters parameters" >&2
for n in 2 4; do
    for rate in unlimited 10gbit 1gbit; do
        hosts_up $n $rate
        measure $n $rate hosts_run $n
        hosts_down
    done
done
[ -z "$hosts_delay" ] || echo "links: $hosts_delay"
