#!/bin/sh
# submit_cli_test.sh: jobs that are written in other people's languages: what berth submit and berth convert make and say of them. Prints
# TAP. How they run: submit_live_test.sh.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

# --------------------------------------------------------------------------------------------------- as they would be sent

cp -r "$BERTH_SOURCE/examples/htcondor/." .
run "$berth" submit --dry-run --json count.sub
json 'a submit file becomes ads: one an item, files by their last part, amounts in bytes' 0 \
  '(len(rows) == 2 and rows[0]["Cmd"] == "./count.sh" and [i["Name"] for i in rows[0]["Inputs"]] == ["sea.txt", "count.sh"] and
  rows[1]["Args"] == ["land.txt", "a road"] and rows[0]["Count"] == 2 and rows[0]["Outputs"] == [] and
  rows[0]["RequestMemory"] == 2**26 and rows[0]["RequestDisk"] == 10240000 and "other.Memory >= 67108864" in rows[0]["Constraint"] and
  rows[0]["Iwd"] == "'"$work"'" and "other.Arch == \"'"$(uname -m | tr '[:lower:]' '[:upper:]')"'\"" in rows[0]["Constraint"])'
holds 'what is not carried over is a warning, with its place' [ "$(cat err)" = \
  "count.sub:12:25: warning: log: no file is written: 'berth logs --events ID' shows it" ]
mkdir below
(cd below && timeout 20 "$berth" submit --dry-run --cwd .. ../count.sub >../out 2>../err)
status=$?
holds 'files are named from another folder if it is said' [ $status = 0 ]
(cd below && timeout 20 "$berth" submit --dry-run ../count.sub >../out 2>../err)
status=$?
says 'else from where it is typed, as HTCondor does' 2 '' '../count.sub:21:1: queue from items.txt: No such file or directory'
timeout 20 "$berth" submit --dry-run --json - <count.sub >out 2>err
status=$?
json 'a submit file is known by what it says as well' 0 'len(rows) == 2'
cp count.sub count.txt
run "$berth" submit --dry-run --json count.txt
json 'whatever it is called' 0 'len(rows) == 2'
run "$berth" submit --dry-run --from ad count.sub
holds 'unless it is said otherwise' [ $status = 2 ]
run "$berth" submit --dry-run --from pbs count.sub
says 'languages that there are not are told' 2 '' "berth: submit: --from: expected ad, submit or jdl, got 'pbs' *"
printf 'executable = count.sh\nqueue 2\nexecutable = none.sh\nqueue\n' >half.sub
run "$berth" submit --dry-run half.sub
expect 'of a file that is half wrong nothing is made' 2 '' 'berth: half.sub:4: ./none.sh: No such file or directory'
printf 'executable = count.sh\nrequirements = Memory > \nqueue\n' >slip.sub
run "$berth" submit --dry-run slip.sub
says 'a slip has its place, and what was expected' 2 '' 'slip.sub:2:*: requirements: expected *'
printf 'executable = count.sh\nuniverse = java\nqueue\n' >java.sub
run "$berth" submit --dry-run java.sub
says 'what would be another job is refused' 2 '' "java.sub:2:12: universe: expected vanilla, got 'java': *"
printf 'executable = count.sh\narguments = $(f) $ENV(HOME)\nqueue f matching files books/*.txt\n' >match.sub
run "$berth" convert --from submit --to json match.sub
json 'berth convert prints them as they are, with names that match and the environment' 0 \
  '[row["Args"] for row in rows] == [["books/land.txt", "'"$HOME"'"], ["books/sea.txt", "'"$HOME"'"]]'
printf 'executable = count.sh\noutput = o.$(Process)\nqueue 100000\n' >many.sub
run "$berth" submit --dry-run many.sub
holds 'a hundred thousand jobs are one ad' [ "$(grep -c 'Count = 100000' out)$(wc -l <out)" = 11 ]

echo "1..$count"
[ $failures = 0 ]
