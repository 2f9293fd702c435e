#!/bin/sh
# gang_liars_live_test.sh: gangs in a pool of real processes, some of whose members lie in all that they say (tests/live/liar_agent.c): a licence, a service
# with a machine below it, and a machine that calls itself a licence. $1 is that program. Prints TAP.
set -u
berth=${BERTH:?the program}
liar=$(realpath "${1:?the program that lies}") || exit 1
seed=${BERTH_SEED:-1}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

export BERTH_STATE="$PWD/state" NO_COLOR=1
export BERTH_WINDOW=3 BERTH_PIN=3 BERTH_LEASE=4 BERTH_DEADLINE=2 BERTH_LIFETIME=5 BERTH_RETRY=0.1 BERTH_GRACE=0.5
echo '[ Cpus = 4; Constraint = other.Type == "Job" && Fits ]' >owner.ad
"$berth" pool --listen 127.0.0.1:0 --set OwnerPolicy="$PWD/owner.ad" >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
url=$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' up | head -1 | sed 's,/#.*,,; s,/$,,')
holds "the machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"

# ------------------------------------------------------------------------------------------------------------- the liars

echo '[ Name = "paper"; Type = "License"; Application = "solver"; Executes = false; Constraint = true; Rank = 1 ]' >paper.ad
echo '[ Name = "wolf"; Type = "License"; Application = "solver"; Cpus = 64; Memory = 100000; Executes = true; Constraint = true; Rank = 1 ]' >wolf.ad
cat >broker.ad <<'AD'
[ Name = "broker"; Type = "Service"; Executes = false;
  Ports = { [ Label = request; Kind = "render"; Constraint = true ],
            [ Label = cpu; Type = "Job"; RequestCpus = 1; RequestMemory = 24M; RequestDisk = 16M; Essential = cpu.Essential =!= false;
              Constraint = cpu.Type == "Machine" ] } ]
AD
liars=
for name in paper wolf broker; do
  "$berth" token create --subject "liar/$name" --scope "ad:read ad:write claim" --lifetime 1d --out "$name.token" >/dev/null
  "$liar" "$name" "liar/$name" "$PWD/$name" "$PWD/$name.token" "$seed" "$name.ad" "$url" >"$name.out" 2>"$name.err" &
  liars="$liars $!"
done
pids="$pids $liars"
holds "three offer themselves who lie" soon listed 'ads --kind offers' "len(rows) == 4"

# -------------------------------------------------------------------------------------------------------------- the jobs

echo 'classified words' >in.txt
job() { # NUMBER PORTS
  cat <<AD
[ Cmd = "sh"; Args = { "-c", "tr a-z A-Z <in.txt >out.$1; sleep 0.3; echo done $1" }; Inputs = { "in.txt" }; Outputs = { "out.$1" };
  RequestCpus = 1; RequestMemory = 16M; RequestDisk = 16M; Env = [ WORD = "unspoken" ];
  Ports = { $2 } ]
AD
}
licence='[ Label = cpu; Executes = true; Constraint = cpu.Type == "Machine" ], [ Label = license; Constraint = license.Application == "solver" ]'
first='[ Label = license; Constraint = license.Application == "solver" ], [ Label = cpu; Constraint = cpu.Type == "Machine" ]'
service='[ Label = server; Constraint = server.Kind == "render" && server.Executes == false ]'
for n in 1 2 3; do job $n "$licence"; done >jobs.ad
for n in 4 5 6; do job $n "$first"; done >>jobs.ad
for n in 7 8 9; do job $n "$service"; done >>jobs.ad
run "$berth" submit --force jobs.ad
holds "jobs are taken that hold a licence, and others that use a service" [ "$status" = 0 ]
over() { listed 'jobs 1-9' "len([row for row in rows if row['state'] in ('Cleared', 'Done')]) >= $1"; }
met() { cat paper.out wolf.out broker.out | grep -q 'heard.*Message="start"'; }
holds "liars are claimed, and told that work begins" soon met
soon over 9 # or not: they lie
for pid in $liars; do kill "$pid"; wait "$pid"; ended=$?; [ $ended = 0 ] || echo "# a liar has ended with $ended"; done
grep -h '^bent' ./*.out | sed 's/^/# /'
holds "they have lied a great deal" sh -c "cat ./*.out | awk '/^bent/ { n += \$2 + \$4 } END { exit n < 40 }'"

# --------------------------------------------------------------------------------------------- then honest ones come, and all is well

(umask 077 && mkdir -p state/provide)
"$berth" token create --subject honest --scope "ad:read ad:write claim" --lifetime 1d --out state/provide/token >/dev/null
cat >honest.ad <<'AD'
[ Name = "solver-1"; Type = "License"; Application = "solver"; Constraint = true ]
[ Name = "renderer"; Type = "Service";
  Ports = { [ Label = request; Kind = "render"; Constraint = request.Type == "Job" ],
            [ Label = cpu; Type = "Job"; RequestCpus = 1; RequestMemory = 24M; RequestDisk = 16M; Constraint = cpu.Type == "Machine" ] } ]
AD
"$berth" provide honest.ad >honest.up 2>honest.err &
pids="$pids $!"
timeout 100 "$berth" wait 1-9 --timeout 90 >out 2>err
holds "all jobs end well: none was held, given up or ended by a lie" [ $? = 0 ]
right() {
  for n in 1 2 3 4 5 6 7 8 9; do
    [ "$(cat out.$n)" = 'CLASSIFIED WORDS' ] && [ "$("$berth" logs $n)" = "done $n" ] || { echo "job $n: $(cat out.$n), $("$berth" logs $n)"; return 1; }
  done
}
holds "each has left what it should, and printed that" soon right
holds "nothing else came where they were submitted" sh -c 'test "$(ls | grep -c "^out\.")" = 9'
kept() { ! grep -l 'classified\|CLASSIFIED\|Y2xhc3NpZmllZC\|unspoken' paper.out wolf.out broker.out; }
holds "no liar has heard what the jobs read, or their variables" kept
bystander() { ! grep '^started' paper.out wolf.out broker.out; }
holds "none was told to run a job, whatever it calls itself" bystander
silent() { ! grep '^answered [mfsr][a-z]* .*;\|^answered \(manifest\|fetch\|store\|report\) ' paper.out wolf.out broker.out; }
holds "and no question of theirs about files was answered" silent
holds "they have no jobs at the customer: it takes them from users alone" listed jobs "all(row['id'] <= 9 for row in rows)"
sound() { ! grep -H 'level=error\|Sanitizer' state/log/*.log pool.err; }
holds "no part of the pool has met with an error" sound
steady() { ! grep -q 'has died\|started again' pool.err; }
holds "and none has died of it" steady
kill "$pool"
wait "$pool"
holds "the pool ends well" [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
