#!/bin/sh
# secrets_live_test.sh: the secrets of jobs: a job reads them from files in memory, on whatever machine, also after its customer or its provider was
# killed; nobody else reads them, and none of the files of customer, matchmaker and provider has them in the clear, not even in other digits.
# Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
state=$work/state

secret=$(od -An -N 24 -tx1 /dev/urandom | tr -d ' \n')
printf 's3cr3t-%s' "$secret" >token
printf 'other-%s\n' "$secret" >password
chmod 600 token password
sum=$(sha256sum <token)
# lies FOLDER...: a file beneath it, or its name, has the secret: as it is, in hexadecimal, or in base64 of any alignment.
lies() {
  python3 - token "$@" <<'END'
import base64, os, sys
secret = open(sys.argv[1], "rb").read()
forms = {secret, secret[8:], secret.hex().encode(), secret.hex().upper().encode()}
for pad in range(3):
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms.add(encode(b"x" * pad + secret)[8:-8])
found = looked = 0
for top in sys.argv[2:]:
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            try:
                text = open(path, "rb").read() + path.encode()
            except FileNotFoundError:
                continue
            looked += 1
            for form in forms:
                if form in text:
                    found += 1
                    print("in", path)
print(looked, "files were looked at")
sys.exit(0 if found else 1)
END
}
nowhere() { ! lies "$state" "$work/home" "$work/config"; }
words() { # of processes
  python3 - <<'END'
import glob, sys
secret = open("token", "rb").read()
found = []
for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
    try:
        found += [path] if secret in open(path, "rb").read() else []
    except OSError:
        pass
sys.exit(1 if found else 0)
END
}
mkdir found && base64 <token >found/base64
holds 'what is looked for would be found' lies found

# ---------------------------------------------------------------------------------------------------- kept, before there is a machine

"$berth" matchmaker --listen 127.0.0.1:0 >matchmaker.up 2>matchmaker.err &
pids=$!
soon grep -q 'listening at  unix' matchmaker.up
mkdir -m 700 state/customer state/provider
"$berth" token create --subject "$(id -un)" --scope 'ad:read ad:write claim job:submit job:own job:any' --lifetime 1d --out state/customer/token >/dev/null
"$berth" token create --subject "$(id -un)" --scope 'ad:read ad:write claim' --lifetime 1d --out state/provider/token >/dev/null
customer_start() {
  : >customer.up
  "$berth" customer >customer.up 2>>customer.err &
  customer=$!
  pids="$pids $customer"
  soon grep -q 'is up' customer.up
}
provider_start() {
  "$berth" provider "$@" >>provider.up 2>>provider.err &
  provider=$!
  pids="$pids $provider"
}
holds 'a customer is up' customer_start
cat >wait.ad <<'END'
[ Cmd = "/bin/sh"; Args = { "-c", "sha256sum <\"$BERTH_SECRETS/token\"; ls \"$BERTH_SECRETS\"; stat -c '%a %u' \"$BERTH_SECRETS/token\"; stat -f -c %T /run/secrets/token" };
  Secrets = { "token" }; Outputs = { } ]
END
run "$berth" submit wait.ad
expect 'an ad that names a secret that is not given is refused' 2 '' \
  "berth: wait.ad:1: Secrets: 'token' is not given: --secret token=FILE says where it is"
run "$berth" submit --secret token=token --secret password=password --dry-run wait.ad
holds 'what is sent of jobs does not have it' sh -c '[ -s out ] && ! grep -q s3cr3t out && grep -q Secrets out'
run "$berth" submit --secret token=token --secret password=password wait.ad
says 'a job with a secret is submitted before there is any machine' 0 '1 job submitted: 1' '*'
holds 'none of the files has it while it waits' nowhere
holds 'its key is in a file for its owner alone, and not in the store' sh -c \
  '[ "$(stat -c %a "$1/customer/secrets.key")" = 600 ] && ! grep -aqF "$(cat "$1/customer/secrets.key")" "$1/customer/"*.db*' sh "$state"
run "$berth" job 1 --long
holds 'those who look at the job see its name and nothing more' sh -c 'grep -q "^Secrets = { *\"token\"" out && ! grep -q s3cr3t out'
kill -KILL $customer
wait $customer 2>/dev/null
holds 'its customer is killed, and comes again' customer_start

# -------------------------------------------------------------------------------------------------- a machine that does not know of them

# it looks as one of an earlier version does, whose ad does not say that it gives jobs their secrets
echo '[ TakesSecrets = false ]' >earlier.ad
provider_start --policy earlier.ad
offered() { [ -n "$("$berth" ads --kind offers --json)" ]; }
holds 'there is a machine that gives jobs no secrets' soon offered
reasoned() { "$berth" why 1 >why.out; grep -q TakesSecrets why.out; }
holds 'the job does not match it, and why is told' soon reasoned
run "$berth" run -q --secret token=token -- true
holds 'a command that would wait for such a machine is not even submitted' sh -c '[ "$1" = 1 ] && grep -q TakesSecrets err' sh "$status"
run "$berth" run -q -- echo fine
expect 'other jobs run there' 0 fine
run "$berth" jobs 1 --format State
holds 'the one with a secret still waits' grep -qE '^(Waiting|Ready)$' out
kill $provider
wait $provider 2>/dev/null

# --------------------------------------------------------------------------------------------------------------------- it runs

provider_start
ended() { "$berth" jobs "$1" --format 'State Status' 2>/dev/null | grep -qE '^(Done|Cleared) 0$'; }
holds 'there is a machine now, and the job ends well' soon ended 1
run "$berth" logs 1
expect 'it has read its secret, the one that it named: a file in memory that only it can read' 0 "$sum
token
400 1000
tmpfs"
holds 'none of the files has it afterwards' nowhere
gone() { python3 - "$state/customer/berth.db" <<'END'
import sqlite3, sys
store = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
tables = [name for name, in store.execute("select name from sqlite_master where type = 'table'")]
left = 0
for table in tables:
    columns = [row[1] for row in store.execute("pragma table_info(%s)" % table)]
    if "space" in columns:
        left += store.execute("select count(*) from %s where space = 'secrets'" % table).fetchone()[0]
sys.exit(left != 0)
END
}
holds 'and the customer does not keep it any more' soon gone

# ---------------------------------------------------------------------------------------------------- while it runs, and who else is there

run "$berth" run --secret token=token -- sh -c 'sha256sum <$BERTH_SECRETS/token'
expect 'berth run takes secrets, too' 0 "$sum"
echo 'in a pipe' | timeout 30 "$berth" run -q --secret word=- -- sh -c 'cat $BERTH_SECRETS/word' >out 2>err
status=$?
expect 'also from standard input' 0 'in a pipe'
run "$berth" run -- sh -c 'echo "$BERTH_SECRETS"; ls /run 2>&1 | head -n 1'
says 'a job without secrets has no folder of them' 0 '
ls: *' ''
cat >long.ad <<'END'
[ Cmd = "/bin/sh"; Args = { "-c", "trap 'sha256sum <\"$BERTH_SECRETS/token\"; [ $BERTH_TRY = 2 ]; exit' USR1; echo ready; while :; do sleep 0.1; done" };
  RequestCpus = 0.1; RequestMemory = 32M; RequestDisk = 16M; Outputs = { }; MaxRetries = 1 ]
END
run "$berth" submit --secret token=token long.ad
long=$(sed 's/.*: //' out)
ready() { "$berth" logs "$1" | grep -q ready; }
holds 'a job runs that keeps its secret for a while' soon ready "$long"
holds 'none of the files has it while it runs' nowhere
holds 'and no process among its words' words
run "$berth" run -c 0.1 -m 64MiB -- sh -c \
  'cat /run/secrets/token /proc/[0-9]*/root/run/secrets/token </dev/null 2>/dev/null | grep -c s3cr3t'
expect 'another job on the same machine cannot read it' 1 0
kill -KILL $provider
wait $provider 2>/dev/null
provider_start
signalled() { "$berth" job "$long" signal USR1 2>/dev/null; ended "$long"; }
holds 'its provider is killed, and comes again: the job still has its secret, and so has its next try' soon signalled
run "$berth" logs "$long"
holds 'and reads it' grep -qxF "$sum" out
holds 'nothing of it was written' nowhere

# ---------------------------------------------------------------------------------------------------------------- rm, and another try

run "$berth" submit --secret token=token long.ad
long=$(sed 's/.*: //' out)
holds 'another one runs' soon ready "$long"
run "$berth" rm "$long"
holds 'when it is removed, its secret is' soon gone

# ---------------------------------------------------------------------------------------------------------------------- refused

for name in ../x x/y .x '' 'a b' "$(printf '%065d' 1)"; do
  run "$berth" run --secret "$name=token" -- true
  holds "a secret cannot be called '$name'" sh -c '[ "$1" = 2 ] && grep -q "berth: .*: a secret is called by up to 64 letters" err' sh "$status"
done
run "$berth" run --secret token -- true
says 'without a file there is none' 2 '' 'berth: *expected NAME=FILE*'
run "$berth" run --secret token=nothing -- true
expect 'nor with one that is not there' 2 '' 'berth: --secret token: nothing: No such file or directory'
head -c 65537 /dev/zero >large
run "$berth" run --secret token=large -- true
expect 'one that is too large is refused' 2 '' "berth: --secret 'token': a secret has at most 65536 bytes"
head -c 65536 /dev/zero >large
run "$berth" run --secret a=large --secret b=large --secret c=large --secret d=large -- true
expect 'all of them together as well' 2 '' 'berth: --secret the secrets of a job have together at most 262144 bytes'
run "$berth" run --secret token=token --secret token=password -- true
expect 'two of one name, too' 2 '' "berth: --secret 'token': there are two secrets of this name"
socket() { curl -sS --unix-socket "$state/customer/customer.sock" -o out -w '%{http_code}\n' "$@" >code 2>err; }
socket -H 'Content-Type: application/classad' -d '[ Cmd = "true"; Secrets = { "token" } ]' http://x/v1/jobs
holds 'a customer takes no job whose secret was not sent' sh -c "grep -q 400 code && grep -q \"ad 1: Secrets: 'token' was not sent\" out"
socket -H 'Content-Type: application/classad' -d '[ Cmd = "true"; Secrets = { "token" } ]' 'http://x/v1/jobs?secrets=0123456789abcdef'
holds 'nor one with an Id that it has not given' grep -q 400 code
socket -H 'Content-Type: application/classad' -d '[ Cmd = "true"; Secrets = { "../x" } ]' http://x/v1/jobs
holds 'nor one with names that lead elsewhere' sh -c 'grep -q 400 code && grep -q "Secrets: expected a list of up to 16 names" out'
socket -H 'Content-Type: application/classad' -d '[ Secrets = { [ Name = "../x"; Bytes = "eHg" ] } ]' http://x/v1/secrets
holds 'and keeps none of such a name' grep -q 400 code
for kind in GET PUT DELETE; do
  socket -X $kind http://x/v1/secrets
  holds "nobody can ask for them by $kind" sh -c '! grep -q "^20" code'
done
holds 'after all of this none of the files has any' nowhere

echo "1..$count"
[ $failures = 0 ]
