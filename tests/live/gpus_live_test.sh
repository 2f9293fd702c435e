#!/bin/bash
# gpus_live_test.sh: a machine with two GPUs gives them to jobs one by one: who asks for one sees that one, who asks for none sees none, and nobody
# has what another has, also over a restart of the agent. Prints TAP.
#
# The GPUs are not there: their device files are /dev/null by other names, in a namespace of our own, and NVIDIA's library is one that makes its answers
# up, which is the first argument.
set -u
berth=${BERTH:?the program}
case ${2:-} in
'')
  mounts='unshare -m'
  [ "$(id -u)" = 0 ] || mounts='unshare -rm'
  $mounts sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null || { echo '1..0 # SKIP nothing can be mounted here' && exit; }
  place=$(mktemp -d) || exit 1
  GPUS_UID=$(id -u) GPUS_GID=$(id -g) GPUS_PLACE=$place $mounts "$0" "$(readlink -f "$1")" mount
  status=$?
  rm -rf "$place"
  exit $status
  ;;
mount) # a /dev with the usual files, and those of two GPUs
  mkdir "$GPUS_PLACE/dev" && mount --rbind /dev "$GPUS_PLACE/dev" && mount -t tmpfs -o mode=755 tmpfs /dev || exit 1
  for name in null zero full random urandom tty; do
    : >/dev/$name && mount --bind "$GPUS_PLACE/dev/$name" /dev/$name || exit 1
  done
  mkdir /dev/shm /dev/pts && mount --rbind "$GPUS_PLACE/dev/shm" /dev/shm && mount --rbind "$GPUS_PLACE/dev/pts" /dev/pts || exit 1
  ln -s pts/ptmx /dev/ptmx && ln -s /proc/self/fd /dev/fd && ln -s fd/0 /dev/stdin && ln -s fd/1 /dev/stdout && ln -s fd/2 /dev/stderr
  for name in nvidia0 nvidia1 nvidiactl nvidia-uvm; do
    : >/dev/$name && mount --bind "$GPUS_PLACE/dev/null" /dev/$name || exit 1
  done
  # the libraries of the driver, where they are looked for
  mount -t tmpfs -o mode=755 tmpfs /opt && mkdir -p /opt/nvidia/lib64 || exit 1
  for name in libcuda.so.1 libnvidia-ptxjitcompiler.so.1 libother.so.1; do echo "$name of the driver" >/opt/nvidia/lib64/$name; done
  inner=''
  [ "$GPUS_UID" = 0 ] || inner="unshare -U --map-user=$GPUS_UID --map-group=$GPUS_GID"
  exec $inner "$0" "$1" run
  ;;
esac
. "${BERTH_SOURCE:?the sources}/tests/common/live.sh"
need setsid bwrap
unset CUDA_VISIBLE_DEVICES

state=$work/state
export BERTH_STATE=$state
mkdir -m 700 "$state" && mkdir lib && cp "$1" lib/libnvidia-ml.so.1 || exit 1
LD_LIBRARY_PATH=$work/lib setsid "$berth" pool --listen 127.0.0.1:0 --set Unprotected=false >up 2>pool.err &
groups="$groups $!"
disown
for _ in $(seq 300); do grep -q 'pool is up' up && break; sleep 0.1; done
log=$state/log/provider.log
first=GPU-00000000-aaaa-bbbb-cccc-000000000000 second=GPU-00000001-aaaa-bbbb-cccc-000000000000

until_true() { local ends=$((SECONDS + $1)); while ! "${@:2}" >/dev/null 2>&1; do [ $SECONDS -lt $ends ] || { "${@:2}"; return 1; }; sleep 0.2; done; }
# used OF_ALL: as the list of machines has it
used() { "$berth" machines --json | grep -E "\"gpus\": *2.*\"gpus_used\": *$1[,}]" || { "$berth" machines --json; tail -n 5 "$log"; false; }; }
small='--memory 32MiB --disk 1MiB --cpus 0.1'
# sees WANTED OPTION...: what a job with those options sees of GPUs
sees() {
  timeout 60 "$berth" run $small "${@:2}" -- /bin/sh -c 'echo $(cd /dev && ls -d nvidia* 2>/dev/null) $BERTH_GPUS $CUDA_VISIBLE_DEVICES' >seen 2>seen.err
  [ "$(cat seen)" = "$1" ] || { cat seen seen.err; tail -n 5 "$log"; false; }
}

check 'the machine offers both GPUs' until_true 60 used 0
check 'and its log says how many it gives' grep 'jobs are held by .*, 2 GPUs' "$log"
check 'a job that asks for one sees that one, and the files that the driver needs' sees "nvidia-uvm nvidia0 nvidiactl $first $first" --gpus 1
check 'a job that asks for two sees both' sees "nvidia-uvm nvidia0 nvidia1 nvidiactl $first,$second $first,$second" --gpus 2
check 'one that asks for none sees none' sees ''
check 'what it says of itself changes nothing' sees '0' -e CUDA_VISIBLE_DEVICES=0
check 'who wants a smaller one gets that' sees "nvidia-uvm nvidia1 nvidiactl $second $second" --gpus 1 --require-gpus 'Memory <= 40G && Capability < 9.0'
python3 "$BERTH_SOURCE/tests/exec/make_image.py" good.tar good
in_image() {
  timeout 60 "$berth" run $small "$@" --image good.tar -e LD_LIBRARY_PATH=/own -- sh -c 'echo $(cd /dev && ls -d nvidia* 2>/dev/null) $BERTH_GPUS $LD_LIBRARY_PATH; cat /etc/word; ls /run/berth-gpu && cat /run/berth-gpu/libcuda.so.1' >seen 2>seen.err
}
given() {
  in_image --gpus 1
  printf '%s\n' "nvidia-uvm nvidia0 nvidiactl $first /run/berth-gpu:/own" 'of the image' libcuda.so.1 libnvidia-ptxjitcompiler.so.1 'libcuda.so.1 of the driver' | cmp - seen || { cat seen seen.err; tail -n 5 "$log"; false; }
}
check 'a job in an image sees its GPU, and the libraries of the driver of this machine' given
spared() { in_image; printf '%s\n' /own 'of the image' | cmp - seen || { cat seen seen.err; false; }; }
check 'one that asks for none sees nothing of them' spared
number() { sed -n 's/.*: \([0-9][0-9]*\)$/\1/p' "$1"; }
state_is() { "$berth" job "$1" | grep "^Job $1: $2"; }
ended() { state_is "$1" Succeeded; }
lies() {
  printf '[ Cmd = "/bin/ls"; Args = { "/dev" }; Iwd = "%s"; RequestMemory = 32M; RequestDisk = 1M; AssignedGpus = { "%s" } ]' "$work" $first >lie.ad
  "$berth" submit lie.ad >lie.id && until_true 60 ended "$(number lie.id)" && "$berth" logs "$(number lie.id)" >lie.out && grep null lie.out && ! grep nvidia lie.out
}
check 'a job cannot give itself one' lies
none() { ! timeout 60 "$berth" run $small --gpus 3 -- true >more 2>&1 && grep -i 'gpu' more; }
check 'who asks for more than there are is told so' none
none_such() { ! timeout 20 "$berth" run $small --gpus 1 --require-gpus 'Memory >= 100G' -- true >more 2>&1; }
check 'or for one that is not there' none_such

# Jobs that hold a GPU until they are ended, and tell which.
hold() {
  printf '[ Cmd = "/bin/sh"; Args = { "-c", "echo $CUDA_VISIBLE_DEVICES; sleep 600" }; Iwd = "%s"; RequestGpus = 1; RequestCpus = 0.1; RequestMemory = 32M; RequestDisk = 1M ]' "$work" >hold.ad
  "$berth" submit hold.ad >hold.id && number hold.id
}
has() { "$berth" logs "$1" 2>/dev/null | grep -o 'GPU-0000000[01]'; }
a=$(hold) b=$(hold) c=$(hold)
check 'two jobs with a GPU each run beside one another' until_true 60 used 2
apart() { state_is "$a" Running && state_is "$b" Running && has "$a" && has "$b" && [ "$(has "$a")" != "$(has "$b")" ]; }
check 'each has another' until_true 60 apart
check 'and the third waits' state_is "$c" Waiting
provider=$(sed -n 's/.*provider  *process \([0-9]*\),.*/\1/p' up)
kill -9 "$provider"
renewed() { [ "$(grep -c 'jobs are held by' "$log")" -ge 2 ]; }
check 'an agent that is killed begins anew' until_true 60 renewed
check 'and still both are in use' until_true 60 used 2
check 'the jobs run on' apart
was=$(has "$a")
"$berth" rm "$a" >/dev/null
got() { state_is "$c" Running && [ "$(has "$c")" = "$was" ]; }
check 'when one ends, the third gets its GPU' until_true 90 got
"$berth" rm "$b" "$c" >/dev/null
check 'in the end all are free' until_true 60 used 0
echo "1..$count"
[ $failures = 0 ]
