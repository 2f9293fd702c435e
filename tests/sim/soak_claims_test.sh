#!/bin/sh
# soak_claims_test.sh: tools/soak-claims counts claims over several runs, goes on where it was stopped, and does not mix two codes. Prints TAP.
set -u
berth=${BERTH:?the program}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
source=${BERTH_SOURCE:?the sources}
. "$source/tests/common/tap.sh"
export BERTH_SEED=5000000005 SOAK_SLICE=200 # of the size that seeds have here: beyond what %d of some awk holds

# The folders that a world is made of, as small as can be.
for folder in lang match pool sim; do
  mkdir -p "src/$folder"
  echo "/* $folder */" >"src/$folder/$folder.c"
done
soak() { run "$source/tools/soak-claims" "$berth" "$1" tally src; }

soak 1500
holds 'so many claims, slice after slice' sh -c \
  'grep -q "^0 of 1500 claims were there; from seed 5000000005 on$" out && tail -n 1 out | grep -Eq "^[0-9]+ worlds, [0-9]+ claims, [0-9]+ faults: no violation$"'
holds 'each slice begins with the seed behind the one before' awk \
  'NR == 1 { next } NR > 2 && $2 != next_seed { exit 1 } { next_seed = $2 + $3; claims += $4 } END { exit !(NR > 2 && claims >= 1500) }' tally
cp tally before
soak 1500
holds 'what is there is not done again' sh -c 'cmp tally before && sed -n 2p out | grep -q "no violation"'
sed -i '$d' tally # as if it had been stopped in the last slice
soak 1500
holds 'a run that was stopped goes on, and comes to the same' cmp tally before
echo '/* other */' >>src/pool/pool.c
soak 100
holds 'other sources begin anew' sh -c 'grep -q "^0 of 100 claims were there; from seed 5000000005 on$" out && [ "$(cut -d" " -f1 tally | sort -u | wc -l)" = 3 ]'
printf '#!/bin/sh\necho "violations             1"\nexit 1\n' >broken
chmod +x broken
berth=$work/broken
soak 100000
holds 'a violation ends it, is shown, and is not counted' sh -c \
  "[ $status = 1 ] && grep -q '^violations  *1$' out && [ \"\$(wc -l <tally)\" -gt 2 ] && ! grep -q 'violations' tally"
run "$source/tools/soak-claims"
expect 'it says what it wants' 2 '' 'usage: soak-claims BERTH CLAIMS TALLY [SOURCES]'
echo "1..$count"
[ $failures = 0 ]
