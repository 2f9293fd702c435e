#!/bin/bash
# exec_live_test.sh: commands in the sandboxes of running jobs, on a machine that can be called, on one that only calls out, and on one whose owner
# forbids it. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid python3
umask 077
# soon COMMAND...: it succeeds within a minute.
soon() { for _ in $(seq 300); do "$@" && return; sleep 0.2; done; return 1; }
start() {
  setsid "${@:2}" >"$1.up" 2>>"$1.err" &
  groups="$groups $!"
  disown
}
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
machine='ad:read ad:write claim match' person='ad:read ad:write claim match job:submit job:own'
export BERTH_STATE="$work/pool" BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
provider() {
  start "$1" "$berth" provider --state "$work/$1" --set AgentName="$1" --set OwnerPolicy="$work/owner.ad" --set 'Networks={ "127.0.0.0/8" }' "${@:2}"
}
up() {
  echo '[ Cpus = 2 ]' >owner.ad
  start pool "$berth" matchmaker --listen "127.0.0.1:$(steady_port)" --state "$work/pool" --set 'Networks={ "127.0.0.0/8" }' && soon grep -q 'listening at  unix' pool.up &&
    mkdir -p alice/customer heron/provider stork/provider crane/provider &&
    token alice "$person job:any serve" alice/customer/token && token bob "$person" bob.token &&
    token machine/heron "$machine" heron/provider/token && token carol/stork "$machine" stork/provider/token && token machine/crane "$machine" crane/provider/token &&
    start alice "$berth" customer --state "$work/alice" && soon test -S "$work/alice/customer/customer.sock" &&
    provider heron --set ProviderListen=127.0.0.1:0 && provider stork --set 'ProviderListen=""' --pull && provider crane --set ProviderListen=127.0.0.1:0 --set Exec=false
}
check 'a pool is up, with a machine that can be called, one that only pulls, and one whose owner forbids commands' up
listed() { [ "$("$berth" agents -c 'Role == "provider" && Connected' --json | wc -l)" = 3 ]; }
check 'all have said who they are' soon listed
[ "$failures" = 0 ] || { echo "1..$count" && exit 1; }

runs() { "$berth" jobs --json -c "Job == $1 && State == \"Running\"" | grep -q .; }
# submit MACHINE: a job there; its number is in $job.
submit() {
  echo "[ Cmd = \"sh\"; Args = { \"-c\", \"mkdir bin; printf '#!/bin/sh\\necho own tool\\n' >bin/tool; chmod +x bin/tool; echo made >new; mv new file; trap 'exit 7' TERM; while :; do sleep 0.2; done\" }; Outputs = {}; Env = [ COLOUR = \"mauve\"; PATH = \"/job/bin:/usr/bin:/bin\" ]; RequestMemory = 64M; RequestDisk = 64M;
     Constraint = other.Type == \"Machine\" && other.Name == \"$1\" ]" >job.ad
  job=$("$berth" submit --force job.ad | sed -n 's/.*: //p') && [ -n "$job" ] && soon runs "$job"
}
# says STATUS WORDS COMMAND...: it ends so, and says that.
says() {
  timeout 60 "${@:3}" >out 2>&1 </dev/null
  local got=$?
  cat out
  [ "$got" = "$1" ] && grep -q -- "$2" out
}
# typed SCRIPT COMMAND...: the command has a terminal of 30 rows and 90 columns. Each line of the script is WAITED-FOR|TYPED; what was seen is in `seen`.
typed() {
  timeout 100 python3 - "$@" <<'P'
import fcntl, os, pty, select, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
seen, mark = b"", 0
def read(until):
    global seen
    if not select.select([fd], [], [], max(0, until - time.time()))[0]:
        return False
    try:
        more = os.read(fd, 65536)
    except OSError:
        return False
    seen += more
    return bool(more)
for line in sys.argv[1].split("\n"):
    wanted, _, keys = line.partition("|")
    wanted, keys, until = wanted.encode(), keys.encode().decode("unicode_escape").encode(), time.time() + 60
    while wanted and wanted not in seen[mark:]:
        if not read(until):
            break
    if wanted not in seen[mark:]:
        sys.stdout.buffer.write(b"never seen: " + wanted + b"\n")
        break
    mark = seen.index(wanted, mark) + len(wanted)
    if keys.startswith(b"SIZE"):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 111, 0, 0))
    elif keys:
        os.write(fd, keys)
until = time.time() + 30
while read(until):
    pass
open("seen", "wb").write(seen)
sys.stdout.buffer.write(seen)
os.close(fd)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
}

for who in heron stork; do
  check "$who: a job runs there" submit $who
  check "$who: a command runs in its folder, with its variables" says 0 '^made mauve /job$' "$berth" exec "$job" -- sh -c 'until [ -e file ]; do sleep 0.1; done; echo $(cat file) $COLOUR $PWD'
  check "$who: and is looked for where the job's own PATH says" says 0 '^own tool$' "$berth" exec "$job" -- tool
  check "$who: and sees the job" says 0 'while :; do sleep' "$berth" exec "$job" -- sh -c "cat /proc/[0-9]*/cmdline | tr '\0' ' '"
  check "$who: its status is that of the command" says 23 . "$berth" exec "$job" -- sh -c 'echo ending; exit 23'
  check "$who: a signal that ended it is told as a shell does" says 137 . "$berth" exec "$job" -- sh -c 'echo ending; kill -9 $$'
  check "$who: a program that is not there" says 127 'No such file' "$berth" exec "$job" -- /no/such
  streams() { "$berth" exec "$job" -- sh -c 'echo to out; echo to err >&2; cat' <file-in >file-out 2>file-err && [ "$(head -1 file-out)" = 'to out' ] && [ "$(cat file-err)" = 'to err' ] && tail -n +2 file-out | cmp - file-in; }
  seq 100000 >file-in
  check "$who: output, errors and a long input, each by its own way" streams
  large() { "$berth" exec "$job" -- head -c 3000000 /dev/zero </dev/null | { sleep 1; wc -c >many; } && [ "$(cat many)" -eq 3000000 ]; }
  check "$who: all of a large output comes, to one who reads it late" large
  terminal() {
    typed $'ready|stty size\\r\n30 90|SIZE\nready|until stty size | grep "^44 "; do sleep 0.1; done; tty\\r\n44 111|\n/dev/pts/|sh -c "echo slee\\x22\\x22ping; exec sleep 77"\\r\nsleeping|\\x03\nready|echo ba""ck again; exit 5\\r\nback again|' "$berth" exec "$job" --tty -- sh -c 'PS1="ready> " exec sh -i'
    [ $? = 5 ]
  }
  check "$who: a shell with a terminal: its size, Ctrl-C, its status" terminal
  away() {
    typed $'ready|echo be""gun; while ! [ -e go ]; do sleep 0.1; done; echo went on; touch gone; read x; echo g""ot $x; exit 9\\r\nbegun|\\r~.\nleft:|' "$berth" exec "$job" --tty -- sh -c 'rm -f go gone; PS1="ready> " exec sh -i'
    [ $? = 130 ] && timeout 60 "$berth" exec "$job" -n -- sh -c 'touch go; while ! [ -e gone ]; do sleep 0.1; done'
  }
  check "$who: ~. leaves a command, which goes on" away
  back() { typed $'went on|word\\r\ngot word|' "$berth" exec "$job" --attach; [ $? = 9 ]; }
  check "$who: --attach comes back to it: what it wrote meanwhile, what is typed, its status" back
  killed() {
    typed $'ready|rm -f go gone; touch begun; while ! [ -e go ]; do sleep 0.1; done; echo went on; exit 8\\r\n|' sh -c "echo \$\$ >pid; exec \"\$0\" \"\$@\"" "$berth" exec "$job" --tty -- sh -c 'PS1="ready> " exec sh -i' &
    soon grep -qs . pid && soon "$berth" exec "$job" -n -- test -e begun && kill -9 "$(cat pid)"
    wait $!
    rm -f pid
    timeout 60 "$berth" exec "$job" -n -- touch go && says 8 . "$berth" exec "$job" --attach
  }
  check "$who: one whose connection was cut goes on, and is found again" killed
  check "$who: when no command is left there is nothing to come back to" says 1 'no command runs' "$berth" exec "$job" --attach
  interrupted() {
    rm -f out # the last one says the same
    "$berth" exec "$job" -n -- sh -c 'trap "echo heard; exit 6" TERM; echo ready; while :; do sleep 0.1; done' >out 2>&1 &
    soon grep -q ready out && kill -TERM $! && wait $!
    [ $? = 6 ] && grep -q heard out
  }
  check "$who: a signal goes to the command" interrupted
  logged() { grep 'audit.exec ' "$who.err" | grep 'subject=alice' | grep "job=$job" | grep 'program=head'; }
  check "$who: its log says who ran what" logged
  over() {
    rm -f out
    "$berth" exec "$job" -n -- sh -c 'echo ready; sleep 3000' >out 2>&1 &
    soon grep -q ready out && "$berth" rm "$job" && wait $!
    [ $? = 137 ]
  }
  check "$who: a command ends with its job" over
done

whole() {
  typed $'$ |tty; echo "on $COLOUR" >made; stty size\\r\n30 90|sh -c "echo slee\\x22\\x22ping; exec sleep 77"\\r\nsleeping|\\x03\n$ |exit 12\\r' "$berth" run --tty -e COLOUR=green -e 'PS1=$ ' -m 64M -- sh -i
  [ $? = 12 ] && [ "$(cat made)" = 'on green' ]
}
check 'berth run --tty is a shell in a job: its files come back, its status is that of the shell' whole
check 'in a job that is over nothing is begun' says 1 'is over\|does not run' "$berth" exec "$job" -- true
check 'nor in one that never was' says 1 'no such job' "$berth" exec 987654 -- true
audited() { "$berth" audit --jobs --json | grep '"jobs.exec"' | grep 'head -c 3000000'; }
check 'the audit log of the customer says who began which command in which job' audited

check 'crane: a job runs where commands are forbidden' submit crane
check 'crane: and the command is refused, with the reason' says 126 'owner of the machine does not let' "$berth" exec "$job" -- true
desk=$("$berth" agents -c 'Role == "customer"' --json | sed -n 's/.*"agent": "\([0-9a-f]*\)".*/\1/p')
url=$(sed -n 's/.*\(http:..[0-9.:]*\).*/\1/p' pool.up | head -1)
# by USER PATH ARGUMENT...: asks the customer by the matchmaker, as another machine would; the status.
by() {
  local bearer
  bearer=$(curl -sS -m 20 --unix-socket "$work/pool/matchmaker.sock" http://pool/v1/tokens -d "[Subject=\"$1\";Scope=\"$person\"]" | sed -n 's/.*Token = "\([^"]*\)".*/\1/p')
  curl -sS -m 30 -o out -w '%{http_code}' -H "Authorization: Bearer $bearer" "$url/v1/desk/$desk/$2" "${@:3}"
}
others() {
  [ "$(by alice "jobs/$job/shells" -d '[ Arguments = { "true" } ]')" = 201 ] && number=$(sed -n 's/.*Number *= *\([0-9]*\).*/\1/p' out) && [ "$(by alice "shells/$number?out=0&err=0")" = 200 ] &&
    [ "$(by bob "jobs/$job/shells" -d '[ Arguments = { "true" } ]')" = 404 ] && grep 'audit.refused.*shells.open.*subject=bob.*another' alice.err &&
    [ "$(by bob "shells/$number?out=0&err=0")" = 404 ] && [ "$(by bob "shells/$number" -X PUT -d '[ Close = true ]')" = 404 ] && [ "$(by bob shells)" = 200 ] && ! grep -q . out
}
check "another user's job is not there, nor are its commands" others
strange() { says 2 'wants a COMMAND' "$berth" exec "$job" && says 2 'number of a job' "$berth" exec && says 2 'wants a terminal' "$berth" exec "$job" --tty -- sh; }
check 'what is missing is said' strange
echo "1..$count"
[ "$failures" = 0 ]
