#!/bin/bash
# window_live_test.sh: a matchmaker that settles all who wait at once, by the setting Assignment: figure 1.1 of the thesis, over HTTP. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid

# serves POLICY: a pool with that policy and windows of a second, in $url and $socket.
serves() {
  BERTH_STATE="$work/$1" setsid "$berth" pool --no-provider --listen 127.0.0.1:0 --set Assignment="$1" --set CycleInterval=1 >"$1.up" 2>"$1.err" &
  groups="$groups $!"
  disown
  for _ in $(seq 200); do grep -q 'To end it' "$1.up" && break; sleep 0.1; done
  socket=$work/$1/matchmaker.sock
}
ask() { curl -sS -m 20 --unix-socket "$socket" "http://matchmaker$1" "${@:2}"; }
until_seen() { for _ in $(seq 60); do "$@" && return 0; sleep 0.2; done; return 1; }
offer() { ask "/v1/ads/$1" -X PUT -d "[Type=\"Machine\";Name=\"$1\";Cpus=$2;Constraint=other.RequestCpus<=Cpus;Residual=[Cpus=Cpus-other.RequestCpus]]" >/dev/null; }
job() { ask "/v1/ads/$1" -X PUT -d "[Type=\"Job\";Name=\"$1\";RequestCpus=$2;Constraint=other.Cpus>=RequestCpus]" >/dev/null; }
figure() { offer a 20 && offer b 10 && job one 5 && job two 5 && job three 20; }
matches() { [ "$(ask /v1/matches -H 'Accept: application/json' | grep -o '"Request": "[a-z]*"' | sort -u | wc -l)" = "$1" ]; }

serves srfm
figure
check 'with srfm all three jobs of the figure are placed' until_seen matches 3
serves fcfs
figure
check 'first come first served places two' until_seen matches 2
sleep 2.5
check 'and the third waits' matches 2
refused() { ! BERTH_STATE="$work/none" timeout 20 "$berth" matchmaker --listen 127.0.0.1:0 --set Assignment=best 2>why.txt && grep 'Assignment' why.txt; }
check 'another policy than there is, is refused by name' refused
echo "1..$count"
[ $failures = 0 ]
