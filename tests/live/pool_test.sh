#!/bin/sh
# pool_test.sh: `berth pool` as a user has it: one command, then jobs in real sandboxes, and a role that dies. Prints TAP.
#
#     JOBS=5000 BERTH=build/berth BERTH_SOURCE=. tests/live/pool_test.sh        the figures of docs/performance.md
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
jobs=${JOBS:-200}
. "$BERTH_SOURCE/tests/common/says.sh"
state=$work/state
milliseconds() { date +%s%3N; }
# soon SECONDS COMMAND...: it succeeds within that time.
soon() {
  tries=$(($1 * 20))
  shift
  while [ $tries -gt 0 ]; do
    "$@" >/dev/null 2>&1 && return 0
    tries=$((tries - 1))
    sleep 0.05
  done
  return 1
}

began=$(milliseconds)
"$berth" pool --listen 127.0.0.1:0 >up 2>pool.err &
pool=$!
pids=$pool
holds 'a pool of all roles is up by one command, with no configuration' soon 20 grep -q 'To end it' up
echo "# after $(($(milliseconds) - began)) ms"
machine_is_there() { [ -n "$("$berth" ads --json)" ]; }
holds 'and this machine offers itself' soon 20 machine_is_there
run "$berth" run -- sh -c 'echo to a user; echo to an operator >&2; exit 3'
expect 'a command runs as if it ran here: its output, its errors, its status' 3 'to a user' 'to an operator'

run "$berth" run -- sh -c 'echo $SHELL $HOME $PWD'
expect 'a job has a shell and a home' 0 '/bin/sh /job /job'
run "$berth" run -c 0.5 -m 0.1GB --disk 64MB -- sh -c 'echo $BERTH_CPUS'
expect 'a job may ask for half a processor, and for amounts as people write them' 0 0.5
holds 'of a short job it is known when it started' sh -c '"$1" job 1 | grep -q "^  started  *20" && "$1" job 1 --json | grep -q "\"WallUsed\": 0[.][0-9]"' sh "$berth"
printf '[ Cmd = "/bin/sleep"; Args = { "600" }; RequestMemory = 16M; RequestDisk = 16M ]' >long.ad
run "$berth" submit long.ad
long=$(sed 's/.*: //' out)
holds 'of one that runs, for how long it has' soon 20 sh -c '"$1" job "$2" | grep -q "^  wall time  *[1-9][0-9]*s$"' sh "$berth" "$long"
run "$berth" claims
holds 'claims have the numbers of jobs, and those that live come first' \
  sh -c 'sed -n 2p out | grep -q "^[0-9a-f]*  *$1  .* active " && sed -n 3p out | grep -q "^[0-9a-f]*  *[1-9].* over "' sh "$long"
run "$berth" matches --json
json 'so do matches' 0 'rows[0]["job"] == '"$long"' and len([row for row in rows if row["job"] is not None]) > 1'
run "$berth" rm "$long"
run "$berth" run -e ASAN_OPTIONS=detect_leaks=0 "$berth" config Lease # in a sandbox leaks cannot be looked for
expect 'berth runs in a job: the variables of jobs are known to it' 0 "$("$berth" config Lease)"

# What a command takes along: its standard input ...
along() { # COMMAND...: as `run`, with our standard input
  timeout 20 "$@" >out 2>err
  status=$?
}
printf 'hi\n' >hi
cat hi | timeout 20 "$berth" run -- cat >out 2>err
status=$?
expect 'standard input is read' 0 hi
along "$berth" run cat <hi
expect 'from a file too' 0 hi
along "$berth" run -- echo fine <&-
expect 'one that is closed is as good as an empty one' 0 fine
printf 'one\ntwo\n' >lines
while read -r line; do timeout 20 "$berth" run -- sh -c 'echo $1 and $(wc -l)' sh "$line"; done <lines >out 2>err
status=$?
expect 'a loop that reads lines of a file goes on with its next line' 0 'one and 1
two and 0'
sleep 4 | timeout 20 "$berth" run -- echo fine >out 2>err
status=$?
expect 'who sends nothing and does not end is told what is waited for' 0 fine \
  'berth: standard input is read to its end first, and nothing comes; < /dev/null gives the command none'
along "$berth" run -- true </dev/zero
expect 'there is a limit to it' 2 '' \
  'berth: standard input: it is more than 256 MiB; send it as a file, with -i, or nothing, with < /dev/null'

# ... and files that its arguments name.
mkdir -p along/folder && cd along || exit 1
echo 'cat "$@"' >show.sh
echo numbers >numbers.txt
echo inside >folder/inside
run "$berth" run sh show.sh numbers.txt ./folder/inside
expect 'files that arguments name are sent along' 0 'numbers
inside'
run "$berth" run -v -- sh show.sh numbers.txt
expect 'that is told with -v' 0 numbers 'berth: show.sh is sent along, 9 bytes
berth: numbers.txt is sent along, 8 bytes'
run "$berth" run -- ls folder
says 'of a folder a command that failed is told the option' 2 '' "ls: *
berth: 'folder' is a folder here, which the job does not get: -i folder sends it along"
run "$berth" run -i folder -- ls folder
expect 'with which it is there' 0 inside
run "$berth" run -- cat ../hi
says 'and of a file elsewhere how it is called then' 1 '' "cat: *
berth: '../hi' is a file here, which the job does not get: -i ../hi sends it along, as hi"
echo old >result
run "$berth" run -- sh -c 'echo new >"$1"' sh result
holds 'what was sent along and has changed comes beside it, and nothing else does' sh -c \
  '[ "$(cat result result.[0-9]*)" = "old
new" ] && [ "$(ls | grep -c "[.][0-9]")" = 1 ]'

run "$berth" run -m 100MiB -- python3 -c 'import time; held = bytearray(300 << 20); time.sleep(20)'
says 'a job that takes too much memory says how much, and how much it may have' 137 '' 'berth: job [0-9]*: Out of memory (used [123][0-9][0-9] of 100 MiB)'
limited=$(sed -n 's/^berth: job \([0-9]*\): Out of memory.*/\1/p' err)
limit_told() { "$berth" jobs "$limited" >out && grep -q "^ *$limited  Out of memory (used [123][0-9][0-9] of 100 MiB)  " out; }
holds 'the list of jobs as well' limit_told
run "$berth" jobs "$limited" --format 'Outcome Status'
expect 'its status is that of a job that was killed' 0 'OutOfMemory -9'
run "$berth" run no-such-program
expect 'a program that is not there is told, as a shell tells it' 127 '' 'berth: no-such-program: the machine does not have this program'
echo : >here && chmod +x here
run "$berth" run here
expect 'one that is here without a slash is told as well' 127 '' 'berth: here: the machine does not have this program
berth: there is a file here here: ./here sends it along'
printf '#!/no/such/interpreter\n' >odd && chmod +x odd
run "$berth" run ./odd
expect 'and so is a script without its interpreter' 127 '' \
  "berth: ./odd: './odd' could not be started: No such file or directory (its first line asks for /no/such/interpreter, which the machine does not have)"
printf '#!/bin/sh\r\necho hi\r\n' >dos && chmod +x dos
run "$berth" run ./dos
expect 'one with lines as on Windows is told how it is mended' 127 '' \
  "berth: ./dos: './dos' could not be started: No such file or directory (its lines end as on Windows, with a carriage return: sed -i 's/\\r\$//' mends it)"
chmod -x dos
run "$berth" run ./dos
expect 'a file that is not executable is not even sent, and the status is the one that shells have for it' 126 '' \
  'berth: ./dos: it cannot be executed; chmod +x makes it so'
mkdir dir
run "$berth" run ./dir
expect 'neither is a folder' 126 '' 'berth: ./dir: it is a folder, and no program'
run "$berth" run ./none
expect 'a file that is not there has the other status of shells' 127 '' 'berth: ./none: No such file or directory'
run "$berth" run -- ./none/none
expect 'so does one in a folder that is not there' 127 '' 'berth: ./none/none: No such file or directory'
run "$berth" run /usr/bin/no-such-program
expect 'and a path that only the machine can look at' 127 '' 'berth: /usr/bin/no-such-program: the machine does not have this program, or what it needs to start, such as an interpreter'
run "$berth" run /usr/bin
says 'of which it may say that this is no program' 126 '' "berth: /usr/bin: '/usr/bin' could not be started: Permission denied"
printf '#!/etc\n' >etc && chmod +x etc
run "$berth" run ./etc
says 'or that its interpreter is none' 126 '' "berth: ./etc: './etc' could not be started: Permission denied*"
echo 'echo "no first line"' >bare && chmod +x bare
run "$berth" run ./bare
expect 'a script without a first line runs in a shell' 0 'no first line'
holds 'nothing of them is left behind' listed jobs 'not [row for row in rows if row["state"] == "Held"]'

run env NUMBER=7 LETTER=b "$berth" run -e NUMBER -e LETTER=a -- sh -c 'echo $NUMBER $LETTER'
expect 'variables are carried along, with the value that they have here or another' 0 '7 a'
run "$berth" run -e NO_SUCH_VARIABLE -- true
says 'one that is not set is told' 2 '' 'berth: run: --env: the variable NO_SUCH_VARIABLE is not set here *'
run env NUMBER=7 LETTER=b "$berth" run --env-all -e LETTER=a -- sh -c 'echo $NUMBER $LETTER $HOME $BERTH_STATE'
expect 'or all of them, but for those that name places of this machine' 0 '7 a /job'
cd .. || exit 1

processors() { "$berth" ads --json | python3 -c 'import json, sys; print(max(json.loads(line)["Cpus"] for line in sys.stdin))'; }
"$berth" run -c "$(processors)" --name filler -- sleep 3 &
runs() { "$berth" jobs | grep -q 'filler.*Running\|Running.*filler\|Running.*sleep'; }
holds 'a job takes all of the machine' soon 10 runs
run "$berth" run -q -- echo fine
expect 'what another one waits for is not told with -q' 0 fine
wait $!

mkdir made
(cd made && "$berth" run -- sh -c 'echo seen; echo unseen >&2; echo brought > back; echo : > tool; chmod +x tool') >said 2>&1
holds 'what it makes comes here, as files that cannot be run, and nothing else' sh -c \
  'cd made && [ "$(ls | tr "\n" " ")" = "back tool " ] && [ "$(cat back)" = brought ] && [ ! -x tool ] && [ ! -x back ]'
mkdir named
(cd named && "$berth" run -o tool -o back -- sh -c 'echo brought > back; echo : > tool; chmod +x tool') >said 2>&1
holds 'what was named comes with what it may do' sh -c 'cd named && [ "$(cat back)" = brought ] && [ -x tool ] && [ ! -x back ]'

for n in 1 2 3; do # alone, in an idle pool
  sleep 1
  began=$(milliseconds)
  run "$berth" run -- true
  echo "# a single job: $(($(milliseconds) - began)) ms from the command to its end, with its output"
done
cat >true.ad <<END
[ Cmd = "/bin/true"; Outputs = {}; Count = $jobs; RequestMemory = 16M; RequestDisk = 1M ]
END
began=$(milliseconds)
run "$berth" submit --force true.ad
says "$jobs jobs are submitted" 0 "$jobs jobs submitted: *" ''
timeout $((60 + jobs / 20)) "$berth" wait "$(sed 's/.*: //' out)" >out 2>err
status=$?
expect 'and all of them are done, well' 0 ''
took=$(($(milliseconds) - began))
echo "# $jobs jobs of /bin/true in $took ms: $((jobs * 1000 / took)) a second"

# Where the time of jobs goes, in a pool of its own.
env -u BERTH_STATE timeout 120 "$berth" bench jobs --slots 2 --count 40 >out 2>err
status=$?
cat >steps.py <<'END'
import json, sys
rows = [json.loads(line) for line in sys.stdin]
jobs = [row for row in rows if row["name"] == "jobs"]
steps = [row for row in rows if row["name"] == "jobs-step"]
assert [row["step"] for row in steps] == "handed taken staged ordered made exited undone heard told durable acknowledged".split()
assert len(jobs) == 1 and jobs[0]["slots"] == 2 and jobs[0]["operations"] == 40, jobs
assert all(row["operations"] >= 30 and row["median_us"] > 0 for row in steps), steps
assert jobs[0]["customer_exchanges"] < 2, jobs  # a claim's next job takes one of them: its start
assert jobs[0]["customer_commits"] > 0 and jobs[0]["provider_rows"] > 0 and jobs[0]["customer_exchanges"] > 0, jobs
END
holds 'it is measured where the time of jobs goes, step by step' sh -c '[ "$1" = 0 ] && python3 steps.py <out' sh $status
[ "$status" = 0 ] && grep '"jobs"' out | sed 's/^/# /'

# What could be left of a job: launchers of claims that are over go within a moment.
no_launchers() { ! pgrep -f "launcher $state/provider/.*/[0-9a-f]{16}" >/dev/null; } # one without a claim waits for the next
holds 'nothing is left of them' soon 20 no_launchers

# Jobs of one claim get each other's folders, if nothing is left in them.
cat >next.ad <<'END'
[ Cmd = "/bin/sh"; Args = { "-c",
    "ls -A; stat -c %a . stdout; cat stderr; echo $BERTH_INDEX >&2; case $BERTH_INDEX in *[12]) ;; *3) chmod 755 . ;; *) mkdir -p a/b; :>a/b/c; chmod 0 a; esac" };
  Outputs = {}; Count = 12; RequestMemory = 16M; RequestDisk = 1M ]
END
run "$berth" submit --force next.ad
first=$(sed 's/.*: \([0-9]*\).*/\1/' out)
timeout 60 "$berth" wait "$(sed 's/.*: //' out)" >/dev/null
found_clean() {
  for index in 0 1 2 3 4 5 6 7 8 9 10 11; do
    [ "$("$berth" logs $((first + index)))" = "$(printf 'stderr\nstdout\n700\n600')" ] &&
      [ "$("$berth" logs --err $((first + index)))" = $index ] || return 1
  done
}
holds 'a job finds nothing of another that ran under the same claim, and each has its own logs' found_clean

cat >talk.ad <<'END'
[ Cmd = "/bin/sh"; Args = { "-c", "echo half way > $BERTH_STATUS; echo so far; while [ ! -e go ]; do sleep 0.1; done" };
  Outputs = {}; RequestMemory = 16M; RequestDisk = 1M ]
END
run "$berth" submit --force talk.ad
talk=$(sed 's/.*: //' out)
talks() { "$berth" job --long "$talk" | grep -q '^Message = "half way"$'; }
holds 'a job reports a line of status itself' soon 20 talks
writes() { [ "$("$berth" logs "$talk")" = 'so far' ]; }
holds 'and what it writes is seen while it runs' soon 20 writes
run "$berth" hold "$talk"
is_held() { [ "$("$berth" jobs "$talk" --json | sed -n 's/.*"state": "\([A-Za-z]*\)".*/\1/p')" = Held ]; }
holds 'a job that runs can be held' soon 20 is_held
# stood: its files are here, so it is known how long it ran, and that is what the list has.
stood() { listed "jobs $talk" "rows[0]['run_time'] is not None and '%.6g' % rows[0]['run_time'] == '%.6g' % $("$berth" job --long "$talk" | sed -n 's/^WallUsed = //p')"; }
holds 'it does not run on in the list' soon 20 stood
run "$berth" job "$talk"
holds 'and that is the first thing that is told of it' sh -c \
  '[ "$(sed -n "1s/ for .*//p" out)" = "Job '"$talk"': Held" ] && [ "$(sed -n 2p out)" = "  reason         held by its user" ]'
run "$berth" rm "$talk"

# begin LINE: a job, in an ad; its number is in $begun.
begin() {
  echo "[ $1; Outputs = {}; RequestMemory = 16M; RequestDisk = 1M ]" >begin.ad
  run "$berth" submit --force begin.ad
  begun=$(sed 's/.*: //' out)
}
# events PATTERN...: lines of its log, without their times, have these words one behind another; other lines may stand between them.
events() {
  "$berth" logs --events "$begun" | sed 's/^[^ ]* //' >events
  from=1
  for pattern; do
    line=$(tail -n +$from events | grep -n -m 1 -x -- "$pattern" | cut -d : -f 1)
    [ -n "$line" ] || return 1
    from=$((from + line))
  done
}
begin 'Cmd = "/no/such/program"; TransferExecutable = false'
not_set_up() {
  "$berth" job "$begun" >out
  [ "$(sed -n '1s/ for .*//p' out)" = "Job $begun: Held" ] && sed -n 2p out | grep -q '^  reason         the job could not be set up: .*/no/such/program'
}
holds 'of a job that could not be set up it is the first thing as well, with what stood in its way' soon 20 not_set_up
told_why() { events 'nothing more comes of this try' && events '[^ ]* says: .*/no/such/program.*' && events 'held: the job could not be set up.*' && ! grep 'all files are here' events; }
holds 'its log says what the machine said, in a line of its own' soon 20 told_why
run "$berth" release "$begun"
let_go() { events 'held: the job could not be set up.*' 'waits again: released' 'claimed .*, try 2)' 'held: .*'; }
holds 'and that it was released' soon 20 let_go
run "$berth" rm "$begun"
begin 'Cmd = "/bin/sh"; Args = { "-c", "case $BERTH_TRY in 1) exit 3 ;; 2) kill -9 $$ ;; 3) exec sleep 60 ;; esac" }; MaxRetries = 5; TimeLimit = 3'
tried() {
  events 'claimed .*, try 1)' 'tried again: try 1 failed with status 3' 'claimed .*, try 2)' 'tried again: try 2 failed by signal 9' 'claimed .*, try 3)' \
    "tried again: try 3 failed: the job's time was up" 'claimed .*, try 4)' 'ended with status 0' && [ "$(grep -c 'failed' events)" = 3 ]
}
holds 'of a job that is tried again, its log says how each try failed' soon 40 tried

mkdir -p state/provide && chmod 700 state/provide
"$berth" token create --subject licenses --scope 'ad:read ad:write claim' -o state/provide/token >/dev/null
echo '[ Type = "License"; App = "sim"; Constraint = other.Type == "Job" ]' >licenses.ad
curl -sSf --unix-socket state/matchmaker.sock -X PUT -H 'Content-Type: application/classad' \
  --data-binary '[ AgentName = "counter"; Grace = 7; Unprotected = true; Probes = { "/bin/true" } ]' http://x/v1/config/Agent >/dev/null
url=$(sed -n 's/^Berth pool is up: //p' up)
"$berth" provide --set "ConfigSources={\"$url/v1/config\"}" licenses.ad >provide.out 2>provide.err &
pids="$pids $!"
license_is_there() { "$berth" ads -c 'App == "sim"' --json | grep -q License; }
holds 'anything can be offered by a file of ads' soon 20 license_is_there
is_called() { "$berth" agents --json | grep -q '"name": "counter"'; }
holds 'an agent takes what its pool has configured for it' soon 20 is_called
holds 'and keeps it' grep -rq counter state/served
own() { grep -q "configured Unprotected .*only a machine's own" provide.err && grep -q 'configured Probes' provide.err; }
holds 'but not what gives the machine away' own

# guarded: of all that hold keys and tokens; what cannot be looked into belongs to root in /proc.
guarded() {
  for pid in $pool $(sed -n 's/.* process \([0-9]*\),.*/\1/p' up); do
    grep -q '^Max core file size  *0  *0 ' "/proc/$pid/limits" && [ "$(stat -c %u "/proc/$pid/environ")" = 0 ] || return 1
  done
  [ "$pid" != "$pool" ]
}
holds 'nobody looks into the memory of what holds keys, and it leaves no core file' guarded

# A customer whose token lets it serve others: their jobs run in their names.
(umask 077 && mkdir -p front/customer)
"$berth" token create --subject front --scope 'ad:read ad:write claim match job:submit job:own job:any serve' --lifetime 1d -o front/customer/token >/dev/null
"$berth" customer --state "$PWD/front" --set AgentName=front --set 'Networks={"127.0.0.0/8"}' >front.out 2>front.err &
pids="$pids $!"
bob=$("$berth" token create --subject bob --scope 'ad:read job:submit job:own' --lifetime 1d --no-delegation | sed -n 's/.*Token = "\([^"]*\)".*/\1/p')
as_bob() { curl -s -m 20 -H "Authorization: Bearer $bob" -H 'Accept: application/json' "$@"; }
front_is_there() { front=$(as_bob "$url/v1/desks" | sed -n 's/.*"Agent": *"\([0-9a-f]*\)".*/\1/p' | head -1) && [ -n "$front" ]; }
holds 'a customer that may serve others is there for them' soon 20 front_is_there
as_bob -H 'Content-Type: application/classad' -d '[Cmd="/bin/echo"; Args={"for bob"}; RequestCpus=1; RequestMemory=16M; RequestDisk=16M]' "$url/v1/desk/$front/jobs?force" >handed
# It is in the list for a moment after its end, and then in the history.
served() { { as_bob "$url/v1/desk/$front/jobs" && as_bob "$url/v1/desk/$front/history"; } | grep -q '"Owner": *"bob".*"Status": *0'; }
holds 'and the job of another user runs' soon 20 served

provider=$(sed -n 's/.*provider  *process \([0-9]*\),.*/\1/p' up)
kill -9 "$provider"
run "$berth" run -- echo again
expect 'a provider that dies is started again, and jobs go on' 0 again
echo '[ Cmd = "true"; Constraint = other.Type == "Machine" && other.Memory >= 100T ]' >never.ad
sleep 3
soon 20 machine_is_there
run "$berth" submit never.ad
holds 'what can never match is told at once, with the reason, and not submitted' sh -c \
  '[ '$status' = 1 ] && [ ! -s out ] && grep -q "^No offer satisfies other.Memory >= " err && grep -q -- "use --force" err'
run "$berth" run -- sleep 1000 &
sleep 1.5
kill "$pool"
wait "$pool"
holds 'a pool ends in order when it is told to' [ $? = 0 ]
holds 'and nothing went wrong in any of its processes' sh -c '! grep -q Sanitizer state/log/* provide.err'
pkill -f "launcher $state/provider"
holds 'a job that ran goes on under its launcher; told to end, that ends it' soon 20 no_launchers
echo "1..$count"
[ $failures = 0 ]
