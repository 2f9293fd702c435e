# tap.sh: what scripts that test a command have in common: they run it, and tell in TAP whether it said what it should. To be read by such a
# script, in a folder of its own; it ends with the plan, of $count tests, $failures of which failed.
count=0 failures=0

# result STATUS SENTENCE: 0 is ok; what is in `why` is told when it is not.
result() {
  count=$((count + 1))
  if [ "$1" = 0 ]; then
    printf 'ok %d - %s\n' $count "$2"
  else
    failures=$((failures + 1))
    printf 'not ok %d - %s\n' $count "$2"
    head -n 40 why | sed 's/^/# /'
  fi
}

# run COMMAND...: its output goes to `out` and `err`, its status to $status.
run() {
  timeout 20 "$@" >out 2>err </dev/null
  status=$?
}

# expect SENTENCE STATUS OUT [ERR]: exactly that, each with its last newline left off. ERR may be left out when nothing is said.
expect() {
  { [ -z "$3" ] || printf '%s\n' "$3"; } >want.out
  { [ -z "${4-}" ] || printf '%s\n' "$4"; } >want.err
  if [ "$status" = "$2" ] && cmp -s out want.out && cmp -s err want.err; then
    result 0 "$1"
  else
    {
      echo "status $status, expected $2"
      echo "standard output, < expected, > got:"
      diff want.out out
      echo "standard error, < expected, > got:"
      diff want.err err
    } >why
    result 1 "$1"
  fi
}

# holds SENTENCE COMMAND...: the command succeeds.
holds() {
  sentence=$1
  shift
  if "$@" >why 2>&1; then result 0 "$sentence"; else result 1 "$sentence"; fi
}
