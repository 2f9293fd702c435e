#!/bin/bash
# fence_live_test.sh: stores of real daemons that are removed, damaged, read-only or missing, and two daemons with copies of one state; and a
# customer whose disk is full. $1: the library to preload. Prints TAP.
set -u
berth=${BERTH:?the program} small=$(realpath -e "${1:?the library to preload}") || exit 1
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid curl
umask 077
soon() { for _ in $(seq 150); do "$@" && return; sleep 0.2; done; return 1; }
start() {
  : >"$1.up"
  : >"$1.err"
  env LD_PRELOAD="$small" SMALL_DISK="$work/$1.full" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" setsid "${@:2}" >"$1.up" 2>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
stop() { kill -TERM "$(cat "$1.pid")" && soon gone "$1"; }
says() { grep -q "$2" "$1.err" "$1.up"; }
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
near=(--set 'Networks={ "127.0.0.0/8" }')
port=$(steady_port)
pool() { start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool" "${near[@]}" "$@" && soon grep -q 'listening at  unix' pool.up && port=$(sed -n 's/.*http:..127.0.0.1:\([0-9]*\).*/\1/p' pool.up | head -1); }
customer() { start "$1" "$berth" customer --state "$work/$1" "${near[@]}" "${@:2}" && soon grep -q 'is up' "$1.up"; }
provider() { start "$1" "$berth" provider --state "$work/$1" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}" "${@:2}" && soon grep -q 'is up' "$1.err"; }
export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
up() {
  pool && mkdir -p alice/customer heron/provider &&
    token alice 'ad:read ad:write claim match job:submit job:own job:any' alice/customer/token &&
    token machine/heron 'ad:read ad:write claim match' heron/provider/token && customer alice && provider heron
}
echo '[ Cpus = 8 ]' >owner.ad
echo '[ Cmd = "true"; Outputs = {}; RequestMemory = 1048576; RequestDisk = 1048576; RequestCpus = 1; Constraint = other.Type == "Machine" ]' >job.ad
check 'a pool comes up' up
# submit: a job's number; nothing when it was not taken.
submit() { "$berth" submit --force job.ad 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p'; }
ended() { grep -q ' ended \| exited\|status 0\|done' "alice/customer/jobs/$1.log"; }
runs() { job=$(submit) && [ -n "$job" ] && soon ended "$job"; }
check 'and runs a job' runs
last=$job

# ---- a full disk
metric() { curl -sS -m 20 --unix-socket alice/customer/customer.sock http://customer/metrics | grep -qx "$1"; }
warns() { "$berth" jobs | grep -q '^Warning: the customer.s disk is full'; }
full() { touch alice.full && soon warns && metric 'berth_customer_disk_full 1' && [ "$(grep -c 'event=disk.full' alice.err)" = 1 ] && soon told; }
told() { "$berth" agents --long | grep -q 'its disk is full' && "$berth" status | grep -q '^  customer  .*: its disk is full: it takes no files$'; }
check 'a customer with less than 64 MiB left says so to who lists jobs, in its log once, in its metrics, and to its pool, whose status has it' full
waiter() { timeout 6 "$berth" run -- echo fine 2>ran.err; grep -q "^berth: the customer's disk is full, less than 64 MiB are left: no files are taken until there is room$" ran.err; }
check 'who waits for a command is told' waiter
room() { rm alice.full && soon metric 'berth_customer_disk_full 0' && ! warns && says alice 'event=disk.room' && soon untold; }
untold() { ! "$berth" status | grep -q '^  customer '; }
check 'and when there is room again' room

# ---- a store that is removed under a daemon
removed() { rm alice/customer/berth.db && job=$(submit); [ -z "$job" ] && soon gone alice && says alice 'was removed'; }
check 'a customer whose store is removed acknowledges nothing more, says so, and ends' removed
sleepless() { start alice "$berth" customer --state "$work/alice" "${near[@]}" && soon gone alice && says alice 'there was a store here' && says alice 'with --new'; }
check 'it does not start with an empty one: it says what is missing and what to do' sleepless
new() { customer alice --new && job=$(submit) && [ "$job" -gt "$last" ] && soon ended "$job" && [ "$(grep -c submitted "alice/customer/jobs/$job.log")" = 1 ]; }
check 'with --new it does, and gives no number again' new
lost() { rm heron/provider/berth.db && submit >/dev/null; soon gone heron && says heron 'was removed'; }
check 'so does a provider' lost
emptied() { start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true && soon gone heron && says heron 'there was a store here' && provider heron --new && runs; }
check 'which starts with --new alone, and runs jobs again' emptied
pulled() { rm pool/berth.db && curl -sS -m 20 --unix-socket pool/matchmaker.sock http://pool/v1/codes -X POST >code 2>&1; soon gone pool && ! grep -q berth- code && says pool 'was removed'; }
check 'and a matchmaker' pulled
repooled() { start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool" && soon gone pool && says pool 'there was a store here' && pool --new && runs; }
check 'which starts with --new alone; its agents come back, and jobs run' repooled

# ---- a store that is damaged
damage() { # NAME FILE HOW
  local size
  size=$(stat -c %s "$2") && case $3 in
    flipped) for at in $(LC_ALL=C grep -abo 'alice\|heron' "$2" | cut -d: -f1); do printf flip | dd of="$2" bs=1 seek="$at" conv=notrunc 2>dd.err; done ;;
    short) truncate -s $((size / 2)) "$2" ;;
  esac
}
# As many rows as make some pages, in the file itself: at the end of a process the log is copied.
damaged() { # NAME FOLDER HOW COMMAND...
  stop "$1" && cp -a "$2" "$2.keep" && damage "$1" "$2/berth.db" "$3" && start "$1" "${@:4}" && soon gone "$1" && says "$1" 'is damaged\|not a database\|malformed' &&
    rm -rf "$2" && mv "$2.keep" "$2"
}
curl -sS -m 20 --unix-socket pool/matchmaker.sock http://pool/v1/config/Marks -X PUT -d '[ Mark = "heron" ]' >/dev/null # or there is little in that store
for how in flipped short; do # restarted with what was there before
  check "a customer whose store is $how does not start" damaged alice alice/customer $how "$berth" customer --state "$work/alice" "${near[@]}"
  check 'and goes on with the backup' customer alice
  check "nor does a provider, $how" damaged heron heron/provider $how "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true
  check 'which goes on as well' provider heron --set OwnerPolicy="$work/owner.ad"
  check "nor a matchmaker, $how" damaged pool pool $how "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool"
  check 'which goes on as well' pool
done
under() { truncate -s 4096 alice/customer/berth.db && job=$(submit); [ -z "$job" ] && soon gone alice && says alice 'damaged'; }
cp -a alice/customer alice.keep
check 'one that is cut short under a customer is noticed with the next job, which is not acknowledged' under
back() { rm -rf alice/customer && mv alice.keep alice/customer && customer alice && runs; }
check 'and the backup goes on' back

numbered() { says alice 'event=numbers'; }
again() { runs && stop alice && customer alice && ! numbered; }
check 'a customer that is started again after new jobs knows them, and says nothing of numbers' again
older() {
  local before
  stop alice && cp alice/customer/berth.db old.db && customer alice && runs && before=$job && stop alice && cp old.db alice/customer/berth.db && customer alice && runs && [ "$job" -gt "$before" ]
}
check 'a store that was put back from a backup gives no number again whose log is there' older
check 'and the log says so' numbered

# ---- two with one state
same() { start alice2 "$berth" customer --state "$work/alice" "${near[@]}" && soon gone alice2 && says alice2 'in use'; }
check 'a second customer with the same folder is kept out' same
unlocked() { rm alice/customer/berth.db.lock && same && runs; }
check 'also when the file of the lock was removed' unlocked
copied() { mkdir -p bob && cp -a alice/customer bob/customer && rm -f bob/customer/customer.sock && customer bob && soon says alice 'event=superseded'; }
check 'of two customers with copies of one state the earlier one is told, and says so' copied
refuses() { job=$(submit); [ -z "$job" ] && grep -q 'began later' submit.err; }
check 'it takes no more jobs, and says why' refuses
export BERTH_CUSTOMER="unix:$work/bob/customer/customer.sock"
ended() { grep -q ' ended \| exited\|status 0\|done' "bob/customer/jobs/$1.log"; }
check 'the later one goes on' runs
twice() { mkdir -p heron2 && { cp -a heron/provider heron2/provider 2>/dev/null; [ -s heron2/provider/berth.db ]; } && rm -f heron2/provider/provider.sock && provider heron2 && soon says heron 'event=superseded' && runs; }
check 'so it is with two providers, and jobs run at the later one' twice
quiet() { ! says heron2 'event=superseded' && ! says bob 'event=superseded'; }
check 'which nobody has told so' quiet
restarted() { stop pool && pool && runs && quiet; }
check 'nor after the matchmaker was started anew' restarted

echo "1..$count"
exit $((failures > 0))
