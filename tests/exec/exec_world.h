/* exec_world.h: an agent's side of the local executor, for its tests: jobs are ordered, and what is told of them is kept.
 *
 *     world_init -> job_run / job_launch -> world_wait -> world_done
 *
 * Every claim has a folder of its own in the world's folder. Included by the main file of a program, before tap.h. */
#ifndef BERTH_TESTS_EXEC_WORLD_H
#define BERTH_TESTS_EXEC_WORLD_H

#include "exec/local.h"
#include "exec/record.h"
#include "exec/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#define WORLD_NEWS_MAX 4096
#define SECOND_US 1000000ll
#define PATIENCE 120000 /* milliseconds that anything may take, where a disk stands still for a while, too: past it something hangs */

/* With this, the first job that a test gives to a claim is its second: so it runs on the claim's stage, where there is one. */
static bool world_staged;
/* Which network jobs have that may use one: as nobody says otherwise. */
static enum local_network world_network;

struct world {
    uv_loop_t loop;
    uv_timer_t timer, tick; /* tick: a turn of the loop that began with news must not wait for more */
    bool late;
    struct executor *executor;
    char path[128], state[160];
    struct executor_news news[WORLD_NEWS_MAX];
    size_t count;
};

static inline void world_told(void *user, const struct executor_news *news)
{
    struct world *world = user;

    if (world->count < WORLD_NEWS_MAX)
        world->news[world->count++] = *news;
}

static inline const char *world_program(void)
{
    const char *program = getenv("BERTH");

    return program ? program : "build/berth";
}

static inline void world_tick(uv_timer_t *timer)
{
    (void)timer;
}

/* An executor over the state that is there. */
static inline bool world_open(struct world *world, struct err *err)
{
    struct local_settings settings = {
        .state = world->state, .program = world_program(), .network = world_network, .told = world_told, .user = world};

    uv_loop_init(&world->loop);
    uv_timer_init(&world->loop, &world->timer);
    uv_timer_init(&world->loop, &world->tick);
    uv_timer_start(&world->tick, world_tick, 10, 10);
    world->timer.data = world;
    world->count = 0;
    world->executor = local_new(&world->loop, &settings, err);
    return world->executor != NULL;
}

static inline void world_init(struct world *world)
{
    struct err err = {0};

    snprintf(world->path, sizeof world->path, "/tmp/berth-exec-XXXXXX");
    if (!mkdtemp(world->path)) {
        printf("Bail out! no folder can be made in /tmp: %s\n", strerror(errno));
        exit(1);
    }
    snprintf(world->state, sizeof world->state, "%s/state", world->path);
    if (!world_open(world, &err)) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

static inline void world_close(struct world *world)
{
    if (world->executor)
        world->executor->kind->free(world->executor);
    world->executor = NULL;
    uv_close((uv_handle_t *)&world->timer, NULL);
    uv_close((uv_handle_t *)&world->tick, NULL);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    uv_loop_close(&world->loop);
}

static inline void world_done(struct world *world)
{
    char command[200];

    world_close(world);
    snprintf(command, sizeof command, "rm -rf %s", world->path); /* goes deeper than nftw */
    if (system(command) != 0)
        printf("# %s is left\n", world->path);
}

static inline void world_late(uv_timer_t *timer)
{
    ((struct world *)timer->data)->late = true;
}

/* From now on, not from when the loop last ran: a test may have done something long since. */
static inline void world_late_in(struct world *world, uint64_t milliseconds)
{
    world->late = false;
    uv_update_time(&world->loop);
    uv_timer_start(&world->timer, world_late, milliseconds, 0);
}

/* The loop runs that long. */
static inline void world_run(struct world *world, uint64_t milliseconds)
{
    world_late_in(world, milliseconds);
    while (!world->late)
        uv_run(&world->loop, UV_RUN_ONCE);
}

/* The first news of that kind on a claim's job; NULL: none came. */
static inline const struct executor_news *world_find(const struct world *world, uint64_t claim, uint64_t number,
                                                     enum executor_news_kind kind)
{
    for (size_t i = 0; i < world->count; i++)
        if (world->news[i].claim == claim && world->news[i].number == number && world->news[i].kind == kind)
            return &world->news[i];
    return NULL;
}

/* Its end, either way. */
static inline const struct executor_news *world_end(const struct world *world, uint64_t claim, uint64_t number)
{
    const struct executor_news *ended = world_find(world, claim, number, EXECUTOR_ENDED);

    return ended ? ended : world_find(world, claim, number, EXECUTOR_GONE);
}

static inline const struct executor_news *world_wait(struct world *world, uint64_t claim, uint64_t number,
                                                     enum executor_news_kind kind)
{
    const struct executor_news *news;

    world_late_in(world, PATIENCE);
    while (!(news = world_find(world, claim, number, kind)) && !world->late)
        uv_run(&world->loop, UV_RUN_ONCE);
    uv_timer_stop(&world->timer);
    return news;
}

static inline const struct executor_news *world_wait_end(struct world *world, uint64_t claim, uint64_t number)
{
    const struct executor_news *news;

    world_late_in(world, PATIENCE);
    while (!(news = world_end(world, claim, number)) && !world->late)
        uv_run(&world->loop, UV_RUN_ONCE);
    uv_timer_stop(&world->timer);
    return news;
}

/* ------------------------------------------------------------------------------------------------------------------ jobs */

/* The folder of a claim's jobs, made when it is not there. */
static inline const char *job_folder(struct world *world, uint64_t claim, char path[200])
{
    snprintf(path, 200, "%s/job-%llu", world->path, (unsigned long long)claim);
    mkdir(path, 0700);
    return path;
}

/* A shell script, with all that it says in the file "out"; to be changed before it is launched. */
struct job_order {
    struct executor_order is;
    char folder[200];
    const char *arguments[8];
    const char *environment[8];
};

static inline void job_order(struct world *world, uint64_t claim, uint64_t number, const char *script,
                             struct job_order *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->arguments[0] = "sh";
    ret->arguments[1] = "-c";
    ret->arguments[2] = script;
    ret->is = (struct executor_order){.claim = claim,
                                      .number = number,
                                      .job = 1,
                                      .folder = job_folder(world, claim, ret->folder),
                                      .arguments = ret->arguments,
                                      .environment = ret->environment,
                                      .output = "out",
                                      .error = "out",
                                      .deadline = record_now() + 300 * SECOND_US,
                                      .span = INT64_MAX,
                                      .warning = SIGTERM,
                                      .limits = {.processes = 64, .memory = 512 << 20, .disk = 256 << 20}};
}

#define WARMING UINT64_C(0x57a9e)

static inline int launcher_of(const struct world *world, uint64_t claim);

static inline void job_warm(struct world *world, const struct job_order *order)
{
    static uint64_t last = WARMING;
    struct executor_order warm = order->is;
    const char *const arguments[] = {"/bin/true", NULL};
    struct err err;

    warm.number = ++last;
    warm.arguments = arguments;
    warm.input = warm.output = warm.error = NULL;
    if (!world_staged || launcher_of(world, warm.claim) ||
        world->executor->kind->launch(world->executor, &warm, &err) < 0)
        return;
    world_wait_end(world, warm.claim, warm.number);
}

static inline bool job_launch(struct world *world, const struct job_order *order)
{
    struct err err = {0};

    job_warm(world, order);

    if (world->executor->kind->launch(world->executor, &order->is, &err) == 0)
        return true;
    printf("# not launched: %s\n", err.text);
    return false;
}

/* To its end. */
static inline const struct executor_news *job_run(struct world *world, uint64_t claim, uint64_t number,
                                                  const char *script)
{
    struct job_order order;

    job_order(world, claim, number, script, &order);
    return job_launch(world, &order) ? world_wait_end(world, claim, number) : NULL;
}

/* What a job wrote to a file of its folder, up to a page. */
static inline const char *job_text(struct world *world, uint64_t claim, const char *name)
{
    static char text[8192];
    char folder[200], path[300];
    ssize_t got = 0;
    int fd;

    snprintf(path, sizeof path, "%s/%s", job_folder(world, claim, folder), name);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        got = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    return text;
}

static inline bool job_says(struct world *world, uint64_t claim, const char *words)
{
    return strstr(job_text(world, claim, "out"), words) != NULL;
}

/* How many processes have that mark in their command line. */
static inline int marked_processes(const char *mark)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int count = 0;

    while (dir && (entry = readdir(dir))) {
        char path[300], text[4096];
        ssize_t got;
        int fd;

        if (*entry->d_name < '1' || *entry->d_name > '9' || atoi(entry->d_name) == (int)getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
            close(fd);
        for (ssize_t i = 0; i < got; i++)
            if (!text[i])
                text[i] = ' ';
        text[got > 0 ? got : 0] = '\0';
        count += got > 0 && strstr(text, mark) != NULL;
    }
    if (dir)
        closedir(dir);
    return count;
}

/* The launcher of a claim, or 0. */
static inline int launcher_named(const struct world *world, const char *name)
{
    char wanted[300];
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int found = 0;

    snprintf(wanted, sizeof wanted, "%s/%s", world->state, name);
    while (dir && !found && (entry = readdir(dir))) {
        char path[300], text[1024];
        ssize_t got;
        int fd;

        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        fd = *entry->d_name > '0' && *entry->d_name <= '9' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
            close(fd);
        text[got > 0 ? got : 0] = '\0';
        if (got > 15 && !strcmp(text, "berth") && !strcmp(text + 6, "launcher") && !strcmp(text + 15, wanted))
            found = atoi(entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}

static inline int launcher_of(const struct world *world, uint64_t claim)
{
    char name[20];

    snprintf(name, sizeof name, "%016llx", (unsigned long long)claim);
    return launcher_named(world, name);
}

/* Runs the cases as whoever we are and, as root, once more as an ordinary user; the count goes on. */
static inline void world_each_user(void (*cases)(void), int *count, int *failures)
{
    int ends[2], both[2], status;
    pid_t pid;

    cases();
    if (geteuid() != 0 || pipe(ends) < 0)
        return;
    both[0] = *count;
    both[1] = *failures;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(1);
        cases();
        both[0] = *count;
        both[1] = *failures;
        fflush(stdout);
        _exit(write(ends[1], both, sizeof both) != (ssize_t)sizeof both);
    }
    close(ends[1]);
    if (read(ends[0], both, sizeof both) != (ssize_t)sizeof both) {
        printf("Bail out! the cases as an ordinary user did not come to their end\n");
        both[1]++;
    }
    waitpid(pid, &status, 0);
    close(ends[0]);
    *count = both[0];
    *failures = both[1];
}

#endif
