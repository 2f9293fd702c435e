# spaces.sh: machines of a test: network namespaces, each with a cable to one bridge. To be read by a script that needs root; it calls
# spaces_end when it is over.
#
#     spaces_open         finds a network that nobody here uses ($net, as 10.64.1) and makes the bridge $bridge; false when it cannot
#     space_make S HOST   the namespace S has the address $net.HOST; its cable is S on this side, and eth0 on the other
tag=$(od -An -N2 -tx2 /dev/urandom | tr -d ' ')
bridge=bj$tag # names of devices have at most 15 bytes
spaces=

# Whatever still runs in there ends by its id.
spaces_end() {
  for space in $spaces; do
    for pid in $(ip netns pids "$space" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null; done
    ip link del "$space" 2>/dev/null # a copy of the namespace may live on in a sandbox of somebody else
    ip netns del "$space" 2>/dev/null
  done
  ip link del "$bridge" 2>/dev/null
}

net_find() {
  for _ in 1 2 3 4 5 6 7 8; do
    net=$(od -An -N2 -tu1 /dev/urandom | awk '{ print "10." 64 + $1 % 128 "." $2 }')
    { ip -4 -o addr; ip -4 route; } | grep -qF " $net." || return 0
  done
  return 1
}

spaces_open() {
  [ "$(id -u)" = 0 ] && command -v ip && net_find && ip link add "$bridge" type bridge && ip link set "$bridge" up
}

space_make() {
  spaces="$spaces $1"
  ip netns add "$1" && ip link add "$1" type veth peer name eth0 netns "$1" && ip link set "$1" master "$bridge" up &&
    ip -n "$1" addr add "$net.$2/24" dev eth0 && ip -n "$1" link set eth0 up && ip -n "$1" link set lo up
}
