#!/bin/bash
# recipes_live_test.sh: docs/recipes.md: xargs, GNU parallel, make, Dask and joblib hand their work to a pool. Each is the real program of Debian, and is left
# out where it is not installed. Prints TAP.
set -u
berth=${BERTH:?the program}
source=${BERTH_SOURCE:?the sources}
. "$source/tests/common/live.sh"
need setsid xargs

mkdir bin && ln -s "$(realpath "$berth")" bin/berth
export PATH=$work/bin:$PATH BERTH_STATE=$work/state
setsid "$berth" pool --listen 127.0.0.1:0 >up 2>pool.err &
groups="$groups $!"
disown
until_true() { local ends=$((SECONDS + $1)); while ! "${@:2}" >/dev/null 2>&1; do [ $SECONDS -lt $ends ] || { "${@:2}"; return 1; }; sleep 0.2; done; }
check 'a pool is up' until_true 60 grep -q 'pool is up' up
check 'and has a machine' until_true 60 sh -c 'berth machines --json | grep -q name'
small='-c 0.1 -m 64MiB --disk 16MiB'
printf '#!/bin/sh\n[ "$2" != 3 ] || exit 7\necho "seed $2"\n' >simulate
chmod +x simulate

# the lines of the page, with less asked for
line() { grep -m 1 -- "^    $1" "$source/docs/recipes.md" | sed "s/^    //; s/berth run/berth run $small/; $2"; }
page_says() { [ -n "$told" ]; }
said() { sort -n -k 2 out | diff "$1" -; }

told=$(line 'seq 20 | xargs' 's/seq 20/seq 4/; s/-P 20/-P 4/')
check 'the page says how xargs is used' page_says
eval "$told" >out 2>err
status=$?
printf 'seed 1\nseed 2\nseed 4\n' >wanted
check 'xargs runs its commands in the pool' said wanted
check 'and sees that one has failed' [ $status = 123 ]

if command -v parallel >/dev/null; then
  told=$(line 'parallel --jobs' 's/seq 200/seq 4/; s/--jobs 100/--jobs 4/')
  check 'the page says how parallel is used' page_says
  PARALLEL_HOME=$work/parallel && export PARALLEL_HOME
  mkdir parallel && : >parallel/will-cite
  eval "$told" >out 2>err </dev/null
  status=$?
  check 'parallel runs its commands in the pool' said wanted
  check 'and says how many have failed' [ $status = 1 ]
fi

if command -v make >/dev/null; then
  mkdir made
  grep -A1 '^SHELL = berth' "$source/examples/recipes/Makefile" >lines
  same() { while IFS= read -r each; do grep -qF -- "    $each" "$source/docs/recipes.md" || return 1; done <lines && [ "$(wc -l <lines)" = 2 ]; }
  check 'the page has the lines of the Makefile' same
  sed "s/run --quiet/run --quiet $small/" "$source/examples/recipes/Makefile" >made/Makefile
  echo 'one two three' >made/chapter1.txt
  echo 'four five' >made/chapter2.txt
  check 'make runs its recipes in the pool' timeout 120 make -C made -j 4
  check 'and what they made is here' [ "$(cat made/total.txt)" = 5 ]
  nothing() { make -C made -q; }
  check 'what is made is not made again' nothing
  rm made/chapter2.count && printf '%%.count: %%.txt\n\tfalse\n' >>made/Makefile
  fails() { ! timeout 120 make -C made; }
  check 'a recipe that fails stops it' fails
fi

# python PAGE-BLOCK: the block of the page that imports that, run as it stands.
block() {
  awk -v what="import $1" '/^```python$/ { text = ""; inside = 1; next } /^```$/ { if (inside && index(text, what "\n") == 1) printf "%s", text; inside = 0 } inside { text = text $0 "\n" }' \
    "$source/docs/recipes.md" >"$1_page.py"
  [ -s "$1_page.py" ] && PYTHONPATH=$source/python:$source/examples/recipes PYTHONDONTWRITEBYTECODE=1 timeout 120 /usr/bin/python3 "$1_page.py" >out 2>"$1.err"
}
runs() { block "$1" && [ "$(cat out)" = "$2" ]; }
for each in 'dask|285' 'joblib|[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]'; do
  if /usr/bin/python3 -c "import ${each%%|*}" 2>/dev/null; then check "${each%%|*} computes in the pool" runs "${each%%|*}" "${each#*|}"; fi
done
echo "1..$count"
[ $failures = 0 ]
