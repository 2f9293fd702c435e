#!/bin/bash
# standby_customer_live_test.sh: two customers of one queue, over a PostgreSQL and a folder that both have: one has the queue, the other stands by and says who has
# it. The one that has it is killed, alone and together with the leading matchmaker, stopped and ended, while jobs run. Prints TAP.
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
# An address of the machine besides loopback, if it has one: there customers are encrypted, and known by the pin of their certificate.
here=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m1 '^[0-9.]*$') || here=127.0.0.1
near=(--set "Networks={ \"127.0.0.0/8\", \"$here/32\" }")
declare -A port=([east]=$(steady_port) [west]=$(steady_port))
url() { echo "http://127.0.0.1:${port[$1]}"; }
matchmaker() { start "$1" "$berth" matchmaker --listen "127.0.0.1:${port[$1]}" --state "$work/$1" "${near[@]}" "${@:2}"; }
leads() { curl -sS -m 5 "$(url "$1")/readyz" 2>&1 | grep -qx ready; }
token() { "$berth" token create --state "$work/east" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
customer() { start "$1" "$berth" customer --state "$work/$1" --set AgentName=submit --set "Store=$store" --set "CustomerFiles=${2:-$work/shared}" --set "CustomerListen=$here:0" "${near[@]}"; }
has_queue() { grep -q 'is up' "$1.up"; }
stands_by() { says "$1" "event=standby .*who=\"process $(cat "$2.pid") of " && ! has_queue "$1"; }
# asked NAME PATH [OPTION...]: the status of what the customer answers by its socket, and the head of that in `head`.
asked() { curl -sS -m 5 --unix-socket "$1/customer/customer.sock" -o body -D head -w '%{http_code}' "${@:3}" "http://customer$2"; }
field() { tr -d '\r' <head | grep -qi "^$1"; }
at() { export BERTH_STATE="$work/$1" BERTH_CUSTOMER="unix:$work/$1/customer/customer.sock"; }

echo '[ Cpus = 8 ]' >owner.ad
agent_scopes='ad:read ad:write claim match job:submit job:own job:any'
pool() {
  database_make && database_start && matchmaker east --set "Store=$store" --set Name=cove && soon leads east &&
    "$berth" token code --standby --state "$work/east" >code && matchmaker west --standby "$(cat code)" && soon says west 'event=standby' &&
    mkdir -p one/customer two/customer three/customer heron/provider && soon known && token alice "$agent_scopes" one/customer/token &&
    cp -a one/customer/token two/customer/token && cp -a one/customer/token three/customer/token &&
    token machine/heron 'ad:read ad:write claim match' heron/provider/token &&
    start heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}" && soon grep -q 'is up' heron.err
}
known() { "$berth" status --state "$work/east" --json | grep -q "\"Url\": *\"$(url west)\""; }
check 'a pool comes up whose matchmaker has another one that stands by' pool
first() { customer one && soon has_queue one; }
check 'a customer has its queue in the database, and the files of its jobs in a folder' first
at one
# job NAME COMMAND [MORE]: its number; nothing when it was not taken.
job() {
  echo "[ Cmd = \"sh\"; Args = { \"-c\", \"$2\" }; RequestMemory = 32M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == \"Machine\"; ${3-Outputs = {\}} ]" >"$1.ad"
  "$berth" submit --force "$1.ad" 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p'
}
once() { [ "$("$berth" history --json -c "Job == $1 && State == \"Cleared\" && Status == 0 && Tries == 1" 2>/dev/null | grep -c .)" = 1 ]; }
begun() { [ "$(grep -c " event=job.start .* job=$1\$" heron.err)" = "${2:-1}" ]; }
runs() { next=$(job next true) && [ -n "$next" ] && soon once "$next"; }
check 'a job runs' runs
customer two
check 'a second one of the same queue stands by, and says in its log who has it' soon stands_by two one
told() { grep -q "^Berth customer stands by: process $(cat one.pid) of .* has the queue" two.up; }
check 'and to whoever started it' told
refers() { [ "$(asked two /v1/jobs)" = 503 ] && field 'berth-standby: true' && field "berth-leader: https*://$here:[0-9]*#" && field 'retry-after: 1' && grep -q "this customer stands by: https*://$here:[0-9]* leads" body; }
check 'it answers with 503, and where the other one is' soon refers
lives() { [ "$(asked two /healthz)" = 200 ] && [ "$(asked two /healthz -H 'Authorization: Bearer none')" = 200 ] && [ "$(asked two /healthz -X POST)" = 503 ]; }
check 'but says that it lives' lives
follows() { BERTH_CUSTOMER=unix:$work/two/customer/customer.sock "$berth" jobs; }
check 'a command that asks it gets to the other one' follows
lent() {
  ! BERTH_STATE=$work/nobody BERTH_SUBMIT_SOCKET=$work/two/customer/customer.sock timeout 6 "$berth" status 2>lent.out
  cat lent.out
  [ "$(wc -l <lent.out)" = 1 ] && grep -q '^berth: no matchmaker runs here' lent.out
}
check 'who has no token, and gets none by it, is told at once that no matchmaker runs here, and nothing else' lent
strangers() { chown nobody two/customer/customer.sock && ! follows && chown root two/customer/customer.sock && follows; }
[ "$(id -u)" != 0 ] || check 'nobody is led anywhere by the socket of another user' strangers
mkdir elsewhere && customer three "$work/elsewhere"
third() { soon stands_by three one && kill -TERM "$(cat three.pid)" && soon gone three && says three 'event=stopped status=0'; }
check 'a third one ends when it is told while it stands by' third

# ---- the one that has the queue is killed
echo seed >seed.txt && echo later >later.txt
running=$(job running 'sleep 7; tr a-z A-Z <seed.txt >grown.txt' "Inputs = { \"seed.txt\" }; Outputs = { \"grown.txt\" }")
check 'a job runs that has an input and leaves a file' soon begun "$running"
waiting=$(job waiting 'cat later.txt >got.txt' 'Inputs = { "later.txt" }; Outputs = { "got.txt" }; NotBefore = time() + 8')
check 'another waits, whose input is with the customer' eval '[ -n "$waiting" ] && rm seed.txt later.txt'
# within SPAN COMMAND...: it succeeds within that many milliseconds.
within() {
  local began took
  began=$(date +%s%N)
  "${@:2}" || return
  took=$((($(date +%s%N) - began) / 1000000))
  echo "$took ms" >took
  [ "$took" -lt "$1" ]
}
at two
kill -KILL "$(cat one.pid)"
check 'the one that has the queue is killed: a job that is submitted where the other stood by ends within 6 seconds' within 6000 runs
echo "# after $(cat took)"
check 'for the other one has the queue' has_queue two
grown() { soon once "$running" && [ "$(cat grown.txt)" = SEED ]; }
check 'the job that ran has ended, with one try, and its file is there' grown
check 'nor was it begun twice' begun "$running"
got() { soon once "$waiting" && [ "$(cat got.txt)" = later ]; }
check 'the job that waited has run with its input' got
again() { : >one.err; customer one && soon stands_by one two; }
check 'the one that was killed stands by when it is started again' again
at one
found() { [ "$(asked one /v1/jobs)" = 503 ] && "$berth" history --json -c "Job == $running" >found.out && [ "$(wc -l <found.out)" = 1 ]; }
check 'a command where that one runs finds the one that has the queue' found
check 'a job that is submitted there ends' runs

# ---- it is stopped for longer than its lease
running=$(job running 'sleep 7; echo stopped >grown.txt' 'Outputs = { "grown.txt" }')
check 'a job runs' soon begun "$running"
kill -STOP "$(cat two.pid)"
at two
both="unix:$work/two/customer/customer.sock unix:$work/one/customer/customer.sock"
silent() { BERTH_CUSTOMER=$both runs; }
check 'the one that has the queue is stopped: who asks that one first gets to the other, and a job ends within 20 seconds' within 20000 silent
echo "# after $(cat took)"
kill -CONT "$(cat two.pid)"
deposed() { soon gone two && says two 'was taken by'; }
check 'when it wakes it ends, and says why' deposed
at one
stopped() { soon once "$running" && soon "$berth" outputs -o fetched "$running" && [ "$(cat fetched/grown.txt)" = stopped ] && begun "$running"; }
check 'the job that ran has ended, once, and what it left for who submitted it elsewhere is there' stopped

# ---- together with the matchmaker
back() { : >two.err; : >two.up; customer two && soon stands_by two one; }
check 'the one that was stopped stands by when it is started again' back
running=$(job running 'sleep 6; echo both >grown.txt' 'Outputs = { "grown.txt" }')
check 'a job runs' soon begun "$running"
at two
kill -KILL "$(cat one.pid)" "$(cat east.pid)"
check 'it is killed with the leading matchmaker: a job ends within 6 seconds' within 6000 runs
echo "# after $(cat took)"
check 'the other matchmaker leads' leads west
both_ended() { soon once "$running" && [ "$(cat grown.txt)" = both ] && begun "$running"; }
check 'the job that ran has ended, once, and its file is there' both_ended

# ---- it is ended; and a folder that is not the queue's
handed() { : >one.err; : >one.up; customer one && soon stands_by one two && kill -TERM "$(cat two.pid)" && within 3000 soon has_queue one; }
check 'one that is ended gives the queue to the other within 3 seconds' handed
unmounted() { : >three.err; : >three.up; customer three "$work/elsewhere" && soon stands_by three one && kill -KILL "$(cat one.pid)" && soon gone three && says three 'is the folder mounted' && ! has_queue three; }
check 'one that does not have the folder of the queue does not go on with it: it says so, and ends' unmounted
still() { : >one.up; customer one && soon has_queue one && at one && runs; }
check 'one that has it does' still
strange() { ! timeout 30 "$berth" customer --state "$work/three" --set AgentName=other --set "CustomerFiles=$work/shared" "${near[@]}" 2>strange.out && grep -q 'of another queue' strange.out; }
check 'another queue is not begun in that folder' strange
# ---- the mark by which folder and queue know each other is lost on one side: the words say what to do
ended() { kill -TERM "$(cat one.pid)" && soon gone one; }
refused() { : >one.err; : >one.up; customer one && soon gone one && says one "$1" && ! has_queue one; }
goes_on() { : >one.up; customer one && soon has_queue one && at one && runs; }
unmarked() { ended && mv shared/queue queue.kept && refused 'If it is: put ' && sed -n 's/.*: put \([0-9a-f]*\) into a file `queue`.*/\1/p' one.err >shared/queue && goes_on; }
check 'a folder without its mark is told by its number, with which the queue goes on' unmarked
strangely() { ended && tr 0-9a-f 1-9a-f0 <queue.kept >shared/queue && refused 'of another queue.* put [0-9a-f]* into' && cp queue.kept shared/queue && goes_on; }
check 'so is one that has the mark of another queue' strangely
older() { ended && [ "$(ask_database "WITH gone AS (DELETE FROM berth_rows WHERE space = 'files' RETURNING 1) SELECT count(*) FROM gone")" = 1 ] && refused 'of before it had that folder: remove the file `queue`' && rm shared/queue && goes_on; }
check 'a queue of an older backup goes on when the mark is removed' older
coded() {
  : >four.err; : >four.up
  "$berth" token code --customer alice --state "$work/west" >code && start four "$berth" customer --standby "$(cat code)" --state "$work/four" --set AgentName=submit --set "Store=$store" --set "CustomerFiles=$work/shared" --set "CustomerListen=$here:0" "${near[@]}" &&
    soon stands_by four one && kill -KILL "$(cat one.pid)" && soon has_queue four && at four && runs
}
check 'one that has joined by a code of the same customer stands by, and goes on with the queue' coded
wrong() { ! "$berth" customer --standby "$(cat code)" --state "$work/four" --set AgentName=submit --set "Store=$store" 2>wrong.out && grep -q 'for the first start alone' wrong.out; }
check 'its token is not written over' wrong
machine() { "$berth" token code --state "$work/west" >code.other && ! "$berth" customer --standby "$(cat code.other)" --state "$work/five" --set AgentName=submit --set "Store=$store" 2>other.out && grep -q 'not for a customer' other.out && [ ! -e five/customer/token ]; }
check 'by the code of a machine nobody becomes a customer' machine

# ---- it is cut off from the database, while jobs run where it is: A goes on, B ends when it may, C has no place yet
# way MODE: how one of them reaches the database (database_proxy.py).
way() { echo "$1" >mode.new && mv mode.new mode; }
proxy() { mkdir way && way open && start proxy python3 "$BERTH_SOURCE/tests/live/database_proxy.py" "$work/way/.s.PGSQL.5432" "$database/.s.PGSQL.5432" mode && soon [ -S way/.s.PGSQL.5432 ]; }
over() { : >one.err; : >one.up; : >two.err; : >two.up; store="postgresql://berth@/postgres?host=$work/way" customer one && soon stands_by one four && kill -TERM "$(cat four.pid)" && soon has_queue one && customer two && soon stands_by two one; }
export BERTH_LOCAL_JOBS=2 BERTH_LOCAL_JOBS_PER_USER=2
check 'a customer goes on that can be cut off from the database, and another one stands by' eval 'proxy && over'
at one
# here NAME COMMAND: its number; it is a job of the submit host, and each of its processes leaves a line.
here() { echo "[ Universe = \"local\"; Cmd = \"sh\"; Args = { \"-c\", \"echo \$\$ >>$1.runs; $2\" }; Iwd = \"$work\" ]" >"$1.ad" && "$berth" submit "$1.ad" 2>>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p'; }
began() { [ -e "$1.runs" ] && [ "$(wc -l <"$1.runs")" = "$2" ]; }
two_run() { a=$(here a 'exec sleep 600') && b=$(here b 'until [ -e may ]; do sleep 0.1; done') && [ -n "$a" ] && [ -n "$b" ] && soon began a 1 && soon began b 1 && c=$(here c true) && [ -n "$c" ]; }
check 'two jobs of its own host run there, and a third one waits for its turn' two_run
sleep 4 # by then it has heard of the other one, of which the database tells it each second
way cut
at two
taken() { soon has_queue two && soon began a 2 && soon began b 2; }
check 'it is cut off: the other one has the queue, and begins both anew' taken
ended_there() { ! kill -0 "$(head -1 a.runs)" 2>/dev/null && ! kill -0 "$(head -1 b.runs)" 2>/dev/null; }
within_second() { for _ in $(seq 10); do ended_there && return; sleep 0.1; done; return 1; }
check 'a second later neither runs where it ran before' within_second
alive() { [ "$(asked one /v1/jobs)" = 503 ] && [ "$(asked one /healthz)" = 200 ]; }
check 'the one that is cut off says that it lives, and answers nothing else' alive
third_once() { touch may && soon began c 1 && "$berth" wait "$b" "$c" --timeout 60 >wait.out 2>&1 && sleep 2 && began a 2 && began b 2 && began c 1; }
check 'the third one begins once, with the one that has the queue' third_once
knows() { way open && soon gone one && says one 'was taken by' && "$berth" rm "$a" >rm.out 2>&1; }
check 'when it reaches the database again it ends, and says why' knows

numbers() { [ "$("$berth" history --json | grep -o '"Job": *[0-9]*' | sort | uniq -d | wc -l)" = 0 ]; }
check 'no number was given twice' numbers
echo "# customers were called at $here"
echo "1..$count"
exit $((failures > 0))
