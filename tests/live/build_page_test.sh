#!/bin/sh
# build_page_test.sh: tools/build-page with an npm of our own: what it writes is one state of the sources, the last. Prints TAP.
set -u
tool=${1:?tools/build-page}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"
mkdir -p bin web/src
export PATH="$work/bin:$PATH"
echo 'echo v99.0.0' >bin/node
cat >bin/npm <<'END'
# Builds the page: one and two together. Meanwhile somebody may edit.
echo "$*" >>"$LOG"
[ "$*" = 'run build' ] || exec mkdir node_modules
mkdir -p dist && cat src/one src/two >dist/index.html
[ -s "$EDITS" ] || exit 0
head -n 1 "$EDITS" >"$EDITS.now" && sed -i 1d "$EDITS"
. "$EDITS.now"
END
sed -i '1i#!/bin/sh' bin/node bin/npm
chmod +x bin/node bin/npm
export LOG="$work/log" EDITS="$work/edits" WEB="$work/web"
# built: the page that the table has.
built() {
  python3 - "$work/page.c" <<'END'
import gzip, re, sys
text = open(sys.argv[1]).read()
files = re.findall(r'= \{\n([\d,\n]*)\};', text)
print(gzip.decompress(bytes(int(n) for n in files[0].replace('\n', '').split(',') if n)).decode(), end='') if files else print('nothing')
END
}
is() { # SENTENCE PAGE BUILDS
  printf '%s' "$2" >expected
  if [ "$(built)" = "$(cat expected)" ] && [ "$(grep -c 'run build' log)" = "$3" ]; then result 0 "$1"; else
    { built; cat log out err; } >why
    result 1 "$1"
  fi
}

echo one >web/src/one && echo two >web/src/two && : >edits && : >log
run "$tool" web cache page.c
is 'the page is built' 'one
two' 1
run "$tool" web cache page.c
is 'the same sources are not built twice' 'one
two' 1
here() { folder=$("$tool" --where web cache) && [ "$(cat "$folder/dist/index.html")" = "$(printf 'one\ntwo')" ] && [ -d "$folder/node_modules/" ]; }
holds 'it is told where they are built, with what npm brings' here
echo 'three' >web/src/two
echo 'echo four >"$WEB/src/one"' >edits && cp log log.all && : >log
run "$tool" web cache page.c
is 'sources that are edited while they are built are built again: what is written is their last state' 'four
three' 2
echo five >web/src/two
echo 'rm "$WEB/src/one"; echo six >"$WEB/src/two"; : >"$WEB/src/one"' >edits && cat log >>log.all && : >log
run "$tool" web cache page.c
is 'also when one went and came back' 'six' 2
holds 'npm brings its packages once for all of them' test "$(cat log.all log | grep -c '^ci')" = 1
echo '{}' >web/package.json && cp log log.all && : >log
run "$tool" web cache page.c
holds 'and again when the list of packages is another' grep -q '^ci' log
holds 'sources that were never built are nowhere' sh -c 'echo nine >web/src/two; ! "$0" --where web cache 2>err' "$tool"
for i in 1 2 3 4 5 6; do echo "echo seven $i >\"\$WEB/src/two\""; done >edits
echo seven >web/src/two && : >log
run "$tool" web cache page.c
if [ "$status" = 1 ] && [ ! -e page.c ] && grep -q 'edited each of 5 times' out; then result 0 'who edits all the time is told so, and nothing stale is left'; else
  cp out why
  result 1 'who edits all the time is told so, and nothing stale is left'
fi
run "$tool" --plain web cache page.c
if [ "$status" = 0 ] && [ "$(built)" = nothing ]; then result 0 'a plain one has no files'; else cp out why; result 1 'a plain one has no files'; fi
echo "1..$count"
[ $failures = 0 ]
