#!/bin/sh
# dag_live_test.sh: workflows in a pool of real processes: the example, retries, rescue, commands before and after, and a customer that is killed
# in the middle of one. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
examples=$BERTH_SOURCE/examples/dag

export BERTH_WINDOW=3 BERTH_PIN=3 BERTH_LEASE=40 BERTH_DEADLINE=2 BERTH_LIFETIME=5 BERTH_RETRY=0.1 BERTH_GRACE=0.5
"$berth" pool --listen 127.0.0.1:0 >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
holds "a machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"

# nodes ID PYTHON: what is true of `node`, the rows of a workflow's nodes by name.
nodes() { listed "dag status $1" "(lambda node: $2)({row['node']: row for row in rows})"; }

# ------------------------------------------------------------------------------------------------------ bad input

cat >cycle.dag <<'DAG'
JOB A a.ad
JOB B a.ad
JOB C a.ad
PARENT A CHILD B
PARENT B CHILD C
PARENT C CHILD B
DAG
echo '[ Cmd = "true"; Outputs = {} ]' >a.ad
run "$berth" dag submit cycle.dag
says "a cycle is refused, and named" 2 '' 'berth: cycle.dag:3: After: a cycle: C waits for B, which waits for C'
printf 'JOB A a.ad\nPARENT A CHILD X\n' >unknown.dag
run "$berth" dag submit unknown.dag
says "so is a node that there is not" 2 '' "unknown.dag:2:1: PARENT: there is no node 'X'"
printf 'JOB A nosuch.sub\n' >nofile.dag
run "$berth" dag submit nofile.dag
says "and a node whose file there is not" 2 '' "*nosuch.sub: No such file or directory
berth: nofile.dag:1: the job of this node cannot be read"
printf 'executable = /bin/true\nnice_user = true\nbogus = 5\nqueue\n' >remarks.sub
printf 'JOB A remarks.sub\nJOB B remarks.sub\nVARS B x="1"\nJOB C remarks.sub\n' >remarks.dag
run "$berth" dag submit --dry-run remarks.dag
cp out nodes
: >out
says "what is remarked of a file is said once, however many nodes have it" 0 '' "remarks.sub:2:13: warning: nice_user: *
remarks.sub:3:9: warning: bogus: *"
holds "and each of them is a job" [ "$(wc -l <nodes)" = 3 ]
mkdir folder && : >plain
# script WHEN COMMAND: a workflow with that command is looked at; what is made of it is in `nodes`.
script() {
  printf 'JOB A a.ad\nJOB B a.ad\nSCRIPT %s ALL_NODES %s $JOB\n' "$1" "$2" >script.dag
  run "$berth" dag submit --dry-run script.dag
  mv out nodes
  : >out
}
script POST ./nosuch.sh
says "a script that is not there is told at once" 2 '' 'berth: script.dag:1: SCRIPT POST: ./nosuch.sh: No such file or directory'
script PRE plain
says "and one that cannot be executed" 2 '' 'berth: script.dag:1: SCRIPT PRE: plain: it cannot be executed; chmod +x makes it so'
script PRE ./folder
says "and one that is a folder" 2 '' 'berth: script.dag:1: SCRIPT PRE: ./folder: it is a folder, and no program'
script PRE nosuch.sh
says "one that may be a program of this machine is let pass with a warning, once, where neither such a file nor such a program is here" 0 '' \
  "berth: script.dag:1: warning: SCRIPT PRE: there is no file 'nosuch.sh' beside the workflow, and no such program here"
holds "and what carries it out is a job of this machine" grep -q 'Universe = "local".*CarriesDag = true' nodes
script PRE cat
says "nothing is said of one that this machine has" 0 '' ''
cat >half.ad <<'AD'
[ Node = "A"; Cmd = "true" ]
[ Node = "B"; After = { "A", "Z" }; Cmd = "true" ]
AD
run "$berth" submit half.ad
says "ads that name nobody are refused by the customer as well" 2 '' "berth: ad 2: After: there is no node 'Z'"
holds "nothing of all that was submitted" listed jobs "not rows"
run "$berth" dag status 1
says "there is no workflow then" 1 '' 'berth: there is no workflow 1'

# ---------------------------------------------------------------------------------------------------- the diamond

cp "$examples"/step.* . && grep -v '^SCRIPT' "$examples/diamond.dag" >diamond.dag
run "$berth" dag submit diamond.dag
says "the diamond of the example, without its scripts, is submitted" 0 'workflow 1 submitted: 4 jobs, 1-4' ''
run "$berth" wait 1-4 --timeout 60
holds "it ends well" [ "$status" = 0 ]
holds "every node is done" nodes 1 "len(node) == 4 and all(one['status'] == 0 for one in node.values())"
# in_order PAIRS FIRST NODE...: of each pair the second was claimed when the first had ended, by their logs, and each was claimed once.
in_order() {
  pairs=$1 job=$2
  shift 2
  for node; do
    "$berth" logs --events "$job" | sed "s/^/$node /"
    job=$((job + 1))
  done >events
  python3 -c '
import sys
begin, end, tries = {}, {}, {}
for node, at, what in (line.split()[:3] for line in open("events")):
    if what == "claimed": begin[node] = at; tries[node] = tries.get(node, 0) + 1
    if what == "ended": end[node] = at
assert all(begin[child] >= end[parent] for parent, child in sys.argv[1].split()), (begin, end)
assert all(count == 1 for count in tries.values()), tries' "$pairs"
}
holds "nobody began before those that it waits for had ended" in_order "AB AC BD CD" 1 A B C D
run "$berth" dag
says "what is over is under way no more" 0 '' 'berth: no workflow is under way; *'
run "$berth" submit "$examples/diamond.ad"
holds "the same as ads is a workflow by berth submit too" [ "$status" = 0 ]
run "$berth" wait 5-8 --timeout 60
holds "and ends well" [ "$status" = 0 ]

# ------------------------------------------------------------------------------------- failures, retries and rescue

# B fails in its first three tries.
cat >b.ad <<'AD'
[ Cmd = "sh"; Args = { "-c", "echo try $BERTH_TRY of $BERTH_NODE; test $BERTH_TRY -gt 3" }; Outputs = {} ]
AD
printf 'JOB A a.ad\nJOB B b.ad\nJOB C a.ad\nJOB D a.ad\nPARENT A CHILD B\nPARENT B CHILD C D\nRETRY B 1\n' >fail.dag
run "$berth" dag submit fail.dag
says "a workflow with a node that fails" 0 'workflow 9 submitted: 4 jobs, 9-12' ''
run "$berth" wait 9-12 --timeout 60
says "to wait for it ends when nothing moves any more" 1 '' 'berth: job 10: Failed (exit 1)
berth: job 11: waits for B, which failed
berth: job 12: waits for B, which failed
berth: the rest of them wait for nodes that failed or are held: *'
holds "it was tried twice, and those behind it wait" nodes 9 \
  "node['A']['status'] == 0 and node['B']['status'] == 1 and node['C']['state'] == node['D']['state'] == 'Blocked'"
holds "in all of two tries" sh -c "'$berth' job 10 --json 2>/dev/null | grep -q '\"Tries\": *2' || '$berth' jobs 10 --format Tries | grep -qx 2"
run "$berth" jobs
holds "jobs has a line of progress" grep -qx 'workflow 9 (fail.dag): 1 of 4 done, 1 failed, 2 wait' out
holds "the list of workflows counts its jobs" listed dag "len(rows) == 1 and (rows[0]['id'], rows[0]['jobs'], rows[0]['done'],
  rows[0]['failed'], rows[0]['blocked'], rows[0]['name']) == (9, 4, 1, 1, 2, 'fail.dag')"
run "$berth" jobs --all
holds "and says whom they wait for" grep -q '^11  Blocked .* waits for B, which failed  true' out
run "$berth" why 11
holds "so does why" grep -qx 'job 11 waits for B, which failed: no machine is asked for before that is done. Then:' out
run "$berth" dag rescue 9 --file rest.dag
holds "what is done can be written to a file" sh -c "[ $status = 0 ] && grep -qx 'DONE A' rest.dag && ! grep -qx 'DONE B' rest.dag"
run "$berth" dag submit fail.dag rest.dag --dry-run
holds "with which the rest can be submitted elsewhere" sh -c "[ $status = 0 ] && [ \$(wc -l <out) = 3 ] && ! grep -q 'Node = \"A\"' out"
run "$berth" dag rescue 9
says "what failed is rescued" 0 '1 job of workflow 9 waits again' ''
run "$berth" wait 9-12 --timeout 60
holds "and goes on from there to its end" [ "$status" = 0 ]
holds "its log says so" sh -c "'$berth' logs 10 --events | grep -q ' waits again: rescued$'"
holds "nothing that was done was repeated" soon sh -c "[ \"\$('$berth' history -c 'Workflow == 9 && Node == \"A\"' --format Tries)\" = 1 ]"
run "$berth" dag rescue 9
says "what is over cannot be rescued" 1 '' 'berth: workflow 9 has no job that can be rescued; *'

# ----------------------------------------------------------------------------------------- commands before and after

cat >stages.ad <<'AD'
[ Node = "bad-pre"; Cmd = "echo"; Args = { "ran" }; Pre = { "sh", "-c", "exit 5" }; Outputs = {} ]
[ Node = "good-post"; Cmd = "sh"; Args = { "-c", "exit 3" }; Post = { "sh", "-c", "echo it was $RETURN and $1", "x", "$RETURN" }; Outputs = {} ]
[ Node = "bad-post"; Cmd = "true"; Post = { "sh", "-c", "exit 6" }; Outputs = {} ]
[ Node = "killed"; Cmd = "sh"; Args = { "-c", "kill -9 $$" }; Post = { "sh", "-c", "echo status $RETURN" }; Outputs = {} ]
[ Node = "words"; Cmd = "printf"; Args = { "%s|", "a b", "", "$RETURN", "$(id)" }; Pre = { "printf", "%s|", "*", "; true" };
  Post = { "printf", "%s|", "c d", "$RETURN", "$HOME" }; Outputs = {} ]
[ Node = "behind"; After = { "good-post", "killed, words" }; Cmd = "true"; Outputs = {} ]
AD
run "$berth" dag submit stages.ad
says "commands before and after" 0 'workflow 13 submitted: 6 jobs, 13-18' ''
run "$berth" wait 13-18 --timeout 60
holds "not all of it ends well" [ "$status" = 1 ]
holds "where the command before fails the node fails, with its status" nodes 13 "node['bad-pre']['status'] == 5"
holds "and its error output says so" sh -c \
  "'$berth' logs --err 13 | grep -qx 'berth: the command before the program ended with status 5'"
holds "and the program is not run" sh -c "! '$berth' logs 13 | grep -q ran"
holds "the command after decides: well" nodes 13 "node['good-post']['status'] == 0"
holds "it is told the program's status, as a word and as a variable" sh -c "'$berth' logs 14 | grep -qx 'it was 3 and 3'"
holds "or badly" nodes 13 "node['bad-post']['status'] == 6"
holds "a signal is told as its number, with a minus" sh -c "'$berth' logs 16 | grep -qx 'status -9'"
holds "words are words, and no shell reads them" \
  sh -c "[ \"\$('$berth' logs 17)\" = '*|; true|a b||\$RETURN|\$(id)|c d|0|\$HOME|' ]"
holds "who waits for those that ended well has run" nodes 13 "node['behind']['status'] == 0"
run "$berth" dag rm 13
says "what failed can be dismissed" 0 '2 jobs of workflow 13 removed' ''
holds "then the workflow is over" soon listed dag "not rows"

# ---------------------------------------------------------------------------------------------- a parent that is removed

printf 'JOB A sleep.ad\nJOB B a.ad\nPARENT A CHILD B\n' >removed.dag
echo '[ Cmd = "sleep"; Args = { "60" }; Outputs = {} ]' >sleep.ad
run "$berth" dag submit removed.dag
says "one whose first node takes long" 0 'workflow 19 submitted: 2 jobs, 19-20' ''
run "$berth" rm 19
holds "a parent is removed: its child stays, and says so" soon nodes 19 \
  "node['B']['state'] == 'Blocked' and node['B']['why'] == 'waits for A, which was removed'"
run "$berth" dag rm 19
says "all that is left is removed with the workflow" 0 '1 job of workflow 19 removed' ''

# -------------------------------------------------------------------------------------------- the customer is killed

cat >long.ad <<'AD'
[ Node = "A"; Cmd = "sleep"; Args = { "1" }; Outputs = {} ]
[ Node = "B"; After = { "A" }; Cmd = "sh"; Args = { "-c", "trap 'echo B; exit 0' USR1; while :; do sleep 0.1; done" }; Outputs = {} ]
[ Node = "C"; After = { "B" }; Cmd = "sh"; Args = { "-c", "trap 'echo C; exit 0' USR1; while :; do sleep 0.1; done" }; Outputs = {} ]
[ Node = "D"; After = { "C" }; Cmd = "sh"; Args = { "-c", "echo D" }; Outputs = {} ]
AD
customer_pid() { ps -o pid=,args= --ppid "$pool" | awk '/berth customer/ { print $1 }'; }
run "$berth" dag submit long.ad
says "one that takes a while" 0 'workflow 21 submitted: 4 jobs, 21-24' ''
id=21
for node in B C; do
  id=$((id + 1)) # each runs until it is told to end
  holds "$node runs" soon nodes 21 "node['$node']['state'] == 'Running'"
  old=$(customer_pid)
  kill -KILL "$old"
  holds "its customer is killed, and comes back" soon sh -c "
    now=\$(ps -o pid=,args= --ppid $pool | awk '/berth customer/ { print \$1 }')
    [ -n \"\$now\" ] && [ \"\$now\" != $old ] && '$berth' dag"
  run "$berth" job $id signal USR1 --wait 60s
  says "$node is told to end" 0 "signal USR1 was sent to job $id" ''
done
run "$berth" wait 21-24 --timeout 90
holds "the workflow goes on to its end" [ "$status" = 0 ]
holds "in order, each node once" in_order "AB BC CD" 21 A B C D

# ---------------------------------------------------------------------------------------------- files from node to node

cat >files.ad <<'AD'
[ Node = "A"; Cmd = "sh"; Args = { "-c", "echo of A >a.txt; sleep 1" }; Outputs = { "a.txt" } ]
[ Node = "B"; Cmd = "sh"; Args = { "-c", "head -c 3000000 /dev/zero >b.bin; echo of B >sub" }; Outputs = { "b.bin", "sub" } ]
[ Node = "C"; After = { "A", "B" }; NodeInputs = { "A:a.txt", "B:b.bin" }; Inputs = { "mine.txt" };
  Cmd = "sh"; Args = { "-c", "cat a.txt mine.txt; wc -c <b.bin; test ! -e sub" }; Outputs = {} ]
AD
echo mine >mine.txt
run "$berth" dag submit files.ad
says "a node reads what others make" 0 'workflow 25 submitted: 3 jobs, 25-27' ''
run "$berth" wait 25-27 --timeout 60
holds "it ends well, without sub, which it did not ask for" [ "$status" = 0 ]
holds "it finds their files beside its own, and no others" \
  sh -c "[ \"\$('$berth' logs 27 | tr '\n' ,)\" = 'of A,mine,3000000,' ]"
holds "which have come to the folder as well" grep -qx 'of A' a.txt
printf '[ Node = "A"; Cmd = "true" ]\n[ Node = "B"; NodeInputs = { "A:x" }; Cmd = "true" ]\n' >stranger.ad
run "$berth" dag submit stranger.ad
says "files come only from those that it waits for" 2 '' "berth: stranger.ad:2: NodeInputs: 'A' is not among those in After"

# ------------------------------------------------------------------------------------------------------------ warnings

cat >warned.ad <<'AD'
[ Node = "W"; Cmd = "sh"; Args = { "-c", "trap 'echo warned; exit 0' TERM; echo up; while :; do sleep 0.1; done" };
  Pre = { "true" }; Outputs = {} ]
AD
run "$berth" dag submit warned.ad
says "a program that has a command before it" 0 'workflow 28 submitted: 1 job, 28' ''
holds "runs" soon sh -c "'$berth' logs 28 | grep -qx up"
run "$berth" rm 28
holds "and is warned itself when it has to go" soon sh -c "'$berth' logs 28 | grep -qx warned"

kill "$pool"
wait "$pool"
holds "the pool ends well" [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
