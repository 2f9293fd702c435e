#!/bin/bash
# reboot_live_test.sh: all hosts of a pool lose power at once with a full queue, and come back: other boots, clocks that begin anew, no process of
# before. Nothing that was acknowledged is lost; what ran is run again, once. And a file system that is read-only. Wants root: for
# a clock since the boot of its own, and for file systems. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid unshare mount
umask 077
[ "$(id -u)" = 0 ] && unshare -m -T --boottime 1000 true 2>/dev/null || { echo '1..0 # SKIP mounting, and a clock of its own, want root' && exit; }
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
# start NAME COMMAND...: on a host of its own: its boot, its clock, its disk if there is one.
cat >host <<'END'
mount --bind "$work/boot" /proc/sys/kernel/random/boot_id || exit 1
[ ! -e "$work/frozen" ] || { mount --bind "$work/alice" "$work/alice" && mount -o remount,bind,ro "$work/alice"; } || exit 1
exec "$@"
END
boot=0
boots() { boot=$((boot + 1)) && cat /proc/sys/kernel/random/uuid >boot; }
start() {
  : >"$1.up"
  : >"$1.err"
  work="$work" setsid unshare -m -T --boottime $((100000 - 40000 * boot)) bash host "${@:2}" >"$1.up" 2>"$1.err" &
  groups="$groups $!"
  disown
  echo $! >"$1.pid"
}
says() { grep -q "$2" "$1.err" "$1.up"; }
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
near=(--set 'Networks={ "127.0.0.0/8" }')
export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
port=$(steady_port)
pool() { start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool" "${near[@]}" && soon grep -q 'listening at  unix' pool.up && port=$(sed -n 's/.*http:..127.0.0.1:\([0-9]*\).*/\1/p' pool.up | head -1); }
customer() { start alice "$berth" customer --state "$work/alice" "${near[@]}" && soon grep -q 'is up' alice.up; }
provider() { start "$1" "$berth" provider --state "$work/$1" --set AgentName="$1" --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}" && soon grep -q 'is up' "$1.err"; }
up() {
  boots && pool && mkdir -p alice/customer heron/provider stork/provider &&
    token alice 'ad:read ad:write claim match job:submit job:own job:any' alice/customer/token &&
    token machine/heron 'ad:read ad:write claim match' heron/provider/token && token machine/stork 'ad:read ad:write claim match' stork/provider/token &&
    customer && provider heron && provider stork
}
echo '[ Cpus = 2 ]' >owner.ad
ad() { echo "[ Cmd = \"sh\"; Args = { \"-c\", \"$1\" }; Outputs = {}; RequestMemory = 1048576; RequestDisk = 1048576; RequestCpus = 1; Constraint = other.Type == \"Machine\" ]"; }
ads() { for _ in $(seq "$1"); do ad "$2"; done; }
submit() { ads "$1" "$2" >some.ad && "$berth" submit --force some.ad; }
check 'a pool of four hosts comes up' up
queued() { submit 4 'sleep 8' && soon running 4 && submit 12 true; }
running() { [ "$(grep -l 'running on' alice/customer/jobs/*.log 2>/dev/null | wc -l)" -ge "$1" ]; }
check 'four jobs run, and twelve wait' queued
# Everything ends at the same moment: daemons, launchers and jobs.
power() {
  for name in pool alice heron stork; do kill -KILL -- "-$(cat $name.pid)"; done
  for pid in $(grep -alz "^BERTH_STATE=$work\|$work" /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | sort -u); do
    [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || grep -qz reboot_live_test "/proc/$pid/cmdline" || kill -KILL "$pid" 2>/dev/null
  done
  boots
}
back() { power && pool && customer && provider heron && provider stork; }
check 'the power fails everywhere, and comes back' back
ended() { [ "$(grep -l 'ended\|exit\|done' alice/customer/jobs/*.log | wc -l)" = 16 ]; }
check 'all jobs end' soon ended
tries() { # of the twelve that waited each began once; of the four that ran, twice
  for job in $(seq 1 4); do [ "$(grep -c 'claimed ' "alice/customer/jobs/$job.log")" = 2 ] || { cat "alice/customer/jobs/$job.log"; return 1; }; done
  for job in $(seq 5 16); do [ "$(grep -c 'claimed ' "alice/customer/jobs/$job.log")" = 1 ] || { cat "alice/customer/jobs/$job.log"; return 1; }; done
}
check 'those that ran ran again, once; the others once' tries
frozen() { kill -TERM "$(cat alice.pid)" && soon gone alice && touch frozen && start alice "$berth" customer --state "$work/alice" "${near[@]}" && soon gone alice && says alice 'Read-only file system'; }
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
check 'a customer whose file system is read-only does not start, and says so' frozen
thawed() { rm frozen && customer && submit 1 true && soon test -s alice/customer/jobs/17.log; }
check 'and goes on when it can be written again' thawed

echo "1..$count"
exit $((failures > 0))
