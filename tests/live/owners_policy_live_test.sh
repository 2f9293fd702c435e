#!/bin/bash
# owners_policy_live_test.sh: what the owner of a machine changes in its policy is known in its pool: what, whose file it is, and from where it was told. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid curl python3
umask 077

# soon COMMAND...: it succeeds within half a minute.
soon() { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
export BERTH_STATE=$work/state
matchmaker() {
  setsid "$berth" matchmaker --listen "$address" >up 2>>matchmaker.err &
  matchmaker=$!
  groups="$groups $!"
  disown
  soon grep -q 'is up' up
}
address=127.0.0.1:$(steady_port)
: >up
check 'a matchmaker is up' matchmaker
mkdir -p heron/provider
"$berth" token create --subject machine/heron --scope 'ad:read ad:write claim' --lifetime 1d --out heron/provider/token >/dev/null
# provider SETTING...: it runs until `stop`.
provider() {
  ups=$(grep -c 'is up' provider.err 2>/dev/null)
  BERTH_STATE=$work/heron setsid "$berth" provider --set AgentName=heron --set Unprotected=true "$@" >/dev/null 2>>provider.err &
  provider=$!
  groups="$groups $!"
  disown
  soon more_up
}
more_up() { [ "$(grep -c 'is up' provider.err)" -gt "${ups:-0}" ]; }
stop() { kill "$provider" && while kill -0 "$provider" 2>/dev/null; do sleep 0.1; done; }
rows() { "$berth" audit --what agents.policy --json; }
count() { rows | grep -c '"what": "agents.policy"'; }
is_known() { "$berth" machines --json | grep -q heron; }

check 'a machine is there, without a policy of its own' provider
soon is_known
check 'of which nothing is told' [ "$(count)" = 0 ]
stop
echo '[ Constraint = other.Owner == "alice" && Fits; Shift = "night" ]' >own.policy
check 'its owner gives it a policy' provider --set OwnerPolicy="$work/own.policy"
one() { [ "$(count)" = 1 ]; }
check 'of which the pool is told' soon one
says() { rows | tail -1 | grep -F -- "$1"; }
check 'by whose word' says '"by": "machine/heron"'
check 'of which machine' says '"about": "heron"'
check 'what is another in it' says 'Constraint = other.Owner == \"alice\" && Fits (new); Shift = \"night\" (new)'
check 'whose file it is, and when it was written' says "a file of uid $(id -u) ($(id -un)), written $(date -u +%Y-)"
check 'and from where that was told' says '"from": "127.0.0.1"'
tells() { grep 'event=audit.owners-policy' provider.err | grep 'Shift'; }
check 'the log of the machine has it as well' tells
stop
check 'it begins anew with the same policy' provider --set OwnerPolicy="$work/own.policy"
soon is_known
sleep 6 # it would be told with the next look at the machine
check 'which is told once' one
stop
# Its pool is away when it begins: it is told later.
kill "$matchmaker" && while kill -0 "$matchmaker" 2>/dev/null; do sleep 0.1; done
{ printf '[ Constraint = Fits; Note = "'; printf 'é%.0s' $(seq 400); echo '" ]'; } >own.policy
provider --set OwnerPolicy="$work/own.policy"
stop
: >up
check 'the pool comes back' matchmaker
check 'and the machine' provider --set OwnerPolicy="$work/own.policy"
two() { [ "$(count)" = 2 ]; }
check 'what was changed while the pool was away is told now' soon two
longer() { says 'Constraint = Fits' && says 'Note = ' && says 'no Shift' && rows | python3 -c 'import sys; sys.stdin.buffer.read().decode()'; }
check 'with the beginning of what is long, and what has gone' longer
stop
check 'the owner takes the policy away' provider
three() { [ "$(count)" = 3 ] && says 'no Constraint'; }
check 'which is told as well' soon three
# Nobody tells of the machines of others, or much.
post() { curl -sS -o out -w '%{http_code}' -H "Authorization: Bearer $1" -H 'Content-Type: application/classad' -X POST "http://$address/v1/agents/$2/policy" --data "$3"; }
"$berth" token create --subject mallory --scope 'ad:read ad:write' --lifetime 1h --no-delegation --out mallory.token >/dev/null
mallory=$(sed -n 's/.*[Tt]oken *= *"\([^"]*\)".*/\1/p' mallory.token)
foreign() { [ "$(post "$mallory" heron '[ What = "Constraint = true" ]')" = 201 ] && says '"by": "mallory"'; }
check 'who tells of a machine of that name is named as who it is' foreign
bad() { [ "$(post "$mallory" ..%2Fx '[ What = "x" ]')" = 400 ] && [ "$(post "$mallory" heron '[ ]')" = 400 ] && [ "$(post "$mallory" heron "[ What = \"$(printf 'x%.0s' $(seq 300))\" ]")" = 400 ]; }
check 'what is no name, or too long, is refused' bad
"$berth" token create --subject eve --scope 'ad:read' --lifetime 1h --no-delegation --out eve.token >/dev/null
check 'and so is who may only read' [ "$(post "$(sed -n 's/.*[Tt]oken *= *"\([^"]*\)".*/\1/p' eve.token)" heron '[ What = "x" ]')" = 403 ]
flood() { for i in $(seq 60); do post "$mallory" "m$i" "[ What = \"change $i\" ]" >/dev/null; done; [ "$("$berth" audit --user mallory --json | grep -c '"by": "mallory"')" -le 33 ]; }
check 'many of them fill no log' flood
sound() { ! grep -n 'Sanitizer\|runtime error' ./*.err; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
