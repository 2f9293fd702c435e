#!/bin/sh
# shares_cli_test.sh: groups, limits and why, by the commands, against a real matchmaker: from a file, changed while it runs, and kept.
# Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

run "$berth" users --why
expect 'why wants a name' 2 '' 'berth: users --why wants one NAME'
run "$berth" users --groups --limits
expect 'one thing at a time is listed' 2 '' 'berth: --why, --groups, --limits and --factor cannot be used together'
cat >wrong.ad <<'AD'
[ Groups = { [ Name = "physics"; Quota = "much" ] } ]
AD
run "$berth" matchmaker --listen 127.0.0.1:0 --set Shares="$work/wrong.ad"
says 'a file that is wrong is refused at the start, and it is said where' 2 '' \
  "*wrong.ad: Groups, number 1: Quota: expected a number of units, or a part of the pool between 0 and 1*"

# For the manual's example, at the end; about seven seconds are a window, a pin, a lease with its margin and a deadline here.
"$berth" matchmaker --listen 127.0.0.1:0 --state "$work/manual" --set Shares="$BERTH_SOURCE/examples/shares.ad" --set CycleInterval=0.05 \
  --set Window=6 --set Pin=0.2 --set Lease=0.2 --set Deadline=0.2 >manual.up 2>manual.log &
pids=$! learnt=$(($(date +%s) + 9))

cat >shares.ad <<'AD'
[ Groups = { [ Name = "physics"; Quota = 0.75; Users = { "alice" } ], [ Name = "art"; Quota = 1; Surplus = false ] };
  Limits = [ matlab = 1 ] ]
AD
# What is in use of limits is known after a window, a pin, a lease with its margin and a deadline.
: >up
"$berth" matchmaker --listen 127.0.0.1:0 --set Shares="$work/shares.ad" --set CycleInterval=0.05 --set Window=20 --set Pin=0.3 \
  --set Lease=0.3 --set Deadline=0.3 >up 2>log &
pids="$pids $!" main=$!
for _ in $(seq 100); do grep -q 'listening at  unix' up && break; sleep 0.05; done
put() { curl -sS --unix-socket "$work/state/matchmaker.sock" -o put.out -w '%{http_code}\n' -X PUT "http://localhost$1" -d "$2"; }
{
  put /v1/ads/a '[ Type = "Job"; Owner = "alice"; Count = 9; AccountingGroup = "physics" ]'
  put /v1/ads/b '[ Type = "Job"; Owner = "bob"; Count = 9; AccountingGroup = "art" ]'
  put /v1/ads/c '[ Type = "Job"; Owner = "carol"; Count = 9; AccountingGroup = "physics" ]'
  put /v1/ads/d '[ Type = "Job"; Owner = "dave"; Count = 9; ConcurrencyLimits = "Matlab" ]'
  put /v1/ads/bad '[ Type = "Job"; Owner = "dave"; ConcurrencyLimits = "a b" ]'
  put /v1/ads/g '[ Type = "Job"; Owner = "eve"; ConcurrencyLimits = "matlab"; Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine" ] } ]'
} >put.codes
expect_codes=$(tr '\n' ' ' <put.codes)
holds 'requests are put in, and one that names no limits is refused' [ "$expect_codes" = '201 201 201 201 400 201 ' ]
for i in 1 2 3 4 5 6 7 8; do put "/v1/ads/m$i" '[ Type = "Machine" ]'; done >>put.codes

eventually() { # SENTENCE COMMAND...: true within five seconds
  sentence=$1
  shift
  for _ in $(seq 100); do
    "$@" && result 0 "$sentence" && return
    sleep 0.05
  done
  "$berth" users --groups >why 2>&1
  result 1 "$sentence"
}
groups_are() { [ "$("$berth" users --groups --json | tr -d '\n')" = "$1" ]; }
eventually 'groups get what they may: three quarters of eight, one, and the rest for those outside' groups_are \
  '{"name": "<none>", "quota": 1.0, "used": 1.0, "surplus": true, "pool": 8.0}{"name": "art", "quota": 1.0, "used": 1.0, "surplus": false, "pool": 8.0}{"name": "physics", "quota": 6.0, "used": 6.0, "surplus": true, "pool": 8.0}'
run "$berth" users --why art~bob
says 'a group at its quota is said to be what is waited for' 0 'art~bob waits, but not for an offer, with 1 request

priority 1.5 = factor 1 x (usage 0.5 + 1 unit in use); the smallest is served first
usage 0, counted as 0.5, in units used all the time; what was used counts half after 24 h
with the 1 claim of now it will be 0.5 then
group art: 1 of its quota of 1 units in use, of a pool of 8; it may have no more

what its requests wait for, or are charged to:
  1 request waits for the quota of the group art (1 of 1 in use)' ''
run "$berth" users --why bob
holds 'who is asked for without a group is found in the group that it waits in' grep -qx 'art~bob waits, but not for an offer, with 1 request' out
holds 'and it is told what for' grep -qx '  1 request waits for the quota of the group art (1 of 1 in use)' out
run "$berth" users --why carol
holds 'who may not use a group is charged outside of it' grep -qx '  1 request is charged outside the group physics, which the user may not use' out
run "$berth" users --why dave --json
json 'why --json has the numbers' 0 \
  'rows[0]["Name"] == "dave" and rows[0]["Holds"][0]["Kind"] == "learns" and rows[0]["HalfLife"] == 86400 and rows[0]["Group"] == "<none>"'
run "$berth" users --why 'physics~alice'
holds 'who has most in use is behind' grep -q '^physics~alice is number . of . user' out
run "$berth" why d
holds 'why tells of an ad what holds it back' grep -Eqx 'd: waits for what is in use of limits to be known: the matchmaker began [0-9]+ (s|min) ago\.' out
run "$berth" why g
holds 'also of one with ports' grep -qx 'It waits for what is in use of limits to be known: the matchmaker has begun lately.' out
holds 'and that it would form if nothing were in use' grep -qx 'g: waits for free machines: its gang would form if nothing of them were in use.' out
run "$berth" why --json d
json 'both are in the JSON' 1 \
  'rows[0]["hold"] == {"kind": "learns", "text": "It waits for what is in use of limits to be known: the matchmaker has begun lately."} and rows[0]["taken"] == 8 and rows[0]["first"] == "learns" and rows[0]["reasons"][1]["code"] == "busy" and rows[0]["reasons"][1]["machines"] == 8'
run "$berth" why --json g
json 'of a gang too' 1 'rows[0]["hold"]["kind"] == "learns" and rows[0]["taken"] == 8 and rows[0]["first"] == "busy"'
put /v1/ads/e '[ Type = "Job"; Owner = "carol"; AccountingGroup = "art" ]' >>put.codes
sleep 0.3
run "$berth" users --why carol
holds 'who asks for something without a group is told of that, and of the accounts in groups' \
  sh -c 'head -n 1 out | grep -q "^carol " && grep -qx "another account of this user: art~carol" out'
run "$berth" users --why --json carol
json 'they are in the JSON' 0 'rows[0]["Name"] == "carol" and rows[0]["Accounts"] == "art~carol"'
run "$berth" users --why nobody
expect 'of a user who is not known nothing is said' 1 '' 'berth: nobody: nothing is known of that user'
run "$berth" users --limits
says 'limits are listed' 0 'NAME * MOST  USED
matlab *1 * 0' ''

# ------------------------------------------------------------------------------------------------------------- while it runs

sed 's/Quota = 1; Surplus = false/Quota = 3; Surplus = false/' shares.ad >more.ad
mv more.ad shares.ad
kill -HUP "$main"
for i in 1 2 3; do put "/v1/ads/n$i" '[ Type = "Machine" ]'; done >>put.codes
eventually 'a reload takes another quota on' sh -c '"$0" users --groups --json | grep -q "\"name\": \"art\", \"quota\": 3.0, \"used\": [23].0"' "$berth"
# Another policy is taken on beside them: a file of settings that names one, in a new reload.
echo '[ DockingVector = { self.Rank } ]' >policy.ad
echo "[ Policy = \"$work/policy.ad\" ]" >config/berth/berth.ad
for _ in 1 2 3; do kill -HUP "$main"; sleep 0.2; done
run curl -sS --unix-socket "$work/state/matchmaker.sock" http://localhost/v1/policy
holds 'a policy that a reload takes on' grep -q DockingVector out
run curl -sS --unix-socket "$work/state/matchmaker.sock" http://localhost/v1/shares
holds 'leaves groups and limits as they are' grep -q 'physics' out
holds 'a wrong body is refused' [ "$(put /v1/shares '[ Groups = 3 ]')" = 400 ]
holds 'shares can be applied by a request' [ "$(put /v1/shares '[ Limits = [ matlab = 7 ]; DefaultLimit = 2 ]')" = 200 ]
run "$berth" users --limits --json
expect 'they hold at once' 0 '{"name": "matlab", "most": 7, "used": 0}'
run "$berth" users --groups
expect 'and are all that holds' 0 ''
kill "$main"
wait "$main" 2>/dev/null
: >up
"$berth" matchmaker --listen 127.0.0.1:0 --set Shares="$work/shares.ad" --set CycleInterval=60 >up 2>log &
pids="$pids $!"
for _ in $(seq 100); do grep -q 'listening at  unix' up && break; sleep 0.05; done
run "$berth" users --limits --json
expect 'after a restart they go before the file' 0 '{"name": "matlab", "most": 7, "used": 0}'
holds 'groups are applied where cycles are rare' [ "$(put /v1/shares '[ Groups = { [ Name = "physics"; Quota = 0.5 ] } ]')" = 200 ]
for i in 1 2 3 4; do put "/v1/ads/q$i" '[ Type = "Machine" ]'; done >>put.codes
run "$berth" users --groups --json
holds 'and the pool is as large as it is when one looks, and not when there was a cycle' grep -qx '{"name": "physics", "quota": 2.0, "used": 0.0, "surplus": true, "pool": 4.0}' out
curl -sS --unix-socket "$work/state/matchmaker.sock" -X DELETE http://localhost/v1/ads/q4
put /v1/ads/z '[ Type = "Job"; Owner = "zoe"; AccountingGroup = "physics"; Constraint = false ]' >>put.codes
run "$berth" users --why physics~zoe
holds 'what a user is told of it as well' grep -q 'of its quota of 1.5 units in use, of a pool of 3' out

# ------------------------------------------------------------------------------------------------------------- the manual

# What docs/shares.md shows is what examples/shares.ad does. This matchmaker was started first, so that by now it knows what is in use of limits.
put_there() { curl -sS --unix-socket "$work/manual/matchmaker.sock" -o put.out -w '%{http_code}\n' -X PUT "http://localhost$1" -d "$2"; }
while [ "$(date +%s)" -lt "$learnt" ]; do sleep 0.2; done
{
  put_there /v1/ads/a '[ Type = "Job"; Owner = "alice"; Count = 20; AccountingGroup = "physics" ]'
  put_there /v1/ads/c '[ Type = "Job"; Owner = "carol"; Count = 20; AccountingGroup = "art" ]'
  put_there /v1/ads/d '[ Type = "Job"; Owner = "dave"; Count = 20; ConcurrencyLimits = "matlab" ]'
  put_there /v1/ads/b '[ Type = "Job"; Owner = "bob"; AccountingGroup = "physics" ]'
} >put.codes
for i in 1 2 3 4 5 6 7 8; do put_there "/v1/ads/m$i" '[ Type = "Machine" ]'; done >>put.codes
all_matched() { [ "$("$berth" matches --state "$work/manual" --json | wc -l)" = 8 ]; }
eventually 'the eight machines of the manual are matched' all_matched
put_there /v1/ads/b2 '[ Type = "Job"; Owner = "bob"; Count = 5; AccountingGroup = "physics" ]' >>put.codes
sleep 0.5
awk '
  /^    \$ berth users / { n++; print substr($0, 7) >("page." n ".sh"); printf "" >("page." n ".want"); held = ""; inside = 1; next }
  inside && /^$/ { held = held "\n"; next }
  inside && /^    / { printf "%s%s\n", held, substr($0, 5) >("page." n ".want"); held = ""; next }
  { inside = 0 }
' "$BERTH_SOURCE/docs/shares.md"
for page in page.*.sh; do
  # shellcheck disable=SC2046 # words
  "$berth" $(sed 's/^berth //' "$page") --state "$work/manual" >page.got 2>&1
  holds "the manual is right about: $(cat "$page")" diff "${page%.sh}.want" page.got
done
holds 'the manual has these examples' [ "$(ls page.*.sh | wc -l)" = 4 ]

echo "1..$count"
[ $failures = 0 ]
