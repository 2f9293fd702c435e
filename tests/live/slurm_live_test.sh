#!/bin/bash
# slurm_live_test.sh: Slurm's commands by their names, on a pool: as Toil 5.9 and Snakemake --slurm call them, and what these read of them. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

# printed PATTERN: the command ended well, and a line of what it printed is like that.
printed() { [ "$status" = 0 ] && grep -qxE -- "$1" out; }
refused() { [ "$status" = 1 ] && grep -qE -- "$1" err; }
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
# state ID STATE CODE: sacct as Toil calls it says so, soon.
state() { sacct -n -j "$1" --format JobIDRaw,State,ExitCode -P -S 1970-01-01 >got && [ "$(cat got)" = "$1|$2|$3" ]; }
id() { id=$(sed -n 's/^Submitted batch job //p' out); [ -n "$id" ]; }

mkdir bin work
run "$berth" slurm install bin
holds 'the commands are put into a folder' [ "$status $(ls bin | wc -l)" = '0 7' ]
PATH=$PWD/bin:$PATH
run squeue -h
holds 'without a pool the status says so' [ "$status" = 1 ]
"$berth" pool --listen 127.0.0.1:0 >pool.up 2>pool.err &
pids="$pids $!"
holds 'a pool is up' soon grep -q 'is up' pool.up
a_machine() { sinfo -h -o '%D' | grep -qx 1; }
holds 'with a machine' soon a_machine

# ---- Toil 5.9
run sbatch -J toil_job_1 -o "$PWD/work/toil_%j.out" -e "$PWD/work/toil_%j.err" --export=ALL,COLOUR=red --mem=64 --cpus-per-task=1 -t 10 --wrap='echo "$COLOUR $SLURM_JOB_ID $SLURM_CPUS_PER_TASK"; echo bad >&2'
holds 'Toil submits a command, and reads the last word' id
toil=$id
holds 'and asks for it' soon state "$toil" COMPLETED 0:0
holds 'its output is where it was told to be' [ "$(cat "work/toil_$toil.out")" = "red $toil 1" ]
holds 'and its errors' [ "$(cat "work/toil_$toil.err")" = bad ]
run sbatch --mem=64M --wrap='exit 3'
id && fails=$id
run sbatch --mem 100M -t 2:00 --wrap='exec python3 -c "import time; held = bytearray(300 << 20); time.sleep(60)"'
id && hungry=$id
run sbatch --mem=64 --parsable --wrap='sleep 1000'
holds 'tersely, too' printed '[0-9]+'
sleeper=$(cat out)
holds 'a status is told' soon state "$fails" FAILED 3:0
holds 'and what took too much memory' soon state "$hungry" OUT_OF_MEMORY 0:125
run sacct -n -j "$toil,$fails" --format JobIDRaw,State,ExitCode -P -S 2020-01-01
holds 'several at once' printed "$toil\\|COMPLETED\\|0:0"
holds 'are told each' printed "$fails\\|FAILED\\|3:0"
running() { squeue -h --format '%i %t %M' >out && grep -qE "^$sleeper R [0-9]+:[0-9][0-9]$" out; }
holds 'what runs is in the queue, with its time' soon running
holds 'and nothing else' [ "$(wc -l <out)" = 1 ]
run scontrol show job "$sleeper"
holds 'and is shown whole' printed " *JobState=RUNNING Reason=None"
run scontrol show job "$fails"
holds 'as is what is over' printed ' *Requeue=1 .* ExitCode=3:0'
run scontrol show config
holds 'the configuration has what is looked for' printed 'SchedulerTimeSlice +=  *30 sec'
run scontrol -o show node
holds 'nodes are shown' printed 'NodeName=.* CPUTot=[0-9]+ RealMemory=[0-9]+ .*'
run sinfo -Nhe --format '%m,%c'
holds 'with their memory and processors' printed '[0-9]+,[0-9]+'
run sinfo -a -o '%P %G %l %p %c %m'
holds 'later ones ask for the partitions so' printed 'berth\* \(null\) infinite 1 [0-9]+ [0-9]+'
run scancel "$sleeper"
holds 'a job is cancelled' [ "$status" = 0 ]
holds 'which is told' soon state "$sleeper" CANCELLED 0:0
run scancel "$sleeper"
holds 'twice is no error' [ "$status" = 0 ]
run scancel 4711
holds 'but what never was is one' refused 'Invalid job id'

# ---- Snakemake --slurm
cd work || exit 1
run sinfo -o %P
holds 'Snakemake finds the default partition by its asterisk' printed 'berth\*'
run sbatch -J 3fa8-1 -o .snakemake/slurm_logs/rule_a/%j.log --export=ALL -p berth -t 5 --mem 64 --cpus-per-task=1 -D "$PWD" --wrap='srun -n1 --cpu-bind=q sh -c "echo step \$SLURM_JOB_ID; echo made >made.txt"'
holds 'and submits a command, which has steps' id
# as it asks: 7.21, with JobIdRaw
steps() { sacct -P -n --format=JobIdRaw,State -j "$id" >got && [ "$(cat got)" = "$id|COMPLETED" ]; }
holds 'it asks with its own words' soon steps
cat ".snakemake/slurm_logs/rule_a/$id.log" >out
holds 'the log is where it looks' [ "$(cat out)" = "step $id" ]
holds 'and what was made has come when it hears of the end' [ "$(cat made.txt)" = made ]
run sacct -nu "$(id -un)" -o Account%20
holds 'it looks for an account' [ "$status" = 0 ]

# ---- people
cat >fit.sh <<'END'
#!/bin/bash
#SBATCH --job-name="the fit"
#SBATCH --mem=64M -c 1   # little
#SBATCH --array=0-3
#SBATCH -o fit_%A_%a.txt

echo "${BASH_VERSION:+bash} task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_JOB_ID, job $SLURM_JOB_ID: $1 $2"
#SBATCH --mem=9999G
END
run sbatch -a 1,4-5 fit.sh 'two words' x
holds 'a script says what it wants; what is typed goes before it' id
array=$id
done3() { [ "$(sacct -n -P -X -j "$array" --format=JobID,State | sort | tr '\n' ' ')" = "${array}_1|COMPLETED ${array}_4|COMPLETED ${array}_5|COMPLETED " ]; }
holds 'an array is told task by task' soon done3
holds 'each has a file of its own' [ "$(cat "fit_${array}_4.txt")" = "bash task 4 of $array, job $((array + 1)): two words x" ]
run sacct -j "${array}_5" --format=JobID%10,JobName,State,ReqMem
holds 'a table is for people' printed " *${array}_5 +the fit +COMPLETED +64M *"
run srun --mem=64 -c 1 echo from elsewhere
holds 'srun runs a command and says what it says' printed 'from elsewhere'
COLOUR=blue SECRET=none run srun --mem=64 --export=COLOUR sh -c 'echo "$COLOUR ${SECRET-not there}"'
holds 'and of the environment only what is exported, if that is said' printed 'blue not there'
mkdir -p inside && echo within >inside/in.txt
run srun --mem=64 --tmp=64 -D inside -i in.txt -o srun.out sh -c 'cat; echo bad >&2; echo made >new.txt'
holds 'outside a job it reads a file that is not there: the folder is where it runs' refused 'srun: --input: in.txt: No such file'
run srun --mem=64 --tmp=64 -D inside -i inside/in.txt -o srun.out sh -c 'cat; echo bad >&2; echo made >new.txt'
holds 'it takes its input from a file, and its output and errors go to one' [ "$status$(sort srun.out | tr '\n' ' ')$(cat out)" = '0bad within ' ]
holds 'what it makes comes to its folder' [ "$(cat inside/new.txt)" = made ]
run srun -o 'log.%j' true
holds 'a name with a number that there is not yet is refused' refused 'srun: --output: expected a name without %'
run sbatch --mem=64 -e step.err -o step.out --wrap='srun -o ignored -n1 sh -c "echo in a step; echo bad >&2"'
holds 'a job whose errors have a file of their own has steps, too' id
step=$id
holds 'and ends well' soon state "$step" COMPLETED 0:0
holds 'with what the step said' [ "$(cat step.out)/$(cat step.err)" = 'in a step/bad' ]
run sbatch --mem=64 --parsable --wrap='sleep 1000'
stays=$(cat out)
run scancel --me -p gpu
holds 'none is in another partition' [ "$status" = 0 ]
run scancel --me -A physics
holds 'an account is refused' refused 'account: nothing like it here'
run squeue -h --me -o %i
holds 'so what is meant by nobody goes on' printed "$stays"
run scancel --me
holds 'one ends what is his own' soon state "$stays" CANCELLED 0:0
run sbatch --wrap=true --dependency=afterok:1
holds 'what cannot be done is said' refused "sbatch: --dependency cannot be done here"
run sbatch --mem=9000000T --wrap=true
holds 'nor what is too much for a number' refused "--mem: expected mebibytes"
run sbatch -c 0-0 --wrap=true
holds 'or no number of processors' refused "--cpus-per-task: expected a number"
run squeue -o '%i %'
holds 'nor a format that ends too early' refused 'is not known here'
run sbatch --mem=much --wrap=true
holds 'and what is wrong' refused "sbatch: --mem: expected mebibytes, or 2G, got 'much'"
run sbatch --wrap=true -A physics --qos=fast
holds 'what changes nothing is said before the number' [ "$status$(cat err)" = '0berth: sbatch: --account, --qos: nothing like it here' ]
id && last=$id
run sacct -j "$last" --format=Nothing
holds 'a field that there is not is named' refused "there is no field 'Nothing'"
BERTH_SLURM_SHARE=1 run sbatch --test-only -o log.%j --wrap='echo shared'
holds 'with a shared folder nothing travels' [ "$status$(grep -c 'ShareFiles = true' out)$(grep -c 'Out = ' out)$(cat err)" = 010 ]
names() { # of both: where files come back, and where the job writes them itself
  BERTH_SLURM_SHARE=$1 sbatch --test-only -o '%u.%x.%%.%4j.%N.log' -J fit --wrap=true >out 2>&1 &&
    python3 -c 'import re, sys
text = open("out").read()
shell = re.search(r"exec >(.*?); ", text)
print(shell.group(1).replace("\\", "") if shell else re.search(r" Out = (strcat.*?\)); ", text).group(1))' | tr -d "'"
}
holds 'a name of a file means the same where it comes back ...' [ "$(names 0)" = "strcat(\"\", \"$(whoami).fit.%.\", JobId, \".node.log\")" ]
holds '... and where the job writes it' [ "$(names 1)" = "$(whoami).fit.%.\"\$SLURM_JOB_ID\".node.log" ]
since() { sacct -n -P -X -S "$1" --format=JobIDRaw >got 2>err; }
holds 'those that were over before a date are left out' eval 'since now+1hour && ! grep -q "^$array$" got && since now-7days && grep -q "^$array$" got && since today && since 00:00'
holds 'what is no date is refused' eval '! since yesterweek && grep -q "starttime: expected a date" err'
cd ..

echo "1..$count"
[ $failures = 0 ]
