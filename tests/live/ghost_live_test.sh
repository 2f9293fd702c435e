#!/bin/bash
# ghost_live_test.sh: a customer that has lost its queue to another one, and cannot know it, comes back to the matchmaker: the one that has the queue goes on. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid setpriv python3
. "$BERTH_SOURCE/tests/common/postgres.sh"
umask 077
soon() { for _ in $(seq $((failures ? 40 : 600))); do "$@" && return; sleep 0.1; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
says() { grep -q "$2" "$1.err"; }
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
near=(--set 'Networks={ "127.0.0.0/8" }')
way() { echo "$1" >mode.new && mv mode.new mode; }
proxy() { mkdir way && way open && start proxy python3 "$BERTH_SOURCE/tests/live/database_proxy.py" "$work/way/.s.PGSQL.5432" "$database/.s.PGSQL.5432" mode && soon [ -S way/.s.PGSQL.5432 ]; }
customer() { start "$1" "$berth" customer --state "$work/$1" --set AgentName=submit --set "Store=postgresql://berth@/postgres?host=$2" --set "CustomerFiles=$work/shared" "${near[@]}"; }
has_queue() { grep -q 'is up' "$1.up"; }
port=$(steady_port)
pool() { start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool" "${near[@]}" && soon grep -q 'listening at  unix' pool.up; }
echo '[ Cpus = 8 ]' >owner.ad
up() {
  database_make && database_start && proxy && pool &&
    mkdir -p one/customer two/customer heron/provider && token alice 'ad:read ad:write claim match job:submit job:own job:any' one/customer/token && cp -a one/customer/token two/customer/token &&
    token machine/heron 'ad:read ad:write claim match' heron/provider/token &&
    start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}" && soon grep -q 'is up' heron.err
}
check 'a pool comes up' up
begun() { kill -TERM "$(cat pool.pid)" && soon gone pool && customer one "$work/way" && soon has_queue one; }
check 'a customer begins while the matchmaker is down, which has not heard of it' begun
check 'it is stopped, and cut off from the database' eval 'way cut && kill -STOP "$(cat one.pid)"'
check 'another one goes on with the queue' eval 'customer two "$database" && soon has_queue two'
job() { BERTH_CUSTOMER="unix:$work/two/customer/customer.sock" "$berth" "$@"; }
runs() {
  echo '[ Cmd = "true"; Outputs = {}; RequestMemory = 1M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == "Machine" ]' >job.ad
  number=$(job submit --force job.ad 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p') && [ -n "$number" ] && soon ended
}
ended() { [ "$(job history --json -c "Job == $number && State == \"Cleared\" && Status == 0 && Tries == 1" 2>/dev/null | grep -c .)" = 1 ]; }
check 'the matchmaker is up again, and a job runs' eval 'pool && runs'
# It would have said so at once, under a number above that of the other one.
refused() { kill -CONT "$(cat one.pid)" && soon says pool 'superseded: incarnation' && sleep 2; }
check 'when the first one wakes, still cut off, the matchmaker tells it that another began later' refused
check 'the other one is not put down: a job runs' runs
lives() { ! says two event=superseded && ! gone two; }
check 'and it goes on' lives
known() { way open && soon gone one && says one 'was taken by'; }
check 'when the first one reaches the database again it ends, and says why' known
check 'a job runs' runs
echo "1..$count"
exit $((failures > 0))
