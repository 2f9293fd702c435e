#!/bin/bash
# stores_live_test.sh SERVER: what jobs make goes to stores when they have ended: real daemons, real HTTP servers (SERVER takes files), a real
# sshd; stores that are down, slow, unknown or full; a provider that is killed and a customer that is away meanwhile. Prints TAP.
set -u
berth=${BERTH:?the program}
server=$(realpath "${1:?the program that takes files}")
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need curl setsid openssl sshd ssh-keygen
export BERTH_STATE=$work/state BERTH_CONFIG=$work/berth.ad

# soon COMMAND...: it succeeds within forty seconds.
soon() {
  for _ in $(seq 400); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  return 1
}
# start NAME PROGRAM...: in a session of its own, of which NAME.pid is the leader; what it says is in NAME.out and NAME.err.
start() {
  : >"$1.out" # or what the one before has said is read
  setsid "${@:2}" >"$1.out" 2>"$1.err" &
  echo $! >"$1.pid"
  groups="$groups $!"
  disown
}
stop() { kill -KILL -- "-$(cat "$1.pid")"; }
# store NAME PORT [SPEED] [TOKEN] [CERT KEY]: an HTTP server on that port (0: a free one, which is in NAME.port then).
store() {
  mkdir -p "$1"
  start "$1" "$server" "$work/$1" "${@:2}"
  soon grep -q '^port' "$1.out" || { echo "Bail out! $1 does not start" && exit 1; }
  sed -n 's/^port //p' "$1.out" >"$1.port"
}
state() { "$berth" jobs "$1" --json 2>/dev/null | grep . || "$berth" history -c "Job == $1" --json; }
# stored JOB COUNT: so many of its files are stored.
stored() { state "$1" | grep -q "\"files_stored\": $2,"; }
shows() { "$berth" jobs "$1" | grep -q "$2"; }
log_has() { "$berth" logs "$1" --events | grep -q "$2"; }
empty() { [ -z "$(ls state/provider/transfers)" ]; }
replicas() { [ "$("$berth" files show "$1" --long | grep -o 'Url = ' | wc -l)" = "$2" ]; }
# submit AD: prints the number of the job.
submit() {
  echo "$1" >job.ad
  "$berth" submit --force job.ad 2>&1 | sed -n 's/.*submitted: //p'
}

# ---- the stores
for name in first second slow; do store $name 0; done
mkdir disk keys secure
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=store -addext subjectAltName=IP:127.0.0.1 \
  -keyout secure/key -out secure/cert >openssl.err 2>&1
store safe 0 0 sesame "$work/secure/cert" "$work/secure/key"
(umask 077; echo "127.0.0.1:$(cat safe.port) sesame" >tokens)
ssh-keygen -q -t ed25519 -N '' -f keys/host
ssh-keygen -q -t ed25519 -N '' -f keys/user
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
# sshd does not choose a port by itself.
for try in 1 2 3 4 5 6 7 8 9; do
  port=$((20000 + (RANDOM + try * 997) % 30000))
  start sshd "$(command -v sshd)" -D -e -f /dev/null -p $port -h "$work/keys/host" -o ListenAddress=127.0.0.1 -o UsePAM=no -o StrictModes=no \
    -o PidFile=none -o "AuthorizedKeysFile=$work/keys/user.pub" -o PasswordAuthentication=no -o 'Subsystem=sftp internal-sftp'
  soon grep -q 'Server listening\|failed\|error' sshd.err
  grep -q 'Server listening' sshd.err && break
done
echo "[127.0.0.1]:$port $(cat keys/host.pub)" >known

cat >berth.ad <<A
[ Networks = {"127.0.0.0/8"}; StoreFolders = {"$work/disk"}; TransferPatience = 3; TransferRoom = 8000000; TransferStall = 20;
  TransferKey = "$work/keys/user"; TransferKnownHosts = "$work/known"; TransferUser = "$(id -un)"; TransferCa = "$work/secure/cert";
  TransferTokens = "$work/tokens" ]
A
common='Type = "Storage"; Constraint = other.Type == "Transfer"; Host = "127.0.0.1"'
cat >stores.ad <<A
[ Name = "first"; $common; Protocol = "http"; Port = $(cat first.port); Path = "/data" ]
[ Name = "second"; $common; Protocol = "http"; Port = $(cat second.port); Path = "/data"; Accepts = other.Class =!= "secret" ]
[ Name = "slow"; $common; Protocol = "http"; Port = $(cat slow.port); Path = "/" ]
[ Name = "safe"; $common; Protocol = "https"; Port = $(cat safe.port); Path = "/" ]
[ Name = "ssh"; $common; Protocol = "sftp"; Port = $port; Path = "$work/by ssh" ]
[ Name = "stranger"; Type = "Storage"; Constraint = other.Type == "Transfer"; Host = "localhost"; Protocol = "sftp"; Port = $port; Path = "$work" ]
[ Name = "disk"; $common; Protocol = "file"; Path = "$work/disk/a" ]
[ Name = "etc"; $common; Protocol = "file"; Path = "$work/etc" ]
A
start pool "$berth" pool --listen 127.0.0.1:0
soon grep -q 'To end it' pool.out
(umask 077 && mkdir -p state/provide) && cp state/provider/token state/provide/token
start provide "$berth" provide stores.ad
there() { [ "$("$berth" ads -c 'Type == "Storage"' --json | wc -l)" = 8 ] && "$berth" ads -c 'Type == "Machine"' --json | grep -q TransferRoom; }
check 'stores are ads of the pool, and a machine says how much room it has for files on their way' soon there
machine=$("$berth" agents -c 'Role == "provider" && Ads == 1' --json | sed -n 's/.*"name": "\([^"]*\)".*/\1/p')
cpus=$("$berth" ads -c 'Type == "Machine"' --format Cpus)
job='Cmd = "sh"; RequestMemory = 16M; RequestDisk = 100M; Outputs = {}'

# ---- a store that is down for a while
stop first
id=$(submit "[ $job; RequestCpus = $cpus; Args = {\"-c\", \"echo one >a.dat; echo two >b.dat\"}; OutputSE = \"first\"; OutputElsewhere = false;
  OutputData = {[File = \"a.dat\"; Name = \"run7/a.dat\"], [File = \"b.dat\"; Name = \"run7/b b.dat\"], \"c.dat\"} ]")
check 'a job ends while its store is down' "$berth" wait "$id"
check 'it is shown as done, with what is not stored' soon shows "$id" 'Succeeded, 0 of 3 files stored, 1 not made'
next=$(submit "[ $job; RequestCpus = $cpus; Args = {\"-c\", \"true\"} ]")
refused() { ! "$berth" rm "$id" 2>rm.err && grep -q '^berth: 1 job cannot be removed: it has ended, and what it made waits to be stored$' rm.err; }
check 'who would remove it is told why that cannot be' refused
check 'its claim is over: another job has the whole machine' "$berth" wait "$next"
check 'the log says which file waits for which store' soon log_has "$id" 'run7/a.dat waits to be stored in first'
check 'and which was not made' log_has "$id" 'c.dat was not made'
store first "$(cat first.port)"
check 'when the store is there again they are stored' soon stored "$id" 2
check 'under their logical names' grep -qx one first/data/run7/a.dat
check 'whatever a URL has to escape' grep -qx two 'first/data/run7/b b.dat'
places() { state "$id" | grep -q "\"Url\": \"http://127.0.0.1:$(cat first.port)/data/run7/b%20b.dat\""; }
check 'the places are told, as URLs, in JSON' places
check 'and in the log' log_has "$id" 'run7/a.dat is stored in first: http://'
check 'the catalogue has them' replicas run7/a.dat 1
check 'and the provider keeps nothing' soon empty

# ---- one that stays down, and the next takes over; one that takes no such file; one whose host is not known
stop first
id=$(submit "[ $job; Class = \"secret\"; Args = {\"-c\", \"echo over >a.dat\"}; OutputSE = {\"first\", \"second\", \"stranger\", \"etc\", \"disk\"};
  OutputData = {[File = \"a.dat\"; Name = \"run8/a.dat\"]} ]")
check 'a file whose store stays down goes to another' soon stored "$id" 1
check 'after those that refuse it were asked' log_has "$id" 'run8/a.dat is stored in disk: file://'
check 'it is there' grep -qx over disk/a/run8/a.dat
check 'and nowhere else' [ ! -e second/data/run8/a.dat -a ! -e run8/a.dat -a ! -e etc ]
check 'a host whose key is not known was not trusted' grep -q "localhost: the host's key is not in TransferKnownHosts" state/log/provider.log
check 'and no path outside of StoreFolders was written' grep -q 'it is beneath none of StoreFolders' state/log/provider.log

# ---- several stores
id=$(submit "[ $job; Args = {\"-c\", \"echo both >a.dat\"}; OutputSE = {\"second\", \"disk\"}; OutputElsewhere = false; OutputCopies = 2;
  OutputData = {[File = \"a.dat\"; Name = \"run21/a.dat\"]} ]")
check 'a file that two stores are to have is stored when both have it' soon stored "$id" 1
check 'the one' grep -qx both second/data/run21/a.dat
check 'and the other' grep -qx both disk/a/run21/a.dat
check 'the catalogue has both replicas' replicas run21/a.dat 2
check 'the log says where else it is' log_has "$id" 'run21/a.dat is stored in disk: file://.*: also in second'
id=$(submit "[ $job; Args = {\"-c\", \"echo one >a.dat\"}; OutputSE = {\"second\", \"first\"}; OutputElsewhere = false; OutputCopies = 2;
  OutputData = {[File = \"a.dat\"; Name = \"run22/a.dat\"]} ]")
check 'while one of two is down it is not stored' soon log_has "$id" 'run22/a.dat waits to be stored in first: 1 of 2 stores have it: second'
check 'and that is shown' shows "$id" 'Succeeded, 0 of 1 file'
store first "$(cat first.port)"
check 'when that is there again it is' soon stored "$id" 1
stop first
too_few() { echo "[ $job; OutputSE = \"second\"; OutputElsewhere = false; OutputCopies = 2; OutputData = {\"x\"} ]" >job.ad && ! "$berth" submit --force job.ad 2>few.err && grep -q 'OutputCopies: OutputSE names 1 stores' few.err; }
check 'more stores than may be are refused at once' too_few

# ---- another file of that name
id=$(submit "[ $job; Args = {\"-c\", \"echo other >a.dat\"}; OutputSE = \"disk\"; OutputElsewhere = false;
  OutputData = {[File = \"a.dat\"; Name = \"run8/a.dat\"]} ]")
check 'a name that is taken is told' soon log_has "$id" 'run8/a.dat waits.*the catalogue has another file of that name'
check 'and the file of that name stays as it is' grep -qx over disk/a/run8/a.dat
"$berth" files rm run8/a.dat >rm.out 2>&1
check 'until somebody frees the name' soon stored "$id" 1
check 'then it is the other' grep -qx other disk/a/run8/a.dat

# ---- a name that is kept for the user whose job it is
own="~$(id -un)/run8/a.dat"
id=$(submit "[ $job; Args = {\"-c\", \"echo mine >a.dat\"}; OutputSE = \"disk\"; OutputElsewhere = false;
  OutputData = {[File = \"a.dat\"; Name = \"$own\"]} ]")
check 'what a job makes has a name that is kept for its user' soon stored "$id" 1
check 'the machine that ran it has entered it' soon replicas "$own" 1
whose() { "$berth" files show "$own" --json | grep -q "\"Owner\": \"$(id -un)\""; }
check 'as the file of that user' whose
id=$(submit "[ $job; Args = {\"-c\", \"echo yours >a.dat\"}; OutputSE = \"disk\"; OutputElsewhere = false;
  OutputData = {[File = \"a.dat\"; Name = \"~somebody/run8/a.dat\"]} ]")
check 'another user'"'"'s name is not entered by it' soon grep -q "names that begin with '~' are entered by the user" state/log/provider.log
check 'and is still free' eval '! "$berth" files show "~somebody/run8/a.dat" 2>/dev/null'

# ---- sftp, https
id=$(submit "[ $job; Args = {\"-c\", \"echo sshd >a.dat; echo tls >b.dat; : >c.dat\"}; OutputSE = \"ssh\"; OutputElsewhere = false;
  OutputData = {[File = \"a.dat\"; Name = \"run 9/it's \\\"a\\\".dat\"], [File = \"b.dat\"; Name = \"run9/b.dat\"; Store = \"safe\"],
                [File = \"c.dat\"; Name = \"run9/empty\"]} ]")
check 'files go by sftp and by https' soon stored "$id" 3
check 'the one by sftp is there, whatever its name' grep -qx sshd "by ssh/run 9/it's \"a\".dat"
check 'and the one by https, by a token for that store' grep -qx tls safe/run9/b.dat
check 'and the one in which nothing is' [ -e 'by ssh/run9/empty' -a ! -s 'by ssh/run9/empty' ]
whole() { ! find 'by ssh' disk -name '.berth-*' | grep .; }
check 'no part of a file is left' whole

# ---- replicas by sftp that are not the file: other bytes, more of them, a folder, a link elsewhere, bytes without end
mkdir -p 'by ssh/in/3' second/data/in
printf 'raft 1\n' >'by ssh/in/1'
printf 'road 2\nand more\n' >'by ssh/in/2'
ln -s 1 'by ssh/in/4'
ln -s /dev/zero 'by ssh/in/5'
# enter NAME PLACE: the file with that line is in the catalogue, with a replica there (ssh, web); they are tried by name.
enter() {
  case $2 in ssh) place="sftp://127.0.0.1:$port$work/by%20ssh/in/$1" ;; *) place="http://127.0.0.1:$(cat second.port)/data/in/$1" ;; esac
  "$berth" files add "in/$1" "$place" --store "$2" --size 7 --hash "sha256:$(printf 'road %s\n' "$1" | sha256sum | cut -c1-64)"
}
for i in 1 2 3 4 5 6; do enter $i ssh >/dev/null; done
id=$(submit "[ $job; Args = {\"-c\", \"cat 1\"}; InputData = {\"in/1\"} ]")
poisoned() { "$berth" job "$id" | grep -q "InputData 'in/1': ssh: its contents are not those that the catalogue says"; }
check 'a job whose only replica has other bytes, by sftp, does not begin, and says why' soon poisoned
check 'and has seen none of them' [ -z "$("$berth" logs "$id" 2>/dev/null)" ]
"$berth" rm "$id" >/dev/null
for i in 1 2 3 4 5 6; do printf 'road %s\n' $i >second/data/in/$i && enter $i web >/dev/null; done
id=$(submit "[ $job; Args = {\"-c\", \"cat 1 2 3 4 5 6\"}; InputData = {\"in/1\", \"in/2\", \"in/3\", \"in/4\", \"in/5\", \"in/6\"} ]")
check 'with another replica it runs' "$berth" wait "$id"
check 'and has the right bytes' [ "$("$berth" logs "$id")" = "$(for i in 1 2 3 4 5 6; do echo "road $i"; done)" ]
noted() { [ "$(sed -n 's/.*event=data.replica .*name=in\/\([0-9]\) store=ssh why=.*/\1/p' state/log/provider.log | sort -u | tr -d '\n')" = 123456 ]; }
check 'each that was bad is noted by its name, with the reason' noted
check 'nothing of them is left' eval '! find state/provider/cache -name "*.new*" | grep .'

# ---- a provider that is killed in mid-transfer
stop slow
store slow "$(cat slow.port)" 1000000
id=$(submit "[ $job; Args = {\"-c\", \"head -c 5000000 /dev/zero >big.dat; sha256sum <big.dat\"}; OutputSE = \"slow\"; OutputElsewhere = false;
  OutputData = {[File = \"big.dat\"; Name = \"run10/big.dat\"]} ]")
check 'a long file is on its way' soon sh -c '[ -s slow/run10/big.dat.* ]'
provider=$(sed -n 's/ *provider *process \([0-9]*\),.*/\1/p' pool.out)
kill -KILL "$provider"
check 'a provider that is killed goes on after its restart' soon stored "$id" 1
sum() { [ "$(sha256sum <slow/run10/big.dat)" = "$("$berth" logs "$id")" ]; }
check 'the file is whole' sum
check 'and registered once' replicas run10/big.dat 1
check 'nothing is left of it at the provider' soon empty

# ---- a customer that is away when it is stored
id=$(submit "[ $job; Args = {\"-c\", \"head -c 2000000 /dev/zero >big.dat\"}; OutputSE = \"slow\"; OutputElsewhere = false;
  OutputData = {[File = \"big.dat\"; Name = \"run11/big.dat\"]} ]")
check 'a job ends' "$berth" wait "$id"
customer=$(sed -n 's/ *customer *process \([0-9]*\),.*/\1/p' pool.out)
kill -STOP "$customer"
check 'its file is stored while the customer is away' soon grep -qx 'put run11/big.dat' slow.out
check 'and kept until that has heard of it' sh -c 'find state/provider/transfers -type f | grep .'
# room BYTES: so many are left for files, as the provider itself says.
room() { curl -s -m 10 --unix-socket state/provider/provider.sock http://provider/v1/status | grep -q "TransferRoom = $1;"; }
check 'so it takes room' room 6000000
check 'its state is written down' soon grep -q 'event=transfer.end .*name=run11/big.dat state=stored' state/log/provider.log
provider=$("$berth" agents -c 'Role == "provider" && Ads == 1' --json | sed -n 's/.*"process": "\([0-9]*\)".*/\1/p')
kill -KILL "$provider"
check 'and a provider that is started again counts it as before' soon room 6000000
kill -CONT "$customer"
check 'when it is back it is told' soon stored "$id" 1
check 'and then the file goes' soon empty
check 'and its room is free' soon room 8000000

# ---- a provider whose folder is full
id=$(submit "[ $job; Args = {\"-c\", \"head -c 9000000 /dev/zero >big.dat\"}; OutputSE = \"first\"; OutputElsewhere = false;
  OutputData = {[File = \"big.dat\"; Name = \"run12/big.dat\"]} ]")
"$berth" wait "$id"
full() { [ "$("$berth" ads -c 'Type == "Machine"' --format TransferRoom)" = 0 ]; }
check 'a provider with no room left for files says so' soon full
more=$(submit "[ $job; Args = {\"-c\", \"echo x >x.dat\"}; OutputData = {[File = \"x.dat\"; Name = \"run13/x.dat\"]}; OutputSE = \"disk\" ]")
plain=$(submit "[ $job; Args = {\"-c\", \"true\"} ]")
check 'it runs jobs that leave none' "$berth" wait "$plain"
check 'and none that do' shows "$more" Waiting
store first "$(cat first.port)"
check 'until its files have gone' soon stored "$more" 1
check 'to where they should' [ -s first/data/run12/big.dat ]

# ---- somebody else's store, whose folder is that of another
(umask 077 && mkdir -p elses/provide)
"$berth" token create --subject mallory --scope 'ad:read ad:write claim' --lifetime 1d --out elses/provide/token >/dev/null
cat >elses.ad <<A
[ Name = "a-store"; $common; Protocol = "file"; Path = "$work/disk/a/run8" ]
A
start elses "$berth" provide --state "$work/elses" elses.ad
mallorys() { "$berth" ads -c 'Name == "a-store"' --json | grep -q mallory; }
check 'anybody may advertise a store' soon mallorys
id=$(submit "[ $job; Args = {\"-c\", \"echo worse >a.dat\"}; OutputSE = \"a-store\"; OutputElsewhere = false; OutputData = {\"a.dat\"} ]")
check 'one that is not of the machine'"'"'s owner gets nothing' soon log_has "$id" 'a-store is of somebody whose stores are not used here'
check 'and no file is overwritten by it' grep -qx other disk/a/run8/a.dat
stop elses

# ---- names of stores that there are not; stores are no machines
echo "[ $job; Args = {\"-c\", \"true\"}; OutputSE = {\"first\", \"frist\"}; OutputElsewhere = false; OutputData = {\"y\", [File = \"z\"; Store = \"thrid\"]} ]" >job.ad
warned() {
  "$berth" submit job.ad 2>submit.err && [ "$(grep -c 'no store' submit.err)" = 2 ] &&
    grep -q "^berth: no store 'frist' is in the pool now: its files will wait for one of that name$" submit.err && grep -q "no store 'thrid'" submit.err
}
check 'a store that is not there is told when a job is submitted' warned
"$berth" agent "$machine" drain >drain.out 2>&1
drained() { [ -z "$("$berth" ads -c 'Type == "Machine"' --json)" ]; }
check 'the machine is drained' soon drained
echo "[ $job; Args = {\"-c\", \"true\"} ]" >job.ad
accepted() { "$berth" submit job.ad >submit.out 2>submit.err && grep -q '^berth: the job waits for a machine that takes no more jobs: .* fits and was drained$' submit.err; }
check 'stores are no machines: what is submitted waits for the one that was drained' soon accepted
echo "1..$count"
[ $failures = 0 ]
