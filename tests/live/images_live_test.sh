#!/bin/sh
# images_live_test.sh: jobs that run in images: of OCI and Docker in tar files, of squashfs and .sif, and in folders of the machine. What the image says
# of how it is run, what it cannot do, hostile ones, many jobs at once, the bound of the cache, agents that die meanwhile. The images are made here.
# Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
. "$BERTH_SOURCE/tests/common/says.sh"
make() { python3 "$BERTH_SOURCE/tests/exec/make_image.py" "$@"; }
for kind in good docker packed zstd zstd-skipped zstd-whole; do make $kind.tar $kind || exit 1; done
images=$work/state/provider/images
lies=$(mktemp -d -p /var/tmp berth-images.XXXXXX) || exit 1
trap 'ends; rm -rf "$lies"' EXIT
chmod 755 "$lies"
make tree tree
mkdir -p "$lies/listed/layout" && tar -xf good.tar -C "$lies/listed/layout" && cp -a tree "$lies/listed/own" && ln -s /usr "$lies/listed/out" && cp -a tree "$lies/unlisted"
echo "[ ImageFolders = { \"$lies/listed\" } ]" >owner.ad
"$berth" pool --listen 127.0.0.1:0 --set ImageCache=12MiB --set OwnerPolicy="$work/owner.ad" >up 2>pool.err </dev/null &
pids=$!
holds 'a pool is up' soon grep -q 'To end it' up
holds 'its machine says that it runs images' soon listed 'ads -c Type=="Machine"' "rows and 'oci' in rows[0]['Images']"

# ------------------------------------------------------------------------------------------------------------- in an image

run "$berth" run -q --image good.tar -- sh -c 'cat /etc/word; ls /opt; ls /opt/full; cat /swapped/word /lib/by-link /root/word /etc/private /etc/other'
expect 'a job sees the files of the image, one layer over another' 0 'of the image
full
c
not in etc
through a link
at home
private
of the image' ''
run "$berth" run -q --image good.tar -e BOTH=job -- sh -c 'echo $PATH $FROM_IMAGE $BOTH $HOME $ENTRY; pwd; id -u; case $BERTH_JOB in 0) ;; *) echo own ;; esac'
expect 'its variables and its entrypoint hold, its user does not; the job begins in its own folder' 0 '/usr/bin yes job /job 1
/job
1000
own' ''
run "$berth" run -q --image good.tar
expect 'without a command the image says what is run, and where it begins' 0 'by itself in /srv/app' ''
run "$berth" run -q --image good.tar -- sh -c 'touch /etc/new /usr/new; touch /job/mine /tmp/mine && echo mine; stat -c %a /usr/bin/su; /usr/bin/su; ls /dev/sda /home; ls /sys; cat /etc/passwd'
says 'the image is read-only, without setuid and devices, and the machine is not in it' 0 'mine
755
1000
job:x:1000:*
nobody:*' "*'/etc/new': Read-only file system
*'/usr/new': Read-only file system
*'/dev/sda': No such file or directory
*'/home': No such file or directory
*'/sys': No such file or directory"
holds 'what it left came back' test -e mine
for kind in docker packed zstd zstd-skipped zstd-whole; do
  run "$berth" run -q --image "$work/$kind.tar" -- cat /etc/word
  expect "an image may come as Docker saves it, and packed ($kind)" 0 'of the image' ''
done
run "$berth" run -q --image "$lies/listed/own" -- sh -c 'cat /etc/word; ls -d /job /srv /home; id -u'
says 'a folder of the machine that its owner has listed is an image' 0 'of the image
/job
1000' '*/srv*
*/home*'
run "$berth" run -q --image "$lies/unlisted" -- true
holds 'one that is not listed matches no machine' grep -q 'other.ImageFolders' err
echo 'word of the job' >word
cat >job.ad <<'END'
[ Image = "good.tar"; Cmd = "/usr/bin/cat"; Args = { "word", "/etc/word" }; Inputs = { "word" }; Constraint = other.Type == "Machine" ]
END
run "$berth" submit job.ad
id=$(sed -n 's/^1 job submitted: //p' out)
run "$berth" wait "$id"
run "$berth" logs "$id"
expect 'an ad says it as well; a path is one of the image' 0 'word of the job
of the image' ''
cat >job.sub <<'END'
universe = container
container_image = good.tar
executable = /usr/bin/cat
arguments = /etc/word
output = sub.out
queue
END
run "$berth" submit job.sub
run "$berth" wait "$(sed -n 's/^1 job submitted: //p' out)"
holds 'and a submit file of HTCondor' grep -q '^of the image$' sub.out
echo '[ Image = "gone.tar"; Cmd = "true" ]' >gone.ad
run "$berth" submit -f gone.ad
says 'an image that is not there is told before anything is sent' 2 '' 'berth: *gone.tar: *'
mkdir layout && tar -xf good.tar -C layout
run "$berth" run -q --image layout -- cat /etc/word
expect 'an OCI layout is an image, and is carried along as one file' 0 'of the image' ''
for n in 1 2 3; do echo "[ Image = \"layout\"; Cmd = \"cat\"; Args = { \"/etc/word\" } ]"; done >three.ad
touch layout/index.json layout/of-another-program
run "$berth" submit three.ad
run "$berth" wait "$(sed -n 's/^3 jobs submitted: //p' out)"
holds 'so it is of many jobs of one submission' test "$status" = 0
unpackings() { grep -c "image.unpacked.*it is there" "$work/state/log/provider.log"; }
before=$(unpackings)
run "$berth" run -q --image ./layout -- cat /etc/word
holds 'a layout whose files have other times is still the same' test "$(unpackings)" = "$before"
mkdir folder
run "$berth" run -q --image folder -- true
says 'a folder that is none is refused, and what to do is said' 2 '' 'berth: run: folder: it is a folder, but no OCI layout (`skopeo copy ... oci:FOLDER` makes one); *'
run "$berth" run -q --image "$lies/listed/layout" -- cat /etc/word /etc/private
expect 'an OCI layout on the machine, in a folder that its owner has listed, is an image' 0 'of the image
private' ''
run "$berth" run -q --image "$lies/listed/layout"
expect 'which says what is run in it' 0 'by itself in /srv/app' ''
rm "$lies/listed/layout/blobs/sha256/"* && ln -s /etc/passwd "$lies/listed/layout/blobs/sha256/$(printf %064d 0)"
sed -i 's/sha256:[0-9a-f]*/sha256:'"$(printf %064d 0)"'/' "$lies/listed/layout/index.json"
echo "[ Image = \"$lies/listed/layout\"; Cmd = \"true\"; MaxRetries = 0 ]" >linked.ad
"$berth" submit linked.ad 2>&1 | sed -n "s/^1 job submitted: /linked /p" >linked
run "$berth" run -q --image good.sif -- true
holds 'a .sif file that is not there is told as well' test "$status" = 2
run "$berth" run -q --image good.tar -- /usr/bin/nothing
holds 'a program that the image does not have is not there' test "$status" = 127

# --------------------------------------------------------------------------------------------------------------- hostile

# submitted FILE: submits a job in that image, which will be held, under that name.
: >held
cat linked >>held
submitted() {
  echo "[ Image = \"$1\"; Cmd = \"cat\"; Args = { \"/etc/word\" }; RequestCpus = 0.01; RequestMemory = 32M; RequestDisk = 1M ]" >"$1.ad"
  "$berth" submit "$1.ad" 2>&1 | sed -n "s/^1 job submitted: /$1 /p" >>held
}
# held FILE WORDS SENTENCE: and why.
held() {
  id=$(sed -n "s/^$1 //p" held)
  is_held() { "$berth" job "$id" --json >is.held && grep -q '"State": *"Held"' is.held; }
  soon is_held
  if grep -q "its image: $2" is.held; then result 0 "$3"; else cp is.held why; result 1 "$3"; fi
}
hostile='dotdot hardlink-out hardlink-nowhere links whiteout-dotdot digest diff-id bomb zstd-bomb zstd-cut zstd-window zstd-garbage gzip-cut json arch garbage'
for kind in $hostile; do
  make "$kind.tar" "$kind"
  submitted "$kind.tar"
done
# a folder of the machine is no input
echo "[ Image = \"$lies/listed/out\"; Cmd = \"true\"; MaxRetries = 0 ]" >out.ad
"$berth" submit out.ad 2>&1 | sed -n "s/^1 job submitted: /out /p" >>held
refused() { held "$1.tar" "$2" "an image is refused: $1"; }
held out "'/usr' cannot be shown to jobs: jobs see it already" 'a link in a folder of images that leads out of it is not followed'
refused dotdot "'../escaped' leads out of the image"
refused hardlink-out "'../../../../etc/passwd' leads out of the image"
refused hardlink-nowhere "'x': another name of 'proc/self/environ': No such file or directory"
refused links "'way': No such file or directory"
refused whiteout-dotdot "'a/.wh...' leads out of the image"
refused digest 'what is called sha256:[0-9a-f]* in the image has another sum: sha256:[0-9a-f]*'
refused diff-id 'what is called sha256:[0-9a-f]* in the image has another sum: sha256:[0-9a-f]*'
refused bomb 'the image is larger than 12 MiB'
refused zstd-bomb 'the image is larger than 12 MiB'
refused zstd-cut 'what is packed in the image is not whole'
refused zstd-window 'a layer is packed with a window of more than 128 MiB'
refused zstd-garbage 'what is packed in the image is not whole'
refused gzip-cut 'what is packed in the image is not whole'
held linked "'blobs/sha256/0*' in the image: Too many levels of symbolic links" 'no link in an OCI layout is followed'
refused json "'index.json' in the image is too large"
refused arch 'the image is for z80, and this machine is'
refused garbage 'it is no tar file, or not a whole one'
holds 'nothing is left of them' sh -c "! ls -d $images/*.new"

# ------------------------------------------------------------------------------------------------------ squashfs and .sif

if [ -x /usr/bin/unsquashfs ] && command -v mksquashfs >/dev/null; then
  mkdir -p tree/.singularity.d/env
  echo 'export FROM_SCRIPT=set' >tree/.singularity.d/env/10-own.sh
  printf '#!/bin/sh\necho "run as $0 with $*, $FROM_SCRIPT"\n' >tree/.singularity.d/runscript
  chmod 755 tree/.singularity.d/runscript
  mkfifo tree/pipe
  mksquashfs tree good.sqsh -quiet -no-progress -all-root >/dev/null 2>&1
  make good.sif sif good.sqsh
  holds 'the machine says that it runs those, too' listed 'ads -c Type=="Machine"' "'sif' in rows[0]['Images'] and 'squashfs' in rows[0]['Images']"
  run "$berth" run -q --image good.sqsh -- sh -c 'cat /etc/word; echo $FROM_SCRIPT; ls /pipe; true'
  says 'a squashfs is an image' 0 'of the image
set' "*/pipe*: No such file or directory"
  run "$berth" run -q --image good.sif
  expect 'a .sif file as well, with its scripts' 0 'run as /.singularity.d/runscript with , set' ''
  broken() { # NAME OPTIONS...
    name=$1
    shift
    make "$name.sif" sif good.sqsh "$@"
    submitted "$name.sif"
  }
  broken cut cut=4096
  broken encrypted fstype=5
  broken ext3 fstype=2
  broken elsewhere offset=64
  dd if=/dev/zero of=tree/zeros bs=1M count=64 2>/dev/null
  mksquashfs tree large.sqsh -quiet -no-progress -all-root >/dev/null 2>&1
  submitted large.sqsh
  held cut.sif 'the .sif file is cut short' 'a .sif file that is cut short is refused'
  held encrypted.sif 'the image is encrypted, and nobody here has its key' 'one that is encrypted'
  held ext3.sif 'the image is no squashfs, and other file systems are not read here' 'one of another file system'
  held elsewhere.sif 'there is no squashfs where the image should be' 'one whose partition is elsewhere'
  held large.sqsh 'the image is larger than 12 MiB' 'one that would be too large is refused before it is unpacked'
else
  echo '# mksquashfs is not here: neither squashfs nor .sif is tried'
fi

# ------------------------------------------------------------------------------------------------------ many, and the bound

cp good.tar other.tar && printf 'x' >>other.tar # another file, the same image
echo '[ Image = "other.tar"; Cmd = "cat"; Args = { "/etc/word" }; RequestCpus = 0.01; RequestMemory = 32M; RequestDisk = 1M; Count = 8 ]' >many.ad
run "$berth" submit many.ad
run "$berth" wait "$(sed -n 's/^8 jobs submitted: //p' out)"
[ "$status" = 0 ] || { cat err && "$berth" history -n 8 --format 'Job State Reason Status Tries'; } | sed 's/^/# /'
holds 'many jobs that begin at once run in one image' test "$status" = 0
hash=$(b2sum -l 256 other.tar | cut -d ' ' -f 1)
holds 'it was unpacked once' test "$(grep -c "image.unpacked.*$hash" "$work/state/log/provider.log")" = 1
kept() { du -s --apparent-size -B 1 "$images" | awk '{ exit $1 > 14 * 1024 * 1024 }'; }
holds 'all that are kept are within the bound' soon kept
holds 'those that went are told' grep -q image.dropped "$work/state/log/provider.log"
run "$berth" run -q --image good.tar -- cat /etc/word
expect 'one that went comes again' 0 'of the image' ''

# ------------------------------------------------------------------------------------------------- an agent dies meanwhile

cat >long.ad <<'END'
[ Image = "good.tar"; Cmd = "sh"; Args = { "-c", "echo begun; until [ -e /job/end ]; do cat /etc/word >/dev/null || exit 3; done" }; Outputs = { } ]
END
run "$berth" submit long.ad
id=$(sed -n 's/^1 job submitted: //p' out)
begun() { "$berth" job "$id" peek stdout | grep -q begun; }
holds 'a job runs in an image' soon begun
pid=$(sed -n 's/^  provider *process \([0-9]*\),.*/\1/p' up)
kill -9 "$pid"
run "$berth" run -q --image docker.tar -- cat /etc/word
expect 'the machine is back' 0 'of the image' ''
run "$berth" run -q --image packed.tar -- cat /etc/word
expect 'others come and go' 0 'of the image' ''
holds 'and the image of the job that runs stays' test -e "$images/$(b2sum -l 256 good.tar | cut -d ' ' -f 1)/root/etc/word"
running() { "$berth" job "$id" --json | grep -q '"State": *"Running"'; }
holds 'it goes on' soon running
run "$berth" rm "$id"

echo "1..$count"
[ $failures -eq 0 ]
