#!/bin/bash
# restore_live_test.sh: the procedure of docs/trouble.md, "A lost host": a customer is backed up while it works, its host is lost, and the backup is
# put back: what had ended since does not run again. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid python3
umask 077
soon() { for _ in $(seq $((failures ? 20 : 300))); do "$@" && return; sleep 0.2; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
lose() { kill -KILL "$(cat "$1.pid")" && soon gone "$1"; }
says() { grep -q "$2" "$1.err"; }
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
spans=(--set 'Networks={ "127.0.0.0/8" }' --set Pin=10 --set Lease=10)
port=$(steady_port)
pool() { start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool" "${spans[@]}" && soon grep -q 'listening at  unix' pool.up && port=$(sed -n 's/.*http:..127.0.0.1:\([0-9]*\).*/\1/p' pool.up | head -1); }
customer() { start "$1" "$berth" customer --state "$work/$1" "${spans[@]}" && soon grep -q 'is up' "$1.up"; }
provider() { start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${spans[@]}" && soon grep -q 'is up' heron.err; }
export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
up() {
  pool && mkdir -p alice/customer heron/provider &&
    token alice 'ad:read ad:write claim match job:submit job:own job:any' alice/customer/token &&
    token machine/heron 'ad:read ad:write claim match' heron/provider/token && customer alice && provider
}
echo '[ Cpus = 8 ]' >owner.ad
# job COUNT COMMAND: so many jobs that do that.
job() {
  echo "[ Count = $1; Cmd = \"sh\"; Args = { \"-c\", \"$2\" }; Outputs = {}; RequestMemory = 32M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == \"Machine\" ]" >job.ad
  "$berth" submit --force job.ad >job.out 2>&1
}
# ran FIRST LAST TIMES: how often the machine has begun those jobs, in all.
ran() { [ "$(sed -n 's/.* event=job.start .* job=\([0-9]*\)$/\1/p' heron.err | awk -v a="$1" -v b="$2" '$1 >= a && $1 <= b' | wc -l)" = "$3" ]; }
history() { [ "$("$berth" history --json -c "$1" 2>/dev/null | grep -c .)" = "$2" ]; }
check 'a pool comes up' up

# Jobs 1 to 4 end before the backup, 5 to 12 after it; 13 is submitted before it and runs when the host is lost; 14 never ran; 15 to 34 never can run, and are
# removed after it, all at once.
before() { job 4 true && soon ran 1 4 4 && soon history 'Job <= 4' 4; }
check 'jobs have ended' before
never() { sed 's/Count = 1;/Count = 20;/; s/== "Machine"/== "Lathe"/' job.ad >never.ad && "$berth" submit --force never.ad >never.out 2>&1; }
waiting() { job 8 'exit 3' && job 1 'sleep 1000' && job 1 true && never; }
held() { "$berth" hold 5-14 >/dev/null; }
# A provider that is away keeps them waiting.
away() { kill -STOP "$(cat heron.pid)"; }
check 'others wait, while the machine is away' eval 'away && waiting && held'
backup() { "$berth" store backup --state "$work/alice/customer" backup.db >backup.out && grep -q 'rows' backup.out && "$berth" store check backup.db >/dev/null; }
check 'the store of the running customer is backed up' backup
check 'no second time into the same file' eval '! "$berth" store backup --state "$work/alice/customer" backup.db 2>again.out && grep -q "is there already" again.out'
cp -a alice/customer/token token.kept
since() { kill -CONT "$(cat heron.pid)" && "$berth" release 5-12 >/dev/null && soon ran 5 12 8 && soon history 'Job >= 5 && Job <= 12' 8; }
check 'then eight jobs end' since
removed() { "$berth" rm 15-34 >rm.out && soon history 'Job >= 15 && Job <= 34' 20; }
check 'twenty are removed at once' removed
after() { job 3 true && soon ran 35 37 3 && soon history 'Job >= 35' 3; }
check 'and three that were submitted after it' after
runs() { "$berth" release 13 >/dev/null && soon ran 13 13 1; }
check 'and one runs' runs

# told TEXT...: the pool has these runs of the queue.
told() {
  python3 - "$work/pool/berth.db" "$@" <<'P'
import sqlite3, sys
rows = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True).execute("SELECT CAST(value AS TEXT) FROM shelf WHERE space = 'ends'")
text = " ".join(row[0] for row in rows)
sys.exit(not all(run in text for run in sys.argv[2:]))
P
}
check 'the pool has been told of all of them' soon told 1-4:done:EXITED:0 5-12:done:EXITED:3 15-34:removed:RELEASED:0 35-37:done:EXITED:0
busy() { ! "$berth" store restore --state "$work/alice/customer" backup.db 2>busy.out && grep -q 'in use by process' busy.out; }
check 'a store that is in use is not restored' busy
lost() { lose alice && rm -r alice/customer && mkdir alice/customer && cp -a token.kept alice/customer/token; }
check 'the host of the customer is lost, with all that was on it' lost
restored() { "$berth" store restore --state "$work/alice/customer" backup.db >restored.out && customer alice; }
check 'the backup is put back, and the customer is started' restored
waits() { ! "$berth" jobs >jobs.out 2>&1 && grep -q 'this queue was restored from a backup' jobs.out; }
check 'which says what it waits for to those who ask' waits
back() { soon says alice 'event=restored' && "$berth" jobs >jobs.out; }
check 'and begins when what ran before is over' back
check 'it knows how many of its jobs had ended since, and which numbers are lost' says alice 'event=restored ended=28 lost=35-37 next=1000001'
known() { soon history 'Job >= 5 && Job <= 12 && State == "Cleared" && Status == 3' 8; }
check 'eight have ended as they did' known
dropped() { soon history 'Job >= 15 && Job <= 34' 20; }
check 'and twenty are removed' dropped
once() { ran 1 12 12; }
check 'and did not run again' once
ran_again() { ! ran 13 13 0 && ! ran 13 13 1; }
again() { "$berth" release 13-14 >/dev/null && soon ran_again && soon ran 14 14 1 && soon history 'Job == 14' 1; }
check 'the one that ran is run again, and so is the one that had not' again
numbers() { job 1 true && soon ran 1000001 1000001 1 && soon history 'Job == 1000001' 1; }
check 'no number is given again' numbers
noted() { "$berth" agents --long | grep -q 'its queue was restored from a backup of .* ago: 28 jobs had ended since; jobs 35-37, submitted since, are lost'; }
check 'and the pool is told what became of the queue' noted
plain() { kill -TERM "$(cat alice.pid)" && soon gone alice && : >alice.err && customer alice && "$berth" jobs >jobs.out && ! says alice restored; }
check 'the next start is an ordinary one' plain

# With --alone the pool is not asked; and what a damaged store has lost, the pool knows.
hurt() {
  kill -TERM "$(cat alice.pid)" && soon gone alice && : >alice.err && size=$(stat -c %s alice/customer/berth.db) &&
    dd if=/dev/zero of=alice/customer/berth.db bs=4096 seek=$((size / 8192)) count=1 conv=notrunc 2>dd.err
  ! "$berth" store check --state "$work/alice/customer" >/dev/null 2>&1
}
check 'a store is damaged' hurt
mended() { "$berth" store repair --state "$work/alice/customer" >repair.out 2>&1; [ $? -le 1 ] && "$berth" store check --state "$work/alice/customer" >/dev/null; }
check 'it is repaired' mended
goes() { customer alice && soon says alice 'event=restored' && job 1 true && soon ran 2000001 2000001 1 && ran 1 12 12; }
check 'and its customer goes on with what there is' goes

echo "1..$count"
exit $((failures > 0))
