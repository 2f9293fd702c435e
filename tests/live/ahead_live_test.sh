#!/bin/sh
# ahead_live_test.sh: what the next job of a claim reads is fetched while one runs: from a web server and from the customer, one job ahead, within
# bounds. A pool of real processes. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
command -v python3 >/dev/null || { echo "1..0 # SKIP python3 is not here" && exit; }
umask 077
. "$BERTH_SOURCE/tests/common/says.sh"

# minute COMMAND...: it succeeds within a minute.
minute() { soon "$@" || soon "$@"; }

mkdir www
cat >web.py <<'WEB'
import http.server, sys
class Web(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        print(self.command, self.path, flush=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Web)
print("port", server.server_port, flush=True)
server.serve_forever()
WEB
web_start() { # PORT
  (cd www && exec python3 -u ../web.py "$1") >web.up 2>>web.err &
  web=$!
  pids="$pids $web"
  minute grep -q '^port' web.up
  port=$(sed -n 's/^port //p' web.up)
}
web_start 0
echo '[ Cpus = 1; Memory = 1G ]' >owner.ad
BERTH_OWNER_POLICY=$work/owner.ad BERTH_CLOSE_STORAGE=web BERTH_INPUTS_AHEAD=5000000 BERTH_REPLICAS_PERIOD=1 serve
holds 'a pool of one machine is up' minute listed 'ads -c Type=="Machine"' 'len(rows) == 1'
for n in 1 2 3 4; do
  head -c 100000 /dev/urandom >"www/in.$n"
  "$berth" files add "in.$n" "http://127.0.0.1:$port/in.$n" --store web >/dev/null
done
: >web.up # the machine has asked for nothing yet
asked() { grep -q "GET /$1" web.up; }
# A job reads its file, says so, and runs until it finds one that is called `go`.
job() { echo "[ Cmd = \"sh\"; Args = { \"-c\", \"$2; until [ -e go ]; do sleep 0.1; done\" }; $1; RequestMemory = 32M; RequestDisk = ${3:-32M}; Outputs = {}; Constraint = other.Type == \"Machine\" ]"; }
for n in 1 2 3 4; do job "InputData = { \"in.$n\" }" "cksum <in.$n"; done >jobs.ad
run "$berth" submit jobs.ad
expect 'four jobs are submitted, each with a file of its own in a web server' 0 '4 jobs submitted: 1-4'
run "$berth" job 1 --json
json 'each would rather run where that is near, though it says nothing' 0 '"CloseStorage" in str(rows[0]["Rank"])'
run "$berth" ads -c 'Type=="Job"' --json
json 'they are one request' 0 'len(rows) <= 1'
runs() { listed 'jobs' "[row['id'] for row in rows if row['state'] == 'Running'] == [$1]"; }
holds 'the first runs' minute runs 1
holds 'and while it does the file of the second is fetched' minute grep -q 'event=data.ahead .*job=2 bytes=100000' state/log/provider.log
holds 'but not that of the third' eval '! asked in.3'
go() { minute "$berth" exec "$1" -- touch go; }
holds 'the file of the second comes once' [ "$(grep -c 'GET /in.2' web.up)" = 1 ]
kill "$web"
wait "$web" 2>/dev/null
go 1
holds 'so it runs though the server is gone' minute runs 2
printed() { [ "$("$berth" logs "$1")" = "$(cksum <"www/in.$1")" ]; }
holds 'with the right file' minute printed 2
holds 'the file of the third cannot be had meanwhile' minute grep -q 'event=data.replica .*name=in.3 ' state/log/provider.log
web_start "$port"
holds 'of the third nothing has come' eval '! grep -q "event=data.ahead .*job=3" state/log/provider.log'
go 2
holds 'which fetches its file itself' minute runs 3
holds 'and has it' minute printed 3
holds 'the fourth is prepared again' minute grep -q 'event=data.ahead .*job=4 bytes=100000' state/log/provider.log
run "$berth" rm 3 4

# Inputs that come from the customer, and more than may be fetched.
for n in 5 6; do head -c 2000000 /dev/urandom >"own.$n"; done
head -c 6000000 /dev/urandom >own.7
for n in 5 6 7; do job "Inputs = { \"own.$n\" }" "cksum <own.$n"; done >own.ad
run "$berth" submit own.ad
expect 'jobs with large inputs of their own' 0 '3 jobs submitted: 5-7'
holds 'are prepared as well' minute grep -q 'event=data.ahead .*job=6 bytes=2000000' state/log/provider.log
go 5
holds 'and run' minute runs 6
own() { [ "$("$berth" logs "$1")" = "$(cksum <"own.$1")" ]; }
holds 'with what they read' minute own 6
run "$berth" job 6 --json
go 6
holds 'what is more than InputsAhead is not fetched ahead, but by the job' minute own 7
holds 'and nothing of it was' eval '! grep -q "event=data.ahead .*job=7 bytes=[1-9]" state/log/provider.log'
run "$berth" rm 7

# Where files are is looked up again while jobs wait.
echo '[ Cmd = "true"; InputData = { "in.1" }; Constraint = other.Name == "nobody" ]' >waits.ad
run "$berth" submit --force waits.ad
replicas() { listed 'job 8' "sorted(rows[0]['Replicas']) == $1"; }
holds 'a job that waits says where its file is' minute replicas '["web"]'
"$berth" files add in.1 "file://$work/www/in.1" --store near >/dev/null
holds 'and that there is another replica, once it has come' minute replicas '["near", "web"]'
"$berth" files rm in.1 --store web >/dev/null
holds 'and that the first has gone' minute replicas '["near"]'
run "$berth" rm 8

echo "1..$count"
[ $failures = 0 ]
