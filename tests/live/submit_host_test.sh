#!/bin/bash
# submit_host_test.sh: one customer for all users of a machine: each is who the kernel says, sees its own jobs, and has its files written with its own
# rights. As root, who alone can be several users. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid setpriv curl pgrep
[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP only root can be several users' && exit; }
for user in daemon games nobody; do id -u $user >/dev/null 2>&1 || { echo "1..0 # SKIP there is no account $user" && exit; }; done
setpriv --reuid games --regid "$(id -g games)" --clear-groups true 2>/dev/null || { echo '1..0 # SKIP other users cannot be taken on here' && exit; }

# soon COMMAND...: it succeeds within forty seconds.
soon() { for _ in $(seq 400); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
# says STATUS PATTERN COMMAND...: it ends with that status, and prints a line like that.
says() { local got; "${@:3}" >out 2>&1; got=$?; cat out; [ $got = "$1" ] && grep -q -e "$2" out; }
# as USER COMMAND...: in a folder of that user's.
as() {
  local user=$1
  (cd "$work/$user" && exec setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups env -i PATH="$PATH" HOME="$work/$user" \
    BERTH_SUBMIT_SOCKET="$work/run/customer.sock" ASAN_OPTIONS="${ASAN_OPTIONS:-}" "${@:2}")
}
umask 022
chmod 755 "$work"
cp "$berth" "$work/berth" && berth=$work/berth # where every user can start it
for user in daemon games nobody; do mkdir "$user" && chown "$user:" "$user" && chmod 700 "$user"; done
chown nobody: nobody
mkdir state && chmod 700 state
serve() {
  setsid "$berth" pool --state "$work/state" --listen 127.0.0.1:0 --set 'SubmitFor={ "daemon", "games" }' --set SubmitSocket="$work/run/customer.sock" \
    --set OutputsPerUser='"4 MiB"' --set JobBytesPerIdentity='"1 MiB"' --set Unprotected=true -v >up 2>>pool.err &
  leader=$!
  groups="$groups $leader"
  disown
  soon grep -q 'To end it' up
}
: >up
check 'a pool for the users of this machine starts' serve
check 'its socket is where they find it' [ -S run/customer.sock ]

# ------------------------------------------------------------------------------------------------------------------------ jobs

# submitted USER FILE...: the number of the job that this submits.
submitted() { as "$1" "$berth" submit "${@:2}" | sed -n "s/.*submitted: \([0-9]*\).*/\1/p" | head -1; }
runs() { as games timeout 60 "$berth" run sh -c 'id -un >who; echo hello'; }
check 'a user runs a command' soon runs
check 'whose output is a file of that user' [ "$(stat -c %U games/who)" = games ]
owns() { as games "$berth" job 1 | grep 'owner  *games'; }
check 'the job is that of the user' owns
over() { as games "$berth" history | grep 'sh -c'; }
check 'and is in the list of those that are over' soon over
foreign() { says 0 '^0 jobs' as daemon "$berth" jobs --all && ! as daemon "$berth" history | grep 'sh -c'; }
check 'another user does not see it' foreign
unseen() { says 1 'no such job\|there is no job' as daemon "$berth" job 1; }
check 'not even when it is named' unseen
echo '[ Cmd = "true"; Outputs = {}; Constraint = other.Name == "nobody" ]' >games/never.ad
kept() {
  id=$(submitted games never.ad --force) && ! as daemon "$berth" rm "$id" && ! as daemon "$berth" hold "$id" && ! as daemon "$berth" logs "$id" --events &&
    as games "$berth" job "$id" | grep '^Job [0-9]*: Waiting'
}
check 'nor removed, held or read' kept
all() { BERTH_STATE=$work/state "$berth" history | grep 'sh -c'; }
check 'the administrator sees all' all
stranger() { says 2 'SubmitFor: you are in none of the groups' as nobody "$berth" jobs; }
check 'a user who is in none of the groups is refused, and told why' stranger
forged() {
  echo '[ Cmd = "true"; Owner = "daemon"; Outputs = {} ]' >games/forged.ad
  says 2 'Owner: you can submit jobs only for yourself' as games "$berth" submit --force forged.ad
}
check 'nobody submits in the name of another' forged

own_log() {
  as games "$berth" audit --jobs --json >log && grep -q '"what": "jobs.submit"' log && grep -q "\"via\": \"uid $(id -u games)\"" log && ! grep -v '"by": "games"' log &&
    as daemon "$berth" audit --jobs --json >log && ! grep . log
}
check 'a user sees in the log of changes what itself has done, and nothing of others' own_log
whole_log() {
  as nobody curl -sS --unix-socket "$work/run/customer.sock" -X POST http://customer/v1/control --data '[ Verb = "remove"; Ids = "1" ]' -H 'Content-Type: application/classad'
  BERTH_STATE=$work/state "$berth" audit --jobs --json >log && grep -q '"by": "games"' log && grep '"what": "control"' log | grep -q '"result": "refused 40[13]"'
}
check 'the administrator sees all of it, and who was refused' whole_log

# ------------------------------------------------------------------------------------------------------------------------ asking

asks() { as games "$berth" machines | grep -i 'idle\|part\|busy' && as games "$berth" status; }
check 'a user asks the pool, on the word of this host' asks
silent() { as games "$berth" submit --force never.ad >out 2>&1 && ! grep 'could not be asked' out; }
check 'and so does berth submit' silent
explained() { says 1 'nobody' as games "$berth" why "$(sed -n 's/.*submitted: \([0-9]*\).*/\1/p' out)"; }
check 'and berth why' explained
listed() { BERTH_STATE=$work/state "$berth" token list >list && grep -c 'games' list; }
once() { as games "$berth" status >/dev/null && as games "$berth" status >/dev/null && [ "$(listed)" = 1 ]; }
check 'one token is enough for that' once
at_once() {
  as daemon curl -sS -m 60 -Z --parallel-immediate --parallel-max 20 --unix-socket "$work/run/customer.sock" -X POST -o /dev/null -w '%{http_code}\n' "http://customer/v1/token?[1-20]" >codes
  [ "$(grep -c '^201' codes)" = 20 ] && BERTH_STATE=$work/state "$berth" token list >list && [ "$(grep -c 'daemon' list)" = 1 ]
}
check 'also of who asks many times at once' at_once
only() {
  as games curl -sS --unix-socket "$work/run/customer.sock" -X POST http://customer/v1/token >lent &&
    token=$(sed -n 's/.*Token *= *"\([^"]*\)".*/\1/p' lent) && url=$(sed -n 's/.*Pool *= *"\([^"]*\)".*/\1/p' lent) && [ -n "$token" ] &&
    [ "$(curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$url/v1/status")" = 200 ] &&
    [ "$(curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" -X PUT --data '[ Type = "Job" ]' "$url/v1/ads/x")" = 403 ] &&
    [ "$(curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" -X POST "$url/v1/loans" --data '[ Subject = "root" ]')" = 403 ]
}
check 'and that token can do nothing else' only

# ----------------------------------------------------------------------------------------------------------------------- files

mkdir secret && chmod 700 secret # root's
# into FOLDER [NAME]: a job of a user whose output is to go there.
into() {
  printf '[ Cmd = "/bin/sh"; Args = { "-c", "echo evil >%s" }; Outputs = { "%s" }; Iwd = "%s" ]' "${2:-taken}" "${2:-taken}" "$1" >games/into.ad
  id=$(submitted games into.ad) && [ -n "$id" ] && as games timeout 60 "$berth" wait "$id"
  as games "$berth" logs "$id" --events
}
outside() { into "$work/secret" && [ -z "$(ls secret)" ] && as games "$berth" logs "$id" --events | grep 'could not be put into .*secret: Permission denied'; }
check 'outputs do not go where the user may not write, though the service is root' outside
others() { into "$work/daemon" && [ -z "$(ls daemon)" ]; }
check 'nor into the folder of another user' others
linked() {
  as games ln -s "$work/secret" inner && as games ln -s "$work/secret/file" link && into "$work/games" link && [ ! -L games/link ] && [ "$(cat games/link)" = evil ] &&
    into "$work/games/inner" && [ -z "$(ls secret)" ]
}
check 'nor where a link leads' linked
kept_here() { into "$work/daemon" && as games "$berth" outputs "$id" -o fetched && [ "$(cat games/fetched/taken)" = evil ]; }
check 'what cannot be put there is kept' kept_here
# elsewhere TO: a job of a user in its own folder, whose output goes to TO.
elsewhere() {
  printf '[ Cmd = "/bin/sh"; Args = { "-c", "echo other >x" }; Outputs = { "x" }; OutputTo = { [ Name = "x"; To = "%s" ] } ]' "$1" >games/to.ad
  id=$(submitted games to.ad) && [ -n "$id" ] && as games timeout 60 "$berth" wait "$id"
}
sent() {
  as games mkdir -p there && elsewhere "$work/games/there/y" && [ "$(cat games/there/y)" = other ] && [ "$(stat -c %U games/there/y)" = games ] &&
    elsewhere ../games/there/z && [ "$(cat games/there/z)" = other ] && [ ! -e games/x ]
}
check 'a job may say where else its outputs go' sent
# logged PATH: a job of games names that log, and is over.
logged() {
  printf '[ Cmd = "/bin/true"; Outputs = {}; UserLog = "%s" ]' "$1" >games/log.ad
  id=$(submitted games log.ad) && [ -n "$id" ] && as games timeout 60 "$berth" wait "$id"
}
ended() { python3 "$BERTH_SOURCE/tests/live/event_log.py" "$1" 'all([n for n in j if n != 6] == [0, 1, 5] for j in jobs.values()) and jobs'; }
own_events() { logged events/a.log && soon ended games/events/a.log && [ "$(stat -c %U games/events/a.log)" = games ]; }
check 'the log that a job names is written by its user' own_events
no_events() { as games "$berth" logs "$id" --events | grep 'log that it names could not be written: Permission denied'; }
fenced_events() { logged "$work/secret/log" && soon no_events && [ -z "$(ls secret)" ]; }
check 'and only where that user may write' fenced_events
fenced() { elsewhere "$work/secret/y" && elsewhere ../secret/y && [ -z "$(ls secret)" ] && as games "$berth" logs "$id" --events | grep 'secret/y could not be put there: Permission denied'; }
check 'if the user may write there' fenced
absent() { into "$work/secret/none" >said && grep 'could not be put into .*secret/none: Permission denied' said && ! grep -i 'no such' said; }
check 'nothing is learnt about folders that one cannot see' absent

flow() {
  cat >games/flow.ad <<'AD'
[ Node = "a"; Cmd = "/bin/sh"; Args = { "-c", "echo one >first" }; Outputs = { "first" } ]
[ Node = "b"; After = { "a" }; NodeInputs = { "a:first" }; Cmd = "/bin/sh"; Args = { "-c", "cat first first >second" }; Outputs = { "second" } ]
AD
  id=$(submitted games flow.ad) && as games timeout 60 "$berth" wait "$id-$((id + 1))" && [ "$(cat games/first)" = one ] && [ "$(wc -l <games/second)" = 2 ] &&
    [ "$(stat -c %U games/second)" = games ]
}
check 'nodes of a workflow read what others have made, and all of it comes to the user' flow

# --------------------------------------------------------------------------------------------------------- a share of the queue

# note BYTES USER: note.ad of that user, such a job with a note of so many bytes.
note() { { printf '[ Cmd = "true"; Outputs = {}; Constraint = other.Name == "nobody"; Note = "'; head -c "$1" /dev/zero | tr '\0' x; echo '" ]'; } >"$2/note.ad"; }
# noted BYTES: a job with a note of so many bytes that waits for nobody; its number is in $id.
noted() { note "$1" games && id=$(submitted games note.ad --force) && [ -n "$id" ]; }
ask_games() { as games curl -sS -w '\n%{http_code}\n' --unix-socket "$work/run/customer.sock" -H 'Content-Type: application/classad' "http://customer$1" --data-binary "@$2"; }
too_large() { noted 300000 && noted=$id && ! noted 900000 && ask_games /v1/jobs note.ad | grep 'JobBytesPerIdentity: the ads of one user.s jobs take 1048576 bytes at most' && ask_games /v1/jobs note.ad | grep -x 429; }
check 'the ads of one user take a share of the memory' too_large
grows() {
  { printf '[ Verb = "edit"; Ids = "%s"; Set = [ Other = "' "$noted"; head -c 500000 /dev/zero | tr '\0' y; echo '" ] ]'; } >games/edit.ad
  ask_games /v1/control edit.ad | grep 'JobBytesPerIdentity'
}
check 'which no edit makes larger' grows
others_too() { as daemon sh -c "echo '[ Cmd = \"true\"; Outputs = {}; Constraint = other.Name == \"nobody\" ]' >small.ad" && [ -n "$(submitted daemon small.ad --force)" ]; }
check 'another user has a share of its own' others_too
as games "$berth" rm "$noted" >/dev/null

# ------------------------------------------------------------------------------------------------------- a share of outputs

# big USER: a job of that user whose output of 3 MiB stays with the customer, since the job says nowhere to bring it; its number is in $id.
big() {
  id=$(as "$1" curl -sS --unix-socket "$work/run/customer.sock" http://customer/v1/jobs -H 'Content-Type: application/classad' -H 'Accept: application/json' \
    --data '[ Cmd = "/bin/sh"; Args = { "-c", "head -c 3145728 /dev/zero >big" }; Outputs = { "big" }; RequestMemory = 16M; RequestDisk = 8M ]' | sed -n 's/.*"First": *\([0-9]*\).*/\1/p')
  [ -n "$id" ]
}
comes() { big "$1" && as "$1" timeout 60 "$berth" wait "$id"; }
first_share() { comes games && first=$id; }
check 'what a job leaves stays with the customer, where nothing says where to bring it' first_share
used_up() { as games "$berth" logs "$second" --events | grep 'OutputsPerUser: of what jobs leave, 4194304 bytes are kept here for a user, and those of games have left 3'; }
full_share() { big games && second=$id && soon used_up && ! as games timeout 2 "$berth" wait "$second"; }
check 'a user has a share of that: what is more waits, and the log of the job says why' full_share
check 'the outputs of another come all the same' comes daemon
dropped_by() { # USER JOB
  as "$1" curl -sS -o /dev/null -w '%{http_code}' --unix-socket "$work/run/customer.sock" -X DELETE "http://customer/v1/jobs/$2/files"
}
kept_for() { [ "$(dropped_by daemon "$first")" = 404 ] && [ "$(dropped_by games "$second")" = 409 ] && as games "$berth" outputs "$first" -o again && [ "$(stat -c %s games/again/big)" = 3145728 ]; }
check 'nobody else can make room there, and nothing goes that is still on its way' kept_for
gone() { [ "$(dropped_by games "$second")" = 204 ]; }
rest() { as games timeout 100 "$berth" wait "$second" && soon gone; }
makes_room() { as games "$berth" outputs "$first" --drop -o fetched && [ "$(stat -c %s games/fetched/big)" = 3145728 ] && says 1 'there are no outputs' as games "$berth" outputs "$first" && rest; }
check 'who fetches what is there makes room, and the rest comes' makes_room
noted() { as games "$berth" audit --jobs --json --what jobs.files.drop | grep "\"about\": \"$first\""; }
check 'which the log of changes tells' noted

# ----------------------------------------------------------------------------------------------------- jobs of the submit host

here() {
  printf 'universe = local\nexecutable = /usr/bin/id\narguments = -un\noutput = who.local\nqueue\n' >games/local.sub
  id=$(submitted games local.sub) && as games timeout 60 "$berth" wait "$id" && [ "$(cat games/who.local)" = games ] && [ "$(stat -c %U games/who.local)" = games ]
}
check 'a job of the universe local runs with the rights of the user who submitted it' here
fenced_here() {
  printf '[ Universe = "local"; Cmd = "/bin/true"; Out = "x"; OutputTo = { [ Name = "x"; To = "%s/secret/x" ] } ]' "$work" >games/local.ad
  id=$(submitted games local.ad) && ! as games timeout 60 "$berth" wait "$id" && [ -z "$(ls secret)" ] && as games "$berth" logs "$id" --events | grep 'secret/x: Permission denied'
}
check 'and reaches nothing that the user may not' fenced_here

sleeps() { pgrep -u games -f '^/bin/sleep 4242'; }
sleeps_not() { ! sleeps; }
ends_now() {
  printf 'universe = local\nexecutable = /bin/sleep\narguments = 4242\nqueue\n' >games/sleep.sub
  id=$(submitted games sleep.sub) && soon sleeps && BERTH_STATE=$work/state "$berth" users disable games --now && soon sleeps_not
}
check 'what a user who is disabled has running there ends, if it is to' ends_now
kept_out() { sleep 3; sleeps_not && says 2 'disabled' as games "$berth" jobs; }
check 'and does not begin again meanwhile' kept_out
let_in() { BERTH_STATE=$work/state "$berth" users enable games && soon sleeps && as games "$berth" rm "$id" && soon sleeps_not; }
check 'but when the user is enabled' let_in

# A customer that is killed while outputs are on their way brings them when it is back.
customer_pid() { pgrep -s "$leader" -f 'berth customer' | head -1; }
killed() {
  printf '[ Cmd = "/bin/sh"; Args = { "-c", "i=0; while [ $i -lt 40 ]; do echo $i >f$i; i=$((i+1)); done" }; Iwd = "%s" ]' "$work/games/many" >games/many.ad
  as games mkdir many && id=$(submitted games many.ad) && soon test -e games/many/f1 && kill -9 "$(customer_pid)" || return
  as games timeout 100 "$berth" wait "$id" || soon over_again
  soon arrived
}
over_again() { as games "$berth" wait "$id"; }
arrived() { [ "$(ls games/many | wc -l)" = 40 ] && [ "$(cat games/many/f39)" = 39 ]; }
check 'a customer that was killed meanwhile brings the rest when it is back, once' killed
tidy() { ! ls -A games games/many | grep -F .part; }
check 'and nothing half is left' tidy
# A service that does not run as root serves others, too, but cannot write for them.
small() {
  mkdir -p daemon/run && chown daemon: daemon/run && chmod 711 daemon daemon/run || return
  setsid setpriv --reuid daemon --regid "$(id -g daemon)" --clear-groups env -i PATH="$PATH" HOME="$work/daemon" ASAN_OPTIONS="${ASAN_OPTIONS:-}" \
    "$berth" pool --state "$work/daemon/state" --listen 127.0.0.1:0 --set 'SubmitFor={ "games" }' --set SubmitSocket="$work/daemon/run/customer.sock" --set JobsMax=2 \
    --set HistoryMax='"64 KiB"' --set Unprotected=true >small.up 2>>small.err &
  groups="$groups $!"
  disown
  soon grep -q 'To end it' small.up
}
check 'a service of another user than root serves the users of this machine' small
# there COMMAND...: games asks that one; at_home: daemon, who runs it.
at_home() { as daemon env BERTH_CUSTOMER="unix:$work/daemon/run/customer.sock" "$@"; }
there() { as games env BERTH_CUSTOMER="unix:$work/daemon/run/customer.sock" "$@"; }
check 'it runs no jobs of theirs on its host' says 2 'does not run as root, and cannot take on the rights' there "$berth" submit --force local.sub
check 'who submits there is told that outputs do not come by themselves' says 0 'Iwd: this customer does not run as root' there "$berth" submit --force never.ad
check 'and elsewhere nothing of the sort' as games sh -c "! '$berth' submit --force never.ad 2>&1 | grep Iwd:"
there "$berth" submit --force never.ad >/dev/null 2>&1
check 'all jobs together have a limit, which the answer names' says 2 'JobsMax: this customer has 2 jobs' there "$berth" submit --force never.ad

# The history there has room for 16 small jobs.
past() { there curl -sS --unix-socket "$work/daemon/run/customer.sock" 'http://customer/v1/history?select=Job' | tr '\n' ' '; }
past_is() { [ "$(past)" = "$1" ]; }
crowds_out() {
  there "$berth" rm 1 && soon past_is '[ Job = 1 ] ' && note 70000 daemon && id=$(at_home "$berth" submit --force note.ad | sed -n 's/.*submitted: \([0-9]*\).*/\1/p') &&
    at_home "$berth" rm "$id" && soon says 1 'no such job\|there is no job' at_home "$berth" job "$id" && past_is '[ Job = 1 ] '
}
check 'who fills the history loses jobs, and others do not, not even to the user who runs it' crowds_out

sound() { ! grep -n 'Sanitizer\|runtime error' pool.err small.err; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
