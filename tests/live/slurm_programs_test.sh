#!/bin/bash
# slurm_programs_test.sh: programs that call Slurm's commands, each the real one of Debian, with `berth slurm install` in the place of Slurm: Snakemake with
# --slurm, and Toil. Both expect a folder that all machines share, so their jobs run as the user who sends them, in it. As root, with an account of its
# own in a mount namespace of its own. What is not installed is left out. `./dev soak` runs it: both wait between their questions. Prints TAP.
set -u
berth=$(realpath "${BERTH:?the program}")
BERTH_SOURCE=$(realpath "${BERTH_SOURCE:?the sources}") && export BERTH_SOURCE
skip() { echo "1..0 # SKIP $*" && exit; }
[ "$(id -u)" = 0 ] || skip 'only root can be several users'
for tool in setpriv setsid unshare bwrap python3; do command -v $tool >/dev/null || skip "$tool is not here"; done
if [ -z "${PROGRAMS_APART:-}" ]; then
  unshare -m true 2>/dev/null || skip 'there are no mounts of one'\''s own here'
  PROGRAMS_APART=1 exec unshare -m --propagation private "$0"
fi
read -r first outer many </proc/self/uid_map
[ "$first $outer $many" = '0 0 4294967295' ] || skip 'this root is not that of the machine'
. "$BERTH_SOURCE/tests/common/live.sh"
top=$(mktemp -d -p /var/tmp berth-programs.XXXXXX) || exit 1
trap 'clean; rm -rf "$top"' EXIT
umask 022
chmod 755 "$work" "$top"
cp /etc/passwd passwd && cp /etc/group group
echo "anna:x:4001:4001::$top/home/anna:/bin/bash" >>passwd
printf 'anna:x:4001:\nphysics:x:5000:anna\n' >>group
mount --bind passwd /etc/passwd && mount --bind group /etc/group || skip 'no file can be put over another'
mkdir -p "$top/home/anna/bin" && cp "$berth" "$top/home/anna/bin/berth"
soon() { for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; "$@"; }
# as COMMAND...: anna types it at home.
as() {
  (cd "$top/home/anna" && exec setpriv --reuid anna --regid anna --init-groups env -i PATH="$top/home/anna/bin:/usr/local/bin:/usr/bin:/bin" HOME="$top/home/anna" USER=anna LANG=C.UTF-8 \
    BERTH_SUBMIT_SOCKET="$work/run/customer.sock" BERTH_SLURM_SHARE=1 "$@")
}
chown -R anna: "$top/home/anna"
echo "[ RunAs = \"owner\"; RunAsGroup = \"physics\"; Writable = { \"$top/home\" } ]" >owner.ad
mkdir -m 700 state
setsid "$berth" pool --state "$work/state" --listen 127.0.0.1:0 --set 'SubmitFor={ "*" }' --set SubmitSocket="$work/run/customer.sock" --set OwnerPolicy="$work/owner.ad" \
  >up 2>pool.err </dev/null &
groups="$groups $!"
disown
check 'a pool is up, whose machine runs jobs as their users' soon sh -c '"$0" ads --state "$1" --json -c "RunAs == \"owner\"" | grep -q RunAs' "$berth" "$work/state"
check 'Slurm'\''s commands are put into a folder' as berth slurm install bin
check 'the user sends a job by them' as sbatch --mem=64M -o first.log --wrap='id -un'
check 'which runs as that user, in the folder from where it was sent' soon grep -qx anna "$top/home/anna/first.log"

if command -v snakemake >/dev/null; then
  cat >"$top/home/anna/Snakefile" <<'END'
rule all:
    input: "total.txt"
rule one:
    output: "{n}.part"
    resources: mem_mb=128, disk_mb=32, runtime=10
    threads: 1
    shell: "echo {wildcards.n} >{output}; test -n \"$SLURM_JOB_ID\""
rule total:
    input: expand("{n}.part", n=[1, 2, 3])
    output: "total.txt"
    resources: mem_mb=128, disk_mb=32, runtime=10
    shell: "python3 -c 'import sys; print(sum(int(open(f).read()) for f in sys.argv[1:]))' {input} >{output}"
END
  chown anna: "$top/home/anna/Snakefile"
  flow() { as timeout -k 10 500 snakemake --slurm --jobs 3 --default-resources slurm_partition=berth mem_mb=128 disk_mb=32; }
  check 'Snakemake runs a workflow with --slurm' flow
  check 'to its end' [ "$(cat "$top/home/anna/total.txt" 2>/dev/null)" = 6 ]
  check 'with files of that user' [ "$(stat -c %U "$top/home/anna/1.part" 2>/dev/null)" = anna ]
  cat >"$top/home/anna/Snakefile" <<'END'
rule bad:
    output: "bad.txt"
    resources: mem_mb=128, disk_mb=32, runtime=10
    shell: "exit 3"
END
  fails() { ! as timeout -k 10 300 snakemake --slurm --jobs 1 --default-resources slurm_partition=berth mem_mb=128 disk_mb=32; }
  check 'and sees that a step has failed' fails
fi

if command -v toil-cwl-runner >/dev/null || python3 -c 'import toil' 2>/dev/null; then
  cat >"$top/home/anna/hello.py" <<'END'
import os
import sys
from toil.common import Toil
from toil.job import Job

def part(job, n):
    assert os.environ.get("SLURM_JOB_ID")
    return n * n

def total(job, parts):
    return sum(parts)

def begin(job):
    parts = [job.addChildJobFn(part, n, memory="100Mi", cores=1, disk="10Mi").rv() for n in range(4)]
    return job.addFollowOnJobFn(total, parts, memory="100Mi", cores=1, disk="10Mi").rv()

if __name__ == "__main__":
    options = Job.Runner.getDefaultArgumentParser().parse_args()
    with Toil(options) as toil:
        got = toil.start(Job.wrapJobFn(begin, memory="100Mi", cores=1, disk="10Mi"))
    with open("toil.out", "w") as out:
        out.write(f"{got}\n")
END
  chown anna: "$top/home/anna/hello.py"
  toil() { as timeout -k 10 500 /usr/bin/python3 hello.py --batchSystem slurm --disableCaching --clean always --workDir "$top/home/anna" --defaultMemory 100Mi --defaultDisk 10Mi "$top/home/anna/store"; }
  check 'Toil runs a workflow with --batchSystem slurm' toil
  check 'to its end' [ "$(cat "$top/home/anna/toil.out" 2>/dev/null)" = 14 ]
fi
echo "1..$count"
[ $failures = 0 ]
