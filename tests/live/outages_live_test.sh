#!/bin/bash
# outages_live_test.sh: a pool whose roles have their rows in a PostgreSQL, each by a way of its own. One way after the other is cut, closed and slow for
# longer than a lease: jobs that run end with one try, and jobs go on within seconds when the way is open. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid setpriv curl python3
. "$BERTH_SOURCE/tests/common/postgres.sh"
umask 077
soon() { for _ in $(seq $((failures ? 40 : 600))); do "$@" && return; sleep 0.1; done; return 1; }
start() {
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  groups="$groups $!"
  disown
}
# way ROLE MODE: how the database is reached by it from now on (database_proxy.py).
way() { echo "$2" >"$1.mode.new" && mv "$1.mode.new" "$1.mode"; }
proxy() { mkdir "db-$1" && way "$1" open && start "proxy-$1" python3 "$BERTH_SOURCE/tests/live/database_proxy.py" "$work/db-$1/.s.PGSQL.5432" "$database/.s.PGSQL.5432" "$1.mode" && soon [ -S "db-$1/.s.PGSQL.5432" ]; }
role() { start "$1" "$berth" "$1" --state "$work/$1" --set "Store=postgresql://berth@/postgres?host=$work/db-$1" --set 'Networks={ "127.0.0.0/8" }' "${@:2}"; }
token() { "$berth" token create --state "$work/matchmaker" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
export BERTH_CUSTOMER="unix:$work/customer/customer/customer.sock"
echo '[ Cpus = 8 ]' >owner.ad
up() {
  database_make && database_start && proxy matchmaker && proxy customer && proxy provider && role matchmaker --listen "127.0.0.1:$(steady_port)" &&
    soon grep -q 'listening at  unix' matchmaker.up && mkdir -p customer/customer provider/provider &&
    token alice 'ad:read ad:write claim match job:submit job:own job:any' customer/customer/token &&
    token machine/heron 'ad:read ad:write claim match' provider/provider/token &&
    role customer --set AgentName=submit && role provider --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" &&
    soon grep -q 'is up' customer.up && soon grep -q 'is up' provider.err
}
check 'a pool comes up whose matchmaker, customer and provider reach their database each by a way of its own' up
# job COMMAND: submits it; its number is in $job. Nothing when it was not taken.
job() {
  echo "[ Cmd = \"sh\"; Args = { \"-c\", \"$1\" }; Outputs = {}; RequestMemory = 32M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == \"Machine\" ]" >job.ad
  job=$("$berth" submit --force job.ad 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p') && [ -n "$job" ]
}
ended() { [ "$("$berth" history --json -c "Job == $1 && State == \"Cleared\" && Status == 0 && Tries == 1" 2>/dev/null | grep -c .)" = 1 ]; }
begun() { grep -q " event=job.start .* job=$1\$" provider.err; }
check 'it runs a job' eval 'job true && soon ended "$job"'
# within SECONDS COMMAND...: it succeeds within that time.
within() {
  local began=$SECONDS
  while ! "${@:2}"; do
    [ $((SECONDS - began)) -le "$1" ] || return
    sleep 0.1
  done
  echo $((SECONDS - began)) >took
}
# A job runs, the way of one role is disturbed for 6 seconds, and a job is submitted meanwhile (a customer without its database takes none) and afterwards.
outage() {
  local role=$1 mode=$2 running during=''
  check "$role, $mode: a job runs" eval "job 'sleep 4' && soon begun \$job"
  running=$job
  way "$role" "$mode"
  sleep 4
  if [ "$role" != customer ]; then
    check "$role, $mode: a job can be submitted meanwhile" job true
    during=$job
  fi
  sleep 2
  way "$role" open
  check "$role, $mode: once that is over a job can be submitted within 5 seconds" within 5 job true
  check "$role, $mode: it ends within 10 seconds" within 10 ended "$job"
  echo "# after $(cat took) s"
  [ -z "$during" ] || check "$role, $mode: so does the one of before" within 10 ended "$during"
  check "$role, $mode: the job that ran has one try" within 10 ended "$running"
}
for mode in cut gone 'slow 1'; do
  for role in matchmaker customer provider; do outage "$role" "$mode"; done
done
alive() { for name in matchmaker customer provider; do ! grep -q 'event=stopped\|level=error' "$name.err" || return; done; }
check 'none of them has ended' alive
echo "1..$count"
exit $((failures > 0))
