#!/bin/sh
# demo.sh: two ads meet. Run by `./dev demo`, which builds the program first.
set -eu
cd "$(dirname "$0")/.."
berth=${BERTH:-build/berth}

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
    bold='' plain=''
fi

say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# show DIALECT MY TARGET EXPRESSION: the command as one would type it, and what it prints
show() {
    printf '  $ berth eval -d %s --my %s --target %s "%s"\n' "$1" "$2" "$3" "$4"
    value=$("$berth" eval -d "$1" --my "$2" --target "$3" "$4")
    printf '    %s\n' "$value"
}

machine=examples/workstation.ad
job=examples/job.ad

say "A workstation ($machine) says whom it accepts and whom it prefers; so does a job ($job)."
for ad in $machine $job; do
    printf '  %s:\n' "$ad"
    awk '/^ *(Rank|Constraint) = /, /;$/' "$ad"
done

say "By HTCondor's rules they match: each one's constraint is true of the other."
show condor $machine $job Constraint
show condor $job $machine Constraint

say "So the matchmaker introduces them."
printf '  $ berth match -d condor -r %s -o %s\n' $job $machine
matched=$("$berth" match -d condor -r $job -o $machine)
printf '%s\n' "$matched" | sed 's/^/    /'

say "And each says how much it likes the other."
show condor $job $machine Rank
show condor $machine $job Rank

say "By the dissertation's rules they do not: the workstation's constraint is an error,"
show classic $machine $job Constraint
say "because its rank multiplies a truth value by ten, and there a truth value is not a number."
show classic $machine $job Rank
show classic $machine $job 'member(other.Owner, ResearchGroup)'
show classic $machine $job 'true * 10'

say "A job that matches nothing in a pool asks why."
printf '  $ berth why -r examples/why/jobs.ad -o examples/why/pool.ad --name big\n'
"$berth" why -r examples/why/jobs.ad -o examples/why/pool.ad --name big | sed 's/^/    /'

say "What is left of the job's constraint once its own attributes are known:"
printf '  $ berth specialize --truth -d condor --my %s "Constraint"\n' $job
left=$("$berth" specialize --truth -d condor --my $job Constraint)
printf '    %s\n' "$left"

say "Now you:  build/berth eval -i        build/berth help        docs/language.md"
