#!/bin/bash
# machine_trial_test.sh: tools/machine-trial packs what it needs, and runs from there. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
trial=$(realpath "${BERTH_SOURCE:?the sources}")/tools/machine-trial
. "$BERTH_SOURCE/tests/common/live.sh"
need bwrap ldd tar

check 'the trial is packed with the program, bubblewrap and libraries' \
  sh -c 'sh "$1" pack packed.tar.gz --berth "$2" && tar xzf packed.tar.gz && ls machine-trial/bin/berth machine-trial/bin/bwrap machine-trial/lib/libuv.so*' sh "$trial" "$berth"
timeout 200 sh machine-trial/machine-trial run --only gpus >table 2>why.err
status=$?
check 'it runs from what was packed, and misses nothing' [ $status = 0 ]
check 'it prints what the machine is, and a table' sh -c 'head -n 1 table | grep -q "^Linux .* processors, .*; berth " && grep -q "^| part | what | wanted | measured | |$" table'
check 'what the machine lacks is skipped with the reason' \
  sh -c 'grep -q "^| gpus | .* | met |$" table || grep -q "^| gpus | all |  | GpuCount is 0; .* | skipped |$" table'
check 'what makes no sense is refused' sh -c 'sh "$1" run --nosuch 2>&1 | grep -q "what is --nosuch"' sh "$trial"
echo "1..$count"
[ $failures -eq 0 ]
