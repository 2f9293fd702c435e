#!/bin/bash
# pools_live_test.sh: two pools, each with its own keys and certificates, and real processes that belong to both. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid
# soon COMMAND...: it succeeds within forty seconds.
soon() { for _ in $(seq 200); do "$@" 2>/dev/null && return; sleep 0.2; done; return 1; }

# start NAME COMMAND...: a process group of its own, which `stop NAME` ends.
start() {
  : >"$1.up" # or what the one before has said is read
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
stop() {
  kill -TERM -- "-$(cat "$1.pid")"
  for _ in $(seq 100); do kill -0 -- "-$(cat "$1.pid")" 2>/dev/null || break; sleep 0.1; done
}
# fresh NAME: its log begins anew; what it said is kept for the end.
fresh() { cat "$1.err" >>said && : >"$1.err"; }
# ask NAME PATH: a daemon, by its socket.
ask() {
  case $1 in
    group | world) curl -sS -m 20 --unix-socket "$1/matchmaker.sock" "http://$1$2" ;;
    *) curl -sS -m 20 --unix-socket "$(echo "$1"/*/*.sock)" "http://$1$2" ;;
  esac
}
machine='ad:read ad:write claim match' person='ad:read ad:write claim job:submit job:own job:any'
# token POOL SUBJECT SCOPES FILE
token() { "$berth" token create --state "$work/$1" --subject "$2" --scope "$3" --lifetime 1d --out "$4"; }
# job NAME COUNT ATTRIBUTES [SECONDS]: in the file NAME.ad.
job() { echo "[ Cmd = \"sleep\"; Args = { \"${4:-0}\" }; Outputs = {}; RequestMemory = 16M; RequestDisk = 16M; Count = $2; $3 ]" >"$1.ad"; }
submit() { "$berth" submit --force --state "$work/$1" "$2.ad"; }
# ended CUSTOMER JOBS: they have ended, and well.
ended() { timeout 60 "$berth" wait --state "$work/$1" "$2"; }
# ran PROVIDER: the pools of the jobs that it started, in their order, a line each.
ran() { sed -n 's/.*event=job.start .*pool=\([a-z]*\).*/\1/p' "$1.err"; }
starts() { [ "$(ran "$1" | wc -l)" -ge "$2" ]; }
connected() { [ "$(ask "$1" /v1/status | grep -o 'Connected = true' | wc -l)" = "$2" ]; }

# ------------------------------------------------------------------------------------------------------------------ the pools

start group "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/group"
start world "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/world" --set Tls=on
up() { grep -q 'listening at  unix' group.up && grep -q 'listening at  unix' world.up; }
check 'two pools are up' soon up
group_url=$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' group.up | head -1)
tokens() {
  token group machine/heron "$machine" heron.group &&
    token group alice "$person" alice.token && token world alice "$person" stranger.token &&
    token group bob "$person" bob.group && token world robert "$person" bob.world &&
    token group machine/crane "$machine" crane.token && token world machine/stork "$machine" stork.token
}
check 'each gives its own tokens' tokens
joined() { "$berth" join --also world --name guest --state "$work/heron" "$("$berth" token code --state "$work/world")" | grep -F '[ Name = "world"; Token = "'"$work"'/heron/provider/world.token" ]'; }
check 'a machine joins one more pool by a code, and is told what to write' joined

# -------------------------------------------------------------------------------------------------------------- the setting

# refused TEXT WORDS: that list of pools is refused, and told by file, line and field.
refused() {
  printf '[ AgentName = "heron";\n  Pools = %s ]\n' "$1" >bad.ad
  ! "$berth" config --config bad.ad Pools >out 2>&1 && grep -F "bad.ad:2:3: Pools: $2" out
}
check 'a field that is not known is refused' refused '{ [ Name = "world"; Shares = 0.1 ] }' "world: there is no field 'Shares'; did you mean 'Share'?"
check 'and a share that is none' refused '{ [ Name = "world"; Share = 10 ] }' 'world: Share: expected a number from 0 to 1, got 10'
check 'and a pool without a name' refused '{ [ Token = "t" ] }' 'pool 1: Name: every pool has one'
check 'and two of one name' refused '{ [ Name = "a" ], [ Name = "a"; Token = "t" ] }' 'a: Name: another pool is called so'
check 'and two that are both the own one' refused '{ [ Name = "a" ], [ Name = "b" ] }' 'b: Token: there is none'
check 'and what is no list' refused '7' 'expected a list'
shown() { "$berth" config --set 'Pools={ [ Name = "world"; Token = "t"; Access = other.Group == "physics" ] }' --trace Pools | grep -F 'Access = other.Group == "physics"'; }
check 'it is shown as it is written, rules and all' shown
missing() { ! timeout 20 "$berth" provider --state "$work/none" --set 'Pools={ [ Name = "world"; Token = "nowhere" ] }' >out 2>&1 && grep -F nowhere out; }
check 'a token that is not there is named' missing
twice() { ! timeout 20 "$berth" provider --state "$work/none" --set "Pools={ [ Name = \"a\"; Token = \"$work/heron.group\" ], [ Name = \"b\"; Token = \"$work/crane.token\" ] }" >out 2>&1 && grep -F 'a and b are the same' out; }
check 'one pool by two names is refused' twice

# ------------------------------------------------------------------------------- a machine that serves its group, and the world

echo '[ Cpus = 1 ]' >one.ad
# heron POOLS: its configuration.
heron() { echo "[ Pools = { $1 }; OwnerPolicy = \"$work/one.ad\"; AgentName = \"heron\"; State = \"$work/heron\"; Unprotected = true ]" >heron.ad; }
group='Name = "group"; Token = "'$work'/heron.group"; Access = other.Group == "physics"' world='Name = "world"; Token = "'$work'/heron/provider/world.token"'
heron "[ $group ], [ $world ]"
start heron "$berth" provider --config heron.ad
# Both are called alice, and their agents desk: one of the group, one of the world.
start alice "$berth" customer --state "$work/alice" --token alice.token --set AgentName=desk --set ClaimLife=0.001
start stranger "$berth" customer --state "$work/stranger" --token stranger.token --set AgentName=desk --set ClaimLife=0.001
check 'a provider is known in both pools' soon connected heron 3
who() { ask group /v1/agents | grep machine/heron && ask world /v1/agents | grep machine/guest && ! ask world /v1/agents | grep machine/heron; }
check 'in each as the one that its token there names' who
obeys() {
  ! "$berth" agent heron drain --state "$work/world" >out 2>&1 && grep 'obeys its own alone' out &&
    "$berth" agent heron status --state "$work/group" | grep 'heron: takes work'
}
check 'it is commanded by its own pool alone' obeys
soon connected alice 1 && soon connected stranger 1
# Each runs for as long as its customer may need to ask for the next, so that the first pool always has one when the machine comes free.
job physics 8 'Group = "physics"' 0.7 && job any 4 'Group = "chemistry"' && job chemistry 1 'Group = "chemistry"'
order() {
  submit alice physics && soon starts heron 1 && submit stranger any && soon starts heron 12 && ended alice 1-8 && ended stranger 1-4 &&
    [ "$(ran heron | uniq | tr '\n' ' ')" = 'group world ' ]
}
check 'the jobs of the first pool run first, those of the next when it has none' order
rule() { submit alice chemistry && sleep 3 && ask alice /v1/summary | grep 'Waiting = 1' && "$berth" rm --state "$work/alice" 9; }
check 'who does not satisfy the access rule of a pool is not taken from it' rule
billed() {
  soon overs group 8 && soon overs world 4 &&
    ! ask group /v1/claims | grep machine/guest && ! ask world /v1/claims | grep machine/heron
}
overs() { [ "$(ask "$1" /v1/claims | grep -c 'State = "over"')" -ge "$2" ]; }
check 'what was used is told to the pool that the claim is from' billed

stop heron
heron "[ $group ], [ $world; Share = 0.1 ]"
fresh heron
start heron "$berth" provider --config heron.ad
soon connected heron 3
job physics 50 'Group = "physics"' && job any 30 'Group = "chemistry"'
shares() {
  submit stranger any && submit alice physics && soon starts heron 45 &&
    n=$(ran heron | sed -n '16,45p' | grep -c world) && echo "$n of 30" && [ "$n" -ge 2 ] && [ "$n" -le 5 ]
}
check 'a pool with a share of a tenth gets about every tenth claim while the first has jobs' shares
stop heron
removed() { for name in alice stranger; do "$berth" rm --state "$work/$name" --all || return; done; }
check 'jobs are removed while the machine is away' removed

# ------------------------------------------------------------------------------------------- a strange agent of the same name

heron "[ $group ], [ $world ]"
echo '[ Cmd = "sleep"; Args = { "600" }; Outputs = {}; RequestMemory = 16M; RequestDisk = 16M; Group = "physics" ]' >long.ad
fresh heron
start heron "$berth" provider --config heron.ad
soon connected heron 3
# A letter that starts one of them may still have been in the post: then it is stopped at once. Its customer knows only that a try had begun, and lists it as
# cancelled for as long as it waits for files of such a job: five minutes.
idle() { ask "$1" /v1/summary >summary && for state in Waiting Ready Scheduled Running; do grep -q "$state = 0" summary || return; done; }
still() { idle alice && idle stranger; }
check 'and none of them waits or runs once it is back' soon still
nothing() { ask alice /v1/summary | grep 'Total = 0' && ask stranger /v1/summary | grep 'Total = 0'; }
late() { for _ in $(seq 9); do soon "$@" && return; done; for name in alice stranger; do "$berth" jobs --long --state "$work/$name"; done; false; }
check 'and in the end they are nowhere' late nothing
fresh heron
running() { ask "$1" /v1/summary | grep 'Running = 1'; }
long() { submit alice long && soon running alice && claim=$(sed -n 's/.*event=job.start claim=\([0-9a-f]*\).*/\1/p' heron.err) && submit stranger long && sleep 2 && running alice && ! running stranger; }
check 'a job of the first pool runs, and the other alice has to wait for it' long
again() { stop heron && fresh heron && start heron "$berth" provider --config heron.ad && soon connected heron 3 && sleep 2 && running alice && ! grep job.start heron.err; }
check 'a provider that starts again finds the claim' again
released() { "$berth" rm --state "$work/alice" --all && soon running stranger && [ "$(ran heron)" = world ]; }
check 'when it is removed the other one runs' released
told() { grep "event=audit.claim claim=$claim .*over=true" group.err && ! grep "claim=$claim" world.err; }
check 'the end of the claim, which outlived a restart, is told to its own pool' soon told
"$berth" rm --state "$work/stranger" --all >/dev/null
stop heron

# --------------------------------------------------------------------------------------------- one customer, offered to both pools

start crane "$berth" provider --state "$work/crane" --set "Pools={ [ Name = \"group\"; Token = \"$work/crane.token\" ] }" --set "OwnerPolicy=$work/one.ad" --set Unprotected=true
mkdir -m 700 stork stork/provider && cp -p stork.token stork/provider/token
start stork "$berth" provider --state "$work/stork" --set "OwnerPolicy=$work/one.ad" --set Unprotected=true
mkdir -m 700 bob bob/customer && cp -p bob.group bob/customer/token
echo "[ Pools = { [ Name = \"north\" ], [ Name = \"south\"; Token = \"$work/bob.world\" ] }; State = \"$work/bob\"; ClaimLife = 0.001 ]" >bob.ad
start bob "$berth" customer --config bob.ad
check 'a customer is known in both pools' soon connected bob 3
job both 24 'JobKind = "both"'
once() {
  submit bob both && ended bob 1-24 && sleep 1 &&
    a=$(grep -c event=job.start crane.err) && b=$(grep -c event=job.start stork.err) && echo "$a and $b" &&
    [ $((a + b)) = 24 ] && [ "$a" -gt 0 ] && [ "$b" -gt 0 ]
}
check 'jobs that are offered to two pools run once each, some in either' once
gone() { ! ask group '/v1/ads?kind=requests' | grep both && ! ask world '/v1/ads?kind=requests' | grep both; }
check 'and then neither pool has a request left' soon gone
where() { "$berth" jobs --state "$work/bob" --long 1-24 >list && grep -q 'Pool = "north"' list && grep -q 'Pool = "south"' list; }
check 'a job tells by which pool it ran' where
owners() { grep -q 'event=audit.claim .*owner=robert' world.err && grep -q 'event=audit.claim .*owner=bob' group.err && ! grep -q 'owner=bob' world.err; }
check 'in each pool they are of the user whom its token names' owners
job south 4 'Pools = { "south" }'
named() {
  fresh crane
  submit bob south && ended bob 25-28 && ! grep event=job.start crane.err
}
check 'a job that names a pool is offered to that one alone' named
job nowhere 1 'Pools = { "south", "nort" }'
unknown() { ! submit bob nowhere >out 2>&1 && grep -F "Pools: this customer has no pool 'nort'; there are north, south" out; }
check 'one that names a pool that is none is refused' unknown

# ------------------------------------------------------------------------------------------------------------ a pool that is away

stop world
job away 6 'JobKind = "away"'
goes() { submit bob away && ended bob 29-34; }
check 'when a pool is away the jobs run in the other' goes
status() { soon connected bob 2 && ask bob /v1/status | grep 'Name = "south"; [^]]*Connected = false'; }
check 'and the customer says which is not connected' status
stop group
start world "$berth" matchmaker --listen "$(sed -n 's,.*https://\([^ ]*\).*,\1,p' world.up | head -1)" --state "$work/world" --set Tls=on
fresh stork
back() { soon grep -q 'listening at  unix' world.up && submit bob away && ended bob 35-40 && [ "$(grep -c event=job.start stork.err)" -ge 1 ]; }
check 'one that comes back is used again' back

fresh heron
start heron "$berth" provider --config heron.ad
stop stork
first() { submit stranger any && soon starts heron 30; }
check 'a provider whose first pool is away when it starts serves the next' first
start group "$berth" matchmaker --listen "${group_url#http://}" --state "$work/group"
later() { soon connected heron 3 && fresh heron && submit alice physics && soon starts heron 3 && [ "$(ran heron | uniq)" = group ]; }
check 'and the first when it comes' later

for name in heron crane bob alice stranger world group; do stop "$name"; fresh "$name"; done
sound() { ! grep -n 'Sanitizer\|runtime error\|level=error' said; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
