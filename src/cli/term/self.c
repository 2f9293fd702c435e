/* self.c: starts this program once more, and reads what it says. */
#define _GNU_SOURCE /* memfd_create */
#include "cli/term/self.h"
#include "cli/term/command.h"
#include "cli/term/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_MAX (1u << 20)

/* A file in memory with those bytes, to be read from its beginning; -1, which has been reported. */
static int file_of(const struct buf *given)
{
    int fd = memfd_create("given", MFD_CLOEXEC);

    if (fd >= 0 && given->len <= SELF_GIVEN_MAX && pwrite(fd, given->text, given->len, 0) == (ssize_t)given->len)
        return fd;
    report("a file in memory: %s", given->len > SELF_GIVEN_MAX ? "too large" : strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static _Noreturn void self_become(const char *const *words, int input, int output)
{
    if ((input >= 0 && dup2(input, STDIN_FILENO) < 0) || (output >= 0 && dup2(output, STDOUT_FILENO) < 0))
        _exit(STATUS_NO);
    if (output >= 0)
        close(output);
    execv("/proc/self/exe", (char *const *)(uintptr_t)words);
    _exit(127);
}

int self_run(const char *const *words, const struct buf *given, struct buf *said)
{
    int ends[2] = {-1, -1}, status, input = -1;
    char piece[4096];
    ssize_t got;
    pid_t child;

    if (given && (input = file_of(given)) < 0)
        return STATUS_NO;
    if (said && pipe2(ends, O_CLOEXEC) < 0) {
        report("a pipe: %s", strerror(errno));
        if (input >= 0)
            close(input);
        return STATUS_NO;
    }
    child = fork();
    if (child == 0)
        self_become(words, input, ends[1]);
    if (input >= 0)
        close(input);
    if (said)
        close(ends[1]);
    while (said && child > 0 && ((got = read(ends[0], piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0 && said->len < SAID_MAX)
            buf_add(said, piece, (size_t)got);
    if (said)
        close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return STATUS_NO;
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_NO;
}
