#!/bin/sh
# unmade_live_test.sh: a job that lacks an output that it names is held, as HTCondor holds it: over a kill of the customer, in a workflow, and by the
# names and numbers that scripts read. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
command -v python3 >/dev/null || { echo "1..0 # SKIP python3 is not here" && exit; }
mkdir bin && "$berth" condor install bin >/dev/null
PATH=$work/bin:$PATH

# is ID ATTRIBUTE WORDS: condor_q says so, of a job that is in the queue.
is() { [ "$(condor_q -nobatch "$1" -af "$2" 2>/dev/null)" = "$3" ]; }
held() { is "$1" JobStatus 5; }
told() { python3 "$BERTH_SOURCE/tests/live/event_log.py" "$@"; }
holds 'a pool is up' serve

cat >a.sub <<'END'
executable = /bin/sh
transfer_executable = false
arguments = "-c 'mkdir d; echo 1 >d/one; echo 2 >two; [ ! -e again ] || echo 3 >three; exit $(status)'"
transfer_output_files = d, two, three
log = a.log
status = 0
queue
END
run_it() { condor_submit -terse "$@" >out 2>err && id=$(sed -n 's/ - .*//p' out); }
holds 'a job that will lack an output is submitted' run_it a.sub
holds 'it is held' soon held "$id"
words='the job has not made three: (errno 2) No such file or directory'
hold_says() { condor_q -hold "$id" | grep -q 'Transfer output files failure'; }
holds 'condor_q -hold says why' soon hold_says
named() { condor_q "$id" -af HoldReason | grep -qF "$words"; }
holds 'its ad names the file' soon named
holds 'with the numbers of HTCondor' [ "$(condor_q "$id" -af HoldReasonCode HoldReasonSubCode)" = '12 2' ]
why() { "$berth" why "${id%.*}" | grep -qF "$words"; }
holds 'berth why names it' why
job() { "$berth" job "${id%.*}" | grep -qF "$words"; }
holds 'and berth job' job
holds 'what it has made is here' [ "$(cat d/one two)" = '1
2' ]
logged() { told a.log '[n for j, n, e in events if n != 6] == [0, 1, 7, 12]'; }
holds 'the event log says that it was held' soon logged
reason_logged() { told a.log 'any("has not made three" in e and "Code 12 Subcode 2" in e for j, n, e in events if n == 12)'; }
holds 'and why' reason_logged

kill -s KILL -- "-$pool"
wait "$pool" 2>/dev/null
gone() { ! kill -s 0 -- "-$pool"; }
soon gone
holds 'the pool is killed, and begun again' serve
holds 'the job is held still' soon held "$id"
holds 'for the same reason' named

sed -e 's/-c '"'"'/-c '"'"'touch again; /' a.sub >b.sub
holds 'it is released' "$berth" release "${id%.*}"
reason_twice() { told a.log 'sum(n == 12 for j, n, e in events) == 2 and any(n == 13 for j, n, e in events)'; }
holds 'and runs again, and is held again, as the event log says' soon reason_twice
holds 'it is removed' "$berth" rm "${id%.*}"

holds 'a job that makes all of it is submitted' run_it b.sub
over() { "$berth" wait "${id%.*}" && [ -s three ]; }
holds 'and is over' over

holds 'one that fails and lacks an output is submitted' run_it a.sub -append 'status = 3'
holds 'it is held, too, as in HTCondor' soon held "$id"
"$berth" rm "${id%.*}" >/dev/null
holds 'and one that brings its outputs only if it ends well' run_it a.sub -append 'status = 3' -append 'when_to_transfer_output = ON_SUCCESS'
failed() { "$berth" wait "${id%.*}" 2>&1 | grep -q 'Failed (exit 3)'; }
holds 'that one has failed' failed

cat >w.dag <<'END'
JOB A a.sub
JOB B b.sub
PARENT A CHILD B
END
holds 'a workflow is begun' "$berth" dag submit w.dag --force
node_held() { condor_q -af JobStatus DAGNodeName 2>/dev/null | grep -q '5 A'; }
holds 'a node of it that lacks an output is held' soon node_held
waits() { ! condor_q -af JobStatus DAGNodeName 2>/dev/null | grep -q '[24] B'; }
holds 'and those behind it wait' waits
kill -s TERM -- "-$pool"

echo "1..$count"
[ $failures = 0 ]
