#!/bin/sh
# parallel_live_test.sh: parallel jobs in a pool of real processes: several processes of one job on one machine, which begin and end together. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
export BERTH_WINDOW=5 BERTH_PIN=5 BERTH_LEASE=10 BERTH_DEADLINE=4 BERTH_LIFETIME=5 BERTH_RETRY=0.1 BERTH_GRACE=0.5
# For four at once, whatever the machine has.
echo '[ Cpus = 4 ]' >owner.ad
"$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$PWD/owner.ad" --set JobNetwork=machine >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds 'a pool is up' soon grep -q 'To end it' up
holds 'the machine offers itself, with its address' soon listed 'ads --kind offers' "[row['Address'] for row in rows] == ['127.0.0.1']"

small='-m 32MiB --disk 16MiB'
# The processes of a job have no network of their own with --network: a port that others hardly use.
port=$(od -An -N2 -tu2 /dev/urandom | awk '{ print 20000 + $1 % 10000 }')
tag=$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
span=$(od -An -N3 -tu4 /dev/urandom | awk '{ print 100000 + $1 }')
gone() { ! pgrep -f "$1"; }

# ------------------------------------------------------------------------------------------------------ they meet

cp "$BERTH_SOURCE/examples/jobs/meet.py" .
# shellcheck disable=SC2086 # words
timeout 100 "$berth" run $small --processes 4 --network -- python3 meet.py "$port" </dev/null >out 2>err
status=$?
sort out >sorted
holds 'four processes run at once, know their numbers and where the first is, and meet' sh -c "[ $status = 0 ] &&
  seq 0 3 | sed 's/.*/process & of 4: the sum is 6/' | cmp - sorted"
holds 'what each has written is kept by its number' sh -c "
  for member in 0 1 2 3; do '$berth' logs 1 --member \$member; done | cmp - sorted"
holds 'the job tells its members' sh -c "'$berth' job 1 --json | python3 -c '
import json, sys
job = json.load(sys.stdin)
assert [m[\"Member\"] for m in job[\"Members\"]] == [0, 1, 2, 3] and len({m[\"Provider\"] for m in job[\"Members\"]}) == 1, job'"
holds 'as berth job does in words' sh -c "[ \$('$berth' job 1 | grep -c '^ *\(members  *\)\?[0-3] on ') = 4 ]"
# shellcheck disable=SC2086 # words
timeout 100 "$berth" run $small --processes 3 --processes-on one --network -- python3 meet.py "$port" </dev/null >out 2>err
status=$?
holds 'all on one machine, if that is asked' sh -c "[ $status = 0 ] && grep -qx 'process 0 of 3: the sum is 3' out"

cat >named.ad <<AD
[ Cmd = "python3"; Args = { "meet.py", "$port" }; Inputs = { "meet.py" }; Out = "sum"; Outputs = { "sum" }; Processes = 2; Network = true;
  RequestMemory = 32M; RequestDisk = 16M ]
AD
run "$berth" submit named.ad
timeout 100 "$berth" wait 3 --timeout 80 >out 2>err
status=$?
holds 'an output that is named comes back from each of them, with its number' sh -c "[ $status = 0 ] &&
  echo 'process 0 of 2: the sum is 1' | cmp - sum && echo 'process 1 of 2: the sum is 1' | cmp - sum.1"

# ------------------------------------------------------------------------------------------------------ commands beside them

echo '[ Cmd = "sleep"; Args = { "1000" }; Outputs = {}; Processes = 3; Network = true; RequestMemory = 32M; RequestDisk = 16M ]' >sleeps.ad
run "$berth" submit sleeps.ad
holds 'a job of three processes runs' soon listed 'jobs 4' "rows[0]['state'] == 'Running'"
holds 'a command can be begun beside each of them' sh -c "
  for member in 0 1 2; do timeout 60 '$berth' exec --no-stdin --member \$member 4 -- sh -c 'echo \$BERTH_MEMBER of \$BERTH_MEMBERS'; done >beside &&
  printf '0 of 3\n1 of 3\n2 of 3\n' | cmp - beside"
holds 'and beside the first, if none is named' sh -c "[ \$(timeout 60 '$berth' exec --no-stdin 4 -- sh -c 'echo \$BERTH_MEMBER') = 0 ]"
run timeout 60 "$berth" exec --no-stdin --member 3 4 -- true
holds 'there is no fourth' sh -c "[ $status != 0 ] && grep -q 'no process 3: it has 3' err"
run "$berth" rm 4
holds 'it can be removed, and all of it is gone' soon listed 'ads --kind offers' "[row['Cpus'] for row in rows] == [4]"

# ----------------------------------------------------------------------------------------------------- they end together

cat >fails.sh <<AD
[ "\$BERTH_MEMBER" = 2 ] && exit 7
exec sleep $span
AD
# shellcheck disable=SC2086 # words
timeout 100 "$berth" run $small --processes 3 -- sh fails.sh </dev/null >out 2>err
holds 'when one fails its status is that of the job' [ $? = 7 ]
holds 'and the others are stopped' soon gone "sleep $span"
holds 'which the job tells' sh -c "'$berth' job 5 | grep -q 'member 2 on .* ended with status 7'"
sed 's/MEMBER" = 2/TRY" = 1/' fails.sh >again.sh
sed -i '2s/.*/echo try $BERTH_TRY/' again.sh
# shellcheck disable=SC2086 # words
timeout 100 "$berth" run $small --retries 1 --processes 2 -- sh again.sh </dev/null >out 2>err
status=$?
holds 'a parallel job that fails is tried again as a whole' sh -c "[ $status = 0 ] && grep -qx 'try 2' out &&
  '$berth' job 6 | grep -q '^  tries  *2$'"

# The first ends when the other has written to it; that one would go on.
cat >first.py <<AD
import os, socket, sys, time
if os.environ["BERTH_MEMBER"] == "0":
    socket.create_server(("", $port)).accept()[0].recv(1)
    sys.exit(0)
for _ in range(600):
    try:
        socket.create_connection(("127.0.0.1", $port)).sendall(b"x")
        break
    except OSError:
        time.sleep(0.1)
time.sleep(600)
AD
# shellcheck disable=SC2086 # words
timeout 100 "$berth" run $small --processes 2 --network -- python3 first.py "$tag" </dev/null >out 2>err
holds 'when the first ends well, the job has' [ $? = 0 ]
holds 'and the other is stopped' soon gone "first.py $tag"
holds 'all claims are given back' soon listed 'ads --kind offers' "[row['Cpus'] for row in rows] == [4]"

# ------------------------------------------------------------------------------------------------------ what is refused

# shellcheck disable=SC2086 # words
run timeout 60 "$berth" run $small --processes 5 -- true
holds 'more than the machines have together is not queued in silence' sh -c "[ $status = 1 ] && grep -q 'nothing was submitted' err"
run timeout 60 "$berth" run --processes 65 -- true
says 'nor more than a gang can have' 2 '' "berth: run: --processes: expected a number from 1 to 64, got '65'*"
for flaw in 'Processes = 0' 'Processes = 2; ProcessesOn = "each"' 'Processes = 2; Ports = { [ Label = cpu ] }'; do
  echo "[ Cmd = \"true\"; $flaw ]" >flaw.ad
  run "$berth" submit --force flaw.ad
  holds "$flaw is refused" sh -c "[ $status != 0 ] && grep -q 'Processes' err"
done
echo '[ Cmd = "true"; Processes = 2; Secrets = { "a" } ]' >flaw.ad
run "$berth" submit --force --secret a=up flaw.ad
holds 'and so are secrets of several processes' sh -c "[ $status != 0 ] && grep -q 'several Processes has none' err"

kill "$pool"
wait "$pool"
holds 'the pool ends well' [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
