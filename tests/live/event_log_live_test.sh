#!/bin/sh
# event_log_live_test.sh: the log that a submit file names is written in HTCondor's form, whole over kills of the customer; and condor_wait, which reads it. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

printed() { [ "$status" = 0 ] && grep -q -- "$1" out; }
# long COMMAND...: runs it, for minutes perhaps.
long() {
  timeout 250 "$@" >out 2>err </dev/null
  status=$?
}
# told LOG EXPRESSION: the log is one, and that is so of it.
told() { python3 "$BERTH_SOURCE/tests/live/event_log.py" "$@"; }
export BERTH_STATE="$PWD/state"
mkdir bin && "$berth" condor install bin >/dev/null
PATH=$PWD/bin:$PATH
holds "a pool is up" serve

cat >a.sub <<'END'
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo $(Process) >>made.$(Process); exit $(Process)'"
log = logs/a.log
submit_event_notes = for the notes
queue 2
END
run condor_submit a.sub
holds "a file that names a log is submitted" printed '2 job(s) submitted to cluster 1'
holds "without a word about it" sh -c '! grep -q "log:" err'
long condor_wait -status -wait 180 logs/a.log
holds "who waits by the log is told when all jobs are over" printed '^All jobs done.'
holds "and what happened" printed '^1.1.0 completed$'
holds "then their outputs are here" [ -s made.0 -a -s made.1 ]
holds "the log has an event for all that happened" told logs/a.log 'sorted(jobs) == ["1.0", "1.1"] and all([n for n in j if n != 6] == [0, 1, 5] for j in jobs.values())'
holds "with the status of each" told logs/a.log 'sorted("return value 1" in e for j, n, e in events if n == 5) == [False, True]'
holds "and what the file says of the submission" told logs/a.log 'all("\n    for the notes" in e for j, n, e in events if n == 0)'
run condor_wait -num 1 logs/a.log
holds "one job may be enough" printed 'Specified number of jobs (1) done'
run condor_wait logs/a.log 1.1
holds "or a certain one" printed 'All jobs done'
run condor_wait -wait 1 logs/a.log 77
holds "of another the log does not tell: 1" [ "$status" = 1 ]
run condor_wait -wait 1 nosuch.log
holds "there is no such log: 1" [ "$status" = 1 ]
run condor_wait a.sub
holds "another file is no log: 1" [ "$status" = 1 ]
run condor_wait
holds "it wants the name of a log: 1" [ "$status" = 1 ]

mkdir -p far/deep
cat >b.sub <<END
executable = /bin/true
transfer_executable = false
initialdir = far/deep
log = $PWD/far/whole.log
queue
executable = /bin/sleep
arguments = 1000
log = ../b.\$(Process).log
queue 2
END
run condor_submit b.sub
holds "a log may be elsewhere, and another for each job" printed '3 job(s) submitted to cluster 3'
long condor_wait -wait 180 far/whole.log
holds "by its whole path" printed 'All jobs done'
holds "or from the folder of the job" soon told far/b.1.log 'list(jobs) == ["3.1"] and 1 in jobs["3.1"]'
holds "with the number of each" soon told far/b.2.log 'list(jobs) == ["3.2"]'
run "$berth" rm 5
long condor_wait -wait 180 far/b.2.log
holds "who waits is told of a removal" printed 'All jobs done'
holds "which is an event" told far/b.2.log 'jobs["3.2"][-1] == 9'
run "$berth" hold 4
holds "so is being held, after the job has left its machine" soon told far/b.1.log '[n for n in jobs["3.1"] if n != 6] == [0, 1, 4, 12]'
holds "it can be released when it has left" soon "$berth" release 4
holds "which is an event, too" soon told far/b.1.log '13 in jobs["3.1"]'
holds "it runs once more" soon told far/b.1.log 'jobs["3.1"].count(1) == 2'
run condor_wait -wait 1 far/b.1.log
holds "a time to wait ends: 1" [ "$status" = 1 ]
run "$berth" rm 4

cat >local.sub <<'END'
universe = local
executable = /bin/sh
transfer_executable = false
arguments = "-c 'exit 3'"
log = local.log
queue
END
run condor_submit local.sub
long condor_wait -wait 180 local.log
holds "a job of this machine has such a log as well" told local.log '[j for j in jobs.values()] == [[0, 1, 5]] and "return value 3" in events[-1][2]'

# ---------------------------------------------------------------------------------------------- kills in the middle of it all
cat >many.sub <<'END'
executable = /bin/sh
transfer_executable = false
arguments = "-c 'exit 0'"
output = /dev/null
log = many.log
transfer_output_files = ""
queue 24
END
run condor_submit -terse many.sub
first=$(sed -n 's/^\([0-9]*\)\.0 .*/\1/p' out)
for round in 1 2; do
  some() { [ "$(grep -c '^005' many.log)" -ge $((round * 4)) ]; }
  soon some
  kill -s KILL -- "-$pool"
  wait "$pool" 2>/dev/null
  holds "the pool is killed, and begins anew (round $round)" serve
done
long condor_wait -wait 240 many.log "$first"
holds "all jobs end" printed 'All jobs done'
holds "each was submitted once and ended once, by the log" told many.log 'len(jobs) == 24 and all(j.count(0) == 1 and j.count(5) == 1 for j in jobs.values())'

# -------------------------------------------------------------------------------------------------------- it cannot be written
cat >bad.sub <<'END'
executable = /bin/true
transfer_executable = false
log = /proc/nosuch/a.log
queue
END
run "$berth" submit bad.sub
id=$(sed -n 's/.*submitted: \([0-9]*\).*/\1/p' out)
long "$berth" wait "$id"
holds "a log that cannot be written does not hold the job up" [ "$status" = 0 ]
over() { "$berth" history | grep -q "^ *$id "; }
holds "not even its end" soon over
run "$berth" logs --events "$id"
holds "that is told, once" [ "$(grep -c 'log that it names could not be written' out)" = 1 ]
echo '[ Cmd = "/bin/true"; Outputs = {}; UserLog = strcat("log.", NoSuchThing) ]' >nameless.ad
run "$berth" submit nameless.ad
id=$(sed -n 's/.*submitted: \([0-9]*\).*/\1/p' out)
holds "a job whose log comes out as no name of a file leaves the queue all the same" soon over
run "$berth" logs --events "$id"
holds "and its own log says what is wrong" grep -q 'UserLog says no name of a file' out
kill -s TERM -- "-$pool"
wait "$pool" 2>/dev/null
echo "1..$count"
[ $failures = 0 ]
