#!/bin/bash
# pilot_slurm_test.sh: berth pilot against a real Slurm: pilots run jobs, say how long they stay, and leave saying why; and are there only while they are
# wanted. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
. "$BERTH_SOURCE/tests/common/slurm.sh"
missing=$(slurm_missing)
[ -z "$missing" ] || { echo "1..0 # SKIP $missing is not here: Debian's packages $slurm_packages have a Slurm to test with" && exit; }
need setsid curl
trap 'slurm_end; clean' EXIT

export BERTH_STATE=$work/state
setsid "$berth" pool --no-provider --listen 127.0.0.1:0 -v >pool.up 2>pool.err &
groups="$groups $!"
disown
check 'a Slurm of two machines is up' slurm_start
for _ in $(seq 150); do grep -q 'To end it' pool.up && break; sleep 0.1; done

# soon COMMAND...: it succeeds within a minute.
soon() { for _ in $(seq 600); do "$@" && return; sleep 0.1; done; return 1; }
# pilots TAG OPTION...: submits some that only jobs with that tag go to; their folders are in TAG/. Sandboxes may be missing where this is tested.
pilots() {
  echo "[ Tag = \"$1\" ]" >"$1.policy"
  "$berth" pilot --slurm --folder "$work/$1" --set Unprotected=true --set "OwnerPolicy=$work/$1.policy" --set Grace=2 \
    --least-disk 1M --least-memory 1M --least-time 3s "${@:2}"
}
# job TAG ATTRIBUTES [EXPR]: submits one for those pilots, of which EXPR must be true; its number is in $job.
job() {
  echo "[ Outputs = {}; RequestMemory = 16M; RequestDisk = 1M; Constraint = other.Tag == \"$1\" && ${3:-true}; $2 ]" >job.ad
  "$berth" submit --force job.ad >submitted || { cat submitted; return 1; }
  job=$(sed -n 's/.*submitted: \([0-9]*\).*/\1/p' submitted)
}
state() { "$berth" jobs --json "$1" | sed -n 's/.*"state": "\([A-Za-z]*\)".*/\1/p'; }
is() { [ "$(state "$1")" = "$2" ]; }
over() { is "$1" Done || is "$1" Cleared; }
left() { cat "$work/$1"/pilot-*/left 2>/dev/null | grep "$2"; } # why one has left

# ------------------------------------------------------------------------------------------------ they begin side by side

job plain 'Cmd = "/bin/sh"; Args = { "-c", "echo ran by $BATCH" }; Env = [ BATCH = "slurm" ]; TimeLimit = 30' 'other.Pilot && other.TimeLeft > 60 && other.TimeLeft < 180 && other.Benchmark > 0 && other.BatchSystem == "slurm" && other.BatchJob isnt undefined && other.Cpus == 1' && plain=$job
job plain 'Cmd = "true"; TimeLimit = 600' && long=$job
job plain 'Cmd = "true"' 'other.TimeLeft <= 165' && later=$job # of 180, less ten for the end
job once 'Cmd = "true"; Count = 2' && once=$job
job up 'Cmd = "/bin/sh"; Args = { "-c", "trap \"echo warned; exit 3\" TERM; echo begun; sleep 300 & wait" }' && up=$job
submits() { pilots plain --count 1 --time 3min --idle 12s && [ "$(ls -d plain/pilot-* | wc -l)" = 1 ]; }
check 'a pilot is submitted to Slurm' submits
pilots once --count 1 --once --time 3min >/dev/null
pilots up --count 1 --time 20s >/dev/null
pilots token --count 1 --token-life 40s --least-time 2min >/dev/null
pilots disk --count 1 --least-disk 900T >/dev/null
pilots slow --count 1 --least-benchmark 1e9 >/dev/null

check 'it runs a job, which sees its TimeLeft, Benchmark and batch job' soon over "$plain"
output() { "$berth" logs "$plain" | grep -x 'ran by slurm'; }
check 'and whose output comes home' output
check 'a job that wants more time than is left is not started' is "$long" Waiting
check 'one that wants to find less than there was at first is, a little later' soon over "$later"
check 'with --once a pilot leaves after one job, and says so' soon left once 'run its one job'
one() { [ "$("$berth" jobs --json "$once-$((once + 1))" | grep -c '"state": "Waiting"')" = 1 ]; }
check 'another job waits on' soon one
check 'one whose token is nearly over leaves at once, and says what was wanted' soon left token 'too little: [0-9]* s left of the token, at least 120 s wanted'
check 'so does one with too little disk' soon left disk 'too little: .* of disk free, at least 900 TiB wanted'
check 'and one on a machine that is too slow' soon left slow 'too little: .* in the benchmark, at least 1000000000.0 wanted'
check 'one whose time is up leaves, and says so' soon left up 'its time is up'
waits() { "$berth" logs --events "$up" | grep 'waits again' && is "$up" Waiting; }
check 'its job waits again' soon waits
warned() { "$berth" logs "$up" | grep -x warned; }
check 'and was warned before' soon warned
check 'a pilot that nobody has work for leaves' soon left plain 'nobody had work for it'
noted() { "$berth" agents --json | grep '"note": "left: nobody had work'; }
check 'the pool knows why too' noted
logged() { grep 'event=agent.note.*left: it has run its one job' pool.err; }
check 'and its log says it' logged
"$berth" rm "$long" "$up" "$once" "$((once + 1))" >/dev/null 2>&1

# ---------------------------------------------------------------------------------------------------------- what is private

private() {
  folder=$(ls -d "$work"/once/pilot-*)
  [ "$(stat -c %a "$folder")" = 700 ] && [ "$(stat -c %a "$folder/token")" = 600 ] || return 1
  token=$(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' "$folder/token")
  [ -n "$token" ] && ! grep -rF "$token" "$folder/script" "$folder/order.ad" "$folder/log" "$work/slurm/state"
}
check 'its token is in a file that only we can read, and nowhere else' private
narrow() { "$berth" token show --json "$folder/token" | grep '"subject": "[^"]*/pilot-' | grep '"scope": "ad:read ad:write claim"'; }
check 'and is narrower than ours' narrow

# ------------------------------------------------------------------------------------------------------- status and stop

job stop 'Cmd = "sleep"; Args = { "300" }' && stop=$job
pilots stop --count 2 --time 5min >/dev/null
status() { "$berth" pilot --slurm --folder "$work/stop" status --json | grep -c "\"state\": \"running\", \"pool\": true, \"note\": \"$1\""; }
running() { [ "$(status idle)" = 1 ] && [ "$(status busy)" = 1 ] && is "$stop" Running; }
check 'status tells of pilots, by Slurm and by the pool' soon running
stops() { [ "$("$berth" pilot --slurm --folder "$work/stop" stop | grep -c 'cancelled batch job')" = 2 ]; }
check 'stop cancels them' stops
told() { [ "$(left stop 'it was told to end' | wc -l)" = 2 ]; }
check 'which then leave, and say so' soon told
back() { "$berth" logs --events "$stop" | grep 'waits again' && is "$stop" Waiting; }
check 'and the job that one of them ran waits again' soon back
"$berth" rm "$stop" >/dev/null
none() { ! "$berth" pilot --slurm --folder "$work/stop" stop 2>why2 && grep 'no such pilot' why2; }
check 'and are not there to be stopped again' soon none

# -------------------------------------------------------------------------------------------------------------------- when

# keep TAG OPTION...: in the background; its decisions are in TAG.said.
keep() {
  echo "[ Tag = \"$1\"; Type = \"Machine\" ]" >"$1.like"
  echo "[ Tag = \"$1\" ]" >"$1.policy"
  setsid "$berth" pilot --slurm --folder "$work/$1" --set Unprotected=true --set "OwnerPolicy=$work/$1.policy" --set Grace=2 --least-disk 1M \
    --least-memory 1M --least-time 3s --every 1s --like "$1.like" "${@:2}" >>"$1.said" 2>>"$1.err" &
  keeper=$!
  groups="$groups $keeper"
  disown
}
: >when.said
keep when --when default --count 3 --idle 3s --time 5min
job other 'Cmd = "true"; Count = 5' && other=$job
job when 'Cmd = "sleep"; Args = { "1" }; Count = 2' && when=$job
both() { over "$when" && over $((when + 1)); }
check 'with --when pilots come when there is work for them' soon both
asked() { [ "$(grep -c '^submitted a pilot' when.said)" -le 2 ]; }
check 'as many as there are jobs that they could run, and no more' asked
check 'and leave when there is none' soon left when 'nobody had work'

sbatch --parsable --nodes=2 --ntasks-per-node=4 --exclusive --output=/dev/null --wrap 'sleep 200' >full.id
taken() { [ "$(sinfo -h -o %C)" = 8/0/0/8 ]; }
soon taken
said=$(wc -l <when.said)
job when 'Cmd = "true"' && when=$job
# looks TAG: it has looked twice more since then.
looks() { sed -n 's/^look \([0-9]*\):.*/\1/p' "$1/looked" 2>/dev/null; }
more() { [ "$(looks "$1")" -ge "$2" ]; }
again() { local before; before=$(looks "$1"); soon more "$1" $((before + 3)); }
full() { again when && [ "$(wc -l <when.said)" = "$said" ] && is "$when" Waiting && grep 'not wanted: waiting 1,.* free cores 0' when/looked; }
check 'while the batch system is full none is submitted' full
kill -TERM "$keeper"
ended() { ! kill -0 "$keeper" 2>/dev/null; }
check 'it ends when it is told to' soon ended

: >mine.said
keep mine --when 'Idle > PendingPilots' --count 4 --time 5min
job mine 'Cmd = "true"; Count = 2' && mine=$job
pending() { [ "$(squeue -h --me -t PENDING | wc -l)" = 2 ] && [ "$(grep -c '^submitted' mine.said)" = 2 ]; }
check 'one'"'"'s own expression may want them all the same: they wait in the queue' soon pending
kill -KILL "$keeper"
soon ended
rm mine/looked
keep mine --when 'Idle > PendingPilots' --count 4 --time 5min
restarted() { soon more mine 1 && again mine && pending; }
check 'killed and started again, it knows them, and submits no more' restarted
second() { ! "$berth" pilot --slurm --folder "$work/mine" --count 1 2>why2 && grep 'another `berth pilot` submits' why2; }
check 'a second one is refused' second
"$berth" rm "$mine" $((mine + 1)) >/dev/null
cancelled() { [ -z "$(squeue -h --me -t PENDING)" ] && [ "$(grep -c '^cancelled.*not wanted now' mine.said)" = 2 ]; }
check 'when it is not true any more those that wait are cancelled' soon cancelled
job mine 'Cmd = "true"' && mine=$job
waiting() { [ "$(squeue -h --me -t PENDING | wc -l)" = 1 ]; }
soon waiting
kill -TERM "$keeper"
ceased() { ended && [ -z "$(squeue -h --me -t PENDING)" ] && grep '^cancelled.*this ends' mine.said; }
check 'told to end, it cancels what waits' soon ceased
scancel "$(cat full.id)"

sound() { ! grep -H 'Sanitizer\|level=error' */pilot-*/log; }
check 'no pilot has met with an error' sound

echo "1..$count"
exit $((failures > 0))
