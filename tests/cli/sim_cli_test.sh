#!/bin/sh
# sim_cli_test.sh: berth sim of clusters: policies compared, what if, traces, the page; and what is wrong is told. Prints TAP.
set -u
berth=${BERTH:?the program}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "${BERTH_SOURCE:?the sources}/tests/common/tap.sh"

cat >small.ad <<'END'
[ Name = "small"; Duration = 7200; Runs = 4; Users = 3; Policies = { "fcfs", "srfm" }; Window = 60; Windows = [ fcfs = 1 ];
  Clusters = { [ Ad = [ Name = "big"; Cpus = 16 ] ], [ Count = 2; Ad = [ Name = "little"; Cpus = 4 ] ] };
  Arrival = [ Pause = [ Distribution = "exponential"; Mean = 60 ] ];
  Jobs = { [ Weight = 2; Duration = [ Distribution = "lognormal"; Mean = 600; Deviation = 100; Floor = 10 ]; Ad = [ Cpus = 1 ] ],
           [ Duration = 900; Ad = [ Cpus = [ Distribution = "uniform"; Least = 2; Most = 16 ];
                                    Constraint = other.Cpus >= Cpus ] ] } ]
END

# ----------------------------------------------------------------------------------------------------------------- tables

run "$berth" sim --scenario small.ad
holds 'a scenario of clusters prints a table as 5.2, and what goes beyond it' sh -c \
  'grep -q "^POLICY  HOURS  TIMEOUT  *SUBMITTED  *COMPLETED %  *SCHEDULED %  *TIMED OUT %  *MAX WAIT S  *AVG WAIT S$" out &&
   grep -q "^POLICY .*BUSY %  *DONE/H  *SLOWDOWN  *MEDIAN  *99 %  *FAIRNESS  *STARVED %" out && grep -q "^srfm  *2  *none .* ±" out && ! grep -q . err'
cp out first
run "$berth" sim --scenario small.ad
holds 'the same seed gives the same bytes' cmp out first
run "$berth" sim --scenario small.ad --seed 2
holds 'and another seed others' sh -c '! cmp -s out first'
run "$berth" sim --scenario small.ad --measure
holds 'what a clock says is printed when asked for, and nothing else differs' sh -c \
  'grep -q "OVER WINDOW" out && sed "/WINDOWS/,\$d" out >a && sed "/WINDOWS/,\$d" first | cmp - a'
run "$berth" sim --scenario small.ad --policy lbm,optimal,sjf --hours 2,0.5 --runs 3 --timeout none,600 --json
holds 'sim --json prints an object for each policy, hour and timeout' python3 -c '
import json
rows = [json.loads(line) for line in open("out")]
assert [(r["hours"], r["timeout"], r["policy"]) for r in rows] == [(h, t, p) for h in (0.5, 2) for t in (0, 600)
                                                                  for p in ("lbm", "optimal", "sjf")], rows
for r in rows:
    assert abs(r["completed"] + r["scheduled"] + r["timed_out"] + r["waiting"] - 100) < 1e-5
    assert r["runs"] == 3 and r["completed_margin"] >= 0 and 0 <= r["fairness"] <= 1 and r["slowdown"] >= 1
    assert r["timeout"] or r["timed_out"] == 0
'
run "$berth" sim --policy fcfs --hours 1 --runs 2 --json
cp out first
run "$berth" sim --scenario "$BERTH_SOURCE/examples/sim/gridcam.ad" --policy fcfs --hours 1 --runs 2 --json
holds 'without a scenario it is gridcam.ad' cmp out first
run "$berth" sim --scenario small.ad --window 5..60 --json
holds 'a window may adapt to the load' grep -q '"window": \[5, 60\]' out

# ------------------------------------------------------------------------------------------------------- jobs that wait for jobs

# A diamond on two processors: 1, then 2 and 3 side by side, then 4; 5 waits for nobody, and takes the free processor.
cat >diamond.jsonl <<'END'
{"job": 1, "submit": 0, "duration": 100, "cpus": 2}
{"job": 2, "submit": 0, "duration": 50, "after": [1]}
{"job": 3, "submit": 0, "duration": 70, "after": [1]}
{"job": 4, "submit": 0, "duration": 10, "cpus": 2, "after": [2, 3], "think": 5}
{"job": 5, "submit": 120, "duration": 100}
END
run "$berth" sim --trace diamond.jsonl --policy fcfs --write-trace diamond.out
holds 'a job begins when those that it waits for are done' python3 -c '
import json
starts = {r["job"]: r["start"] for r in map(json.loads, open("diamond.out"))}
assert starts == {1: 0, 2: 100, 3: 100, 4: 250, 5: 150}, starts'
sed 's/"submit": 120/"submit": 400/' diamond.jsonl >early.jsonl
run "$berth" sim --trace early.jsonl --policy fcfs --json
holds 'and its wait is counted from then on' python3 -c '
import json
r = json.loads(open("out").readline())
assert r["max_wait"] == 0 and r["completed"] == 100, r'
printf '{"submit": 0, "duration": 100, "cpus": 2}\n{"submit": 0, "duration": 5, "cpus": 2}\n{"submit": 0, "duration": 5, "after": [2]}\n{"submit": 0, "duration": 5, "after": [3]}\n' >lost.jsonl
run "$berth" sim --trace lost.jsonl --policy fcfs --timeout 30 --hours 1 --json
holds 'when the time of one of them is out, it goes too, and who waits for it' python3 -c '
import json
r = json.loads(open("out").readline())
assert (r["completed"], r["timed_out"]) == (25, 75), r'
printf '; MaxProcs: 4\n1 0 -1 60 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n2 0 -1 60 2 -1 -1 2 60 -1 1 2 1 1 1 -1 1 40\n' >preceding.swf
run "$berth" sim --trace preceding.swf --policy srfm --write-trace preceding.jsonl
holds 'the preceding job and the think time of the standard format count' grep -q '"job": 2, .*"start": 100' preceding.jsonl

# ---------------------------------------------------------------------------------------------------------------- what if

run "$berth" sim --scenario small.ad --policy fcfs --what-if '+2 machines like [ Cpus = 16 ]' --what-if '+1 cluster like little' --json
holds 'what if there were more machines: jobs wait less' python3 -c '
import json
before, after = [json.loads(line) for line in open("out")]
assert not before["extra"] and after["extra"] and after["mean_wait"] < before["mean_wait"]
'
run "$berth" sim --scenario small.ad --what-if '20 more'
expect 'what it cannot understand it says' 2 '' "berth: sim: --what-if '20 more': expected \"+COUNT machines like [ AD ]\""

# ----------------------------------------------------------------------------------------------------------------- traces

run "$berth" sim --scenario small.ad --policy fcfs --runs 1 --write-trace jobs.jsonl --json
cp out first
run "$berth" sim --scenario small.ad --policy fcfs --hours 2 --trace jobs.jsonl --json
holds 'a trace that was written gives the same figures when it is replayed' python3 -c '
import json
a, b = json.load(open("first")), json.load(open("out"))
assert a["submitted"] == b["submitted"] > 50
for key in ("completed", "scheduled", "waiting", "mean_wait", "max_wait", "utilisation", "slowdown"):
    assert a[key] == b[key], key
'
run "$berth" sim --scenario small.ad --policy fcfs --runs 1 --write-trace jobs.swf
holds 'also in the Standard Workload Format' sh -c \
  'grep -q "^; MaxProcs: 24$" jobs.swf && grep -qE "^1 [0-9]+ -?[0-9]+( -?[0-9]+){15}$" jobs.swf'
run "$berth" sim --trace jobs.swf --json
holds 'which tells by itself how many processors there are' sh -c 'grep -q "\"completed\": 100.000000" out && ! grep -q . err'
swf() { echo "$1 $2 -1 $3 $4 -1 -1 $4 $3 -1 1 $1 1 1 1 -1 -1 -1"; }
{ echo '; MaxProcs: 4'; swf 1 0 10 3; swf 2 1 10 4; swf 3 2 8 1; swf 4 3 30 1; } >four.swf
for policy in strict easy conservative; do
  "$berth" sim --trace four.swf --policy $policy --write-trace $policy.jsonl >/dev/null 2>&1
  sed -n 's/.*"start": \([0-9]*\).*/\1/p' $policy.jsonl | tr '\n' ' ' >>starts
done
holds 'in strict order nobody passes, with back-fill who is done before the planned start of the first that waits' \
  [ "$(cat starts)" = '0 10 20 20 0 10 2 20 0 10 2 20 ' ]
job() { echo "$1 $2 -1 $3 $4 -1 -1 $4 $5 -1 1 $6 1 1 1 -1 -1 -1"; }
{ echo '; MaxProcs: 4'; job 1 0 5 1 200 1; job 2 6 5 1 200 1; job 3 20 50 3 50 2; job 4 21 10 4 10 3; job 5 22 5 1 200 1; } >habit.swf
for policy in easy predicted; do
  "$berth" sim --trace habit.swf --policy $policy --write-trace $policy.jsonl >/dev/null 2>&1
  sed -n 's/.*"start": \([0-9]*\).*/\1/p' $policy.jsonl | tr '\n' ' ' >>habits
done
holds 'by predictions a job passes whose user says more than his last two jobs took' \
  [ "$(cat habits)" = '0 6 20 70 80 0 6 20 70 22 ' ]
run "$berth" sim --trace four.swf --policy strict,easy --json
holds 'so jobs wait less' python3 -c '
import json
strict, easy = [json.loads(line) for line in open("out")]
assert easy["mean_wait"] < strict["mean_wait"] and easy["slowdown"] < strict["slowdown"] and 1 <= easy["median_slowdown"] <= easy["slowdown"] <= easy["slowdown_99"] and easy["completed"] == strict["completed"] == 100
'
run "$berth" sim --scenario small.ad --policy strict,easy,conservative,predicted --window 60 --timeout none,600 --json
holds 'batch systems also have several clusters, of which jobs choose, and jobs that go' python3 -c '
import json
rows = [json.loads(line) for line in open("out")]
done = {(r["policy"], r["timeout"]): r["completed"] for r in rows}
for r in rows:
    assert abs(r["completed"] + r["scheduled"] + r["timed_out"] + r["waiting"] - 100) < 1e-5 and r["window"] is None, r
assert len(rows) == 8 and min(done["easy", 0], done["conservative", 0], done["predicted", 0]) > done["strict", 0] > 10
'
printf '; MaxProcs: 4\n1 0 -1 10 8 -1 -1 8 10 -1 1 1 1 1 1 -1 -1 -1\n2 0 -1 -1 1 -1 -1 1 10 -1 5 1 1 1 1 -1 -1 -1\n' >odd.swf
run "$berth" sim --trace odd.swf --json
holds 'jobs that cannot run are told of' sh -c \
  'grep -q "^berth: odd.swf: 1 jobs that did not run are passed over$" err && grep -q "^berth: odd.swf: 1 jobs ask for more processors than any cluster has$" err'

# -------------------------------------------------------------------------------------------------------------- bad input

printf '; Version: 2.2\n1 0 -1 10 8 -1 -1 8 10 -1 1 1 1 1 1 -1 -1\n' >wrong.swf
run "$berth" sim --trace wrong.swf
expect 'what is wrong with a trace is told with its line and what was expected' 2 '' \
  'wrong.swf:2:42: expected 18 fields, got 17: the think time is missing'
printf '{"submit": 0, "duration": 5}\n{"submit": 1, "duration": "long"}\n' >wrong.jsonl
run "$berth" sim --trace wrong.jsonl
expect 'also with one of JSON lines' 2 '' 'wrong.jsonl:2:1: "duration": expected a number from 0 to 1000000000000'
: >empty.swf
run "$berth" sim --trace empty.swf
expect 'a trace without jobs is no trace' 2 '' 'berth: empty.swf: there are no jobs in it'
sed 's/Runs = 4/Runs = "many"/' small.ad >wrong.ad
run "$berth" sim --scenario wrong.ad
expect 'what is wrong with a scenario is told with its place' 2 '' \
  'wrong.ad:1:36: Runs: expected a whole number from 1 to 10000'
run "$berth" sim --policy srmf
holds 'a policy that there is not is refused' sh -c "test $status = 2 && grep -q \"^berth: sim: --policy: there is no policy 'srmf'\" err"
run "$berth" sim --scenario small.ad --hours 1,x
expect 'hours are numbers' 2 '' "berth: sim: --hours: expected up to 16 numbers above 0 with commas between, got '1,x'"
run "$berth" sim --scenario small.ad --timeout soon
expect 'timeouts too' 2 '' \
  "berth: sim: --timeout: expected up to 8 numbers of seconds, or 'none', with commas between, got 'soon'"
run "$berth" sim --scenario small.ad --window 60..5
expect 'and windows' 2 '' "berth: sim: --window: expected seconds, or LEAST..MOST, got '60..5'"
run "$berth" sim --scenario small.ad --runs 0
holds 'at least one run is made' [ $status = 2 ]
run "$berth" sim --faults --policy fcfs
holds 'faults are another matter' [ $status = 2 ]

# --------------------------------------------------------------------------------------------------------------- the page

run "$berth" sim --scenario small.ad --report page.html
holds 'sim --report writes one page with drawings, and no script' sh -c \
  'grep -q "<svg" page.html && grep -q "</html>" page.html && ! grep -qiE "<script|https?:|@import|url\(" page.html'
cp page.html first
run "$berth" sim --scenario small.ad --report page.html
holds 'the same seed gives the same page' cmp page.html first
run "$berth" sim --scenario small.ad --report nowhere/page.html
holds 'a page that cannot be written is an error' sh -c "test $status = 2 && grep -q '^berth: nowhere/page.html: ' err"

# ------------------------------------------------------------------------------------------------------------- the manual

console "$BERTH_SOURCE/docs/simulator.md"
holds 'there are examples in the manual' [ $example -gt 1 ]

echo "1..$count"
[ $failures = 0 ]
