#!/bin/sh
# jobs_cli_test.sh: the commands about jobs, against a pool of real processes: berth pool, and a provider that runs jobs (job_agent, the
# first argument). And what is said when there is no customer. Prints TAP.
set -u
berth=${BERTH:?the program}
agent=$(realpath "${1:?the provider}")
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

# soon COMMAND...: it succeeds within ten seconds.
soon() {
  for _ in $(seq 200); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.05
  done
  return 1
}

# told FILE PATTERN: one of its lines matches (grep).
told() { grep -q -- "$2" "$1"; }

# -------------------------------------------------------------------------------------------------- without a customer

for command in 'jobs' 'jobs 5-20' 'job 5' 'wait 5' 'rm 5' 'hold --all' 'release -c true' 'logs 5' 'logs -f 5' 'history' 'outputs 5' \
  'run -- true'; do
  # shellcheck disable=SC2086 # words
  run "$berth" $command
  expect "$command ends with 3 when there is no customer, and says how to start one" 3 '' \
    "berth: no customer runs here ($work/state/customer/customer.sock): is a customer running? \`berth pool\` starts one"
done
run "$berth" jobs --customer unix:"$work/none.sock"
expect 'a socket that was named is told' 3 '' \
  "berth: no customer runs there ($work/none.sock): is a customer running? \`berth pool\` starts one"
run env BERTH_CUSTOMER=http://127.0.0.1:1 "$berth" jobs
says 'the environment names one as well' 3 '' 'berth: http://127.0.0.1:1: *'
run "$berth" jobs --customer nowhere
says 'a customer is at an address of http, https or unix' 2 '' 'berth: --customer: *'

# ---------------------------------------------------------------------------------------------------------- wrong usage

for words in 0 x 5- -- 5-3 5,,6 1.5 99999999999999999999; do
  [ "$words" = -- ] && continue
  run "$berth" jobs "$words"
  expect "'$words' is not a job number" 2 '' "berth: '$words' is not a job number: 5, 5-20 and 5,7,9 are"
done
run "$berth" rm
expect 'rm is told which jobs' 2 '' 'berth: rm wants one of: job numbers, --constraint EXPR, --user NAME, --all'
run "$berth" rm 5 --all
expect 'in one way' 2 '' 'berth: rm wants one of: job numbers, --constraint EXPR, --user NAME, --all'
run "$berth" wait
expect 'wait is told which jobs' 2 '' 'berth: wait wants job numbers'
run "$berth" job 5 6
expect 'job is about one' 2 '' 'berth: job wants one job number'
run "$berth" logs x
expect 'logs as well' 2 '' "berth: 'x' is not a job number"
run "$berth" run
expect 'run wants a command' 2 '' 'berth: run wants a COMMAND, behind its own options'
run "$berth" run -m lots -- true
says 'an amount is one' 2 '' "berth: run: --memory: expected an amount such as 512MiB or 2GiB, got 'lots' *"
run "$berth" run -t soon -- true
says 'a span is one' 2 '' "berth: run: --time: expected a span such as 90s, 30min, 12h or 7d, got 'soon' *"
run "$berth" run -e 1A=x -- true
says 'a variable has a name' 2 '' "berth: run: --env: expected NAME=VALUE or NAME, got '1A=x' *"
run "$berth" jobs --watch --json
expect 'what is watched is a table' 2 '' 'berth: --watch shows a table: --json and --long do not go with it'
run "$berth" submit
expect 'submit wants files' 2 '' 'berth: submit wants FILEs with the ads of jobs; - is standard input'
run "$berth" submit --key a/b job.ad
says 'a key is visible' 2 '' "berth: submit: --key: expected up to 48 visible characters without '/', got 'a/b' *"
run "$berth" join xyz
expect 'a code that is none is refused' 2 '' 'berth: a join code begins with berth-'
run "$berth" join
expect 'join wants a code' 2 '' 'berth: join wants one CODE, as `berth token code` prints it, or --code-file FILE'
run "$berth" pool now
expect 'pool takes no words' 2 '' 'berth: pool takes no arguments, only options'

# ------------------------------------------------------------------------------------------- ads, as they would be sent

mkdir -p project/tables
printf '#!/bin/sh\necho from the program "$@"\ncat data.csv\n' >project/fit
chmod +x project/fit
printf '1,2\n' >project/data.csv
printf 'x\n' >project/tables/b
printf 'x\n' >project/tables/a
cat >project/job.ad <<'AD'
[ Cmd = "./fit"; Args = { "a", "b c" }; Inputs = { "data.csv", "tables" }; Constraint = other.Memory >= RequestMemory; Rank = 0;
  RequestMemory = 1000; RequestDisk = 2000; ImageSize = 1; Count = 3 ]
AD
hash() { b2sum -l 256 "project/$1" | cut -d ' ' -f 1; } # by another program
run "$berth" submit --dry-run project/job.ad
expect 'inputs are found from the folder of the file, folders opened, the program carried along' 0 \
  '[ Cmd = "./fit"; Args = { "a", "b c" }; Inputs = { [ Name = "data.csv"; Hash = "'"$(hash data.csv)"'"; Size = 4; Mode = 420 ], [ Name = "tables/a"; Hash = "'"$(hash tables/a)"'"; Size = 2; Mode = 420 ], [ Name = "tables/b"; Hash = "'"$(hash tables/b)"'"; Size = 2; Mode = 420 ], [ Name = "fit"; Hash = "'"$(hash fit)"'"; Size = '"$(wc -c <project/fit)"'; Mode = 493 ] }; Constraint = other.Memory >= RequestMemory; Rank = 0; RequestMemory = 1000; RequestDisk = 2000; ImageSize = 1; Count = 3; Type = "Job"; RequestCpus = 1; Iwd = "'"$work"'" ]'
echo '[ Cmd = "true" ]' >plain.ad
run "$berth" submit --dry-run --json plain.ad
json 'what an ad does not say is filled in, for machines like this one' 0 \
  '(rows[0]["Type"] == "Job" and rows[0]["RequestCpus"] == 1 and 0 < rows[0]["RequestMemory"] <= 2**29 and 0 < rows[0]["RequestDisk"] <= 2**30
  and rows[0]["Iwd"] == "'"$work"'" and rows[0]["ImageSize"] > 0 and "Inputs" not in rows[0] and "Owner" not in rows[0]
  and ("other.Arch == \"'"$(uname -m | tr '[:lower:]' '[:upper:]')"'\"") in rows[0]["Constraint"]
  and "other.Memory >= RequestMemory" in rows[0]["Constraint"] and "LoadAvg" in rows[0]["Rank"])'
run "$berth" submit --dry-run --json --customer http://127.0.0.1:1 plain.ad
json 'a customer elsewhere is told no folder of this machine' 0 '"Iwd" not in rows[0]'
mkdir elsewhere && cp /bin/sh elsewhere/shell
echo '[ Cmd = "'"$work"'/elsewhere/shell"; In = "project/data.csv" ]' >outside.ad
run "$berth" submit --dry-run --json outside.ad
json 'a program from elsewhere is called by the last part of its name' 0 \
  'rows[0]["Cmd"] == "./shell" and [i["Name"] for i in rows[0]["Inputs"]] == ["shell", "project/data.csv"] and rows[0]["In"] == "project/data.csv"'
echo '[ Cmd = "/bin/sh" ]' >common.ad
run "$berth" submit --dry-run --json common.ad
json 'one that every machine has is not carried along' 0 'rows[0]["Cmd"] == "/bin/sh" and "Inputs" not in rows[0]'
timeout 20 "$berth" submit --dry-run --cwd project --json - <project/job.ad >out 2>err
status=$?
json 'ads come from standard input too, with their inputs from another folder' 0 'len(rows[0]["Inputs"]) == 4'
echo '[ Cmd = "true"; Inputs = { "none.csv" } ]' >missing.ad
run "$berth" submit --dry-run missing.ad
expect 'an input that is not there is told with its place' 2 '' 'berth: missing.ad:1: none.csv: No such file or directory'
echo '[ Args = "x" ]' >none.ad
run "$berth" submit --dry-run none.ad
expect 'a job runs something' 2 '' 'berth: none.ad:1: Cmd: expected the name of a program'
cp project/data.csv plainfile
echo '[ Cmd = "./plainfile" ]' >noexec.ad
run "$berth" submit --dry-run noexec.ad
says 'and that can be executed' 2 '' 'berth: noexec.ad:1: *plainfile: it cannot be executed; chmod +x makes it so'

# ------------------------------------------------------------------------------------------------------------- the pool

: >up
"$berth" pool --no-provider --listen 127.0.0.1:0 --state "$work/state" --set Window=1 --set Deadline=1 >up 2>pool.err &
pool=$!
pids="$pids $pool"
soon told up 'To end it'
holds 'the pool says that it is up, and what to type next' told up 'berth run -- hostname'
run "$berth" pool --no-provider --state "$work/state"
expect 'a second one with the same state is refused, and told the process of the first' 2 '' \
  "berth: another pool runs with the state folder $work/state: its process is $pool"
matchmaker=$(sed -n 's/^  matchmaker *process \([0-9]*\),.*/\1/p' up)
holds 'its processes have logs' [ -s state/log/matchmaker.log ]
code=$("$berth" token code)
run "$berth" join --only --name heron --state "$work/joined" "$code"
says 'a machine joins by a code' 0 'This machine has joined the pool at * as machine/heron.
Its token is '"$work"'/joined/provider/token
To offer it there: berth provider *
To offer licences: berth provide *' ''
run "$berth" token show joined/provider/token
holds 'and has a token of its own' told out '^subject    machine/heron$'
run "$berth" join --only --name crane --state "$work/other" "$code"
expect 'once' 2 '' 'berth: the code was used by another'
: >tls.up
"$berth" matchmaker --listen 127.0.0.1:0 --state "$work/tls" --set Tls=on >tls.up 2>tls.log &
pids="$pids $!"
soon told tls.up 'listening at  unix'
code=$("$berth" token code --state "$work/tls")
run "$berth" join --only --name heron --state "$work/sure" "$code"
holds 'encrypted, the pool is known by the fingerprint in the code' told out 'joined the pool at https://127.0.0.1:'
run "$berth" status --token sure/provider/token
holds 'and its certificate is in the token file' told out 'https://127.0.0.1:'
code=$("$berth" token code --state "$work/tls")
run "$berth" join --only --name crane --state "$work/unsure" "$(printf '%.40sAAAAAAAA%s' "$code" "$(printf %s "$code" | cut -c 49-)")"
says 'somebody else at that address is sent nothing secret' 2 '' 'berth: https://127.0.0.1:*: this is not the pool that the code is of: *'
kill -9 "$matchmaker"
soon told pool.err 'the matchmaker was ended by signal 9; it is started again in 0.5 s'
soon "$berth" status
holds 'a process that was killed is started again' "$berth" status

if ! "$berth" help customer >/dev/null 2>&1; then
  kill "$pool"
  wait "$pool"
  holds 'the pool ends in order' [ $? = 0 ]
  echo "# this program has no customer: the rest is left out"
  echo "1..$count"
  [ $failures = 0 ]
  exit
fi

# ---------------------------------------------------------------------------------------------------------------- queue

holds 'the tokens that the processes need are made' [ -s state/customer/token ]
run "$berth" jobs
expect 'at first there are no jobs' 0 '0 jobs'
LD_DEBUG=files LD_DEBUG_OUTPUT=loaded "$berth" jobs >/dev/null
holds 'a command that asks loads none of the libraries with which others serve, store, encrypt and compute' \
  sh -c 'grep -q "libc\.so.*calling init\|calling init: .*libc\.so" loaded.* && ! grep "calling init" loaded.* | grep -E "lib(gnutls|microhttpd|sqlite3|curl|xml2|Clp|hwloc|gsl|edit|seccomp|zstd|z|cjose)\.so"'
rm -f loaded.*
run "$berth" submit project/job.ad
says 'jobs are submitted; that there is no machine yet is a warning' 0 '3 jobs submitted: 1-3' \
  'berth: the job waits for a machine: none has been heard of since the matchmaker began, [0-9]* s ago'
run "$berth" submit --json --key k1 project/job.ad plain.ad
json 'several ads at once' 0 'rows == [{"first": 4, "count": 3}, {"first": 7, "count": 1}]'
run "$berth" submit --key k1 --force project/job.ad plain.ad
expect 'the same key and the same jobs are the same submission' 0 '4 jobs submitted: 4-7'
run "$berth" submit --key k1 --force plain.ad
says 'the same key with others is refused' 2 '' 'berth: key: *'
run "$berth" jobs 2,6-7
sed -i 's/[0-9]*s  */NOW /' out
expect 'a table of jobs' 0 'ID  STATE    SUBMITTED  RUN_TIME  STATUS  WHERE  COMMAND
 2  Waiting  NOW ./fit a '\''b c'\''
 6  Waiting  NOW ./fit a '\''b c'\''
 7  Waiting  NOW true
3 jobs: 3 waiting'
run "$berth" jobs
expect 'jobs that were submitted together are one row' 0 'ID   WAITING  RUNNING  SUCCEEDED  PROGRESS         LEFT  COMMAND
1-3        3        0          0  ----------   0%        ./fit a '\''b c'\''
4-7        4        0          0  ----------   0%        ./fit a '\''b c'\''
7 jobs: 7 waiting'
run "$berth" jobs --all
holds 'and a row each if that is asked for' [ "$(grep -c '^ [1-7]  Waiting' out)$(tail -n 1 out)" = '77 jobs: 7 waiting' ]
run "$berth" jobs --only waiting
holds 'or if they are chosen by their state' [ "$(grep -c '^ [1-7]  Waiting' out)$status" = 70 ]
run "$berth" jobs --only held
expect 'of which there may be none' 1 '' 'berth: there is no such job'
run "$berth" jobs --only asleep
says 'states that there are not are told' 2 '' "berth: jobs: --only: expected Waiting, Blocked, Ready, Scheduled, Running, Held or Done, got 'asleep' *"
run "$berth" jobs --json
json 'as JSON they are always an object a job' 0 '[row["id"] for row in rows] == list(range(1, 8))'
run "$berth" jobs --submissions --json
json 'or an object a submission' 0 'rows == [dict(id=i, jobs=n, waiting=n, running=0, held=0, succeeded=0, failed=0, removed=0, started=None, estimate=None) for i, n in ((1, 3), (4, 4))]'
run "$berth" jobs --submissions 1-3
says 'which are not chosen by numbers' 2 '' 'berth: --submissions lists all of them: *'
run "$berth" jobs 7 --json
json 'as JSON, with seconds since 1970' 0 'rows[0]["id"] == 7 and rows[0]["command"] == "true" and rows[0]["submitted"] > 1.7e9'
run "$berth" jobs 7 --long
holds 'as ads' told out '^Job = 7$'
run "$berth" jobs 99
expect 'a job that is not there' 1 '' 'berth: there is no such job'
run "$berth" job 99
expect 'is told by its number' 1 '' 'berth: 99: there is no such job'
run "$berth" job 7
holds 'one job, with its log and why it waits' sh -c 'grep -q "^Job 7: Waiting" out && grep -q submitted out && grep -q "^job 7: waits for a machine: none has been heard of since the matchmaker began" out'
run "$berth" why 7
says 'why a job waits' 1 'job 7: waits for a machine: none has been heard of since the matchmaker began, [0-9]* s ago.' ''
run "$berth" hold 1-3 --why 'wrong data'
expect 'jobs are held' 0 '3 jobs held'
run "$berth" jobs -c 'State == "Held"' --json
json 'and found by what is true of them' 0 '[row["id"] for row in rows] == [1, 2, 3]'
run "$berth" hold 1
expect 'what is held cannot be held again' 1 '0 jobs held' 'berth: 1 job cannot be held as it is'
run "$berth" wait 1 --timeout 5
says 'a job that is held is not waited for' 1 '' 'berth: the rest of them are held: *'
run "$berth" release --all
expect 'they are released' 0 '3 jobs released'
run "$berth" wait 1 --timeout 1
expect 'waiting has an end' 1 '' 'berth: timed out: not all of them are over'
run "$berth" rm 1-3,4 50 --why gone
expect 'many are removed at once; those that are not there are told' 1 '4 jobs removed' \
  'berth: 1 job of those numbers does not exist'
run "$berth" wait 1-2
expect 'a job that was removed did not end well' 1 '' 'berth: job 1: Removed: gone
berth: job 2: Removed: gone'
run "$berth" rm --all --json
json 'all, and the rest as JSON' 0 'rows[0]["changed"] == 3'

# -------------------------------------------------------------------------------------------------------------- running

"$berth" token create --subject machine/crane --scope 'ad:read ad:write claim match' -o crane.token >/dev/null
"$berth" agents --json >agents
customer=$(sed -n 's/.*"name": "\([^"]*\.customer\)".*/\1/p' agents | head -n 1)
identity=$(sed -n 's/.*"identity": "\([^"]*\)", "name": "[^"]*\.customer".*/\1/p' agents | head -n 1)
url=$("$berth" status --long | sed -n 's/^Url = "\(.*\)"$/\1/p')
JOB_AGENT_EVIL=.ssh/authorized_keys:sub/thesis:data.txt:tool:.rc "$agent" crane machine/crane "$work/crane" crane.token "$identity" "$customer" "$url" >agent.log 2>&1 &
pids="$pids $!"
there() { "$berth" ads --kind offers --json | grep -q Machine; }
soon there
echo '[ Cmd = "true"; RequestMemory = 1024 * 1024 * 1024 * 1024 ]' >big.ad
run "$berth" submit big.ad
holds 'what no machine matches is refused, with the reason' sh -c '
  [ '$status' = 1 ] && [ ! -s out ] && grep -q "^No offer satisfies other.Memory >= RequestMemory" err &&
  grep -q "^berth: the job matches no machine of the pool, even when idle; nothing was submitted: use --force to submit it all the same, for one that comes later$" err'
run "$berth" submit --force big.ad
says 'unless it is forced' 0 '1 job submitted: 8' ''
run "$berth" rm 8
mkdir here
cd here || exit 1
run "$berth" run -- sh -c 'echo one; echo two >&2; echo three > out.txt; exit 7'
expect 'what a command writes is printed, and its status is ours' 7 one two
holds 'the files that it makes are here' [ "$(cat out.txt)" = three ]
run "$berth" run -i ../project/data.csv -- ../project/fit x 'y z'
expect 'a program of this machine is carried along, with its inputs' 0 'from the program x y z
1,2'
run "$berth" run sh -c 'echo "$@"' sh -q -t 3 -- --help
expect 'what stands behind the command is for the command, options too' 0 '-q -t 3 -- --help'
run "$berth" run -- sh -c 'kill -9 $$'
expect 'a signal is 128 and its number' 137 ''
run "$berth" run -- sh -c 'for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.05; done'
expect 'what comes bit by bit is printed once' 0 "$(seq -f 'line %g' 8)"
cd ..
: >stopped.out
"$berth" run -- sh -c 'echo begun; sleep 60' >stopped.out 2>stopped.err &
runs=$!
soon told stopped.out begun
kill -INT $runs
wait $runs
holds 'Ctrl-C ends it' [ $? = 130 ]
holds 'and removes the job' told stopped.err 'berth: job [0-9]* removed'
run "$berth" submit --json project/job.ad
first=$(sed -n 's/.*"first": \([0-9]*\).*/\1/p' out)
run "$berth" wait "$first-$((first + 2))"
expect 'jobs that end well are waited for' 0 ''
run "$berth" logs "$first"
expect 'what a job wrote' 0 'from the program a b c
1,2'
run "$berth" logs -f "$first"
expect 'also when it is followed to its end' 0 'from the program a b c
1,2'
run "$berth" logs --events "$first"
holds 'and what happened to it' sh -c 'grep -q "running on crane" out && grep -q "ended with status 0" out'
run "$berth" jobs "$first-$((first + 2))" --json
json 'a job that is over tells where it ran' 0 'len(rows) == 3 and all(row["where"] == "crane" and row["run_time"] is not None for row in rows)'
listed() { "$berth" history --json -c "Job == $first" | grep -q '"command": "./fit'; }
soon listed
holds 'then it is in the history' listed
run "$berth" job "$first"
holds 'where it can still be asked for' sh -c '[ '$status' = 0 ] && grep -q "  status         0" out'
holds 'how it ended stands first' sh -c '[ "$(sed -n 2,3p out)" = "  reason         the job ended
  status         0" ]'
# since: the seconds in the first line are those since its end, and there are some; also as JSON.
since() {
  "$berth" job "$first" >out || return
  heading=$(sed -n "s/^Job $first: Succeeded, \([1-9][0-9]* s\) ago$/\1/p" out) ended=$(sed -n 's/^  ended .*(\(.*\) ago)$/\1/p' out)
  [ -n "$heading" ] && [ "$heading" = "$ended" ] && listed_since
}
listed_since() { "$berth" job "$first" --json | python3 -c 'import json, sys, time; ad = json.load(sys.stdin); assert 1 <= ad["Since"] <= time.time() - ad["Ended"]'; }
holds 'it stands there since it ended, however soon after that it came there' soon since
run "$berth" history --json -c "Job == $first && Since >= 1 && Since < 600"
json 'and is found by that' 0 'len(rows) == 1'
run "$berth" history -c "Job == $first"
holds 'people read that it succeeded' grep -q "^ *$first  Succeeded " out
run "$berth" history --json -c "Job == $first && Outcome == \"Succeeded\" && ExitCode == 0"
json 'programs too, and its state is as it was' 0 'rows[0]["state"] == "Cleared" and rows[0]["outcome"] == "Succeeded" and rows[0]["status"] == 0'
(cd here && timeout 20 "$berth" run -- sh -c 'exit 3')
failed=$((first + 3))
run "$berth" wait "$failed"
expect 'wait says how a job ended that did not end well' 1 '' "berth: job $failed: Failed (exit 3)"
run "$berth" job "$failed"
holds 'and so does job' grep -q "^Job $failed: Failed (exit 3), [0-9]* s ago$" out
coloured() { env -u NO_COLOR TERM=xterm script -qec "'$berth' jobs $first,$failed" /dev/null >out && grep -q "$(printf '\033')\[32mSucceeded" out && grep -q "$(printf '\033')\[31mFailed (exit 3)" out; }
holds 'on a terminal success is green and failure red' coloured
plain() { NO_COLOR=1 TERM=xterm script -qec "'$berth' jobs $first,$failed" /dev/null >out && grep -q Succeeded out && ! grep -q "$(printf '\033')\[3[12]m" out; }
holds 'but not with NO_COLOR' plain

# ----------------------------------------------------------------------------------------------------------------- sweeps

# terminal COLUMNS LINES COMMAND: its output on a terminal of that size, in `out`, without colours and CRs.
terminal() { NO_COLOR=1 TERM=xterm timeout 60 script -qec "stty cols $1 rows $2; $3" /dev/null </dev/null >shown && tr -d '\r' <shown >out; }
# widest: of the lines of `out`.
widest() { awk '{ if (length($0) > w) w = length($0) } END { print w + 0 }' out; }

printf 'Wait,End\n0,0\n0,3\n60,0\n60,0\n60,0\n' >ends.csv
echo '[ Cmd = "sh"; Args = { "-c", "sleep $0; exit $1", Wait, End }; Outputs = {}; RequestMemory = 16M; RequestDisk = 1M ]' >ends.ad
run "$berth" submit ends.ad --table ends.csv --json
sweep=$(sed -n 's/.*"first": \([0-9]*\).*/\1/p;1q' out)
long=$(head -c 5000 /dev/zero | tr '\0' x)
run "$berth" submit --json plain.ad Cmd=sleep 'Args={ "60", "'$long'" }'
alone=$(sed -n 's/.*"first": \([0-9]*\).*/\1/p' out)
counts() {
  "$berth" jobs --submissions --json | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
sweep, alone = map(int, sys.argv[1:])
assert [(row["id"], row["jobs"], row["succeeded"], row["failed"], row["waiting"] + row["running"]) for row in rows] == [(sweep, 5, 1, 1, 3), (alone, 1, 0, 0, 1)]
assert rows[0]["started"] and rows[0]["estimate"] is not None' "$sweep" "$alone"
}
soon counts
holds 'a sweep counts its jobs, also those that are over' counts
run "$berth" jobs
holds 'a column of failures is there when there are some' grep -q '^ID  *WAITING  RUNNING  SUCCEEDED  FAILED  PROGRESS ' out
holds 'and how far it is, with about how much time is left' grep -q "^$sweep-$((sweep + 4))  *[0-3]  *[0-3]  *1  *1  ####------  40%  [0-9hms]*  *sh -c 'sleep" out
holds 'what was submitted alone is a row as ever' grep -q "^$alone  [A-Z][a-z]*  " out
holds 'of which nothing is cut, for another program' grep -q "sleep 60 $long" out
for width in 120 80 50; do
  terminal $width 24 "'$berth' jobs"
  holds "on a terminal of $width columns the lines fit" [ "$(widest)" -le $width ]
done
terminal 100 24 "'$berth' jobs"
holds 'what is cut ends with dots' grep -q '^[0-9].*sleep 60 x*\.\.\.$' out
terminal 80 10 "(sleep 1; '$berth' rm $sweep-$alone >/dev/null) & '$berth' jobs --all --watch; echo status \$?"
python3 - >why 2>&1 <<'PYTHON'
pictures = open("out").read().split("\033[H\033[2J")[1:]
assert pictures and all(len(picture.split("\n")) <= 10 for picture in pictures[:-1]), pictures
assert pictures[-1].rstrip().endswith("status 0"), pictures[-1]
PYTHON
result $? '--watch fits the terminal, and ends when all is over'
last=$((alone + 1))
run "$berth" submit --json ends.ad Wait=1 End=0 Count=3
terminal 80 24 "'$berth' wait $last-$((last + 2)); echo status \$?"
holds 'wait shows on a terminal how far the jobs are' sh -c "grep -q '\[----------\]   0%: 0 of 3 over' out && grep -q 'status 0' out && ! grep -q '$(printf '\033')' out"
run "$berth" submit --json ends.ad Wait=1 End=0
run "$berth" wait $((last + 3))
expect 'and elsewhere nothing' 0 ''

run "$berth" outputs "$first"
says 'it left no outputs' 1 '' "berth: job $first: there are no outputs*"
rm -f here/out.txt
(cd here && exec timeout 20 "$berth" run -o out.txt -- sh -c 'echo again > out.txt')
run "$berth" outputs -o fetched "$((last + 4))"
holds 'outputs can be fetched once more' sh -c '[ '$status' = 0 ] && [ "$(cat fetched/out.txt)" = again ]'

# A provider that sends what it likes: names of its own, with mode 0755.
mkdir -p victim/.ssh victim/sub
for file in .ssh/authorized_keys sub/thesis data.txt; do echo mine >victim/$file; done
evil='mkdir -p .ssh sub; for f in .ssh/authorized_keys sub/thesis data.txt tool .rc; do echo evil >$f; chmod 755 $f; done'
(cd victim && exec timeout 20 "$berth" run -i data.txt -- sh -c "$evil")
fourth=$((last + 5))
mine() { [ "$(cat victim/.ssh/authorized_keys victim/sub/thesis victim/data.txt | sort -u)" = mine ]; }
holds 'a hostile provider replaces nothing in the folder where a job was submitted' mine
holds 'what it sends of what is there, inputs among it, lies beside it, and is not executable' [ "$(stat -c %a victim/data.txt.$fourth victim/sub/thesis.$fourth victim/tool | sort -u)" = 644 ]
holds 'and nothing of it is hidden' [ "$(find victim -name '.*' | sort | tr '\n' ' ')" = 'victim/.ssh ' ]
"$berth" logs --events "$fourth" >events
holds 'all that is told' [ "$(grep -c 'refused: \.\|it came as' events)" = 4 ]
(cd victim && exec timeout 20 "$berth" run -o out.x -i data.txt -- sh -c "$evil; echo fine >out.x")
holds 'of a job that names its outputs nothing else comes' [ "$(cat victim/out.x)$(ls victim | wc -l)" = fine5 ]
holds 'and all is as it was' mine

# Many that are alike.
store_size() { cat state/customer/berth.db* | wc -c; }
echo '[ Cmd = "true"; Count = 5000; RequestMemory = 1024 * 1024 * 1024 * 1024 ]' >alike.ad
before=$(store_size)
run "$berth" submit --force --json alike.ad
alike=$(sed -n 's/.*"first": \([0-9]*\).*/\1/p' out)
run "$berth" hold $((alike + 9))
run "$berth" jobs
holds 'thousands of jobs are a row' grep -q "^$alike-$((alike + 4999))  *4999 .* 1  *0  " out
run "$berth" rm "$((alike + 100))-$((alike + 4999))" --why 'wrong data'
expect 'thousands that wait are removed' 0 '4900 jobs removed'
holds 'which takes hardly any room' [ $(($(store_size) - before)) -lt 400000 ]
run "$berth" jobs -c "Job >= $alike" --json
json 'the others are there' 0 "[row['id'] for row in rows] == list(range($alike, $alike + 100))"
run "$berth" job $((alike + 3000))
holds 'each of those that were removed is known' sh -c 'grep -q "^Job '$((alike + 3000))': Removed" out && grep -q "wrong data" out'
run "$berth" history $((alike + 100)) $((alike + 4999)) --format 'Job Index State'
expect 'in the history as well' 0 "$((alike + 100)) 100 Cancelled
$((alike + 4999)) 4999 Cancelled"
run "$berth" wait $((alike + 4000))
expect 'and has not ended well' 1 '' "berth: job $((alike + 4000)): Removed: wrong data"
run "$berth" rm --all
holds 'all that are left are removed' grep -q '^[0-9]* jobs removed$' out
for _ in $(seq 600); do # one that was held is seen for a moment more
  run "$berth" jobs -c "Job >= $alike"
  [ "$status" = 0 ] || break
  sleep 0.1
done
expect 'then none is there' 1 '' 'berth: there is no such job'

kill "$pool"
wait "$pool"
holds 'the pool ends in order' [ $? = 0 ]
run "$berth" jobs
says 'and is not reached any more' 3 '' 'berth: no customer runs here *'

echo "1..$count"
[ $failures = 0 ]
