#!/bin/sh
# surroundings_live_test.sh: a pool where the surroundings are not as usual: a port in use, a long HOME, all addresses of IPv6, a folder of somebody
# else, a machine with the longest name, a provider that does not start, root without other users or without its rights. What is said then is what to do. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"

# ---------------------------------------------------------------------------------------------------------- a port in use

"$berth" matchmaker --state "$work/state" --listen localhost:0 >first.out 2>first.err </dev/null &
pids=$!
soon grep -q 'A token for' first.out
url=$(sed -n 's/^Berth matchmaker is up: //p' first.out)
holds '--listen localhost:PORT is an address of this machine' expr "$url" : 'http://127[.]0[.]0[.]1:[1-9][0-9]*$'
run "$berth" status --pool "$url" --token "$work/state/none"
says 'and answers there' 2 '' 'berth: *'
run "$berth" pool --state "$work/second" --listen "${url#http://}"
expect 'a pool whose port is in use says so, once' 2 '' \
  "berth: the matchmaker does not start: cannot listen on ${url#http://}: the port is in use by another program"
run "$berth" matchmaker --state "$work/third" --listen heron.example:7600
says 'a name of another machine is refused, and what to write instead is said' 2 '' \
  "berth: cannot listen on heron.example:7600: 'heron.example' is not an address of this machine: an IP address, or localhost, is"

# --------------------------------------------------------------------------------------------------- a folder of another

# as a user who may not look into our state folder
if [ "$(id -u)" = 0 ]; then
  another='setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent'
  chmod 755 "$work"
else
  another=
  chmod 0 "$work/state"
fi
# shellcheck disable=SC2086 # words
if $another "$berth" --version >/dev/null 2>&1; then
  run $another "$berth" jobs
  expect 'who may not enter the state folder is told that, and not that nothing runs' 3 '' \
    "berth: $work/state/customer/customer.sock: access denied: the state folder belongs to another user"
  run $another "$berth" status
  expect 'also of the matchmaker' 3 '' "berth: $work/state/matchmaker.sock: access denied: the state folder belongs to another user"
fi
chmod 700 "$work/state"
kill "$pids" && wait "$pids"
pids=

# ------------------------------------------------------------------------------------------------------ a long HOME, and [::]

part=a-folder-with-a-name-of-forty-characters
long=$work/$part/$part/$part
mkdir -p "$long"
unset BERTH_STATE XDG_CONFIG_HOME
export HOME="$long" XDG_STATE_HOME="$long/.local/state" # as it is for others than root
everywhere='[::]:0'
[ -e /proc/net/if_inet6 ] && [ -s /proc/net/if_inet6 ] || everywhere=0.0.0.0:0
: >up # or what the one before has said is read
"$berth" pool --listen "$everywhere" >up 2>pool.err </dev/null &
pids=$!
holds 'a pool is up beneath a HOME whose sockets have longer paths than the kernel takes' soon grep -q 'To end it' up
holds 'without a complaint' sh -c '! grep . pool.err'
url=$(sed -n 's/^Berth pool is up: //p' up)
holds 'that listens on all addresses is called by its name' expr "$url" : "https://[^][]*:[1-9][0-9]*\$"
run "$berth" run -q -- echo fine
expect 'jobs run there' 0 fine
run "$berth" status
holds 'the pool answers' [ "$status" = 0 ]
port=${url##*:}
for address in 127.0.0.1 $([ "$everywhere" = '[::]:0' ] && echo '[::1]'); do
  run curl -skS -o /dev/null -w '%{http_code}' "https://$address:$port/healthz"
  holds "at $address too" grep -qx 200 out
done
code=$(sed -n 's/^Another machine: *berth join //p' up)
holds 'and prints a code for other machines' expr "$code" : 'berth-'
kill "$pids" && wait "$pids"
pids=

# ------------------------------------------------------------------------------------------------- a provider that does not start

export HOME="$work/home" BERTH_STATE="$work/halved"
mkdir -m 700 halved && mkdir -m 755 halved/provider
: >up # or what the one before has said is read
"$berth" pool --listen 127.0.0.1:0 >up 2>pool.err </dev/null &
pids=$!
soon grep -q 'To end it' up
holds 'a pool whose provider does not start says that it is up but for it' grep -q '^Berth pool is up, but for its provider: http' up
holds 'and why, in the words of the provider' grep -q "^  provider  *did not start: $work/halved/provider: others may enter the folder" up
holds 'as it does when it happens' grep -q "^berth: the provider does not start: $work/halved/provider: others may" pool.err
kill "$pids" && wait "$pids"
pids=

# ------------------------------------------------------------------------------------------ a disk on which nothing is executed

mkdir inert
if unshare -m mount -t tmpfs -o noexec none inert 2>/dev/null; then
  : >up # or what the one before has said is read
  unshare -m sh -c "mount -t tmpfs -o noexec,mode=700 none inert && exec '$berth' pool --state '$work/inert/state' --listen 127.0.0.1:0" >up 2>pool.err </dev/null &
  pids=$!
  soon grep -q 'To end it' up
  url=$(sed -n 's/^Berth pool is up: //p' up)
  printf '#!/bin/sh\necho fine\n' >program && chmod +x program
  # its socket is on that disk, which we reach through the pool's process
  run "$berth" run -q --state "/proc/$pids/root$work/inert/state" ./program
  expect 'a program that cannot be executed has the status that shells have for it, and it is told why' 126 '' \
    "berth: ./program: './program' could not be started: Permission denied (jobs have their folders there on a disk that is mounted noexec: State names another)"
  run "$berth" run -q --state "/proc/$pids/root$work/inert/state" -- echo fine
  expect 'programs of the machine run there' 0 fine
  kill "$pids" && wait "$pids"
  pids=
fi

# ------------------------------------------------------------------------------------------------- a name of 64 characters

name=a234567890123456789012345678901234567890123456789012345678901234
if unshare -u true 2>/dev/null; then alone='unshare -u'; else alone='unshare -Uru'; fi
# shellcheck disable=SC2086 # words
if $alone hostname $name 2>/dev/null; then
  : >up # or what the one before has said is read
  $alone sh -c "hostname $name && exec '$berth' pool --state '$work/named' --listen 0.0.0.0:0 --set Unprotected=true" >up 2>pool.err </dev/null &
  pids=$!
  holds 'a machine may have the longest name that there is' soon grep -q 'To end it' up
  url=$(sed -n 's/^Berth pool is up: //p' up)
  holds 'an address stands for a name that a URL cannot have' expr "$url" : 'https://\([0-9.]*\|localhost\):[1-9]'
  run curl -skS -o /dev/null -w '%{http_code}' "$url/healthz"
  holds 'by which the pool answers' grep -qx 200 out
  run "$berth" run -q --state "$work/named" -- echo fine
  expect 'jobs run on it' 0 fine
  kill "$pids" && wait "$pids"
  pids=
fi

# ------------------------------------------------------------------------------------------------------- root that is none

# lone HOW AS [SETTING...]: a pool that the words AS start runs a job, which makes a file.
lone() {
  how=$1
  as=$2
  shift 2
  : >up
  rm -rf "$work/lone"
  mkdir "$work/lone"
  [ "${as##*/}" != contained.py ] || chown 100000:100000 "$work/lone"
  # shellcheck disable=SC2086 # words
  $as "$berth" pool --state "$work/lone/state" --listen 127.0.0.1:0 "$@" >up 2>pool.err </dev/null &
  pids=$!
  holds "a pool is up $how" soon grep -q 'To end it' up
  # shellcheck disable=SC2086 # words
  run sh -c 'cd lone && exec "$@"' sh $as "$berth" run -q --state "$work/lone/state" -o made -- sh -c 'id -u >made && echo fine'
  expect "jobs run $how" 0 fine
  holds "and make files $how" test -s lone/made
  kill "$pids" && wait "$pids"
  pids=
}
# lones WHERE AS: the same without protection, and in a sandbox where one can be had.
lones() {
  $2 true 2>/dev/null || return 0
  lone "without protection where $1" "$2" --set Unprotected=true
  $2 bwrap --unshare-user --unshare-pid --uid 1000 --gid 1000 --ro-bind / / --proc /proc --dev /dev true 2>/dev/null &&
    lone "where $1" "$2"
}
lones 'root is the only user that there is' 'unshare -Ur'
if [ "$(id -u)" = 0 ]; then
  lones 'root is that of a container' "$BERTH_SOURCE/tests/live/contained.py"
  lones 'root may not mount' 'setpriv --bounding-set -sys_admin --inh-caps -sys_admin'
  lones 'root may do no more than others' 'setpriv --bounding-set -all --inh-caps -all'
fi

echo "1..$count"
[ $failures -eq 0 ]
