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

say "Now a real pool on this machine: a matchmaker, and a worker and a customer that are shell scripts with curl."
work=$(mktemp -d)
trap 'kill $started 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
printf '  $ berth matchmaker\n'
"$berth" matchmaker --listen 127.0.0.1:0 --state "$work/state" --name demo >"$work/up" 2>"$work/log" &
started=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q 'listening at  unix' "$work/up" && break
    sleep 0.1
done
sed -n 's/^/    /; 1p' "$work/up"
pool=http://$(sed -n 's/.*listening at  \(127[.0-9:]*\)$/\1/p' "$work/up")
for who in machine alice; do # a token for each, as `berth token create --subject alice` makes them
    curl -sSf --unix-socket "$work/state/matchmaker.sock" http://demo/v1/tokens \
        -d "[Subject = \"$who\"; Scope = \"ad:read ad:write claim match\"; Lifetime = 600]" |
        sed -n 's/.*Token = "\([^"]*\)".*/header = "Authorization: Bearer \1"/p' >"$work/$who"
done
printf '  $ examples/worker.sh POOL TOKEN heron\n'
bash examples/worker.sh "$pool" "$work/machine" heron >"$work/worker" 2>&1 &
started="$started $!"
printf '  $ examples/customer.sh POOL TOKEN alice "echo hello from job \$\$; nproc"\n'
bash examples/customer.sh "$pool" "$work/alice" alice 'echo "hello from job $$"; nproc' | sed 's/^/    /'
printf '  $ berth agents\n'
"$berth" agents --state "$work/state" | sed 's/^/    /'
printf '  $ berth status\n'
"$berth" status --state "$work/state" | sed 's/^/    /'

say "Now you:  build/berth matchmaker        build/berth eval -i        build/berth help        docs/operations.md"
