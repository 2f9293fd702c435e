/* wall_shift.c: to be preloaded: a wall clock that is ahead by the seconds that the file $WALL_SHIFT holds, now. No file, no shift. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ret);
time_t time(time_t *ret);
int gettimeofday(struct timeval *restrict ret, void *restrict zone);

static long shift(void)
{
    const char *path = getenv("WALL_SHIFT");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char text[32] = "";
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    return len > 0 ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    long failed = syscall(SYS_clock_gettime, clock, ret);

    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ret->tv_sec += shift();
    return (int)failed;
}

time_t time(time_t *ret)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
