# says.sh: what the tests of commands that talk to a pool have in common: a folder of their own, an environment with nothing of the
# caller's, and what a command says is compared. To be read by such a script: it works in $work then; what it starts it adds to $pids.
export LC_ALL=C NO_COLOR=1
unset TERM
for name in $(env | sed -n 's/^\(BERTH_[A-Z_]*\)=.*/\1/p'); do # nothing of the caller's pool
  [ "$name" = BERTH_SOURCE ] || unset "$name"
done
work=$(mktemp -d) || exit 1
export HOME="$work/home" XDG_CONFIG_HOME="$work/config" BERTH_STATE="$work/state"
pids=
# ends: all that was started, by id, and what was written.
ends() {
  for pid in $pids; do kill "$pid" 2>/dev/null; done
  for pid in $pids; do wait "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap ends EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
mkdir -p home config/berth && mkdir -m 700 state
. "${BERTH_SOURCE:?the sources}/tests/common/tap.sh"

# says SENTENCE STATUS OUT ERR: lines of `out` and `err`, one after another, match these patterns (of case), one a line.
says() {
  if [ "$status" = "$2" ] && follows out "$3" && follows err "$4"; then
    result 0 "$1"
  else
    { echo "status $status, expected $2"; sed 's/^/out: /' out; sed 's/^/err: /' err; } >why
    result 1 "$1"
  fi
}
follows() { # FILE PATTERNS
  printf '%s' "$2${2:+
}" >patterns
  while IFS= read -r pattern; do
    IFS= read -r line <&3 || return 1
    # shellcheck disable=SC2254 # it is a pattern
    case $line in $pattern) ;; *) return 1 ;; esac
  done 3<"$1" <patterns
  [ "$(wc -l <patterns)" = "$(wc -l <"$1")" ]
}

# json SENTENCE STATUS FILTER: each line of `out` is JSON; FILTER is Python over `rows`, the list of objects.
json() {
  if [ "$status" = "$2" ] && python3 -c '
import json, sys
rows = [json.loads(line) for line in open("out")]
assert eval(sys.argv[1]), rows' "$3" >why 2>&1; then
    result 0 "$1"
  else
    { echo "status $status, expected $2"; cat out err; } >>why
    result 1 "$1"
  fi
}

# soon COMMAND...: it succeeds within thirty seconds.
soon() {
  until=$(($(date +%s) + 30))
  while [ "$(date +%s)" -lt $until ]; do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  "$@"
}
# listed WORDS FILTER: what `berth WORDS --json` prints is true of it; Python over `rows`, a list of objects.
listed() {
  # shellcheck disable=SC2086 # words
  timeout 20 "$berth" $1 --json >list || return
  python3 -c '
import json, sys
rows = [json.loads(line) for line in open("list")]
assert eval(sys.argv[1]), rows' "$2"
}

# serve: a pool of $berth, its process in $pool; it is begun again if one that was killed has not quite gone.
serve() {
  for _ in 1 2 3; do
    : >pool.up
    setsid "$berth" pool --listen 127.0.0.1:0 >pool.up 2>>pool.err &
    pool=$!
    pids="$pids $pool"
    begun() { grep -q 'is up' pool.up || ! kill -0 "$pool"; }
    soon begun
    grep -q 'is up' pool.up && return
    tail -n 3 pool.err
  done
  return 1
}
