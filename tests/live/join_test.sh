#!/bin/sh
# join_test.sh: other machines join a pool by codes: two network namespaces, each with a cable to a bridge of this one. Prints TAP.
#
#     root namespace:  bridge 10.A.B.1     matchmaker, customer
#     first            10.A.B.11           heron; tern
#     second           10.A.B.12           crane
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
cases=72

# ------------------------------------------------------------------------------------------------------------ the network

. "$BERTH_SOURCE/tests/common/spaces.sh"
first=bj$tag.1 second=bj$tag.2
network_make() {
  spaces_open && ip addr add "$net.1/24" dev "$bridge" && space_make "$first" 11 && space_make "$second" 12
}
trap 'spaces_end; ends' EXIT
if ! network_make >network 2>&1; then
  sed 's/^/# /' network
  for number in $(seq $cases); do echo "ok $number # SKIP needs root and ip netns"; done
  echo "1..$cases"
  exit 0
fi

# -------------------------------------------------------------------------------------------------------------- the tools

# soon COMMAND...: it succeeds within a minute.
soon() {
  for _ in $(seq 600); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  "$@"
}
told() { grep -q -- "$2" "$1"; }
# listed WORDS FILTER: what `berth WORDS --json` prints is true of it; Python over `rows`, a list of objects.
listed() {
  # shellcheck disable=SC2086 # words
  timeout 60 "$berth" $1 --json >list || return
  python3 -c '
import json, sys
rows = [json.loads(line) for line in open("list")]
assert eval(sys.argv[1]), rows' "$2"
}
# contact NAME STATE: the matchmaker has found that the agent of that name can be called, or not.
contact() { listed agents "[row['contact'] for row in rows if row['name'].endswith('$1')] == ['$2']"; }
# offered NAME...: those and no others.
offered() { listed 'ads --kind offers' "sorted(row['Name'] for row in rows) == sorted('$*'.split())"; }
# where IDS: the machines that jobs ran on, sorted, each once.
where() { timeout 60 "$berth" jobs "$1" --json | sed -n 's/.*"where": "\([^"]*\)".*/\1/p' | sort -u | tr '\n' ' '; }
# gone PATTERN: no process has such a command.
gone() { ! pgrep -f "$1"; }
# submit FILE: the number of its first job is $first_job.
submit() {
  run "$berth" submit --force --json "$1"
  first_job=$(sed -n 's/.*"first": \([0-9]*\).*/\1/p' out)
}
# runs_on NAME: a small job runs there, and what it prints comes back.
runs_on() {
  cat >small.ad <<AD
[ Cmd = "sh"; Args = { "-c", "echo well" }; Outputs = {}; Constraint = other.Name == "$1" ]
AD
  submit small.ad
  timeout 70 "$berth" wait "$first_job" --timeout 60 && [ "$(where "$first_job")" = "$1 " ] && [ "$("$berth" logs "$first_job")" = well ]
}

# The same spans for all: short, but a busy machine keeps them.
export BERTH_WINDOW=5 BERTH_PIN=5 BERTH_LEASE=10 BERTH_DEADLINE=4 BERTH_LIFETIME=12 BERTH_RETRY=0.1 BERTH_GRACE=0.5
# machine NAME NUMBER: its configuration.
machine() {
  echo "[ AgentName = \"$1\"; ProviderListen = \"$net.1$2:0\"; Networks = { \"10.0.0.0/8\" } ]" >"$1.ad"
}
# relayed: how many messages the matchmaker has carried so far.
relayed() { curl -sS --unix-socket state/matchmaker.sock http://pool/metrics | sed -n 's/^berth_relay_messages_total //p'; }
# directly COMMAND...: it succeeds, and nothing goes by the relay meanwhile.
directly() {
  before=$(relayed)
  "$@" && [ -n "$before" ] && [ "$(relayed)" = "$before" ]
}
# customer LISTEN: started; its process is $customer.
customer_start() {
  : >customer.up
  "$berth" customer --set "CustomerListen=$1" >customer.up 2>>customer.err &
  customer=$!
  pids="$pids $customer"
  soon told customer.up 'Berth customer is up'
}
# ended PID: told to, and it is over.
ended() {
  kill "$1"
  wait "$1"
}

# --------------------------------------------------------------------------------------------------------------- joining

: >up
"$berth" matchmaker --listen "$net.1:0" >up 2>matchmaker.err &
pids="$pids $!"
soon told up 'listening at  unix'
holds 'a matchmaker that listens to other machines is encrypted' told up "is up: https://$net.1:"
mkdir -m 700 state/customer
"$berth" token create --scope 'ad:read ad:write claim job:submit job:own job:any' -o state/customer/token >/dev/null
customer_start auto
holds 'a customer with nothing configured listens at the address of its machine in that network' told customer.up "listening at  $net.1:"
holds 'and can be called' soon contact .customer good

: >alone.up
unshare --net --uts sh -c 'hostname lone && ip link set lo up && exec "$0" "$@"' "$berth" matchmaker --state "$work/alone" --listen 0.0.0.0:0 >alone.up 2>alone.err &
alone=$!
pids="$pids $alone"
soon told alone.up 'listening at  unix'
alone_url=$(sed -n 's/.* is up: //p' alone.up)
# alone_answers HOST: the status with which it answers on its own machine to that name.
alone_answers() { nsenter -t "$alone" -n curl -sk -m 20 -o /dev/null -w '%{http_code}' --connect-to "::127.0.0.1:" "https://$1:${alone_url##*:}/v1/keys"; }
holds 'a machine that has no address for others is called by its name' [ "${alone_url%:*}" = https://lone ]
holds 'and answers to it, as its codes have it' [ "$(alone_answers lone)" = 200 ]
holds 'but not to others' [ "$(alone_answers elsewhere)" = 400 ]

code=$("$berth" token code)
run ip netns exec "$first" "$berth" join --only --name heron --state "$work/unsure" \
  "$(printf '%.40sAAAAAAAA%s' "$code" "$(printf %s "$code" | cut -c 49-)")"
says 'a code with the fingerprint of another pool is refused' 2 '' "berth: https://$net.1:*: this is not the pool that the code is of: *"
holds 'and nothing is kept' [ ! -e unsure/provider/token ]

machine heron 1
sed -i 's/AgentName = "heron"; //' heron.ad # the name that it joins by is enough
: >heron.out
ip netns exec "$first" "$berth" join --name heron --config heron.ad --state "$work/heron" "$code" >heron.out 2>heron.err &
heron=$!
pids="$pids $heron"
holds 'a machine joins by a code' soon told heron.out "joined the pool at https://$net.1:.* as machine/heron"
holds 'and is a provider at once' soon told heron.err 'Berth provider heron is up'
run ip netns exec "$second" "$berth" join --only --name gull --state "$work/gull" "$code"
expect 'the code is of no use to another machine' 2 '' 'berth: the code was used by another'
holds 'which gets no token' [ ! -e gull/provider/token ]

machine crane 2
code=$("$berth" token code)
: >crane.out
echo "$code" >crane.code
ip netns exec "$second" "$berth" join --config crane.ad --state "$work/crane" - <crane.code >crane.out 2>crane.err &
crane=$!
pids="$pids $crane"
holds 'a second machine joins by a code of its own' soon told crane.err 'Berth provider crane is up'
holds 'both are agents of the pool, who can be called' soon contact heron good
holds 'in their own networks' soon contact crane good
holds 'both offer themselves' soon offered heron crane

# -------------------------------------------------------------------------------------------------------------- a sweep

seq 1000 >data.txt
cat >sweep.ad <<AD
[ Cmd = "sh"; Args = { "-c", "grep -c : /proc/net/dev; wc -l <data.txt; echo $tag \$BERTH_INDEX >out.\$BERTH_INDEX; sleep 0.5" };
  Inputs = { "data.txt" }; Constraint = true; RequestCpus = $("$berth" ads --long | sed -n 's/^Cpus = //p' | head -n 1); Count = 8 ]
AD
submit sweep.ad
last=$((first_job + 7))
run "$berth" wait "$first_job-$last" --timeout 60
expect 'a sweep of jobs is run' 0 ''
holds 'on both machines' [ "$(where "$first_job-$last")" = 'crane heron ' ]
all_out() { for i in 0 1 2 3 4 5 6 7; do [ "$(cat out.$i)" = "$tag $i" ] || return; done; }
holds 'what they made comes to the customer' soon all_out
all_read() { for id in $(seq "$first_job" "$last"); do [ "$("$berth" logs "$id" | tail -n 1)" = 1000 ] || return; done; }
holds 'what they read was brought to them' soon all_read
alone() { for id in $(seq "$first_job" "$last"); do [ "$("$berth" logs "$id" | head -n 1)" = 1 ] || return; done; }
holds 'a job has no network but its own loopback' alone

run "$berth" run -t 1s -- sleep 30
says 'a job that was ended at a limit has not ended well' 137 '' "berth: job [0-9]*: Out of time"

# bigger NAME: three megabytes there and back; the files are the customer's to bring and to fetch.
head -c 3145728 /dev/urandom >big.bin
LC_ALL=C tr '\000-\377' '\001-\377\000' <big.bin >big.want
bigger() {
  mkdir "back.$1" && cat >big.ad <<AD
[ Cmd = "sh"; Args = { "-c", "LC_ALL=C tr '\\\\000-\\\\377' '\\\\001-\\\\377\\\\000' <big.bin >big.out" }; Inputs = { "big.bin" };
  Outputs = { "big.out" }; Constraint = other.Name == "${1%.*}" ]
AD
  submit big.ad
  timeout 70 "$berth" wait "$first_job" --timeout 60 && soon cmp big.out big.want && mv big.out "back.$1"
}
holds 'three megabytes arrive whole, there and back' bigger heron

# ---------------------------------------------------------------------------------------------------- a cable pulled out

# A job sees where its folder lies.
cat >cut.ad <<AD
[ Cmd = "sh"; Args = { "-c", "echo begun; if grep -q /heron/provider/work/ /proc/self/mountinfo; then exec sleep 300.$$; fi; echo elsewhere" };
  Outputs = {}; Constraint = true; Rank = ifThenElse(other.Name == "heron", 1, 0) ]
AD
submit cut.ad
# running: the job's process is there.
running() { pgrep -f "^sleep 300.$$"; }
holds 'a job runs on the machine that it likes best' soon running
holds 'which is the first' [ "$(where "$first_job")" = 'heron ' ]
ip link set "$first" down
kill -STOP "$heron" # and its agent does nothing: only the launcher can end the job
holds 'when the cable is out for longer than the lease, the launcher ends the job' soon gone "^sleep 300.$$"
holds 'while nobody can tell it to' ip netns exec "$first" sh -c 'grep -q 0 /sys/class/net/eth0/carrier'
kill -CONT "$heron"
run "$berth" wait "$first_job" --timeout 60
expect 'the job is run again' 0 ''
holds 'on the other machine' [ "$(where "$first_job")" = 'crane ' ]
run "$berth" logs "$first_job"
expect 'and what it wrote there is what is kept' 0 'begun
elsewhere'
holds 'the first one is not offered any more' soon offered crane
ip link set "$first" up
holds 'when the cable is in again, it is' soon offered heron crane
holds 'and runs jobs' runs_on heron

# ------------------------------------------------------------------------------------------- those that cannot be called

: >tern.out
code=$("$berth" token code)
ip netns exec "$first" "$berth" join --name tern --state "$work/tern" "$code" >tern.out 2>tern.err &
tern=$!
pids="$pids $tern"
holds 'a machine joins with nothing configured' soon offered heron crane tern
holds 'its address is found out, and proved' soon contact tern good
port=$("$berth" agents --long -c 'Name == "tern"' | sed -n "s,^Contact = \"https://$net.11:\([0-9]*\)\",\1,p")
holds 'it is the one in the network of the matchmaker' [ -n "$port" ]
holds 'both sides call each other: nothing goes by the relay' directly runs_on tern
holds 'nor do files' directly bigger tern
holds 'it ends in order' ended "$tern"
tern_start() {
  : >tern.err
  ip netns exec "$first" "$berth" provider --state "$work/tern" "$@" >tern.out 2>>tern.err &
  tern=$!
  pids="$pids $tern"
  soon told tern.err 'event=contact' # so long what the matchmaker knows is of before
}
tern_start
same_port() { "$berth" agents --long -c 'Name == "tern"' | grep -q "^Contact = \"https://$net.11:$port\""; }
holds 'started again, it has the port of before' soon same_port
holds 'it ends once more' ended "$tern"
tern_start --set 'ProviderListen=0.0.0.0:0'
holds 'one that listens at all addresses tells others the right one' soon contact tern good
holds 'and is called there' directly runs_on tern
holds 'it ends a third time' ended "$tern"
tern_start --set 'ProviderListen=127.0.0.1:0'
holds 'one that listens on loopback cannot be called' soon contact tern bad
holds 'it is told what to do' soon told tern.err 'event=contact.bad .*Open the port'
holds 'and runs jobs by the relay' runs_on tern
holds 'it ends a fourth time' ended "$tern"
# The customer of a user on another machine: by a code, found by the page.
code=$("$berth" token code --customer alice)
: >alice.out
echo '[ AgentName = "desk" ]' >desk.ad
ip netns exec "$second" "$berth" join --config desk.ad --state "$work/alice" "$code" >alice.out 2>alice.err &
alice=$!
pids="$pids $alice"
holds 'by a code for a user, a machine becomes the customer of that user' soon told alice.out 'joined the pool at .* as the customer of alice'
holds 'its tools know the pool' soon ip netns exec "$second" "$berth" status --state "$work/alice"
well_there() { [ "$(ip netns exec "$second" "$berth" run --state "$work/alice" -- echo well)" = well ]; }
desk_is_up() { [ -S "$work/alice/customer/customer.sock" ]; }
holds 'its customer comes up' soon desk_is_up
holds 'and submit jobs' well_there
ip netns exec "$second" "$berth" page --state "$work/alice" >page.out
url=$(sed -n 's/^Berth matchmaker is up: //p' up)
holds 'who may not make links is told where the page is' [ "$(head -n 1 page.out)" = "$url" ]
desks() { curl -sS --cacert state/keys/ca.pem -H "Authorization: Bearer $(tail -n 1 page.out)" "$url/v1/desks" >desks && grep -q 'Identity = "alice"' desks; }
holds 'by the token beside it the page finds the customer' soon desks
narrow() { [ "$(curl -sS --cacert state/keys/ca.pem -H "Authorization: Bearer $(tail -n 1 page.out)" "$url/v1/ads/x" -X PUT -d '[ Type = "Job" ]' -o narrow -w '%{http_code}')" = 403 ]; }
holds 'which is good for nothing else' narrow
holds 'the customer of another user is not for others' sh -c '! grep -q "Identity = \"root\"" desks'
"$berth" token code --customer all --serve >serve.code
ip netns exec "$second" "$berth" join --only --state "$work/all" - <serve.code >all.out
holds 'a code for a customer that serves others has that scope' sh -c '"$0" token show all/customer/token | grep -q "^scope .*serve"' "$berth"
holds 'and a code for one that does not, does not' sh -c '! "$0" token show alice/customer/token | grep -q serve' "$berth"
ended "$alice"

# What a machine that has joined offers besides.
echo '[ Name = "solver-1"; Type = "License"; Constraint = other.Type == "Job" ]' >licences.ad
ip netns exec "$first" "$berth" provide --state "$work/tern" licences.ad >provide.out 2>provide.err &
provide=$!
pids="$pids $provide"
holds 'a machine that has joined offers other things with nothing configured' soon offered heron crane solver-1
holds 'under a name of its own' soon contact tern.provide good
ended "$provide"

# A stranger in that network gives the address of another machine, at which nobody asked it to be: that one is not called.
token=$("$berth" token create --scope 'ad:write' --no-delegation | sed -n 's/^ *Token = "\(.*\)".*/\1/p')
knock() {
  ip netns exec "$second" curl -sS --cacert state/keys/ca.pem -H "Authorization: Bearer $token" -X PUT "$url/v1/agents/knock.${1##*:}?wait=20" \
    -d "[ Contact = \"https://$1\"; Challenge = \"$(printf %064d 1)\" ]" -w ' took %{time_total}\n' >"knock.$1"
}
# late ADDRESS: what was told of it came when the time of a check (4 s) was over.
late() { grep -q 'ContactState = "bad"' "knock.$1" && sed -n 's/.* took //p' "knock.$1" | awk '{ found = $1 >= 3.5 } END { exit !found }'; }
cp state/keys/ca.pem ca.pem
knock "$net.11:1"
holds 'who gives the private address of another machine is refused before anybody is called' grep -q 'may not be contacted' matchmaker.err
own=$("$berth" agents --long -c 'Name == "crane"' | sed -n 's,^Contact = "https://\(.*\)",\1,p')
knock "$net.12:1" &
knocking=$!
knock "$own"
wait $knocking
holds 'at the address that it calls from, that nobody is at a port is told when the time is over' late "$net.12:1"
holds 'as it is told that somebody else is' late "$own"

holds 'a provider ends in order' ended "$crane"
sed -i "s/ProviderListen = \"[^\"]*\"/ProviderListen = \"\"/" crane.ad
ip netns exec "$second" "$berth" provider --config crane.ad --state "$work/crane" >crane.out 2>>crane.err &
pids="$pids $!"
holds 'started again, it listens nowhere' soon contact crane none
holds 'and runs jobs by calling out' runs_on crane
holds 'with their files' bigger crane

holds 'a customer ends in order' ended "$customer"
customer_start ''
holds 'started again, it listens nowhere' soon contact .customer none
holds 'files go sealed by the relay to a provider that can be called' bigger heron.sealed
holds 'and to one that cannot' bigger crane.sealed
holds 'no job is left' listed jobs 'not [row for row in rows if row["state"] not in ("Done", "Cleared")]'

echo "1..$count"
[ $failures = 0 ] || for log in *.err; do tail -n 30 "$log" | sed "s/^/# $log: /"; done
[ $count = $cases ] || echo "# there are $count cases, and $cases were announced"
[ $failures = 0 ] && [ $count = $cases ]
