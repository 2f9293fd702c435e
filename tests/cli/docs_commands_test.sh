#!/bin/bash
# docs_commands_test.sh: what docs/protocol.md and the pages for operators tell the reader to type (lines `ask ...`) works as it stands, against
# a real matchmaker. ID stands for the id of a token. And the examples of jobs can be submitted; the one with a checkpoint goes on from it.
# Prints TAP.
set -u
berth=${BERTH:?the program}
docs=${BERTH_SOURCE:?the sources}/docs
unset BERTH_POOL BERTH_CONFIG
command -v curl >/dev/null || { echo '1..0 # SKIP curl is not here' && exit; }
work=$(mktemp -d) || exit 1
cd "$work" || exit 1
: >up
"$berth" matchmaker --listen 127.0.0.1:0 --state "$work/state" >up 2>log &
matchmaker=$!
counter=
trap 'kill "$matchmaker" $counter 2>/dev/null; wait; rm -rf "$work"' EXIT
for _ in $(seq 100); do grep -q 'listening at  unix' up && break; sleep 0.1; done
count=0 failures=0
ask() { curl -sSf --unix-socket "$work/state/matchmaker.sock" "$@"; }

for page in protocol.md operations.md settings.md state.md logs.md trouble.md; do
  grep '^ask [^(]' "$docs/$page" | sed 's/ID\b/0123456789abcdef0123456789abcdef/' >lines
  while read -r line; do
    count=$((count + 1)) verdict=ok
    eval "$line" >out 2>&1 </dev/null || { verdict='not ok' failures=$((failures + 1)); }
    printf '%s %d - %s: %s\n' "$verdict" $count "$page" "${line//#/}"
    [ "$verdict" = ok ] || sed 's/^/# /' out
  done <lines
done
[ $count -gt 10 ] || failures=1 # or nothing was found to be typed

# ---------------------------------------------------------------------------------------------------- examples of jobs

result() { # STATUS SENTENCE
  count=$((count + 1))
  [ "$1" = 0 ] && printf 'ok %d - %s\n' $count "$2" && return
  failures=$((failures + 1))
  printf 'not ok %d - %s\n' $count "$2"
  sed 's/^/# /' out
}
jobs=$BERTH_SOURCE/examples/jobs
for ad in "$jobs"/*.ad; do
  case $ad in */fit.ad) set -- --table "$jobs/fits.csv" ;; *) set -- ;; esac
  "$berth" submit --state "$work/none" --dry-run "$ad" "$@" >out 2>&1
  result $? "examples/jobs/${ad##*/} can be submitted"
done
[ "$("$berth" query -o "$BERTH_SOURCE/examples/licenses.ad" 'Type == "License"' 2>out | grep -c solver)" = 3 ]
result $? 'examples/licenses.ad has licences'
for who in ada Ada; do
  echo "[ Name = \"$who\"; Type = \"Job\"; Owner = \"$who\"; Constraint = other.Version == \"13.0\" ]"
done >owners.ad
[ "$("$berth" match -r owners.ad -o "$BERTH_SOURCE/examples/licenses.ad" --json 2>out | grep -c '"Ada"\|"ada"')" = 1 ] && "$berth" match -r owners.ad -o "$BERTH_SOURCE/examples/licenses.ad" --json 2>out | grep -q '"ada"'
result $? 'the one that is for ada is not for Ada, who is another'

# try SIGNAL END: counter.sh runs until it has begun to count; the signal; what it says at its end is in `out`.
try() {
  rm -f status
  BERTH_STATUS=$work/status sh "$jobs/counter.sh" "$2" >out 2>&1 &
  counter=$!
  for _ in $(seq 100); do [ -s status ] && break; sleep 0.05; done
  [ -z "$1" ] || kill -"$1" $counter
}
try USR1 1000
for _ in $(seq 100); do [ -s at ] && break; sleep 0.05; done
[ -s at ] && kill -0 $counter
result $? 'counter.sh writes its checkpoint at USR1, and goes on'
kill -TERM $counter
wait $counter
[ $? = 143 ] && grep -q "^stopped at $(cat at)\$" out
result $? 'and at TERM, and ends'
at=$(cat at)
try '' $((at + 1))
wait $counter && grep -q "^beginning at $at\$" out && grep -q "^counted to $((at + 1))\$" counted
result $? 'the next try goes on from there, to the end'
echo "1..$count"
exit $((failures > 0))
