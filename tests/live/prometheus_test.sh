#!/bin/bash
# prometheus_test.sh: Debian's Prometheus scrapes a real pool, reads its alerts and evaluates each of them; and alerts fire for numbers as a sick pool has them.
# For `./dev soak`: the package is large. Prints TAP.
set -u
berth=${BERTH:?the program}
source=${BERTH_SOURCE:?the sources}
for tool in prometheus promtool curl python3; do
  command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not here" && exit; }
done
. "$source/tests/common/says.sh"
rules=$source/packaging/prometheus/berth.rules.yml
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
listens() { sed -n 's/.* Address = "\([^"]*\)".*/\1/p'; }
address() { curl -sS -m 20 --unix-socket "state/$1/$1.sock" "http://$1/v1/status" | listens; }

holds 'promtool finds nothing wrong with the alerts' promtool check rules "$rules"
holds 'each has a line for who is called' [ "$(grep -c 'alert: ' "$rules")" = "$(grep -c 'runbook: ' "$rules")" ]

# ---- what they say of a sick pool
cat >sick.yml <<END
rule_files: [ $rules ]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - { series: 'up{job="berth-customer",instance="a"}', values: '1 0x20' }
      - { series: 'berth_customer_disk_full{instance="a"}', values: '0 1x20' }
      - { series: 'berth_machines{instance="m",state="Sick"}', values: '2x40' }
      - { series: 'berth_machines{instance="m",state="Idle"}', values: '0x40' }
      - { series: 'berth_agent_superseded{instance="b"}', values: '1x40' }
      - { series: 'berth_store_failures_total{instance="c"}', values: '0 1x40' }
      - { series: 'berth_provider_jobs_ended_total{instance="p",reason="fault"}', values: '0+5x40' }
      - { series: 'berth_provider_results_waiting{instance="p"}', values: '3x90' }
    alert_rule_test:
$(fires() { # TIME ALERT LABELS
  printf "      - eval_time: %s\n        alertname: %s\n        exp_alerts:\n          - exp_labels: { %s }\n" "$1" "$2" "$3"
  python3 - "$rules" "$2" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
block = re.search(r'alert: %s\n(.*?)(?=- alert:|\Z)' % sys.argv[2], text, re.S).group(1)
severity = re.search(r'severity: (\w+)', block).group(1)
instance = {'BerthDown': 'a', 'BerthCustomerDiskFull': 'a', 'BerthMachinesSick': 'm', 'BerthNoMachines': 'm', 'BerthAgentTwice': 'b', 'BerthStoreFailed': 'c', 'BerthBlackHole': 'p', 'BerthResultsStuck': 'p'}[sys.argv[2]]
print("            exp_annotations:")
for each in ('summary', 'runbook'):
    print('              %s: %s' % (each, re.search(each + r": ('(?:[^']|'')*')", block).group(1).replace('{{ $labels.instance }}', instance)))
PY
}
fires 10m BerthDown 'severity: critical, job: berth-customer, instance: a'
fires 10m BerthCustomerDiskFull 'severity: critical, instance: a'
fires 20m BerthMachinesSick 'severity: warning, instance: m, state: Sick'
fires 20m BerthNoMachines 'severity: critical, instance: m'
fires 5m BerthAgentTwice 'severity: critical, instance: b'
fires 5m BerthStoreFailed 'severity: critical, instance: c'
fires 35m BerthBlackHole 'severity: critical, instance: p'
fires 70m BerthResultsStuck 'severity: warning, instance: p')
END
holds 'alerts are given for a pool that is sick' promtool test rules sick.yml

# ---- a pool that is well
"$berth" pool --listen 127.0.0.1:0 --set CustomerListen=127.0.0.1:0 --set ProviderListen=127.0.0.1:0 --set Metrics=true >pool.up 2>pool.err &
pids="$pids $!"
holds 'a pool is up' soon grep -q 'is up' pool.up
run "$berth" run -- true
holds 'and runs a job' [ "$status" = 0 ]
pool=$(sed -n 's/.*is up: http:..\([0-9.:]*\).*/\1/p' pool.up)
port=$((20000 + RANDOM % 10000))
cat >prometheus.yml <<END
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ $rules ]
scrape_configs:
  - { job_name: berth-matchmaker, static_configs: [ { targets: [ "$pool" ] } ] }
  - { job_name: berth-customer, static_configs: [ { targets: [ "$(address customer)" ] } ] }
  - { job_name: berth-provider, static_configs: [ { targets: [ "$(address provider)" ] } ] }
END
prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$port" >prometheus.out 2>&1 &
pids="$pids $!"
api() { curl -sS -m 20 -G "http://127.0.0.1:$port/api/v1/$1" "${@:2}" >answer; }
all_up() { api targets && [ "$(grep -o '"health":"up"' answer | wc -l)" = 3 ]; }
holds 'Prometheus reads the numbers of matchmaker, customer and provider' soon all_up
value() { api query --data-urlencode "query=$1" && grep -q "\"value\":\[[0-9.]*,\"$2\"\]" answer; }
holds 'a job that ended well is there' soon value 'sum(berth_jobs_ended_total{outcome="Succeeded"})' 1
holds 'and was at a machine' soon value 'sum(berth_provider_jobs_ended_total{reason="exited"})' 1
holds 'histograms are histograms' soon value 'histogram_quantile(1, sum by (le) (berth_queue_wait_seconds_bucket)) < bool 600' 1
healthy() {
  api rules && python3 - answer <<'PY'
import json, sys
rules = [rule for group in json.load(open(sys.argv[1]))['data']['groups'] for rule in group['rules']]
sys.exit(not (len(rules) > 30 and all(rule['health'] == 'ok' and rule['state'] == 'inactive' for rule in rules)))
PY
}
holds 'all alerts can be evaluated, and none is given for a pool that is well' soon healthy
drawn() {
  python3 -c 'import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel.get("targets", []): print(target["expr"])' "$source/packaging/prometheus/berth.dashboard.json" >exprs && [ "$(wc -l <exprs)" -gt 20 ] || return
  while read -r expr; do api query --data-urlencode "query=$expr" && grep -q '"status":"success"' answer || { echo "$expr" && return 1; }; done <exprs
}
holds 'and all that the dashboard draws' drawn

echo "1..$count"
[ $failures = 0 ]
