#!/bin/sh
# submit_live_test.sh: a submit file of HTCondor, run by `berth pool` in real sandboxes: its outputs lie where it says. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"

# soon COMMAND...: it succeeds within twenty seconds.
soon() {
  for _ in $(seq 400); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.05
  done
  return 1
}

cp -r "$BERTH_SOURCE/examples/htcondor/." .
"$berth" pool --listen 127.0.0.1:0 --set 'SubmissionMax="16 MiB"' >up 2>pool.err &
pool=$!
pids=$pool
soon grep -q 'To end it' up
there() { [ -n "$("$berth" ads --json)" ]; }
soon there

echo '[ Cmd = "sh"; Args = { "-c", "echo to out; echo to err >&2; echo file >made" }; Out = "o.txt"; Err = strcat("deep/e.", JobIndex, ".txt"); RequestMemory = 16M; RequestDisk = 1M ]' >streams.ad
run "$berth" submit streams.ad
expect 'an ad may name files for standard output and error' 0 '1 job submitted: 1'
run "$berth" wait 1
expect 'and the job ends' 0 ''
arrived() { [ -e made ] && [ -e o.txt ] && [ -e deep/e.0.txt ]; }
soon arrived
holds 'they come with the other outputs' [ "$(cat o.txt deep/e.0.txt made)" = 'to out
to err
file' ]
run "$berth" logs 1
expect 'and are the logs of the job all the same' 0 'to out'
echo '[ Cmd = "true"; Out = "../o.txt"; RequestMemory = 16M; RequestDisk = 1M ]' >outside.ad
run "$berth" submit outside.ad
says 'but they do not lie elsewhere' 2 '' '*Out: expected the name of a file beneath*'
echo '[ Cmd = "true"; Out = strcat("../", JobIndex); RequestMemory = 16M; RequestDisk = 1M ]' >computed.ad
run "$berth" submit computed.ad
run "$berth" wait 2
says 'also when that is computed' 1 '' '*held*'
run "$berth" rm 2

run "$berth" submit count.sub
holds 'a submit file is submitted' [ "$status$(cat out)" = '04 jobs submitted: 3-6' ]
run "$berth" wait 3-6
expect 'its jobs run' 0 ''
counted() { [ "$(ls counts 2>/dev/null | wc -l)" = 8 ]; }
soon counted
(cd counts && grep . -- *) >got
cat >want <<'WANT'
errors.3.0:process 0 counted a ship in sea.txt
errors.3.1:process 1 counted a ship in sea.txt
errors.3.2:process 0 counted a road in land.txt
errors.3.3:process 1 counted a road in land.txt
land.2:1
land.3:1
sea.0:2
sea.1:2
WANT
holds 'what they wrote lies where the file says, by process and cluster' diff want got

seq 100 169 | sed 's/.*/n&, v&/' >runs.txt
printf '%s\n' 'executable = /bin/echo' 'arguments = $(x) of $(Process)' 'output = many/$(y)' 'request_memory = 16M' 'request_disk = 1M' \
  'transfer_output_files = ""' 'queue x, y from runs.txt' >many.sub
run "$berth" submit many.sub
says 'many items are submitted' 0 '70 jobs submitted: 7-76' '*neither /home nor other folders*'
timeout 60 "$berth" wait 7-76
holds 'and each of them finds its own' [ $? = 0 ]
all_came() { [ "$(cat many/* | wc -l)" = 70 ]; }
soon all_came
holds 'what it was told, and where to' [ "$(cat many/v100 many/v169)" = 'n100 of 0
n169 of 69' ]

mkdir jdl htcondor && cp -r books count.sh htcondor && cp "$BERTH_SOURCE/examples/jdl/count.jdl" jdl
cd jdl || exit 1
run "$berth" submit count.jdl
says 'a file in JDL is submitted' 0 '1 job submitted: 77' '*neither /home nor other folders*'
run "$berth" wait 77
expect 'its job runs' 0 ''
came() { [ -s count.out ] && [ -s count.err ]; }
soon came
holds 'what it wrote lies where the file says' [ "$(cat count.out count.err)" = '2
process 0 counted a ship in sea.txt' ]
cd .. || exit 1
run "$berth" q 3-6,77 --format 'Job,Status JobIndex+1'
holds 'jobs are listed by lines of values' [ "$(wc -l <out)$(sed -n 5p out)" = '577,0 undefined' ]
cleared() { [ "$("$berth" history -c 'Job == 77' --format 'Job Args[1]')" = '77 a ship' ]; }
soon cleared
holds 'those that are over as well' cleared
run "$berth" ads --kind offers --format 'Type Memory>0,Name=?=undefined'
expect 'and the ads of the pool' 0 'Machine true,false'
run "$berth" query 'Type == "Machine"' --format 'OpSys'
expect 'by a query too' 0 LINUX
run "$berth" ads --format 'Type (('
says 'a slip is told' 2 '' '--format:1:*'

# ------------------------------------------------------------------------------------------------------------------ HTCondor's ways

mkdir -p habits/logs habits/run && cd habits/run || exit 1
cat >work.sh <<'SH'
echo to out "$@"
echo to err >&2
mkdir -p a d && echo "b of $1" >"a/b.$1" && echo "c of $1" >c && echo "in of $1" >"d/x.$1"
SH
cat >work.sub <<SUB
executable = work.sh
arguments = \$(Process) \$(word)
output = $PWD/../logs/\$(Process).out
error = ../logs/\$(Process).err
transfer_output_files = a/b.\$(Process), c, d/
transfer_output_remaps = "c = ../logs/\$(Process).c"
request_memory = 16M
request_disk = 1M
queue word from printf 'one\ntwo\n' |
SUB
run "$berth" submit -terse work.sub
first=$(sed -n 's/^\([0-9]*\)[.]0 - [0-9]*[.]1$/\1/p' out)
holds 'a file whose items a command prints is submitted, and its numbers are told as HTCondor does' [ "$status" = 0 -a -n "$first" ]
holds 'what its jobs will not find is told once' [ "$(grep -c 'neither /home nor' err)" = 1 ]
run "$berth" wait "$first-$((first + 1))"
expect 'its jobs run, though the program has no x bit' 0 ''
habits_came() { [ -e ../logs/0.err ] && [ -e ../logs/1.err ] && [ -e ../logs/0.out ] && [ -e ../logs/1.out ] && [ -e ../logs/1.c ] && [ -e b.1 ] && [ -e x.0 ] && [ -e x.1 ]; }
soon habits_came
holds 'outputs go elsewhere, by other names, by their last parts, or out of their folder, as the file says' \
  [ "$(cat ../logs/0.out ../logs/1.out ../logs/1.err ../logs/1.c b.0 x.1)" = 'to out 0 one
to out 1 two
to err
c of 1
b of 0
in of 1' ]
run "$berth" logs "$first"
expect 'and are found from there' 0 'to out 0 one'
sed "s|^output.*|output = ../nowhere/deep/out|; s|^queue.*|queue|" work.sub >lost.sub
run "$berth" submit lost.sub
first=$((first + 2))
run "$berth" wait "$first"
lost() { "$berth" logs --events "$first" | grep -q 'nowhere/deep/out could not be put there: No such file'; }
soon lost
holds 'a folder that is not there is told in the log, and the file is kept' lost
echo 'echo x; exit 3' >three.sh
printf '%s\n' 'executable = three.sh' 'request_memory = 16M' 'request_disk = 1M' 'transfer_output_files = ""' 'on_exit_remove = NumJobStarts >= 3' 'queue' 'on_exit_remove = true' 'on_exit_hold = ExitCode == 3' 'queue' \
  'on_exit_hold = false' 'max_retries = 9' 'on_exit_remove = false' 'retry_until = ExitCode == 3' 'queue' >end.sub
run "$berth" submit end.sub
first=$((first + 1))
run "$berth" wait "$first" "$((first + 2))"
tried() { [ "$("$berth" logs --events "$first" | grep -c '(claim .*, try')" = 3 ]; }
soon tried
holds 'a job is run until it says that it is over' tried
held() { "$berth" logs --events "$((first + 1))" | grep -q 'held, as the job says: it ended with status 3'; }
soon held
holds 'one is held, as it says' held
once() { [ "$("$berth" logs --events "$((first + 2))" | grep -c '(claim .*, try')" = 1 ]; }
holds 'and one is not tried again, as it says' once
run "$berth" rm "$((first + 1))"
cd ../.. || exit 1

# ------------------------------------------------------------------------------------------------------------------ sweeps

mkdir sweep && cd sweep || exit 1
printf 'Seed,Data\n17,a.txt\n018,b.txt\n' >runs.csv
echo one >a.txt && echo two >b.txt
echo '[ Cmd = "sh"; Args = { "-c", "echo $BERTH_INDEX $0 $(cat *.txt)", Seed }; Inputs = { Data }; Out = strcat("made.", Seed, ".", Index, ".", JobIndex);
  Outputs = {}; RequestMemory = 16M; RequestDisk = 1M ]' >sweep.ad
run "$berth" submit sweep.ad --table runs.csv --json
json 'a sweep is one submission' 0 'len(rows) == 2 and rows[1]["first"] == rows[0]["first"] + 1'
first=$(sed -n 's/^{"first": \([0-9]*\).*/\1/p;1q' out)
run "$berth" wait "$first-$((first + 1))"
expect 'its jobs run' 0 ''
made() { [ -s made.17.0.0 ] && [ -s made.018.1.1 ]; }
soon made
holds 'each with the values of its row, its own inputs and its own number' [ "$(cat made.17.0.0 made.018.1.1)" = '0 17 one
1 018 two' ]
of() { "$berth" jobs "$first-$((first + 1))" --format 'Index,Seed'; }
holds 'and is found by them' [ "$(of)" = '0,17
1,018' ]
cd .. || exit 1

for _ in 1 2 3; do
  printf '[ Cmd = "true"; Pad = "'
  head -c 6000000 /dev/zero | tr '\0' x
  printf '" ]\n'
done >long.ad
run "$berth" submit --force long.ad
says 'a submission that is too long is refused before it is sent, with the limit by its name' 2 '' '*SubmissionMax: a body of up to 16777216 bytes is read*'

kill "$pool"
wait "$pool"
holds 'the pool ends in order' [ $? = 0 ]
echo "1..$count"
[ $failures = 0 ]
