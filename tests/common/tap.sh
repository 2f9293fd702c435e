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

# console PAGE: every ```console block of a page of the manual, run in order in one folder, from which examples/ can be seen: `$ ` begins
# a command, `> ` goes on with it, other lines are what it prints on both streams, standard output first. $example is one more than ran.
console() {
  mkdir manual bin
  ln -s "$(command -v "$berth")" bin/berth
  ln -s "${BERTH_SOURCE:?the sources}/examples" manual/examples
  awk '
    /^```console$/ { inside = 1; next }
    /^```$/ { inside = 0 }
    !inside { next }
    /^[$] / { n++; printf "%s\n", substr($0, 3) >("manual/" n ".sh"); printf "" >("manual/" n ".want"); next }
    /^> / { printf "%s\n", substr($0, 3) >("manual/" n ".sh"); next }
    { print >("manual/" n ".want") }
  ' "$1"
  example=1
  while [ -e manual/$example.sh ]; do
    (cd manual && PATH=$PWD/../bin:$PATH sh $example.sh >$example.out 2>$example.err </dev/null)
    cat manual/$example.out manual/$example.err >manual/$example.got
    holds "the manual is right about: $(head -n 1 manual/$example.sh)" diff manual/$example.want manual/$example.got
    example=$((example + 1))
  done
}
