#!/bin/bash
# pilot_token_live_test.sh: pilots may run for longer than the token lasts that they were given: whoever keeps them puts another into their folders. The batch
# system is two scripts. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid
umask 077

# soon COMMAND...: it succeeds within half a minute.
soon() { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }
export BERTH_STATE=$work/state
setsid "$berth" pool --no-provider --listen 127.0.0.1:0 >pool.up 2>pool.err &
groups="$groups $!"
disown
check 'a pool is up, without machines' soon grep -q 'is up' pool.up

mkdir batch
cat >batch/submit <<END
#!/bin/bash
setsid "\$2" >"$work/batch/log" 2>&1 &
echo \$! >"$work/batch/pid"
echo "\$1" >"$work/batch/name"
echo 7
END
cat >batch/list <<END
#!/bin/bash
kill -0 "\$(cat "$work/batch/pid")" 2>/dev/null && echo "7 \$(cat "$work/batch/name")"
exit 0
END
chmod +x batch/submit batch/list
cat >batch.ad <<END
[ Name = "scripts"; Submit = { "$work/batch/submit", "\$NAME", "\$SCRIPT" }; SubmitId = "7";
  Status = { "$work/batch/list" }; JobId = Words[0]; JobName = Words[1]; JobState = "running"; Cancel = { "/bin/true" } ]
END

# The token lasts for 24 seconds, the pilot longer: its job takes 45.
keeps() {
  setsid "$berth" pilot --batch batch.ad --when 'Pilots < 1' --every 1s --count 1 --token-life 24s --time 10min --idle 5min --least-time 1s --least-disk 1M \
    --least-memory 1M --set Unprotected=true --set Grace=1 >keep.out 2>keep.err &
  keeper=$!
  groups="$groups $!"
  disown
  soon test -s batch/pid && groups="$groups $(cat batch/pid)"
}
check 'pilots are kept there' keeps
up() { grep 'is up, and asks' batch/log; }
check 'one begins' soon up
folder() { echo "$work"/state/pilots/pilot-*; }
lives() { "$berth" token show "$1" --json | sed -n 's/.*"expires": *"*\([^",}]*\).*/\1/p'; }
first=$(lives "$(folder)/token")
echo '[ Cmd = "/bin/sh"; Args = { "-c", "sleep 45; echo slept" }; Outputs = {}; RequestMemory = 16M; RequestDisk = 1M ]' >job.ad
"$berth" submit --force job.ad >submitted
id=$(sed -n 's/.*submitted: \([0-9]*\).*/\1/p' submitted)
renewed() { grep '^renewed the token of 1 pilot' keep.out; }
check 'its token is made anew in time' soon renewed
newer() { [ "$(lives "$(folder)/token")" != "$first" ]; }
check 'in its folder' newer
follows() { grep 'another token is good for' batch/log; }
check 'where the pilot finds it' soon follows
runs() { timeout 90 "$berth" wait "$id" && "$berth" logs "$id" | grep -x slept; }
check 'a job that takes longer than the first token lasts comes to its end' runs
once() { [ "$("$berth" logs --events "$id" | grep -c 'running on')" = 1 ]; }
check 'at the first try' once
stays() { kill -0 "$(cat batch/pid)"; }
check 'and the pilot is still there' stays
# Nobody keeps it any more: it goes when its token ends.
kill -9 "$keeper"
left() { grep 'leaves:' batch/log; }
check 'without another token it leaves before its own ends' soon left
sound() { ! grep -n 'Sanitizer\|runtime error' ./*.err batch/log; }
check 'none of them has complained' sound

echo "1..$count"
exit $((failures > 0))
