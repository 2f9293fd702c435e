#!/bin/bash
# library_names_test.sh LIBRARY: what the shared library shows to others: the names of berth.h and no other, and what it needs. Prints TAP.
set -u
library=$(realpath "${1:?the shared library}")
source=${BERTH_SOURCE:?the sources}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$source/tests/common/tap.sh"
header=$source/src/api/berth.h

# Comments go, and what is left of declarations names functions before a parenthesis at the margin.
${CC:-cc} -E -P "$header" | tr '\n' ' ' | tr ';' '\n' | grep -v typedef | grep -oE '\bberth_[a-z_]+ ?\(' | tr -d '( ' | sort -u >declared
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u >exported
diff declared exported >why
result $? "the library exports the $(wc -l <declared) functions of berth.h and nothing else"
[ "$(wc -l <declared)" -gt 60 ]
result $? 'they are more than a few'

readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sed 's/\.so.*//' | sort >needed
printf '%s\n' ld-linux libasan libc libjansson libm libpcre2-8 libubsan >allowed # the two of the sanitizers, where it is built with them
grep -vxF -f allowed needed | grep -v '^ld-linux' >why
[ ! -s why ]
result $? 'it needs libc, PCRE2 and jansson alone; libxml2 is loaded when XML is read'
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libberth.so.1 ]
result $? 'its soname is libberth.so.1'
number=${soname##*.}
grep -qx "BERTH_$number {" "$source/src/api/libberth.map" && grep -qx "Package: libberth$number" "$source/debian/control" &&
  [ "$(sed -n 1p "$source/debian/libberth$number.symbols")" = "$soname libberth$number #MINVER#" ] && grep -qF "\"$soname\"" "$source/python/berth/_library.py"
result $? 'its names, its package and Python have the same number'

# symbols FILE: what Debian's own program says of the library, held against that list; it fails where a name has come or gone. It takes a name for lost only
# where the version is higher than that with which the name came.
symbols() {
  dpkg-gensymbols -c4 -v9999 -plibberth"$number" -I"$1" -e"$library" -O/dev/null >why 2>&1
}
mkdir -p debian && cp "$source/debian/control" "$source/debian/changelog" debian/
symbols "$source/debian/libberth$number.symbols"
result $? "the package's list of symbols has each name that is exported, and no other"
grep -v ' berth_match@' "$source/debian/libberth$number.symbols" >fewer
! symbols fewer && grep -q '^+.*berth_match@' why
result $? 'a name that is missing in the list is noticed'
{ cat "$source/debian/libberth$number.symbols" && echo " berth_nothing@BERTH_$number 0.1.0"; } >more
! symbols more && grep -q '^-.*berth_nothing@' why
result $? 'so is one that the library no longer has'

grep -hoE '#include [<"][^>"]+' "$header" | grep -vE '<(stddef|stdint)\.h' >why
[ ! -s why ]
result $? 'berth.h includes nothing but stddef.h and stdint.h'
# A program may have names of its own that the library uses inside.
cat >own.c <<'END'
#include <berth.h>
#include <stdlib.h>
void *mem_alloc(size_t size);
void *mem_alloc(size_t size) { (void)size; abort(); }
int map_find(void);
int map_find(void) { abort(); }
int main(void) { berth_context_free(berth_context_new()); return berth_version_number() != BERTH_VERSION_NUMBER; }
END
flags="-I$(dirname "$header") -Wall -Wextra -Werror"
place="$library -Wl,-rpath,$(dirname "$library")"
sanitized=
grep -q libasan needed && sanitized=-fsanitize=address,undefined
# shellcheck disable=SC2086
${CC:-cc} -std=c99 -Wpedantic $flags $sanitized own.c $place -o own >why 2>&1 && ./own >>why 2>&1
result $? 'a program in C99 that has a mem_alloc and a map_find of its own works with it'
grep -v 'mem_alloc\|map_find' own.c >own.cc
# shellcheck disable=SC2086
${CXX:-c++} -std=c++11 -Wpedantic $flags $sanitized own.cc $place -o own >why 2>&1 && ./own >>why 2>&1
result $? 'so does one in C++11'
# The examples, in both languages, as pkg-config says; with the file that it gives for a library that is not installed.
PKG_CONFIG_PATH=$(dirname "${BERTH:?the program}")/meson-uninstalled
export PKG_CONFIG_PATH
[ "$(wc -l <"$source/examples/embed.c")" -le 30 ] && cp "$source/examples/embed.c" embed.cc
result $? 'examples/embed.c has 30 lines at most'
# shellcheck disable=SC2046,SC2086
${CC:-cc} $sanitized "$source/examples/embed.c" $(pkg-config --cflags --libs berth-uninstalled) -Wl,-rpath,"$(dirname "$library")" -o embed >why 2>&1 && [ "$(./embed 2>&1)" = 'rank: 8' ] &&
  ${CXX:-c++} $sanitized embed.cc $(pkg-config --cflags --libs berth-uninstalled) -Wl,-rpath,"$(dirname "$library")" -o embed >why 2>&1 && [ "$(./embed 2>&1)" = 'rank: 8' ]
result $? 'it is built in C and C++ with what pkg-config says, and runs'
"$source/tools/library-docs" --check "$source" >why
result $? 'docs/library.md is current, and every function has an example'

# The tool notices what is missing.
mkdir -p copy/src/api copy/tests/api copy/docs
cp "$header" copy/src/api/ && cp "$source/tests/api/library_examples_test.c" copy/tests/api/ && cp "$source/docs/library.md" copy/docs/
sed -i 's|^#ifdef __cplusplus\n}|&|; s|^/\* ## Contexts \*/|/* Nothing. */\nint berth_nothing(void);\n\n&|' copy/src/api/berth.h
"$source/tools/library-docs" --check copy >why
grep -q 'berth_nothing() has no example' why && grep -q 'not current' why
result $? 'a function without an example is noticed, and a page that is not current'
echo "1..$count"
[ $failures = 0 ]
