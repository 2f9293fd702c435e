#!/bin/bash
# readonly_live_test.sh: the file system under matchmaker, customer and provider turns read-only while they work, as ext4 does after an error:
# nothing is acknowledged that is not kept, each says why and ends, and all go on when it has been repaired. Prints TAP.
set -u
berth=${BERTH:?the program}
skip() { echo "1..0 # SKIP $1" && exit; }
PATH=$PATH:/usr/sbin:/sbin
if [ -z "${READONLY_APART:-}" ]; then # mounts of our own
  [ "$(id -u)" = 0 ] || skip 'only root can mount a file system'
  command -v unshare >/dev/null && unshare -m true 2>/dev/null || skip 'there are no mounts of one'\''s own here'
  READONLY_APART=1 exec unshare -m "$0"
fi
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid curl mkfs.ext4 e2fsck findmnt
umask 077
soon() { for _ in $(seq 150); do "$@" && return; sleep 0.2; done; return 1; }
disk=$work/disk
attach() { mount -o loop,errors=remount-ro "$work/image" "$disk"; }
mount --make-rprivate / && truncate -s 256M image && mkfs.ext4 -q image && mkdir disk && attach 2>why || skip 'no image of a file system can be mounted'
trigger() { echo "/sys/fs/ext4/$(basename "$(findmnt -no SOURCE "$disk")")/trigger_fs_error"; } # another device each time it is attached
[ -w "$(trigger)" ] || { umount "$disk"; skip 'the kernel offers no errors of file systems'; }
trap 'umount -l "$disk/pool" "$disk" 2>/dev/null; clean' EXIT

export BERTH_WINDOW=3 BERTH_PIN=3 BERTH_LEASE=4 BERTH_DEADLINE=2 BERTH_LIFETIME=5 BERTH_RETRY=0.1 BERTH_GRACE=0.5
start() {
  : >"$1.up"
  : >"$1.err"
  rm -f "$1.status"
  # shellcheck disable=SC2016 # of the shell that waits
  setsid bash -c 'trap : TERM; "${@:2}" & echo $! >"$1.pid"; while :; do wait $!; s=$?; kill -0 $! 2>/dev/null || break; done; echo $s >"$1.status"' wait "$@" >"$1.up" 2>"$1.err" &
  groups="$groups $!"
}
gone() { [ -s "$1.status" ]; }
stop() { kill -TERM "$(cat "$1.pid")" && soon gone "$1"; }
says() { grep -q "$2" "$1.err" "$1.up"; }
token() { "$berth" token create --state "$disk/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
near=(--set 'Networks={ "127.0.0.0/8" }')
port=$(steady_port)
pool() { start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$disk/pool" "${near[@]}" && soon grep -q 'listening at  unix' pool.up && port=$(sed -n 's/.*http:..127.0.0.1:\([0-9]*\).*/\1/p' pool.up | head -1); }
customer() { start customer "$berth" customer --state "$disk/alice" "${near[@]}" && soon grep -q 'is up' customer.up; }
provider() { start provider "$berth" provider --state "$disk/heron" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}" && soon grep -q 'is up' provider.err; }
export BERTH_STATE="$disk/pool" BERTH_CUSTOMER="unix:$disk/alice/customer/customer.sock"
up() {
  mkdir -m 700 "$disk/pool" && pool && mkdir -p "$disk/alice/customer" "$disk/heron/provider" &&
    token alice 'ad:read ad:write claim match job:submit job:own job:any' "$disk/alice/customer/token" &&
    token machine/heron 'ad:read ad:write claim match' "$disk/heron/provider/token" && customer && provider
}
common='Outputs = {}; RequestMemory = 1048576; RequestDisk = 1048576; RequestCpus = 1'
echo '[ Cpus = 8 ]' >owner.ad
echo "[ Cmd = \"true\"; $common; Constraint = other.Type == \"Machine\" ]" >job.ad
echo "[ Cmd = \"true\"; $common; Constraint = other.Type == \"Machine\" && other.Name == \"nobody\" ]" >later.ad
submit() { timeout 20 "$berth" submit --force "$1" 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p'; }
runs() { job=$(submit job.ad) && [ -n "$job" ] && timeout 40 "$berth" wait "$job" --timeout 30; }
config() { curl -sS -m 20 -o answer -w '%{http_code}' --unix-socket "$disk/pool/matchmaker.sock" "http://pool/v1/config/$1" -X PUT -d '[ Mark = 1 ]' | grep -q '^20'; }
check 'a pool comes up on a file system of its own' up
check 'and runs a job' runs
check 'its configuration can be changed' config before

# ---- the error comes while jobs are submitted
: >acked
submitting() {
  while [ ! -e enough ]; do
    id=$(submit later.ad)
    [ -z "$id" ] || echo "$id" >>acked
  done
}
submitting &
many() { [ "$(wc -l <acked)" -ge 10 ]; }
check 'jobs are acknowledged' soon many
breaks() { echo 'an error for a test' >"$(trigger)" && ! touch "$disk/alice/any"; }
check 'an error makes the file system read-only' breaks
ended() { soon gone "$1" && [ "$(cat "$1.status")" = "${2:-1}" ]; }
check 'the customer ends' ended customer
why='read.only\|readonly\|Read-only\|I/O error'
check 'and says why' says customer "$why"
touch enough
wait %% 2>/dev/null
unchanged() { ! config after; }
check 'the matchmaker acknowledges no change' unchanged
check 'it ends' ended pool
check 'and says why' says pool "$why"
# It has seen it also if it had something to keep just then: that its last claim is in the matchmaker's books, for one.
unwell() { says provider 'event=machine.unwell.*read-only' || { gone provider && says provider "store.failed.*\($why\)"; }; }
check 'the provider sees it, and takes no jobs' soon unwell
ends() { gone provider || stop provider || gone provider; } # it may have had something to keep
check 'it ends' ends
stays() {
  start customer "$berth" customer --state "$disk/alice" "${near[@]}" && start provider "$berth" provider --state "$disk/heron" --set AgentName=heron --set Unprotected=true &&
    start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$disk/pool" && ended customer 2 && ended provider 2 && ended pool 2 &&
    says customer "$why" && says provider "$why" && says pool "$why"
}
check 'while it is read-only none of them starts, and each says why' stays

# ---- it is repaired
repaired() { soon umount "$disk" && { e2fsck -fy "$work/image" || [ $? -lt 4 ]; } && attach; }
check 'the file system is repaired' repaired
again() { pool && customer && provider; }
check 'all start again' again
kept() { "$berth" jobs --json >jobs && python3 -c '
import json
known = {json.loads(line)["id"] for line in open("jobs")}
acked = {int(line) for line in open("acked")}
assert acked and acked <= {int(job) for job in known}, sorted(acked - known)'; }
check 'every job that was acknowledged is there' kept
check 'and jobs run' runs
check 'its configuration can be changed again' config again

# ---- and again, when there is nothing to do; the matchmaker is on a disk that works: on this one it would end with the first row it has to keep
elsewhere() { stop pool && cp -a "$disk/pool" "$work/pool" && mount --bind "$work/pool" "$disk/pool" && pool; }
check 'the matchmaker moves to another file system' elsewhere
idle() { stop provider && soon no_claims && breaks; }
no_claims() { "$berth" status | grep -qx '  claims         0'; }
check 'the file system fails under a customer without work' idle
warns() { "$berth" jobs | grep -q '^Warning: the customer.s disk is read-only' && "$berth" status | grep -q '^  customer  .*: its disk is read-only: it takes nothing$'; }
check 'it says so to who lists jobs, and in the status of its pool' soon warns

echo "1..$count"
exit $((failures > 0))
