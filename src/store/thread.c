/* thread.c: begins a thread of a store. */
#include "store/store_parts.h"

#include <signal.h>

bool thread_start(pthread_t *ret, void *(*run)(void *), void *given)
{
    sigset_t all, before;
    bool begun;

    sigfillset(&all); /* signals are for the thread that handles them, or has them blocked */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    begun = pthread_create(ret, NULL, run, given) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}
