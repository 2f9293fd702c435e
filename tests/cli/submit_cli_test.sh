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
sed '12s/^log /nice_user /' count.sub >nice.sub
run "$berth" submit --dry-run nice.sub
holds 'what is not carried over is a warning, with its place' [ "$(cat err)" = \
  "nice.sub:12:31: warning: nice_user: shares decide: docs/shares.md" ]
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

printf 'echo hello\n' >plain.sh
printf 'executable = plain.sh\ntransfer_input_files = plain.sh\nqueue\n' >mode.sub
run "$berth" submit --dry-run --json mode.sub
json 'a program may be executed whatever its mode is here, as HTCondor has it' 0 'rows[0]["Inputs"][0]["Mode"] == 0o755 and len(rows[0]["Inputs"]) == 1'
echo '[ Cmd = "./plain.sh" ]' >mode.ad
run "$berth" submit --dry-run mode.ad
says 'but in an ad it must be one' 2 '' '*plain.sh: it cannot be executed*'
printf 'executable = count.sh\narguments = $(x) $(n)\nn = 1\nqueue x from touch ran; echo a |\n' >command.sub
run "$berth" submit --dry-run command.sub
says 'a dry run runs no command of the file' 2 '' "command.sub:4:1: 'queue from COMMAND |' is run only when 'berth submit' submits the file"
run "$berth" convert --from submit command.sub
holds 'nor does berth convert' [ "$status$(ls ran 2>/dev/null)" = 2 ]
printf 'executable = count.sh\narguments = $(n)\nn = 1\n' >none.sub
run "$berth" submit none.sub -append 'n = 7' -append '+Project = "p"' -append 'queue 2' -dry-run --json
json 'commands are appended, by one dash or two' 0 'rows[0]["Args"] == ["7"] and rows[0]["Project"] == "p" and rows[0]["Count"] == 2'
run "$berth" submit none.sub --append 'n' --dry-run
says 'an appended command has a name and a value' 2 '' "*--append: expected NAME = VALUE, or queue, got 'n'"
run "$berth" submit mode.ad --append 'n = 7' --dry-run
says 'and goes with a submit file' 2 '' '*--append goes with submit files*'
echo 'executable = count.sh' >common.sub
printf 'include : common.sub\narguments = $(SUBMIT_FILE)\nqueue\n' >include.sub
run "$berth" submit --dry-run --json include.sub
json 'a file includes another' 0 'rows[0]["Cmd"] == "./count.sh" and rows[0]["Args"] == ["include.sub"]'

# ------------------------------------------------------------------------------------------------------------------ sweeps

printf '#!/bin/sh\n' >fit.sh && chmod +x fit.sh
mkdir data && echo 1 >data/a.csv && echo 2 >data/b.x.csv && echo 3 >data/.hidden.csv && mkdir data/folder.csv
cat >fit.ad <<'AD'
[ Cmd = "./fit.sh"; Args = { "--seed", Seed, "--rate", Rate, File }; Inputs = { File }; Env = [ SEED = Seed ];
  Out = strcat("out/", Seed, ".txt"); Err = strcat("err.", JobIndex); Outputs = { strcat("model.", Index) }; Name = strcat("fit-", Index) ]
AD
printf 'Seed,Rate,File\r\n17,0.5,data/a.csv\r\n"18", 1e-3 ,"data/b.x.csv"\r\n' >runs.csv
run "$berth" submit --dry-run --json fit.ad --table runs.csv
json 'a table makes a job a row: its columns are attributes that arguments, inputs and names of outputs read' 0 \
  '(len(rows) == 2 and rows[0]["Args"] == ["--seed", "17", "--rate", "0.5", "data/a.csv"] and rows[1]["Args"] == ["--seed", "18", "--rate", "1e-3", "data/b.x.csv"] and
  [sorted(i["Name"] for i in row["Inputs"]) for row in rows] == [["data/a.csv", "fit.sh"], ["data/b.x.csv", "fit.sh"]] and [row["Seed"] for row in rows] == [17, 18] and
  rows[0]["Rate"] == "0.5" and rows[1]["Out"] == "out/18.txt" and rows[1]["Outputs"] == ["model.1"] and [row["Index"] for row in rows] == [0, 1] and
  rows[0]["Env"] == {"SEED": "17"} and rows[0]["Name"] == "fit-0" and "Count" not in rows[0])'
json 'what is known only where the job runs stays as it is' 0 '"JobIndex" in rows[0]["Err"]'
printf 'n,x,flag,id\n1,0.5,true,007\n-2,1.0,false,8\n,2.5,,9\n' >kinds.csv
echo '[ Cmd = "true"; n = 5; Args = { n, x, flag, id } ]' >kinds.ad
run "$berth" submit --dry-run --json kinds.ad --table kinds.csv
json 'a column is of numbers or truths where all its fields are, and the job gets them as they are written' 0 \
  '([row["n"] for row in rows] == [1, -2, 5] and [row["x"] for row in rows] == [0.5, 1.0, 2.5] and rows[0]["flag"] is True and "flag" not in rows[2] and
  [row["id"] for row in rows] == ["007", "8", "9"] and rows[1]["Args"] == ["-2", "1.0", "false", "8"])'
printf 'RequestMemory,TimeLimit,Tool\n67108864,10,true\n134217728,20,false\n' >own.csv
echo '[ Cmd = strcat("/bin/", Tool); TimeLimit = 5; QueueLimit = 60 * TimeLimit; Type = "Job" ]' >own.ad
sed 's/,Tool/,Program/; s/,true/,ls/; s/,false/,cat/' own.csv >own2.csv
run "$berth" submit --dry-run --json own.ad Tool=ls --table own2.csv
json 'a column may be an attribute that the ad has; what must be a constant is computed at once' 0 \
  '([row["RequestMemory"] for row in rows] == [67108864, 134217728] and [row["TimeLimit"] for row in rows] == [10, 20] and [row["QueueLimit"] for row in rows] == [600, 1200] and rows[0]["Cmd"] == "/bin/ls")'
cat >night.ad <<'AD'
[ Cmd = "/bin/true"; NotBefore = absTime("2026-11-20T20:00:00+01:00"); Half = 1800 ]
[ Cmd = "/bin/true"; Day = 1800000000; NotBefore = Day + 2 * 1800; FinishBy = NotBefore + 60 ]
[ Cmd = "/bin/true"; NotBefore = time() + 3600 ]
AD
run "$berth" submit --dry-run --json night.ad
json 'times of an ad are as the language has them, or computed when it is submitted' 0 \
  '"2026-11-20T20:00:00+01:00" in str(rows[0]["NotBefore"]) and (rows[1]["NotBefore"], rows[1]["FinishBy"]) == (1800003600, 1800003660) and abs(rows[2]["NotBefore"] - 3600 - __import__("time").time()) < 600'
run "$berth" submit --dry-run --json night.ad --not-before 2030-01-01T00:00Z --finish-by 2030-01-01T01:00Z
json 'options say them for all ads' 0 'all((row["NotBefore"], row["FinishBy"]) == (1893456000, 1893459600) for row in rows)'
printf 'executable = count.sh\ndeferral_time = 1800000000\ndeferral_window = 600\nqueue\n' >later.sub
run "$berth" submit --dry-run --json later.sub
json "HTCondor's deferral_time and deferral_window are these" 0 'rows[0]["NotBefore"] == 1800000000 and rows[0]["FinishBy"] == 1800000600'
run "$berth" submit --dry-run night.ad --not-before soon
says 'a time that is none is refused' 2 '' "*--not-before: expected a time such as 20:00, +2h, *got 'soon'*"
printf 'first line\n\n   second, line\t\r\nthird\n' >lines
echo '[ Cmd = "echo"; Args = { Line } ]' >line.ad
run "$berth" submit --dry-run --json line.ad --each-line lines
json 'a job a line, without blanks around it; empty lines are none' 0 \
  '[row["Args"] for row in rows] == [["first line"], ["second, line"], ["third"]] and [row["Index"] for row in rows] == [0, 1, 2]'
timeout 20 "$berth" submit --dry-run --json line.ad --each-line - <lines >out 2>err
status=$?
json 'lines come by standard input as well' 0 'len(rows) == 3'
echo '[ Cmd = "cat"; Args = { File }; Inputs = { File }; Outputs = { strcat(FileStem, ".out") }; Name = FileName ]' >file.ad
run "$berth" submit --dry-run --json file.ad --each-file 'data/*.csv'
json 'a job a file that matches; folders and hidden files do not' 0 \
  '[row["Args"] for row in rows] == [["data/a.csv"], ["data/b.x.csv"]] and rows[1]["Outputs"] == ["b.x.out"] and rows[1]["Name"] == "b.x.csv" and rows[0]["Inputs"][0]["Name"] == "data/a.csv"'
(mkdir -p below && cd below && timeout 20 "$berth" submit --dry-run --json ../file.ad --each-file 'data/*.csv' >../out 2>../err)
status=$?
json 'files are named from the folder of the ad, as its inputs are' 0 '[row["Args"] for row in rows] == [["data/a.csv"], ["data/b.x.csv"]]'
echo '[ Cmd = "true"; Count = Repeats; Args = { Index, Repeats }; Out = strcat("o.", Index) ]' >repeat.ad
printf 'Repeats\n2\n3\n' >repeats.csv
run "$berth" submit --dry-run --json repeat.ad --table repeats.csv
json 'a row may stand for several jobs: what reads their numbers is computed by each' 0 \
  '[row["Count"] for row in rows] == [2, 3] and [row["Index"] for row in rows] == [0, 2] and rows[0]["Args"][1] == "2" and "Index" in rows[0]["Args"][0] and "Index" in rows[1]["Out"]'
python3 -c 'print("Seed"); [print(i) for i in range(500)]' >many.csv
echo '[ Cmd = "./fit.sh"; Args = { "--seed", Seed } ]' >seeds.ad
run "$berth" submit --dry-run --json seeds.ad --table many.csv
json 'five hundred rows are five hundred jobs' 0 'len(rows) == 500 and rows[499]["Args"] == ["--seed", "499"] and rows[499]["Index"] == 499'

# what is wrong has its place
for case in 'a,b\n1,2\n3\n|bad.csv:3:1: this row has 1 field; there are 2 names in the first line' \
  'a,b\n1,"2\n|bad.csv:2:3: expected '\''"'\'' at the end of this field' \
  'a,b c\n1,2\n|bad.csv:1:3: expected the name of a column (letters, digits and _, not a digit first), got '\''b c'\''' \
  'a,A\n1,2\n|bad.csv:1:3: there are two columns of that name' \
  'a,index\n1,2\n|bad.csv:1:3: a column cannot be called index: that is set for each job' \
  'a,b\n|bad.csv: there is no row in this table'; do
  # shellcheck disable=SC2059 # it is a format
  printf "${case%%|*}" >bad.csv
  run "$berth" submit --dry-run seeds.ad --table bad.csv
  expect "a table that is wrong: ${case##*bad.csv:}" 2 '' "${case##*|}"
done
printf 'Seed,Rate,File\n1,2,data/a.csv\n3,4,data/none.csv\n' >missing.csv
run "$berth" submit --dry-run fit.ad --table missing.csv
expect 'an input that is not there has the place of its row, and nothing is made' 2 '' 'berth: missing.csv:3: data/none.csv: No such file or directory'
run "$berth" submit --dry-run file.ad --each-file 'none/*.csv'
expect 'a pattern that nothing matches is told' 2 '' 'berth: --each-file none/*.csv: no file matches in the folder .'
run "$berth" submit --dry-run file.ad --each-file data/a.csv data/b.x.csv
expect 'a pattern that the shell has expanded is told' 2 '' \
  "berth: --each-file wants one FILE with an ad, got 2; a pattern is quoted, so that the shell does not expand it: --each-file 'data/*.csv'"
run "$berth" submit --dry-run fit.ad --table runs.csv --each-line lines
expect 'a sweep is made in one way' 2 '' 'berth: submit wants one of --table, --each-line and --each-file, not several'
run "$berth" submit --dry-run count.sub --table runs.csv
expect 'a submit file has a way of its own' 2 '' \
  "berth: count.sub: --table, --each-line and --each-file go with ads; a submit file says 'queue ... from' or 'queue ... matching'"

echo '[ Cmd = "echo"; Args = { Input, Inpts }; Inpts = "x" ]' >near.ad
printf 'Input\na\nb\n' >near.csv
run "$berth" submit --dry-run near.ad --table near.csv
holds 'a column that the ad reads is not called misspelt' sh -c '[ '$status' = 0 ] && [ ! -s err ]'

# attributes by hand
echo '[ Cmd = "echo"; Args = { Tag, Rounds } ]' >given.ad
run "$berth" submit --dry-run --json given.ad Tag='a b' Rounds=3 Memory=2G 'List={ "x", 1 }'
json 'attributes are set by hand: constants, or texts' 0 \
  'rows[0]["Args"] == ["a b", "3"] and rows[0]["Tag"] == "a b" and rows[0]["Rounds"] == 3 and rows[0]["Memory"] == 2147483648 and rows[0]["List"] == ["x", 1]'
run "$berth" submit --dry-run --json given.ad Tag=x Rounds=1 rounds=2 'Constraint=other.Memory > 1G' RequestMemory=other.Memory/4
json 'the last holds; what is about machines is an expression' 0 \
  'rows[0]["Args"] == ["x", "2"] and "other.Memory > " in rows[0]["Constraint"] and "other.Memory / 4" in rows[0]["RequestMemory"]'
run "$berth" submit --dry-run given.ad Tag=x Rounds=1 'Rank=other.'
says 'and a slip in it is told' 2 '' 'berth: Rank=other.: expected *'
printf 'executable = count.sh\narguments = $(what)\nqueue\n' >what.sub
run "$berth" submit --dry-run --json what.sub what=this
json 'and macros of a submit file' 0 'rows[0]["Args"] == ["this"]'
run "$berth" submit --dry-run none=1.ad
holds 'which is not taken for a file' [ "$status" = 2 ]
cp given.ad odd=1.ad
run "$berth" submit --dry-run --json odd=1.ad Tag=x Rounds=1
json 'unless there is one' 0 'len(rows) == 1'

# -------------------------------------------------------------------------------------------------- names that nothing reads

printf '[ Cmd = "/bin/true"; RequestMemry = 64M ]\n[ Cmd = "/bin/true"; RequestMemry = 32M; TimeLimt = 5; Input = { } ]\n' >slips.ad
run "$berth" submit --dry-run --json slips.ad
json 'a misspelt attribute does not keep a job from being submitted' 0 'len(rows) == 2 and rows[0]["RequestMemry"] == 2**26'
holds 'and is told, once each, with what was probably meant' [ "$(cat err)" = "berth: slips.ad:1: nothing reads RequestMemry; did you mean RequestMemory?
berth: slips.ad:2: nothing reads TimeLimt; did you mean TimeLimit?
berth: slips.ad:2: nothing reads Input; did you mean Inputs?" ]
printf '[ Cmd = "/bin/true"; acme_RequestMemry = 1; MyTimeLimit = 5; Note = "x"; Tag = 1; RequestMemories = 2; Constraint = other.Memory > RequestMemories ]' >ours.ad
run "$berth" submit --dry-run --json ours.ad
json 'names of one'\''s own, and those that something reads, are not' 0 'len(rows) == 1'
holds 'without a word' [ ! -s err ]
sed -n 's/^| `\([A-Z][A-Za-z]*\)` | .* | .* | .* |$/\1/p' "$BERTH_SOURCE/docs/jobs.md" | sort -u >names
{ echo '[' && sed 's/.*/& = undefined;/' names && echo ']'; } >manual.ad
run "$berth" submit --dry-run --json manual.ad
holds 'no attribute of the manual is called misspelt' sh -c '[ $(wc -l <names) -gt 40 ] && ! grep "nothing reads" err'

# ------------------------------------------------------------------------------------------------------------- many files

mkdir crowd && (cd crowd && seq 2000 | xargs touch)
echo '[ Cmd = "true"; Inputs = { "crowd" } ]' >crowd.ad
run "$berth" submit --dry-run --json crowd.ad
json 'a job may read two thousand files, whose list fits into an ad' 0 'len(rows[0]["Inputs"]) == 2000 and sum(len(i) + 1 for i in rows[0]["Inputs"]) < 9000'
touch crowd/more
run "$berth" submit --dry-run --json crowd.ad
says 'with more it is told what to do' 2 '' 'berth: crowd.ad:1: crowd/*: a job reads at most 2000 files; put them into an archive'

echo "1..$count"
[ $failures = 0 ]
