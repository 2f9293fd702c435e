#!/bin/sh
# nested_live_test.sh: gangs with services that have members of their own, in a pool of real processes: what runs below a service is the
# job, with its files, on the machine that the service was given. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

# has FILE TEXT: that is all that is in it.
has() {
  printf '%s' "$2" | cmp -s - "$1"
}
# begun: how many processes were started on the machine so far.
begun() {
  grep -c 'event=job.start' state/log/provider.log
}
services_start() {
  "$berth" provide service.ad >services.up 2>>services.err &
  services=$!
  pids="$pids $services"
}
# part COMMAND: the ad of a job by which that is run, below the service.
part() {
  cat <<AD
[ Cmd = "sh"; Args = { "-c", "$1" }; Inputs = { "in.txt" }; Outputs = { "out.txt" };
  RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M; Env = [ WORD = "word" ];
  Ports = { [ Label = server; Constraint = server.Kind == "render" ] } ]
AD
}
export BERTH_STATE="$PWD/state" NO_COLOR=1
export BERTH_WINDOW=3 BERTH_PIN=3 BERTH_LEASE=4 BERTH_DEADLINE=2 BERTH_LIFETIME=5 BERTH_RETRY=0.1 BERTH_GRACE=0.5
cat >service.ad <<'AD'
[ Name = "renderer"; Type = "Service";
  Ports = { [ Label = request; Kind = "render"; Constraint = request.Type == "Job" ],
            [ Label = cpu; Type = "Job"; RequestCpus = 2; RequestMemory = 24M; RequestDisk = 16M;
              Constraint = cpu.Type == "Machine" ] } ]
AD
echo some words >in.txt
echo '[ Cpus = 2 ]' >owner.ad # for two jobs at once, whatever the machine has
"$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$PWD/owner.ad" >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
(umask 077 && mkdir -p state/provide)
run "$berth" token create --subject services --scope "ad:read ad:write claim" --lifetime 1d --out state/provide/token
holds "a token for services is made" [ "$status" = 0 ]
holds "the machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"
services_start
holds "another agent offers a service that needs a machine" soon listed 'ads --kind offers' "len(rows) == 2"

# ---------------------------------------------------------------------------------------------------- the job's own ad

part 'cat in.txt; tr a-z A-Z <in.txt >out.txt; echo left >rest.txt; exit 3' >first.ad
run "$berth" submit --force first.ad
holds "a job is taken that asks for the service alone" [ "$status" = 0 ]
timeout 60 "$berth" wait 1 --timeout 40 >out 2>err
holds "it ends, as its command does" soon listed 'jobs 1' "rows[0]['state'] == 'Cleared' and rows[0]['status'] == 3"
holds "the matches are a tree: the service is the job's, the machine the service's" soon listed matches \
  "sorted(row['port'] for row in rows) == ['cpu', 'server']"
"$berth" logs 1 >logs 2>&1
holds "it has read its input, below the service" grep -qx 'some words' logs
holds "its output is where the job was submitted" soon has out.txt 'SOME WORDS
'
holds "what is no output of the job is not" [ ! -e rest.txt ]
holds "it was started once" [ "$(begun)" = 1 ]
holds "and it is told where it ran: on the machine" listed 'jobs 1' "rows[0]['where'] and 'provide' not in rows[0]['where']"
part 'test $WORD = word && test $BERTH_CPUS = 2 && echo $USER >out.txt' >second.ad
run "$berth" submit --force second.ad
timeout 60 "$berth" wait 2 --timeout 40 >out 2>err
holds "it has the job's variables, and as many processors as the service has asked for" [ $? = 0 ]
holds "and runs for the owner of the job, not for that of the service" \
  sh -c "test -s out.txt && ! grep -q services out.txt"

# ------------------------------------------------------------------------------------------------------------ restarts

provider_pid() {
  for pid in $(pgrep -P "$pool"); do
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q ' provider ' && echo "$pid"
  done
}
part 'echo begun; sleep 6; cp in.txt out.txt; echo done' >long.ad
before=$(begun)
run "$berth" submit --force long.ad
holds "a longer one runs" soon listed 'jobs 3' "rows[0]['state'] == 'Running'"
soon [ "$(begun)" -gt "$before" ]
kill -KILL "$services"
wait "$services" 2>/dev/null
services_start
sleep 0.5
rm -f out.txt
victim=$(provider_pid)
[ -n "$victim" ] && kill -KILL "$victim"
holds "service and machine were killed, and come again" [ -n "$victim" ]
timeout 60 "$berth" wait 3 --timeout 40 >out 2>err
holds "the job goes on to its end" [ $? = 0 ]
holds "in its first try" sh -c "'$berth' logs 3 | tr '\n' ' ' | grep -qx 'begun done '"
holds "its output comes though both have been away" soon has out.txt 'some words
'

# ------------------------------------------------------------------------------------------------------------- helpers

# The machine once more, under another name.
(umask 077 && mkdir -p second/provider)
run "$berth" token create --subject machine/second --scope "ad:read ad:write claim" --lifetime 1d --out second/provider/token
echo '[ Cpus = 2; Application = "solver" ]' >second.ad # it says, too, that it is a licence
"$berth" provider --state "$PWD/second" --set OwnerPolicy="$PWD/second.ad" >second.up 2>second.err &
second=$!
pids="$pids $second"
holds "a second machine offers itself" soon listed 'ads --kind offers' "len(rows) == 3"
cat >helped.ad <<'AD'
[ Cmd = "sh"; Args = { "-c", "cat in.txt && sleep 1 && cp in.txt out.txt" }; Inputs = { "in.txt" }; Outputs = { "out.txt" };
  RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M; MaxRetries = 0;
  Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine" ], [ Label = more; Constraint = more.Type == "Machine" ] } ]
AD
rm -f out.txt
run "$berth" submit --force helped.ad
timeout 60 "$berth" wait 4 --timeout 40 >out 2>err
holds "a job with two machines ends well: both of them had its input" [ $? = 0 ]
holds "each has run it once" sh -c "test \$(grep -c 'event=job.start.*job=4' state/log/provider.log) = 1 &&
  test \$(grep -c 'event=job.start.*job=4' second.err) = 1"
holds "the output is the leader's" soon has out.txt 'some words
'
"$berth" logs 4 >logs 2>&1
holds "and so is the log" [ "$(grep -c 'some words' logs)" = 1 ]
cat >licensed.ad <<'AD'
[ Cmd = "sh"; Args = { "-c", "cat in.txt >out.txt" }; Inputs = { "in.txt" }; Outputs = { "out.txt" };
  RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M; MaxRetries = 0;
  Ports = { [ Label = license; Constraint = license.Application == "solver" ],
            [ Label = cpu; Constraint = cpu.Type == "Machine" && cpu.Application is undefined ] } ]
AD
rm -f out.txt
run "$berth" submit --force licensed.ad
timeout 60 "$berth" wait 5 --timeout 40 >out 2>err
holds "a job that holds a licence, which is a machine in truth, ends well" [ $? = 0 ]
holds "its output is that of the machine that it has asked for" soon has out.txt 'some words
'
holds "there it was started once, and not where it asked for a licence, though that is its first port" \
  sh -c "test \$(grep -c 'event=job.start.*job=5' state/log/provider.log) = 1 && ! grep -q 'event=job.start.*job=5' second.err"
holds "nothing is left over on the machines" soon sh -c "! ls state/provider/work second/provider/work | grep -q '[.][1-9]'"

kill "$second"
wait "$second"
kill "$pool" "$services"
wait "$pool"
holds "the pool ends well" [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
