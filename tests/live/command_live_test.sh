#!/bin/bash
# command_live_test.sh: commands to real agents and jobs: one that can be called, and one that only calls out and pulls; while they are away,
# killed in the middle, and while whoever keeps the command restarts. $1: the library that makes disks slow. Prints TAP.
set -u
berth=${BERTH:?the program} slow=$(realpath -e "${1:?the library to preload}") || exit 1
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid mkfifo
umask 077
# soon COMMAND...: it succeeds within a minute.
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
start() {
  : >"$1.up" # or what the one before has said is read
  env LD_PRELOAD="$slow" SLOW_DISK="$work/$1.slow" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
# send SIGNAL NAME: to that process alone, not to the jobs that it has started. gone NAME: it has ended.
send() { kill "-$1" "$(cat "$2.pid")"; }
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
# queued near|far PORT: something of some length lies at a connection with that port, and was not read.
queued() {
  local port at side=$1
  printf -v port ':%04X' "$2"
  while read -r _ near far state queues _; do
    at=$near
    [ "$side" = near ] || at=$far
    [ "${at%"$port"}" != "$at" ] && [ "$state" = 01 ] && [ $((16#${queues#*:})) -ge 100 ] && return
  done </proc/net/tcp
  return 1
}
# fresh NAME: its log begins anew; what it said is kept for the end.
fresh() { cat "$1.err" >>said && : >"$1.err"; }
stop() { send TERM "$1" && soon gone "$1"; }
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
machine='ad:read ad:write claim match' person='ad:read ad:write claim match job:submit job:own'

export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
# The matchmaker, at the same address when it restarts: those who know it by that come back.
address=127.0.0.1:$(steady_port)
pool() {
  start pool "$berth" matchmaker --listen "$address" --state "$work/pool" --set Lease=300 --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'listening at  unix' pool.up &&
    address=$(sed -n 's/.*http:..\([0-9.:]*\).*/\1/p' pool.up | head -1)
}
customer() {
  start alice "$berth" customer --state "$work/alice" --set Lease=300 && soon grep -q 'is up' alice.up && soon test -S "$work/alice/customer/customer.sock"
}
echo '[ Cpus = 2 ]' >owner.ad # for two jobs at once, whatever the machine has
provider() {
  local ways=(--set ProviderListen=127.0.0.1:0)
  [ "$1" = stork ] && ways=(--set 'ProviderListen=""' --pull)
  start "$1" "$berth" provider --state "$work/$1" --set AgentName="$1" --set Lease=300 --set Unprotected=true --set 'Networks={ "127.0.0.0/8" }' \
    --set OwnerPolicy="$work/owner.ad" "${ways[@]}"
}
up() {
  pool && mkdir -p alice/customer heron/provider stork/provider &&
    token alice "$person job:any serve" alice/customer/token && token bob "$person" bob.token && token carol "$person" carol.token &&
    token machine/heron "$machine" heron/provider/token && token carol/stork "$machine" stork/provider/token &&
    customer && provider heron && provider stork
}
check 'a pool is up, with a machine that can be called and one that only pulls' up
listed() { [ "$("$berth" agents -c 'Role == "provider" && Connected' --json | wc -l)" = 2 ]; }
check 'both have said who they are' soon listed
called() { "$berth" agents -c 'Name == "heron" && ContactState == "good"' --json | grep . && "$berth" agents -c 'Name == "stork" && ContactState == "none"' --json | grep .; }
check 'and one can be called, the other cannot' soon called
[ "$failures" = 0 ] || { echo "1..$count" && exit 1; }

cat >job.sh <<'J'
trap 'echo got usr1' USR1
mkdir sub && echo inside >sub/file && ln -s /etc/passwd link && ln -s sub around && mkfifo fifo && head -c 300000 /dev/zero | tr '\0' z >large
i=0
while [ ! -e stop ]; do i=$((i + 1)); echo "step $i" >>progress; sleep 0.1; done
J
# submit MACHINE: a job there; its number is in $job.
submit() {
  echo "[ Cmd = \"sh\"; Args = { \"job.sh\" }; Inputs = { \"job.sh\" }; Outputs = {}; RequestMemory = 16M; RequestDisk = 16M;
     Constraint = other.Type == \"Machine\" && other.Name == \"$1\" ]" >job.ad
  job=$("$berth" submit --force job.ad | sed -n 's/.*: //p') && [ -n "$job" ]
}
runs() { "$berth" jobs --json -c "Job == $1 && State == \"Running\"" | grep -q .; }
waits() { "$berth" jobs --json -c "Job == $1 && State == \"Waiting\"" | grep -q .; }
# says STATUS WORDS COMMAND...: it ends so, and says that.
says() {
  "${@:3}" >out 2>&1
  local got=$?
  cat out
  [ "$got" = "$1" ] && grep -q -- "$2" out
}
state() { "$berth" commands -c "Number == $1" --json | grep "\"state\": \"$2\""; }

# ----------------------------------------------------------------------------------------------------------------------- jobs

for who in heron stork; do
  running() { submit $who && soon runs "$job" && soon "$berth" job "$job" peek progress; }
  check "$who: a job runs there" running
  peeked() { "$berth" job "$job" peek progress -n 2 >out && [ "$(grep -c '^step [0-9]*$' out)" = 2 ]; }
  check "$who: the last lines of a file of it are seen while it runs" soon peeked
  check "$who: and those of a file in a folder" says 0 '^inside$' "$berth" job "$job" peek sub/file
  large() { "$berth" job "$job" peek large --bytes 90000 >out && [ "$(wc -c <out)" = 90000 ] && "$berth" job "$job" peek large >out && [ "$(wc -c <out)" = 4096 ]; }
  check "$who: of a large file no more is brought than was asked for" large
  check "$who: a link is not followed" says 1 'not a file of the job' "$berth" job "$job" peek link
  check "$who: nor one on the way" says 1 'not a file of the job' "$berth" job "$job" peek around/file
  check "$who: a FIFO is not opened" says 1 'not a file of the job' "$berth" job "$job" peek fifo
  check "$who: a name that leads out of the folder is refused" says 2 "'\.\./x' is not the name" "$berth" job "$job" peek ../x
  check "$who: and one that begins with a slash" says 2 "'/etc/passwd' is not the name" "$berth" job "$job" peek /etc/passwd
  check "$who: of a file that is not there the others are told" says 1 'there are .*progress' "$berth" job "$job" peek nothing
  signalled() { says 0 'USR1 was sent' "$berth" job "$job" signal SIGUSR1; }
  check "$who: a signal is sent" signalled
  heard() { "$berth" job "$job" peek stdout | grep -x 'got usr1'; }
  check "$who: and the job has got it" soon heard
  detailed() {
    "$berth" commands --jobs -c "Job == $job" --json >out && grep '"command": "peek", .*"answer": "ok", "detail": "sub/file"}' out &&
      grep '"command": "signal", .*"answer": "ok", "detail": "USR1"}' out && "$berth" commands --jobs -c "Job == $job" >out &&
      head -1 out | grep -x 'NUMBER  COMMAND .* ANSWER  *DETAIL' && grep ' signal .* ok  *USR1$' out && grep ' peek .* missing  *nothing$' out
  }
  check "$who: the list of commands says which file was looked into, and which signal was sent" detailed
  # -------------------------------------------------------------------------------------------------------------------- drain
  first=$job
  check "$who: it is asked how it is" says 0 "$who: takes work" "$berth" agent $who status
  check "$who: it is drained" says 0 'takes no more work: 1 job runs on' "$berth" agent $who drain
  shown() { "$berth" agents -c "Name == \"$who\"" --json | grep '"draining": true'; }
  check "$who: which the list of agents shows" soon shown
  kept() { submit $who && says 0 'takes no more work' "$berth" agent $who status && waits "$job" && runs "$first"; }
  check "$who: its job runs on, and the next one waits" kept
  again() { stop $who && provider $who && soon listed && soon shown && soon says 0 'takes no more work' "$berth" agent $who status && waits "$job"; }
  check "$who: that holds when it restarts" again
  check "$who: it takes work again" says 0 'takes work again' "$berth" agent $who resume
  check "$who: and the next job begins" soon runs "$job"
  evicted() { says 0 'jobs have to go' "$berth" agent $who drain --now && soon waits "$first" && soon waits "$job"; }
  check "$who: drained at once, its jobs have to go, and wait again" evicted
  at_once() { "$berth" commands -c "Name == \"$who\"" --json | grep '"command": "drain", ' >out && tail -1 out | grep '"detail": "now"}' && head -1 out | grep '"detail": null}'; }
  check "$who: which the list tells apart from a drain that waits" at_once
  "$berth" rm "$first" "$job" >/dev/null
  check "$who: and once more it takes work" says 0 'takes work again' "$berth" agent $who resume
done

# ----------------------------------------------------------------------------------------------------------------- mistakes

check 'a name that is nearly right is told' says 1 "did you mean 'heron'" "$berth" agent heran drain
check 'a job that is over takes no commands, and it is said so' says 1 'does not run\|is over\|no such job' "$berth" job 1 peek progress
check 'a job that never was takes none' says 1 'no such job' "$berth" job 999 signal TERM
check 'a signal that is not for jobs is refused' says 2 'cannot be sent to jobs' "$berth" job 1 signal STOP
check 'what is no command is refused' says 2 'drain, resume or status' "$berth" agent heron dance

measured() { curl -sS -m 20 --unix-socket "$work/pool/matchmaker.sock" http://pool/metrics | grep 'berth_commands_total{result="answered"} [1-9]'; }
check 'commands are counted' measured
maintained() { PATH=$(dirname "$berth"):$PATH timeout 60 sh "$BERTH_SOURCE/examples/maintenance.sh" heron touch cleaned && test -e cleaned && says 0 'heron: takes work' "$berth" agent heron status; }
check 'the example takes a machine out for as long as something is done to it' maintained
failed_there() { PATH=$(dirname "$berth"):$PATH says 3 'heron stays drained: the command has failed with status 3' timeout 60 sh "$BERTH_SOURCE/examples/maintenance.sh" heron sh -c 'exit 3'; }
check 'when that fails it says so, and that the machine stays drained' failed_there
drained() { says 0 'heron: takes no more work' "$berth" agent heron status && grep -x '  to store     0' out && grep -x '  load         [0-9]*\.[0-9]' out; }
check 'which it does; nothing of it waits for a store, and its load is told with one decimal' drained
check 'it is taken back by hand' says 0 'takes work again' "$berth" agent heron resume

# ------------------------------------------------------------------------------------------------------------------ strangers

url=$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' pool.up | head -1)
check 'another user may not command a machine' says 2 'another.s: its owner and administrators' "$berth" agent stork drain --pool "$url" --token bob.token
audited() { grep 'audit.refused.*agents.command.*subject=bob.*another' pool.err; }
check 'which is written down' audited
check 'its owner may' says 0 'takes no more work' "$berth" agent stork drain --pool "$url" --token carol.token
check 'and take it back' says 0 'takes work again' "$berth" agent stork resume --pool "$url" --token carol.token
running() { submit heron && soon runs "$job" && soon "$berth" job "$job" peek progress; }
check 'a job runs again' running
desk=$("$berth" agents -c 'Role == "customer"' --json | sed -n 's/.*"agent": "\([0-9a-f]*\)".*/\1/p')
# by USER COMMAND: a command to the job by the matchmaker, as another machine would; the status.
by() {
  local bearer
  bearer=$(curl -sS -m 20 --unix-socket "$work/pool/matchmaker.sock" http://pool/v1/tokens -d "[Subject=\"$1\";Scope=\"$person\"]" | sed -n 's/.*Token = "\([^"]*\)".*/\1/p')
  curl -sS -m 30 -o out -w '%{http_code}' -H "Authorization: Bearer $bearer" "$url/v1/desk/$desk/jobs/$job/commands" -d "$2"
}
foreign() { [ "$(by bob '[Command="peek"; File="progress"]')" = 404 ] && grep 'audit.refused.*jobs.command.*subject=bob.*another' alice.err; }
check 'another user may not look into it: it is not even there for them, and that is written down' foreign
own() { [ "$(by alice '[Command="peek"; File="progress"]')" = 201 ]; }
check 'its owner may, by the matchmaker too' own
wild() { [ "$(by alice '[Command="peek"; File="../../x"]')" = 400 ] && [ "$(by alice '[Command="signal"; Signal=19]')" = 400 ]; }
check 'whatever client it is, a bad name or signal is refused' wild

# ----------------------------------------------------------------------------------------------------------------------- away

away() { stop stork && says 1 'has not answered: command [0-9]* waits' "$berth" agent stork drain --wait 1s; }
check 'a command to a machine that is away waits, and that is said' away
number=$(sed -n 's/.*command \([0-9]*\) waits.*/\1/p' out)
check 'it is shown with its number' state "$number" waiting
check 'and with the machine' says 1 "$number drain by" "$berth" agent stork status
restarted() { stop pool && pool && soon state "$number" waiting; }
check 'it waits on when the matchmaker restarts' restarted
fresh stork
back() { provider stork && soon state "$number" done && [ "$(grep -c audit.drained stork.err)" = 1 ]; }
check 'when the machine is back it is carried out, once' back
soon listed
check 'a machine that the matchmaker has not heard of is named by its owner too' says 0 'takes work again' "$berth" agent stork resume --identity carol/stork
stop stork
short() { "$berth" agent stork drain --for 1s --wait 0 >out && soon state "$(sed -n 's/command \([0-9]*\) .*/\1/p' out)" expired; }
check 'one whose time is over is given up' short
given_up() { says 1 'has not answered: command [0-9]* has expired' timeout 60 "$berth" agent stork drain --for 1s --wait 10min; }
check 'and who waits for its answer is told so then' given_up
full() {
  for _ in $(seq 33); do "$berth" agent stork status --wait 0 >/dev/null; "$berth" agent stork resume --wait 0 >out 2>&1 || break; done
  cat out
  grep 'so many commands wait for that agent' out
}
check 'no more wait for one machine than its limit' full
provider stork
none() { ! "$berth" commands -c 'State == "waiting"' --json | grep .; }
check 'all of them are carried out when it is back' soon none
untouched() { says 0 'stork: takes work' "$berth" agent stork status; }
check 'and it is not drained by what was given up' untouched

# ---------------------------------------------------------------------------------------------------------------- in the middle

# The machine stands still while the command goes into its stream; then the matchmaker does, so that the answer cannot arrive. Its disk is slow: what
# its log says it has done is durable all the same.
fresh stork
middle() {
  send STOP stork && "$berth" agent stork drain --wait 0 >out && number=$(sed -n 's/command \([0-9]*\) .*/\1/p' out) &&
    soon queued far "${address##*:}" && send STOP pool && touch stork.slow && send CONT stork && soon grep -q audit.drained stork.err && send KILL stork &&
    rm stork.slow && soon gone stork && send KILL pool && soon gone pool && pool && soon state "$number" waiting
}
check 'a machine is killed when it has done what it was told, and before it could say so' middle
once() { provider stork && soon state "$number" done && [ "$(grep -c audit.drained stork.err)" = 1 ] && soon listed && says 0 'takes no more work' "$berth" agent stork status; }
check 'it says so when it is back, and does not do it twice' once

# The same with a signal, which cannot be taken back: the customer dies before it hears, and so does the machine.
reached() { queued near "$port" || queued far "${address##*:}"; } # it was called, or written to
twice() {
  port=$(sed -n 's/.*event=started .*address=127.0.0.1://p' heron.err | tail -1) && fresh heron
  soon listed && send STOP heron && "$berth" job "$job" signal USR1 --wait 0 >out && number=$(sed -n 's/command \([0-9]*\) .*/\1/p' out) &&
    soon reached && send STOP alice && send CONT heron && soon grep -q audit.signal heron.err && send KILL heron && soon gone heron &&
    send KILL alice && soon gone alice && customer && provider heron
}
check 'a customer and a machine are killed when a signal was sent, and before that was known' twice
answered() { "$berth" commands --jobs -c "Number == $number" --json | grep '"state": "done", "answer": "ok"\|"state": "done", "answer": "unsure"'; }
check 'the command is answered when both are back' soon answered
exact() { [ "$(grep -c audit.signal heron.err)" = 1 ] && [ "$("$berth" job "$job" peek stdout | grep -c 'got usr1')" = 1 ]; }
check 'and the job got its signal once' soon exact
waiting_job() {
  stop heron && says 1 'heron has not answered: command [0-9]* waits' "$berth" job "$job" peek progress --wait 1s &&
    number=$(sed -n 's/.*command \([0-9]*\) waits.*/\1/p' out) && provider heron
}
check 'a command to a job waits as well while its machine is away' waiting_job
check 'and is answered when it is back' soon answered

# -------------------------------------------------------------------------------------------------------- a start that is refused

# Another at the same address, whose disk is slow: its timers are due when it gives up.
refused_late() {
  head -c 30 /dev/zero >late.slow && start late "$berth" matchmaker --listen "$address" --state "$work/late" && soon gone late &&
    says 0 'the port is in use' cat late.err && ! grep Sanitizer late.err
}
check 'a matchmaker that starts slowly at a port that is taken says so, and nothing else' refused_late

# ------------------------------------------------------------------------------------------------------------------- too late

# past: the time of the last command is over, also for a clock that differs a little.
past() { [ "$(date +%s)" -ge "$ends" ]; }
# stale COMMAND...: it is given for 2 s while the machine stands still; its number is in $number.
stale() { "$@" --wait 0 --for 2s >out && number=$(sed -n 's/command \([0-9]*\) .*/\1/p' out) && ends=$(($(date +%s) + 4)); }
says 0 'takes work again' "$berth" agent stork resume >/dev/null
fresh stork
drain_late() {
  send STOP stork && stale "$berth" agent stork drain && soon queued far "${address##*:}" && soon state "$number" expired && soon past && send CONT stork
}
check 'a machine stands still with a command in its stream until that has expired' drain_late
refused() { "$berth" commands -c "Number == $number" --json | grep '"state": "expired", "answer": "expired"'; }
check 'when it goes on it says that this came too late' soon refused
untouched() { says 0 'stork: takes work' "$berth" agent stork status && ! grep audit.drained stork.err; }
check 'and it was not drained' untouched
signal_late() {
  port=$(sed -n 's/.*event=started .*address=127.0.0.1://p' heron.err | tail -1) && fresh heron
  send STOP heron && stale "$berth" job "$job" signal USR1 && soon reached && soon lapsed && soon past && send CONT heron
}
lapsed() { "$berth" commands --jobs -c "Number == $number" --json | grep '"state": "expired"'; }
check 'the same with a signal to a job' signal_late
unheard() { says 0 'USR1 was sent' "$berth" job "$job" signal USR1 --wait 60s && [ "$(grep -c audit.signal heron.err)" = 1 ] && lapsed; }
check 'the job gets the next one, and not that which has expired' unheard
over() { "$berth" rm "$job" >/dev/null && says 1 'does not run\|is over\|no such job' "$berth" job "$job" signal TERM; }
check 'a job that was removed takes none' over
for who in pool alice heron stork late; do fresh $who; done
sound() { ! grep -n 'Sanitizer\|runtime error\|level=error' said; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
