#!/bin/sh
# local_live_test.sh: jobs of the universes local and scheduler: they run on the submit host, beside their files, by the word of the kernel alone; and the
# customer is killed while one runs. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

export BERTH_RETRY=0.1
"$berth" pool --set LocalJobs=2 --set LocalJobsPerUser=2 --listen 127.0.0.1:0 >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
customer_pid() { ps -o pid=,args= --ppid "$pool" | awk '/berth customer/ { print $1 }'; }

# ------------------------------------------------------------------------------------------------------------ one job

mkdir run
cat >run/merge.sh <<'SH'
#!/bin/sh
cat
echo "in $(pwd) as $(id -u) with $GREETING: $*"
echo trouble >&2
touch made
exit ${STATUS:-0}
SH
chmod +x run/merge.sh
echo from the list >run/list
cat >local.sub <<'SUB'
universe = local
executable = run/merge.sh
arguments = "a 'b c'"
environment = "GREETING=hello"
initialdir = run
input = list
output = out.$(Process)
error = ../local.err
should_transfer_files = NO
queue 2
SUB
run "$berth" submit local.sub
holds "a job of the universe local is submitted" [ "$status" = 0 ]
run "$berth" wait 1-2 --timeout 60
holds "it ends well" [ "$status" = 0 ]
holds "it ran here, in its folder, with its arguments and environment" [ "$(cat run/out.1)" = "from the list
in $work/run as $(id -u) with hello: a b c" ]
holds "its error output lies where it says" grep -qx trouble local.err
holds "what it makes is there" test -f run/made
holds "no machine was asked" listed 'history' "all('provider' not in row or not row['provider'] for row in rows)"
printf 'universe = scheduler\nexecutable = run/merge.sh\nenvironment = "STATUS=3"\nmax_retries = 1\nqueue\n' >fails.sub
run "$berth" submit fails.sub
run "$berth" wait 3 --timeout 60
says "one that fails says so" 1 '' 'berth: job 3: Failed (exit 3)'
holds "it was tried as often as it says" [ "$("$berth" logs --events 3 | grep -c 'running on the submit host')" = 2 ]
printf '[ Universe = "local"; Cmd = "/nosuch/program"; Iwd = "%s" ]\n' "$work" >none.ad
run "$berth" submit none.ad
says "a program that there is not is told at once" 2 '' 'berth: none.ad:1: /nosuch/program: No such file or directory'
printf '[ Universe = "local"; Cmd = "sh"; Args = { "-c", "kill -9 $$" } ]\n' >killed.ad
run "$berth" submit killed.ad
run "$berth" wait 4 --timeout 60
says "one that was killed says so" 1 '' 'berth: job 4: Killed (signal 9)'
printf '[ Universe = "local"; Cmd = "sleep"; Args = { "600" }; TimeLimit = 1 ]\n' >late.ad
run "$berth" submit late.ad
run "$berth" wait 5 --timeout 60
says "its time is limited" 1 '' 'berth: job 5: Out of time'

# ---------------------------------------------------------------------------------------------------- several, and ends

printf 'universe = local\nexecutable = /bin/sleep\narguments = 600\nqueue 3\n' >sleep.sub
run "$berth" submit sleep.sub
holds "only so many run at once" soon listed 'jobs 6-8' "sorted(row['state'] for row in rows) == ['Running', 'Running', 'Waiting']"
run "$berth" rm 6
holds "one that is removed ends, and the next begins" soon listed 'jobs 7-8' "all(row['state'] == 'Running' for row in rows)"
holds "nothing of it is left" soon sh -c "[ \"\$(ps -e -o args= | grep -c '^/bin/sleep 600$')\" -le 2 ]"
run "$berth" hold 7
holds "one that is held ends as well" soon listed 'jobs 7' "rows[0]['state'] == 'Held'"
run "$berth" release 7
holds "and begins again when it is released" soon listed 'jobs 7' "rows[0]['state'] == 'Running'"
run "$berth" rm 7 8

mkfifo pipe
printf '[ Universe = "local"; Cmd = "/bin/cat"; In = "pipe" ]\n' >pipe.ad
run "$berth" submit pipe.ad
runner() { ps -o args= --ppid "$(customer_pid)" | grep -q ' user-runner '; }
holds "one that would read from a pipe to which nobody writes" soon runner
run "$berth" rm 9
unrun() { ! runner; }
holds "is ended when it is removed, though it has not begun" soon unrun
run "$berth" submit pipe.ad
holds "another" soon runner
run "$berth" hold 10
holds "is when it is held" soon unrun
run "$berth" rm 10
cat >run/many.sh <<'SH'
#!/bin/sh
i=0
while [ $i -lt 1500 ]; do sleep "$1" & i=$((i + 1)); done
SH
chmod +x run/many.sh
long=$((100000 + $$))
printf 'universe = local\nexecutable = run/many.sh\narguments = %s\ninitialdir = run\nqueue\n' $long >many.sub
run "$berth" submit many.sub
run "$berth" wait 11 --timeout 100
holds "of one that leaves very many processes behind nothing is left" sh -c "[ $status = 0 ] && ! ps -e -o args= | grep -q '^sleep $long\$'"

# --------------------------------------------------------------------------------------------- the customer is killed

cat >run/slow.sh <<'SH'
#!/bin/sh
echo begun >>begun
while [ ! -e go ]; do sleep 0.1; done
echo ended >>begun
SH
chmod +x run/slow.sh
printf 'universe = local\nexecutable = run/slow.sh\ninitialdir = run\nqueue\n' >slow.sub
run "$berth" submit slow.sub
holds "one that takes long runs" soon grep -q begun run/begun
old=$(customer_pid)
kill -KILL "$old"
holds "its customer is killed, and the job begins anew" soon sh -c "[ \"\$(grep -c begun run/begun)\" = 2 ]"
touch run/go
run "$berth" wait 12 --timeout 60
holds "it ends well, once" sh -c "[ $status = 0 ] && [ \"\$(grep -c ended run/begun)\" = 1 ]"
kill -KILL "$(customer_pid)"
holds "when the customer is killed after that" soon "$berth" jobs
holds "what has ended is not repeated" [ "$(grep -c begun run/begun)" = 2 ]

# -------------------------------------------------------------------------------------------------------------- the door

url=$(sed -n 's/^.*\(http:\/\/[0-9.:]*\).*$/\1/p' up | head -n 1)
desk=$("$berth" agents -c 'Role == "customer"' --json | sed -n 's/.*"agent": "\([0-9a-f]*\)".*/\1/p')
bearer=$(curl -sS -m 20 --unix-socket "$BERTH_STATE/matchmaker.sock" http://pool/v1/tokens -d '[ Subject = "'"$(id -un)"'"; Scope = "ad:read ad:write claim match job:submit job:own" ]' |
  sed -n 's/.*Token = "\([^"]*\)".*/\1/p')
printf '[ Universe = "local"; Cmd = "/bin/touch"; Args = { "%s/stolen" }; Iwd = "%s" ]\n' "$work" "$work" >door.ad
by_token() { curl -sS -m 30 -o out -w '%{http_code}' -H "Authorization: Bearer $bearer" -H 'Content-Type: application/classad' "$url/v1/desk/$desk/jobs?key=$1" --data-binary "@$2"; }
echo '[ Cmd = "true"; Outputs = {} ]' >other.ad
holds "whoever comes by a token submits a job for machines" [ "$(by_token a other.ad)" = 201 ]
holds "but none for the submit host" [ "$(by_token b door.ad)" = 403 ]
holds "and is told why" grep -q 'only a user of this machine may have a job run on it' out
holds "nothing was run" [ ! -e stolen ]
kill "$pool"
wait "$pool"
holds "the pool ends well" [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
