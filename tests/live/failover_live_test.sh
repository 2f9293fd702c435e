#!/bin/bash
# failover_live_test.sh: a pool whose rows are in a PostgreSQL that has a standby of its own. The standby is promoted, with all that was acknowledged and without it;
# the pool is cut off from it for a minute; its disk gets full. For `./dev soak`: it takes five minutes. Prints TAP.
set -u
berth=${BERTH:?the program}
[ "${FAILOVER_MOUNTS-}" ] || [ "$(id -u)" != 0 ] || FAILOVER_MOUNTS=1 exec unshare -m "$0" "$@"
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid setpriv python3
. "$BERTH_SOURCE/tests/common/postgres.sh"
trap 'clean; umount -l "$database/one.data" 2>/dev/null; rm -rf "$database"' EXIT
umask 077
soon() { for _ in $(seq $((failures ? 100 : 900))); do "$@" && return; sleep 0.1; done; return 1; }
start() {
  setsid "${@:2}" >>"$1.up" 2>>"$1.err" &
  groups="$groups $!"
  disown
}
# As systemd does: what ends by itself is started again.
keep() { start "$1" bash -c 'until "${@:2}" & echo $! >"$1.pid"; wait $!; do sleep 0.5; done' keep "$@"; }

# ---- two servers, one of which is the other's standby
ask() { "$programs/psql" -h "$database/$1" -U berth -d postgres -X -A -t -q -c "$2"; }
serves() { ask "$1" 'SELECT 1' >/dev/null 2>&1; }
# server NAME [OPTION...]: starts it.
server() {
  as_postgres mkdir -p "$database/$1"
  as_postgres setsid "$programs/postgres" -D "$1.data" -k "$database/$1" -c listen_addresses= -c shared_buffers=8MB -c max_connections=40 -c max_wal_size=64MB \
    -c hot_standby=on "${@:2}" >>database.err 2>&1 &
  disown
  soon serves "$1" && groups="$groups $(head -1 "$database/$1.data/postmaster.pid")"
}
dies() { local pid; pid=$(head -1 "$database/$1.data/postmaster.pid") && kill -QUIT "$pid" && for _ in $(seq 300); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done; }
# follows ONE OTHER: the one becomes a standby of the other.
follows() { rm -rf "$database/$1.data" && as_postgres "$programs/pg_basebackup" -h "$database/$2" -U berth -D "$1.data" -R -c fast >>database.err 2>&1 && server "$1"; }
streams() { [ "$(ask "$1" "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")" = 1 ]; }
promoted() { ask "$1" 'SELECT pg_promote(true, 30)' | grep -qx t; }

# ---- the pool
# way MODE: how the customer reaches its database from now on (database_proxy.py).
way() { echo "$1" >mode.new && mv mode.new mode; }
proxy() { mkdir way && way open && start proxy python3 "$BERTH_SOURCE/tests/live/database_proxy.py" "$work/way/.s.PGSQL.5432" "$database/$1/.s.PGSQL.5432" mode && soon [ -S way/.s.PGSQL.5432 ]; }
both="postgresql://berth@/postgres?host=$database/one,$database/two&target_session_attrs=read-write"
customer() { : >alice.up; keep alice "$berth" customer --state "$work/alice" --set AgentName=submit --set "Store=$1" "${near[@]}" && soon grep -q 'is up' alice.up; }
token() { "$berth" token create --state "$work/pool" --subject "$1" --scope "$2" --lifetime 1d --out "$3"; }
near=(--set 'Networks={ "127.0.0.0/8" }')
export BERTH_CUSTOMER="unix:$work/alice/customer/customer.sock"
echo '[ Cpus = 8 ]' >owner.ad
disk() { [ "$(id -u)" != 0 ] || { chmod 711 "$database" && mount -t tmpfs -o size=400m,mode=700,uid="$(id -u postgres)" tmpfs "$database/one.data"; }; }
up() {
  [ "$(id -u)" != 0 ] || chown postgres:postgres "$database"
  as_postgres mkdir -m 700 one.data && disk &&
    as_postgres "$programs/initdb" -D one.data -U berth -A trust -E UTF8 --locale=C --no-sync --no-instructions >database.err 2>&1 &&
    server one && follows two one && as_postgres sh -c "echo \"synchronous_standby_names = '*'\" >>one.data/postgresql.auto.conf" && ask one 'SELECT pg_reload_conf()' >/dev/null && soon streams one &&
    keep pool "$berth" matchmaker --listen "127.0.0.1:$(steady_port)" --state "$work/pool" --set "Store=$both" "${near[@]}" && soon grep -q 'listening at  unix' pool.up &&
    mkdir -p alice/customer heron/provider && token alice 'ad:read ad:write claim match job:submit job:own job:any' alice/customer/token && token machine/heron 'ad:read ad:write claim match' heron/provider/token &&
    customer "$both" &&
    keep heron "$berth" provider --state "$work/heron" --set AgentName=heron --set Unprotected=true --set OwnerPolicy="$work/owner.ad" "${near[@]}" && soon grep -q 'is up' heron.err
}
check 'a pool comes up whose database has a synchronous standby' up
# job COMMAND [MORE]: submits it; its number is in $job. Nothing when it was not taken.
job() {
  echo "[ Cmd = \"sh\"; Args = { \"-c\", \"$1\" }; Outputs = {}; RequestMemory = 32M; RequestDisk = 1M; RequestCpus = 1; Constraint = other.Type == \"Machine\"; ${2-} ]" >job.ad
  job=$(timeout 60 "$berth" submit --force job.ad 2>submit.err | sed -n 's/.*: \([0-9]*\)$/\1/p') && [ -n "$job" ]
}
ended() { [ "$("$berth" history --json -c "Job == $1 && State == \"Cleared\" && Status == 0${2-}" 2>/dev/null | grep -c .)" = 1 ]; }
once() { ended "$1" ' && Tries == 1'; }
begun() { grep -q " event=job.start .* job=$1\$" heron.err; }
runs() { soon job true && soon once "$job"; }
check 'a job runs' runs
within() {
  local began=$SECONDS
  "${@:2}" || return
  echo "# after $((SECONDS - began)) s" >took
  [ $((SECONDS - began)) -le "$1" ]
}
starts() { grep -c 'event=started' "$1.err"; }

# ---- the standby is promoted, and has all
check 'a job runs when the database dies' eval "job 'sleep 15' && soon begun \$job"
running=$job
check 'and one more was acknowledged' job true
last=$job
customers=$(starts alice)
fails() { dies one && sleep 2 && promoted two; }
check 'its server dies, and the standby is promoted 2 seconds later' fails
check 'within 15 seconds a job that is submitted then has ended' within 15 runs
cat took
check 'the one that was acknowledged right before has ended' soon once "$last"
check 'the one that ran has ended, with one try' soon once "$running"
check 'neither customer nor matchmaker has been started again' eval '[ "$(starts alice)" = "$customers" ] && [ "$(starts pool)" = 1 ]'

# ---- the standby is promoted, and has not all
check 'the other server becomes a standby, for which nobody waits' eval '{ umount "$database/one.data" 2>/dev/null; as_postgres mkdir -p -m 700 one.data && disk; true; } && find "$database/one.data" -mindepth 1 -delete && as_postgres "$programs/pg_basebackup" -h "$database/two" -U berth -D one.data -R -c fast >>database.err 2>&1 && server one && soon streams two'
check 'a job runs' runs
before=$job
behind() { ask one "ALTER SYSTEM SET primary_conninfo = ''" && ask one 'SELECT pg_reload_conf()' >/dev/null && soon alone; }
alone() { ! streams two; }
check 'it falls behind: it hears no more' behind
check 'jobs are acknowledged that it does not hear of' eval 'job true && job true && job true'
loses() { dies two && promoted one && soon grep -q 'the database has lost what it had acknowledged' alice.err; }
check 'when it is promoted the customer says that the database has lost what it had acknowledged, and ends' loses
check 'started again it goes on: a job runs' runs
check 'with a number that was not given before' [ "$job" -gt $((before + 3)) ]
check 'what was there is there' once "$before"

# ---- cut off for a minute
again() { kill -TERM "$(cat alice.pid)" && proxy one && customer "postgresql://berth@/postgres?host=$work/way"; }
check 'the customer is started again, with a way to its database that can be cut' again
check 'a job runs when the customer is cut off' eval "job 'sleep 20' && soon begun \$job"
running=$job
cut() { way cut && sleep 50 && "$berth" jobs >jobs.out && way open; }
check 'for 50 seconds; it tells of its jobs all the while' cut
check 'within 15 seconds a job that is submitted then has ended' within 15 runs
cat took
check 'the one that ran has ended, with one try' soon once "$running"
check 'a job runs when it is cut off for 90 seconds, which is longer than the lease of a job' eval "job 'sleep 100' && soon begun \$job"
running=$job
way cut; sleep 90; way open
check 'within 15 seconds a job that is submitted then has ended' within 15 runs
cat took
again() { soon ended "$running" && [ "$(grep -c " event=job.start .* job=$running\$" heron.err)" = 2 ]; }
check 'the one that ran has been run again, and has ended' again

# ---- its disk is full
if [ "$(id -u)" = 0 ]; then
  check 'a job runs when the disk of the database is filled' eval "job 'sleep 10' && soon begun \$job"
  running=$job
  fill() { as_postgres dd if=/dev/zero of=one.data/filler bs=8k 2>/dev/null; [ "$(df --output=avail "$database/one.data" | tail -1)" -lt 64 ]; }
  check 'it is full' fill
  letters=$(head -c 300000 /dev/urandom | base64 -w0)
  refused() { ! timeout 20 "$berth" submit --force large.ad >large.out 2>&1; }
  full() { printf '[ Cmd = "true"; Outputs = {}; RequestMemory = 32M; RequestDisk = 1M; Note = "%s" ]' "$letters" >large.ad && refused && soon grep -q 'event=store.away' alice.err; }
  check 'what has no room is not acknowledged, and the customer says that its store is away' full
  check 'with room again a job that is submitted ends within 20 seconds' eval 'rm "$database/one.data/filler"; within 20 runs'
  cat took
  check 'the one that ran has ended, with one try' soon once "$running"
else
  check 'the disk of the database is full # SKIP only root can mount a small one' true
fi
numbers() { [ "$("$berth" history --json | grep -o '"Job": *[0-9]*' | sort | uniq -d | wc -l)" = 0 ]; }
check 'no number was given twice' numbers
echo "1..$count"
exit $((failures > 0))
