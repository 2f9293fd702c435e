#!/bin/sh
# edit_live_test.sh: jobs are edited, sent away from their machine, suspended and continued, and wait for their times, by their owners' commands and over restarts. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

export BERTH_RETRY=0.1
"$berth" pool --listen 127.0.0.1:0 --set 'CustomerListen="127.0.0.1:0"' >up 2>pool.err &
pool=$!
pids="$pids $pool"
holds "a pool is up" soon grep -q 'To end it' up
holds "a machine offers itself" soon listed 'ads --kind offers' "len(rows) == 1"
pid_of() { ps -o pid=,args= --ppid "$pool" | awk -v what="berth $1" 'index($0, what) { print $1 }'; }
state_is() { "$berth" jobs "$1" | awk -v id="$1" '$1 == id { print $2 }' | grep -qx "$2"; }
value() { "$berth" jobs "$1" --format "$2"; }
is() { [ "$(value "$1" "$2")" = "$3" ]; }

# ------------------------------------------------------------------------------------------------------------- editing

"$berth" submit --force - >submitted <<'AD'
[ Cmd = "/bin/echo"; Args = { "before" }; Constraint = other.Memory < 0; Colour = "red"; Count = 2 ]
AD
run "$berth" edit 1 'Colour="blue"' 'Args={"after"}' Weight=2+3
says "a waiting job is edited" 0 '1 job edited' ''
holds "it is as it was edited" is 1 'Colour Weight' 'blue 5'
holds "and the one submitted with it is as it was" is 2 'Colour' red
run "$berth" edit 1 'Owner="bob"'
says "whose a job is cannot be edited" 2 '' 'berth: Owner cannot be changed: a job stays with its owner'
run "$berth" edit 1 'Inputs={}' Colour=1
says "nor its inputs" 2 '' 'berth: Inputs cannot be changed: its files came*'
run "$berth" edit 1 State=1
says "nor what the customer knows" 2 '' 'berth: State cannot be changed: it is what the customer knows of the job'
run "$berth" edit 1 'RequestMemory="much"'
says "what an attribute cannot be is refused" 1 '0 jobs edited' 'berth: job 1: RequestMemory: expected a number of bytes'
run "$berth" edit 1 'Colour=(1'
says "an expression that does not parse is refused here" 2 '' '*expected*'
run "$berth" edit 77 Colour=1
says "of a job that is not there" 1 '0 jobs edited' 'berth: 1 job of those numbers does not exist'
run "$berth" edit 1 Weight=undefined
holds "undefined takes an attribute away" is 1 'Weight' undefined
run "$berth" prio 1-2 5
says "a priority is set" 0 '2 jobs changed' ''
run "$berth" prio 1 -- -2
run "$berth" prio 2 +2
holds "and changed by so much" is 1-2 Priority "$(printf '3\n7')"
kill -9 "$(pid_of customer)"
holds "a customer that was killed knows all that" soon is 1-2 'Colour Priority' "$(printf 'blue 3\nred 7')"
run "$berth" edit 1 Constraint=true
holds "a job that no machine would take runs when it is edited" soon state_is 1 Succeeded
holds "as edited" [ "$("$berth" logs 1)" = after ]
run "$berth" edit 1 Colour=1
says "one that is over is not edited" 1 '0 jobs edited' '*'
run "$berth" history 1 --json
json "the history tells of one job by its number" 0 "len(rows) == 1 and rows[0]['id'] == 1"
run "$berth" history 2
says "but not of one that is not over" 1 '' 'berth: there is no such job that is over'
run "$berth" audit --jobs --json
json "who edited what is in the audit log" 0 "[r for r in rows if r['what'] == 'jobs.edit' and 'Priority = 5' in r['detail']]"
run "$berth" rm --user nobody-here
says "of a user without jobs none is removed" 1 '0 jobs removed' ''
run "$berth" rm --user "$(id -un)"
says "one's own are, by one's name" 0 '1 job removed' ''

# ------------------------------------------------------------------------------------------------- suspending, and leaving

cat >count.sh <<'SH'
#!/bin/sh
trap 'echo "saved at $i" >>saved; exit 143' TERM
i=0
while [ $i -lt 3000 ]; do i=$((i + 1)); echo "$i" >>numbers; sleep 0.1; done
SH
chmod +x count.sh
cat >count.sub <<'SUB'
executable = count.sh
transfer_checkpoint_files = saved
log = count.log
queue
SUB
"$berth" submit count.sub >submitted 2>&1
number() { "$berth" job 3 peek numbers --lines 1; }
stands() { a=$(number) && sleep 1 && [ "$a" = "$(number)" ]; }
moves() { a=$(number) && sleep 1 && [ "$a" != "$(number)" ]; }
holds "a job runs" soon state_is 3 Running
holds "and counts" soon moves
run "$berth" suspend 3
says "it is suspended" 0 '1 job suspended' ''
holds "it stands still" stands
holds "it is shown so" state_is 3 Suspended
run "$berth" exec 3 -- true
says "nothing is begun in it meanwhile" 126 '' '*suspended*'
kill -9 "$(pid_of provider)"
provider_is_up() { [ -n "$(pid_of provider)" ]; }
holds "its machine's agent is back" soon provider_is_up
holds "over that it stands still" soon stands
run "$berth" edit 3 Colour=1 'Args={"x"}'
says "what it runs is not edited while it does" 1 '0 jobs edited' 'berth: job 3: Args cannot be changed while the job runs: hold it first'
run "$berth" continue 3
says "it is let go on" 0 '1 job continued' ''
holds "and goes on" soon moves
holds "it is shown so" state_is 3 Running
run "$berth" suspend 3
run "$berth" vacate 3
says "it is sent away, suspended or not" 0 '1 job vacated' ''
holds "and runs again" soon is 3 'Tries State' '2 Running'
holds "from its checkpoint" soon sh -c "'$berth' job 3 peek saved | grep -q 'saved at'"
log_has() { [ "$(grep -o '^0[01][0-9] ' count.log | grep -v 006 | tr -d '\n')" = "$1" ]; }
holds "its log tells all of it" soon log_has '000 001 010 011 010 004 001 '
[ $failures = 0 ] || sed 's/^/# /' count.log
run "$berth" vacate 1
says "one that does not run is not sent away" 1 '0 jobs vacated' '*'
run "$berth" suspend 77
says "nor suspended" 1 '0 jobs suspended' 'berth: *there is no such job*'
run "$berth" rm 3
says "it is removed" 0 '1 job removed' ''
# ------------------------------------------------------------------------------------------------------------- by a token

# A token has no right to what is on this machine: what comes to its user's folders, and what runs here, is said on the customer's socket.
# by_token SET JOB: edits the job by a token of its owner's, as the page does.
by_token() {
  curl -sS -H "Authorization: Bearer $token" -H 'Content-Type: application/classad' -H 'Accept: application/json' "$url/v1/desk/$desk/control" \
    --data "[ Verb = \"edit\"; Ids = \"$2\"; Set = [ $1 ] ]"
}
# submitted: submits what it reads; the number of the job is $id.
submitted() { id=$("$berth" submit --force "$@" | sed -n 's/.*submitted: \([0-9]*\).*/\1/p') && [ -n "$id" ]; }
submitted - <<'AD'
[ Cmd = "/bin/echo"; Args = { "plain" }; Constraint = other.Memory < 0 ]
AD
plain=$id
submitted - <<'AD'
[ Universe = "local"; Cmd = "/bin/sleep"; Args = { "1000" }; Outputs = {} ]
AD
"$berth" token create --subject "$(value "$plain" Owner)" --scope 'job:own job:submit ad:read' --lifetime 1h --no-delegation --out owner.token >/dev/null
token=$(sed -n 's/.*[Tt]oken *= *"\([^"]*\)".*/\1/p' owner.token) url=$(sed -n 's/^Berth pool is up: //p' up)
desk=$(curl -sS -H "Authorization: Bearer $token" -H 'Accept: application/json' "$url/v1/desks" | sed -n 's/.*"Agent": *"\([0-9a-f]*\)".*/\1/p')
refused=0
for change in 'Cmd = \"/bin/sh\"' 'Args = { \"evil\" }' 'Env = [ A = \"b\" ]' 'OutputTo = { [ Name = \"x\"; To = \"/tmp/evil\" ] }' 'Outputs = { \"evil\" }' 'Out = \"evil\"' 'Pre = \"evil\"' 'Post = \"evil\"'; do
  change=$(printf %s "$change" | tr -d '\\')
  for job in "$plain" "$id"; do by_token "$change" "$job" | tee -a refusals | grep -q 'cannot be changed by a token' && refused=$((refused + 1)); done
done
holds "by a token nobody changes what a job does that came on the socket, nor where its files go" [ "$refused" = 16 ]
by_token 'Colour = "green"' "$plain" >/dev/null
holds "the rest may be edited by it" is "$plain" Colour green
run "$berth" edit "$plain" 'Args={"changed"}'
says "and on the socket all of it" 0 '1 job edited' ''
"$berth" rm "$plain" "$id" >/dev/null

# --------------------------------------------------------------------------------------------------------------- times

echo '[ Cmd = "/bin/echo"; Args = { "late" } ]' >late.ad
submitted late.ad --not-before 2037-01-01T12:00Z
run "$berth" jobs "$id"
holds "a job that is to begin at a time says so in the list" grep -q 'Waiting.*waits until 2037-01-01' out
run "$berth" why "$id" --json
json "why it waits is that" 0 "rows[0]['first'] == 'early' and rows[0]['reasons'][0]['data']['until'] == 2114424000"
run "$berth" why "$id"
holds "in words too" grep -q "job $id waits until 2037-01-01 12:00, and no machine is asked for before" out
kill -9 "$(pid_of customer)"
holds "a customer that was killed knows it" soon is "$id" 'State WaitsUntil' 'Waiting 2114424000'
"$berth" edit "$id" NotBefore=1 >/dev/null
holds "when its time is moved to the past it runs" soon state_is "$id" Succeeded
submitted late.ad --not-before 2037-01-01T12:00Z
"$berth" edit "$id" NotBefore=undefined FinishBy=1 >/dev/null
holds "one that waits past its FinishBy is given up" soon is "$id" 'State Outcome Reason' 'Aborted Expired its FinishBy came before it ran'
echo '[ Cmd = "/bin/echo"; Args = { "here" }; Universe = "local"; Outputs = {} ]' >here.ad
submitted here.ad --not-before 2037-01-01T12:00Z
holds "a job of the customer's own host waits as well" is "$id" 'State WaitsUntil' 'Waiting 2114424000'
"$berth" edit "$id" NotBefore=1 >/dev/null
holds "and begins" soon state_is "$id" Succeeded
run "$berth" submit late.ad --not-before 2037-01-01T12:00Z --finish-by 2037-01-01T11:00Z
says "a job whose time is over before it comes is refused" 2 '' '*FinishBy: it is not after NotBefore*'

echo "1..$count"
[ $failures = 0 ]
