#!/bin/bash
# upgrade_live_test.sh: two matchmakers, two customers of one queue and a provider, all of an earlier program ($BERTH_BEFORE), are replaced by this one, one after the
# other, while jobs run; and are started as the earlier one again. For `./dev soak`. Prints TAP.
set -u
berth=${BERTH:?the program} before=${BERTH_BEFORE:?an earlier program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid setpriv curl
. "$BERTH_SOURCE/tests/common/postgres.sh"
umask 077
soon() { for _ in $(seq $((failures ? 60 : 600))); do "$@" && return; sleep 0.1; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
near=(--set 'Networks={ "127.0.0.0/8" }')
declare -A port=([east]=$(steady_port) [west]=$(steady_port))
url() { echo "http://127.0.0.1:${port[$1]}"; }
# Each with the program that is to be used now.
matchmaker() { start "$2" "$1" matchmaker --listen "127.0.0.1:${port[$2]}" --state "$work/$2" --set Name=cove --set "Store=$store" "${near[@]}" "${@:3}"; }
customer() { start "$2" "$1" customer --state "$work/$2" --set AgentName=submit --set "Store=$store" "${near[@]}"; }
provider() { start heron "$1" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}"; }
leads() { curl -sS -m 5 "$(url "$1")/readyz" 2>&1 | grep -qx ready; }
answers() { [ "$(curl -sS -m 5 -o body -w '%{http_code}' "$(url "$1")/readyz" 2>&1)" = 503 ]; }
has_queue() { grep -q 'is up' "$1.up"; }
waits() { grep -q 'it is waited for' "$1.err" && ! has_queue "$1"; }
token() { "$before" token create --state "$work/east" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
at() { export BERTH_STATE="$work/$1" BERTH_CUSTOMER="unix:$work/$1/customer/customer.sock"; }
echo '[ Cpus = 8 ]' >owner.ad
up() {
  database_make && database_start && matchmaker "$before" east && soon leads east && "$before" token code --standby --state "$work/east" >code &&
    matchmaker "$before" west --standby "$(cat code)" && soon answers west && mkdir -p one/customer two/customer heron/provider &&
    soon named && cp -a one/customer/token two/customer/token && token machine/heron 'ad:read ad:write claim match' heron/provider/token &&
    provider "$before" && soon grep -q 'is up' heron.err && customer "$before" one && soon has_queue one && customer "$before" two && soon waits two && at one
}
named() { rm -f one/customer/token && token alice 'ad:read ad:write claim match job:submit job:own job:any' one/customer/token && grep -q Others one/customer/token; }
check 'a pool of the earlier program comes up' up
# job COMMAND: submits it; its number is in $job.
job() {
  echo "[ Cmd = \"sh\"; Args = { \"-c\", \"$1\" }; Outputs = {}; RequestMemory = 32M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == \"Machine\" ]" >job.ad
  job=$("$berth" submit --force job.ad 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p') && [ -n "$job" ]
}
once() { [ "$("$berth" history --json -c "Job == $1 && State == \"Cleared\" && Status == 0 && Tries == 1" 2>/dev/null | grep -c .)" = 1 ]; }
begun() { [ "$(grep -c " event=job.start .* job=$1\$" heron.err)" = 1 ]; }
runs() { soon job true && soon once "$job"; }
check 'a job runs' runs
# each PROGRAM WORDS: replaces all of them, those that stand by first, while a job runs.
each() {
  check "$2: a job runs" eval 'job "sleep 20" && soon begun $job'
  local running=$job program=$1 words=$2
  west_again() { kill -TERM "$(cat west.pid)" && soon gone west && matchmaker "$program" west && soon answers west; }
  check "$words: the matchmaker that stands by is replaced" west_again
  east_again() { kill -TERM "$(cat east.pid)" && soon leads west && soon gone east && matchmaker "$program" east && soon answers east; }
  check "$words: then the one that leads; the other one leads" east_again
  check "$words: a job runs" runs
  other() { : >two.err; kill -TERM "$(cat two.pid)"; sleep 1; kill -KILL "$(cat two.pid)" 2>/dev/null; customer "$program" two && soon waits two; }
  check "$words: the customer that waits is replaced" other
  holder() { : >one.err; kill -TERM "$(cat one.pid)" && soon has_queue two && soon gone one && customer "$program" one && soon waits one && at two; }
  check "$words: then the one that has the queue; the other one has it" holder
  check "$words: a job runs" runs
  machine() { kill -TERM "$(cat heron.pid)" && soon gone heron && provider "$program" && soon back; }
  back() { [ "$(grep -c 'event=started' heron.err)" -gt "$started" ]; }
  started=$(grep -c 'event=started' heron.err)
  check "$words: then the provider" machine
  check "$words: the job that ran all the while has ended, with one try" soon once "$running"
  check "$words: and was begun once" begun "$running"
  # as it was: east leads, one has the queue
  order() { kill -TERM "$(cat west.pid)" && soon leads east && soon gone west && matchmaker "$program" west && soon answers west && : >two.err && kill -TERM "$(cat two.pid)" && soon has_queue one && soon gone two && customer "$program" two && soon waits two && at one; }
  check "$words: they change places again" order
}
each "$berth" 'this program'
check 'a job runs' runs
each "$before" 'the earlier program again'
check 'a job runs' runs
echo "1..$count"
exit $((failures > 0))
