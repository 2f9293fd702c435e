#!/bin/sh
# again_live_test.sh: a matchmaker is killed and begins anew: all who advertise are there again at once, though nothing of theirs has changed
# and their ads live for minutes. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

export BERTH_STATE="$PWD/state"
matchmaker_start() {
  "$berth" matchmaker --listen 127.0.0.1:0 >matchmaker.up 2>>matchmaker.err &
  matchmaker=$!
  pids="$pids $matchmaker"
  soon grep -q 'listening at  unix' matchmaker.up
}
holds "a matchmaker is up" matchmaker_start
mkdir -p -m 700 state/provide
run "$berth" token create --subject licences --scope "ad:read ad:write claim" --lifetime 1d --out state/provide/token
holds "a token for licences is made" [ "$status" = 0 ]
mkdir -p -m 700 state/customer
run "$berth" token create --subject "$(id -un)" --scope 'ad:read ad:write claim job:submit job:own job:any' --lifetime 1d --out state/customer/token
holds "and one for a customer" [ "$status" = 0 ]
"$berth" provide "$BERTH_SOURCE/examples/licenses.ad" >licenses.up 2>>licenses.err &
pids="$pids $!"
"$berth" customer >customer.up 2>>customer.err &
pids="$pids $!"
holds "a customer is up" soon grep -q 'is up' customer.up
echo '[ Cmd = "true"; Outputs = {}; Constraint = other.Type == "Nothing" ]' >job.ad
holds "a job waits" soon "$berth" submit --force job.ad
holds "licences are offered" soon listed 'ads --kind offers' "len(rows) == 3"
holds "and the job asks for a machine" soon listed 'ads --kind requests' "len(rows) == 1"
for round in 1 2; do
  [ "$round" = 1 ] || sleep 4 # long enough for those who wait for it to have become patient
  kill -KILL "$matchmaker"
  wait "$matchmaker" 2>/dev/null
  [ "$round" = 1 ] || sleep 4
  rm -f matchmaker.up
  holds "it is killed, and begins anew (round $round)" matchmaker_start
  began=$(date +%s)
  holds "the licences are there again" soon listed 'ads --kind offers' "len(rows) == 3"
  holds "so is the request" soon listed 'ads --kind requests' "len(rows) == 1"
  holds "within seconds" [ $(($(date +%s) - began)) -le 10 ]
done
echo "1..$count"
[ $failures = 0 ]
