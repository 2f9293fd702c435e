#!/bin/bash
# owners_live_test.sh: jobs that run as the users who sent them, where the owner of a machine lets the members of a Unix group: with their groups, homes and
# masks, and as nobody else, whatever an ad says. As root, with accounts of its own in a mount namespace of its own. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
skip() { echo "1..0 # SKIP $*" && exit; }
[ "$(id -u)" = 0 ] || skip 'only root can be several users'
for tool in setpriv setsid unshare bwrap python3; do command -v $tool >/dev/null || skip "$tool is not here"; done
if [ -z "${OWNERS_APART:-}" ]; then
  unshare -m true 2>/dev/null || skip 'there are no mounts of one'\''s own here'
  OWNERS_APART=1 exec unshare -m --propagation private "$0"
fi
read -r first outer many </proc/self/uid_map
[ "$first $outer $many" = '0 0 4294967295' ] || skip 'this root is not that of the machine'
. "$BERTH_SOURCE/tests/common/live.sh"
top=$(mktemp -d -p /var/tmp berth-owners.XXXXXX) || exit 1
trap 'clean; rm -rf "$top"' EXIT
umask 022
chmod 755 "$work" "$top"
cp /etc/passwd passwd && cp /etc/group group
cat >>passwd <<END
anna:x:4001:4001::$top/home/anna:/bin/sh
bert:x:4002:4002::$top/home/bert:/bin/sh
carl:x:499:4003::$top/home/carl:/bin/sh
dora:x:4004:4004::$top/home/dora:/bin/sh
END
cat >>group <<END
anna:x:4001:
bert:x:4002:
carl:x:4003:
dora:x:4004:
physics:x:5000:anna,carl,dora,root
lab:x:5001:anna
END
mount --bind passwd /etc/passwd && mount --bind group /etc/group || skip 'no file can be put over another'
[ "$(id -u anna 2>/dev/null)" = 4001 ] || skip 'accounts cannot be made here'
mkdir "$top/home" "$top/shared" "$top/scratch"
chmod 1777 "$top/scratch"
for user in anna bert carl dora; do mkdir -m 755 "$top/home/$user" && chown $user:$user "$top/home/$user"; done
echo 'of dora alone' >"$top/home/dora/letter" && chown dora: "$top/home/dora/letter" && chmod 600 "$top/home/dora/letter"
echo 'of the lab' >"$top/shared/results" && chgrp lab "$top/shared/results" && chmod 640 "$top/shared/results"
cp "$berth" "$work/berth" && berth=$work/berth # where every user can start it

# soon COMMAND...: it succeeds within forty seconds.
soon() { for _ in $(seq 400); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; "$@"; }
# as USER COMMAND...: in that user's home.
as() {
  local user=$1
  (cd "$top/home/$user" && exec setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups env -i PATH="$PATH" HOME="$top/home/$user" \
    BERTH_SUBMIT_SOCKET="$work/run/customer.sock" ASAN_OPTIONS="${ASAN_OPTIONS:-}" "${@:2}")
}
serve() { # POLICY NAME
  mkdir -p -m 700 "$2"
  : >up
  setsid "$berth" pool --state "$work/$2" --listen 127.0.0.1:0 --set 'SubmitFor={ "*" }' --set SubmitSocket="$work/run/customer.sock" \
    --set OwnerPolicy="$work/$1" -v >up 2>>pool.err </dev/null &
  leader=$!
  groups="$groups $leader"
  disown
}
ended() { kill -TERM -- "-$1"; for _ in $(seq 200); do kill -0 -- "-$1" 2>/dev/null || return 0; sleep 0.1; done; return 1; }

# -------------------------------------------------------------------------------------------------------------- a policy

bad() { # POLICY WORDS
  echo "$1" >bad.ad
  : >pool.err
  serve bad.ad refused
  soon grep -q -F "$work/bad.ad: $2" pool.err
  local told=$?
  ended $leader && return $told
}
check 'a policy that does not say whose jobs is refused' bad '[ RunAs = "owner" ]' \
  'RunAs = "owner" needs RunAsGroup, the Unix group whose members'\'' jobs may run as themselves'
check 'and so is one with another word' bad '[ RunAs = "root"; RunAsGroup = "physics" ]' 'RunAs: expected "claim" or "owner"'
check 'and one for everybody' bad '[ RunAs = "owner"; RunAsGroup = "*" ]' 'RunAsGroup: expected the name of one Unix group'
check 'and one that lets jobs write where nobody should' bad '[ RunAs = "owner"; RunAsGroup = "physics"; Writable = { "/etc" } ]' \
  "Writable: '/etc' cannot be shown to jobs"

echo "[ RunAs = \"owner\"; RunAsGroup = \"physics\"; Writable = { \"$top/home\", \"$top/shared\" }; Visible = { \"$top/scratch\" } ]" >owner.ad
lone() {
  : >pool.err
  mkdir -m 700 lone
  : >up
  setsid unshare -Ur "$berth" pool --state "$work/lone" --listen 127.0.0.1:0 --set OwnerPolicy="$work/owner.ad" >up 2>>pool.err </dev/null &
  leader=$!
  groups="$groups $leader"
  disown
  soon grep -q 'To end it' up && soon grep -q 'RunAs = "owner" does not hold: the provider is root in a container or a user namespace' lone/log/provider.log &&
    BERTH_STATE=$work/lone "$berth" ads --json >list && ! grep -q RunAs list && ended $leader
}
unshare -Ur true 2>/dev/null && check 'where root is not the machine'\''s, it does not hold, and that is told' lone
: >pool.err
serve owner.ad state
check 'a pool is up whose machine runs jobs as their owners' soon grep -q 'To end it' up
check 'and says so' soon grep -q 'jobs of users in the group physics run as these users if they ask for it' up pool.err
offered() {
  BERTH_STATE=$work/state "$berth" ads --json >list
  python3 -c "
import json
row = [r for r in map(json.loads, open('list')) if r.get('Type') == 'Machine'][0]
assert row['RunAs'] == 'owner' and row['RunAsGroup'] == 'physics' and row['Writable'] == ['$top/home', '$top/shared'], row"
}
check 'its ad has what such jobs are offered' soon offered

# ------------------------------------------------------------------------------------------------------------------ jobs

# job USER 'SCRIPT' [ATTRIBUTES]: a job of that user's that runs as its owner; its number is in $id, what it prints in `said`.
job() {
  # shellcheck disable=SC2016
  printf '[ Cmd = "/bin/sh"; Args = { "-c", "%s" }; Outputs = {}; RunAs = "owner"; %s ]' "$2" "${3-}" >job.ad
  install -m 644 job.ad "$top/home/$1/job.ad"
  id=$(as "$1" timeout 60 "$berth" submit job.ad 2>submit.err | sed -n "s/.*submitted: \([0-9]*\).*/\1/p" | head -1)
  [ -n "$id" ] || { cat submit.err; return 1; }
  as "$1" timeout 40 "$berth" wait "$id" >wait.out 2>&1
  as "$1" "$berth" logs "$id" >said 2>&1
  cat said
}
# says LINES: that is what the job has printed.
says() { [ "$(cat said)" = "$1" ] || { cat said wait.out; as anna "$berth" job "$id"; return 1; }; }
himself() {
  job anna 'id -u; id -un; id -g; echo $HOME $USER; cat '"$top/shared/results"'; echo here >$HOME/made; umask' && says "4001
anna
4001
$top/home/anna anna
of the lab
0022"
}
check 'a job runs as the user who sent it, with its groups and its home' himself
check 'what it made there is that user'\''s' [ "$(stat -c '%U:%G %a' "$top/home/anna/made")" = 'anna:anna 644' ]
check 'the rest is as for other jobs' soon sh -c "grep -q 'bwrap\|bubblewrap' '$work/up' '$work/pool.err'"
confined() {
  job anna 'ls /root >/dev/null 2>&1 || echo none; touch '"$top/scratch/x"' 2>/dev/null || echo read-only; ls /proc | grep -c ^[0-9]; cat '"$work/passwd"' 2>/dev/null; grep -c . /etc/passwd; grep NoNewPrivs /proc/self/status'
  grep -q -x none said && grep -q -x read-only said && grep -q 'NoNewPrivs:.1' said && ! grep -q bert said
}
check 'it sees nothing else, and can gain nothing' confined
letter() { job anna "cat $top/home/dora/letter 2>&1; ls $top/home/dora >/dev/null && echo seen"; grep -q 'Permission denied' said && grep -q -x seen said && ! grep -q 'of dora' said; }
check 'what others keep for themselves it cannot read' letter
masked() { job anna 'umask; echo x >$HOME/masked' 'Umask = "0027"' && says 0027 && [ "$(stat -c %a "$top/home/anna/masked")" = 640 ]; }
check 'its mask is that of its submission' masked
plain() {
  (cd "$top/home/anna" && printf '[ Cmd = "/bin/sh"; Args = { "-c", "id -u; echo $HOME; ls %s; cat %s" }; Outputs = {} ]' "$top" "$top/shared/results" >plain.ad)
  id=$(as anna "$berth" submit plain.ad | sed -n "s/.*submitted: \([0-9]*\).*/\1/p")
  as anna timeout 40 "$berth" wait "$id"
  as anna "$berth" logs "$id" >said 2>&1
  grep -q -x 1000 said && grep -q -x /job said && ! grep -q 'of the lab\|home' said
}
check 'a job that does not ask for it is nobody, as ever, and sees none of these folders' plain
lies() { job anna 'id -u' 'RunAsUser = "root"; RunAsGroup = "root"; User = "dora"; Account = "dora"; UnixAccount = "dora"; Env = [ USER = "dora"; HOME = "/root" ]' && says 4001; }
check 'other words of its ad change nothing' lies
needs() { job anna "ls -d $top/shared" "Needs = { \"$top/shared\", \"$top/scratch\" }" && says "$top/shared"; }
check 'it may need what it can write in, and what it can see' needs

networked() {
  job anna 'id -u; cat '"$top/shared/results"'; grep ^nameserver /etc/resolv.conf; grep -c : /proc/net/dev; echo x >$HOME/networked' 'Network = true' && says "4001
of the lab
nameserver 192.0.2.3
2" && [ "$(stat -c %U "$top/home/anna/networked")" = anna ]
}
if grep -q 'jobs are held by .*, slirp4netns' up pool.err; then check 'with the network it is that user as well, in a network of its own' networked; fi

# the first does not end before the other has written: with its end all are ended
several() { job anna 'id -u >>$HOME/several; until [ $(wc -l <$HOME/several) = 2 ]; do sleep 0.1; done' 'Processes = 2; RequestCpus = 0.5; RequestMemory = 16M; RequestDisk = 16M'; soon both; }
both() { [ "$(cat "$top/home/anna/several")" = '4001
4001' ]; }
check 'the processes of a parallel job all run so' several

# --------------------------------------------------------------------------------------------------------------- refused

# refused OWNER WORDS: a job of that owner's, sent by root, who may send for others, is held with these words, and has not begun.
refused() {
  printf '[ Cmd = "/bin/sh"; Args = { "-c", "id -u; touch %s/ran" }; Outputs = {}; RunAs = "owner"; Owner = "%s" ]' "$top/shared" "$1" >other.ad
  id=$(BERTH_STATE=$work/state "$berth" submit other.ad | sed -n "s/.*submitted: \([0-9]*\).*/\1/p")
  [ -n "$id" ] || return
  soon held "$2" && [ ! -e "$top/shared/ran" ]
}
held() { BERTH_STATE=$work/state "$berth" job "$id" >shown 2>&1; cat shown; grep -q 'Held' shown && grep -q -F "$1" shown; }
chmod 1777 "$top/shared"
check 'a user who is not in the group is refused' refused bert "jobs do not run as 'bert' here: that user is not in the group 'physics'"
check 'root is' refused root "jobs do not run as 'root' here: user 0 is the system's own"
check 'a user of the system'\''s own is' refused carl "jobs do not run as 'carl' here: user 499 is the system's own"
check 'one who is not there is' refused ghost "there is no user 'ghost' on this machine"
check 'and one whose name is none' refused anna/helper "'anna/helper' is not the name of a user of this machine"
own_word() { job bert true; BERTH_STATE=$work/state held "that user is not in the group 'physics'"; }
check 'a user hears why' own_word
forged() { ! job anna true 'Owner = "dora"' && grep -q 'Owner: you can submit jobs only for yourself' submit.err; }
check 'nobody sends jobs in the name of another' forged
printf '[ Cmd = "true"; RunAs = "root" ]' >"$top/home/anna/wrong.ad"
wrong() { as anna "$berth" submit wrong.ad >out 2>&1; [ $? = 2 ] && grep -q 'RunAs: expected "claim" or "owner"' out; }
check 'another word than owner or claim is refused when it is sent' wrong
well() { BERTH_STATE=$work/state "$berth" machines --json >list && ! grep -q '"Sick"' list; }
check 'none of this is held against the machine' well

entered() {
  printf '[ Cmd = "/bin/sleep"; Args = { "1000" }; Outputs = {}; RunAs = "owner" ]' >"$top/home/anna/long.ad"
  id=$(as anna "$berth" submit long.ad | sed -n "s/.*submitted: \([0-9]*\).*/\1/p")
  soon running && as anna timeout 40 "$berth" exec "$id" -- sh -c "id -u; cat $top/shared/results; umask; echo \$HOME" >said 2>&1
  as anna "$berth" rm "$id"
  says "4001
of the lab
0022
$top/home/anna"
}
running() { as anna "$berth" job "$id" | grep -q Running; }
check 'a command in such a job is that user'\''s, too' entered

# ------------------------------------------------------------------------------------------------------------------- ends

setpriv --reuid anna --regid anna --init-groups setsid sleep 98765 &
beside=$!
groups="$groups $beside"
disown
left() { for file in /proc/[0-9]*/cmdline; do tr '\0' ' ' <"$file" 2>/dev/null | grep -q -x "sleep $1 " && return 0; done; return 1; }
daemonised() { job anna '(setsid sleep 87654 >/dev/null 2>&1 &) ; sleep 0.3; ps aux | grep -c 98765 | head -1; echo over' && grep -q over said && ! soon_left; }
soon_left() { for _ in $(seq 100); do left 87654 || return 1; sleep 0.1; done; }
check 'what a job put in the background ends with it' daemonised
check 'what its user has on the machine besides goes on' left 98765
kill $beside 2>/dev/null

# ------------------------------------------------------------------------------------------------------------ shared files

mkdir -m 755 "$top/home/anna/run" && echo 'from here' >"$top/home/anna/run/data" && printf '#!/bin/sh\npwd; cat data; echo wrong >&2; echo more >more\n' >"$top/home/anna/run/go.sh"
chmod 755 "$top/home/anna/run/go.sh" && chown -R anna: "$top/home/anna/run"
share() { # 'ATTRIBUTES'
  printf '[ ShareFiles = true; %s ]' "$1" >share.ad
  install -m 644 share.ad "$top/home/anna/run/share.ad"
  id=$(as anna sh -c "cd run && umask 027 && '$berth' submit share.ad" 2>submit.err | sed -n "s/.*submitted: \([0-9]*\).*/\1/p")
  [ -n "$id" ] || { cat submit.err; return 1; }
  as anna timeout 40 "$berth" wait "$id" >wait.out 2>&1
  as anna "$berth" job "$id" >>wait.out 2>&1
  cat wait.out
}
stays() {
  share 'Cmd = "./go.sh"; Out = "run.out"; Err = "run.err"' && [ "$(cat "$top/home/anna/run/run.out")" = "$top/home/anna/run
from here" ] && [ "$(cat "$top/home/anna/run/run.err")" = wrong ] && [ "$(cat "$top/home/anna/run/more")" = more ]
}
check 'a job that shares its files begins where it was sent from, and leaves them there' stays
modes() { for file in run.out run.err more; do [ "$(stat -c '%U:%G %a' "$top/home/anna/run/$file")" = 'anna:anna 640' ] || return; done; }
check 'they are its user'\''s, with the modes of its mask' modes
reads() { share 'Cmd = "/bin/cat"; In = "data"; Out = "copy"' && [ "$(cat "$top/home/anna/run/copy")" = 'from here' ]; }
check 'what it reads as standard input is there, too' reads
logged() { share 'Cmd = "./go.sh"' && as anna "$berth" logs "$id" >said 2>&1 && grep -q 'from here' said; }
check 'without names its output is a log, as ever' logged
ln -s "$top/home/dora/stolen" "$top/home/anna/run/trap"
astray() { share 'Cmd = "/bin/echo"; Out = "trap"'; grep -q "its output 'trap' could not be opened as 'anna' (Permission denied)" wait.out && [ ! -e "$top/home/dora/stolen" ]; }
check 'a link to where the user may not write leads nowhere' astray
ln -s "$top/scratch/made" "$top/home/anna/run/shown" && ln -s "$top" "$top/home/anna/run/top" && ln -s ../letter "$top/home/anna/run/inside"
echo 'of the machine' >"$top/scratch/list" && echo secret >"$top/kept" && chmod 666 "$top/kept" && chmod 1777 "$top"
unwritten() { share 'Cmd = "/bin/echo"; Out = "shown"'; grep -q "its output 'shown' could not be opened as 'anna' (it lies outside of the folders" wait.out && [ ! -e "$top/scratch/made" ]; }
check 'nor does one into a folder that jobs only see, though the user could write there' unwritten
unmade() { share 'Cmd = "/bin/echo"; Out = "top/stolen"'; grep -q "its output 'top/stolen' could not be opened" wait.out && [ ! -e "$top/stolen" ]; }
check 'nor into one that no job sees' unmade
unread() { share 'Cmd = "/bin/cat"; In = "top/kept"; Out = "copy"'; grep -q "its input 'top/kept' could not be opened as 'anna' (it lies outside" wait.out; }
check 'nor is anything read there' unread
astray_whole() {
  printf '[ ShareFiles = true; Cmd = "/bin/cat"; In = "kept"; Out = "copy"; Iwd = "%s/home/anna/run/top" ]' "$top" >share.ad
  install -m 644 share.ad "$top/home/anna/run/share.ad"
  id=$(as anna "$berth" submit run/share.ad 2>submit.err | sed -n "s/.*submitted: \([0-9]*\).*/\1/p")
  as anna timeout 40 "$berth" wait "$id" >wait.out 2>&1
  as anna "$berth" job "$id" >>wait.out 2>&1
  cat submit.err wait.out
  grep -q 'its folder .* could not be opened as .anna. (it lies outside' wait.out && [ ! -e "$top/copy" ]
}
check 'nor does a job begin there by a link' astray_whole
sees() { share 'Cmd = "/bin/cat"; In = "top/scratch/list"; Out = "inside"' && [ "$(cat "$top/home/anna/letter")" = 'of the machine' ]; }
check 'but links within the folders lead where they say' sees
outside() {
  printf '[ ShareFiles = true; Cmd = "/bin/true"; Iwd = "%s" ]' "$top" >share.ad
  install -m 644 share.ad "$top/home/anna/run/share.ad"
  as anna "$berth" submit run/share.ad >out 2>&1
  cat out
  grep -q "other.Writable" out
}
check 'a folder that no machine shares is told at once' outside
cat >"$top/home/anna/run/run.sub" <<'END'
executable = go.sh
output = sub.out
error = sub.err
should_transfer_files = NO
queue
END
chown anna: "$top/home/anna/run/run.sub"
condor() {
  id=$(as anna sh -c "cd run && '$berth' submit run.sub" 2>submit.err | sed -n "s/.*submitted: \([0-9]*\).*/\1/p")
  [ -n "$id" ] || { cat submit.err; return 1; }
  as anna timeout 40 "$berth" wait "$id"
  as anna "$berth" job "$id"
  [ "$(sed -n 2p "$top/home/anna/run/sub.out")" = 'from here' ] && [ "$(stat -c '%U' "$top/home/anna/run/sub.err")" = anna ]
}
check 'should_transfer_files = NO in a submit file is that' condor
travel() { ! share 'Cmd = "./go.sh"; Inputs = { "data" }' && grep -q 'Inputs: a job with ShareFiles has none: its files stay where they are' submit.err; }
check 'files that would travel are refused' travel

echo "1..$count"
[ $failures -eq 0 ]
