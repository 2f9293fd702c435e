#!/bin/bash
# docs_blocks_test.sh [PAGE...]: the command blocks of README.md and docs/ are run: see docs_blocks.py, and docs_blocks.txt for what pages need. Prints TAP.
# docs_blocks_test.sh --one PAGE: in a space of its own, one page alone; docs_blocks.py starts it so.
#
#     BERTH=$PWD/build/berth BERTH_SOURCE=$PWD tests/live/docs_blocks_test.sh docs/jobs.md       a page or two, while they are written
set -u
: "${BERTH:?the program}" "${BERTH_SOURCE:?the sources}"
[ "$(id -u)" = 0 ] && command -v ip >/dev/null || { echo '1..0 # SKIP this wants root, and ip' && exit; }
for name in $(env | sed -n 's/^\(BERTH_[A-Z_]*\)=.*/\1/p'); do # nothing of the caller's pool
  [ "$name" = BERTH_SOURCE ] || unset "$name"
done
here=$BERTH_SOURCE/tests/live
[ "${1-}" = --one ] || exec python3 "$here/docs_blocks.py" "$here/docs_blocks.txt" "$@"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export work here page=$2 TMPDIR=$work
unshare --mount --net --uts --pid --fork --kill-child --mount-proc bash -c '
  ip link set lo up
  hostname heron
  mount -t tmpfs none /srv
  for each in etc var/lib; do
    over=$work/over/${each%/*}
    mkdir -p "$over" && mount -t tmpfs none "$over" && mkdir "$over"/{up,work} &&
      mount -t overlay none -o "lowerdir=/$each,upperdir=$over/up,workdir=$over/work" "/$each" && mkdir -p "/$each/berth" || exit 1
  done
  SPACE=own exec python3 "$here/docs_blocks.py" --one "$here/docs_blocks.txt" "$page"'
