#!/bin/sh
# network_live_test.sh: what a job reaches that may use the network. The machine is a network namespace with a cable to another one. Prints TAP.
#
#     far    10.A.B.2 ---- 10.A.B.1, 169.254.169.254 and loopback    the machine
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
. "$BERTH_SOURCE/tests/common/spaces.sh"
machine=bj$tag.m
far=bj$tag.f
network_make() {
  spaces_open && space_make "$machine" 1 && space_make "$far" 2 && ip -n "$machine" addr add 169.254.169.254/32 dev lo &&
    ip -n "$machine" route add default via "$net.2"
}
trap 'spaces_end; ends' EXIT
why=
command -v slirp4netns >/dev/null || why='no slirp4netns'
[ -z "$why" ] && ! network_make >network 2>&1 && why='needs root and ip netns'
if [ -n "$why" ]; then
  echo "1..0 # SKIP $why"
  exit 0
fi
chmod 755 "$work"
peer=$BERTH_SOURCE/tests/live/network_peer.py
cp "$peer" peer.py && chmod 644 peer.py
# on COMMAND...: on the machine, which asks for names at its own loopback, as many do.
echo 'nameserver 127.0.0.1' >resolv.conf
cat >on <<END
#!/bin/sh
exec ip netns exec $machine unshare -m sh -c 'mount --bind $work/resolv.conf /etc/resolv.conf && mount -t tmpfs none /dev/net && mknod -m \$TUN /dev/net/tun c 10 200 && exec "\$@"' sh "\$@"
END
chmod +x on
export TUN=600
ip netns exec "$machine" python3 peer.py serve 127.0.0.1:7001 169.254.169.254:7002 "$net.1:7003" '[::1]:7004' >machine.up 2>&1 &
pids="$pids $!"
ip netns exec "$machine" python3 peer.py names "$net.2" >names.up 2>&1 &
pids="$pids $!"
ip netns exec "$far" python3 peer.py serve "$net.2:7005" >far.up 2>&1 &
pids="$pids $!"
soon sh -c 'cat machine.up names.up far.up | grep -c up | grep -qx 3'
addresses="127.0.0.1:7001 169.254.169.254:7002 192.0.2.2:7001 192.0.2.3:7001 0.0.0.0:7001 [::1]:7004 [::ffff:127.0.0.1]:7001 $net.1:7003 $net.2:7005 far.example:7005"
outside="127.0.0.1:7001 no
169.254.169.254:7002 no
192.0.2.2:7001 no
192.0.2.3:7001 no
0.0.0.0:7001 no
[::1]:7004 no
[::ffff:127.0.0.1]:7001 no
$net.1:7003 yes
$net.2:7005 yes
far.example:7005 yes"
# shellcheck disable=SC2086 # words
run ./on python3 peer.py try 127.0.0.1:7001 169.254.169.254:7002 '[::1]:7004' far.example:7005
expect 'the machine itself reaches its loopback, and what has a link-local address' 0 '127.0.0.1:7001 yes
169.254.169.254:7002 yes
[::1]:7004 yes
far.example:7005 yes'

# pool HOW [SETTING...]: a pool on the machine, by the words HOW.
pool() {
  how=$1
  shift
  : >up
  state=$work/pool
  [ $TUN = 600 ] || state=$work/other/pool
  log=$state/log/provider.log
  # shellcheck disable=SC2086 # words
  ./on $how "$berth" pool --state "$state" --listen 127.0.0.1:0 "$@" >up 2>pool.err </dev/null &
  pool=$!
  pids="$pids $pool"
  soon grep -q 'To end it' up
}
pool_end() {
  kill "$pool" && wait "$pool"
  rm -rf "$state"
}
# job WHO [WORD...]: what a job of one process reaches, as those are asked whom the words are for.
job() {
  # shellcheck disable=SC2086 # words
  run $1 "$berth" run -q --state "$state" -m 128MiB --disk 16MiB --network -i peer.py -- python3 peer.py try $2
}

# ------------------------------------------------------------------------------------------------------- a network of its own

# submit AD: `job` is the number of the first that it makes.
submit() {
  printf '%s' "$1" >job.ad && chmod 644 job.ad
  # shellcheck disable=SC2086 # words
  job=$($as "$berth" submit --state "$state" job.ad | sed -n 's/.*submitted: //p')
  first=${job%%-*}
}
small='RequestMemory = 64M; RequestDisk = 16M; Network = true'
# leaders: how many programs lead out of jobs' networks here.
leaders() { for pid in $(ip netns pids "$machine"); do cat "/proc/$pid/comm" 2>/dev/null; done | grep -c '^slirp4netns$'; }
one_leads() { [ "$(leaders)" = 1 ]; }
call='
import socket, sys
for address in ("127.0.0.1", 7001), (sys.argv[1], 7005):
    try:
        print(socket.create_connection(address, 5).recv(16))
    except OSError as error:
        print(error)'
none_leads() { [ "$(leaders)" = 0 ]; }
for user in other root; do
  as=
  TUN=600 # as root nobody else needs that device
  if [ $user = other ]; then
    TUN=666
    as='setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent'
    # shellcheck disable=SC2086 # words
    if ! $as "$berth" --version >/dev/null 2>&1; then
      echo '# as an ordinary user: the program is not open to it'
      continue
    fi
    mkdir -m 700 other && chown 65534 other
  fi
  holds "$user: a pool is up" pool "$as"
  holds "$user: and says that jobs have a network of their own" soon grep -q 'jobs are held by .*, slirp4netns' "$log"
  job "$as" "$addresses"
  expect "$user: a job reaches the network and the machine's addresses in it, but neither loopback nor link-local ones" 0 "$outside"
  holds "$user: when it is over, nobody leads out any more" soon none_leads
  submit "[ Cmd = \"sleep\"; Args = \"60\"; $small ]"
  holds "$user: one program leads out of a job that runs" soon one_leads
  # shellcheck disable=SC2086 # words
  run $as "$berth" exec --state "$state" "$job" -- python3 -c "$call" "$net.2"
  expect "$user: a command beside it is in the same network" 0 "[Errno 111] Connection refused
b'here\n'"
  # shellcheck disable=SC2086 # words
  $as "$berth" rm --state "$state" "$job" >out 2>err
  holds "$user: with the job that program ends" soon none_leads
  [ $user = root ] || pool_end
done

# A claim's later jobs, which have a copy of its furnished sandbox, are kept out as well.
cat >two.ad <<END
[ Cmd = "python3"; Args = split("peer.py try $addresses", " "); Inputs = { "peer.py" }; Outputs = {}; Network = true; Count = 3;
  RequestCpus = $(nproc); RequestMemory = 128M; RequestDisk = 16M ]
END
submit "$(cat two.ad)"
"$berth" wait --state "$state" "$job" >wait.out 2>&1
run sh -c 'for number in 0 1 2; do "$1" logs --state "$2" $(($3 + number)); done' sh "$berth" "$state" "$first"
expect 'later jobs of a claim are kept out as well' 0 "$outside
$outside
$outside"
run "$berth" run -q --state "$state" -m 64MiB --disk 16MiB --network -- sh -c 'cat /etc/resolv.conf; ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev; grep -q "^CapEff:.*0000000000000000$" /proc/self/status && echo nothing'
expect 'in its network are its own loopback, and one way out; it may change nothing' 0 'nameserver 192.0.2.3
2
nothing'
# --------------------------------------------------------------------------------------------------------- what the owner says

networks() { listed "ads --state $state -c Type==\"Machine\"" "[(row['JobNetwork'], row['ProcessesNetwork']) for row in rows] == [('$1', '$2')]"; }
holds 'the ad of the machine says in which network jobs are' soon networks own none
# refused AD: no machine takes it, and why is told.
refused() {
  printf '%s' "$1" >job.ad
  "$berth" submit --state "$state" job.ad 2>&1 | grep 'Connects  (Network = true, '
}
holds 'a parallel job, whose processes would call each other, is not taken, and why is told' refused "[ Cmd = \"true\"; Processes = 2; $small ]"
pool_end
holds 'an owner can say that all jobs are in the network of the machine' pool '' --set JobNetwork=machine
holds 'and the ad says so, too' soon networks machine machine
job '' "127.0.0.1:7001 169.254.169.254:7002"
expect 'then they reach what any user of the machine does' 0 '127.0.0.1:7001 yes
169.254.169.254:7002 yes'
run "$berth" run -q --state "$state" -m 64MiB --disk 16MiB --processes 2 --network -i peer.py -- python3 peer.py try 127.0.0.1:7001 169.254.169.254:7002
sort -u out >sorted && mv sorted out # the second is ended with the first
expect 'and so do the processes of a parallel job' 0 '127.0.0.1:7001 yes
169.254.169.254:7002 yes'
pool_end

# ------------------------------------------------------------------------------------------------------- without the program

without='unshare -m sh -c "mount --bind /dev/null '$(command -v slirp4netns)' && exec \"\$@\"" sh'
echo "exec $without \"\$@\"" >without
holds 'where the program is not there, a pool is up' pool "sh $work/without"
holds 'and says in which network jobs are, and why' \
  soon grep -q "; jobs with the network are in the machine's own (slirp4netns is not installed)" "$log"
pool_end
holds 'where the owner would have none in that' pool "sh $work/without" --set JobNetwork=own
holds 'it says that none are taken' soon grep -q '; jobs with the network are not taken (slirp4netns is not installed)' "$log"
holds 'so it is, and why is told' refused "[ Cmd = \"true\"; $small ]"
run "$berth" run -q --state "$state" -m 64MiB --disk 16MiB -- echo fine
expect 'and others run' 0 fine
pool_end

echo "1..$count"
[ $failures -eq 0 ]
