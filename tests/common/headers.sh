#!/bin/sh
# headers.sh SRC CC CXX: every header compiles alone as C17; but for those of cli and of single rooms, all together compile as C++17, and each says extern "C". Prints TAP.
src=$1 cc=$2 cxx=$3
count=0 failed=0

result() { # STATUS SENTENCE OUTPUT
  count=$((count + 1))
  if [ "$1" = 0 ]; then
    echo "ok $count - $2"
  else
    failed=1
    echo "not ok $count - $2"
    printf '%s\n' "$3" | head -n 15 | sed 's/^/# /'
  fi
}

flags="-I$src -fsyntax-only -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags-only-I libxml-2.0 libpq)"
cd "$src" || exit 1
all=
for header in $(find . -mindepth 2 -name '*.h' | sed 's|^./||' | sort); do
  case $header in *_parts.h) continue ;; esac # private
  posix= # the program's own headers may ask for it, and those that are private to a room
  case $header in cli/*) private=1 ;; *) private=$(head -n 30 "$header" | grep -c 'private to') ;; esac
  [ "$private" = 0 ] || posix=-D_POSIX_C_SOURCE=200809L
  out=$(printf '#include "%s"\nextern int only;\n' "$header" | $cc -std=c17 $posix $flags -x c - 2>&1)
  result $? "$header stands alone in C17" "$out"
  [ "$private" = 0 ] || continue
  all="$all $header"
  # a declaration at the left margin that is a function's needs C linkage
  if grep -Eq '^[a-z][A-Za-z0-9_ *]*\(' "$header"; then
    grep -q 'extern "C"' "$header"
    result $? "$header can be linked from C++" "no extern \"C\" in $header"
  fi
done
# shellcheck disable=SC2086
out=$(printf '#include "%s"\n' $all | $cxx -std=c++17 $flags -x c++ - 2>&1)
result $? 'all of them together are C++17' "$out"
echo "1..$count"
exit $failed
