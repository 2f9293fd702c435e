/* clock.c: what the machine's clocks show. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "sys/clock.h"

#include <sys/resource.h>
#include <time.h>

static int64_t clock_us(clockid_t clock)
{
    struct timespec at;

    clock_gettime(clock, &at);
    return (int64_t)at.tv_sec * INT64_C(1000000) + at.tv_nsec / 1000;
}

int64_t clock_now(void)
{
    return clock_us(CLOCK_BOOTTIME);
}

int64_t clock_spent(void)
{
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_waits(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

int64_t clock_wall(void)
{
    return clock_us(CLOCK_REALTIME);
}
