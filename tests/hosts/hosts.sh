# hosts.sh -- hosts of our own: network namespaces joined by a bridge, which has a namespace of its own too, so that nothing
# of it is seen from outside and nothing leaves it. To be sourced, as root; $here is a folder for a small script.
#
#   hosts_up N RATE      N hosts, 1 to N, whose links carry RATE (1gbit) each way, and 0.2 ms there and back where the kernel can
#                        delay; $hosts_delay says whether it can. RATE unlimited: as fast as it goes
#   hosts_run N COMMAND  COMMAND as N ranks, one on each host, over TCP alone
#   hosts_kill I         host I loses all its processes
#   hosts_cut I          host I loses its cable; hosts_join I gives it back
#   hosts_down           all of it is gone
#
# Addresses are of the block that is set aside for testing networks (RFC 2544). Each host has a name of its own, as Open MPI
# tells hosts by their names; files are the same for all of them, as on a cluster with a shared folder.
hosts_name=heed$$ hosts_net=198.18.77 hosts_n=0 hosts_delay=
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1

hosts_possible() {
    [ "$(id -u)" = 0 ] || return 1
    for program in ip tc mpirun unshare; do
        command -v $program >/dev/null || return 1
    done
    ip netns add "$hosts_name-try" 2>/dev/null && ip netns del "$hosts_name-try"
}

hosts_up() {
    hosts_n=$1
    ip netns add "$hosts_name-switch"
    ip -n "$hosts_name-switch" link add bridge type bridge
    ip -n "$hosts_name-switch" link set bridge up
    i=1
    while [ $i -le "$hosts_n" ]; do
        host=$hosts_name-$i
        ip netns add "$host"
        ip link add eth0 netns "$host" type veth peer name "port$i" netns "$hosts_name-switch"
        ip -n "$hosts_name-switch" link set "port$i" master bridge up
        ip -n "$host" addr add "$hosts_net.$i/24" dev eth0
        ip -n "$host" link set lo up
        ip -n "$host" link set eth0 up
        [ "$2" = unlimited ] || hosts_limit "$host" "port$i" "$2"
        i=$((i + 1))
    done
    cat >"$here/agent" <<END
#!/bin/sh
# What a launcher runs in place of ssh: agent ADDRESS COMMAND...
number=\${1##*.}
shift
exec ip netns exec $hosts_name-\$number unshare --uts sh -c 'hostname "\$0" && eval "\$1"' "host\$number" "\$*"
END
    chmod +x "$here/agent"
}

# A bucket of 1 ms or more, as coarser clocks would let less through than RATE.
hosts_limit() { # hosts_limit HOST PORT RATE
    tc -n "$1" qdisc add dev eth0 root handle 1: tbf rate "$3" burst 2mb latency 50ms
    tc -n "$hosts_name-switch" qdisc add dev "$2" root handle 1: tbf rate "$3" burst 2mb latency 50ms
    # What leaves a host waits 0.1 ms, so that there and back are 0.2 ms.
    if tc -n "$1" qdisc add dev eth0 parent 1:1 netem delay 0.1ms limit 10000 2>/dev/null; then
        hosts_delay='0.2 ms there and back'
    else
        hosts_delay='no delay added, as this kernel has no netem'
    fi
}

hosts_run() {
    n=$1 list='' i=1
    shift
    while [ $i -le "$n" ]; do
        list=$list${list:+,}$hosts_net.$i:1
        i=$((i + 1))
    done
    # Keep-alives tell within seconds that a cable is cut; Open MPI's own would take minutes.
    ip netns exec "$hosts_name-1" unshare --uts sh -c 'hostname host1 && exec "$@"' sh \
        mpirun -n "$n" --host "$list" --map-by node --bind-to none --mca plm_rsh_agent "$here/agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca btl self,tcp --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
        --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3 "$@"
}

hosts_kill() {
    for pid in $(ip netns pids "$hosts_name-$1"); do kill -9 "$pid" 2>/dev/null; done
}
hosts_cut() { ip -n "$hosts_name-switch" link set "port$1" down; }
hosts_join() { ip -n "$hosts_name-switch" link set "port$1" up; }

hosts_down() {
    i=1
    while [ $i -le "$hosts_n" ]; do
        hosts_kill $i
        ip netns del "$hosts_name-$i" 2>/dev/null
        i=$((i + 1))
    done
    ip netns del "$hosts_name-switch" 2>/dev/null
    hosts_n=0
}
