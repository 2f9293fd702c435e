/* wall.h: a wall clock that a test sets. To be included once in a test program: its clock_gettime takes the place of the system's. */
#ifndef BERTH_TESTS_WALL_H
#define BERTH_TESTS_WALL_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t wall_ahead; /* seconds that the wall clock is ahead of the true time */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    long failed = syscall(SYS_clock_gettime, clock, ret);

    if (!failed && clock == CLOCK_REALTIME)
        ret->tv_sec += wall_ahead;
    return (int)failed;
}

#endif
