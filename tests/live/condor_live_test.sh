#!/bin/sh
# condor_live_test.sh: HTCondor's commands by their names, on a pool: what scripts give them, and what they read of them. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

# printed PATTERN: the command ended well, and a line of what it printed matches.
printed() { [ "$status" = 0 ] && grep -q -- "$1" out; }

export BERTH_STATE="$PWD/state"
mkdir bin
run "$berth" condor install bin
holds "the commands are put into a folder" [ "$status" = 0 ]
run "$berth" condor install bin
holds "twice is as good as once" [ "$status" = 0 ]
mkdir other && : >other/condor_q
run "$berth" condor install other
holds "what is not ours is left alone" [ "$status" = 1 ]
PATH=$PWD/bin:$PATH

run condor_q
holds "without a customer the status says so" [ "$status" = 3 ]
"$berth" pool --listen 127.0.0.1:0 >pool.up 2>pool.err &
pids="$pids $!"
holds "a pool is up" soon grep -q 'is up' pool.up

cat >sleep.sub <<'END'
executable = /bin/sleep
arguments = 100$(Process)
batch_name = naps
request_memory = 100M
+Colour = "red"
queue 3
END
run condor_submit sleep.sub
holds "a file is submitted, and told as HTCondor tells it" printed '3 job(s) submitted to cluster 1.'
run condor_submit -terse -append 'request_memory = 50M' sleep.sub
holds "tersely, with one more command" printed '4.0 - 4.2'
run condor_submit -dry-run - sleep.sub
holds "and not at all" printed 'Cmd = "/bin/sleep"'
run condor_submit nosuch.sub
holds "a file that is not there: 1" [ "$status" = 1 ]

run condor_q -af:jh RequestMemory Colour Args
holds "-af prints a heading" printed 'ID RequestMemory Colour Args'
holds "and of each job its number and values" printed '4.2 50 red 1002'
run condor_q 1 -af ProcId
holds "a cluster is all its jobs" [ "$(echo $(cat out))" = '0 1 2' ]
run condor_q 1.1 4.0 -af:t ClusterId ProcId
holds "jobs are chosen one by one" [ "$(cat out)" = "$(printf '1\t1\n4\t0')" ]
run condor_q -constraint 'ProcId == 2 && Colour =?= "red"' -af ClusterId
holds "and by a constraint" [ "$(echo $(cat out))" = '1 4' ]
run condor_q nobody -af ClusterId
holds "of another user there is none" [ "$status" = 0 -a ! -s out ]
run condor_q
holds "people see a row a submission" printed 'naps .* 3 1.0-2'
run condor_q -nobatch
holds "or a row a job" printed ' 1.0 .* sleep 1000$'
holds "and what there is in all" printed 'Total for query: 6 jobs; 0 completed, 0 removed, '
run condor_q 1.0 -json
holds "-json is an array of ads" python3 -c 'import json; a, = json.load(open("out")); assert a["ClusterId"] == 1 and a["JobStatus"] in (1, 2) and a["JobBatchName"] == "naps", a'
run condor_q 1.0 -long
holds "-long has an attribute a line" printed '^Colour = "red"$'
run condor_q 1.0 -xml
holds "-xml is a document" python3 -c 'import xml.dom.minidom as x; x.parse("out")'

run condor_hold 1.1
holds "a job is held" printed 'Job 1.1 held'
run condor_q -hold -af:j HoldReason
holds "and says why" printed '^1.1 '
run condor_release -constraint 'JobStatus == 5'
holds "those that are held go on" printed 'Job 1.1 released'
run condor_rm 4
holds "a cluster is removed" printed 'Job 4.2 marked for removal'
run condor_rm 77
holds "one that is not there: 1" [ "$status" = 1 ]
gone() { [ "$(condor_q 4 -af ProcId | wc -l)" = 0 ] && [ "$(condor_history -af ClusterId | grep -c 4)" = 3 ]; }
holds "it is in the history" soon gone
run condor_history 4.2 -af JobStatus
holds "as removed" [ "$(cat out)" = 3 ]

run condor_status -af Machine State
holds "machines are listed" [ "$status" = 0 -a -s out ]
run condor_status
holds "for people, too" printed '^slot1@.* LINUX '
run condor_version
holds "the version has the words that are looked for" printed '^[$]CondorVersion: '
run condor_qedit 1 Colour '"blue"'
holds "what cannot be done is said: 1" [ "$status" = 1 ]
run condor_q -bogus
holds "so is an option that is not known" [ "$status" = 1 ]
run condor_rm -all
holds "all are removed" [ "$status" = 0 ]
echo "1..$count"
[ $failures = 0 ]
