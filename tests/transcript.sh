# transcript.sh -- for test scripts: run a command as a user does and compare what it says. Source it, end with `finish`.
#
#   expect NAME STATUS OUT ERR COMMAND...    OUT and ERR are patterns of `case`, '' for nothing at all
set -u
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
n_failed=0

expect() {
    name=$1 wanted_status=$2 wanted_out=$3 wanted_err=$4
    shift 4
    "$@" >"$here/out" 2>"$here/err" </dev/null
    status=$?
    out=$(cat "$here/out") err=$(cat "$here/err")
    problem=
    [ "$status" = "$wanted_status" ] || problem="status $status instead of $wanted_status"
    # shellcheck disable=SC2254
    case $out in $wanted_out) ;; *) problem="$problem; stdout is not $wanted_out" ;; esac
    # shellcheck disable=SC2254
    case $err in $wanted_err) ;; *) problem="$problem; stderr is not $wanted_err" ;; esac
    verdict "$name" "$problem" "\$ $*
$out
$err"
}

# verdict NAME PROBLEM SEEN: an empty problem is a pass
verdict() {
    if [ -z "$2" ]; then
        echo "[       OK ] $1"
    else
        echo "[  FAILED  ] $1: $2"
        printf '%s\n' "$3" | sed 's/^/    /'
        n_failed=$((n_failed + 1))
    fi
}

finish() {
    [ "$n_failed" = 0 ]
    exit
}
