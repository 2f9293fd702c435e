#!/bin/bash
# bearer_live_test.sh: people whose only token is that of an institute (BEARER_TOKEN, BEARER_TOKEN_FILE) have jobs at a customer that is called by HTTP: who they are, what each
# capability of their token lets them do, and what happens when the list of issuers changes. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid python3 openssl
issuer() { python3 "$BERTH_SOURCE/tests/live/issuer.py" "$@"; }
soon() { for _ in $(seq 400); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; "$@"; }
says() { local got; "${@:3}" >out 2>&1; got=$?; cat out; [ $got = "$1" ] && grep -q -e "$2" out; }

# --------------------------------------------------------------------------------------------------------- pool and customer

mkdir site home
for name in one.ec other.ec; do issuer key "$name" || { echo 'Bail out! openssl'; exit 1; }; done
issuer set one.ec >keys
setsid python3 "$BERTH_SOURCE/tests/live/issuer.py" serve site >port 2>issuer.err &
groups="$groups $!"
disown
for _ in $(seq 200); do [ -s port ] && break; sleep 0.1; done
# entry NAME [REST]: an issuer as both of them have it.
entry() { echo "[ Issuer = \"https://$1.example.org\"; Name = \"$1\"; Audience = \"here\"; Keys = \"$work/keys\"; KeysPause = 1${2:+; $2} ]"; }
mapped='Group = isUndefined(team) ? undefined : team'
entry idp "$mapped" >pool.issuers
entry idp "$mapped" >customer.issuers
echo "[ Issuers = { $(cat pool.issuers) }; Unprotected = true ]" >pool.ad
: >up
BERTH_CONFIG=$work/pool.ad setsid "$berth" pool --state "$work/state" --listen 127.0.0.1:0 >up 2>pool.err &
groups="$groups $!"
disown
soon grep -q 'To end it' up
url=$(sed -n 's/^Berth pool is up: //p' up)
as_owner() { BERTH_STATE=$work/state "$berth" "$@"; }
mkdir -p host/customer && chmod 700 host host/customer
as_owner token create --subject submit1 --scope 'ad:read ad:write claim match job:submit job:own job:any serve' --lifetime 1h --out host/customer/token >/dev/null
echo "[ Issuers = { $(cat customer.issuers) }; CustomerListen = \"127.0.0.1:0\" ]" >host.ad
: >host.up
BERTH_CONFIG=$work/host.ad setsid "$berth" customer --state "$work/host" --set "Matchmakers={ \"$url\" }" >host.up 2>host.err &
customer=$!
groups="$groups $customer"
disown
soon grep -q 'event=started .* address=127.0.0.1:[0-9]' host.err
place=http://$(sed -n 's/.*event=started .* address=\([0-9.:]*\).*/\1/p' host.err | head -1)

# ------------------------------------------------------------------------------------------------------------------ people

# token SCOPE [SUB [REST [KEY]]]: a token of the institute $issuer_name for $audience, with further claims.
token() {
  curl -sS -m 30 "http://127.0.0.1:$(cat port)/sign" --data-urlencode "claims={\"iss\":\"https://${issuer_name:-idp}.example.org\",\"sub\":\"${2:-alice}\",\"aud\":\"${audience:-here}\",\"exp\":now+600,\"scope\":\"$1\"${3:+,$3}}" \
    --data-urlencode "name=${4:-one.ec}" --data-urlencode 'header={"alg":"ES256","kid":"one.ec"}'
}
all='compute.read compute.create compute.modify compute.cancel'
# with TOKEN COMMAND...: a command of somebody who has that token and nothing else.
with() { env -u BERTH_STATE BEARER_TOKEN="$1" HOME="$work/home" XDG_STATE_HOME="$work/home" XDG_CONFIG_HOME="$work/home" BERTH_CUSTOMER="$place" BERTH_POOL="$url" "$berth" "${@:2}"; }
alice=$(token "$all") bob=$(token "$all" bob)
empty() { says 0 '^0 jobs' with "$alice" jobs; }
check "berth jobs asks a customer by HTTP with an institute's token" soon empty
runs() { with "$alice" submit - <<<'[ Cmd = "/bin/echo"; Args = "hello"; Outputs = {} ]' && soon over; }
over() { with "$alice" history | grep echo; }
check 'and berth submit: the job runs' runs
mine() { with "$alice" history --long | grep 'Owner = "idp:alice"'; }
check '... and is that of the identity that the pool knows, too' mine
whoami() { curl -sS -m 30 "$url/v1/whoami" -H "Authorization: Bearer $alice" | grep 'Subject *= *"idp:alice"'; }
check '... by the same name' whoami
hidden() { ! with "$bob" history | grep echo && says 1 'no such job\|there is no job' with "$bob" job 1; }
check 'another person of the institute does not see it' hidden
by_file() { echo "$alice" >bearer && env -u BERTH_STATE BEARER_TOKEN_FILE="$work/bearer" HOME="$work/home" XDG_STATE_HOME="$work/home" BERTH_CUSTOMER="$place" "$berth" history | grep echo; }
check 'the token may be in a file' by_file
status() { with "$alice" status | grep -i machines || with "$alice" machines; }
check 'the matchmaker is asked with the same token' status

# -------------------------------------------------------------------------------------------------------------- capabilities

read=$(token compute.read) create=$(token compute.create) modify=$(token compute.modify) cancel=$(token compute.cancel)
# asked STATUS TOKEN METHOD PATH [BODY]
asked() {
  local got
  got=$(curl -sS -m 30 -o body -w '%{http_code}' -X "$3" "$place$4" -H "Authorization: Bearer $2" -H 'Content-Type: application/classad' ${5:+-d "$5"})
  [ "$got" = "$1" ] || { echo "status $got"; cat body; return 1; }
}
never='[ Cmd = "true"; Outputs = {}; Constraint = other.Name == "nobody" ]'
creates() { asked 201 "$create" POST '/v1/jobs?force=true' "$never" && job=$(sed -n 's/.*First *= *\([0-9]*\).*/\1/p' body) && [ -n "$job" ]; }
check 'compute.create submits jobs' creates
control() { asked "$1" "$2" POST /v1/control "[ Verb = \"$3\"; Ids = \"$job\" ]"; }
only_creates() { asked 403 "$create" GET /v1/jobs && grep -F job:read body && asked 403 "$create" GET "/v1/jobs/$job" && asked 403 "$create" GET /v1/history && control 403 "$create" hold && control 403 "$create" remove; }
check '... and does not see, change or remove them' only_creates
reads() { asked 200 "$read" GET /v1/jobs && grep -F 'idp:alice' body && asked 200 "$read" GET "/v1/jobs/$job" && asked 200 "$read" GET "/v1/jobs/$job/log" && asked 200 "$read" GET /v1/history && asked 200 "$read" GET /v1/summary && with "$read" jobs | grep "$job"; }
check 'compute.read lists jobs, and shows them' reads
only_reads() { control 403 "$read" hold && grep -F job:modify body && control 403 "$read" remove && asked 403 "$read" POST /v1/jobs "$never" && asked 403 "$read" POST "/v1/jobs/$job/commands" '[ Command = "signal"; Signal = 15 ]'; }
check '... and does not submit, change or remove them' only_reads
modifies() { control 200 "$modify" hold && grep 'Changed *= *1' body && control 200 "$modify" release && grep 'Changed *= *1' body; }
silently() { asked 204 "$modify" POST "/v1/jobs/$job/hold" && asked 204 "$modify" PATCH "/v1/jobs/$job" '[ Priority = 1 ]' && asked 204 "$modify" POST "/v1/jobs/$job/release"; }
check 'compute.modify holds and releases' modifies
check '... also one by its address, of which it is shown nothing' silently
only_modifies() { control 403 "$modify" remove && grep -F 'remove needs: job:own job:any job:cancel' body && asked 403 "$modify" GET /v1/jobs && asked 403 "$modify" POST /v1/jobs "$never"; }
check '... and does not remove, see or submit' only_modifies
only_cancels() { control 403 "$cancel" hold && grep -F 'hold needs: job:own job:any job:modify' body && control 403 "$cancel" rescue && asked 403 "$cancel" GET /v1/jobs && asked 403 "$cancel" POST /v1/jobs "$never"; }
check 'compute.cancel does not change, see or submit' only_cancels
others() { control 200 "$(token compute.cancel bob)" remove && grep 'Changed *= *0' body && asked 404 "$(token compute.read bob)" GET "/v1/jobs/$job"; }
check '... nor remove or see what is of others' others
cancels() { control 200 "$cancel" remove && grep 'Changed *= *1' body; }
check '... and removes' cancels
desk() { curl -sS -m 30 "$url/v1/desks" -H "Authorization: Bearer $1" | sed -n 's/.*Agent *= *"\([0-9a-f]*\)".*Name *= *"[^"]*".*/\1/p' | head -1; }
handed() {
  local agent
  agent=$(desk "$read") && [ -n "$agent" ] && [ "$(curl -sS -m 30 -o body -w '%{http_code}' "$url/v1/desk/$agent/history" -H "Authorization: Bearer $read")" = 200 ] && grep -F idp:alice body &&
    [ "$(curl -sS -m 30 -o body -w '%{http_code}' "$url/v1/desk/$agent/control" -H "Authorization: Bearer $cancel" -d "[ Verb = \"hold\"; Ids = \"$job\" ]")" = 403 ]
}
check 'by way of the matchmaker it is the same' soon handed

# ------------------------------------------------------------------------------------------------------------------- groups

atlas=$(token "$all" erin '"team":"atlas"')
charged() { asked "$1" "$2" POST '/v1/jobs?force=true' "[ Cmd = \"true\"; Outputs = {}; Constraint = other.Name == \"nobody\"${3:+; AccountingGroup = \"$3\"} ]"; }
check 'a job is charged to the group that the institute says' charged 201 "$atlas" atlas
check '... or to none' charged 201 "$atlas" ''
other_group() { charged 400 "$atlas" cms || charged 403 "$atlas" cms; grep -F 'your institute has put you into the group atlas' body; }
check '... and to no other' other_group
no_group() { charged 400 "$alice" atlas || charged 403 "$alice" atlas; grep -F 'your institute has put you into no group' body; }
check 'whom it puts into no group cannot name one' no_group
worked_out() { asked 400 "$atlas" POST '/v1/jobs?force=true' '[ Cmd = "true"; Outputs = {}; Constraint = false; AccountingGroup = strcat("c", "ms") ]' && grep -F 'into the group atlas' body; }
check '... nor one that is worked out later' worked_out
# by_desk STATUS TOKEN GROUP: the same by way of the matchmaker.
by_desk() {
  local got
  got=$(curl -sS -m 30 -o body -w '%{http_code}' "$url/v1/desk/$(desk "$2")/jobs?force=true" -H "Authorization: Bearer $2" -H 'Content-Type: application/classad' -d "[ Cmd = \"true\"; Outputs = {}; Constraint = false; AccountingGroup = \"$3\" ]")
  [ "$got" = "$1" ] || { echo "status $got"; cat body; return 1; }
}
handed_group() { by_desk 201 "$atlas" atlas && by_desk 400 "$atlas" cms && grep -F 'into the group atlas' body && by_desk 400 "$alice" atlas && grep -F 'into no group' body; }
check 'by way of the matchmaker it is the same' handed_group
# advertised STATUS TOKEN GROUP: a request of one's own at the matchmaker.
advertised() {
  local got
  got=$(curl -sS -m 30 -o body -w '%{http_code}' -X PUT "$url/v1/ads/x$RANDOM?kind=request" -H "Authorization: Bearer $2" -H 'Content-Type: application/classad' -d "[ Type = \"Job\"; Constraint = false; AccountingGroup = \"$3\" ]")
  [ "$got" = "$1" ] || { echo "status $got"; cat body; return 1; }
}
at_pool() { advertised 201 "$atlas" atlas && advertised 403 "$atlas" 'c" + "ms' && advertised 403 "$atlas" cms && grep -F 'not the group that the institute' body && advertised 403 "$alice" atlas; }
check 'so it is for a request at the matchmaker' at_pool
exchanged() {
  local given
  given=$(curl -sS -m 30 "$url/v1/exchange" -H "Authorization: Bearer $atlas" -d '[]' | sed -n 's/.*Token *= *"\([^"]*\)".*/\1/p') && advertised 201 "$given" atlas && advertised 403 "$given" cms && by_desk 201 "$given" atlas && by_desk 400 "$given" cms
}
check "... and for one by a token of the pool that was given for the institute's" exchanged

# ------------------------------------------------------------------------------------------------------------------ refusals

check 'what is no such token is not sent' says 2 'BEARER_TOKEN: it is not the token of an institute' with v4.public.x jobs
absent() { env -u BERTH_STATE BEARER_TOKEN_FILE=/nowhere HOME="$work/home" XDG_STATE_HOME="$work/home" BERTH_CUSTOMER="$place" "$berth" jobs; }
check 'a file that is not there is named' says 2 '/nowhere: there is no such file' absent
# refused REASON TOKEN: the caller is told nothing, and the log why.
refused() { says 2 'a good token is needed' with "$2" jobs && tail -n 5 host.err | grep -F event=audit.refused | grep -F "$1"; }
check 'one that another key has signed' refused 'the signature is not good' "$(token "$all" alice '' other.ec)"
check 'one for somebody else' refused 'meant for another audience' "$(audience=there token "$all")"
check 'one of an issuer that the customer does not name' refused 'issued by nobody' "$(issuer_name=new token "$all")"
revoked() {
  local carol id
  carol=$(token "$all" carol)
  with "$carol" jobs >/dev/null && id=$(grep -F event=audit.identity host.err | grep -F idp:carol | tail -n 1 | sed 's/.* id=\([0-9a-f]*\).*/\1/') && as_owner token revoke "$id" && soon refused revoked "$carol"
}
check 'one that was revoked at the pool' revoked
disabled() {
  local dave
  dave=$(token "$all" dave)
  with "$dave" jobs >/dev/null && as_owner users disable idp:dave --reason left >/dev/null && soon says 2 'disabled' with "$dave" jobs
}
check 'one of a user who is disabled' disabled

# -------------------------------------------------------------------------------------------------------------------- reload

# takes: what stands in `customer.issuers` is taken on.
takes() {
  local before
  before=$(grep -c 'event=reloaded' host.err)
  echo "[ Issuers = { $(cat customer.issuers) }; CustomerListen = \"127.0.0.1:0\" ]" >host.ad
  kill -HUP "$customer"
  for _ in $(seq 200); do [ "$(grep -c 'event=reloaded' host.err)" -gt "$before" ] && return; sleep 0.1; done
  return 1
}
more() { echo "$(entry idp), $(entry new)" >customer.issuers && takes && says 0 '^0 jobs' with "$(issuer_name=new token "$all")" jobs && with "$alice" history | grep echo; }
check 'an issuer that is added is taken on at a reload' more
bad() { echo "$(entry idp), $(entry new), $(entry third | sed "s|$work/keys|/nowhere|")" >customer.issuers && takes && grep -F event=issuers.refused host.err | grep -F '/nowhere: there is no such file' && says 0 '^0 jobs' with "$(issuer_name=new token "$all" eve)" jobs; }
check 'a list that cannot be used is refused, and the one before it stays' bad
fewer() { entry new >customer.issuers && takes && refused 'issued by nobody' "$alice"; }
check "an issuer that is gone is not believed any more, nor is what was found good" fewer
none() { : >customer.issuers && takes && says 2 'this is the token of an institute, and none is taken here' with "$alice" jobs; }
check 'where none is taken the bearer is told so' none

echo "1..$count"
exit $((failures > 0))
