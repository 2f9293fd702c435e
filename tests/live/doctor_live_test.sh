#!/bin/bash
# doctor_live_test.sh: berth doctor beside a pool that runs: all is well; a machine that its owner's check holds to be sick is found, from the pool and on
# the machine; and what the bundle has of the logs has no secret of the pool in it. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid python3

state=$work/state
export BERTH_STATE=$state
checks=$work/checks
mkdir "$checks"
printf '#!/bin/sh\n[ ! -e %s/bad ] || { echo "the cooling has failed"; exit 3; }\n' "$checks" >"$checks/check"
chmod +x "$checks/check"
: >"$checks/bad"
setsid "$berth" pool --listen 127.0.0.1:0 --set Unprotected=true --set "HealthCheck={\"$checks/check\"}" >up 2>pool.err &
groups="$groups $!"
disown
until_true() { local ends=$((SECONDS + $1)); while ! "${@:2}" >/dev/null 2>&1; do [ $SECONDS -lt $ends ] || { "${@:2}"; return 1; }; sleep 0.2; done; }
check 'a pool is up' until_true 60 grep -q 'pool is up' up

# found STATUS LEVEL PART ABOUT FOUND: the doctor ends so, and says that.
found() {
  "$berth" doctor --json setup pool >found.json
  local status=$?
  [ "$1" = any ] || [ $status = "$1" ] || { echo "status $status"; cat found.json; return 1; }
  python3 - "${@:2}" <<'END'
import json, sys
level, part, about, text = sys.argv[1:]
rows = [json.loads(line) for line in open("found.json")]
assert any(r["level"] == level and r["part"] == part and r["about"] == about and text in r["found"] for r in rows), rows
END
}
check 'a machine that is sick is a problem of the pool' until_true 60 found 1 problem pool machines 'takes no jobs: HealthCheck: the cooling has failed'
check 'and of the machine' until_true 60 found 1 problem setup provider 'it takes no jobs: HealthCheck: the cooling has failed'
rm "$checks/bad"
check 'when it comes back, all is well' until_true 60 found 0 ok pool machines '1 offers of machines, 2 agents'
for what in 'ok|setup|matchmaker|it runs' 'ok|setup|customer|it runs' 'ok|setup|provider|it runs' 'ok|setup|token|customer/token' \
  'ok|setup|store|provider/berth.db is whole' 'ok|pool|clocks|agree' 'ok|pool|customer|it takes your jobs' 'ok|pool|who you are|admin'; do
  IFS='|' read -r level part about text <<<"$what"
  check "$part: $about: $text" until_true 60 found 0 "$level" "$part" "$about" "$text"
done

"$berth" token code >code
"$berth" token create --lifetime 2h --scope 'ad:read' --out some.token >/dev/null
"$berth" doctor --bundle bundle >/dev/null
grep -o 'http.*#k=[0-9a-f]*' up | sed 's/.*=//' >link
without() {
  python3 - <<'END'
import re
bundle = open("bundle").read()
assert "== findings ==" in bundle and "event=" in bundle, "there is nothing in it"
names = ["code", "link", "some.token", "state/keys/keys", "state/customer/token", "state/provider/token"]
secrets = [word for name in names for word in re.findall(r"[A-Za-z0-9_-]{24,}", open(name).read())]
assert len(secrets) > 10, secrets
found = [word for word in secrets for at in range(len(word) - 15) if word[at:at + 16] in bundle and any(c.isdigit() for c in word[at:at + 16])]
assert not found, found
END
}
check 'no code, link, token or key of the pool is in the bundle' without
echo "1..$count"
[ $failures = 0 ]
