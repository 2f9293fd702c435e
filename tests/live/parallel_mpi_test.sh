#!/bin/sh
# parallel_mpi_test.sh: OpenMPI in a parallel job, on machines that are network namespaces: mpirun comes to the others by `berth exec`. Prints TAP.
#
#     root namespace:  bridge 10.A.B.1     matchmaker, customer
#     others           10.A.B.11 to .13    heron, crane, tern
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
. "$BERTH_SOURCE/tests/common/spaces.sh"
cases=8
machines='heron crane tern'
network_make() {
  spaces_open && ip addr add "$net.1/24" dev "$bridge" || return
  number=11
  for name in $machines; do
    space_make "bj$tag.$name" $number || return
    number=$((number + 1))
  done
}
skip() {
  for number in $(seq $cases); do echo "ok $number # SKIP $1"; done
  echo "1..$cases"
  exit 0
}
command -v mpirun >/dev/null || skip 'OpenMPI is not here: ./dev soak installs it'
trap 'spaces_end; ends' EXIT
network_make >network 2>&1 || skip 'needs root and ip netns'
soon() {
  until=$(($(date +%s) + 60))
  while [ "$(date +%s)" -lt $until ]; do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  "$@"
}
export BERTH_WINDOW=5 BERTH_PIN=5 BERTH_LEASE=10 BERTH_DEADLINE=4 BERTH_LIFETIME=12 BERTH_RETRY=0.1 BERTH_GRACE=0.5
"$berth" matchmaker --listen "$net.1:0" >up 2>matchmaker.err &
pids="$pids $!"
soon grep -q 'listening at  unix' up
mkdir -m 700 state/customer
"$berth" token create --scope 'ad:read ad:write claim job:submit job:own job:any' -o state/customer/token >/dev/null
"$berth" customer >customer.up 2>customer.err &
pids="$pids $!"
holds 'a customer is up' soon grep -q 'Berth customer is up' customer.up
echo '[ Cpus = 2 ]' >owner.ad
for name in $machines; do
  echo "[ AgentName = \"$name\"; Networks = { \"10.0.0.0/8\" }; JobNetwork = \"machine\"; OwnerPolicy = \"$work/owner.ad\" ]" >"$name.ad"
  "$berth" token code >"$name.code"
  timeout 60 ip netns exec "bj$tag.$name" "$berth" join --only --name "$name" --config "$name.ad" --state "$work/$name" - <"$name.code" >"$name.out" 2>"$name.err"
  ip netns exec "bj$tag.$name" "$berth" provider --config "$name.ad" --state "$work/$name" >>"$name.out" 2>>"$name.err" &
  pids="$pids $!"
done
holds 'three machines offer themselves' soon listed 'ads --kind offers' 'len(rows) == 3'

cp -p "$BERTH_SOURCE/examples/jobs/mpi.sh" "$BERTH_SOURCE/examples/jobs/mpi-rsh" "$BERTH_SOURCE/examples/jobs/ring.py" "$berth" .
# mpi N OPTION...: so many processes of MPI.
mpi() {
  processes=$1
  shift
  timeout 100 "$berth" run -m 256MiB --disk 256MiB --processes "$processes" --network -e BERTH=/job/berth -i mpi.sh -i mpi-rsh -i ring.py -i berth "$@" -- \
    sh mpi.sh python3 ring.py </dev/null >out 2>err
  status=$?
  sort out >sorted
}
mpi 3 --processes-on spread --processes-exec
holds 'three processes of MPI, each on another machine, add their numbers' sh -c "[ $status = 0 ] && seq 0 2 | sed 's/.*/rank & of 3: the sum is 3/' | cmp - sorted"
[ "$status" = 0 ] || sed 's/^/# /' err out
mpi 6 --processes-exec
holds 'and six on three machines' sh -c "[ $status = 0 ] && seq 0 5 | sed 's/.*/rank & of 6: the sum is 15/' | cmp - sorted"
holds 'which the audit of the machines tells' sh -c "cat heron.err crane.err tern.err | grep -q 'audit.exec .*program=sh'"
mpi 3 --processes-on spread
holds 'a job that has not said so has no way to its other processes' [ "$status" != 0 ]
holds 'and is told' sh -c "cat err out | grep -q 'BERTH_BESIDE\|wants the number of a job\|customer\|ORTE'"
holds 'nothing is left' soon listed 'ads --kind offers' "len(rows) == 3 and all(row['Cpus'] == 2 for row in rows)"
echo "1..$count"
[ $failures = 0 ]
