#!/bin/bash
# script_live_test.sh: a script as a job, and how it stands in a word, for programs that submit: `berth submit --script`, `berth jobs --word`; and the profile for
# Snakemake in examples/snakemake, with a job as Snakemake writes it. Prints TAP.
set -u
berth=${BERTH:?the program}
source=${BERTH_SOURCE:?the sources}
. "$source/tests/common/says.sh"
mkdir bin && ln -s "$(realpath "$berth")" bin/berth
PATH=$PWD/bin:$PATH
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
word() { [ "$(berth jobs --word "$1" 2>word.err)" = "$2" ]; }
said() { [ "$status" = 2 ] && grep -qF -- "$1" err; }
number() { [ "$status" = 0 ] && grep -qx '[1-9][0-9]*' out && [ "$(wc -l <out)" = 1 ]; }

printf '#!/bin/sh\necho "$1 $WHOSE $(cat in.txt)" >out.txt\n' >fit.sh
echo data >in.txt
run berth submit --script fit.sh --terse
holds 'without a pool nothing is printed, and the status says so' [ "$status$(wc -c <out)" = 30 ]
berth pool --listen 127.0.0.1:0 >pool.up 2>pool.err &
pids="$pids $!"
holds 'a pool is up' soon grep -q 'is up' pool.up
run berth submit --script fit.sh -c 1 -m 64M --terse -i in.txt -o out.txt -e WHOSE=mine fits
holds 'a script is submitted, and its number printed' number
job=$(cat out)
holds 'it succeeds' soon word "$job" success
holds 'and what it made is here then' [ "$(cat out.txt)" = 'fits mine data' ]
printf '#!/bin/sh\nexit 3\n' >bad.sh
run berth submit --script bad.sh -m 64M --terse
holds 'one that fails' soon word "$(cat out)" failed
printf '#!/bin/sh\nsleep 1000\n' >long.sh
run berth submit --script long.sh -m 64M --terse
long=$(cat out)
holds 'one that runs, or waits' word "$long" running
berth hold "$long" >/dev/null
held() { word "$long" running && grep -q 'is held' word.err; }
holds 'one that is held still is, and that is said' soon held
berth rm "$long" >/dev/null
holds 'one that was removed has failed' soon word "$long" failed
run berth jobs --word 4711
holds 'what never was is no word' [ "$status$(wc -c <out)" = 10 ]
run berth submit --script fit.sh --table x.csv
holds 'a script has no table' said '--script: its ad is said by options'
run berth submit -c 4 fit.sh
holds 'and options of a script want one' said 'go with --script'
run berth submit --script nothing.sh --terse
holds 'a script that is not there is no job' [ "$status$(wc -c <out)" = 20 ]

# ---- as Snakemake calls the profile
mkdir -p flow/data flow/.snakemake/tmp.abc123 && cd flow || exit 1
echo 41 >data/n.txt
echo 'rule all:' >Snakefile
cat >.snakemake/tmp.abc123/snakejob.sh <<END
#!/bin/sh
# properties = {"type": "single", "rule": "add", "local": false, "input": ["data/n.txt"], "output": ["results/m.txt"], "wildcards": {}, "params": {}, "log": [], "threads": 1, "resources": {"mem_mb": 64, "disk_mb": 100, "tmpdir": "/tmp"}, "jobid": 1, "cluster": {}}
cd $PWD && mkdir -p results && test -f $PWD/Snakefile && echo \$((\$(cat '$PWD/data/n.txt') + 1)) >results/m.txt && touch '$PWD/.snakemake/tmp.abc123/1.jobfinished' || (touch '$PWD/.snakemake/tmp.abc123/1.jobfailed'; exit 1)
END
run "$source/examples/snakemake/submit" .snakemake/tmp.abc123/snakejob.sh
holds 'the profile submits its job' number
step=$(cat out)
told() { [ "$("$source/examples/snakemake/status" "$step")" = "$1" ]; }
holds 'tells how it stands' soon told success
holds 'and its output is where Snakemake looks' [ "$(cat results/m.txt)" = 42 ]
run "$source/examples/snakemake/cancel" "$step"
holds 'to cancel what is over is no error' [ "$status" = 0 ]
cd ..

echo "1..$count"
[ $failures = 0 ]
