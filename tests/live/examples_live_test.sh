#!/bin/sh
# examples_live_test.sh: the examples in /openapi.json of a matchmaker, a customer and a provider, each sent to that service: all three are real
# processes of one pool. What is compared, examples.py says. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
for tool in curl python3; do
  command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not here" && exit; }
done
umask 077
. "$BERTH_SOURCE/tests/common/says.sh"

start() {
  name=$1
  shift
  "$@" >"$name.up" 2>"$name.err" &
  pids="$pids $!"
}
is_up() { grep -q 'is up' "$1.up"; }
local='Networks={ "127.0.0.0/8" }'
all='ad:read ad:write job:submit job:own job:any claim match config serve operate audit admin'

start pool "$berth" matchmaker --listen 127.0.0.1:0 --state "$work/state" --set "$local"
soon is_up pool
url=$(sed -n 's/.*is up: //p' pool.up)
mkdir -p state/customer state/provider
curl -sS -m 20 --unix-socket state/matchmaker.sock -H 'Content-Type: application/classad' -H 'Accept: application/json' \
  -d "[ Subject = \"alice\"; Scope = \"$all\" ]" http://pool/v1/tokens | sed -n 's/.*"Token": *"\([^"]*\)".*/\1/p' >bearer
"$berth" token create --subject alice --scope "$all" --lifetime 1d --out state/customer/token >/dev/null
"$berth" token create --subject machine/heron --scope 'ad:read ad:write claim match' --lifetime 1d --out state/provider/token >/dev/null
start customer "$berth" customer --state "$work/state" --set "$local" --set AgentName=desk
start provider "$berth" provider --state "$work/state" --set "$local" --set AgentName=heron --set Name=heron --set Unprotected=true --set Metrics=true
soon is_up customer
soon is_up provider
offered() { "$berth" ads heron >offer; }
holds 'a pool is up' soon offered
reached() { "$berth" agents --json | grep '"desk"' | grep -q good; }
holds 'with a customer that can be called' soon reached

# examples SERVICE BASE [TOKEN]: their results are ours.
examples() {
  python3 "$BERTH_SOURCE/tests/live/examples.py" "$2" ${3:+"$3"} >tap 2>&1
  holds "the examples of the $1 were sent" grep -q '^ok - ' tap
  while IFS= read -r line; do
    case $line in
      'ok - '*) result 0 "${line#ok - }" ;;
      'not ok - '*) result 1 "${line#not ok - }" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done <tap
}
: >why
examples provider "unix:$work/state/provider/provider.sock"
called=$(curl -s -m 10 --unix-socket state/provider/provider.sock http://provider/v1/status | sed -n 's/.*Address = "\([^"]*\)".*/\1/p')
examples "provider, by TCP," "http://$called"
examples customer "unix:$work/state/customer/customer.sock"
examples matchmaker "$url" bearer
echo "1..$count"
[ $failures = 0 ]
