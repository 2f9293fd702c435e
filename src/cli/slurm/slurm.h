/* slurm.h: Slurm's commands, for people and programs that are used to them: sbatch, srun, squeue, sacct, scancel, sinfo, scontrol.
 *
 * The program looks at its name: `berth slurm install DIR` puts links to it there. A job has its own number; a task of an array is 7_3 as well, where 7 is the
 * number of the array's first job. */
#ifndef BERTH_CLI_SLURM_SLURM_H
#define BERTH_CLI_SLURM_SLURM_H

#include <stdbool.h>

/* Is the program called by the name of one of these commands? `path` is argv[0]. */
bool slurm_is_called(const char *path);
int slurm_main(int argc, char **argv); /* a status, as those commands give it */

#endif
