#!/bin/sh
# cron_live_test.sh: jobs come again by a schedule: when their time has come, over the customer's death and clocks that are set, and once only.
# $1: the library to preload. Prints TAP.
set -u
berth=${BERTH:?the program} shift=$(realpath -e "${1:?the library to preload}") || exit 1
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

export BERTH_RETRY=0.1
echo 0 >shift
env LD_PRELOAD="$shift" WALL_SHIFT="$work/shift" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
  "$berth" pool --listen 127.0.0.1:0 --set 'CustomerListen="127.0.0.1:0"' >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
holds "a machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"
pid_of() { ps -o pid=,args= --ppid "$pool" | awk -v what="berth $1" 'index($0, what) { print $1 }'; }

echo '[ Cmd = "cat"; Args = { "note" }; Inputs = { "note" }; Outputs = {}; RequestCpus = 0.1; RequestMemory = 16M ]' >note.ad
echo 'what it reads' >note
run "$berth" cron add 'every 2s' note.ad
says "a job that comes every two seconds is added" 0 'cron 1: the next time is *' ''
rm note
holds "it comes" soon listed cron "len(rows) == 1 and rows[0]['runs'] >= 2 and rows[0]['outcome'] == 'Done' and rows[0]['schedule'] == 'every 2s'"
holds "each time is a job of its own" soon listed 'history' "len(rows) >= 2"
first=$("$berth" cron --json | sed 's/.*"job": \([0-9]*\).*/\1/')
holds "which has what the file said when it was added" soon sh -c "'$berth' logs $first | grep -qx 'what it reads'"

kill -9 "$(pid_of customer)"
holds "a customer that was killed knows it" soon listed cron "len(rows) == 1 and rows[0]['runs'] >= 2"
before=$("$berth" cron --json | sed 's/.*"runs": \([0-9]*\).*/\1/')
holds "and it goes on" soon listed cron "rows[0]['runs'] > $before + 1"
run "$berth" cron hold 1
says "it is held" 0 'cron 1 is held' ''
run "$berth" cron hold 1
says "it cannot be held twice" 1 '' 'berth: 1: 1 is held already'
# All its jobs so far, of which there is one a time: what is in the queue and in the history.
jobs_made() { { "$berth" jobs --all --json; "$berth" history --json; } | sort -u | grep -c '"id"'; }
runs() { "$berth" cron --json | sed 's/.*"runs": \([0-9]*\).*/\1/'; }
holds "all its jobs end" soon listed 'jobs --all' 'not rows'
holds "each time had one job, also those around the death" [ "$(jobs_made)" = "$(runs)" ]
held=$(runs)
sleep 3
holds "while it is held it does not come" [ "$(runs)" = "$held" ]
run "$berth" cron release 1
says "it is released" 0 'cron 1: the next time is *' ''
holds "and comes again" soon listed cron "rows[0]['runs'] > $held"
hash_of() { "$berth" cron show "$1" | sed -n 's/.*Hash = "\([0-9a-f]*\)".*/\1/p'; }
stray=$(hash_of 1)
run "$berth" cron rm 1
says "it is removed" 0 '' ''
holds "and is gone" listed cron 'not rows'
run "$berth" cron rm 1
says "what is gone cannot be removed" 1 '' 'berth: 1: *there is no such job that comes again'

# ------------------------------------------------------------------------------------------------------------- overlap

echo '[ Cmd = "/bin/sleep"; Args = { "100" }; Outputs = {}; RequestCpus = 0.1; RequestMemory = 16M ]' >long.ad
"$berth" cron add 'every 1s' long.ad >added
"$berth" cron add --overlap run 'every 1s' long.ad >>added
"$berth" cron add --overlap wait 'every 1s' long.ad >>added
holds "numbers are not given again" grep -q 'cron 2:' added
holds "a time at which the last job is not over is skipped, and why is said" soon listed cron \
  "rows[0]['runs'] == 1 and rows[0]['skipped'] >= 2 and rows[0]['reason'] == 'overlap: its last jobs are not over'"
holds "or its jobs run beside each other" soon listed cron "rows[1]['runs'] >= 3 and rows[1]['skipped'] == 0"
"$berth" cron hold 2 >added
"$berth" cron rm 3
holds "or one time waits" soon listed cron "rows[-1]['runs'] == 1 and rows[-1]['skipped'] >= 1 and rows[-1]['reason'].startswith('overlap: one already waits')"
third=$("$berth" cron --json | tail -n 1 | sed 's/.*"job": \([0-9]*\).*/\1/')
kill -9 "$(pid_of customer)"
holds "over a restart, too" soon listed cron "rows[-1]['runs'] == 1"
"$berth" rm "$third" >added
holds "and comes when the last job is over" soon listed cron "rows[-1]['runs'] >= 2"
"$berth" cron rm 2 4
"$berth" rm --all >added

# -------------------------------------------------------------------------------------------------------------- missed

"$berth" cron add --overlap run --missed run '* * * * *' note.ad 2>err
holds "a file that is not there is told when it is added" grep -q note err
echo 'note' >note
"$berth" cron add --missed run 'every 7min' note.ad >added
"$berth" cron add --missed skip 'every 7min' note.ad >added
"$berth" cron show 5 >shown
holds "one is shown with its ad" grep -q 'JobAd = .*Cmd = "cat"' shown
echo 7200 >shift
holds "the clock is put forward over many times: it comes once" soon listed cron "rows[0]['runs'] == 1 and rows[0]['skipped'] == 0"
holds "or not at all" soon listed cron "rows[1]['runs'] == 0 and rows[1]['skipped'] == 1 and rows[1]['reason'].startswith('missed')"
echo 0 >shift
sleep 3
holds "it is put back: nothing comes a second time" listed cron "rows[0]['runs'] == 1 and rows[1]['skipped'] == 1"

# --------------------------------------------------------------------------------------------------------------- files

holds "no job is left that has a file" soon listed 'jobs --all' 'not rows'
kept=$(hash_of 5)
touch -d '3 days ago' "state/customer/spool/$kept" "state/customer/spool/$stray"
kill -9 "$(pid_of customer)"
holds "a file that no job needs goes when it is old" soon test ! -e "state/customer/spool/$stray"
sleep 1
holds "what a job that comes again reads stays" [ -e "state/customer/spool/$kept" ]

# ------------------------------------------------------------------------------------------------------- said in the file

printf 'executable = /bin/true\ntransfer_executable = false\nrequest_cpus = 0.1\nrequest_memory = 16M\ntransfer_output_files = ""\non_exit_remove = false\ncron_minute = *\ncron_window = 600\nqueue\n' >again.sub
run "$berth" submit again.sub
says "a submit file with HTCondor's cron_minute, whose job stays, is added" 0 'cron 7: the next time is *' '*'
holds "as a rule that skips what it missed" sh -c "'$berth' cron show 7 >shown; grep -q 'Schedule = \"\* \* \* \* \*\"' shown && grep -q 'Missed = \"skip\"' shown && grep -q 'QueueLimit = 600' shown && ! grep -q 'CronSchedule\|OnExitRemove' shown"
echo $((62 - $(date +%-S))) >shift # a moment behind the next minute: that is not missed
holds "when the minute has come, its job does" soon listed cron "rows[-1]['cron'] == 7 and rows[-1]['runs'] >= 1"
run "$berth" submit --key once again.sub
says "a key does not go with it" 2 '' '*
berth: --key goes with jobs that are submitted now*'
echo '[ Cmd = "true"; CronSchedule = "@yearly"; CronOverlap = "wait"; Outputs = {} ]' >yearly.ad
run "$berth" cron add yearly.ad
says "an ad may say when it comes again" 0 'cron 8: the next time is *' ''
holds "and what becomes of a time at which the last is not over" sh -c "'$berth' cron show 8 | grep -q 'Overlap = \"wait\"'"
run "$berth" cron add '@daily' yearly.ad
says "not twice" 2 '' 'berth: yearly.ad says itself when its job comes again: leave the schedule out'
run "$berth" cron add note.ad
says "nor never" 2 '' 'berth: note.ad does not say when its job comes again*'
cat yearly.ad note.ad >both.ad
run "$berth" submit --force both.ad
says "it is submitted alone" 2 '' '*jobs that come again are submitted one ad at a time*there are 2'
run curl -sS --unix-socket state/customer/customer.sock -H 'Content-Type: application/classad; dialect=classic' --data-binary @yearly.ad http://customer/v1/jobs
says "whoever submits it by hand as a job is told where it goes" 0 '*CronSchedule: a job that comes again goes to /v1/crons*' ''
"$berth" cron rm 7 8
echo 0 >shift

# --------------------------------------------------------------------------------------------------------------- refused

run "$berth" cron add '61 * * * *' note.ad
says "a schedule that is none is refused" 2 '' "berth: Schedule: '61': expected the minute*"
run "$berth" cron add --overlap never '@daily' note.ad
says "so is a word that says nothing" 2 '' 'berth: Overlap: expected skip, wait or run'
echo '[ Cmd = "true"; After = { "a" }; Node = "b" ]' >node.ad
run "$berth" cron add @daily node.ad
says "a node of a workflow does not come again" 2 '' 'berth: JobAd: After: *'
echo '[ Cmd = 17 ]' >bad.ad
run "$berth" cron add @daily bad.ad
says "nor what is no job" 2 '' 'berth: *Cmd*'
echo '[ Cmd = "true"; Outputs = {} ]' >true.ad
for i in $(seq 98); do "$berth" cron add @yearly true.ad >added || break; done
run "$berth" cron add @yearly true.ad
says "a user has a hundred at most" 2 '' 'berth: one user has at most 100 jobs that come again*'
run "$berth" audit --jobs --json
json "who added, held and removed one is in the audit log" 0 "{'cron.add', 'cron.hold', 'cron.release', 'cron.remove'} <= {r['what'] for r in rows}"
echo "1..$count"
[ $failures = 0 ]
