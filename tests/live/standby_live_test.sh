#!/bin/bash
# standby_live_test.sh: two matchmakers of one pool over a PostgreSQL: one leads, the other stands by and says so. The leader is killed, stopped and
# ended. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid setpriv curl
. "$BERTH_SOURCE/tests/common/postgres.sh"
umask 077
soon() { for _ in $(seq $((failures ? 40 : 600))); do "$@" && return; sleep 0.1; done; return 1; }
start() {
  : >"$1.up"
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
gone() { ! kill -0 "$(cat "$1.pid")" 2>/dev/null; }
says() { grep -q "$2" "$1.err"; }
declare -A port=([one]=$(steady_port) [two]=$(steady_port))
matchmaker() { start "$1" "$berth" matchmaker --listen "127.0.0.1:${port[$1]}" --state "$work/$1" --set 'Networks={ "127.0.0.0/8" }' "${@:2}"; }
url() { echo "http://127.0.0.1:${port[$1]}"; }
leads() { curl -sS -m 5 "$(url "$1")/readyz" 2>&1 | grep -qx ready; }
stands_by() { says "$1" "event=standby .*leader=$(url "$2") " && ! leads "$1"; }
# asked NAME PATH: the status and the head of its answer in `head`.
asked() { curl -sS -m 5 -o body -D head -w '%{http_code}' "$(url "$1")$2"; }
field() { tr -d '\r' <head | grep -qix "$1"; }

database_make && database_start
export BERTH_NAME=cove
up() { matchmaker one --set "Store=$store" && soon leads one; }
check 'a matchmaker whose rows are in a database leads' up
token() { "$berth" token create --state "$work/$1" --subject "$2" --scope "$3" --lifetime 1d --out "$4"; }
mkdir -p alice/customer heron/provider
check 'a token is made by it' token one machine/heron 'ad:read ad:write claim match' heron/provider/token
unset BERTH_NAME
code() { "$berth" token code --standby --state "$work/one" >code; }
check 'it makes a code for another matchmaker' code
wrong() { ! "$berth" join --only --state "$work/nobody" "$(cat code)" 2>wrong.out && grep -q 'berth matchmaker --standby CODE' wrong.out; }
check 'with which no machine joins' wrong
narrow() { token one op 'ad:read operate' op.token && ! "$berth" token code --standby --pool "$(url one)" --token op.token 2>narrow.out && grep -q 'your own token does not have' narrow.out; }
check 'and which an administrator alone makes' narrow
other() { "$berth" token code --state "$work/one" >code.other && ! "$berth" matchmaker --state "$work/nobody" --standby "$(cat code.other)" 2>other.out && grep -q 'not for a matchmaker' other.out && [ ! -e nobody/keys/keys ]; }
check 'the code of a machine gives no keys' other
code # the same key alone may show a code again
second() { matchmaker two --standby "$(cat code)" && soon stands_by two one; }
check 'a second one of the same pool stands by, and says in its log who leads' second
refers() { [ "$(asked two /v1/status)" = 503 ] && field "berth-leader: $(url one)" && field 'berth-standby: true' && field 'retry-after: 1' && grep -q "stands by: $(url one) leads" body; }
secret() { [ "$(ask_database "SELECT count(*) FROM berth_rows WHERE space = 'keys' AND position('$(sed -n 's/.*Current = "\([0-9a-f]*\)".*/\1/p' two/keys/keys)'::bytea in value) > 0")" = 0 ] && [ "$(ask_database "SELECT count(*) FROM berth_rows WHERE space = 'keys'")" = 1 ] && grep -q 'Current = "[0-9a-f]' two/keys/keys; }
check 'it has the keys of the pool, which are not open in the database' secret
twice() { ! "$berth" matchmaker --state "$work/two" --standby "$(cat code)" 2>twice.out && grep -q 'keys of a pool already' twice.out; }
check 'its keys are not written over' twice
check 'it answers with 503, and where the leader is' refers
page() { [ "$(asked two /)" = 307 ] && field "location: $(url one)/"; }
check 'browsers are led to the page of the leader' page
healthy() { [ "$(asked two /healthz)" = 200 ]; }
check 'it is well' healthy
status() { "$berth" status --state "$work/$1" "${@:2}" >status.out; }
told() { status one --json && grep -q "\"Url\": *\"$(url two)\"[^}]*\"Leads\": *false" status.out; }
check 'the leader knows it' soon told
printed() { status one && grep -q "^  leads          $(url one), for " status.out && grep -q "^  stands by      $(url two), for " status.out; }
check 'berth status says who leads and who stands by, and since when' printed

# ---- agents follow it
named() { token one alice 'ad:read ad:write claim match job:submit job:own job:any' alice/customer/token && grep -q "Others = \"$(url two)\"" alice/customer/token && ! grep -q Others heron/provider/token; }
check 'a token that is made while another stands by names that one, too' named
echo '[ Cpus = 8 ]' >owner.ad
echo '[ Cmd = "true"; Outputs = {}; RequestMemory = 32M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == "Machine" ]' >job.ad
export BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
agents() {
  start alice "$berth" customer --state "$work/alice" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'is up' alice.up &&
    start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'is up' heron.err
}
check 'a customer and a provider come up' agents
submit() { job=$("$berth" submit --force job.ad 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p') && [ -n "$job" ]; }
ended() { [ "$("$berth" history --json -c "Job == $1 && State == \"Cleared\" && Status == 0 && Tries == 1" 2>/dev/null | grep -c .)" = 1 ]; }
runs() { submit && soon ended "$job"; }
check 'and a job runs' runs
licences() {
  mkdir -p licences/provide && token one licences 'ad:read ad:write claim' licences/provide/token && start licences "$berth" provide --state "$work/licences" --set 'Networks={ "127.0.0.0/8" }' "$BERTH_SOURCE/examples/licenses.ad" && soon offered one
}
offered() { [ "$("$berth" ads --state "$work/$1" --kind offers --json 2>/dev/null | grep -c solver)" = 3 ]; }
check 'licences are offered by it' licences
by_token() { "$berth" status --token alice/customer/token --state "$work/nobody" | grep -q "address *$(url "$1")\$"; }
check 'who has the token gets to the leader' by_token one
# within SPAN COMMAND...: it succeeds within that many milliseconds.
within() {
  local began took
  began=$(date +%s%N)
  "${@:2}" || return
  took=$((($(date +%s%N) - began) / 1000000))
  echo "$took ms" >took
  [ "$took" -lt "$1" ]
}

# ---- the leader is killed
known() { "$berth" token list --state "$work/$1" | grep -q "$2"; }
ids() { grep -o '"[0-9a-f]\{32\}"' "$1"; }
rotated() { curl -sS --unix-socket one/matchmaker.sock -X POST http://pool/v1/keys >keys.one && cat keys.one && [ "$(ids keys.one | wc -l)" -ge 4 ]; }
check 'the keys are rotated' rotated
check 'another token is made' token one carol ad:read carol.token
carol() { "$berth" status --token carol.token --state "$work/nobody" >carol.out 2>&1; }
revoked() { carol && "$berth" token revoke --state "$work/one" carol && ! carol; }
check 'and revoked' revoked
kill -KILL "$(cat one.pid)"
by_token two >asked.out 2>&1 &
asked=$!
check 'the leader is killed: a job that is submitted then ends within 6 seconds' within 6000 runs
echo "# after $(cat took)"
check 'and the licences are there within 10 seconds of that' within 10000 soon offered two
echo "# after $(cat took)"
check 'a command that was tried at once has waited for the next leader' wait $asked
check 'the other one leads' leads two
check 'it knows the token' known two carol
same() { curl -sS --unix-socket two/matchmaker.sock http://pool/v1/keys >keys.two && [ "$(ids keys.two | head -4)" = "$(ids keys.one | head -4)" ]; }
check 'and has the keys as they were rotated' same
shut() { ! carol && grep -q 'a good token is needed' carol.out; }
check 'which is revoked there, too' shut
check 'who has the token of before gets to the new leader' by_token two
again() { matchmaker one --set Name=cove --set "Store=$store" && soon stands_by one two; }
check 'the one that was killed stands by when it is started again' again

# ---- it is stopped for longer than its lease
kill -STOP "$(cat two.pid)"
check 'the leader is stopped: the other one leads' soon leads one
kill -CONT "$(cat two.pid)"
deposed() { soon gone two && says two 'was taken by'; }
check 'when it wakes it ends, and says why' deposed
check 'and a job runs' runs

# ---- it is stopped while it commits: until the gate is open a commit stays under way
gate() {
  ask_database "CREATE TABLE gate (open int);
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN WHILE NOT EXISTS (SELECT 1 FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER wait AFTER INSERT OR UPDATE ON berth_rows DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()"
}
commits() { [ "$(ask_database "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'berth matchmaker%' AND state = 'active' AND query = 'COMMIT'")" = "$1" ]; }
standing() { matchmaker two && soon stands_by two one && gate; }
check 'the other one stands by again' standing
token one dora ad:read dora.token >dora.out 2>&1 &
slow=$!
committing() { soon commits 1 && kill -STOP "$(cat one.pid)" && held=$(ask_database "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'berth matchmaker%' AND query = 'COMMIT'"); }
check 'the leader is stopped while it commits a token' committing
cut() { [ "$(ask_database "SELECT count(*) FROM pg_stat_activity WHERE pid = ${held:-0}")" = 0 ]; }
check 'what it has under way is ended' soon cut
freed() { ask_database 'INSERT INTO gate VALUES (1)' && soon leads two && ask_database 'DROP TRIGGER wait ON berth_rows'; }
check 'and the other one leads' freed
kill -CONT "$(cat one.pid)"
fenced() { soon gone one && ! wait $slow && [ ! -e dora.token ] && ! known two dora; }
check 'when it wakes it ends; the token was not acknowledged, and nobody has it' fenced
handed() { matchmaker one --set Name=cove --set "Store=$store" && soon stands_by one two && kill -TERM "$(cat two.pid)" && soon leads one; }
check 'the first one leads again' handed

# ---- the database crashes, and is started again
one_leads() { leads one && ! leads two || { leads two && ! leads one; }; }
again_two() { soon gone two && : >two.err && matchmaker two && soon stands_by two one; }
check 'the other one stands by' again_two
none() { ! leads two && says one 'event=store.away'; }
check 'while the database is away for longer than the lease nobody takes over' eval 'database_crash && sleep 5 && none'
check 'a job can be submitted meanwhile to a customer that has a store of its own' submit
check 'when it is back one leads' eval 'database_start && soon one_leads'
check 'and that job ends within 10 seconds' within 10000 soon ended "$job"
echo "# after $(cat took)"
check 'as does the next' within 10000 runs
if leads two; then kill -TERM "$(cat two.pid)" && soon leads one; fi

# ---- they are ended in order
back() { { ! gone two || matchmaker two; } && soon stands_by two one; }
check 'it stands by when it is started again' back
began=$(date +%s%N)
ended() { kill -TERM "$(cat one.pid)" && soon leads two; }
check 'a leader that is ended gives its place at once' ended
took=$((($(date +%s%N) - began) / 1000000))
echo "# it led after $took ms"
check 'within 2 seconds' [ "$took" -lt 2000 ]
leaves() { matchmaker one --set Name=cove --set "Store=$store" && soon stands_by one two && kill -TERM "$(cat one.pid)" && soon gone one && says one 'event=stopped status=0'; }
check 'one that stands by ends when it is told' leaves
forgotten() { status two --json && grep -q "\"Url\": *\"$(url two)\"[^}]*\"Leads\": *true" status.out && ! grep -q "$(url one)" status.out; }
check 'and is forgotten' soon forgotten
kill -TERM "$(cat two.pid)"
stranger() { soon gone two && matchmaker three --set Name=cove --set "Store=$store" && soon gone three && says three 'are not those of the matchmakers that have its store' && [ "$(ask_database "SELECT count(*) FROM berth_rows WHERE space = 'keys'")" = 1 ]; }
port[three]=$(steady_port)
check 'one with the keys of another pool does not lead: it says so, and ends' stranger
check 'the pool is as it was' eval 'matchmaker two && soon leads two'

echo "1..$count"
exit $((failures > 0))
