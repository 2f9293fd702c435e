# mpi.sh: a job of OpenMPI: the first process runs mpirun, which begins its daemons beside the other processes by `berth exec`.
#
#     berth run --processes 4 --processes-exec --network -i mpi.sh -i mpi-rsh -i ring.py -- sh mpi.sh python3 ring.py
#
# Each process of the job is one place for a process of MPI. BERTH names the program, if it is not in PATH there.
set -eu
if [ "$BERTH_MEMBER" != 0 ]; then
  exec sleep 100000000 # until the first ends: then the job is over
fi
places=$(echo "$BERTH_HOSTS" | tr ',' '\n' | awk '!seen[$1]++ { order[++n] = $1 } { slots[$1]++ }
  END { for (i = 1; i <= n; i++) printf("%s%s:%d", (i > 1 ? "," : ""), order[i], slots[order[i]]) }')
export OMPI_MCA_plm_rsh_agent="$PWD/mpi-rsh" OMPI_MCA_plm_rsh_no_tree_spawn=1 OMPI_MCA_orte_leave_session_attached=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp # other ways look for what a sandbox does not have
exec mpirun --host "$places" -np "$BERTH_MEMBERS" "$@"
