/* small_stack.h: runs a test program once more, as a child with a stack of 256 KiB, and passes its cases on.
 *
 * Not under the sanitizers: their frames are several times as large. Also the clock of such tests. Include after tap.h. */
#ifndef BERTH_TESTS_SMALL_STACK_H
#define BERTH_TESTS_SMALL_STACK_H

#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(TESTS_SANITIZED)
#define SMALL_STACK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMALL_STACK_SANITIZED 1
#endif
#endif
#ifndef SMALL_STACK_SANITIZED
#define SMALL_STACK_SANITIZED 0
#endif

/* The processor's seconds that this process has used. */
static inline double small_stack_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline uint64_t small_stack_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* What a hostile input may take, in seconds of the processor. The goal is 10 ms, and $BERTH_BOMB_MS=10 asks for just that; on a
 * shared machine the same work takes two or three times as long, and a test must not fail for a neighbour. */
static inline double small_stack_seconds(void)
{
    return (double)small_stack_setting("BERTH_BOMB_MS", SMALL_STACK_SANITIZED ? 400 : 30) * 1e-3;
}

static inline bool small_stack_is_child(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "--small-stack") == 0;
}

/* In the child's place: limits the stack and becomes the program anew, since a stack is sized when a program starts. */
static inline void small_stack_exec(const char *program, int out)
{
    struct rlimit limit = {256 << 10, 256 << 10};
    char arg[] = "--small-stack", name[] = "small-stack";
    char *const args[] = {name, arg, NULL}, *const env[] = {NULL};

    dup2(out, STDOUT_FILENO);
    if (setrlimit(RLIMIT_STACK, &limit) == 0)
        execve(program, args, env);
    _exit(127);
}

/* Each `ok` and `not ok` of the child becomes a case of ours; then that it ended well. */
static inline void small_stack_run(const char *program)
{
    int pipes[2], status = -1;
    char line[2048];

    if (SMALL_STACK_SANITIZED)
        return;
    fflush(stdout);
    if (pipe(pipes) < 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        small_stack_exec(program, pipes[1]);
    }
    close(pipes[1]);
    FILE *from = fdopen(pipes[0], "r");
    while (from && fgets(line, sizeof line, from)) {
        const char *dash = strstr(line, " - ");
        line[strcspn(line, "\n")] = '\0';
        if (dash && (strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0))
            tap_ok(*line == 'o', "%s", dash + 3);
        else if (*line == '#')
            puts(line);
    }
    if (from)
        fclose(from);
    waitpid(child, &status, 0);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "with a stack of 256 KiB the program ends by itself");
}

#endif
