#!/bin/sh
# trace_live_test.sh: a job is followed by one word through the logs of customer, provider and matchmaker, and finds it in its environment. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
id=4bf92f3577b34da6a3ce929d0e0e4736 span=00f067aa0ba902b7
unset TRACEPARENT
export BERTH_RETRY=0.1
socket=state/customer/customer.sock log=state/log

"$berth" pool --listen 127.0.0.1:0 >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
holds "a machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"
# shellcheck disable=SC2016 # the job's own shell
job='[ Cmd = "/bin/sh"; Args = { "-c", "echo \"<$TRACEPARENT>\"" }; Outputs = {}; RequestCpus = 0.1; RequestMemory = 16M; RequestDisk = 16M ]'
echo "$job" >job.ad
trace_of() { "$berth" job "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["TraceId"])'; }
prints() { "$berth" logs "$1" | grep -qxE "<$2>"; } # JOB PATTERN
over() { "$berth" jobs --word "$1" | grep -qE 'success|failed'; }

# ------------------------------------------------------------------------------------------------------ one that is brought

run env TRACEPARENT="00-$id-$span-01" "$berth" submit job.ad
says "a job is submitted by somebody who is in a trace" 0 '1 job submitted: 1' ''
holds "it runs" soon over 1
holds "the job finds the trace in its environment, sampled as it came" prints 1 "00-$id-[0-9a-f]{16}-01"
holds "with a span of its own" sh -c "! '$berth' logs 1 | grep -q $span"
holds "its ad says the id" [ "$(trace_of 1)" = "$id" ]
holds "berth job prints it" sh -c "'$berth' job 1 | grep -qx '  trace          $id'"
told() { grep -qE "event=$2 .*trace=$id( |\$)" "$log/$1.log"; } # WHO EVENT
holds "the customer's log has it where the job came" told customer jobs.submitted
holds "where it was claimed" told customer job.claimed
holds "and where it was over" soon told customer job.ended
holds "the provider's log has it where the job began" told provider job.start
holds "and where it ended" told provider job.ended
holds "the matchmaker's log has it where the claim is spoken of" soon told matchmaker audit.claim
claim=$(sed -n "s/.*event=job.start claim=\([0-9a-f]*\) trace=$id .*/\1/p" "$log/provider.log")
holds "all three speak of the same claim there" sh -c \
  "[ -n '$claim' ] && grep -q 'event=job.claimed .*claim=$claim .*trace=$id' $log/customer.log && grep -q 'event=audit.claim claim=$claim .*trace=$id' $log/matchmaker.log"
holds "a request says it too, where it was refused" sh -c \
  "curl -sS --unix-socket $socket -H 'traceparent: 00-$id-$span-01' http://customer/v1/jobs/77 | grep -q 404 && grep 'event=problem' $log/customer.log | grep -q 'trace=$id'"

# ------------------------------------------------------------------------------------------------------ one that is made

run "$berth" submit job.ad job.ad
says "jobs are submitted by somebody who is in none" 0 '2 jobs submitted: 2-3' ''
holds "one was made for them" sh -c "echo $(trace_of 2) | grep -qxE '[0-9a-f]{32}'"
holds "one for all that were submitted together" [ "$(trace_of 2)" = "$(trace_of 3)" ]
holds "which is another than that of others" [ "$(trace_of 2)" != "$id" ]
holds "they run" soon over 3
holds "and find it" prints 3 "00-$(trace_of 3)-[0-9a-f]{16}-01"
holds "each with a span of its own" sh -c "[ \"\$('$berth' logs 2)\" != \"\$('$berth' logs 3)\" ]"
run "$berth" submit job.ad
holds "the next submission has another" [ "$(trace_of 4)" != "$(trace_of 2)" ]

# --------------------------------------------------------------------------------------------------- what is none is none

sent() { # HEADER: the job that came of it
  curl -sS --unix-socket $socket -H "$1" -H 'Content-Type: application/classad' --data-binary @job.ad http://customer/v1/jobs |
    sed -n 's/.*First = \([0-9]*\).*/\1/p'
}
replaced() { # HEADER
  one=$(sent "$1") && got=$(trace_of "$one") && echo "job $one has $got" && echo "$got" | grep -qxE '[0-9a-f]{32}' && [ "$got" != "$id" ] &&
    [ "$got" != 00000000000000000000000000000000 ]
}
good=$(sent "traceparent: 00-$id-$span-00")
holds "over HTTP a good one is taken" [ "$(trace_of "$good")" = "$id" ]
holds "and that it is not sampled" soon prints "$good" "00-$id-[0-9a-f]{16}-00"
holds "capital letters are refused, and one is made" replaced "traceparent: 00-4BF92F3577B34DA6A3CE929D0E0E4736-$span-01"
holds "so are zeros" replaced "traceparent: 00-00000000000000000000000000000000-$span-01"
holds "a span of zeros" replaced "traceparent: 00-$id-0000000000000000-01"
holds "another version" replaced "traceparent: ff-$id-$span-01"
holds "what goes on behind it" replaced "traceparent: 00-$id-$span-01-more"
holds "words of the log" replaced "traceparent: 00-$id-$span-01 level=error event=forged"
holds "what is far too long" replaced "traceparent: $(printf '%08000d' 0)"
holds "no line of a log was forged" sh -c "! grep -h 'event=forged' $log/*.log"
run env TRACEPARENT="00-$id-$span-01
x: y" "$berth" submit job.ad
says "a variable with a line in it is no trace" 0 '1 job submitted: *' ''

# ------------------------------------------------------------------------------------- it is the job's, and stays with it

echo "$job" | sed 's/Outputs = {}/Outputs = {}; Env = [ TRACEPARENT = "mine" ]/' >own.ad
own=$("$berth" submit own.ad --terse | cut -d. -f1)
holds "what the job's Env says holds instead" soon prints "$own" mine
echo "$job" | sed 's/Outputs = {}/Outputs = {}; TraceParent = "00-11111111111111111111111111111111-2222222222222222-01"/' >said.ad
said=$("$berth" submit said.ad --terse | cut -d. -f1)
holds "what its ad says of a trace does not" soon prints "$said" "00-$(trace_of "$said")-[0-9a-f]{16}-01"
echo "$job" | sed 's/Args = .*echo/Args = { "-c", "sleep 5; echo/; s/Outputs/MaxRetries = 1; Outputs/' >long.ad
long=$(TRACEPARENT="00-$id-$span-01" "$berth" submit long.ad --terse | cut -d. -f1)
running() { grep -q "event=job.start .* job=$1\$" "$log/provider.log"; }
holds "a job runs" soon running "$long"
kill -9 "$(ps -o pid=,args= --ppid "$pool" | awk 'index($0, "berth customer") { print $1 }')"
kill -9 "$(ps -o pid=,args= --ppid "$pool" | awk 'index($0, "berth provider") { print $1 }')"
holds "after its customer and its provider were killed" soon over "$long"
holds "its trace is the same" [ "$(trace_of "$long")" = "$id" ]
holds "it was told that" prints "$long" "00-$id-[0-9a-f]{16}-01"
holds "and its provider speaks of it by that" soon sh -c "grep 'event=job.ended .*trace=$id job=$long ' $log/provider.log"
"$berth" submit - >held.out <<AD
[ Cmd = "/bin/sleep"; Args = { "100" }; Outputs = {}; RequestCpus = 0.1; RequestMemory = 16M; RequestDisk = 16M ]
AD
held=$(sed -n 's/.*: \([0-9]*\)$/\1/p' held.out)
holds "another runs" soon running "$held"
"$berth" hold "$held" >/dev/null
holds "that it is held stands in the log with its trace" soon grep -q "event=job.held job=$held .*trace=$(trace_of "$held")" "$log/customer.log"
"$berth" rm "$held" >/dev/null
ended=$(grep -c "event=job.ended job=" "$log/customer.log")
printf '[ Cmd = "/bin/true"; Outputs = {}; Constraint = false; Count = 500; RequestMemory = 16M ]' >never.ad
never=$("$berth" submit --force never.ad --terse | cut -d. -f1)
"$berth" rm "$never-$((never + 499))" >/dev/null
gone() { listed "jobs --all" "not rows"; }
holds "five hundred jobs that no machine fits are removed" soon gone
holds "jobs that never had a machine fill no log when they are removed" [ "$(grep -c 'event=job.ended job=' "$log/customer.log")" -le $((ended + 1)) ]
echo "1..$count"
[ $failures = 0 ]
