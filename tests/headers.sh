#!/bin/sh
# headers.sh SRC CC CXX: every public header compiles alone, as C17 and as C++17, and says extern "C". Prints TAP.
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

flags="-I$src -fsyntax-only -Wall -Wextra -Wpedantic -Werror"
cd "$src" || exit 1
for header in berth.h base/*.h text/*.h ad/*.h form/*.h match/*.h index/*.h assign/*.h grdl/*.h pool/*.h sim/*.h store/*.h net/*.h exec/*.h; do
  [ -e "$header" ] || continue
  case $header in *_parts.h) continue ;; esac # private
  out=$(printf '#include "%s"\nextern int only;\n' "$header" | $cc -std=c17 $flags -x c - 2>&1)
  result $? "$header stands alone in C17" "$out"
  out=$(printf '#include "%s"\nextern int only;\n' "$header" | $cxx -std=c++17 $flags -x c++ - 2>&1)
  result $? "$header stands alone in C++17" "$out"
  # a declaration at the left margin that is a function's needs C linkage
  if grep -Eq '^[a-z][A-Za-z0-9_ *]*\(' "$header"; then
    grep -q 'extern "C"' "$header"
    result $? "$header can be linked from C++" "no extern \"C\" in $header"
  fi
done
echo "1..$count"
exit $failed
