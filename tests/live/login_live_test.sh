#!/bin/bash
# login_live_test.sh: tokens of persons and machines: got by a code, renewed in time, and ended. Weeks pass by a wall clock that is set ahead for all.
# $1: the library to preload. Prints TAP.
set -u
berth=${BERTH:?the program} shift=$(realpath -e "${1:?the library to preload}") || exit 1
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid curl
umask 077
soon() { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done; return 1; }
says() { local got; "${@:3}" >out 2>&1; got=$?; cat out; [ $got = "$1" ] && grep -q -e "$2" out; }
start() {
  : >"$1.up"
  env LD_PRELOAD="$shift" WALL_SHIFT="$work/shift" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
# b STATE COMMAND...: in the same time.
b() { env LD_PRELOAD="$shift" WALL_SHIFT="$work/shift" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" BERTH_STATE="$work/$1" "$berth" "${@:2}"; }
days() { echo $(($1 * 86400)) >shift.new && mv shift.new shift; }
days 0
address=127.0.0.1:$(steady_port)
pool() { start pool "$berth" matchmaker --listen "$address" --state "$work/pool" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'listening at  unix' pool.up; }
check 'a matchmaker starts' pool

# ---------------------------------------------------------------------------------------------------------------- a person

code=$(b pool token code --user alice)
check 'an administrator makes a code for a person' [ -n "$code" ]
logs_in() { echo "$code" | says 0 'You are alice in the pool' b alice login -; }
check 'who logs in with it' logs_in
shows() { says 0 'You are alice in the pool at http' b alice login && grep 'You may: .*job:submit' out; }
check 'and is told who he is' shows
check 'the token is for that user alone' [ "$(stat -c %a alice/token)" = 600 ]
twice() { says 2 'used\|redeemed\|before' b bob login "$code"; }
check 'a code is good once' twice
humble() { says 2 scope b alice token list; }
check 'a person administers nothing' humble
machine=$(b pool token code)
wrong() { says 2 'was for a machine' b bob login "$machine" && [ ! -e bob/token ]; }
check 'a code for a machine is not for a person' wrong
odd() { says 2 'user: expected the name of a user' b pool token code --user "$1"; }
check 'no code is made for a machine as a person' odd machine/heron
check 'nor for what is no name' odd ../x
check 'nor for the matchmaker' odd matchmaker
joined() { says 0 'You are carol' b carol join "$(b pool token code --user carol)" && [ -e carol/token ] && [ ! -e carol/customer/token ]; }
check 'berth join takes a code for a person for what it is' joined

# ----------------------------------------------------------------------------------------------------------------- renewed

# ends STATE: when its token ends; asked without the pool. id STATE: its id.
ends() { b "$1" token show "$work/$1/token" --json | sed -n 's/.*"expires": *"*\([^",}]*\).*/\1/p'; }
id() { b "$1" token show "$work/$1/token" --json | sed -n 's/.*"id": *"\([0-9a-f]*\)".*/\1/p'; }
first=$(id alice)
cp alice/token alice.old
young() { b alice status >/dev/null && [ "$(id alice)" = "$first" ]; }
check 'a token in the first half of its life stays' young
days 16
renewed() { b alice status >/dev/null && second=$(id alice) && [ -n "$second" ] && [ "$second" != "$first" ]; }
check 'one in the second half is renewed by the next command' renewed
days 40
lasts() { says 0 'You are alice' b alice login; }
check 'so that it is good when the first has ended' lasts
old() { says 2 'a good token is needed\|expired' b alice login --token "$work/alice.old"; }
check 'which has' old

# What a command shows lasts for an hour; the command may go on for weeks.
echo '[ Name = "none"; Submit = { "/bin/false" }; SubmitId = "1"; Status = { "/bin/true" }; JobId = "1"; JobName = "x"; JobState = "gone"; Cancel = { "/bin/true" } ]' >batch.ad
goes_on() { start keeper env BERTH_STATE="$work/alice" "$berth" pilot --batch batch.ad --when false --every 1s && soon grep -q 'not wanted: waiting 0' alice/pilots/looked; }
check 'a command that goes on asks the pool' goes_on
asks() { rm -f alice/pilots/looked && soon test -s alice/pilots/looked && cat alice/pilots/looked && grep 'not wanted: waiting 0' alice/pilots/looked && ! grep 'good token' keeper.err; }
days 41
check 'a day later it still does' asks
days 58
kept() { asks && [ "$(id alice)" != "$1" ]; }
check 'and later it has had its token renewed' kept "$(id alice)"
kill "$(cat keeper.pid)"

# Who was lent a token cannot make it last.
url=http://$address
third=$(id alice)
days 60
lent() {
  b alice token delegate --no-delegation --token "$work/alice/token" "$work/alice/token" --out "$work/lent.token" &&
    token=$(sed -n 's/.*[Tt]oken *= *"\([^"]*\)".*/\1/p' lent.token) && [ -n "$token" ] &&
    curl -sS -H "Authorization: Bearer $token" -X POST "$url/v1/renewals" -H 'Content-Type: application/classad' \
      --data "[ Id = \"$third\"; Proof = \"v4.public.$(printf 'A%.0s' $(seq 100))\" ]" >out && cat out && grep 'only who holds the key' out
}
check 'who was lent a token cannot renew it' lent
ended() { b pool token revoke "$third" && says 2 'a good token is needed' b alice status && [ "$(id alice)" = "$third" ]; }
check 'a token that is revoked is not renewed' ended
days 0
again() { b alice login "$(b pool token code --user alice)" && one=$(id alice) && days 20 && b alice status >/dev/null && two=$(id alice) && [ "$one" != "$two" ]; }
check 'he logs in again, and the token is renewed' again
both() { b pool token revoke "$one" && says 2 'a good token is needed' b alice status; }
check 'when it is revoked, that which followed it goes with it' both

# ---------------------------------------------------------------------------------------------------------------- a machine

days 0
joins() { b heron join --only --name heron "$(b pool token code)"; }
check 'a machine joins' joins
before=$(id heron/provider)
days 200
provider() { start heron "$berth" provider --state "$work/heron" --set Unprotected=true --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'event=token.renewed' heron.err; }
check 'after half a year its provider has its token renewed' provider
check 'and keeps it' [ "$(id heron/provider)" != "$before" ]
sound() { ! grep -n 'Sanitizer\|runtime error\|level=error' ./*.err; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
