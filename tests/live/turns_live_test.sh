#!/bin/bash
# turns_live_test.sh: a user with more different jobs than the pool takes requests: the others wait for their turn, say so, and cost nothing. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid
export BERTH_STATE=$work/state

# soon COMMAND...: it succeeds within forty seconds.
soon() { for _ in $(seq 400); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
setsid "$berth" pool --listen 127.0.0.1:0 --set AdsPerIdentity=40 --set Lifetime=6 --set Unprotected=true -v >up 2>err &
leader=$!
groups="$groups $leader"
disown
soon grep -q 'To end it' up
machine() { "$berth" ads --json -c 'Type == "Machine"' | grep .; }
soon machine
common='Outputs = {}; RequestMemory = 16M; RequestDisk = 1M'
for i in $(seq 70); do echo "[ Cmd = \"true\"; Sort = $i; $common; Constraint = other.Name == \"nobody\" ]"; done >many.ad
submits() { "$berth" submit --force many.ad; }
check 'seventy jobs that differ are submitted, where the pool takes forty requests of a user' submits
waits() { "$berth" job 70 >job.out && grep 'reason  *waits for its turn to be offered: the pool takes [0-9]* different requests of this customer at a time, and [0-9]* wait for that' job.out; }
check 'those beyond say that they wait for their turn' soon waits
explains() { "$berth" why 70 | head -1 | grep '^job 70 waits for its turn to be offered'; }
check 'and so does why' explains
lists() { "$berth" jobs --all | grep 'of them cannot be matched now: job [0-9]*: waits for its turn'; }
check 'and the list of jobs' lists
check 'the log says it once' [ "$(grep -c 'offered by turns' err)" = 1 ]
check 'as does that of the matchmaker' [ "$(grep -c 'event=ad.refused' err)" -le 2 ]
echo "[ Cmd = \"true\"; Priority = 10; $common ]" >urgent.ad
urgent() { "$berth" submit urgent.ad && timeout 30 "$berth" wait 71; }
check 'a job with a higher Priority is offered before them, and runs' urgent
# spent: the processor time of all its processes so far, in hundredths of a second.
spent() { cat $(pgrep -s "$leader" | sed 's|.*|/proc/&/stat|') 2>/dev/null | awk '{sum += $14 + $15} END {print sum}'; }
sleep 3
before=$(spent)
sleep 5
after=$(spent)
echo "# $((after - before)) hundredths of a second in 5 s"
check 'while nothing changes the pool does next to nothing' [ $((after - before)) -lt 100 ]
echo "[ Cmd = \"true\"; $common ]" >one.ad
last() { "$berth" submit one.ad && timeout 100 "$berth" wait 72; }
check 'and one behind all of them has its turn' last
# In half a lifetime a quarter of the places is given to others: forty more are reached within some ten turns of three seconds, by no means in twenty.
{ for i in $(seq 41 80); do echo "[ Cmd = \"true\"; Sort = 1$i; $common; Constraint = other.Name == \"nobody\" ]"; done; echo "[ Cmd = \"true\"; Sort = 1000; $common ]"; } >more.ad
farthest() { "$berth" submit --force more.ad && timeout 40 "$berth" wait 113; }
began=$(date +%s%N)
check 'also one that came together with many others, the last of them' farthest
echo "# after $((($(date +%s%N) - began) / 1000000)) ms"

echo "1..$count"
exit $((failures > 0))
