#!/bin/bash
# watch_live_test.sh: what a pool tells who watches it: the numbers of customer and provider for jobs that ended well, badly and at their limit, by socket and by
# address, and to whom; and alerts and dashboard name only numbers that there are. Prints TAP.
set -u
berth=${BERTH:?the program}
source=${BERTH_SOURCE:?the sources}
. "$source/tests/common/says.sh"
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }

"$berth" pool --listen 127.0.0.1:0 --set CustomerListen=127.0.0.1:0 >pool.up 2>pool.err &
pids="$pids $!"
holds 'a pool is up' soon grep -q 'is up' pool.up

cat >jobs.ad <<'END'
[ Cmd = "/bin/sh"; Args = { "-c", "cat in; echo out" }; Inputs = { "in" }; RequestMemory = 64M; RequestDisk = 16M ]
[ Cmd = "/bin/sh"; Args = { "-c", "exit 3" }; RequestMemory = 64M; RequestDisk = 16M ]
[ Cmd = "/usr/bin/python3"; Args = { "-c", "import time; held = bytearray(300 << 20); time.sleep(60)" }; RequestMemory = 100M; RequestDisk = 16M ]
END
seq 1000 >in
run "$berth" submit jobs.ad
holds 'three jobs are submitted' [ "$status" = 0 ]
run "$berth" wait --timeout 120 1-3
ask() { curl -sS -m 20 --unix-socket "state/$1/$1.sock" "http://$1/metrics" >"$1.metrics"; }
# has PARTY LINE...: soon, for a number follows what it counts.
has() {
  local party=$1 line
  shift
  ask "$party" || return
  for line; do grep -qxE -- "$line" "$party.metrics" || { sed 's/^/# /' "$party.metrics" | grep -v ' 0$\|HELP\|TYPE\|bucket' | head -40; return 1; }; done
}
holds 'a customer counts its jobs by how they ended' soon has customer 'berth_jobs_submitted_total 3' 'berth_jobs_ended_total\{outcome="Succeeded"\} 1' \
  'berth_jobs_ended_total\{outcome="Failed"\} 1' 'berth_jobs_ended_total\{outcome="OutOfMemory"\} 1' 'berth_tries_total 3' 'berth_tries_lost_total 0'
holds 'how long they waited, the bytes of their files, and commits' soon has customer 'berth_queue_wait_seconds_count 3' 'berth_file_bytes_total\{way="out"\} 3893' \
  'berth_file_bytes_total\{way="in"\} [1-9][0-9]*' 'berth_store_commits_total [1-9][0-9]*' 'berth_customer_connected 1' '# EOF'
holds 'a provider counts what ended them' soon has provider 'berth_provider_jobs_started_total 3' 'berth_provider_jobs_ended_total\{reason="exited"\} 1' \
  'berth_provider_jobs_ended_total\{reason="failed"\} 1' 'berth_provider_jobs_ended_total\{reason="memory"\} 1' 'berth_provider_memory_kills_total 1' \
  'berth_provider_jobs\{state="running"\} 0' 'berth_file_bytes_total\{way="in"\} 3893' 'berth_provider_sick 0' 'berth_provider_connected 1' 'berth_provider_gpus\{kind="used"\} 0'
cat >long.ad <<'END'
[ Cmd = "/bin/sleep"; Args = { "1000" }; RequestMemory = 64M; RequestDisk = 16M ]
END
run "$berth" submit long.ad
holds 'what runs now is there as well' soon has provider 'berth_provider_jobs\{state="running"\} 1' 'berth_provider_claims 1' 'berth_provider_staging_seconds_count [3-4]'
holds 'at both' soon has customer 'berth_customer_queue_jobs\{state="Running"\} 1' 'berth_customer_jobs [1-4]'

# ---- by address: with a token for this very agent
curl -sS -m 20 --unix-socket state/customer/customer.sock http://customer/v1/status >address
field() { sed -n "s/.* $1 = \"\([^\"]*\)\".*/\1/p" address; }
contact=http://$(field Address) agent=$(field Identity)/$(field Name)
"$berth" token create --subject prometheus --scope ad:read --lifetime 1h --out pool.token >/dev/null
"$berth" token delegate --for "$agent" --no-delegation --out agent.token pool.token >/dev/null
bearer() { sed -n 's/.*Token = "\([^"]*\)".*/\1/p' "$1"; }
told() { code=$(curl -sS -k -m 20 -o told -w '%{http_code}' ${2:+-H "Authorization: Bearer $(bearer "$2")"} "$contact$1"); echo "$code"; }
"$berth" token create --subject prometheus --scope ad:read --lifetime 1h --no-delegation --out plain.token >/dev/null
holds 'a token for the pool is refused by an agent' [ "$(told /metrics plain.token)" = 401 ]
holds 'and none as well' [ "$(told /metrics)" = 401 ]
holds 'one that was delegated for it is taken' [ "$(told /metrics agent.token)" = 200 ]
holds 'and gives these numbers alone' [ "$(told /v1/jobs agent.token)" = 403 ]
holds 'refused tokens are counted' soon has customer 'berth_tokens_refused_total\{fault="AUDIENCE"\} [1-9]'
run "$berth" token delegate --for heron --out none.token pool.token
holds 'an agent is named with its identity' [ "$status" = 2 ]
"$berth" rm 4 >/dev/null

# ---- alerts and dashboard
holds 'alerts, dashboard and their page are what the table says' "$source/tools/make-monitoring" --check
curl -sS --unix-socket state/matchmaker.sock http://pool/metrics >matchmaker.metrics
known() {
  cat ./*.metrics | sed -n 's/^# TYPE \([^ ]*\) \(.*\)/\1 \2/p' | while read -r name sort; do
    case $sort in counter) echo "${name}_total" ;; histogram) printf '%s\n' "${name}_bucket" "${name}_count" "${name}_sum" ;; esac
    echo "$name"
  done | sort -u >known.names
  grep -ohE '\b(berth|process)_[a-z_]+' "$source/packaging/prometheus/berth.rules.yml" "$source/packaging/prometheus/berth.dashboard.json" "$source/docs/monitoring.md" | sort -u >used.names
  [ "$(wc -l <used.names)" -gt 30 ] && ! comm -13 known.names used.names | grep .
}
holds 'and they name only numbers that there are' known

echo "1..$count"
[ $failures = 0 ]
