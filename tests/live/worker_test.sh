#!/bin/bash
# worker_test.sh: the worker and the customer of examples/, which are curl and shell alone, against a real matchmaker. Prints TAP.
set -u
berth=${BERTH:?the program}
examples=${BERTH_SOURCE:?the sources}/examples
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl openssl b2sum setsid

: >up
# A matchmaker of our own, and a token for each who speaks with it.
setsid "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/state" --set RequestsPerSecond=10000 >up 2>matchmaker.err &
groups="$groups $!"
disown
for _ in $(seq 100); do grep -q 'listening at  unix' up && break; sleep 0.1; done
pool=http://$(sed -n 's/.*listening at  \(127[.0-9:]*\)/\1/p' up)
local_ask() { curl -sSf --unix-socket "$work/state/matchmaker.sock" "http://matchmaker$1" "${@:2}"; }
for who in machine alice mallory; do
  token=$(local_ask /v1/tokens -d "[Subject=\"$who\";Scope=\"ad:read ad:write claim match\";Lifetime=60]" | sed -n 's/.*Token = "\([^"]*\)".*/\1/p')
  (umask 077 && echo "header = \"Authorization: Bearer $token\"" >"$who.curl")
done
check 'a matchmaker runs and gives tokens' grep -q v4.public mallory.curl

# The token is checked as docs/protocol.md says: Ed25519 over v4.public., the claims, the footer and nothing, each with its length.
unbase64() { tr -- '-_' '+/' | sed 's/$/===/' | base64 -d 2>/dev/null; }
length() { printf "$(printf '\\x%02x\\x%02x\\0\\0\\0\\0\\0\\0' $(($1 % 256)) $(($1 / 256)))"; }
signed_well() {
  sed -n 's/.*Bearer v4.public.\([^.]*\)[.].*/\1/p' alice.curl | unbase64 >payload
  sed -n 's/.*Bearer v4.public.[^.]*[.]\([^"]*\)".*/\1/p' alice.curl | unbase64 >footer
  head -c -64 payload >claims && tail -c 64 payload >signature
  key=$(local_ask /v1/keys | sed -n "s/.*Id = \"$(cut -d '"' -f 4 footer)\"; Key = \"\([0-9a-f]*\).*/\1/p")
  printf "$(sed 's/../\\x&/g' <<<"302a300506032b6570032100$key")" >key.der
  { length 4 && length 10 && printf v4.public. && length $(wc -c <claims) && cat claims && length $(wc -c <footer) && cat footer && length 0; } >bytes
  grep '"sub":"alice"' claims && openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in bytes -sigfile signature
}
check 'a token can be checked with the public key of the pool, by openssl alone' signed_well

# submit COMMAND: what it printed is in `out`, its status in $status.
submit() {
  timeout 15 "$examples/customer.sh" "$pool" "$work/alice.curl" desk "$1" >out 2>customer.err
  status=$?
}
same() { printf '%s\n' "$1" >want && diff want out && [ "$status" = "$2" ]; }

# A worker that pulls: nothing of it is stored.
PULL=1 setsid "$examples/worker.sh" "$pool" "$work/machine.curl" egret >puller.out 2>puller.err &
puller=$!
groups="$groups $puller"
disown
submit 'echo pulled'
check 'a worker that pulls does a job' same pulled 0
stored() { ! local_ask /v1/ads?kind=offers | grep egret; }
check 'and is not advertised' stored
kill -KILL -- "-$puller" 2>/dev/null

setsid "$examples/worker.sh" "$pool" "$work/machine.curl" heron >worker.out 2>worker.err &
groups="$groups $!"
disown
listed() { for _ in $(seq 50); do local_ask /v1/ads?kind=offers | grep heron && return; sleep 0.1; done; return 1; }
check 'the worker advertises its machine' listed

handle=$(printf 'berth agent\0machine\0heron' | b2sum -l 256 | cut -c1-16)
known() { local_ask "/v1/agents/$handle" | grep 'Name = "heron"'; }
check 'its handle is the hash of its identity and its name' known

submit 'echo "six by nine" is $((6 * 9)); printf "%s\n" "a\b"
test -w . && test -z "$(ls -A)" && echo "in a folder of its own"; exit 42'
check 'a job runs there, and what it prints and its status come back' same 'six by nine is 54
a\b
in a folder of its own' 42
submit 'sleep 3; echo again'
check 'the worker takes the next claim, and its heart beats are answered while the job runs' same again 0
used() { local_ask /v1/claims | grep 'Provider = "machine".*State = "over".*Used = [1-9]' && local_ask /v1/users/alice | grep 'Usage = [0.]*[1-9]'; }
check 'what the job used is counted for its owner' used

# A stranger has a token and knows the offer, but no ticket: it draws one.
. "$examples/agent.sh" "$pool" "$work/mallory.curl" m
set +e
offer_find() { for _ in $(seq 50); do offer=$(get Id "$(ask /v1/match -d '[Type="Job"]' | tr -d ' ')") && [ -n "$offer" ] && return; sleep 0.1; done; return 1; }
check 'anybody may see that there is an offer' offer_find
steal() { # TICKET OFFER REASON: is it refused for that reason?
  verify_ask "$handle" "$(word 1)" "$(word 2)" "$2" "$1" '[Type="Job";Cmd="echo stolen"]' && return 1
  echo "the worker says: $reason"
  [ "$reason" = "$3" ]
}
check 'who does not know the ticket is refused by the worker' steal "$(openssl rand -hex 32)" "$offer" ticket
check 'and so is one who asks for what is not offered' steal "$zeros" "$(word 3)" unknown
uncommitted() { get Reason "$(tell "$handle" "[Message=\"commit\";Claim=\"$(word 2)\";Epoch=\"$(word 1)\";Sequence=\"$(word 1)\";Collect=1000000]")" | grep unknown; }
check 'nobody commits who was not verified' uncommitted
submit 'echo and still it works'
check 'the worker still serves who has a ticket' same 'and still it works' 0

echo "1..$count"
exit $((failures > 0))
