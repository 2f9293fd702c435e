# live.sh: what scripts with real processes have in common, to be read by bash in a script that prints TAP: a folder of its own, $work, in which
# it goes on; sessions of processes, in $groups, that end with it; and checks, of which $count were made and $failures failed.
unset BERTH_POOL BERTH_CONFIG BERTH_STATE BERTH_TOKEN BEARER_TOKEN BEARER_TOKEN_FILE
work=$(mktemp -d) || exit 1
groups=''
clean() {
  for group in $groups; do kill -TERM -- "-$group" 2>/dev/null; done
  for _ in $(seq 30); do
    alive=''
    for group in $groups; do kill -0 -- "-$group" 2>/dev/null && alive=$group; done
    [ -n "$alive" ] || break
    sleep 0.1
  done
  for group in $groups; do kill -KILL -- "-$group" 2>/dev/null; done
  wait 2>/dev/null
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
count=0 failures=0

# steady_port: prints a port that is free, and not among those that the kernel gives to whoever asks for any: nobody takes it while the matchmaker that
# has it is down.
steady_port() {
  local port
  for _ in $(seq 50); do
    port=$((20000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo $port
}

# need PROGRAM...: without them the script is skipped.
need() {
  for tool; do
    command -v "$tool" >/dev/null || { echo "1..0 # SKIP $tool is not here" && exit; }
  done
}

# check SENTENCE COMMAND...: the command succeeds.
check() {
  count=$((count + 1))
  if "${@:2}" >why 2>&1; then
    echo "ok $count - $1"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    tail -n 20 why ./*.err | sed 's/^/# /'
  fi
}
