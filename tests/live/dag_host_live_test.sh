#!/bin/sh
# dag_host_live_test.sh: workflows that are carried out on the submit host, beside their files, as DAGMan does: scripts, inputs that nodes make, workflows
# within workflows, throttles, ends; rescue files; and a customer that is killed in the middle of one. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

export BERTH_RETRY=0.1
"$berth" pool --listen 127.0.0.1:0 >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
holds "a machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"
customer_pid() { ps -o pid=,args= --ppid "$pool" | awk '/berth customer/ { print $1 }'; }
# dag FILE...: submits it, and waits for its end; its number is in `id`, how it ended in `status`.
dag() {
  id=$("$berth" dag submit "$@" 2>said | sed -n 's/^workflow \([0-9]*\) submitted: job .*/\1/p')
  run "$berth" wait "${id:-0}" --timeout 100
}
echo 'executable = /bin/true' >true.sub && echo queue >>true.sub
echo 'executable = /bin/false' >false.sub && echo queue >>false.sub

# -------------------------------------------------------------------------------------------------------------- scripts

cat >note.sh <<'SH'
#!/bin/sh
echo "$*" >>"${NOTES:-notes}"
exit "${SCRIPT_STATUS:-0}"
SH
cat >status.sh <<'SH'
#!/bin/sh
# status.sh STATUS WORDS...: notes the words, and ends with that status.
status=$1
shift
echo "$*" >>notes
exit "$status"
SH
chmod +x note.sh status.sh
cat >scripts.dag <<'DAG'
JOB A true.sub
JOB B false.sub
JOB C true.sub
JOB D true.sub
PARENT A CHILD B
PARENT B CHILD C
SCRIPT PRE A note.sh pre $JOB $RETRY $MAX_RETRIES
SCRIPT POST A ./note.sh post $JOB $RETURN $PRE_SCRIPT_RETURN
SCRIPT POST B status.sh 0 post $JOB $RETURN
SCRIPT PRE C status.sh 3 pre $JOB
PRE_SKIP C 3
SCRIPT PRE D status.sh 4 pre $JOB $RETRY
RETRY D 2
DAG
dag scripts.dag
says "a workflow one of whose nodes fails says so" 1 '' "berth: job $id: Failed (exit 1)"
holds "scripts run beside the file, with what DAGMan's words stand for" grep -qx 'pre A 0 0' notes
holds "also after the job" grep -qx 'post A 0 0' notes
holds "a POST script decides about its node" grep -qx 'post B 1' notes
holds "those after it run; PRE_SKIP ends a node well" grep -qx 'pre C' notes
holds "a PRE script that fails is tried again with its node" [ "$(grep -c '^pre D' notes)" = 3 ]
holds "no job of C and D was submitted" listed "dag status $id" "sorted(row['node'] or '' for row in rows) == ['', 'A', 'B']"
holds "a rescue file says what is done" [ "$(grep '^DONE' scripts.dag.rescue001 | tr '\n' ,)" = 'DONE A,DONE B,DONE C,' ]
holds "the log tells the story" grep -q 'node D has failed, with status 4' scripts.dag.dagman.out
sed -i 's/status.sh 4 pre/status.sh 0 again/' scripts.dag
: >notes
dag scripts.dag
holds "which is told" grep -q 'what an earlier run has done is not repeated' said
holds "submitted again it goes on from there" sh -c "[ $status = 0 ] && [ \"\$(cat notes)\" = 'again D 0' ]"

printf '#!/bin/sh\necho in >>turns\nsleep 0.3\necho out >>turns\n' >turn.sh
chmod +x turn.sh
for node in A B C D; do printf 'JOB %s true.sub NOOP\nSCRIPT POST %s turn.sh\n' $node $node; done >turns.dag
dag turns.dag --maxpost 1
holds "of POST scripts no more run at once than --maxpost says" sh -c "[ $status = 0 ] && [ \"\$(tr '\n' , <turns)\" = in,out,in,out,in,out,in,out, ]"

mkdir example && cp "$BERTH_SOURCE"/examples/dag/* example
(cd example && "$berth" dag submit diamond.dag >../out)
id=$(sed -n 's/^workflow \([0-9]*\) .*/\1/p' out)
run "$berth" wait "$id" --timeout 100
holds "the example runs" [ "$status" = 0 ]
holds "its script after the last node was told how that ended" grep -qx 'D ended with status 0' example/diamond.dag.dagman.out

printf 'executable = /bin/true\narguments = 1\nqueue\nexecutable = /bin/echo\noutput = second\nqueue\n' >several.sub
printf 'JOB A several.sub\nJOB B several.sub\nPARENT A CHILD B\n' >several.dag
dag several.dag
holds "a node may have several jobs that are not the same" sh -c "[ $status = 0 ] && grep -q 'node A: 2 jobs submitted' several.dag.dagman.out"

# -------------------------------------------------------------------------------------------- inputs that nodes make

mkdir late && cd late || exit 1
cat >make.sub <<'SUB'
executable = make.sh
arguments = $(value)
transfer_output_files = data
queue
SUB
cat >read.sub <<'SUB'
executable = read.sh
transfer_input_files = data, extra
output = result
transfer_output_files = ""
queue
SUB
printf '#!/bin/sh\necho "$1" >data\n' >make.sh
printf '#!/bin/sh\ncat data extra\n' >read.sh
printf '#!/bin/sh\ncp ../extra.of extra\n' >extra.sh
chmod +x make.sh read.sh extra.sh
printf 'JOB M make.sub\nJOB R read.sub\nPARENT M CHILD R\nSCRIPT PRE R extra.sh\nVARS M value="$(number)" number="one"\n' >late.dag
echo first >../extra.of
dag late.dag
holds "a node reads what another node and its PRE script have made, in a fresh folder" sh -c "[ $status = 0 ] && [ \"\$(cat result | tr '\n' ,)\" = one,first, ]"
sed -i 's/number="one"/number="two"/' late.dag
echo second >../extra.of
dag late.dag
holds "and the new ones in a second run" sh -c "[ $status = 0 ] && [ \"\$(cat result | tr '\n' ,)\" = two,second, ]"
rm data extra result
printf 'JOB M make.sub\nJOB R read.sub\nPARENT M CHILD R\nVARS ALL_NODES value="three"\n' >plain.dag
echo here >extra
dag plain.dag
holds "without a script, too" sh -c "[ $status = 0 ] && [ \"\$(cat result | tr '\n' ,)\" = three,here, ]"
cd ..

# ------------------------------------------------------------------------------- files inside of files, and descriptions

mkdir parts && cat >parts/inner.dag <<'DAG'
JOB X ../true.sub
JOB Y ../true.sub
JOB Z ../true.sub NOOP
PARENT X CHILD Y Z
PIN_OUT Y 1
PIN_IN X 1
SCRIPT POST ALL_NODES ../note.sh $JOB
DAG
cat >sub.gen.sh <<'SH'
#!/bin/sh
printf 'JOB S1 true.sub\nJOB S2 %s\nPARENT S1 CHILD S2\nSCRIPT POST S2 note.sh sub $JOB\n' "$1" >made.dag
SH
chmod +x sub.gen.sh
echo 'SCRIPT PRE START note.sh included' >more.inc
cat >nested.dag <<'DAG'
JOB START {
  executable = /bin/sh
  arguments = "-c 'echo $(word)'"
  output = start.out
  word = hello
}
SUBMIT-DESCRIPTION quick {
  executable = /bin/true
}
JOB MIDDLE quick
SPLICE one inner.dag DIR parts
SPLICE two inner.dag DIR parts
CONNECT one two
PARENT START CHILD one
PARENT one two CHILD MIDDLE
SUBDAG EXTERNAL SUB made.dag
SCRIPT PRE SUB sub.gen.sh true.sub
PARENT MIDDLE CHILD SUB
INCLUDE more.inc
FINAL LAST true.sub
SCRIPT POST LAST note.sh last $DAG_STATUS $FAILED_COUNT
NODE_STATUS_FILE nested.status 1
JOBSTATE_LOG nested.states
DOT nested.dot
DAG
: >notes
: >parts/notes
dag nested.dag
holds "splices, a workflow that a script makes, descriptions in place, an included file and a last node" [ "$status" = 0 ]
holds "all of it ran, in its order" [ "$(tr '\n' , <notes)" = 'included,sub S2,last 0 0,' ]
holds "nodes of splices have their prefix" [ "$(sort parts/notes | tr '\n' ,)" = 'one+X,one+Y,one+Z,two+X,two+Y,two+Z,' ]
before() { [ "$(grep -n "^$1\$" "$3" | cut -d: -f1)" -lt "$(grep -n "^$2\$" "$3" | cut -d: -f1)" ]; }
holds "what is connected by pins waits" before one+Y two+X parts/notes
holds "a description in place is a job" grep -qx hello start.out
holds "the status file is there" grep -q 'NodesDone = 10;' nested.status
holds "and the log of states" grep -q 'SUB JOB_SUCCESS' nested.states
holds "and the graph" grep -q '"one+Y" -> "two+X"' nested.dot

# --------------------------------------------------------------------------------------------- ends, throttles, deferred

cat >abort.dag <<'DAG'
JOB A long.sub
JOB B true.sub
JOB C true.sub
PARENT B CHILD C
SCRIPT POST B status.sh 7 b
ABORT-DAG-ON B 7 RETURN 9
FINAL F true.sub
SCRIPT PRE F note.sh final $DAG_STATUS
DAG
printf 'executable = /bin/sleep\narguments = 600\nqueue\n' >long.sub
: >notes
dag abort.dag
says "a node may end the workflow" 1 '' "berth: job $id: Failed (exit 9)"
holds "what runs is removed, and the last node runs" [ "$(tr '\n' , <notes)" = 'b,final 3,' ]
holds "nothing is left in the queue" soon listed jobs "not rows"

awk 'BEGIN { for (i = 0; i < 20100; i++) printf "JOB N%d long.sub\nCATEGORY N%d one\n", i, i; print "MAXJOBS one 1\nJOB BEHIND true.sub" }' >crowd.dag
id=$("$berth" dag submit crowd.dag 2>said | sed -n 's/^workflow \([0-9]*\) submitted: job .*/\1/p')
holds "twenty thousand nodes that a limit keeps do not keep one behind them" soon grep -q 'node BEHIND is done' crowd.dag.dagman.out
run "$berth" rm "$id"
holds "they are removed" soon listed jobs "not rows"

printf 'JOB X long.sub\nFINAL Y true.sub\nSCRIPT POST Y note.sh inner $JOB $DAG_STATUS\n' >inner-final.dag
cat >gone.dag <<'DAG'
JOB A long.sub
JOB B true.sub
PARENT A CHILD B
SUBDAG EXTERNAL S inner-final.dag
FINAL F true.sub
SCRIPT PRE F note.sh before $DAG_STATUS
SCRIPT POST F note.sh final $RETURN $DAG_STATUS
DAG
: >notes
id=$("$berth" dag submit gone.dag 2>said | sed -n 's/^workflow \([0-9]*\) submitted: job .*/\1/p')
holds "two jobs of a workflow run" soon listed "dag status $id" "len([row for row in rows if row['state'] == 'Running' and row['node'] in ('A', 'X')]) == 2"
run "$berth" rm "$id"
says "the workflow is removed" 0 '1 job removed' ''
final_ran() { [ "$(tr '\n' , <notes)" = 'inner Y 4,before 4,final 0 4,' ]; }
holds "its last node runs all the same, and that of the workflow in it before" soon final_ran
holds "the others have ended, and none followed" soon sh -c "'$berth' jobs --json >out && [ ! -s out ] && ! grep -q 'node B' gone.dag.dagman.out"
holds "a rescue file is left" soon test -e gone.dag.rescue001

{
  for i in 1 2 3 4 5 6; do printf 'JOB N%s sleep1.sub\nCATEGORY N%s few\n' $i $i; done
  echo 'MAXJOBS few 2'
} >few.dag
printf 'executable = /bin/sleep\narguments = 1\nqueue\n' >sleep1.sub
"$berth" dag submit few.dag >out
id=$(sed -n 's/^workflow \([0-9]*\) .*/\1/p' out)
: >most
while "$berth" jobs "$id" --json >how && grep -q 'Waiting\|Running' how; do
  "$berth" jobs -c 'isInteger(DAGManJobId) && State != "Done"' --json | grep -c '"state"' >>most
  sleep 0.1
done
run "$berth" wait "$id" --timeout 60
holds "MAXJOBS throttles its category" sh -c "[ $status = 0 ] && [ \"\$(sort -n most | tail -n 1)\" -le 2 ]"

printf '#!/bin/sh\n[ -e ready ] && exit 0\ntouch ready\nexit 5\n' >defer.sh && chmod +x defer.sh
printf 'JOB A true.sub\nSCRIPT DEFER 5 1 PRE A defer.sh\n' >defer.dag
dag defer.dag
holds "a script that is deferred runs again" sh -c "[ $status = 0 ] && [ \"\$(grep -c 'PRE script of node A begins' defer.dag.dagman.out)\" = 2 ]"

# ----------------------------------------------------------------------------------------------------- what is refused

for word in 'SERVICE S true.sub' 'PROVISIONER P true.sub' 'SAVE_POINT_FILE A' 'REJECT'; do
  printf 'JOB A true.sub\n%s\n' "$word" >refused.dag
  run "$berth" dag submit refused.dag
  says "${word%% *} is refused by name" 2 '' "refused.dag:2:1: ${word%% *} is not carried over: *"
done
printf 'JOB A true.sub\nSCRIPT PRE A ./nosuch.sh\n' >refused.dag
run "$berth" dag submit refused.dag
says "a script that is not there is told at once" 2 '' 'berth: refused.dag:1: SCRIPT PRE: ./nosuch.sh: No such file or directory'
run "$berth" dag submit --customer http://127.0.0.1:9 scripts.dag
says "scripts need the socket of a customer of this machine" 1 '' 'berth: scripts.dag: SCRIPT: this is done on the submit host, *'

# ----------------------------------------------------------------------------------------------- the customer is killed

cat >wait.sh <<'SH'
#!/bin/sh
echo "$1" >>notes
while [ "$1" = slow ] && [ ! -e go ]; do sleep 0.1; done
SH
chmod +x wait.sh
printf 'JOB A true.sub\nJOB B true.sub\nPARENT A CHILD B\nSCRIPT POST A wait.sh quick\nSCRIPT PRE B wait.sh slow\nSCRIPT POST B wait.sh last\n' >killed.dag
: >notes
"$berth" dag submit killed.dag >out
id=$(sed -n 's/^workflow \([0-9]*\) .*/\1/p' out)
holds "a script runs" soon grep -qx slow notes
kill -KILL "$(customer_pid)"
holds "its customer is killed: the script that ran is run again" soon sh -c "[ \"\$(grep -c slow notes)\" = 2 ]"
touch go
run "$berth" wait "$id" --timeout 60
holds "and the workflow goes on to its end; what had ended is not repeated" sh -c "[ $status = 0 ] && [ \"\$(tr '\n' , <notes)\" = quick,slow,slow,last, ]"
# by hand, so that it can be killed while a line of its journal is on its way
rm -f go killed.dag.*
: >notes
"$berth" dag run --run torn --cwd . killed.dag >torn.out 2>&1 &
torn=$!
pids="$pids $torn"
holds "a run by hand" soon grep -qx slow notes
kill -KILL "$torn"
printf 'D 0' >>killed.dag.nodes.log
touch go
: >notes
run timeout 60 "$berth" dag run --run torn --cwd . killed.dag
holds "goes on after a kill in the midst of a line of its journal; what had ended is not repeated" sh -c "[ $status = 0 ] && [ \"\$(tr '\n' , <notes)\" = slow,last, ]"
holds "the journal is whole again" sh -c "! grep -q 'D 0.' killed.dag.nodes.log || ! grep -v '^[A-Z] [-0-9]* [-0-9]* [AB]\$\|^R torn\$' killed.dag.nodes.log"

printf 'JOB A true.sub\nSCRIPT PRE A note.sh mine\n' >planted.dag
printf '# by somebody else\nDONE A\nSCRIPT PRE A touch stolen\nJOB B true.sub\n' >planted.dag.rescue001
run timeout 60 "$berth" dag run --run planted --cwd . planted.dag
holds "a rescue file that says more than what is done is refused" sh -c "[ $status != 0 ] && grep -q 'planted.dag.rescue001:3: a rescue file says DONE and RETRY, and nothing else' err && [ ! -e stolen ]"
printf 'JOB A"\\b true.sub NOOP\nNODE_STATUS_FILE odd.status\nDOT odd.dot\n' >odd.dag
dag odd.dag
holds "a node's name may have quotes in it: they are quoted where it is written" grep -q 'Node = "A\\"\\\\b";' odd.status
holds "in the graph, too" grep -q '^  "A\\"\\\\b" \[' odd.dot

rm go
: >notes
printf 'JOB A long.sub\nSCRIPT PRE A note.sh begun\n' >removed.dag
"$berth" dag submit removed.dag >out
id=$(sed -n 's/^workflow \([0-9]*\) .*/\1/p' out)
holds "one whose job takes long" soon listed "dag status $id" "any(row['node'] == 'A' for row in rows)"
run "$berth" rm "$id"
holds "is removed, and its jobs with it" soon listed jobs "not rows"
holds "a rescue file is left" soon test -e removed.dag.rescue001

kill "$pool"
wait "$pool"
holds "the pool ends well" [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
