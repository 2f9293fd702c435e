#!/bin/bash
# page_browser_test.sh: the page in a real browser, against a real pool: web/test. Prints TAP. Pictures are kept in the folder $PAGE_SHOTS, if that is set; with PAGE_FRAMES=yes
# it only measures how long each frame keeps the browser, beside 100,000 machines and a million jobs.
set -u
source=${BERTH_SOURCE:?the sources}
export BERTH=${BERTH:?the program}
. "$source/tests/common/live.sh"
export CHROMIUM=${CHROMIUM:-$(command -v chromium-headless-shell || command -v chromium || echo chromium)} # the first is the same without its windows
need npm node "$CHROMIUM" setpriv
. "$source/tests/common/postgres.sh"
cp -r "$source/web" web && cd web || exit 1
rm -rf node_modules dist test/node_modules
built=$("$source/tools/build-page" --where . "$source/build-page") || { echo 'Bail out! the page was not built'; exit 1; }
modules=$("$source/tools/build-page" --tests . "$source/build-page") || { echo 'Bail out! npm does not bring what the tests need'; exit 1; }
# The system's Node may be too old for these tests: then npm has brought another.
for node in "$source"/build-page/node/node_modules/node-linux-*/bin; do [ -d "$node" ] && PATH=$node:$PATH; done
ln -s "$modules" test/node_modules && ln -s "$built/node_modules" node_modules && cp -r "$built/dist" dist || exit 1
# PAGE_FRAMES=yes: only how long the page keeps the browser, frame by frame, beside 100,000 machines and a million jobs.
[ "${PAGE_FRAMES:-}" ] && { node test/frames.mjs; exit; }
database_make && database_start || { echo 'Bail out! the database does not start'; exit 1; }
env -u BERTH_SOURCE BERTH_SOURCES="$source" PAGE_FROM=pool PAGE_STORE="$store" node --test --test-reporter=tap --test-concurrency=1 test/text.test.mjs test/page.test.mjs test/replicas.test.mjs test/large.test.mjs
