#!/bin/bash
# clock_live_test.sh: wall clocks that are set wrong under real daemons for a while, far ahead and far back: the matchmaker's, the customer's, a
# provider's. Jobs that run go on, none runs twice, and what is submitted when the clock is right again runs. $1: the library to preload. Prints TAP.
set -u
berth=${BERTH:?the program} shift=$(realpath -e "${1:?the library to preload}") || exit 1
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid
umask 077
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
start() {
  : >"$1.up"
  env LD_PRELOAD="$shift" WALL_SHIFT="$work/$1.shift" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  groups="$groups $!"
  disown
}
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 365d --out "$3"; }
export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
up() {
  start pool "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/pool" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'listening at  unix' pool.up &&
    mkdir -p alice/customer heron/provider &&
    token alice 'ad:read ad:write claim match job:submit job:own job:any' alice/customer/token &&
    token machine/heron 'ad:read ad:write claim match' heron/provider/token &&
    start alice "$berth" customer --state "$work/alice" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'is up' alice.up && soon test -S alice/customer/customer.sock &&
    start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true --set 'Networks={ "127.0.0.0/8" }' --set OwnerPolicy="$work/owner.ad"
}
echo '[ Cpus = 8 ]' >owner.ad
echo '[ Cmd = "sh"; Args = { "-c", "sleep 1; echo ran" }; Outputs = {}; RequestMemory = 16777216; RequestDisk = 1048576; RequestCpus = 1; Constraint = other.Type == "Machine" ]' >job.ad
check 'a pool of a matchmaker, a customer and a provider comes up' up
submit() { "$berth" submit --force job.ad 2>&1 | sed -n 's/.*: \([0-9]*\)$/\1/p'; }
state() { "$berth" job "$1" 2>&1; }
ended() { state "$1" | grep -qi 'exit *0\|status 0\|cleared\|done'; }
# once JOB: it had one try.
once() { [ "$(grep -c 'claimed ' "alice/customer/jobs/$1.log")" = 1 ] || { cat "alice/customer/jobs/$1.log"; return 1; }; }
round() { # WHO SECONDS
  local one two
  one=$(submit) && soon grep -q running "alice/customer/jobs/$one.log" && echo "$2" >"$1.shift" && two=$(submit)
  sleep 2
  echo 0 >"$1.shift"
  [ -n "$one" ] && [ -n "$two" ] && soon ended "$one" && soon ended "$two" || { state "$one"; state "$two"; cat "alice/customer/jobs/$one.log"; return 1; }
  three=$(submit) && soon ended "$three" && once "$one" && once "$three"
}
first() { one=$(submit) && soon ended "$one"; }
check 'and runs a job' first
for turn in heron:10800 heron:-10800 alice:100000000 pool:10800; do
  check "the clock of ${turn%:*} off by ${turn#*:} seconds for a while: jobs go on, once each, and the next one runs" round "${turn%:*}" "${turn#*:}"
done

check 'a machine whose clock was moved says so, takes no jobs, and comes back when a job of its own has run' \
  sh -c 'grep -q "event=machine.unwell .*its clock was moved by 10[78].. s" "$1" && grep -q event=machine.well "$1"' sh heron.err

echo "1..$count"
exit $((failures > 0))
