/* guard.c: the memory of a process that holds secrets is its own. */
#include "exec/guard.h"

#include <sys/prctl.h>
#include <sys/resource.h>

void guard_memory(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void guard_lift(void)
{
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
