#!/bin/bash
# admin_live_test.sh: administration of a real pool: a user with jobs that run and jobs that wait is disabled and enabled again; roles; the audit log.
# Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid
umask 077
# soon COMMAND...: it succeeds within a minute.
soon() { for _ in $(seq ${SOON:-300}); do "$@" && return; sleep 0.2; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
stop() { kill -TERM "$(cat "$1.pid")" && soon gone "$1"; }
# says STATUS WORDS COMMAND...: it ends so, and says that.
says() {
  "${@:3}" >out 2>&1
  local got=$?
  cat out
  [ "$got" = "$1" ] && grep -q -- "$2" out
}
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
machine='ad:read ad:write claim match' person='ad:read ad:write claim match job:submit job:own'

export BERTH_STATE="$work/pool"
address=127.0.0.1:$(steady_port)
pool() {
  start pool "$berth" matchmaker --listen "$address" --state "$work/pool" --set Lease=300 --set 'Networks={ "127.0.0.0/8" }' "$@" && soon grep -q 'listening at  unix' pool.up
}
customer() {
  start "$1" "$berth" customer --state "$work/$1" --set Lease=300 --set Lifetime=4 && soon grep -q 'is up' "$1.up" && soon test -S "$work/$1/customer/customer.sock"
}
at() { BERTH_CUSTOMER="unix:$work/$1/customer/customer.sock" "$berth" "${@:2}"; }
echo '[ Cpus = 3 ]' >owner.ad
up() {
  pool && mkdir -p alice/customer host/customer heron/provider &&
    token alice "$person job:any" alice/customer/token && token host "$person job:any serve" host/customer/token &&
    token alice "$person" alice.token && token alice2 "$person" alice2.token && token Alice "$person" Alice.token &&
    "$berth" token delegate --subject-suffix laptop --out laptop.token alice.token &&
    token machine/heron "$machine" heron/provider/token && customer alice && customer host &&
    start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Lease=300 --set Grace=1 --set Unprotected=true --set 'Networks={ "127.0.0.0/8" }' \
      --set OwnerPolicy="$work/owner.ad" --set ProviderListen=127.0.0.1:0
}
check 'a pool is up, with the customer of alice, one that serves everybody, and a machine' up
listed() { "$berth" agents -c 'Role == "provider" && Connected' --json | grep -q .; }
check 'the machine is there' soon listed
[ "$failures" = 0 ] || { echo "1..$count" && exit 1; }

# job NAME [ATTRIBUTES]: the ad of a job that runs until it gets the signal USR1.
job() {
  echo "[ Cmd = \"sh\"; Args = { \"-c\", \"trap 'exit 0' USR1; while :; do sleep 0.1; done\" }; Outputs = {}; RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M; $2 ]" >"$1.ad"
}
# submit CUSTOMER NAME [ATTRIBUTES]: its number is in $job.
submit() { job "$2" "${3:-}" && job=$(at "$1" submit --force "$2.ad" | sed -n 's/.*: //p') && [ -n "$job" ]; }
# state CUSTOMER JOB STATE: the job stands so.
state() { at "$1" jobs --all --json -c "Job == $2 && State == \"$3\"" | grep -q .; }
ended() { at "$1" history --json -c "Job == $2 && Outcome == \"Succeeded\"" | grep -q .; }
requests() { [ "$("$berth" ads --kind requests --json -c "Owner == \"alice\"" | wc -l)" = "$1" ]; }
never='Constraint = other.Name == "nowhere"'

# ------------------------------------------------------------------------------------------------------------ disabled users

running() { submit alice first && first=$job && soon state alice "$first" Running; }
check 'a job of alice runs' running
waiting() { submit alice second "$never" && second=$job && submit host third "$never; Owner = \"alice\"" && soon requests 2; }
check 'one waits in her queue, and one at the customer that serves everybody' waiting
check 'her token is good' "$berth" status --token alice.token --pool "http://$address"
check 'and what she delegated from it' "$berth" status --token laptop.token --pool "http://$address"
check 'names that are none are refused' says 2 "berth: ../x: there is a '..' segment" "$berth" users disable ../x
check 'and those that no token has' says 2 'that is not a user name' "$berth" users disable 'al ice'
check 'with control characters, too' says 2 'berth: ' "$berth" users disable $'al\tice'
check 'and all machines at once' says 2 'name machine/NAME' "$berth" users disable machine
check 'what was delegated is not disabled by itself' says 2 'counts for alice' "$berth" users disable alice/laptop
check 'who is no administrator disables nobody' says 2 'does not have the scope' "$berth" users disable alice2 --token alice.token --pool "http://$address"
check 'nobody disables himself' says 2 'nobody disables himself' "$berth" users disable "$(id -un)"
check 'who is not disabled cannot be enabled' says 1 'not disabled' "$berth" users enable alice
check 'alice is disabled, for a reason' says 0 alice "$berth" users disable alice --reason 'has left'
check 'her token is refused at once, with the reason' says 2 'disabled: has left' "$berth" status --token alice.token --pool "http://$address"
check 'and what was delegated from it' says 2 'disabled: has left' "$berth" status --token laptop.token --pool "http://$address"
check 'a name that begins alike is another' "$berth" status --token alice2.token --pool "http://$address"
check 'and so is one with other letters' "$berth" status --token Alice.token --pool "http://$address"
check 'her requests are out of the pool, at both customers' soon requests 0
sleep 1
check 'and do not come back' requests 0
check 'no token is made for her' says 2 'disabled: has left' "$berth" token create --subject alice --scope ad:read
shown() {
  "$berth" users show alice --json >out && grep -q '"Disabled": *true' out && grep -q '"Reason": *"has left"' out && grep -q '"Why": *"disabled"' out && ! grep -q 'v4.public' out
}
check 'users show says so, and shows no token' shown
check 'in words, too' says 0 'disabled   yes, by .*: has left; what runs may end' "$berth" users show alice
check 'what runs goes on' state alice "$first" Running
again() { submit alice fourth && fourth=$job; }
check 'another job is queued' again
check 'its owner still has a hand on it' says 0 'USR1 was sent' at alice job "$first" signal USR1
check 'what ran ends in order' soon ended alice "$first"
sleep 1
check 'and no other job begins in its place' state alice "$fourth" Waiting
back() { stop pool && pool && says 2 'disabled: has left' "$berth" status --token alice.token --pool "http://$address"; }
check 'a restart of the matchmaker changes nothing' back
check 'she is enabled' says 0 alice "$berth" users enable alice
check 'her token is good again' "$berth" status --token alice.token --pool "http://$address"
check 'and what she has queued runs' soon state alice "$fourth" Running
check 'what waits is in the pool again' soon requests 2
check 'she is disabled, and what runs is to end' says 0 alice "$berth" users disable alice --now
stopped() { ! state alice "$fourth" Running; }
check 'the job that ran is ended' soon stopped
sleep 1
check 'and waits' soon state alice "$fourth" Waiting
check 'until she is enabled' "$berth" users enable alice
check 'and it runs again' soon state alice "$fourth" Running
at alice job "$fourth" signal USR1 >out 2>&1
check 'to its end' soon ended alice "$fourth"

echo "1..$count"
[ "$failures" = 0 ]
