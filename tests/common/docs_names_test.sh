#!/bin/bash
# docs_names_test.sh: the pages for those who work on Berth name what is there, and a name that is not there is noticed. Prints TAP.
set -u
source=${BERTH_SOURCE:?the sources}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$source/tests/common/tap.sh"

holds 'every name and link in the pages about the sources is right' "$source/tools/check-docs" "$source"

# wrong SENTENCE LINE...: a page of these lines is refused, with a violation for its last line alone. All pages are looked at in one run, below.
pages=0
wrong() {
  pages=$((pages + 1))
  printf '%s\n' "$1" >"$pages.sentence"
  shift
  printf '%s\n' "$@" >"page$pages.md"
}
wrong 'a function that is not there' '`runner_event()`' '`runner_evnt()`'
wrong 'a function of another file' '`runner_event()` in `live/world/runner.c`' '`runner_event()` in `sim/world.c`'
wrong 'a file that is not there' '`live/world/runner.c`' '`live/world/walker.c`'
wrong 'a folder that is not there' '`src/live/world`, `live/world`' '`src/net`'
wrong 'a pattern that no file has' '`sim/judge_*.c`' '`sim/jury_*.c`'
wrong 'a type that is not there' '`struct crew`, `enum reason`' '`struct crewe`'
wrong 'a word that is not there' '`EVENT_JOB`, `EFFECT_SEND`' '`EVENT_JOBS`'
wrong 'a function in a picture' '```' 'runner_event() -> step_one() -> step_done()'
wrong 'a link to a page that is not there' "[here]($source/README.md)" "[here]($source/READYOU.md)"
wrong 'a link to a heading that is not there' "[here]($source/README.md#four-ways-in)" "[here]($source/README.md#papers)"

"$source/tools/check-docs" "$source" page*.md >said 2>&1
ended=$?
refused() { [ $ended = 1 ] && [ "$(grep -c "page$1.md:" said)" = 1 ] && grep -q "page$1.md:$(wc -l <"page$1.md"): " said; }
for number in $(seq $pages); do holds "$(cat "$number.sentence")" refused "$number"; done

echo "1..$count"
exit $((failures > 0))
