#!/bin/bash
# database_live_test.sh: a pool whose rows lie in a PostgreSQL. Its customer is killed, and stopped, and the database crashes; another process, with a state folder
# that has nothing but a token, goes on with its jobs. Prints TAP.
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
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
near=(--set 'Networks={ "127.0.0.0/8" }')
port=$(steady_port)
pool() { start pool "$berth" matchmaker --listen "127.0.0.1:$port" --state "$work/pool" --set "Store=$store" "${near[@]}" && soon grep -q 'listening at  unix' pool.up && port=$(sed -n 's/.*http:..127.0.0.1:\([0-9]*\).*/\1/p' pool.up | head -1); }
customer() { start "$1" "$berth" customer --state "$work/$1" --set AgentName=submit --set "Store=$store" "${near[@]}"; }
is_up() { soon grep -q 'is up' "$1.up" && export BERTH_CUSTOMER="unix:$work/$1/customer/customer.sock"; }
provider() { start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set "Store=$store" --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}" && soon grep -q 'is up' heron.err; }
export BERTH_STATE="$work/pool"
echo '[ Cpus = 8 ]' >owner.ad
up() {
  database_make && database_start && pool && mkdir -p one/customer two/customer heron/provider &&
    token alice 'ad:read ad:write claim match job:submit job:own job:any' one/customer/token && cp -a one/customer/token two/customer/token &&
    token machine/heron 'ad:read ad:write claim match' heron/provider/token && provider && customer one && is_up one
}
# job COMMAND: its number; nothing when it was not taken.
job() {
  echo "[ Cmd = \"sh\"; Args = { \"-c\", \"$1\" }; Outputs = {}; RequestMemory = 32M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == \"Machine\" ]" >job.ad
  "$berth" submit --force job.ad 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p'
}
history() { [ "$("$berth" history --json -c "Job == $1 && State == \"Cleared\" && Status == 0" 2>/dev/null | grep -c .)" = 1 ]; }
begun() { [ "$(grep -c " event=job.start .* job=$1\$" heron.err)" = "$2" ]; }
check 'a pool comes up whose matchmaker, customer and provider have a database' up
first=$(job true)
check 'it runs a job' soon history "$first"
stored() { [ "$(ask_database "SELECT count(*) FROM berth_rows WHERE namespace = 'customer/submit' AND space = 'history'")" -ge 1 ] && [ ! -e one/customer/berth.db ]; }
check 'whose rows are in the database, and not in a file' soon stored
checked() { "$berth" store check "$store#customer/submit" >check.out && grep -q '^history' check.out; }
check 'berth store check looks them over' checked
backup() { "$berth" store backup "$store#customer/submit" backup.db >backup.out && "$berth" store check backup.db >/dev/null; }
check 'and berth store backup copies them while it works' backup

# ---- a commit that takes long: until the gate is open
gate() {
  ask_database "CREATE TABLE gate (open int);
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN WHILE NOT EXISTS (SELECT 1 FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER wait AFTER INSERT OR UPDATE ON berth_rows DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()" || return
  job true >slow.out &
  slow=$!
}
commits() { [ "$(ask_database "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'berth customer%' AND state = 'active' AND query = 'COMMIT'")" = 1 ]; }
gate
check 'a submission whose commit takes long is under way' soon commits
others() { "$berth" jobs >jobs.out && "$berth" history >history.out && [ ! -s slow.out ] && kill -0 $slow && commits; }
check 'others are answered meanwhile' others
opened() { ask_database 'INSERT INTO gate VALUES (1)' && wait $slow && ask_database 'DROP TRIGGER wait ON berth_rows' && soon history "$(cat slow.out)"; }
check 'and it when it is durable' opened

# ---- another process takes over
customer two
waits() { says two "is held by process $(cat one.pid) of .*; it is waited for" && ! grep -q 'is up' two.up; }
check 'a second process with an empty state folder waits for the first, and says so' soon waits
long=$(job 'sleep 6')
check 'a job is running' soon begun "$long" 1
last=$(job true)
kill -KILL "$(cat one.pid)"
check 'when the first is killed the second is up' is_up two
check 'and has what the first had acknowledged' soon history "$last"
check 'the job that ran ends' soon history "$long"
check 'with one try' begun "$long" 1
check 'the history is that of the first' history "$first"
numbered() { next=$(job true) && [ "$next" -gt "$last" ] && soon history "$next"; }
check 'and numbers of jobs go on' numbered

# ---- the database crashes
away() { curl -sS -m 20 --unix-socket two/customer/customer.sock http://customer/metrics | grep -qx "berth_store_away $1"; }
during=$(job 'sleep 6')
check 'a job is running' soon begun "$during" 1
crash() { database_crash && soon away 1 && says two 'event=store.away'; }
check 'a customer whose database has crashed says so, in its log and its metrics' crash
refused() { [ "$(curl -sS -m 20 --unix-socket two/customer/customer.sock -o body -D head -w '%{http_code}' -X POST http://customer/v1/jobs -H 'Content-Type: application/vnd.berth.classad' --data-binary @job.ad)" = 503 ] && grep -qi '^retry-after: 2' head; }
check 'it answers 503 with Retry-After to who would submit' refused
check 'and still tells of its jobs' eval '"$berth" jobs >jobs.out'
# without HOST PATH [OPTION...]: what is asked of the database's rows is answered with 503, to be tried again, and without a word of where the database is.
without() {
  [ "$(curl -sS -m 20 "${@:3}" -o body -D head -w '%{http_code}' "http://$1$2")" = 503 ] && grep -qi '^retry-after: 2' head && grep -q 'try again soon' body && ! grep -q "port\|$work" body
}
local_pool=(--unix-socket pool/matchmaker.sock) local_customer=(--unix-socket two/customer/customer.sock)
lacking() {
  for path in /v1/history "/v1/jobs/$first" "/v1/history?ids=$first"; do without customer "$path" "${local_customer[@]}" || return; done
  for path in /v1/tokens /v1/users/alice/rights /v1/config/agents; do without pool "$path" "${local_pool[@]}" || return; done
}
check 'and answers 503 to who asks for what is in the database, as its matchmaker does' lacking
# Meanwhile the job ends, which makes rows: they follow from nothing that was asked.
asked_on() { for _ in $(seq 80); do without customer "/v1/jobs/$first" "${local_customer[@]}" && without pool /v1/tokens "${local_pool[@]}" || return; sleep 0.1; done; }
check 'for as long as the database is away' asked_on
back() { database_start && soon away 0 && says two 'event=store.back' && next=$(job true) && began=$SECONDS && soon history "$next"; }
check 'when the database is back it goes on by itself' back
took=$((SECONDS - began))
echo "# the next job ended after $took s"
check 'and a job ends within 10 seconds' [ "$took" -le 10 ]

check 'the job that ran has ended, with one try' eval 'soon history "$during" && begun "$during" 1'
token_made() { token carol ad:read carol.token && "$berth" token list | grep -q carol; }
check 'and its matchmaker makes tokens' token_made

# ---- it is stopped for longer than its lease
kill -STOP "$(cat two.pid)"
customer one
check 'when it is stopped for longer than its lease the other takes over' is_up one
kill -CONT "$(cat two.pid)"
ended() { soon gone two && says two 'was taken by process'; }
check 'when it wakes it ends, and says why' ended
numbered_again() { last=$next && numbered; }
check 'and the other works' numbered_again
echo "1..$count"
[ $failures = 0 ]
