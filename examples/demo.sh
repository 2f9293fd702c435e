#!/bin/sh
# demo.sh: a pool on this machine, jobs in it, and one that cannot run. Run by `./dev demo`, which builds the program first.
set -eu
cd "$(dirname "$0")/.."
berth=$(realpath "${BERTH:-build/berth}")
jobs=$(realpath examples/jobs)
examples=$(realpath examples)
began=$(date +%s)

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') faint=$(printf '\033[2m') plain=$(printf '\033[0m')
else
    bold='' faint='' plain=''
fi
# out FORMAT...: as printf; where nobody reads any more, that is the end, without a word.
# shellcheck disable=SC2059 # it is a format
out() { printf "$@" 2>/dev/null || exit 1; }
say() { out '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# quoted WORD: as one would have to type it.
quoted() {
    case $1 in
    *[!A-Za-z0-9_/.,:=+-]*) out " '%s'" "$1" ;;
    *) out ' %s' "$1" ;;
    esac
}
# shows COMMAND...: as one would type it, and what it prints.
shows() {
    out '  $ berth'
    for word in "$@"; do quoted "$word"; done
    out '\n'
    "$berth" "$@" 2>&1 | sed 's/^/    /'
}

for name in $(env | sed -n 's/^\(BERTH_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done # nothing of the caller's pool
work=$(mktemp -d)
export BERTH_STATE="$work/state" NO_COLOR=1
pool= licenses=
ends() {
    for pid in $licenses $pool; do { kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || :; done
    rm -rf "$work"
}
trap ends EXIT
trap 'exit 1' INT TERM HUP PIPE # PIPE: its output was cut, as by `| head`

say "Two ads meet: a job and a workstation, each with a constraint and a rank of its own."
shows match -d condor -r examples/job.ad -o examples/workstation.ad

say "A pool, in one command: a matchmaker, a customer and a provider for this machine. Nothing is configured."
out '  $ berth pool\n'
: >"$work/up" # it is looked at before the pool's process has come so far
"$berth" pool --listen 127.0.0.1:0 >"$work/up" 2>&1 &
pool=$!
tries=150
until grep -q 'To end it' "$work/up"; do
    kill -0 "$pool" 2>/dev/null && [ $tries -gt 0 ] || { cat "$work/up" "$BERTH_STATE"/log/* && exit 1; }
    tries=$((tries - 1))
    sleep 0.1
done
sed -n '1,4s/^/    /p' "$work/up"
tries=100
until [ -n "$("$berth" ads --json)" ] || [ $tries = 0 ]; do
    tries=$((tries - 1))
    sleep 0.1
done
shows ads -c 'Type == "Machine"'

say "One command runs elsewhere as if it ran here: its output comes, and its status."
shows run -- sh -c 'echo hello from $(uname -s), as $(id -un) in $PWD'

say "Twenty jobs from one ad ($jobs/sweep.ad): what happens to them, as it happens."
mkdir "$work/results"
cd "$work/results"
shows submit "$jobs/sweep.ad"
# tell_news: the lines of the jobs' logs that were not told yet, by their time.
tell_news() {
    for job in $(seq 2 21); do
        log=$BERTH_STATE/customer/jobs/$job.log
        [ -f "$log" ] || continue
        told=$(cat "$work/told.$job" 2>/dev/null || echo 0)
        lines=$(wc -l <"$log")
        sed -n "$((told + 1)),${lines}s/^\([^ ]*T[0-9:]*Z\) /\1 job $job: /p" "$log"
        echo "$lines" >"$work/told.$job"
    done | sort -s -k 1,1 | grep -v ': submitted' | sed "s/^[^ ]*T\([0-9:]*\)Z \(.*\)/    $faint\1  \2$plain/" || :
}
tries=300
until [ "$(find . -name 'pi.*' | wc -l)" -ge 20 ]; do
    tell_news
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo 'the jobs did not end in time' && exit 1; }
    sleep 0.1
done
tell_news
out '  $ cat pi.*\n    %s\n' "$(cat pi.* | tr '\n' ' ')"
shows wait 2-21
shows history -n 3
shows users

say "Three parties at once: a job, a machine, and one of two licences that another agent offers. They meet as a gang, wholly or not at all."
mkdir -p -m 700 "$BERTH_STATE/provide"
"$berth" token create --subject licences --scope "ad:read ad:write claim" --lifetime 1d --out "$BERTH_STATE/provide/token" >/dev/null 2>&1
out '  $ berth provide %s\n' examples/licenses.ad
"$berth" provide "$examples/licenses.ad" >"$work/licenses" 2>&1 &
licenses=$!
tries=100
until [ "$("$berth" ads -c 'Type == "License"' --json | wc -l)" = 3 ] || [ $tries = 0 ]; do
    tries=$((tries - 1))
    sleep 0.1
done
out '  $ berth submit %s\n' examples/jobs/licensed.ad
"$berth" submit "$jobs/licensed.ad" 2>&1 | sed 's/^/    /'
"$berth" wait 22-25 >/dev/null 2>&1 || { echo 'the jobs with licences did not end well' && exit 1; }
out "  \$ berth matches -c 'Label isnt undefined'\n"
"$berth" matches -c 'Label isnt undefined' 2>&1 | sed 's/^/    /'
out '  $ for job in 22 23 24 25; do berth logs $job; done\n'
for job in 22 23 24 25; do "$berth" logs $job; done | sed 's/^/    /'

say "A job that no machine here can run is not queued in silence: it is told why, and what would help."
sleep 3 # while machines are busy with claims it would only be said that it waits
shows submit "$jobs/impossible.ad" || :

say "Summary, after $(($(date +%s) - began)) s"
out '    %s jobs done, %s outputs back, mean of pi %s, 1 job refused with its reason\n' \
    "$("$berth" history --json | wc -l)" "$(find . -name 'pi.*' | wc -l)" "$(cat pi.* | awk '{ s += $1 } END { printf "%.3f", s / NR }')"
say "Now you:  build/berth pool, and in another terminal:  build/berth run -- hostname      (docs/jobs.md, docs/operations.md)"
