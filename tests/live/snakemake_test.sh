#!/bin/bash
# snakemake_test.sh: Snakemake itself, with the profile in examples/snakemake, on a pool of real daemons: scripts with modules, parameters, folders, logs, a step that
# fails and is tried again with more memory, a checkpoint; what cannot travel is refused with a word; and what runs is removed when Snakemake is told to end.
# `./dev soak` runs it: Snakemake asks for its jobs every ten seconds. Prints TAP.
set -u
berth=${BERTH:?the program}
source=${BERTH_SOURCE:?the sources}
. "$source/tests/common/live.sh"
need setsid snakemake

mkdir bin && ln -s "$(realpath "$berth")" bin/berth
export PATH=$work/bin:$PATH BERTH_STATE=$work/state
setsid "$berth" pool --listen 127.0.0.1:0 >up 2>pool.err &
groups="$groups $!"
disown
until_true() { local ends=$((SECONDS + $1)); while ! "${@:2}" >/dev/null 2>&1; do [ $SECONDS -lt $ends ] || { "${@:2}"; return 1; }; sleep 0.2; done; }
check 'a pool is up' until_true 60 grep -q 'pool is up' up
check 'and has a machine' until_true 60 sh -c 'berth machines --json | grep -q name'

mkdir -p flow/data flow/workflow/scripts outside
cd flow || exit 1
for n in 1 2 3; do echo "$n $n" >data/$n.txt; done
echo 5 >data/a.txt
echo 'factor: 3' >config.yaml
echo 7 >../outside/far.txt
echo 'def total(text): return sum(int(word) for word in text.split())' >workflow/scripts/helper.py
cat >workflow/scripts/add.py <<'END'
from helper import total
with open(snakemake.input[0]) as f, open(snakemake.output[0], "w") as out, open(snakemake.log[0], "w") as log:
    out.write(f"{total(f.read()) * snakemake.config['factor']}\n")
    log.write("added\n")
END
cat >workflow/Snakefile <<'END'
configfile: "config.yaml"
small = dict(mem_mb=256, disk_mb=64)
rule all:
    input: "results/total.txt", "results/flaky.txt", "results/gathered.txt"
rule add:
    input: "data/{n}.txt"
    output: "results/{n}.sum"
    log: "logs/{n}.log"
    wildcard_constraints: n=r"\d"
    resources: **small
    script: "scripts/add.py"
rule folder:
    input: expand("results/{n}.sum", n=[1, 2, 3])
    output: directory("results/parts")
    resources: **small
    shell: "mkdir -p {output} && for f in {input}; do cp $f {output}; done"
rule total:
    input: "results/parts"
    output: "results/total.txt"
    params: more=1
    resources: **small
    run:
        import glob
        with open(output[0], "w") as out:
            out.write(f"{sum(int(open(f).read()) for f in glob.glob(input[0] + '/*')) + params.more}\n")
rule flaky:
    output: "results/flaky.txt"
    retries: 2
    resources: mem_mb=lambda wildcards, attempt: 128 * attempt, disk_mb=64
    shell: "test {resources.mem_mb} -ge 256 && echo fine >{output}"
checkpoint split:
    input: "data/a.txt"
    output: directory("results/split")
    resources: **small
    shell: "mkdir -p {output} && for n in 1 2; do echo $n >{output}/$n.part; done"
rule each:
    input: "results/split/{n}.part"
    output: temp("results/each/{n}.txt")
    resources: **small
    shell: "cat {input} {input} >{output}"
def parts(wildcards):
    folder = checkpoints.split.get().output[0]
    return expand("results/each/{n}.txt", n=glob_wildcards(folder + "/{n}.part").n)
rule gather:
    input: parts
    output: "results/gathered.txt"
    resources: **small
    shell: "cat {input} | sort >{output}"
rule far:
    input: workflow.basedir + "/../../outside/far.txt"
    output: "results/far.txt"
    shell: "cp {input} {output}"
rule long:
    output: "results/long.txt"
    resources: **small
    shell: "sleep 1000; touch {output}"
END
run() { timeout -k 10 280 snakemake --profile "$source/examples/snakemake" "$@"; }
whole() { BERTH_SNAKEMAKE_EXTRA='data/a.txt results/split' run --jobs 8; }
check 'a workflow runs to its end' whole
check 'scripts with modules and settings, folders and parameters' [ "$(cat results/total.txt)" = 37 ]
check 'logs come back' [ "$(cat logs/1.log)" = added ]
check 'a step that failed was tried again, with more memory' [ "$(cat results/flaky.txt)" = fine ]
check 'steps behind a checkpoint' [ "$(tr '\n' ' ' <results/gathered.txt)" = '1 1 2 2 ' ]
nothing() { run --jobs 8 >again 2>&1 && grep -q 'Nothing to be done' again; }
check 'what is made is not made again' nothing
far() { ! run results/far.txt >far.out 2>&1 && grep -q 'far.txt: not beneath .*, where Snakemake was started' far.out; }
check 'an input from elsewhere is refused with a word, and not waited for' far
printf 'rule lone:\n    output: "lone.txt"\n    shell: "touch {output}"\n' >Snakefile.lone
above() { mkdir -p deep && (cd deep && ! run --snakefile ../Snakefile.lone lone.txt >../above.out 2>&1) && grep -q 'not beneath .*, where Snakemake was started' above.out; }
check 'and so is what says how the steps go, in the folder above' above

# what a shell has in the background would not hear Ctrl-C
/usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp("snakemake", ["snakemake", "--profile", sys.argv[1], "results/long.txt"])' "$source/examples/snakemake" >long.out 2>&1 &
long=$!
check 'a long step runs' until_true 60 sh -c 'berth jobs | grep -q Running'
kill -INT $long
gone() { [ "$(berth jobs | grep -c snakejob)" = 0 ]; }
check 'when Snakemake is told to end, its job is removed' until_true 60 gone
wait $long
cd ..
echo "1..$count"
[ $failures = 0 ]
