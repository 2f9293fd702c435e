#!/bin/bash
# library_speed_test.sh PROGRAM: what goes through berth.h takes at most a ninth more than what the rooms do themselves, in instructions. Prints TAP.
set -u
program=$(realpath "${1:?library_speed}")
. "${BERTH_SOURCE:?the sources}/tests/common/tap.sh"
command -v valgrind >/dev/null || { echo '1..0 # skipped: there is no valgrind to count instructions'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# counted WHAT WAY: the instructions that three rounds take.
counted() {
  total() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'; }
  echo $(($(total "$1" "$2" 4) - $(total "$1" "$2" 1)))
}
for what in pair index; do
  found=$("$program" $what rooms 1)
  [ "$found" -gt 0 ] && [ "$found" = "$("$program" $what library 1)" ]
  result $? "$what: both ways find the same $found matches"
  counted $what rooms >rooms &
  counted $what library >library
  wait $!
  rooms=$(cat rooms) library=$(cat library)
  echo "$what: $rooms instructions by the rooms, $library through berth.h" | tee why | sed 's/^/# /'
  [ "$rooms" -gt 100000 ] && [ $((library * 9)) -le $((rooms * 10)) ]
  result $? "berth.h has at least 90 % of the speed of $what"
done
echo "1..$count"
[ $failures = 0 ]
