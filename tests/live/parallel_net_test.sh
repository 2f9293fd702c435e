#!/bin/sh
# parallel_net_test.sh: a parallel job on several machines: three network namespaces, each with a cable to a bridge of this one. Agents are killed while it
# runs. Prints TAP.
#
#     root namespace:  bridge 10.A.B.1     matchmaker, customer
#     others           10.A.B.11 to .13    heron, crane, tern
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
. "$BERTH_SOURCE/tests/common/spaces.sh"
cases=20
machines='heron crane tern'
network_make() {
  spaces_open && ip addr add "$net.1/24" dev "$bridge" || return
  number=11
  for name in $machines; do
    space_make "bj$tag.$name" $number || return
    number=$((number + 1))
  done
}
trap 'spaces_end; ends' EXIT
if ! network_make >network 2>&1; then
  sed 's/^/# /' network
  for number in $(seq $cases); do echo "ok $number # SKIP needs root and ip netns"; done
  echo "1..$cases"
  exit 0
fi
soon() {
  until=$(($(date +%s) + 60))
  while [ "$(date +%s)" -lt $until ]; do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  "$@"
}
export BERTH_WINDOW=5 BERTH_PIN=5 BERTH_LEASE=10 BERTH_DEADLINE=4 BERTH_LIFETIME=12 BERTH_RETRY=0.1 BERTH_GRACE=0.5

"$berth" matchmaker --listen "$net.1:0" >up 2>matchmaker.err &
pids="$pids $!"
soon grep -q 'listening at  unix' up
mkdir -m 700 state/customer
"$berth" token create --scope 'ad:read ad:write claim job:submit job:own job:any' -o state/customer/token >/dev/null
customer_start() {
  : >customer.up
  "$berth" customer >customer.up 2>>customer.err &
  customer=$!
  pids="$pids $customer"
  soon grep -q 'Berth customer is up' customer.up
}
holds 'a customer is up' customer_start
# provider NAME: started; its process is in the file NAME.pid.
provider_start() {
  ip netns exec "bj$tag.$1" "$berth" provider --config "$1.ad" --state "$work/$1" >>"$1.out" 2>>"$1.err" &
  echo $! >"$1.pid"
  pids="$pids $!"
}
echo '[ Cpus = 2 ]' >owner.ad # once: a machine that has begun may be reading it
for name in $machines; do
  echo "[ AgentName = \"$name\"; Networks = { \"10.0.0.0/8\" }; JobNetwork = \"machine\"; OwnerPolicy = \"$work/owner.ad\" ]" >"$name.ad"
  "$berth" token code >"$name.code"
  timeout 60 ip netns exec "bj$tag.$name" "$berth" join --only --name "$name" --config "$name.ad" --state "$work/$name" - <"$name.code" >"$name.out" 2>"$name.err"
  provider_start "$name"
done
holds 'three machines offer themselves, each with its own address' soon listed 'ads --kind offers' \
  "sorted((row['Name'], row['Address']) for row in rows) == [('crane', '$net.12'), ('heron', '$net.11'), ('tern', '$net.13')]"

# ------------------------------------------------------------------------------------------------------------ they meet

# members ID: the machines of its processes, in order.
members() {
  "$berth" job "$1" --json | python3 -c '
import json, sys
print(*[member["Provider"] for member in json.load(sys.stdin)["Members"]])'
}
cp "$BERTH_SOURCE/examples/jobs/meet.py" .
small='-m 32MiB --disk 16MiB'
# shellcheck disable=SC2086 # words
timeout 120 "$berth" run $small --processes 3 --processes-on spread --network -- python3 meet.py 23456 </dev/null >out 2>err
status=$?
sort out >sorted
holds 'three processes meet over the network' sh -c "[ $status = 0 ] && seq 0 2 | sed 's/.*/process & of 3: the sum is 3/' | cmp - sorted"
holds 'each on another machine' [ "$(members 1 | tr ' ' '\n' | sort | tr '\n' ' ')" = 'crane heron tern ' ]
# shellcheck disable=SC2086 # words
timeout 120 "$berth" run $small --processes 6 --network -- python3 meet.py 23456 </dev/null >out 2>err
holds 'six are more than one machine each' sh -c "[ $? = 0 ] && [ \$(wc -l <out) = 6 ]"
# shellcheck disable=SC2086 # words
timeout 120 "$berth" run $small --processes 2 --processes-on one --network -- python3 meet.py 23456 </dev/null >out 2>err
holds 'two on one machine are at one address' sh -c "[ $? = 0 ] && [ \$(wc -l <out) = 2 ]"
holds 'of one name' [ "$(members 3 | tr ' ' '\n' | sort -u | wc -l)" = 1 ]
# shellcheck disable=SC2086 # words
run timeout 60 "$berth" run $small --processes 3 --processes-on one -- true
holds 'three do not fit on one, which is told' sh -c "[ $status = 1 ] && grep -q 'nothing was submitted' err"

# --------------------------------------------------------------------------------------------- commands beside one another

cp "$berth" berth
cat >beside.sh <<'SH'
[ "$BERTH_MEMBER" = 0 ] || exec sleep 4000
export ASAN_OPTIONS=detect_leaks=0 # of a sanitized build: it could not look for them in here, and would end with a status of its own
for member in 1 2; do
  echo hello | ./berth exec --member $member -- sh -c 'read word; echo $word from $BERTH_MEMBER; exit 3$BERTH_MEMBER'
  echo status $?
done
head -c 400000 /dev/zero | ./berth exec --member 2 -- cat | wc -c
./berth exec --no-stdin --member 3 -- true || echo refused
SH
# shellcheck disable=SC2086 # words
timeout 120 "$berth" run -m 64MiB --disk 64MiB --processes 3 --processes-exec --processes-on spread -i berth -- sh beside.sh </dev/null >out 2>err
status=$?
printf '%s\n' 'hello from 1' 'status 31' 'hello from 2' 'status 32' 400000 refused >wanted
holds 'a process can begin commands beside the others of its job, where that was said' sh -c "[ $status = 0 ] && cmp out wanted && grep -q 'no such process' err"
# shellcheck disable=SC2086 # words
timeout 120 "$berth" run -m 64MiB --disk 64MiB --processes 2 -i berth -- sh -c '
  [ $BERTH_MEMBER = 0 ] || exec sleep 4000
  ls -A | grep beside; BERTH_BESIDE=/job/.berth-beside ./berth exec --no-stdin --member 1 -- true || echo none' </dev/null >out 2>err
holds 'and else it has no way to them' sh -c "[ $? = 0 ] && echo none | cmp - out"

# ------------------------------------------------------------------------------------------------------- agents are killed

# In its first try it would run for very long.
cat >long.ad <<AD
[ Cmd = "sh"; Args = { "-c", "echo begun \$BERTH_TRY; exec sleep \$SPAN" }; Env = [ SPAN = strcat(JobTry == 1 ? 4000 : 15) ];
  Outputs = {}; Processes = 3; ProcessesOn = "spread"; RequestMemory = 16M; RequestDisk = 16M ]
AD
sleepers() { pgrep -fx 'sleep 4000' | wc -l; }
before=$(sleepers)
running() { [ "$(sleepers)" = $((before + $1)) ]; }
run "$berth" submit long.ad
job=6
holds 'a longer one runs on three machines' soon running 3
holds 'a command can be begun beside each of its processes' sh -c "
  for member in 0 1 2; do timeout 60 '$berth' exec --no-stdin --member \$member $job -- sh -c 'echo \$BERTH_MEMBER'; done | tr '\n' ' ' | grep -qx '0 1 2 '"
kill -KILL "$customer"
wait "$customer" 2>/dev/null
holds 'its customer is killed, and comes again' customer_start
kill -KILL "$(cat crane.pid)"
wait "$(cat crane.pid)" 2>/dev/null
provider_start crane
holds 'and so does the agent of a machine' soon listed agents "any(str(row['process']) == '$(cat crane.pid)' for row in rows)"
sleep 2
holds 'the job runs on, in its first try, and nothing is begun twice' sh -c "[ \$(pgrep -fx 'sleep 4000' | wc -l) = $((before + 3)) ] &&
  '$berth' job $job | grep -q '^  tries  *1\$' && '$berth' jobs $job --json | grep -q '\"Running\"'"
# A machine is lost: its agent and all that runs there.
for pid in $(ip netns pids "bj$tag.tern"); do kill -KILL "$pid"; done
ip link set "bj$tag.tern" down
holds 'a machine is lost: within a lease and a margin all processes are stopped' soon running 0
holds 'and the job waits again, as a whole' soon listed "jobs $job" "rows[0]['state'] == 'Waiting'"
ip link set "bj$tag.tern" up
provider_start tern
timeout 150 "$berth" wait $job --timeout 140 >out 2>err
holds 'when there are three machines again, it runs to its end' [ $? = 0 ]
holds 'in its second try' sh -c "for member in 0 1 2; do '$berth' logs $job --member \$member; done | sort | uniq -c | grep -q '3 begun 2'"
holds 'nothing is left' soon listed 'ads --kind offers' "len(rows) == 3 and all(row['Cpus'] == 2 for row in rows)"
echo "1..$count"
[ $failures = 0 ]
