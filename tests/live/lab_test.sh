#!/bin/sh
# lab_test.sh: docs/lab.md, done line by line: five machines, which are network namespaces on a bridge. Prints TAP.
set -u
: "${BERTH:?the program}"
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
. "$BERTH_SOURCE/tests/common/spaces.sh"
unset BERTH_STATE XDG_CONFIG_HOME
trap 'spaces_end; ends' EXIT

# The machines of the guide, with the last numbers of their addresses.
lab_make() {
  spaces_open && for machine in hub=5 heron=6 stork=7 desk=8 gull=9; do
    space_make "bj$tag.${machine#*=}" "${machine#*=}" && lab="$lab ${machine%=*}=bj$tag.${machine#*=}" || return
  done
}
lab=
if ! lab_make >network 2>&1; then
  sed 's/^/# /' network
  echo '1..0 # SKIP needs root and ip netns'
  exit 0
fi
python3 "$BERTH_SOURCE/tests/live/lab_guide.py" "$BERTH_SOURCE/docs/lab.md" "$net" "$lab" "$work"
