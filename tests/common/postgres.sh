# postgres.sh: a PostgreSQL server of a script's own, behind live.sh: in the folder $database, reached by its socket alone, as another user where the script
# is root. $store is its address. It ends with the script.
programs=/usr/lib/postgresql/15/bin
[ -x "$programs/initdb" ] || programs=$(dirname "$(command -v initdb)" 2>/dev/null)
[ -x "$programs/initdb" ] || { echo '1..0 # SKIP PostgreSQL is not here' && exit; }
database=$(mktemp -d /tmp/berth-postgres-XXXXXX) || exit 1
store="postgresql://berth@/postgres?host=$database"
trap 'clean; rm -rf "$database"' EXIT
as_postgres() {
  if [ "$(id -u)" = 0 ]; then set -- setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; fi
  (cd "$database" && exec "$@")
}
database_make() {
  [ "$(id -u)" != 0 ] || chown postgres:postgres "$database"
  as_postgres "$programs/initdb" -D data -U berth -A trust -E UTF8 --locale=C --no-sync --no-instructions >database.err 2>&1
}
# ask SQL: its answer.
ask_database() { "$programs/psql" -h "$database" -U berth -d postgres -X -A -t -q -c "$1"; }
database_start() {
  as_postgres setsid "$programs/postgres" -D data -F -k "$database" -c listen_addresses= -c shared_buffers=8MB -c max_connections=40 \
    -c autovacuum=off -c wal_level=minimal -c max_wal_senders=0 >>database.err 2>&1 &
  disown
  for _ in $(seq 600); do ask_database 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
  database_pid=$(head -1 "$database/data/postmaster.pid") && groups="$groups $database_pid"
}
# As if its host had lost power.
database_crash() { kill -QUIT "$database_pid" && for _ in $(seq 300); do kill -0 "$database_pid" 2>/dev/null || break; sleep 0.1; done; }
