#!/bin/sh
# crowd_test.sh PROGRAM: many providers on one matchmaker, over real HTTP, with a real customer: every job is done. Prints TAP.
#
#     CROWD=1000 JOBS=10000 BERTH=build/berth tests/live/crowd_test.sh build/tests/live/live_crowd        the figures of docs/performance.md
set -u
berth=${BERTH:?the program}
crowd=${1:?the program live_crowd}
providers=${CROWD:-100} jobs=${JOBS:-1000}
export LC_ALL=C
for name in $(env | sed -n 's/^\(BERTH_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
work=$(mktemp -d) || exit 1
export HOME="$work" BERTH_STATE="$work/state"
pids=
ends() {
  for pid in $pids; do kill "$pid" 2>/dev/null; done
  for pid in $pids; do wait "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap ends EXIT
trap 'exit 1' HUP INT TERM
ulimit -n "$(ulimit -Hn)"
mkdir -p "$work/state/customer" && chmod -R go= "$work/state"
count=0 failures=0
result() { # STATUS SENTENCE
  count=$((count + 1))
  [ "$1" = 0 ] || { failures=$((failures + 1)) && printf 'not '; }
  printf 'ok %d - %s\n' $count "$2"
}
until_true() { # SECONDS COMMAND...
  tries=$(($1 * 10))
  shift
  while [ $tries -gt 0 ]; do
    "$@" && return 0
    tries=$((tries - 1))
    sleep 0.1
  done
  return 1
}
ask() { curl -sS -m 60 --unix-socket "$work/state/customer/customer.sock" "$@"; }
milliseconds() { date +%s%3N; }

"$berth" matchmaker -q --listen 127.0.0.1:0 >/dev/null 2>"$work/matchmaker.log" &
pids="$pids $!"
until_true 20 "$berth" status >/dev/null 2>&1
url=$(sed -n 's/.*event=started url=\([^ ]*\).*/\1/p' "$work/matchmaker.log")
"$berth" token create --subject crowd --scope 'ad:read ad:write claim job:submit job:own job:any' \
  -o "$work/state/customer/token" >/dev/null
"$berth" customer -q >/dev/null 2>"$work/customer.log" &
pids="$pids $!"
began=$(milliseconds)
"$crowd" "$providers" "$work/state/customer/token" 200 "$url" >"$work/crowd.out" 2>"$work/crowd.err" &
pids="$pids $!"
all_there() { [ "$("$berth" ads -c 'Type == "Machine"' --json 2>/dev/null | wc -l)" -ge "$providers" ]; }
until_true 100 all_there
result $? "$providers providers advertise themselves"
echo "# after $(($(milliseconds) - began)) ms"
began=$(milliseconds)
ask -X POST --data-binary "[Type=\"Job\";Cmd=\"true\";Count=$jobs;Constraint=other.Type==\"Machine\"]" 'http://x/v1/jobs?key=k' >"$work/submitted"
result $? "$jobs jobs are submitted"
all_done() { ask http://x/v1/summary | grep -q 'Waiting = 0; Ready = 0; Scheduled = 0; Running = 0'; }
until_true 100 all_done
result $? 'and all of them end'
took=$(($(milliseconds) - began))
echo "# $jobs jobs of 200 ms after $took ms: $((jobs * 1000 / took)) a second"
ended=$(ask http://x/v1/status | sed -n 's/.* Ended = \([0-9]*\);.*/\1/p')
done_well=$(ask http://x/v1/summary | sed -n 's/.* Done = \([0-9]*\);.*/\1/p')
[ "$done_well" = "$jobs" ] || [ "$ended" = "$jobs" ]
result $? 'each of them once, and well'
echo "1..$count"
[ $failures = 0 ]
