#!/bin/bash
# pilot_cli_test.sh: berth pilot as a user types it: what is refused, and a pilot of a batch system that is three scripts and a table. Prints TAP. Slurm
# is in pilot_slurm_test.sh.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid
export BERTH_STATE=$work/state TOY=$work/toy
mkdir -p "$TOY/jobs"

# ----------------------------------------------------------------------------------------------------------------- refused

# refuses STATUS WORDS OPTION...: the command ends with that status, and complains with those words.
refuses() { timeout 20 "$berth" pilot "${@:3}" >out 2>complaint; [ $? = "$1" ] && grep -F -- "$2" complaint || { cat out complaint; false; }; }
check 'a pilot without a batch system is refused' refuses 2 'pilot wants --slurm, or --batch FILE' --count 2
check 'so is one of two' refuses 2 'pilot wants --slurm, or --batch FILE' --slurm --batch x.ad
check 'and a word that is none' refuses 2 'one of the words status and stop' --slurm strat
check 'no pilots at all are none to submit' refuses 2 'expected a number from 1 to 10000' --slurm --count 0
check 'a setting for pilots must be one' refuses 2 "there is no setting 'Grase'" --slurm --set Grase=2
check 'a benchmark is a number' refuses 2 'expected a number from 0 on' --slurm --least-benchmark fast
check 'a folder that is none of a pilot is refused' refuses 2 'order.ad' --run "$work"
check 'without a pool nothing is submitted' refuses 3 'matchmaker.sock' --slurm

# -------------------------------------------------------------------------------------------------- a batch system of one's own

: >pool.up
setsid "$berth" pool --no-provider --listen 127.0.0.1:0 -v >pool.up 2>pool.err &
groups="$groups $!"
disown
cat >"$TOY/submit" <<'EOF'
#!/bin/sh
# submit NAME OUTPUT SCRIPT: runs it at once; its id is that of its process
NAME=$1 setsid sh -c 'TOY_JOB=$$; export TOY_JOB; echo "$NAME" >"$TOY/jobs/$$"; exec "$1"' sh "$3" >"$2" 2>&1 </dev/null &
echo "accepted: $!"
EOF
cat >"$TOY/list" <<'EOF'
#!/bin/sh
echo 'JOB  NAME  STATE'
cd "$TOY/jobs" && for job in *; do
  [ -e "$job" ] && if kill -0 "$job" 2>/dev/null; then echo "$job $(cat "$job") R"; else echo "$job $(cat "$job") E"; fi
done
exit 0
EOF
cat >"$TOY/cancel" <<'EOF'
#!/bin/sh
kill -TERM "$1"
EOF
chmod 700 "$TOY"/submit "$TOY"/list "$TOY"/cancel
cat >toy.ad <<EOF
[
    Name = "toy";
    Submit = { "$TOY/submit", "\$NAME", "\$OUTPUT", "\$SCRIPT" };
    SubmitId = Words[1];
    Status = { "$TOY/list" };
    JobId = Words[0] == "JOB" ? undefined : Words[0];
    JobName = Words[1];
    JobState = Words[2] == "R" ? "running" : "gone";
    Cancel = { "$TOY/cancel", "\$ID" };
    IdVariable = "TOY_JOB";
]
EOF
sed 's/Cancel/Cancle/' toy.ad >bad.ad
for _ in $(seq 150); do grep -q 'To end it' pool.up && break; sleep 0.1; done
soon() { for _ in $(seq 600); do "$@" && return; sleep 0.1; done; return 1; }
mkdir scratch
options="--batch toy.ad --set Unprotected=true --set Grace=2 --least-disk 1M --least-memory 1M --least-time 2s --scratch $work/scratch"
# shellcheck disable=SC2086
pilot() { "$berth" pilot $options "$@"; }
check 'a table with a mistake is refused in its line' refuses 2 'bad.ad:9:5: Cancle: a table has no such attribute; perhaps Cancel' --batch bad.ad
nothing() { ! ls -d state/pilots/pilot-* 2>/dev/null; }
check 'and nothing is left of that' nothing
unwanted() { refuses 2 '--when:1:8: expected' --batch toy.ad --when 'Idle > '; }
check 'an expression that is none is refused' unwanted
echo '[ Cmd = "/bin/sh"; Args = { "-c", "echo flown" }; Outputs = {}; RequestMemory = 16M; RequestDisk = 1M; Constraint = other.Pilot && other.BatchSystem == "toy" ]' >job.ad
"$berth" submit --force job.ad >submitted
submits() { pilot --time 2min --idle 60s --count 1 | grep '^submitted a pilot, batch job [0-9]'; }
check 'a pilot is submitted by a table of one'"'"'s own' submits
flown() { "$berth" logs 1 2>/dev/null | grep -x flown; }
check 'and runs a job' soon flown
idle() { pilot status --json | grep '"state": "running", "pool": true, "note": "idle"'; }
check 'it is listed by both' soon idle
known() { "$berth" machines | grep ' Idle .* pulls$'; }
check 'the pool knows how its machine stands' soon known
stops() { pilot stop "$(ls state/pilots | grep ^pilot-)" | grep '^cancelled batch job'; }
check 'and stopped by its name' stops
left() { pilot status --json | grep '"state": "gone".*"left": "it was told to end"'; }
check 'then it has left, and says why' soon left
forgotten() { ! "$berth" machines --json | grep '"pulls": true'; }
check 'and the pool forgets its machine' forgotten
swept() { [ -z "$(ls scratch)" ]; }
check 'nothing that it worked with is left' soon swept
# shellcheck disable=SC2086
setsid "$berth" pilot $options --when true --every 1s --count 1 --idle 60s >said 2>said.err &
keeper=$!
groups="$groups $keeper"
check 'with --when true there is one' soon grep '^submitted a pilot' said
guarded() { grep -q '^Max core file size  *0  *0 ' "/proc/$keeper/limits" && [ "$(stat -c %u "/proc/$keeper/environ")" = 0 ]; }
check 'nobody looks into its memory, and it leaves no core file' guarded
ends() { kill -TERM $keeper && wait $keeper; }
check 'the command ends well when it is told to' ends
pilot stop >/dev/null
over() { ! pilot status --json | grep -q '"state": "running"'; }
soon over
check 'one that is stopped while it begins leaves nothing behind either' soon swept

sound() { ! grep -H 'Sanitizer\|level=error' state/pilots/pilot-*/log; }
check 'no pilot has met with an error' sound

echo "1..$count"
exit $((failures > 0))
