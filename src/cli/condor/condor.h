/* condor.h: HTCondor's commands, for people and programs that are used to them: condor_submit, condor_q, condor_rm, ...
 *
 * The program looks at its name: `berth condor install DIR` puts links to it there. A job has the number CLUSTER.PROC: the number of the first job that was
 * submitted with it, and how many came before it there. So job 17 of a submission 15-20 is 15.2. */
#ifndef BERTH_CLI_CONDOR_CONDOR_H
#define BERTH_CLI_CONDOR_CONDOR_H

#include <stdbool.h>

/* Is the program called by the name of one of these commands? `path` is argv[0]. */
bool condor_is_called(const char *path);
int condor_main(int argc, char **argv); /* an enum status */

#endif
