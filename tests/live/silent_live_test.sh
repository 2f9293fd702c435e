#!/bin/bash
# silent_live_test.sh: commands that know several addresses, one of which does not answer: its host is lost, or its process is held for some seconds. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid python3
umask 077
soon() { for _ in $(seq $((failures ? 40 : 600))); do "$@" && return; sleep 0.1; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
near=(--set 'Networks={ "127.0.0.0/8" }')
port=$(steady_port)
closed=$(steady_port)
export BERTH_STATE=$work/nobody

# A lost host: what is sent to it is dropped, as the kernel does where a socket has more callers than it takes.
cat >lost.py <<'END'
import select, socket
lost = socket.create_server(("127.0.0.1", 0), backlog=0)
callers = [socket.socket() for _ in range(3)]
for caller in callers:
    caller.setblocking(False)
    caller.connect_ex(lost.getsockname())
print(lost.getsockname()[1], flush=True)
select.select([], [], [])
END
start lost python3 lost.py
pool() {
  soon grep -q . lost.up && start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool" "${near[@]}" && soon grep -q event=started pool.err &&
    mkdir -p alice/customer && "$berth" token create --state "$work/pool" --subject alice --scope 'ad:read ad:write claim match job:submit job:own job:any' --lifetime 1d --out alice/customer/token &&
    start alice "$berth" customer --state "$work/alice" "${near[@]}" && soon grep -q 'is up' alice.up
}
check 'a matchmaker and a customer come up' pool
lost=http://127.0.0.1:$(cat lost.up)
# asks ADDRESS...: the pool is asked, which may be at these addresses.
asks() { BERTH_MATCHMAKERS="{ $(printf '"%s", ' "$@" | sed 's/, $//') }" "$berth" status --token alice/customer/token; }
# within SPAN COMMAND...: it succeeds within that many milliseconds.
within() {
  local began took
  began=$(date +%s%N)
  "${@:2}" || return
  took=$((($(date +%s%N) - began) / 1000000))
  echo "$took ms" >took
  [ "$took" -lt "$1" ]
}
check 'the pool answers' asks "http://127.0.0.1:$port"
check 'of two addresses the first is that of a lost host: the other one answers within 6 seconds' within 6000 asks "$lost" "http://127.0.0.1:$port"
echo "# after $(cat took)"

# held NAME COMMAND...: that succeeds while the process is held for 4 seconds.
held() {
  kill -STOP "$(cat "$1.pid")"
  (sleep 4 && kill -CONT "$(cat "$1.pid")") &
  "${@:2}"
  set -- $?
  wait $!
  return "$1"
}
check 'of two matchmakers one is down, and the other is held for 4 seconds: a command waits for it' held pool asks "http://127.0.0.1:$port" "http://127.0.0.1:$closed"
check 'in any order' held pool asks "http://127.0.0.1:$closed" "http://127.0.0.1:$port"
jobs() { BERTH_CUSTOMER="  unix:$work/alice/customer/customer.sock  unix:$work/none.sock " "$berth" jobs; }
check 'addresses of a customer may have several blanks between them' jobs
check 'of two customers one is down, and the other is held for 4 seconds: a command waits for it' held alice jobs
blank() { ! BERTH_CUSTOMER=' ' "$berth" jobs 2>blank.out && grep -q '^berth: BERTH_CUSTOMER: ' blank.out; }
check 'blanks alone are no address' blank
empty() { ! "$berth" jobs --customer '' 2>empty.out && grep -q '^berth: --customer: ' empty.out; }
check 'nor is nothing' empty
kill -STOP "$(cat alice.pid)"
silent() { ! jobs 2>silent.out && grep -q 'does not answer' silent.out && ! grep -q "alice.*is a customer running" silent.out; }
check 'one that stays held is said not to answer' silent
kill -CONT "$(cat alice.pid)"
echo "1..$count"
exit $((failures > 0))
