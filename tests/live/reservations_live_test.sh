#!/bin/bash
# reservations_live_test.sh: machines of a real pool are reserved: all that are wanted or none, for whom they are, and what runs before. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid curl
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

export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
address=127.0.0.1:$(steady_port)
pool() {
  start pool "$berth" matchmaker --listen "$address" --state "$work/pool" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'listening at  unix' pool.up &&
    address=$(sed -n 's/.*http:..\([0-9.:]*\).*/\1/p' pool.up | head -1)
}
customer() { start alice "$berth" customer --state "$work/alice" && soon test -S "$work/alice/customer/customer.sock"; }
provider() {
  start "$1" "$berth" provider --state "$work/$1" --set AgentName="$1" --set Name="$1" --set Unprotected=true --set 'Networks={ "127.0.0.0/8" }' \
    --set OwnerPolicy="$work/owner.ad" --set ProviderListen=127.0.0.1:0
}
echo '[ Cpus = 2 ]' >owner.ad
up() {
  pool && mkdir -p alice/customer heron/provider crane/provider && token alice "$person job:any serve" alice/customer/token &&
    token machine/heron "$machine" heron/provider/token && token machine/crane "$machine" crane/provider/token && token bob "$person" bob.token &&
    customer && provider heron && provider crane
}
machines() { [ "$("$berth" machines -c 'State == "Idle"' --json | wc -l)" = 2 ]; }
check 'a pool with two machines is up' up
check 'both are idle' soon machines
[ "$failures" = 0 ] || { echo "1..$count" && exit 1; }

# submit ATTRIBUTES SPAN: a job that sleeps so long; its number is in $job.
submit() {
  echo "[ Cmd = \"sleep\"; Args = { \"$2\" }; Outputs = {}; RequestMemory = 16M; RequestDisk = 16M; $1 ]" >job.ad
  job=$("$berth" submit --force job.ad | sed -n 's/.*: //p') && [ -n "$job" ]
}
stands() { "$berth" jobs --json -c "Job == $job && State == \"$1\"" | grep -q .; }
over() { "$berth" history --json -c "Job == $job" | grep .; }
# says STATUS WORDS COMMAND...: it ends so, and says that.
says() {
  "${@:3}" >out 2>&1
  local got=$?
  cat out
  [ "$got" = "$1" ] && grep -q -- "$2" out
}
number() { number=$(sed -n 's/^reservation \([0-9a-f]*\): .*/\1/p' out) && [ -n "$number" ]; }
listed() { "$berth" reservations >list && cat list && grep -E "$1" list; }
none() { "$berth" reservations >list && ! grep -E '[0-9a-f]{16}' list; }

check 'both machines are reserved' says 0 '^reservation [0-9a-f]*: crane, heron, .* for bob, physics$' \
  "$berth" reserve --from +2h --for 1h --users bob,physics --count 2 --purpose exam
check 'under a number' number
first=$number
check 'and that is listed' soon listed "^$number  booked  2  .*  bob,physics .* exam"
check 'with its machines' says 0 '^heron$' "$berth" reservations "$number"
check 'by the beginning of its number, and for programs' says 0 '"Machines": *\["crane", *"heron"\]' "$berth" reservations "${number:0:8}" --json
asked() { curl -sS -m 20 -o answer -D head -w '%{http_code}\n' --unix-socket "$work/pool/matchmaker.sock" "${@:2}" "http://pool/v1/reservations$1"; }
address_of() {
  [ "$(asked "/$number")" = 200 ] && cat answer head && grep "Reservation = \"$number\"; State = \"booked\"" answer && grep 'Machines = { "crane", "heron" }' answer && grep 'Agreed = true' answer && ! grep Others answer &&
    grep -i "^Link: </v1/reservations/$number>; rel=\"self\".*</v1/machines/[0-9a-f]*>; rel=\"item\", </v1/machines/[0-9a-f]*>; rel=\"item\"" head
}
check 'it has an address at the matchmaker, with links to its machines' address_of
commanded() { grep -i '^Last-Modified: .* GMT' head && grep -i '^Link: .*</v1/agents/[0-9a-f]*/commands>; rel="command"; method="POST"' head; }
check 'and to the commands that change it, for those who may give them; and it says when it was told of last' commanded
item() { curl -sS -m 20 --unix-socket "$work/pool/matchmaker.sock" "http://pool$(sed -n 's/.*<\([^>]*\)>; rel="item".*/\1/p' head)" | grep "Booking = \"$number\""; }
check 'which tell of it' item
unchanged() { [ "$(asked "/$number" -H "If-None-Match: $(sed -n 's/^[Ee][Tt]ag: \([^\r]*\).*/\1/p' head | tr -d '\r')")" = 304 ]; }
check 'and a tag, by which nothing is sent when it is as it was' unchanged
all_listed() { [ "$(asked '')" = 200 ] && cat answer && [ "$(grep -c . answer)" = 1 ] && grep 'Users = { "bob", "physics" }' answer && grep 'Agents = { "[0-9a-f]\{16\}", "[0-9a-f]\{16\}" }' answer; }
check 'the list of all has it as well' all_listed
missing() { [ "$(asked /00000000000000ff)" = 404 ] && [ "$(asked /exam)" = 404 ] && [ "$(asked /0)" = 404 ]; }
check 'a number of which nobody tells is not there' missing
check 'nobody else gets them for a part of that time' says 1 'others that fit are booked' "$berth" reserve --from +150min --for 2h --users carol
check 'but before it' says 0 '^reservation' "$berth" reserve --from +1h --for 10min --users carol heron
check 'under another number' number
check 'that is listed too' soon listed "^$number "
check 'and given back' says 0 'is given back' "$berth" reservations "$number" release
check 'for nobody whose name could be more than a name' says 1 'letters, digits' "$berth" reserve --from +4h --for 10min --users 'carol"' heron
check 'one is far ahead' says 0 '^reservation' "$berth" reserve --from +40d --for 10min --users carol heron
check 'under its number' number
check 'is listed' soon listed "^$number "
check 'and can be given back as well' says 0 'is given back' "$berth" reservations "$number" release
number=$first
only() { listed "^$number" && [ "$(grep -cE '^[0-9a-f]{16} ' list)" = 1 ]; }
check 'and gone' soon only
free() { "$berth" ads heron --json | grep '"FreeFor": [1-9]'; }
check 'the offers say how long they are free' soon free

check 'a job that might run into it is submitted' submit 'TimeLimit = 10000' 10000
long=$job
check 'and one of which nothing says when it ends, and that does not yield' submit 'Yields = false' 10000
stubborn=$job
check 'and one that ends before' submit 'TimeLimit = 600' 0
check 'that one runs' soon over
check 'it is reserved for somebody else, and for longer' says 0 'for carol' "$berth" reservations "$number" change --users carol --for 2h
check 'as all are told' soon listed "^$number .*  carol "
job=$long
check 'the one that might run into it waits' stands Waiting
job=$stubborn
check 'and so does the other' stands Waiting

restarted() { kill -9 "$(cat heron.pid)" && provider heron && soon listed "^$number  booked  2 .* carol "; }
check 'a machine whose provider was killed still has its booking' restarted
# The other one has the old terms again then, by an order of somebody else; this one comes back when that is not waiting for it any more.
half() {
  kill -9 "$(cat heron.pid)" && token eve "$person admin" eve.token &&
    says 1 'heron' "$berth" reservations --token "$work/eve.token" --pool "http://$address" "$number" change --for 90min --wait 3s && sleep 4 && provider heron
}
check 'a change that one machine does not hear of is taken back' half
check 'and both tell the same of it again' soon listed "^$number  booked  2 .* carol "
# One machine tells something else of it, as one may that lies, or that was told so.
lie() {
  local agent from until
  agent=$("$berth" machine crane --json | sed -n 's/.*"Agent": *"\([0-9a-f]*\)".*/\1/p') && "$berth" reservations "$number" --json >told && from=$(sed -n 's/.*"From": *\([0-9]*\).*/\1/p' told | head -1) &&
    until=$(sed -n 's/.*"Until": *\([0-9]*\).*/\1/p' told | head -1) && [ -n "$agent" ] && [ -n "$from" ] && [ -n "$until" ] &&
    curl -sS -m 30 --unix-socket "$work/pool/matchmaker.sock" "http://pool/v1/agents/$agent/commands" -H 'Content-Type: application/classad; dialect=classic' \
      -d "[ Command = \"book\"; Booking = \"$number\"; Lifetime = 60; From = $from; Until = $until; Users = { \"mallory\" }; Count = 2; Arrive = 600; Purpose = \"exam\" ]" && soon listed "^$number .* mallory "
}
check 'one of its machines tells something else of it' lie
both_told() {
  asked "/$number" && cat answer && grep 'Agreed = false; Others = { \[ Reservation' answer && grep -o 'Users = { "[a-z]*" }' answer | sort | tr '\n' ' ' | grep 'carol.*mallory' && asked '' && [ "$(grep -c "$number" answer)" = 2 ] &&
    asked '?select=Machines&constraint=member(%22mallory%22,Users)' && cat answer && grep '"crane"' answer && ! grep heron answer
}
check 'at its address both are told, as what not all agree about' both_told
check 'it is not changed then without a word on who is right' says 1 'say whose word holds, --told-by' "$berth" reservations "$number" change --for 3h
check 'nor by the word of a machine that it does not have' says 1 'no machine of the reservation is called stork' "$berth" reservations "$number" change --for 3h --told-by stork
check 'by the word of one it is' says 0 'for carol' "$berth" reservations "$number" change --for 3h --told-by heron
check 'for the others stay as they are' soon listed "^$number .* mallory "
mended() { says 0 'for carol' "$berth" reservations "$number" change --users carol --for 3h --told-by crane && soon listed "^$number  booked  2 .* carol "; }
check 'until all are told the same again' mended
check 'it is reserved for who waits' says 0 'for alice' "$berth" reservations "$number" change --users alice --from +30min --for 2h
job=$long
check 'whose job begins' soon stands Running
job=$stubborn
check 'and the other one, too' soon stands Running
check 'it is given back' says 0 'is given back' "$berth" reservations "$number" release
check 'and nothing is reserved' soon none
check 'a machine refuses where a job may run into it' says 1 'may not have ended by then' "$berth" reserve --from +1h --for 1h --users bob --count 2
check 'and then none is reserved' soon none
check 'who may not command a machine does not reserve it' says 1 'another' \
  "$berth" reserve --token "$work/bob.token" --pool "http://$address" --from +1h --for 1h --users bob heron
gone() { "$berth" rm "$long" "$stubborn" && soon machines; }
check 'the jobs are removed' gone
check 'a machine to which nobody comes is reserved' says 0 '^reservation' "$berth" reserve --for 1h --users nobody --arrive 1s heron
check 'and gives itself back' soon none
again_restarted() { kill -9 "$(cat heron.pid)" && provider heron && soon listed "^$number  booked  2 .* and again" && soon listed "^$once  booked  1 "; }
rule=CET-1CEST,M3.5.0,M10.5.0/3
check 'both machines are reserved again and again' says 0 "^reservation [0-9a-f]*: crane, heron, .* and again at 0 3 \* \* \* in $rule, for bob$" \
  "$berth" reserve --every '0 3 * * *' --zone "$rule" --for 1h --users bob --count 2
check 'under a number' number
check 'which is listed with its next time' soon listed "^$number  booked  2  .* and again at 0 3 \* \* \* in $rule  bob "
fifth=$(TZ=$rule date -d '+5 days 03:30' +%s)
check 'nobody has a part of a later one' says 1 'it is booked for others then' "$berth" reserve --from "$(date -u -d "@$fifth" +%Y-%m-%dT%H:%MZ)" --for 1h --users carol heron
check 'what is between can be had' says 0 '^reservation' "$berth" reserve --from "$(date -u -d "@$((fifth + 7200))" +%Y-%m-%dT%H:%MZ)" --for 1h --users carol heron
once=$(sed -n 's/^reservation \([0-9a-f]*\): .*/\1/p' out)
check 'a machine whose provider was killed keeps both' again_restarted
check 'it is changed to other times' says 0 'and again at 0 4 \* \* \* in UTC0, for bob' "$berth" reservations "$number" change --every '0 4 * * *' --zone UTC0 --for 30min --last +60d
check 'as is told' soon listed "^$number  booked  2  .* and again at 0 4 \* \* \* in UTC0  bob "
check 'and not to a moment' says 2 'it comes again: --every says when it begins' "$berth" reservations "$number" change --from +3h
check 'programs have it, too' says 0 '"Last": *[0-9].*"Every": *"0 4 \* \* \*".*"ZoneRule": *"UTC0"' "$berth" reservations "$number" --json
check 'what is no schedule is refused' says 2 '^berth: --every: ' "$berth" reserve --every '61 * * * *' --for 1h --users bob heron
check 'nor is a zone that nobody knows' says 2 '^berth: --zone: ' "$berth" reserve --every '0 3 * * *' --zone Nowhere/Atlantis --for 1h --users bob heron
check 'it is given back as a whole' says 0 'is given back' "$berth" reservations "$number" release
check 'and the other one' says 0 'is given back' "$berth" reservations "$once" release
check 'and then nothing is reserved' soon none
things() {
  mkdir -p things/provide && token machine/things "$machine" things/provide/token && printf '[ Type = "Machine"; Name = "mill" ]\n[ Type = "Machine"; Name = "kiln" ]\n' >things.ad &&
    start things "$berth" provide --state "$work/things" --set AgentName=things --set 'Networks={ "127.0.0.0/8" }' "$work/things.ad" && soon "$berth" machine kiln
}
check 'an agent that offers several things is there' things
check 'an order does not say which of them: it refuses' says 1 'of which none can be booked' "$berth" reserve --from +1h --for 1h --users bob kiln
sound() { ! grep -n 'Sanitizer\|runtime error\|level=error' ./*.err; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
