#!/bin/sh
# registry_live_test.sh: jobs in images that lie in a registry: from where the owner lets them come, fetched once for many jobs, the digest of a tag,
# what goes wrong at the registry and by whose fault, hostile ones. The registry is the test's own, on loopback. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
if [ ! -x /usr/bin/skopeo ]; then
  echo '1..0 # SKIP skopeo is not here'
  exit 0
fi
make() { python3 "$BERTH_SOURCE/tests/exec/make_image.py" "$@"; }
images=$work/state/provider/images

# pushed NAME KIND [TAG]: puts an image into the registry; its digest is in NAME.digest.
pushed() {
  make pushed.tar "$2" || exit 1
  mkdir -p "registry/$1/tags"
  tar -xf pushed.tar -C "registry/$1"
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["manifests"][0]["digest"])' "registry/$1/index.json" >"$(basename "$1").digest"
  cp "$(basename "$1").digest" "registry/$1/tags/${3:-latest}"
}
pushed tools good
pushed deep/in/it plain 2.1
pushed deep/in/zstd zstd
pushed toolsevil single
pushed deep/dotdot dotdot
pushed deep/broken single
pushed deep/wide wide
pushed deep/endless single
pushed deep/proxyconnect single
python3 "$BERTH_SOURCE/tests/live/registry.py" registry port requests >registry.out 2>&1 &
pids=$!
mkdir private && cp -r registry/deep private/
echo 'ada:open-sesame-4711' >account && echo 'bob:open-sesame-0815' >other && echo word >word
python3 "$BERTH_SOURCE/tests/live/registry.py" private private.port private.requests "$(cat account)" >private.out 2>&1 &
pids="$pids $!"
holds 'another is up, which lets in who has an account' soon test -s private.port
kept=docker://127.0.0.1:$(cat private.port)
holds 'a registry is up' soon test -s port
at=docker://127.0.0.1:$(cat port)
echo "[ ImageSources = { \"$at/tools\", \"$at/deep/\", \"$kept/\", \"docker://registry.example.org/\" } ]" >owner.ad
no_proxy=127.0.0.1,proxy-word-$$ "$berth" pool --listen 127.0.0.1:0 --set ImageCache=12MiB --set OwnerPolicy="$work/owner.ad" >up 2>pool.err </dev/null &
pids="$pids $!"
holds 'a pool is up' soon grep -q 'To end it' up
sourced() { listed 'ads -c Type=="Machine"' "rows and rows[0].get('ImageSources') == ['$at/tools', '$at/deep', '$kept', 'docker://registry.example.org']"; }
holds 'its machine says from where it fetches images' soon sourced

# ----------------------------------------------------------------------------------------------------------------- fetched

run "$berth" run -q --image "$at/tools" -- cat /etc/word /etc/private
expect 'a job runs in an image of a registry' 0 'of the image
private' ''
blobs() { grep -c '^GET .*/blobs/' requests; }
before=$(blobs)
run "$berth" run -q --image "$at/tools:latest"
expect 'which says how it is run' 0 'by itself in /srv/app' ''
run "$berth" run -q --image "$at/tools@$(cat tools.digest)" -- cat /etc/word
expect 'its digest is a name of it' 0 'of the image' ''
holds 'it was fetched once' test "$(blobs)" = "$before"
cat >many.ad <<END
[ Image = "$at/deep/in/zstd"; Cmd = "cat"; Args = { "/etc/word" }; RequestCpus = 0.01; RequestMemory = 32M; RequestDisk = 1M; Count = 4 ]
[ Image = "$at/deep/in/zstd"; Cmd = "cat"; Args = { "/etc/other" }; RequestCpus = 0.01; RequestMemory = 32M; RequestDisk = 1M; Count = 4 ]
END
run "$berth" submit many.ad
id=$(sed -n 's/^8 jobs submitted: //p' out)
run "$berth" wait "$id"
holds 'many jobs that begin at once run in one image' test "$status" = 0
holds 'it was fetched once for all of them, and its layers may be packed by zstd' test "$(grep -c '^GET /v2/deep/in/zstd/blobs/' requests)" = 3
holds 'what its tag means was asked once' test "$(grep -c '^GET /v2/deep/in/zstd/manifests/latest 200' requests)" = 1
meant() { "$berth" job "$1" --json | grep -q "\"Image\": *\"$at/$2@$(cat "$3.digest")\""; }
holds 'and all have its digest' meant "${id%%-*}" deep/in/zstd zstd
run "$berth" submit --dry-run many.ad
holds 'a dry run shows it' grep -q "Image *= *\"$at/deep/in/zstd@$(cat zstd.digest)\"" out
cat >job.sub <<END
universe = container
container_image = $at/deep/in/it:2.1
executable = /usr/bin/cat
arguments = /etc/word
output = sub.out
queue
END
run "$berth" submit job.sub
run "$berth" wait "$(sed -n 's/^1 job submitted: //p' out)"
holds 'a submit file of HTCondor names one, too' grep -q '^of the image$' sub.out
cat >job.sub <<END
universe = docker
docker_image = ${at#docker://}/deep/in/it:2.1
executable = /usr/bin/cat
arguments = /etc/word
output = docker.out
queue
END
run "$berth" submit job.sub
run "$berth" wait "$(sed -n 's/^1 job submitted: //p' out)"
holds 'as docker_image as well' grep -q '^of the image$' docker.out

# ----------------------------------------------------------------------------------------------------------------- refused

mkdir nothing && for name in env sh; do ln -s "/usr/bin/$name" nothing/; done
run env PATH="$work/nothing" "$berth" run -q --image "$at/tools" -- true
says 'without skopeo a tag is refused, and what to do is said' 2 '' 'berth: run: docker://*/tools: a tag may mean another image tomorrow, and skopeo, which finds out its digest, is not here: say NAME@sha256:DIGITS'
run env PATH="$work/nothing" "$berth" run -q --image "$at/tools@$(cat tools.digest)" -- cat /etc/word
expect 'and a digest is not' 0 'of the image' ''
run "$berth" run -q --image "$at/tools:gone" -- true
says 'a tag that the registry does not have is told before anything is sent' 2 '' 'berth: run: docker://*/tools:gone: skopeo cannot find out its digest: *manifest unknown*'
run "$berth" run -q --image 'docker://no host/x' -- true
says 'a name that is none as well' 2 '' "berth: run: docker://no host/x: 'docker://no host/x': expected docker://HOST/PATH:TAG or docker://HOST/PATH@sha256:DIGITS"
run "$berth" run -q --image "file://host/x.tar" -- true
says 'so is another way to fetch it' 2 '' 'berth: run: file://host/x.tar: it is nowhere that images are fetched from*'
for name in "$at/toolsevil" "docker://registry.example.org.evil/x@$(cat tools.digest)" "docker://127.0.0.1:1/tools@$(cat tools.digest)"; do
  run timeout 60 "$berth" run --image "$name" -- true
  holds "one from elsewhere matches no machine: ${name##*/}" grep -q 'other.ImageSources' err
done
# sent IMAGE: as something else than our command would
sent() { curl -sS --unix-socket "$work/state/customer/customer.sock" -o out -H 'Content-Type: application/classad' -d "[ Cmd = \"true\"; Image = \"$1\" ]" http://x/v1/jobs 2>err; }
sent "$at/tools"
holds 'the customer takes no tag' grep -q "Image: $at/tools:latest may be another image tomorrow: say its digest" out
sent "$at/tools@sha256:0"
holds 'and no name that is none' grep -q 'Image: expected a file among the inputs, a folder of the machine as a path from the root .*, or docker://HOST/PATH@sha256:DIGITS' out
: >held
# submitted NAME DIGEST: a job in that image, which will be held.
submitted() {
  echo "[ Image = \"$at/$1@$2\"; Cmd = \"cat\"; Args = { \"/etc/word\" }; RequestCpus = 0.01; RequestMemory = 32M; RequestDisk = 1M ]" >one.ad
  "$berth" submit one.ad 2>&1 | sed -n "s,^1 job submitted: ,$1 ,p" >>held
}
# held NAME WORDS SENTENCE: and why.
held() {
  id=$(sed -n "s,^$1 ,,p" held)
  is_held() { "$berth" job "$id" --json >is.held && grep -q '"State": *"Held"' is.held; }
  soon is_held
  if grep -q "its image: $2" is.held; then result 0 "$3"; else cp is.held why; result 1 "$3"; fi
}
# a layer of other bytes than its digest says
for blob in registry/deep/broken/blobs/sha256/*; do [ "$(wc -c <"$blob")" -lt 10000 ] || printf x >>"$blob"; done
submitted tools "sha256:$(printf %064d 0)"
submitted deep/dotdot "$(cat dotdot.digest)"
submitted deep/broken "$(cat broken.digest)"
submitted deep/wide "$(cat wide.digest)"
held tools 'the registry has no such image (.*manifest unknown' 'a digest that the registry does not have is held with the reason'
held deep/dotdot "'../escaped' leads out of the image" 'one that is hostile is refused as if it came in a file'
held deep/wide 'the image is larger than 12 MiB' 'one whose layers together are too large is refused'
held deep/broken 'the registry gives other bytes than the digest says' 'bytes that are not those of the digest are refused'
touch registry/endless
submitted deep/endless "$(cat endless.digest)"
held deep/endless 'the image is larger than 12 MiB' 'a registry that does not end is ended'
rm registry/endless
echo 418 >registry/refuse
submitted deep/proxyconnect "$(cat proxyconnect.digest)"
held deep/proxyconnect 'it cannot be fetched' 'a name is not taken for what went wrong'
rm registry/refuse
holds 'and the machine still fetches from there' sourced
holds 'nothing is left of them' sh -c "! ls -d $images/*.new $images/*.got"

# ----------------------------------------------------------------------------------------------------------- with an account

run "$berth" run -q --image "$kept/deep/endless" -- true
says 'what a registry does not let everybody read is told' 2 '' 'berth: run: docker://*/deep/endless: skopeo cannot find out its digest: *'
touch private/slow
"$berth" run -q --secret reg=account --image-secret reg --image "$kept/deep/endless" -- cat /etc/word >own.out 2>own.err &
running=$!
holds 'an image is fetched with an account' soon test -e private/waits
seen() { # is the password in a command line, or in the environment of a process?
  python3 -c '
import glob, sys
word = open("account").read().strip().split(":")[1].encode()
for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
    try:
        text = open(path, "rb").read()
    except OSError:
        continue
    if word in text and b"registry.py" not in text:
        sys.exit(0)
sys.exit(1)'
}
fetches() { grep -l skopeo /proc/[0-9]*/comm; }
holds 'by skopeo' soon fetches
if seen; then result 1 'which has the password neither in its words nor in its variables'; else result 0 'which has the password neither in its words nor in its variables'; fi
if cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -q "^127[^ ]*proxy-word-$$\$"; then result 1 'and no word of a command says what its proxy is'; else result 0 'and no word of a command says what its proxy is'; fi
rm private/slow
wait "$running"
holds 'a job runs in it' grep -q '^of the image$' own.out
blobs() { grep -c '^GET .*/blobs/' private.requests; }
before=$(blobs)
run "$berth" run -q --secret reg=account --image-secret reg --image "$kept/deep/endless" -- sh -c 'cat /etc/word; test -s $BERTH_SECRETS/reg && echo has it'
expect 'the next one finds it here, and has its secret as ever' 0 'of the image
has it' ''
holds 'and nothing was fetched anew' test "$(blobs)" = "$before"
digest=$(cat endless.digest)
private() { # NAME OPTIONS...: a job in that image; the name of it in `held`
  name=$1
  shift
  echo "[ Image = \"$kept/deep/endless@$digest\"; Cmd = \"cat\"; Args = { \"/etc/word\" }; $1 ]" >one.ad
  shift
  "$berth" submit "$@" one.ad 2>&1 | sed -n "s,^1 job submitted: ,$name ,p" >>held
}
private without ''
private other 'Secrets = { "reg" }; ImageSecret = "reg"' --secret reg=other
held without 'the registry does not let it be read' 'it serves nobody without the account'
held other 'the registry does not let it be read' 'nor one with another'
run "$berth" run -q --secret reg=word --image-secret reg --image "$kept/deep/endless@$digest" -- true
says 'a secret that is no account is refused' 2 '' 'berth: run: docker://*: ImageSecret: the secret is no account: expected USER:PASSWORD'
echo "[ Image = \"$kept/deep/endless@$digest\"; Cmd = \"true\"; ImageSecret = \"gone\" ]" >one.ad
run "$berth" submit --secret reg=account one.ad
holds 'a secret that is not given is refused' grep -q "ImageSecret: 'gone' is none of the job's Secrets" err
echo '[ Image = "/srv/image"; Cmd = "true"; Secrets = { "reg" }; ImageSecret = "reg" ]' >one.ad
run "$berth" submit --force --secret reg=account one.ad
holds 'an account goes with a registry' grep -q 'ImageSecret: it goes with an image in a registry' err
packed=$(printf %s "$(cat account)" | base64)
holds 'the account lies in no log and in no file of the pool' sh -c "! grep -rqaF -e 'open-sesame' -e '$packed' '$work/state'"

# ------------------------------------------------------------------------------------------------ the registry is not there

echo 503 >registry/refuse
echo "[ Image = \"$at/deep/endless@$(cat endless.digest)\"; Cmd = \"cat\"; Args = { \"/etc/word\" } ]" >late.ad
run "$berth" submit late.ad
id=$(sed -n 's/^1 job submitted: //p' out)
holds 'a registry that does not work is told' soon grep -q 'image.registry.*could not be reached' "$work/state/log/provider.log"
unsourced() { listed 'ads -c Type=="Machine"' "rows and rows[0].get('ImageSources') == ['$kept', 'docker://registry.example.org']"; }
holds 'the machine does not say any more that it fetches from it' soon unsourced
holds 'it is well all the same, and takes other jobs' listed 'ads -c Type=="Machine"' "rows and 'Unwell' not in rows[0]"
given() { "$berth" job "$id" | grep -q 'says: its image: the registry does not work now'; }
holds 'the job is given back, with the reason' soon given
holds 'and is not held' sh -c "! '$berth' job '$id' --json | grep -q '\"State\": *\"Held\"'"
rm registry/refuse
run timeout 200 "$berth" wait "$id"
holds 'and runs when the registry is back' test "$status" = 0

echo "1..$count"
[ $failures -eq 0 ]
