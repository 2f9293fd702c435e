#!/bin/sh
# check_layers_test.sh: tools/check-layers finds what it is there for, and nothing else, in a small house of its own. Prints TAP.
tool=${BERTH_SOURCE:?the sources}/tools/check-layers
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/sys" && echo "sys_sources = files('a.c')" >"$work/src/sys/meson.build"
count=0 failed=0

house() { printf 'int f(int fd);\nint f(int fd)\n{\n%s\n    return 0;\n}\n' "$1" >"$work/src/sys/a.c"; }
result() { # STATUS SENTENCE
  count=$((count + 1))
  if [ "$1" = 0 ]; then echo "ok $count - $2"; else failed=1 && echo "not ok $count - $2"; fi
}
refused() { # BODY WORDS SENTENCE
  house "$1"
  python3 "$tool" "$work" >"$work/out" || true
  grep -q "^src/sys/a.c:[0-9]*: $2" "$work/out"
  result $? "$3"
}
passed() { # BODY SENTENCE
  house "$1"
  python3 "$tool" "$work" >"$work/out"
  result $? "$2"
}

refused '    fsync(fd);' 'fsync() is not checked' 'an fsync that nobody looks at is found'
refused '    if (fd)
        rename("a", "b");' 'rename() is not checked' 'a rename behind a condition as well'
refused '    switch (fd) {
    case 1:
        ftruncate(fd, 0);
    }' 'ftruncate() is not checked' 'and one behind a label'
refused '    (void)fsync(fd);' 'fsync() is not checked' 'to throw a result away without a reason is not enough'
passed '    (void)fsync(fd); /* a hint alone */' 'with a reason it is'
passed '    if (fsync(fd) < 0 || rename("a", "b") < 0)
        return -1;
    fd = fd ? 1 : ftruncate(fd, 0);' 'a result that is used is fine'
refused '}
#include "live/agent/agent.h"
{' '"live/agent/agent.h" is not under src' 'an include that leads nowhere is found'
echo "1..$count"
exit $failed
