#!/bin/bash
# fronts_live_test.sh: a whole pool on one machine, and what its daemons answer at their sockets to whoever asks for what is, and is not, there. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid

: >up
setsid "$berth" pool --listen 127.0.0.1:0 --state "$work/pool" --set Unprotected=true -v >up 2>pool.err &
groups="$groups $!"
disown
for _ in $(seq 150); do grep -q 'To end it' up && break; sleep 0.1; done

# ask SOCKET PATH [OPTION...]: the status is in $status, the head in `head`, the answer in `body`.
ask() { status=$(curl -sS -m 20 --unix-socket "$work/pool/$1" "http://daemon$2" -D head -o body -w '%{http_code}' "${@:3}"); }
described() { ask "$1" /openapi.json && [ "$status" = 200 ] && grep -F "\"title\":\"$2\"" body && grep -F "\"operationId\":\"$3\"" body; }
healthy() { ask "$1" /healthz && [ "$status" = 200 ] && grep -x ok body && grep -i '^Content-Type: text/plain; charset=utf-8' head; }
absent() { ask "$1" /v1/nothing && [ "$status" = 404 ] && grep '"title":"Not Found","status":404,"detail":".*","request":"[0-9a-f]*"' body; }
method() { ask "$1" /v1/status -X DELETE && [ "$status" = 405 ] && grep -i '^Allow: GET, HEAD' head && grep '"request":"[0-9a-f]*"' body; }
foreign() { ask "$1" /v1/status -H 'Origin: https://elsewhere.example' && [ "$status" = 403 ] && grep Origin body; }
token() { ask "$1" /v1/status -H 'Authorization: Bearer v4.public.nonsense' && [ "$status" = 401 ] && grep -i '^WWW-Authenticate: Bearer' head; }
kept() { ask "$1" /v1/status && [ "$status" = 200 ] && grep -i '^ETag: "' head && grep -i '^Cache-Control: private, no-cache' head && ask "$1" /v1/status -H 'Accept: application/json' && grep '^{' body; }

while read -r socket title route; do
  check "$socket: it describes what it has" described "$socket" "Berth $title" "$route"
  check "$socket: it is well" healthy "$socket"
  check "$socket: what is not there is a problem with a number" absent "$socket"
  check "$socket: so is what cannot be done, and what can is named" method "$socket"
  check "$socket: pages of other sites are not served" foreign "$socket"
  check "$socket: a token that is none is refused, whoever the kernel says it is" token "$socket"
  check "$socket: its status is an ad with an entity tag, or JSON" kept "$socket"
done <<'END'
matchmaker.sock matchmaker ads.put
customer/customer.sock customer jobs.submit
provider/provider.sock provider readyz
END

echo "1..$count"
exit $((failures > 0))
