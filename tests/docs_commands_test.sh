#!/bin/bash
# docs_commands_test.sh: what docs/protocol.md and docs/operations.md tell the reader to type (lines `ask ...`) works as it stands, against
# a real matchmaker. ID stands for the id of a token. Prints TAP.
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
trap 'kill "$matchmaker" 2>/dev/null; wait; rm -rf "$work"' EXIT
for _ in $(seq 100); do grep -q 'listening at  unix' up && break; sleep 0.1; done
count=0 failures=0
ask() { curl -sSf --unix-socket "$work/state/matchmaker.sock" "$@"; }

for page in protocol.md operations.md; do
  grep '^ask [^(]' "$docs/$page" | sed 's/ID\b/0123456789abcdef0123456789abcdef/' >lines
  while read -r line; do
    count=$((count + 1)) verdict=ok
    eval "$line" >out 2>&1 </dev/null || { verdict='not ok' failures=$((failures + 1)); }
    printf '%s %d - %s: %s\n' "$verdict" $count "$page" "${line//#/}"
    [ "$verdict" = ok ] || sed 's/^/# /' out
  done <lines
done
[ $count -gt 10 ] || failures=1 # or nothing was found to be typed
echo "1..$count"
exit $((failures > 0))
