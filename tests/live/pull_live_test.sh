#!/bin/bash
# pull_live_test.sh: POST /v1/pull by curl, a whole pool whose provider pulls, and one whose owner prefers urgent jobs. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid

: >up
setsid "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/state" >up 2>matchmaker.err &
groups="$groups $!"
disown
for _ in $(seq 100); do grep -q 'listening at  unix' up && break; sleep 0.1; done
ask() { curl -sS -m 20 --unix-socket "$work/state/matchmaker.sock" "http://matchmaker$1" "${@:2}"; }
machine='[Type="Machine";Memory=64;Constraint=other.Type=="Job"]'
# pull NUMBER [OPTION...]: the status is in $status, the head in `head`, the answer in `body`.
pull() { status=$(ask "/v1/pull?id=heron" -D head -o body -w '%{http_code}' -H "Berth-Number: $1" -d "$machine" "${@:2}"); }
# The same until there is something, for what a pull reads is known after a cycle.
pull_get() { for _ in $(seq 50); do pull "$@"; [ "$status" = 204 ] || return 0; sleep 0.1; done; return 1; }
claim() { sed -n 's/.* Claim = "\([0-9a-f]*\)".*/\1/p' body; }

empty() { pull 1; [ "$status" = 204 ] && grep -i '^Retry-After: [1-9]' head; }
check 'a pull for which there is nothing is answered with 204, and when to ask again' empty
ask /v1/ads/job-1 -X PUT -d '[Type="Job";Count=2;Constraint=other.Memory>32]' >/dev/null
given() { pull_get 2 && [ "$status" = 200 ] && grep 'Message = "pulled".*Reason = "ok".*SuperiorAd = \[.*Count = 2.*Contacts = {' body; }
check 'one that fits a request is matched at once, and told as a member is' given
first=$(claim)
told() { ask /v1/events | grep "Claim=\"$first\".*Ticket="; }
check 'the customer has its letter, with the ticket' told
again() { pull 2; [ "$status" = 200 ] && [ "$(claim)" = "$first" ] && [ "$(ask /v1/events | grep -c 'Kind="match"')" = 1 ]; }
check 'the same pull again is the same match' again
stale() { pull 1; [ "$status" = 409 ]; }
check 'an older one is stale' stale
next() { pull 3; [ "$status" = 200 ] && [ "$(claim)" != "$first" ]; }
check 'the next gets the next unit' next
nothing() { pull 4; [ "$status" = 204 ]; }
check 'and then there is none' nothing
stored() { ! ask '/v1/ads?kind=offers' | grep .; }
check 'the offer that pulled is not kept' stored
nameless() { [ "$(ask /v1/pull -d "$machine" -o body -w '%{http_code}')" = 400 ] && grep 'id: expected an id' body; }
check 'a pull without an id is refused' nameless
wrong() { [ "$(ask '/v1/pull?id=heron' -H 'Berth-Key: 12' -d "$machine" -o body -w '%{http_code}')" = 400 ] && grep 'Berth-Key' body; }
check 'and one whose key is none' wrong
message() { ask /v1/pull -d '[Message="pull";Id="00000000000000a1";Ad=[Type="Machine"]]' | grep 'Message = "pulled".*Reason = "wait".*Span = [1-9]'; }
check 'a message is answered by a message' message
policy() { [ "$(ask /v1/policy -X PUT -d '[PullOrder="fairest"]' -o body -w '%{http_code}')" = 400 ] && grep PullOrder body && ask /v1/policy -X PUT -d '[PullOrder="starving"]' | grep starving; }
check 'the policy says in which order requests are given, in a word that is known' policy

setsid "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/small" --set AdsPerIdentity=3 >small.up 2>small.err &
groups="$groups $!"
disown
for _ in $(seq 100); do grep -q 'listening at  unix' small.up && break; sleep 0.1; done
flood() {
  local got=
  for i in 1 2 3 4 1; do
    got="$got $(curl -sS -m 20 --unix-socket "$work/small/matchmaker.sock" "http://small/v1/pull?id=heron-$i" -d "$machine" -o body -w '%{http_code}')"
    [ "$i" = 4 ] && cp body refusal
  done
  [ "$got" = ' 204 204 204 429 204' ] && grep AdsPerIdentity refusal
}
check 'no more offers of an identity pull than its limit says, which is named' flood

setsid "$berth" pool --listen 127.0.0.1:0 --state "$work/pool" --set Pull=true --set Unprotected=true -v >pool.up 2>pool.err &
groups="$groups $!"
disown
for _ in $(seq 150); do grep -q 'To end it' pool.up && break; sleep 0.1; done
run() { timeout 60 "$berth" run --state "$work/pool" -- sh -c 'echo pulled' | grep -x pulled; }
check 'a job runs in a pool whose provider pulls' run
reported() { for _ in $(seq 50); do curl -sS --unix-socket "$work/pool/matchmaker.sock" http://pool/v1/claims | grep 'State = "over"' && return; sleep 0.1; done; return 1; }
check 'what it used is told to the matchmaker' reported
unseen() { ! curl -sS --unix-socket "$work/pool/matchmaker.sock" 'http://pool/v1/ads?kind=offers' | grep Machine; }
check 'and nothing was advertised' unseen
echo '[ Cmd = "true"; Outputs = {}; Constraint = other.Type == "Machine" && other.Name == "nobody" ]' >nobody.ad
refused() { ! "$berth" submit --state "$work/pool" nobody.ad >nobody.out 2>nobody.err && grep '^berth: the job matches no machine of the pool, even when idle; nothing was submitted' nobody.err; }
check 'what the machine that pulls would not take is refused' refused
"$berth" submit --force --state "$work/pool" nobody.ad >nobody.out
nobody=$(sed -n 's/.*: //p' nobody.out)
explained() {
  "$berth" why --state "$work/pool" "$nobody" >nobody.why
  [ $? = 1 ] && head -1 nobody.why | grep "^job $nobody: waits for a machine that fits: none of the 1 that is known would, even when idle\.$" && "$berth" job --state "$work/pool" "$nobody" | tail -1 | diff - <(tail -1 nobody.why)
}
check 'and who asks why it waits is told of that machine' explained
"$berth" rm --state "$work/pool" "$nobody" >/dev/null
curl -sS -X PUT --unix-socket "$work/pool/matchmaker.sock" http://pool/v1/ads/tiny -d '[Type="Machine";Memory=1;Constraint=false]' >tiny
untold() { timeout 60 "$berth" run --state "$work/pool" -- sh -c 'echo pulled' 2>run.err | grep -x pulled && grep -E '^berth: the job waits for a machine to ask for it: 1 machine fits and asks for jobs by itself \(' run.err; }
check 'who pulls is thought of when no machine that offers itself fits' untold

# -------------------------------------------------------------------------------------------------------------- preemption

echo '[ Preemption = true; Rank = isUndefined(other.Urgency) ? 0 : other.Urgency; Cpus = 1 ]' >urgent.ad
job='Outputs = {}; RequestMemory = 16M; RequestDisk = 16M'
echo "[ Cmd = \"sleep\"; Args = { \"60\" }; $job ]" >slow.ad
echo "[ Cmd = \"true\"; Urgency = 5; $job ]" >quick.ad
export BERTH_STATE="$work/urgent"
setsid "$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$work/urgent.ad" --set Unprotected=true -v >urgent.up 2>urgent.err &
groups="$groups $!"
disown
for _ in $(seq 150); do grep -q 'To end it' urgent.up && break; sleep 0.1; done
# soon COMMAND...: it succeeds within twenty seconds.
soon() { for _ in $(seq 200); do "$@" && return; sleep 0.1; done; return 1; }
runs() { "$berth" jobs --json 1 | grep '"state": "Running"'; }
begins() { "$berth" submit --force slow.ad && soon runs; }
check 'a job runs on a machine whose owner allows preemption' begins
second() { "$berth" ads --json -c 'Preempts isnt undefined && CurrentRank == 0' | grep Preempts; }
check 'beside it the machine is advertised once more' soon second
evicts() { "$berth" submit quick.ad && timeout 40 "$berth" wait 2; }
check 'one that the owner likes better has it at once' evicts
told() { "$berth" logs --events 1 | grep 'waits again: another is preferred'; }
check 'the user of the first is told why it waits again' told
preempted() { "$berth" claims --json | grep '"preempted"'; }
check 'and its claim is listed as preempted' soon preempted
check 'and it runs again' soon runs
"$berth" rm 1 >/dev/null

# A divided machine: a job of two processors waits for two of one, which go together.
echo '[ Preemption = true; Rank = isUndefined(other.Urgency) ? 0 : other.Urgency; Cpus = 2 ]' >wide.ad
echo "[ Cmd = \"true\"; Urgency = 5; RequestCpus = 2; $job ]" >large.ad
export BERTH_STATE="$work/wide"
setsid "$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$work/wide.ad" --set Unprotected=true -v >wide.up 2>wide.err &
groups="$groups $!"
disown
for _ in $(seq 150); do grep -q 'To end it' wide.up && break; sleep 0.1; done
run_at_once() { [ "$("$berth" jobs --json | grep -c '"state": "Running"')" = 2 ]; }
two_begin() { "$berth" submit --force slow.ad && "$berth" submit --force slow.ad && soon run_at_once; }
check 'two jobs of one processor run beside each other' two_begin
makes_room() { "$berth" submit large.ad && timeout 40 "$berth" wait 3; }
check 'an urgent job of two processors has the place of both' makes_room
both_told() { "$berth" logs --events 1 | grep 'another is preferred' && "$berth" logs --events 2 | grep 'another is preferred'; }
check 'the users of both are told why they wait again' both_told
check 'and they run again' soon run_at_once
"$berth" rm 1 2 >/dev/null
export BERTH_STATE="$work/urgent"

# ----------------------------------------------------------------------------------------------- the order of a user's jobs

# in_order POOL CPUS: jobs that wait for the whole machine, and differ, begin by their Priority and then as they were submitted.
in_order() {
  echo "[ Cmd = \"sleep\"; Args = {\"60\"}; RequestCpus = $2; $job ]" >first.ad
  "$berth" submit --state "$work/$1" --force first.ad >order.out || return 1
  first=$(sed -n 's/.*: //p' order.out)
  running() { "$berth" jobs --state "$work/$1" --json "$first" | grep '"state": "Running"'; }
  soon running "$1" || return 1
  for i in 1 2 3 4 5 6 50 7 100; do
    echo "[ Cmd = \"true\"; Sort = $i; Priority = $((i < 50 ? 0 : i)); RequestCpus = $2; $job ]"
  done >many.ad
  "$berth" submit --state "$work/$1" --force many.ad >order.out && "$berth" rm --state "$work/$1" "$first" &&
    timeout 60 "$berth" wait --state "$work/$1" "$(sed -n 's/.*: //p' order.out)"
  order=$(sed -n 's/.*event=job.start .*job=\([0-9]*\).*/\1/p' "$1.err" | while read -r id; do [ "$id" -le "$first" ] || echo $((id - first)); done | tr '\n' ' ')
  echo "in this order: $order"
  [ "$order" = '9 7 1 2 3 4 5 6 8 ' ]
}
check 'jobs of a user begin by their Priority, then in the order of submission' in_order urgent 1
check 'also where the machine pulls' in_order pool "$(nproc)"

echo "1..$count"
exit $((failures > 0))
