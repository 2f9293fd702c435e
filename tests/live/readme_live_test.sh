#!/bin/bash
# readme_live_test.sh: the commands of README.md, as they stand there, with no configuration at all: an empty HOME, no variable of ours, nothing but
# a clone in which the program is built. And the tour of `./dev demo` when its output is cut. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"

mkdir clone clone/build empty
ln -s "$berth" clone/build/berth
ln -s "$BERTH_SOURCE/examples" clone/examples
cd clone || exit 1
# as somebody who has just logged in for the first time; the state is where it is for others than root, too
plainly="env -i PATH=$PATH HOME=$work/empty XDG_STATE_HOME=$work/empty/.local/state LANG=C.UTF-8"

# the program as the page starts it
start=$(sed -n 's/^    \(build\/berth pool\) .*/\1/p' "$BERTH_SOURCE/README.md")
holds 'the page starts a pool by one command' [ "$start" = 'build/berth pool' ]
$plainly build/berth pool --listen 127.0.0.1:0 >../up 2>../pool.err </dev/null & # the usual port may be another pool's
pids=$!
holds 'which is up' soon grep -q 'To end it' ../up

# Each line of the blocks of shell in the first two sections, but for comments, what is behind them, and the alias.
awk '/^## As a library/ { exit } /^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside && !/^(#|alias|$)/ { sub(/  +#.*/, ""); print }' \
  "$BERTH_SOURCE/README.md" >../lines
holds 'the page has commands' [ "$(wc -l <../lines)" -ge 20 ]
while IFS= read -r line <&3; do
  # What is refused, and what asks whether something is so, ends with 1.
  case $line in
    *' submit examples/jobs/impossible.ad' | *'berth lint -' | 'berth why '*) want=1 ;;
    *) want=0 ;;
  esac
  $plainly timeout 60 sh -c 'berth() { build/berth "$@"; } && eval "$1"' sh "$line" >../out 2>../err </dev/null
  status=$?
  { echo "status $status, expected $want" && head -n 20 ../out ../err; } >why
  [ $status = $want ]
  result $? "README: $line"
done 3<../lines
rm -f why
holds 'nothing is left in the clone' [ "$(ls -A | tr '\n' ' ')" = 'build examples ' ]
holds 'and no configuration was made' sh -c '! find "$1" -name "*.ad" -path "*config*" | grep .' sh "$work/empty"
kill "$pids" && wait "$pids"
pids=
cd ..

mkdir tmp
TMPDIR=$work/tmp BERTH=$berth timeout 60 sh "$BERTH_SOURCE/examples/demo.sh" 2>err | head -n 9 >out
holds 'the tour whose output is cut ends without a complaint' [ ! -s err ]
tidy() { [ -z "$(ls -A tmp)" ]; }
holds 'and leaves no pool behind' soon tidy

echo "1..$count"
[ $failures -eq 0 ]
