#!/bin/bash
# served_live_test.sh: the configuration that a pool serves to its agents, by command: listed, set, watched, with history and roll-back, also after a restart. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid
export BERTH_STATE=$work/state

# soon COMMAND...: it succeeds within twenty seconds.
soon() { for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
begin() {
  : >up
  setsid "$berth" pool --no-provider --listen 127.0.0.1:0 >up 2>pool.err &
  pool=$!
  groups="$groups $pool"
  disown
  soon grep -q 'To end it' up
}
says() { "$berth" served "$1" >out && grep -x -- "$2" out; }
check 'a pool is up' begin
none() { "$berth" served >out && [ ! -s out ]; }
check 'at first nothing is served' none
"$berth" served Agent watch >watched 2>watch.err &
watch=$!
check 'a section is set' "$berth" served Agent set '[ Lease = 60; Pin = 30 ]'
check 'and one option of it' "$berth" served Agent/Pin set 'Lease / 3'
check 'it says so' says Agent/Pin 'Lease / 3'
check 'who watches was told of both' soon grep -q 'Pin = Lease / 3' watched
first() { grep -n 'Pin = 30' watched | grep '^1:'; }
check 'of the first first' first
lists() { "$berth" served >out && grep '^SECTION  *OPTIONS  *REVISION  *BY  *CHANGED' out && grep '^Agent  *2  *2 ' out && "$berth" served --json | grep '"section": "Agent"'; }
check 'it is listed' lists
history() { "$berth" served Agent history >out && grep '^ *1 .*\[ *Lease = 60; Pin = 30 *\]' out && grep '^ *2 .*Pin = Lease / 3' out; }
check 'it has a history' history
check 'it is rolled back' "$berth" served Agent back 1
check 'to what it was' says Agent/Pin 30
check 'that is a revision as well' sh -c '"$0" served Agent history | grep "^ *3 .*Pin = 30"' "$berth"
bad() {
  "$berth" served Agent/Pin set 'Lease /' 2>err
  [ $? = 2 ] && grep 'column' err && ! "$berth" served Agent back 77 2>err && grep 'no such revision' err && ! "$berth" served 'A b' 2>err && ! "$berth" served Agent eat 2>err && grep 'expected set, rm' err &&
    ! "$berth" served Agent/Pin history 2>err && ! "$berth" served Agent set 2>err && ! "$berth" served Nobody 2>err && says Agent/Pin 30
}
check 'what cannot be is refused, and changes nothing' bad
check 'it is taken away' "$berth" served Agent rm
gone() { ! "$berth" served Agent 2>err && none; }
check 'then it is not there' gone
check 'and is there again when it is rolled back' "$berth" served Agent back 2
check 'who watches has seen that as well' soon sh -c '[ "$(grep -c "Pin = Lease / 3" watched)" = 2 ]'
kill "$watch" 2>/dev/null
kill -TERM "$pool"
check 'the pool ends' soon sh -c '! kill -0 "$0"' "$pool"
check 'and begins again' begin
check 'with what it served' says Agent/Pin 'Lease / 3'
check 'and its history' sh -c '"$0" served Agent history | grep -c . | grep -x 6' "$berth"

echo "1..$count"
exit $((failures > 0))
