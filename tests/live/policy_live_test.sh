#!/bin/sh
# policy_live_test.sh: what jobs themselves say shall become of them: periodic_hold, periodic_release, periodic_remove, periodic_vacate, on_exit_hold, on_exit_remove. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

export BERTH_STATE="$PWD/state"
mkdir bin && "$berth" condor install bin >/dev/null
PATH=$PWD/bin:$PATH
"$berth" pool --listen 127.0.0.1:0 --set PolicyPeriod=1 >pool.up 2>pool.err &
pids="$pids $!"
holds "a pool is up, which looks at such jobs each second" soon grep -q 'is up' pool.up

# submitted NAME: submits NAME.sub; the number of its job is $id.
submitted() { run "$berth" submit --force "$1.sub"; id=$(sed -n 's/.*submitted: \([0-9]*\).*/\1/p' out); [ -n "$id" ]; }
# is FIELD VALUE: of the job that was submitted last, in the queue or in the history.
is() { { condor_q "$id" -af "$1"; condor_history "$id" -af "$1"; } 2>/dev/null | grep -q "$2"; }
told() { "$berth" logs --events "$id" | grep -q -- "$1"; }
sleeper() { printf 'executable = /bin/sleep\ntransfer_executable = false\narguments = 1000\n%s\nqueue\n' "$2" >"$1.sub"; }

sleeper hold 'periodic_hold = JobStatus == 2 && NumJobStarts >= 1
periodic_hold_reason = strcat("ran ", NumJobStarts, " times")
periodic_hold_subcode = 40 + 2
request_cpus = 1'
holds "a job that says when it is to be held is submitted" submitted hold
holds "it is held when that is so" soon is JobStatus 5
holds "for the reason that it gives" soon is HoldReason '^ran 1 times'
holds "with its number, and that of a policy" is 'strcat(HoldReasonCode, "/", HoldReasonSubCode)' '^3/42'
holds "which its log tells" told 'held: ran 1 times'
run "$berth" rm "$id"

sleeper release 'PeriodicRelease = HoldReasonCode == 1 && NumJobStarts < 5
log = release.log'
holds "one that says when it is to be released" submitted release
runs() { is JobStatus 2; }
soon runs
run "$berth" hold "$id"
holds "is released after it was held" soon sh -c 'grep -q "^013" release.log'
holds "and runs again" soon runs
run "$berth" rm "$id"

sleeper remove '+PeriodicRemove = CurrentTime - QDate >= 2 && JobStatus =?= 1
requirements = Machine == "nosuch"'
holds "one that says when it is to be removed" submitted remove
holds "is removed" soon is JobStatus 3
holds "and why is told" soon is RemoveReason 'PeriodicRemove'

sleeper vacate 'periodic_vacate = JobStatus == 2 && NumJobStarts < 2
log = vacate.log'
holds "one that says when it is to leave its machine" submitted vacate
twice() { [ "$(grep -c '^001' vacate.log)" = 2 ] && grep -q '^004' vacate.log && ! grep -q '^012' vacate.log; }
holds "leaves it, and runs once more" soon twice
run "$berth" rm "$id"

cat >until.sub <<'END'
executable = /bin/sh
transfer_executable = false
arguments = "-c 'exit `expr 3 - $BERTH_TRY`'"
environment = BERTH_TRY=$(Retry)
on_exit_remove = ExitCode == 0
on_exit_hold = ExitCode == 9
max_retries = 20
periodic_remove = false
queue
END
holds "a job that is run until it succeeds" submitted until
run timeout 100 "$berth" wait "$id"
holds "ends well" [ "$status" = 0 ]
holds "at the fourth try" soon is NumJobStarts 4

cat >exit.sub <<'END'
executable = /bin/sh
transfer_executable = false
arguments = "-c 'exit 9'"
on_exit_hold = ExitCode =?= 9
on_exit_hold_reason = strcat("status ", string(ExitCode))
on_exit_hold_subcode = 7
queue
END
holds "a job that is held for its status" submitted exit
holds "says why" soon is HoldReason '^status 9'
holds "with a number" is HoldReasonSubCode '^7'

cat >step.sh <<'END'
#!/bin/sh
n=$(($(cat steps 2>/dev/null || echo 0) + 1))
echo $n >steps
[ $n -ge 3 ] || exit 85
END
cat >step.sub <<'END'
executable = step.sh
checkpoint_exit_code = 85
transfer_checkpoint_files = steps
transfer_output_files = steps
log = step.log
queue
END
holds "a job that ends with the status of a checkpoint" submitted step
run timeout 100 "$berth" wait "$id"
holds "is begun again until it ends otherwise" [ "$status" = 0 ]
holds "with the files that it has left" [ "$(cat steps)" = 3 ]
all_steps() { [ "$(grep -c '^001' step.log)" = 3 ] && [ "$(grep -c '^004' step.log)" = 2 ] && grep -q 'return value 0' step.log; }
holds "which its log tells" soon all_steps

# the whole environment
cat >env.sub <<'END'
executable = /usr/bin/env
transfer_executable = false
getenv = true
output = env.out
queue
END
export COLOUR='red and "blue"' TMPDIR=/nowhere
holds "a job that takes all variables along" submitted env
unset TMPDIR
run timeout 100 "$berth" wait "$id"
holds "has them" grep -qx 'COLOUR=red and "blue"' env.out
holds "but for those of the place where it runs" sh -c '! grep -q "/nowhere\|^HOME=$HOME$" env.out'

# they come in many turns of the customer's loop, and in between it looks for what is new
for i in $(seq 500); do echo "[ Cmd = \"true\"; Number = $i; RequestCpus = 64000; Outputs = {}; PeriodicHold = Number > 0 ]"; done >differ.ad
run "$berth" submit --force differ.ad
holds "hundreds of jobs that differ say such things" [ "$status" = 0 ]
all_held() { [ "$(condor_q -constraint 'Number > 0 && JobStatus == 5' -af Number | sort -n | tr -d '\n' | md5sum)" = "$(seq 500 | tr -d '\n' | md5sum)" ]; }
holds "and each of them is looked at" soon all_held
"$berth" rm --all >/dev/null 2>&1

# many jobs with such expressions
cat >many.sub <<'END'
executable = /bin/true
transfer_executable = false
requirements = Machine == "nosuch"
periodic_remove = size(string(time() * 3)) == 0 || JobStatus == 7
queue 20000
END
run "$berth" submit --force many.sub
holds "many jobs say such things" [ "$status" = 0 ]
submitted remove
holds "and one among them is removed in time" soon is JobStatus 3
echo "1..$count"
[ $failures = 0 ]
