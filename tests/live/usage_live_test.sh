#!/bin/bash
# usage_live_test.sh: what jobs use is counted by user, group, machine and month, once, and told to those who may know it: a real pool, jobs that
# take a known amount of processor time, a restart of everything. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

cat >shares.ad <<'AD'
[ Groups = { [ Name = "physics"; Quota = 0.5 ] } ]
AD
begin() {
  : >up
  "$berth" pool --listen 127.0.0.1:0 --set Shares="$work/shares.ad" >up 2>>log </dev/null &
  pids=$!
  soon grep -q 'To end it' up
}
end() { kill $pids && wait $pids; pids=; }
holds 'a pool is up' begin
me=$(id -un)

cat >burn.sh <<'SH'
# takes a second of processor time, by its own account
python3 -c 'import time
while time.process_time() < 1: pass'
head -c 70000 /dev/zero >made
SH
run timeout 60 "$berth" run -i burn.sh -- sh burn.sh
holds 'a job takes a second of processor time' [ "$status" = 0 ]
cat >job.ad <<'AD'
[ Cmd = "true"; AccountingGroup = "physics" ]
AD
run timeout 60 "$berth" submit job.ad
holds 'another is charged to a group' [ "$status" = 0 ]
run timeout 60 "$berth" wait --all
counted() { listed 'usage' "len(rows) == 1 and rows[0]['user'] == '$me' and rows[0]['jobs'] == 2"; }
holds 'both are counted' soon counted
run "$berth" usage --json
json 'with what they used' 0 \
  "rows[0]['claims'] == 2 and 1 <= rows[0]['cpu'] <= 10 and rows[0]['wall'] >= 0.9 and rows[0]['cpus_held'] >= rows[0]['wall'] * 0.9 and rows[0]['gpus_held'] == 0 and rows[0]['memory'] > 100000"
run "$berth" usage --json
json 'the row has these members, in this order' 0 \
  'list(rows[0]) == ["user", "claims", "jobs", "wall", "cpu", "normalised", "cpus_held", "gpus_held", "memory", "bytes_in", "bytes_out"]'
json 'processor time is counted by the speed of the machine, too' 0 '0.01 < rows[0]["normalised"] / rows[0]["cpu"] < 1000'
speed() { "$berth" ads -c 'Type == "Machine"' --long | sed -n 's/^Benchmark = //p'; }
speed=$(speed)
holds 'which its ad tells' python3 -c 'import sys; assert 1000 < float(sys.argv[1]) < 1e8' "$speed"
run "$berth" usage --by group --json
json 'by group it is apart' 0 \
  '[r["group"] for r in rows] == ["<none>", "physics"] and rows[0]["cpu"] >= 1 > rows[1]["cpu"] and rows[1]["jobs"] == 1'
run "$berth" usage --by machine,month --json
json 'by machine and month it is together' 0 \
  'len(rows) == 1 and rows[0]["jobs"] == 2 and rows[0]["machine"] and len(rows[0]["month"]) == 7'
run "$berth" usage --by month --csv
holds 'as CSV there is a line of names, and a line a row' python3 -c '
import csv
rows = list(csv.reader(open("out")))
assert rows[0] == "month claims jobs wall cpu normalised cpus_held gpus_held memory bytes_in bytes_out".split(), rows
assert len(rows) == 2 and all(len(r) == 11 for r in rows) and rows[1][2] == "2" and float(rows[1][4]) >= 1, rows'
run "$berth" usage --since 2990-01
says 'of a later month there is nothing' 0 '' ''
run "$berth" usage --until 1999-12-31 --json
says 'nor of an earlier one' 0 '' ''
run "$berth" usage --since 2020-01 --until 2990-01-31 --user "$me" --group physics --json
json 'months, user and group choose' 0 'len(rows) == 1 and rows[0]["jobs"] == 1'
run "$berth" usage --since yesterday
says 'what is no date is refused' 2 '' 'berth: since: expected a month, 2026-11, or a day, 2026-11-18, which stands for its month'
run "$berth" usage --by colour
says 'what cannot be added up by is refused' 2 '' 'berth: by: expected user, group, machine or month, or one of these and month: user,month'
run "$berth" usage somebody
says 'words are refused' 2 '' 'berth: usage takes no arguments, only options: `berth usage --user NAME` is one user*s'
run "$berth" usage --csv --json
says 'there is one form at a time' 2 '' 'berth: --csv, --json, --long and --swf cannot be used together'

# A line a job, from the customer's history; read by a parser of our own.
cat >swf.py <<'PY'
import sys
jobs = [line.split() for line in open("out") if not line.startswith(";")]
assert jobs and all(len(job) == 18 for job in jobs), jobs
jobs = [[int(field) for field in job] for job in jobs]
assert jobs[0][1] == 0 and [job[1] for job in jobs] == sorted(job[1] for job in jobs), jobs
assert all(field >= -1 for job in jobs for field in job)
assert eval(sys.argv[1]), jobs
PY
run "$berth" history --swf
holds 'the history is told in the Standard Workload Format' \
  python3 swf.py '[job[10] for job in jobs] == [1, 1] and jobs[0][3] >= 1 and jobs[0][5] >= 1 and jobs[0][4] == 1 and jobs[0][6] > 0 and jobs[0][11] == 1 and jobs[1][12] == 1'
holds 'whose names are said at the head' grep -q "^; UserID: 1 $me\$" out
holds 'our own reader of that format takes it' sh -c '"$1" sim --trace out --policy fcfs >read 2>&1 || { head -n 3 read; false; }' sh "$berth"
cp out history.swf
run "$berth" history --long -c "Cmd == \"sh\""
holds 'the history has what a job used, what was moved, when, and how fast the machine is' python3 -c '
said = dict(line.split(" = ", 1) for line in open("out") if " = " in line)
assert 1 <= float(said["CpuUsed"]) <= 10 and int(said["BytesIn"]) > 50 and int(said["BytesOut"]) >= 70000, said
assert int(said["Submitted"]) <= int(said["Matched"]) <= int(said["Started"]) <= int(said["Ended"]) <= int(said["Delivered"]) + 1, said
assert float(said["Benchmark"]) == float("'"$speed"'") and float(said["CpusGiven"]) == 1, said'
run "$berth" usage --json
json 'bytes that went to the machine are counted, and those that came from it' 0 'rows[0]["bytes_in"] > 50 and 70000 <= rows[0]["bytes_out"] < 80000'
run "$berth" usage --by group --json
json 'for the group of the job that made them' 0 'rows[0]["bytes_out"] >= 70000 > rows[1]["bytes_out"]'
run "$berth" usage --swf
holds 'berth usage tells the same' cmp -s out history.swf
run "$berth" history --swf --json
says 'it is a form of its own' 2 '' 'berth: --swf goes with no other form'

# Who is no administrator sees the own use.
run "$berth" token create --subject eve --scope ad:read --lifetime 1h --out eve.token
holds 'another has a token' [ "$status" = 0 ]

as_eve() { run "$berth" usage --token eve.token "$@"; }
as_eve --json
says 'who has used nothing sees nothing' 0 '' ''
as_eve --user "$me"
says 'what others have used is not told' 2 '' 'berth: what another has used is for administrators'
as_eve --by machine
says 'nor what was used of machines' 2 '' 'berth: what was used of machines is for administrators; *'
as_eve --by month --json
says 'nor all together' 0 '' ''

"$berth" usage --json >before
end
holds 'the pool begins again' begin
same() { "$berth" usage --json >after && cmp -s before after; }
holds 'and nothing was lost or counted again' soon same
holds 'the speed of the machine was not measured again' soon sh -c '[ "$("$0" ads -c "Type == \"Machine\"" --long | sed -n "s/^Benchmark = //p")" = "$1" ]' "$berth" "$speed"
run timeout 60 "$berth" run -- true
third() { listed 'usage' "rows[0]['jobs'] == 3 and rows[0]['claims'] == 3"; }
holds 'it goes on from there' soon third
run timeout 100 "$berth" run -- sleep 15
run "$berth" job 4 --json
json 'what a job used is looked at every ten seconds of its life, and kept with it' 0 \
  'rows[0]["Samples"]["Span"] == 10 and 1 <= len(rows[0]["Samples"]["Memory"]) == len(rows[0]["Samples"]["CpuPercent"]) and 0 < rows[0]["Samples"]["Memory"][0] < 536870912'
holds 'it goes to the history' soon listed history 'len(rows) == 4'
run "$berth" history --json
json 'lists do not have that' 0 'len(rows) == 4 and not [row for row in rows if "Samples" in row]'
holds 'the store is sound' "$berth" store check "$work/state/berth.db"
end

echo "1..$count"
[ $failures -eq 0 ]
