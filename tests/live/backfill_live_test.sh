#!/bin/bash
# backfill_live_test.sh: a large job waits on a real machine: it is planned, jobs that end before it may pass, others may not. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid
umask 077
# soon COMMAND...: it succeeds within a minute.
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
machine='ad:read ad:write claim match' person='ad:read ad:write claim match job:submit job:own'

# Who waits a fifth of a lifetime is planned.
export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock" BERTH_LIFETIME=20
address=127.0.0.1:$(steady_port)
pool() {
  start pool "$berth" matchmaker --listen "$address" --state "$work/pool" --set 'Networks={ "127.0.0.0/8" }' --set "BackFill=$1" &&
    soon grep -q 'listening at  unix' pool.up && address=$(sed -n 's/.*http:..\([0-9.:]*\).*/\1/p' pool.up | head -1)
}
provider() { start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Name=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad"; }
echo '[ Cpus = 2; Benchmark = 20000000 ]' >owner.ad
up() {
  pool easy && mkdir -p alice/customer heron/provider && token alice "$person job:any serve" alice/customer/token && token machine/heron "$machine" heron/provider/token &&
    start alice "$berth" customer --state "$work/alice" && soon test -S "$work/alice/customer/customer.sock" && provider
}
idle() { "$berth" machines -c 'State == "Idle"' --json | grep -q heron; }
check 'a pool with a machine of two processors is up' up
check 'which is idle' soon idle
[ "$failures" = 0 ] || { echo "1..$count" && exit 1; }

# submit CPUS LIMIT SECONDS: a job that sleeps so long, and may for so long (none: for ever); its number is in $job.
submit() {
  local limit="TimeLimit = $2;"
  [ "$2" != none ] || limit=
  echo "[ Cmd = \"sleep\"; Args = { \"$3\" }; Outputs = {}; RequestCpus = $1; RequestMemory = 16M; RequestDisk = 16M; $limit ]" >job.ad
  job=$("$berth" submit --force job.ad | sed -n 's/.*: //p') && [ -n "$job" ]
}
stands() { "$berth" jobs --json -c "Job == $1 && State == \"$2\"" | grep -q .; }
over() { "$berth" history --json -c "Job == $1" | grep -q .; }
why() { "$berth" why "$1" >out 2>&1; cat out; grep -q -- "$2" out; }

check 'a job has one of the processors, for ten minutes at most' submit 1 600 600
first=$job
check 'it runs' soon stands "$first" Running
check 'a job wants both' submit 2 600 600
large=$job
# Ten minutes and the grace of ten seconds from when it began, which is some seconds ago.
planned() {
  why "$large" '^It is planned for about [0-9][0-9]:[0-9][0-9] on heron\.$' || return
  local said now
  said=$(date -d "$(sed -n 's/^It is planned for about \(.*\) on heron\.$/\1/p' out)" +%s) now=$(date +%s)
  [ "$said" -ge $((now - 86400 + 480)) ] && { [ "$said" -lt $((now - 80000)) ] || { [ "$said" -ge $((now + 480)) ] && [ "$said" -le $((now + 670)) ]; }; }
}
check 'it is planned for when the other one must have ended' soon planned
json() { "$berth" why "$large" --json >out; cat out; grep -q '"start": *{"kind": *"planned", *"to": *[0-9]*, *"on": *"heron"}' out; }
check 'programs are told so as well' json
listed() { "$berth" jobs "$large" >out && cat out && grep -q 'Waiting.* planned for about [0-9][0-9]:[0-9][0-9] on heron' out; }
check 'its customer hears of it, and lists it' soon listed
shown() { "$berth" job "$large" >out && cat out && grep -q '^  start  *planned for about [0-9][0-9]:[0-9][0-9] on heron$' out; }
check 'and shows it' shown
told() {
  local now start
  start=$("$berth" jobs "$large" --format PlannedStart) now=$(date +%s) && echo "$start at $now" && [ "$start" -ge $((now + 480)) ] && [ "$start" -le $((now + 670)) ] &&
    [ "$("$berth" jobs "$large" --format PlannedMachine)" = heron ]
}
check 'programs have it as a number' told
check 'of a job that runs nothing is said' test "$("$berth" jobs "$first" --format 'Job PlannedStart')" = "$first undefined"
check 'a job that may run for longer than that comes' submit 1 3600 1
long=$job
check 'and one that says no limit' submit 1 none 1
endless=$job
check 'and one that ends before' submit 1 60 1
small=$job
check 'which passes' soon over "$small"
check 'the one that may run longer waits' stands "$long" Waiting
check 'for what is kept' soon why "$long" 'waits for jobs that come first: 1 machine has room for it, and is kept'
check 'and so does the other' stands "$endless" Waiting
check 'the large one is still planned' soon planned
check 'the first one is removed' "$berth" rm "$first"
check 'and the large one begins' soon stands "$large" Running
check 'before the others' stands "$long" Waiting
check 'and has no planned start any more' test "$("$berth" jobs "$large" --format 'Job PlannedStart')" = "$large undefined"
check 'it is removed' "$berth" rm "$large"
check 'then the long one runs' soon over "$long"
check 'and the endless one' soon over "$endless"

# 600 seconds of a machine of 100000 are three here.
echo '[ Cmd = "sleep"; Args = { "500" }; Outputs = {}; RequestMemory = 16M; RequestDisk = 16M; NormalisedTimeLimit = 600 ]' >job.ad
fast() { job=$("$berth" submit job.ad | sed -n 's/.*: //p') && soon over "$job" && "$berth" history "$job" --format 'Reason TimeLimit' >out && cat out && grep -q "time was up" out; }
check 'a limit that is normalised is shorter where the machine is fast' fast
both() { echo '[ Cmd = "true"; TimeLimit = 5; NormalisedTimeLimit = 600 ]' >both.ad; ! "$berth" submit both.ad >out 2>&1 && cat out && grep -q 'TimeLimit: expected a number of seconds, or else NormalisedTimeLimit' out; }
check 'a job says one of the two' both

# An agent of an earlier version cannot read what is told of plans, and says nothing of it; one that can says so.
check 'a job has one of the processors again' submit 1 600 600
check 'and runs' soon stands "$job" Running
asks() { curl -sS -m 20 --unix-socket "$work/pool/matchmaker.sock" -H 'Content-Type: application/classad; dialect=classic' -H 'Berth-Agent: old' "$@"; }
offer() { asks "http://pool/v1/ads" -d '[ Message = "advertise"; Id = "large"; '"$1"' ]' >out 2>&1; cat out; grep -q "$2" out; }
comes() { asks -X PUT "http://pool/v1/agents/old" "$@" -d '[]' >/dev/null; }
wants='Request = true; Ad = [ Type = "Job"; Cmd = "sleep"; RequestCpus = 2; RequestMemory = 16M; RequestDisk = 16M; TimeLimit = 60; Constraint = other.Type == "Machine" ]'
large_comes() { comes && offer "$wants" advertised; }
check 'an agent of before asks for both' large_comes
planned_old() { "$berth" why large --json >out 2>&1; cat out; grep -q '"kind": *"planned"' out; }
check 'that is planned' soon planned_old
quiet() { offer 'Bare = true' 'Reason = "ok"' && ! grep -q Planned out; }
check 'and it is not told' quiet
knows() { comes -H 'Berth-Knows-Plans: true' && offer 'Bare = true' 'Planned = [0-9]*.*PlannedOn = "heron"'; }
check 'until it says that it can read that' knows

sound() { ! grep -n 'Sanitizer\|runtime error\|level=error' ./*.err; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
