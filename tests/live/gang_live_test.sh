#!/bin/sh
# gang_live_test.sh: gangs in a pool of real processes: jobs that run on a machine and hold a licence that another agent offers. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
examples=$BERTH_SOURCE/examples

licenses_start() {
  "$berth" provide "$examples/licenses.ad" >licenses.up 2>>licenses.err &
  licenses=$!
  pids="$pids $licenses"
}
export BERTH_STATE="$PWD/state" NO_COLOR=1
export BERTH_WINDOW=3 BERTH_PIN=3 BERTH_LEASE=8 BERTH_DEADLINE=2 BERTH_LIFETIME=5 BERTH_RETRY=0.1 BERTH_GRACE=0.5
# For two jobs at once, whatever the machine has; and for those of one user, as an owner might want it.
echo "[ Cpus = 2; Constraint = other.Type == \"Job\" && Fits && other.Owner == \"$(id -un)\" ]" >owner.ad
"$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$PWD/owner.ad" >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
(umask 077 && mkdir -p state/provide)
run "$berth" token create --subject licences --scope "ad:read ad:write claim" --lifetime 1d --out state/provide/token
holds "a token for licences is made" [ "$status" = 0 ]
holds "the machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"

run "$berth" submit "$examples/jobs/licensed.ad"
holds "a job that needs a licence is not queued in silence where nobody has one" [ "$status" = 1 ]
holds "it is told which port nobody fills" grep -q \
  '^berth: the job finds nobody for its port license in the pool; nothing was submitted: use --force' err
cat >unsaid.ad <<'AD'
[ Cmd = "true"; Ports = { [ Label = cpu; Constraint = cpu.Memory > 1 ], [ Label = second; Constraint = second.Memory > 1 ] } ]
AD
run "$berth" submit --dry-run unsaid.ad
holds "whose ports do not say where the job runs is told that it does at the first alone" sh -c "[ $status = 0 ] &&
  grep -q '^berth: the job: no port says Executes, .* runs at the first alone, cpu: say Executes = true in each port' err"
echo '[ Cmd = "true"; Ports = { [ Label = cpu; Executes = false; Constraint = cpu.Type == "Machine" ] } ]' >nowhere.ad
run "$berth" submit --force nowhere.ad
holds "whose ports say that it runs nowhere is refused" sh -c "[ $status != 0 ] && grep -q 'so the job would run nowhere' err"
licenses_start
holds "three licences are offered by another agent" soon listed 'ads --kind offers' "len(rows) == 4"
holds "they say that nothing is run there" listed "ads -c Type==\"License\" --select Name,Executes" \
  "len(rows) == 3 and all(row['Executes'] is False for row in rows)"
run "$berth" submit "$examples/jobs/licensed.ad"
holds "now the jobs are taken" [ "$status" = 0 ]
holds "the matches have a row a member, with the labels of the ports" soon listed matches \
  "{'cpu', 'license'} <= {row['port'] for row in rows}"
timeout 60 "$berth" wait 1-4 --timeout 40 >out 2>err
status=$?
holds "all four end well" [ "$status" = 0 ]
"$berth" logs 1-4 >logs 2>&1 || for job in 1 2 3 4; do "$berth" logs $job; done >logs 2>&1
holds "each tells the machine and the licence that it had" \
  sh -c "test \$(grep -c '^solved on [^ ]* with solver-[12]\$' logs) = 4"
holds "nothing is held when they have ended" soon listed 'ads --kind offers' "len(rows) == 4"

# ----------------------------------------------------------------------------------------------------- restarts

cat >held.ad <<'AD'
[ Cmd = "sh"; Args = { "-c", "echo begun; sleep 7; echo done" }; Outputs = {}; RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M;
  Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine" ], [ Label = license; Constraint = license.Application == "solver" ] } ]
AD
run "$berth" submit --force held.ad
first=5
holds "a job runs that holds a licence" soon listed "jobs $first" "rows[0]['state'] == 'Running'"
for how in KILL TERM; do
  kill -$how "$licenses"
  wait "$licenses" 2>/dev/null
  licenses_start
  holds "the licences' agent is ended by $how, and comes again" soon listed agents \
    "any(str(row['process']) == '$licenses' for row in rows)"
done
timeout 60 "$berth" wait $first --timeout 40 >out 2>err
status=$?
holds "its job goes on to its end" [ "$status" = 0 ]
holds "in its first try, for what it holds is kept" sh -c "'$berth' logs $first | tr '\n' ' ' | grep -qx 'begun done ' &&
  '$berth' job $first | grep -q '^  tries  *1\$'"

# ------------------------------------------------------------------------------------------------------- losses

cat >long.ad <<'AD'
[ Cmd = "sh"; Args = { "-c", "echo begun; sleep 15; echo done" }; Outputs = {}; RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M;
  Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine" ], [ Label = license; Constraint = license.Application == "solver" ] } ]
[ Cmd = "sh"; Args = { "-c", "echo begun; sleep 15; echo done" }; Outputs = {}; RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M;
  Ports = { [ Label = cpu; Constraint = cpu.Type == "Machine" ],
            [ Label = license; Constraint = license.Application == "solver"; Essential = JobRunTime < 0 ] } ]
AD
run "$berth" submit --force long.ad
holds "two more run, one of which can do without its licence once it has begun" soon listed 'jobs 6-7' \
  "[row['state'] for row in rows] == ['Running', 'Running']"
sleep 1
kill -KILL "$licenses"
wait "$licenses" 2>/dev/null
holds "the licences' agent dies: the job that needs one waits again" soon listed 'jobs 6' "rows[0]['state'] == 'Waiting'"
holds "the other goes on without" soon listed 'jobs 7' "rows[0]['state'] in ('Running', 'Done')"
timeout 60 "$berth" wait 7 --timeout 40 >out 2>err
status=$?
holds "to its end" [ "$status" = 0 ]
holds "in its first try" sh -c "'$berth' logs 7 | tr '\n' ' ' | grep -qx 'begun done '"
rm -rf state/provide/berth.db*
licenses_start
timeout 90 "$berth" wait 6 --timeout 60 >out 2>err
status=$?
holds "when licences are there again, the first one runs to its end as well" [ "$status" = 0 ]

kill "$pool" "$licenses"
wait "$pool"
holds "the pool ends well" [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
