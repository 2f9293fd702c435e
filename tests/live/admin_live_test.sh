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
  [ -e "$work/$1.config" ] || echo '[ AuditRows = 1000 ]' >"$work/$1.config"
  start "$1" "$berth" customer --config "$work/$1.config" --state "$work/$1" --set Lease=300 --set Lifetime=4 && soon grep -q 'is up' "$1.up" && soon test -S "$work/$1/customer/customer.sock"
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

# --------------------------------------------------------------------------------------------------------------------- roles

url="http://$address"
made() {
  for role in operator accountant reader owner person; do
    "$berth" token create --subject "$role-1" --role "$role" --lifetime 1d --out "$role.token" || return
  done
}
check 'tokens are made for roles' made
check 'and say which they are' says 0 'role       operator' "$berth" token show operator.token
named() { "$berth" token list --json -c 'Subject == "reader-1"' | grep -q '"role": "reader"'; }
check 'in the list, too' named
check 'there is no such role' says 2 'did you mean .operator' "$berth" token create --role operater
check 'scopes and a role are too much' says 2 'cannot be used together' "$berth" token create --role reader --scope ad:read
# as ROLE COMMAND...: with the token of that role.
as() { "$berth" "${@:2}" --token "$1.token" --pool "$url"; }
cat >policy.ad <<'P'
[ ]
P
body='Content-Type: application/classad'
bearer() { "$berth" token create --subject "$1" --role "$2" --no-delegation --lifetime 1d 2>/dev/null | sed -n 's/.*Token *= *"\([^"]*\)".*/\1/p'; }
# asks TOKEN METHOD PATH [BODY]: prints the status.
asks() { curl -s -o answer -w '%{http_code}' -X "$2" -H "Authorization: Bearer $1" -H "$body" ${4:+--data-binary "$4"} "$url$3"; }
operator=$(bearer operator-2 operator) accountant=$(bearer accountant-2 accountant) reader=$(bearer reader-2 reader)
looks_only() {
  for who in "$accountant" "$reader"; do
    for what in 'PUT /v1/policy' 'PUT /v1/shares' 'PUT /v1/config/x' 'DELETE /v1/config/x' 'PUT /v1/users/alice' 'PUT /v1/users/alice/disabled' 'DELETE /v1/users/alice/disabled' \
      'POST /v1/tokens' 'POST /v1/codes' 'POST /v1/links' 'POST /v1/keys' 'PUT /v1/ads/x' 'DELETE /v1/ads/x' 'POST /v1/agents/x/commands'; do
      got=$(asks "$who" $what '[ ]')
      [ "$got" = 403 ] || { echo "$what: $got" && return 1; }
    done
  done
}
check 'an accountant and a reader change nothing' looks_only
check 'an accountant sees the audit log' as accountant audit
check 'and what every user may do' as accountant users show alice
check 'a reader does not see the log' says 2 'does not have the scope' as reader audit
check 'nor what others may do' says 1 'for administrators' as reader users show alice
check 'but what itself may do' says 0 'reader' as reader users show reader-1
check 'an operator disables' says 0 bob as operator users disable bob
check 'and enables' says 0 bob as operator users enable bob
check 'it makes tokens within its own scopes' as operator token create --subject bob --role person --out bob.token
check 'but no administrator' says 2 'does not have what this one would: serve admin' as operator token create --subject operator-1 --role administrator
check 'nor one that serves others' says 2 'does not have what this one would: serve' as operator token code --customer bob --serve
check 'a code by which a user joins it makes' as operator token code --user zoe
check 'nor other keys' test "$(asks "$operator" POST /v1/keys)" = 403
check 'it drains the machine of another' says 0 . as operator agent heron drain
check 'which the reader cannot' says 2 'does not have the scope' as reader agent heron resume
check 'nor another owner' says 2 . as owner agent heron resume
check 'and resumes it' says 0 . as operator agent heron resume

# ------------------------------------------------------------------------------------------------------------------ the audit log

# found N WHAT BY ABOUT [RESULT]: there are so many rows of that.
found() {
  got=$("$berth" audit --json -c "What == \"$2\" && By == \"$3\" && About == \"$4\" && Result == \"${5:-done}\"" | wc -l)
  [ "$got" = "$1" ] || { echo "$got rows of $*" && return 1; }
}
me=$(id -un)
changes() {
  asks "$operator" PUT /v1/policy '[ ]' && asks "$operator" PUT /v1/shares '[ Limits = [ matlab = 3 ] ]' && asks "$operator" PUT /v1/config/site '[ X = 1 ]' &&
    asks "$operator" DELETE /v1/config/site && asks "$operator" PUT /v1/users/alice '[ Factor = 2.0 ]' && asks "$operator" DELETE /v1/tokens/00112233445566778899aabbccddeeff &&
    "$berth" token code >code && asks "$operator" POST /v1/links
}
check 'several things are changed' changes
complete() {
  found 2 users.disable "$me" alice && found 2 users.enable "$me" alice && found 1 users.disable operator-1 bob && found 1 users.enable operator-1 bob &&
    found 1 policy.put operator-2 policy && found 1 shares.put operator-2 shares && found 1 config.put operator-2 site && found 1 config.delete operator-2 site &&
    found 1 users.put operator-2 alice && found 1 tokens.revoke operator-2 00112233445566778899aabbccddeeff && found 1 codes.create "$me" 'a machine' &&
    found 1 links.create operator-2 operator-2 && found 1 tokens.create operator-1 bob && found 2 agents.command operator-1 machine/heron/heron &&
    found 1 tokens.create "$me" reader-1 && found 1 users.disable reader-2 alice 'refused 403' && found 1 tokens.create operator-1 '' 'refused 403' &&
    found 1 codes.create operator-1 '' 'refused 403' && found 1 keys.rotate operator-2 '' 'refused 403'
}
check 'each change is in the log once, and each refusal' complete
joins() { mkdir -p crane && "$berth" join --only "$(cat code)" --state "$work/crane" --name crane && found 1 join machine/crane machine/crane; }
check 'a machine that joins is, too' joins
check 'from where' test "$("$berth" audit --json -c 'By == "operator-2"' --what policy | sed -n 's/.*"from": "\([^"]*\)".*/\1/p')" = 127.0.0.1
secret() { "$berth" audit --long >out && ! grep -q 'v4.public' out && ! grep -qF "$(cut -c1-40 code)" out; }
check 'there is no secret in it' secret
check 'it is asked for by user and kind' says 0 'users.disable' "$berth" audit --user alice --what users --since 1h
nothing() { "$berth" audit --user nobody; [ $? = 1 ]; }
check 'and nothing is the answer no' nothing
flood() {
  for i in $(seq 60); do asks "$reader" PUT "/v1/users/u$i/disabled" '[ ]' >>flooded; done
  asks bad PUT /v1/policy '[ ]'; asks bad PUT /v1/policy '[ ]'
  [ "$("$berth" audit --json -c 'By == "reader-2"' | wc -l)" -le 33 ] && found 1 policy.put '' '' 'refused 401' && complete
}
check 'a flood of attempts is a few rows, and pushes nothing out' flood
rows() { "$berth" audit --json | sed 's/"ago": [0-9.]*//' >"$1" && [ -s "$1" ]; }
sleep 1.5
kept() { rows before && kill -KILL "$(cat pool.pid)" && soon gone pool && pool && rows after && cmp before after; }
check 'all of it outlives a crash' kept
pages() { curl -s --unix-socket "$work/pool/matchmaker.sock" -D head "http://x/v1/audit?limit=5" >page && grep -qi '^Link:.*cursor=' head && [ "$(grep -c . page)" = 5 ]; }
check 'it comes in pages' pages
small() { stop pool && pool --set AuditRows=16 --set TokensPerIdentity=3 && [ "$("$berth" audit --json -c 'Result == "done"' | wc -l)" -le 20 ] && soon grep -q 'audit.dropped' pool.err && found 1 join machine/crane machine/crane; }
check 'no more rows are kept than the setting says: the oldest go, and a line says so' small

# ------------------------------------------------------------------------------------------------------------- lent tokens

# lent STATUS LENDER: so a submit host that asks for a token of a user is answered.
lent() { got=$(asks "$2" POST /v1/loans '[ Subject = "alice" ]') && cat answer && [ "$got" = "$1" ]; }
serves() { "$berth" token create --subject "$1" --scope 'ad:read serve' --no-delegation --lifetime 1d 2>/dev/null | sed -n 's/.*Token *= *"\([^"]*\)".*/\1/p'; }
lender=$(serves lender) other=$(serves other)
bounded() { lent 201 "$lender" && lent 201 "$lender" && lent 201 "$lender" && lent 429 "$lender" && grep -q 'TokensPerIdentity: lender has 3 tokens' answer; }
check 'a submit host has no more tokens made than it may, and is told why' bounded
check 'which is nothing to another' lent 201 "$other"
again() { stop pool && pool --set TokensPerIdentity=3 && lent 429 "$lender" && lent 201 "$other"; }
check 'a restart does not forget them' again

# ------------------------------------------------------------------------------------------------- the audit log of a customer

# noted N WHAT ABOUT [DETAIL]: alice's customer has so many rows of that.
noted() {
  got=$(at alice audit --jobs --json -c "What == \"$2\" && By == \"alice\" && About == \"$3\" && Result == \"done\" && From == \"unix\" && Via == \"uid $(id -u)\"${4:+ && Detail == \"$4\"}" | wc -l)
  [ "$got" = "$1" ] || { echo "$got rows of $*" && at alice audit --jobs && return 1; }
}
check 'a submission is in the log of the customer, with its job, who brought it and how' noted 1 jobs.submit "$first" '1 job'
check 'and a signal to a job' noted 1 jobs.signal "$first"
many() {
  for _ in $(seq 60); do cat second.ad; done >many.ad
  ids=$(at alice submit --force many.ad | sed -n 's/.*: //p') && [ -n "$ids" ] && noted 1 jobs.submit "$ids" '60 jobs'
}
check 'a submission of many jobs is one row' many
controls() {
  at alice hold "$ids" && at alice release "$ids" && at alice rm "$ids" --why 'not needed' && noted 1 jobs.hold "$ids" '60 jobs' && noted 1 jobs.release "$ids" '60 jobs' &&
    noted 1 jobs.remove "$ids" '60 jobs: not needed'
}
check 'so is what is done to them' controls
idle() { at alice rm "$ids"; noted 0 jobs.remove "$ids" '0 jobs' && noted 1 jobs.remove "$ids"; }
check 'what changes nothing is no change' idle
whose() { at host audit --jobs --json -c 'What == "jobs.submit" && Detail == "1 job, of alice"' | grep -q .; }
check 'it says for whom, where that is another' whose
settings() { echo '[ AuditRows = 900 ]' >alice.config && kill -HUP "$(cat alice.pid)" && soon settled; }
settled() { at alice audit --jobs --json -c 'What == "config.reload" && Via == "signal" && Detail == "AuditRows"' | grep -q .; }
check 'settings that were read again are in it' settings
lines() { at alice audit --jobs --json | sed 's/"ago": [0-9.]*//' >"$1" && [ -s "$1" ]; }
outlives() { lines before && kill -KILL "$(cat alice.pid)" && soon gone alice && customer alice && lines after && cmp before after; }
check 'all of it outlives a crash' outlives
paged() { curl -s --unix-socket "$work/alice/customer/customer.sock" -D head 'http://x/v1/audit?limit=3' >page && grep -qi '^Link:.*cursor=' head && [ "$(grep -c . page)" = 3 ]; }
check 'and comes in pages' paged
check 'the pool is not asked for it' says 2 '--customer is for --jobs' "$berth" audit --customer "unix:$work/alice/customer/customer.sock"

# A code is good for who has used it, in case the answer was lost; but not to undo what an administrator has done.
redeemed() {
  curl -s -o answer -w '%{http_code}' -H "$body" --data-binary "[ Secret = \"$secret\"; Name = \"stork\"; Key = \"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\" ]" "$url/v1/join"
}
again() {
  "$berth" token code >code2 && secret=$(sed 's/^berth-//' code2 | tr '_-' '/+' | base64 -d 2>/dev/null | od -An -v -tx1 -j1 -N16 | tr -d ' \n') &&
    [ "$(redeemed)" = 200 ] && [ "$(redeemed)" = 200 ]
}
check 'whoever has used a code may use it again' again
over() {
  for id in $("$berth" token list --json -c 'Subject == "machine/stork"' | sed -n 's/.*"id": "\([0-9a-f]*\)".*/\1/p'); do "$berth" token revoke "$id" || return; done
  [ "$(redeemed)" = 403 ] && grep 'was revoked: ask for another code' answer
}
check 'but not when what it has bought was revoked' over

echo "1..$count"
[ "$failures" = 0 ]
