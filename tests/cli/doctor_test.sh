#!/bin/sh
# doctor_test.sh: berth doctor on set-ups that are broken in one way each: what it finds, what it advises, its status; and that no secret gets into the
# bundle. No pool runs here: tests/live/doctor_live_test.sh has one. Prints TAP.
set -u
berth=${BERTH:?the program}
. "${BERTH_SOURCE:?the sources}/tests/common/says.sh"

# finds SENTENCE STATUS LEVEL ABOUT FOUND ADVICE: the status, and one finding whose texts contain these.
finds() {
  printf '%s\n' "$3" "$4" "$5" "$6" >wanted
  json "$1" "$2" '(lambda w: any(r["level"] == w[0] and r["about"] == w[1] and w[2] in r["found"] and w[3] in r["advice"] for r in rows))(open("wanted").read().split("\n"))'
}
doctor() { run "$berth" doctor --json "$@"; }

run "$berth" doctor nurse
expect 'it looks at three things, and no others' 2 '' "berth: doctor wants nothing, or some of: host, setup, pool; not 'nurse'"
doctor setup
json 'where nothing was set up nothing is wrong' 0 'all(r["level"] == "ok" and r["part"] == "setup" for r in rows)'
doctor host
finds 'the kernel is one that Berth runs on' "$status" ok kernel Linux ''
holds 'a machine has no problem, or the status says so' sh -c '[ "$1" = "$(grep -q "\"problem\"" out && echo 1 || echo 0)" ]' sh "$status"
# A machine that has slirp4netns, and not the device that it needs.
own=
[ "$(id -u)" = 0 ] || own=--map-root-user
run unshare $own --mount sh -c 'mount -t tmpfs none /dev/net && exec "$0" doctor --json host' "$berth"
finds 'what is installed is not advised to be installed, but what it lacks' "$status" note 'job network' /dev/net/tun 'wants /dev/net/tun'
run "$berth" doctor --quiet setup
says 'quiet says nothing of what is well' 0 '0 problems, 0 notes' ''
doctor pool
finds 'where no pool is known, that is no problem' 0 note matchmaker 'no pool is known here' 'berth pool'
finds 'and nobody takes jobs' 0 note customer 'no customer runs here' 'berth customer'
doctor pool --pool http://127.0.0.1:1
finds 'a pool that does not answer is one, and the status is 3' 3 problem matchmaker 'http://127.0.0.1:1' 'is it up'
holds 'what it met is in the finding, and not told beside it' [ ! -s err ]

echo '[ Lise = 3 ]' >config/berth/berth.ad
doctor setup
finds 'a setting that does not exist is found, with its place' 1 problem settings 'berth.ad:1:' 'mend that setting'
finds 'and the rest is looked at all the same' 1 ok state "$work/state" ''
run env -u BERTH_STATE -u HOME "$berth" doctor --json setup
finds 'also where nothing says where the state is' 1 problem settings 'berth.ad:1:' ''
rm config/berth/berth.ad
run env BERTH_LAESE=3 "$berth" doctor --json setup
finds 'a variable that is no setting is a note' 0 note settings BERTH_LAESE ''

chmod 755 state
doctor setup
finds 'a state folder that others may enter is found' 1 problem state 'others may enter' "chmod 700 $work/state"
chmod 700 state

# A matchmaker was here: it has a store, keys, and a token for its administrator.
timeout 60 "$berth" matchmaker --listen 127.0.0.1:0 >up 2>log &
matchmaker=$!
pids="$pids $matchmaker"
soon grep -q 'listening at  unix' up
doctor setup
finds 'a daemon that runs is well' 0 ok matchmaker 'it runs, version' ''
finds 'its store is whole' 0 ok store "$work/state/berth.db is whole" ''
"$berth" token create --lifetime 2h --scope 'ad:read ad:write' --out whole.token >/dev/null
"$berth" token create --lifetime 1s --out short.token >/dev/null
"$berth" token code >code
doctor pool
finds 'the pool answers, and the clocks agree' 0 ok clocks agree ''
finds 'that no machine is there is a note' 0 note machines 'no machine offers itself' 'berth join'
soon sh -c '! "$1" status --pool "$2" --token short.token' sh "$berth" "$(sed -n 's/.*listening at  \(http.*\)/\1/p' up | head -n 1)"
kill "$matchmaker"
wait "$matchmaker"
doctor setup
finds 'one that has ended is a note' 0 note matchmaker 'none answers now' 'berth pool'

for where in '' customer/ provider/; do mkdir -p -m 700 "state/$where"; done
cp whole.token state/token
doctor setup
finds 'a token that is good for a while is well' 0 ok token "$work/state/token: " ''
chmod 644 state/token
doctor setup
finds 'one that others can read is found' 1 problem token "$work/state/token" 'chmod 600'
cp short.token state/token && chmod 600 state/token
doctor setup
finds 'so is one that has ended, with how long ago' 1 problem token 'ended' 'berth join --only CODE'
rm state/token
printf 'damage' | dd of=state/berth.db bs=1 seek=4096 conv=notrunc 2>/dev/null
doctor setup
finds 'a store that is damaged is found' 1 problem store "$work/state/berth.db" ''

# What is not to be in the bundle, wherever it got to.
mkdir -m 700 -p state/log
token=$(sed -n 's/.*Token = "\([^"]*\)".*/\1/p' whole.token)
key=$(sed -n 's/.*Key = "\([^"]*\)".*/\1/p' whole.token)
code=$(grep -o 'berth-[A-Za-z0-9_-]*' code | head -n 1)
{
  echo "level=info event=join code=$code"
  echo "level=info header=\"Authorization: Bearer $token\" key=$key"
  echo 'url=https://alice:Sesame7@store.example.org/a url=http://bob@host/b plain=https://store.example.org/a@b'
  echo 'Store=postgresql://alice:hunt?er22@db/berth other=https://dave:Fig/9#x@host/a port=https://store.example.org:7600/b'
  echo 'https://db/a?user=al&password=abc12&mode=whole password=Plum12,Quince34 {"password":"Cherry Laurel5", "Token" : "Damson7"} token: Medlar8'
  echo 'msg="sent \"password\":\"Sloe11\" twice" Authorization: Basic QWxhZGRpbjpPcGVu'
  echo '{"authorization":"Digest Bullace9", "left":"kept1"} exit_code: 137, state=kept2'
  echo 'of=Lc9Vd4Hs6Gf1Pa8Ye3Ku7Bo%2BMi2Nw5%2FQj=='
  echo 'hash=aB3dE+6gH9jK/2mN5pQ8sT1vW4xY7z+0Cf path=/home/Alice/Projects2026/berth/results17/Output3/jobs/part'
  echo 'BERTH_PASSWORD=Swordfish9 api_token: x client_secret = "Marmalade5" Link=https://pool:7600/#k=Tangerine8'
  echo '-----BEGIN PRIVATE KEY-----'
  echo 'TEhXQVVQRElORw+/TEhXQVVQRElORw+/'
  echo '-----END PRIVATE KEY-----'
  echo 'level=info event=kept job=17 path=/home/alice/projects/berth/results/run.0017/output exit_code=137'
} >state/log/provider.log
cp state/keys/keys keys.copy
run env BERTH_CATALOGUES='https://carol:Opal4711@files.example.org' "$berth" doctor setup --bundle bundle.txt
holds 'a bundle is written' test -s bundle.txt
holds 'for its owner alone' [ "$(stat -c %a bundle.txt)" = 600 ]
for word in Sesame7 Swordfish9 Marmalade5 Tangerine8 Opal4711 TEhXQVVQ bob@ 'hunt?' er22 Fig/ 9#x abc12 Plum12 Quince34 Cherry Laurel5 Damson7 Medlar8 Sloe11 \
  QWxhZGRp Bullace9 Mi2Nw5 Lc9Vd4 2mN5pQ aB3dE "$key" "$code" "$token"; do
  [ -n "$word" ] || word='nothing to look for'
  [ -s bundle.txt ] && ! grep -qF -- "$word" bundle.txt && [ "$word" != 'nothing to look for' ]
  result $? "$(printf '%.12s... is not in it' "$word")"
done
# any twenty characters in a row of what is secret
cat >look.py <<'END'
import re, sys
bundle = open("bundle.txt").read()
secrets = [w for name in sys.argv[1:] for w in re.findall(r"[A-Za-z0-9_+/-]{24,}", open(name).read())]
assert len(secrets) > 5, secrets
found = [w[i:i + 20] for w in secrets for i in range(len(w) - 19) if w[i:i + 20] in bundle and not w[i:i + 20].strip("-").isalpha()]
assert not found, found[:3]
END
holds 'nor is any part of a token, a key or a code' python3 look.py keys.copy whole.token short.token code
for line in '== findings ==' '== settings ==' '== state folder ==' 'plain=https://store.example.org/a@b' \
  'event=kept job=17 path=/home/alice/projects/berth/results/run.0017/output exit_code=137' '@db/berth other=https://\[removed\]@host/a port=https://store.example.org:7600/b' \
  'password=\[removed\]&mode=whole' '"left":"kept1"} exit_code: 137, state=kept2' ' path=/home/Alice/Projects2026/berth/results17/Output3/jobs/part' 'https://\[removed\]@store.example.org/a'; do
  holds "but it has: $line" grep -q -- "$line" bundle.txt
done
run "$berth" doctor setup --bundle bundle.txt
holds 'what is there is not written over' sh -c '[ "$1" = 2 ] && grep -qx "berth: bundle.txt: File exists" err' sh "$status"

echo "1..$count"
[ $failures = 0 ]
