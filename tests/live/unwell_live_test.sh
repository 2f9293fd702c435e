#!/bin/bash
# unwell_live_test.sh: a machine whose disk is full, or cannot be written, takes no jobs, says why, and comes back by itself; no job is held or
# has failed for that. And a job that is never started is not offered without pause. Prints TAP.
#
# The disks are small ones in memory: mounted in a namespace of our own, so that nothing is left of them.
set -u
berth=${BERTH:?the program}
case ${1:-} in
'') # the mounts are made by whoever is root in a namespace of our own, the rest is done by an ordinary user as ever
  mounts='unshare -m'
  [ "$(id -u)" = 0 ] || mounts='unshare -rm'
  $mounts sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null || { echo '1..0 # SKIP no disk can be mounted here' && exit; }
  disk=$(mktemp -d) || exit 1
  UNWELL_UID=$(id -u) UNWELL_GID=$(id -g) UNWELL_DISK=$disk $mounts "$0" mount
  status=$?
  rm -rf "$disk"
  exit $status
  ;;
mount)
  mount -t tmpfs -o size=24m,mode=711 tmpfs "$UNWELL_DISK" || exit 1
  inner=''
  [ "$UNWELL_UID" = 0 ] || inner="unshare -U --map-user=$UNWELL_UID --map-group=$UNWELL_GID"
  $inner "$0" run &
  test=$!
  while kill -0 $test 2>/dev/null; do # what the test wants of its disk
    for how in ro rw; do
      [ -e "$UNWELL_DISK.$how" ] && mount -o remount,bind,$how "$UNWELL_DISK" 2>/dev/null && rm "$UNWELL_DISK.$how"
    done
    sleep 0.2
  done
  wait $test
  exit
  ;;
esac
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid head

state=$work/state
export BERTH_STATE=$state
mkdir -m 700 "$state" "$state/provider" && ln -s "$UNWELL_DISK" "$state/provider/work" && mkdir out
# remounted ro|rw
remounted() { : >"$UNWELL_DISK.$1" && until_true 60 test ! -e "$UNWELL_DISK.$1"; }
echo '[ Constraint = other.Type == "Job" && Fits && isUndefined(other.JobId) ]' >wary.ad
setsid "$berth" pool --listen 127.0.0.1:0 --set Unprotected=false >up 2>pool.err &
groups="$groups $!"
disown
for _ in $(seq 200); do grep -q 'pool is up' up && break; sleep 0.1; done

# submit COUNT SCRIPT: so many jobs of a small size.
submit() {
  printf '[ Cmd = "/bin/sh"; Args = { "-c", "%s" }; RequestDisk = 1M; RequestMemory = 64M; Iwd = "%s/out"; Count = %s ]\n' "$2" "$work" "$1" >job.ad
  "$berth" submit --force job.ad
}
# until SECONDS COMMAND...
until_true() { local ends=$((SECONDS + $1)); while ! "${@:2}" >/dev/null 2>&1; do [ $SECONDS -lt $ends ] || { "${@:2}"; return 1; }; sleep 0.2; done; }
state_is() { "$berth" job "$1" | grep "^Job $1: $2"; }
ended_well() { "$berth" job "$1" | grep 'status  *0$'; }
log=$state/log/provider.log
unwell() { "$berth" status | grep "unwell .*$1"; }
well() { ! "$berth" status | grep unwell; }

submit 1 'echo hello >greeting' >/dev/null
check 'while there is room a job runs' until_true 60 ended_well 1
submit 1 'while :; do head -c 4096 /dev/zero >>f || exit 1; sleep 0.3; done' >/dev/null
check 'one that writes runs on' until_true 60 state_is 2 Running
head -c 64M /dev/zero >"$state/provider/work/filler" 2>/dev/null
submit 8 'echo x >y && cat y' >/dev/null
check 'the machine says what it lacks' until_true 60 unwell 'work'
check 'its log has a warning' grep 'level=warning .*event=machine.unwell' "$log"
told() { "$berth" agent "$(uname -n)" status | grep 'unwell'; }
check 'and who asks it hears so' told
sick() { "$berth" machines | grep 'Sick .*work' && "$berth" machine "$(uname -n)" | grep "^$(uname -n): Sick: .*work"; }
check 'in the list of machines it is Sick, with what it lacks' until_true 60 sick
back() { "$berth" job 2 | grep 'waits again: the machine could not run it'; }
check 'a job that ended with 1 because others have filled the disk waits again' until_true 60 back
blamed() { "$berth" jobs --long -c 'State == "Held" || State == "Done" && Status =!= 0' | grep .; }
none_blamed() { ! blamed; }
check 'no job is held or has failed for it' none_blamed
rm "$state/provider/work/filler"
check 'with room again it tries itself, and is well' until_true 90 grep 'event=machine.well' "$log"
check 'that is seen in the pool' until_true 60 well
all_well() { local i; for i in 3 4 5 6 7 8 9 10; do ended_well $i || return 1; done; }
check 'all jobs that waited run then' until_true 120 all_well
check 'the one that was at it as well' until_true 90 state_is 2 Running
"$berth" rm 2 >/dev/null

remounted ro
submit 4 'echo x >y && cat y' >/dev/null
check 'a file system that becomes read-only makes it unwell' until_true 60 unwell 'read-only'
check 'and no job is held or has failed' none_blamed
remounted rw
later() { local i; for i in 11 12 13 14; do ended_well $i || return 1; done; }
check 'when it can be written the jobs run' until_true 120 later

# The owner's own check.
checks=$work/checks && mkdir "$checks"
printf '#!/bin/sh\n[ ! -e %s/bad ] || { echo first; cat %s/bad; exit 3; }\n' "$checks" "$checks" >"$checks/check" && chmod +x "$checks/check"
echo 'the cooling has failed' >"$checks/bad"
setsid "$berth" pool --state "$work/checked" --listen 127.0.0.1:0 --set "HealthCheck={\"$checks/check\"}" >checked.up 2>checked.err &
groups="$groups $!"
disown
for _ in $(seq 200); do grep -q 'pool is up' checked.up && break; sleep 0.1; done
export BERTH_STATE=$work/checked
refused() { "$berth" machines | grep 'Sick .*HealthCheck: the cooling has failed'; }
check "a machine whose owner's check says no is Sick, with the last line that it wrote" until_true 60 refused
"$berth" submit --force job.ad >/dev/null
rm "$checks/bad"
well_again() { "$berth" machines | grep -v Sick | grep "$(uname -n)" && ! "$berth" machines | grep Sick; }
check 'when it says yes, the machine tries itself, and comes back' until_true 90 well_again
check 'and what waited runs' until_true 90 ended_well 1
check 'in its log that is told too' grep 'event=machine.unwell .*HealthCheck: the cooling has failed' "$work/checked/log/provider.log"

# The owner's policy reads what a job has only when it is started.
: >wary.up
setsid "$berth" pool --state "$work/wary" --listen 127.0.0.1:0 --set "OwnerPolicy=$work/wary.ad" >wary.up 2>wary.err &
groups="$groups $!"
disown
for _ in $(seq 200); do grep -q 'pool is up' wary.up && break; sleep 0.1; done
export BERTH_STATE=$work/wary
sed 's/Count = .* \]/]/' job.ad >once.ad
"$berth" submit --force once.ad >/dev/null
rests() { "$berth" job 1 | grep 'claims in turn came to nothing; the last: refused by the constraint; offered again after a pause'; }
check 'a job that is claimed and never started rests, and says so' until_true 60 rests
sleep 5
few() { [ "$("$berth" job 1 | grep -c 'claimed ')" -lt 12 ]; }
check 'it is not claimed without pause' few
says_why() { "$berth" why 1 | grep 'came to nothing'; }
check 'and why tells it' says_why

echo "1..$count"
exit $((failures > 0))
