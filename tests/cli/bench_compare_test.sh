#!/bin/bash
# bench_compare_test.sh: two builds are compared by their headline figures, counted and timed by what really runs. Prints TAP.
. "$BERTH_SOURCE/tests/common/live.sh"
need valgrind bwrap openssl python3

compare() { python3 "$BERTH_SOURCE/tools/bench-compare" --small "$@" >out 2>err; }
all() { compare --keep kept.json "$BERTH" "$BERTH" || { cat out err && return 1; }; }
check 'a program is no slower than itself' all
rows() { [ "$(grep -c '^| ' out)" = $((20 + 2)) ] || { cat out err && return 1; }; }
check 'it has twenty figures' rows
limits() { cat out && for word in 'a copy of the bytes' 'an empty process' 'one bwrap' 'one fsync' 'one TLS handshake'; do grep -q "| $word |" out || return 1; done; }
check 'beside each stands what nobody can do without' limits
# repeats: seventeen are counted, and each is the same the second time, but for one in two hundred.
repeats() { cat out && [ "$(awk -F'|' '$5 + 0 > 0.995 && $5 + 0 < 1.005' out | wc -l)" = 17 ]; }
check 'instructions repeat' repeats

# changed FACTOR: the kept figures, as if printing had taken so many times the instructions.
changed() {
  python3 - "$1" <<'END'
import json
import sys

kept = json.load(open("kept.json"))
row = next(row for row in kept["figures"] if row["name"] == "print it")
row["instructions"] *= float(sys.argv[1])
json.dump(kept, open("changed.json", "w"))
END
}
slower() { changed 0.9 && ! compare changed.json kept.json && cat err && grep -qx 'bench-compare: print it: 1.111 times the instructions' err && [ "$(wc -l <err)" = 1 ]; }
check 'what takes more instructions is named, and fails' slower
quicker() { changed 1.2 && compare changed.json kept.json && cat out && grep -q '^| print it |.*| 0.833 |' out; }
check 'what takes fewer is told' quicker
sizes() { ! python3 "$BERTH_SOURCE/tools/bench-compare" kept.json kept.json 2>err && cat err && grep -q 'of another size' err; }
check 'figures of another size are refused' sizes

echo "1..$count"
[ $failures = 0 ]
