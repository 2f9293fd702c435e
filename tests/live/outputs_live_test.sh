#!/bin/sh
# outputs_live_test.sh: what a job leaves comes, or is told to be missing: a matchmaker, a customer and a provider, all of them real processes,
# that run out of descriptors and disk. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
for tool in prlimit python3 b2sum; do
  command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not here" && exit; }
done
umask 077
. "$BERTH_SOURCE/tests/common/says.sh"

# start NAME COMMAND...: it runs until `stop NAME`; what it prints goes to NAME.up and NAME.err.
start() {
  name=$1
  shift
  : >"$work/$name.up"
  "$@" >"$work/$name.up" 2>>"$work/$name.err" &
  echo $! >"$work/$name.pid"
  pids="$pids $!"
}
stop() {
  kill "$(cat "$work/$1.pid")"
  wait "$(cat "$work/$1.pid")" 2>/dev/null
}
is_up() { grep -q 'is up' "$work/$1.up"; }

start matchmaker "$berth" matchmaker --listen 127.0.0.1:0
soon is_up matchmaker
for file in state/customer state/provider; do
  mkdir -p $file
  "$berth" token create --subject alice --scope 'ad:read ad:write claim match job:submit job:own' --lifetime 1d --out $file/token >/dev/null
done
provider() { start provider "$berth" provider; }
start customer "$berth" customer
provider
listed_machine() { listed 'ads -c Type=="Machine"' 'len(rows) == 1'; }
soon listed_machine || { echo "Bail out! no machine" && cat ./*.err && exit 1; }
soon listed status 'rows'
small='RequestMemory = 32M; RequestDisk = 64M'
# job NUMBER: it is over, and all of it has come, within a minute.
job() { timeout 60 "$berth" wait "$1"; }
mkdir -p sub && cd sub || exit 1
log() { "$berth" logs --events "$1"; }

# -------------------------------------------------------------------------------------------------------- what is told

run "$berth" run -o tables -o none -- sh -c 'mkdir -p tables/deep; echo 1 >tables/a; echo 2 >tables/deep/b; echo 3 >tables/.hidden; echo 4 >other'
holds 'a folder that is named comes with all that is in it' [ "$(cat tables/a tables/deep/b)" = '1
2' ]
holds 'but not what is hidden, nor what is not named' [ ! -e tables/.hidden ] && [ ! -e other ]
says 'a job that has not made an output that it names is held, and the file is named' 1 '' \
  '*job 1 is held: Transfer output files failure at the execution point *: the job has not made none: (errno 2) No such file or directory*'
log 1 >events
holds 'its log tells it as well' grep -q 'the job has not made none' events
run "$berth" why 1
says 'so does berth why' 1 '*held*the job has not made none*' ''
run "$berth" run -- sh -c 'echo secret >shut; chmod 000 shut; echo hi >.rc'
holds 'a file that nobody may read comes' [ "$status$(cat shut)" = 0secret ]
holds 'what begins with a dot does not come by itself' [ ! -e .rc ]
run "$berth" run -- sh -c 'echo new >shut'
holds 'a job that names no outputs replaces nothing that it did not make' [ "$status$(cat shut)" = 0secret ]
holds 'what it made lies beside it' [ "$(cat shut.3)" = new ]
log 3 >events
holds 'and that is told' grep -q 'shut is there already, and the job does not name it: it came as shut.3' events
run "$berth" run -o shut -- sh -c 'echo newer >shut'
holds 'one that it names is replaced' [ "$status$(cat shut)" = 0newer ]
run "$berth" run --disk 4MiB -- sh -c 'echo x >a-ok; truncate -s 3M holes.1; truncate -s 3M holes.2'
says 'what is larger than the disk of the job is missing, by its name, and the status says so' 1 '' \
  '*job 5: 1 file is missing: holes.?: with it there would be more than RequestDisk, 4194304 bytes'
holds 'the others are here' [ "$(ls -d a-ok holes.* | wc -l)" = 2 ]
run "$berth" job 5 --json
json 'so does its ad' 0 'rows[0]["FilesMissing"] == 1 and rows[0]["Missing"][0]["Name"].startswith("holes.")'
log 5 >events
holds 'and its log, which does not say that all is here' eval 'grep -q "not all files are here: 1 file is missing: holes." events && ! grep -q "all files are here$" events'
run "$berth" wait 5
says 'and who waits for it' 1 '' '*job 5: 1 file is missing: holes.*'
holds 'what cannot be shown is no success' eval '! "$berth" run -- seq 5 >/dev/full 2>err'
holds 'and is told' grep -q 'not all that it has written is here' err
run "$berth" run -- seq 5
expect 'what can be is one' 0 '1
2
3
4
5'
# ------------------------------------------------------------------------------------------------------ out of descriptors

# squeeze NAME: it can open nothing more; ease NAME: it can again.
squeeze() { prlimit --pid "$(cat "$work/$1.pid")" --nofile="$2":; }
ease() { prlimit --pid "$(cat "$work/$1.pid")" --nofile=1024:; }
waits() { grep -q 'event=outputs.wait' "$work/provider.err"; }
# the provider has said that the job ended: now it sends
sent() { [ "$(grep -c 'event=job.ended' "$work/provider.err")" -ge "$ends" ]; }
running() { "$berth" jobs "$1" --json | grep -q Running; }

echo "[ Cmd = \"sh\"; Args = { \"-c\", \"sleep 3; echo came >late\" }; $small ]" >late.ad
run "$berth" submit late.ad
soon running 8
squeeze provider 3
holds 'a provider without descriptors waits, and says so' soon waits
ease provider
holds 'of a provider without descriptors nothing is lost' job 8
holds 'all is here' [ "$(cat late)" = came ]
rm -f late
run "$berth" submit late.ad
soon running 9
ends=$(($(grep -c 'event=job.ended' "$work/provider.err") + 1))
squeeze customer 3
holds 'a job ends while its customer has none' soon sent
ease customer
holds 'nor of a customer' job 9
holds 'and all is here again' [ "$(cat late)" = came ]

# ------------------------------------------------------------------------------------------------------------ the cache

head -c 3000000 /dev/urandom >input
run "$berth" run -i input -- b2sum input
holds 'an input is read' [ "$(cat out)" = "$(b2sum input)" ]
run "$berth" run --disk 1MiB -i input -- b2sum input
says 'inputs that are larger than the disk of the job are not fetched' 1 '' '*is held: *its inputs are larger than RequestDisk*'
stop provider
hash=$(b2sum -l 256 input | cut -c1-64)
holds 'and is in the cache' [ -e "$work/state/provider/cache/$hash" ]
head -c 3000000 /dev/zero >"$work/state/provider/cache/$hash"
echo other >"$work/state/provider/cache/.boot"
provider
run timeout 60 "$berth" run -i input -- b2sum input
holds 'after a power cut what is in the cache is read before it is trusted, and fetched anew' [ "$(cat out)" = "$(b2sum input)" ]

echo "1..$count"
[ $failures = 0 ]
