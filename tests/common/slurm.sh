# slurm.sh: a real Slurm for one test: munged, slurmctld and two slurmd of four processors each, on free ports, in $work/slurm, as whoever runs it. To be read behind live.sh.
#
#     slurm_here || skip        are its programs installed?
#     slurm_start               false when it does not come up
#     slurm_end                 cancels all jobs, and waits until nothing of them is left
slurm_programs='munged slurmctld slurmd sbatch squeue scancel sinfo python3'
slurm_packages='munge slurmctld slurmd slurm-client'

slurm_missing() {
  for tool in $slurm_programs; do
    command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || { echo "$tool" && return; }
  done
}

slurm_ports() {
  python3 -c "
import socket
all = [socket.socket() for _ in range($1)]
for one in all: one.bind(('127.0.0.1', 0))
print(*[one.getsockname()[1] for one in all])"
}

slurm_configure() { # ports of the controller, of the default, of each node
  local host
  host=$(uname -n | cut -d. -f1)
  cat >"$work/slurm/slurm.conf" <<EOF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/slurm/munge.sock
SlurmctldPidFile=$work/slurm/slurmctld.pid
SlurmdPidFile=$work/slurm/slurmd.%n.pid
SlurmdSpoolDir=$work/slurm/spool.%n
StateSaveLocation=$work/slurm/state
SlurmctldLogFile=$work/slurm/slurmctld.log
SlurmdLogFile=$work/slurm/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
KillWait=15
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$3,$4] CPUs=4 CoresPerSocket=4 RealMemory=1000
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
EOF
  printf 'CgroupPlugin=autodetect\nCgroupAutomount=no\n' >"$work/slurm/cgroup.conf"
}

slurm_daemon() { # NAME COMMAND...: in a session of its own, which ends with the test
  setsid "${@:2}" >"$work/slurm/$1.out" 2>&1 </dev/null &
  groups="$groups $!"
  slurm_daemons="$slurm_daemons $!"
  disown
}

slurm_start() {
  local all
  slurm_daemons='' PATH=$PATH:/usr/sbin:/sbin
  mkdir -p "$work/slurm/state" && chmod 755 "$work/slurm"
  head -c 1024 /dev/urandom >"$work/slurm/munge.key" && chmod 600 "$work/slurm/munge.key"
  export SLURM_CONF=$work/slurm/slurm.conf
  all=$(slurm_ports 4) || return 1
  # shellcheck disable=SC2086
  slurm_configure $all
  slurm_daemon munged munged --foreground --force --key-file="$work/slurm/munge.key" --socket="$work/slurm/munge.sock" \
    --pid-file="$work/slurm/munged.pid" --log-file="$work/slurm/munged.log" --seed-file="$work/slurm/munged.seed"
  for _ in $(seq 100); do [ -S "$work/slurm/munge.sock" ] && break; sleep 0.1; done
  slurm_daemon slurmctld slurmctld -D -f "$SLURM_CONF"
  for node in n1 n2; do slurm_daemon $node slurmd -D -N $node -f "$SLURM_CONF"; done
  for _ in $(seq 300); do [ "$(sinfo -h -o '%T %D' 2>/dev/null)" = 'idle 2' ] && return 0; sleep 0.1; done
  tail -n 5 "$work"/slurm/*.out | sed 's/^/# /'
  return 1
}

slurm_end() {
  [ -n "${SLURM_CONF:-}" ] || return 0
  scancel --user="$(id -un)" 2>/dev/null
  for _ in $(seq 200); do [ -z "$(squeue -h 2>/dev/null)" ] && break; sleep 0.1; done
}
