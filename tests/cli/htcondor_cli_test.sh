#!/bin/sh
# htcondor_cli_test.sh: what people who come from HTCondor find: the pages for them are right, dumps are read, lines of values as -af prints
# them, names of commands that they know, and jobs in JDL. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

for page in from-htcondor submit-languages; do
  console "$BERTH_SOURCE/docs/$page.md"
  holds "docs/$page.md has examples" [ $example -gt 2 ]
  rm -r manual bin
done

# --------------------------------------------------------------------------------------------------------------- --format

cp "$BERTH_SOURCE"/examples/htcondor/*.txt .
run "$berth" query -d condor -o status.txt --format 'Machine GPUs' 'Cpus >= 16'
expect 'what an ad does not say is undefined' 0 'heron.lab.example.org undefined
stork.lab.example.org 2'
run "$berth" query -d condor -o status.txt --format ' Machine ,strcat(OpSys, "-", OpSysName) ,  Cpus*2 {1,2}[1]' 'GPUs > 1'
expect 'words are expressions; brackets hold them together; commas stay commas' 0 'stork.lab.example.org,LINUX-AlmaLinux,64 2'
run "$berth" query -d condor -o status.txt --format 'Name Memory+' true
says 'a slip in them has its place' 2 '' '--format:1:13: expected *'
run "$berth" query -d condor -o status.txt --format '' true
says 'there is at least one' 2 '' '--format: expected names of attributes*'
run "$berth" query -d condor -o status.txt --format Name --json true
expect 'a line of values is no JSON' 2 '' 'berth: --format and --json cannot be used together'
run "$berth" query -d condor -o status.txt -c 'Cpus > 1000' --format Name
expect 'the status says when there is none' 1 ''
run "$berth" query -d condor -o status.txt -c true true
expect 'an expression is given once' 2 '' 'berth: query wants one expression, and -o FILE with the ads or a pool'
printf '[ Name = "a\\tb\\033[31m" ]' >odd.ad
run "$berth" query -o odd.ad --format Name
expect 'no control character reaches a terminal' 0 'a?b?[31m'
run "$berth" query -d condor -o queue.txt 'Owner == "grace"'
expect 'a job is called by its numbers' 0 'NAME
102.0'

# ----------------------------------------------------------------------------------------------------- names of commands

run "$berth" help q
holds 'q is jobs' grep -q '^usage: berth jobs' out
run "$berth" remove
expect 'remove is rm' 2 '' 'berth: rm wants one of: job numbers, --constraint EXPR, --user NAME, --all'
# What hands remember from HTCondor is understood, or refused by its name; it is never read as a letter and its argument.
run "$berth" jobs -compact
expect '-compact is not -c ompact' 2 '' 'berth: jobs: there is no option -compact here (`berth help jobs` lists the options)'
run "$berth" jobs -nobatch
expect '-nobatch is not -n obatch' 2 '' 'berth: jobs: there is no option -nobatch here; see --all (`berth help jobs` lists the options)'
run "$berth" jobs -hold
expect '-hold is no option' 2 '' 'berth: jobs: there is no option -hold here; see --only (`berth help jobs` lists the options)'
run "$berth" jobs -af:j Job
expect '-af:j is none' 2 '' 'berth: jobs: there is no option -af here; see --format (`berth help jobs` lists the options)'
run "$berth" rm -reason because 5
expect 'nor is -reason' 2 '' 'berth: rm: there is no option -reason here; see --why (`berth help rm` lists the options)'
run "$berth" rm -all 5
expect '-all is --all' 2 '' 'berth: rm wants one of: job numbers, --constraint EXPR, --user NAME, --all'
run "$berth" query -d condor -o status.txt -constraint 'Cpus > 1000' --format Name
expect '-constraint is --constraint' 1 ''
run "$berth" query -dcondor -ostatus.txt -c'Cpus > 1000' --format Name
expect 'a letter with its argument is still one' 1 ''
run "$berth" jobs -wz
expect 'letters are named as they were typed' 2 '' 'berth: jobs: there is no option -wz (`berth help jobs` lists the options)'
run "$berth" jobs --watch --format Job
expect 'what is watched is a table' 2 '' 'berth: --watch shows a table: --format does not go with it'

# -------------------------------------------------------------------------------------------------------------------- JDL

mkdir -p jdl && cp -r "$BERTH_SOURCE/examples/htcondor" . && cp "$BERTH_SOURCE/examples/jdl/count.jdl" jdl
cd jdl || exit 1
run "$berth" submit --dry-run --json count.jdl
json 'a file in JDL becomes an ad, its files found and called by their last part' 0 \
  '[i["Name"] for i in rows[0]["Inputs"]] == ["count.sh", "sea.txt"] and rows[0]["Cmd"] == "./count.sh" and rows[0]["Inputs"][0]["Mode"] == 493'
sed 's/^Requirements.*/SubmitTo = "heron";/' count.jdl >named.txt
run "$berth" submit --dry-run --json named.txt
json 'it is known by what it says as well; one that is for a machine is for that alone' 0 \
  '"other.Name == \"heron\"" in rows[0]["Constraint"] and "Arch" not in rows[0]["Constraint"]'
echo 'Executable = "/bin/true"; Prologue = "x";' >flow.jdl
run "$berth" submit --dry-run flow.jdl
expect 'what would be another job is refused by name, with its place' 2 '' 'flow.jdl:1:27: Prologue: not carried over: let the executable call it'
cp "$BERTH_SOURCE/examples/jdl/flow.jdl" flow.jdl && chmod -x ../htcondor/count.sh
run "$berth" dag submit --dry-run --json flow.jdl
json 'a workflow in JDL becomes nodes that wait for each other; its programs may be executed' 0 \
  '[(r["Node"], r.get("After", [])) for r in rows] == [("sea", []), ("land", []), ("both", ["sea", "land"])] and rows[0]["Inputs"][0]["Mode"] == 493 and rows[2]["MaxRetries"] == 1'
printf 'executable = /bin/echo\narguments = $(Process)\nqueue 3\n' >condor.jdl
run "$berth" submit --dry-run --json condor.jdl
json "a file of HTCondor's may be called .jdl, too" 0 'rows[0]["Cmd"] == "/bin/echo" and rows[0]["Count"] == 3'
cd .. || exit 1

echo "1..$count"
[ $failures = 0 ]
