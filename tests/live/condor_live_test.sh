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
release() { condor_release -constraint 'JobStatus == 5' | grep -q 'Job 1.1 released'; } # when it has left its machine
holds "those that are held go on" soon release
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
holds "for people, too" printed '^slot1@.* LINUX  *[A-Z]'
run condor_status -constraint 'OpSys == "LINUX" && TotalCpus > 0' -af Arch OpSysAndVer OpSysMajorVer Fetches CpuModel
holds "they say what machines of HTCondor say, also while all of them is given away" printed '^[A-Z0-9_]* [A-Z][A-Za-z]*[0-9]* [0-9]* undefined [^u]'
run condor_version
holds "the version has the words that are looked for" printed '^[$]CondorVersion: '
run condor_drain -resume-on-completion somewhere
holds "what cannot be done is said: 1" [ "$status" = 1 ]
run condor_q -bogus
holds "so is an option that is not known" [ "$status" = 1 ]
run condor_rm -all
holds "all are removed" [ "$status" = 0 ]
# ----------------------------------------------------------------------------------------------- what else programs call

condor_rm -all >out 2>&1
cat >naps.sub <<'END'
executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo hello; sleep 600'"
request_memory = 64M
+Colour = "red"
queue 2
END
condor_submit -terse naps.sub >id 2>said
cluster=$(sed 's/\..*//' id)
both_run() { [ "$(condor_q "$cluster" -run -format '%d\n' ProcId | tr '\n' ,)" = 0,1, ]; }
holds "-format prints by a format, with what follows it" soon both_run
run condor_status -af Name
holds "the host of a job is the name of a slot" [ "$(condor_q "$cluster" -af RemoteHost | sort -u)" = "$(cat out)" ]
run condor_q -better-analyze "$cluster.1"
holds "-better-analyze says why a job does not run, or that it does" printed "^job "
run condor_q -better-analyze
holds "of one job at a time" [ "$status" = 1 ]
run condor_q "$cluster" -format '%d.' ClusterId -format '%d ' ProcId -format '%-5s|' Colour -format 'none: %s' NoSuch -format '%.1f\n' RequestMemory
holds "of what is undefined nothing" printed "^$cluster.1 red  |64.0\$"
run condor_q "$cluster" -json -attributes ClusterId,ProcId,JobStatus
holds "-attributes are all that JSON has" sh -c "python3 -c 'import json; rows = json.load(open(\"out\")); assert len(rows) == 2 and sorted(rows[0]) == [\"ClusterId\", \"JobStatus\", \"ProcId\"], rows'"
run condor_q 4711 -json
holds "no job is JSON, too" sh -c "python3 -c 'import json; assert json.load(open(\"out\")) == []'"
run condor_qedit "$cluster.0" RequestMemory 3072
holds "condor_qedit sets an attribute" printed 'Set attribute "RequestMemory" for 1 matching jobs.'
run condor_qedit "$cluster" Colour '"blue"' Extra=3+4
holds "or several, of several jobs" printed 'Set attribute "Extra" for 2 matching jobs.'
run condor_q "$cluster" -af:j RequestMemory Colour Extra
holds "in HTCondor's units" [ "$(cat out)" = "$(printf '%s.0 3072 blue 7\n%s.1 64 blue 7' "$cluster" "$cluster")" ]
run condor_qedit "$cluster" ClusterId 3
holds "a job's number is not one of them" [ "$status" = 1 ]
condor_prio -p 7 "$cluster.1" && condor_prio +2 "$cluster"
run condor_q "$cluster" -af:, ProcId JobPrio
holds "condor_prio sets a priority, or changes it" [ "$(cat out)" = "$(printf '0,2\n1,9')" ]
holds "condor_tail prints what a job has written" soon sh -c "condor_tail $cluster.1 | grep -qx hello"
run condor_ssh_to_job "$cluster.0" "echo in; pwd"
holds "condor_ssh_to_job runs a line in the job" printed '^/job$'
run condor_userprio -all -af Name
holds "condor_userprio knows the user" printed "^$(id -un)\$"
run condor_config_val FULL_HOSTNAME CONDOR_VERSION
holds "condor_config_val knows what programs ask for" printed '^[0-9]*\.[0-9]*\.[0-9]*$'
run condor_config_val NO_SUCH_NAME
says "and says what is not there" 1 '' 'Not defined: NO_SUCH_NAME'
run condor_q -name no.such.host
says "there is one queue" 1 '' 'berth: condor_q: there is one queue here*'
run condor_vacate_job "$cluster.1"
holds "condor_vacate_job sends a job away" printed "Job $cluster.1 vacated"
run condor_drain "$(condor_status -af Machine)"
holds "condor_drain drains a machine" [ "$status" = 0 ]
run condor_drain -cancel "$(condor_status -af Machine)"
holds "and lets it work again" [ "$status" = 0 ]

# ---------------------------------------------------------------------------------------------------------- a plain DAG

condor_rm -all >out 2>&1
printf '%s\n' 'executable = /bin/sh' 'transfer_executable = false' "arguments = \"-c 'exit \$(fails:0)'\"" 'request_memory = 32M' queue >step.sub
printf 'JOB A step.sub\nJOB B step.sub\nVARS B fails="1"\nPARENT A CHILD B\n' >plain.dag
run condor_submit_dag -batch-name plans plain.dag
holds "a DAG of jobs alone is one job" printed '1 job(s) submitted to cluster'
named() { { condor_q -af JobBatchName JobUniverse; condor_history -af JobBatchName JobUniverse; } | grep -qx 'plans 7'; }
holds "by its name, of the scheduler's universe" soon named
run condor_wait -wait 100 plain.dag.dagman.log
holds "whose log tells when it is over" [ "$status" = 0 ]
holds "and what is not done is in the rescue file, as with DAGMan" grep -q '^DONE A' plain.dag.rescue001
sed -i 's/fails="1"/fails="0"/' plain.dag
condor_submit_dag plain.dag >out 2>&1
run condor_wait -num 2 -wait 100 plain.dag.dagman.log
holds "from which the next one goes on" [ "$(grep -c 'node A: 1 job submitted' plain.dag.dagman.out) $(tail -n 1 plain.dag.dagman.out | grep -c 'status 0: 2 of 2')" = '1 1' ]

echo "1..$count"
[ $failures = 0 ]
