/* health.c: is the machine fit for jobs? When it is not, it takes none, says why, and tries itself until a job of its own works.
 *
 *     well -- too little room or memory, its owner's check, a clock that jumps, or a job came to nothing by its fault --> unwell -- a pause, there is room --> trial -- worked --> well
 *                                                                          ^------- failed: a longer pause ------'
 *
 * A job that fails for what the machine lacks goes elsewhere and is not blamed (tasks.c tells the role so). A machine that goes on taking jobs
 * then would take, and fail, all that wait. The pause is longer each time, until a job of somebody else has run: a machine on which the
 * trial works and jobs do not takes one now and then. */
#include "live/providerd/providerd_parts.h"

#include "sys/confined_path.h"
#include "sys/disk_room.h"
#include "sys/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAUSE_LEAST (2 * SECOND)
#define PAUSE_MOST (5 * MINUTE)
#define PAUSE_CHECK (5 * SECOND) /* before the owner's check is asked again */
#define TRIAL_SPAN (20 * SECOND)
#define TRIAL_BYTES 4096
#define TRIAL_NUMBER 1
#define CLOCK_JUMP (2 * MINUTE)
#define CHECK_WORDS_MAX 64 /* of the owner's check */

static void path_in(const struct providerd *providerd, const char *name, char ret[DAEMON_PATH_MAX])
{
    snprintf(ret, DAEMON_PATH_MAX, "%.4000s%s%s", providerd->daemon.folder, *name ? "/" : "", name);
}

static bool room_lacks(const struct providerd *providerd, char *ret, size_t size)
{
    static const char *const names[] = {"", "work", "claims"};
    char path[DAEMON_PATH_MAX];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_in(providerd, names[i], path);
        if (disk_room_lacks(path, ret, size))
            return true;
    }
    return false;
}

/* Has the provider itself as much in memory as it may? Jobs have theirs for themselves. */
static bool memory_lacks(struct providerd *providerd, char *ret, size_t size)
{
    bool full = memory_is_full(&providerd->daemon.memory, runner_now());

    if (full)
        snprintf(ret, size, "MemoryMax: the provider has as much in memory as it may");
    return full;
}

bool health_lacks(const struct providerd *providerd)
{
    char words[HEALTH_WORDS_MAX + 1];

    return room_lacks(providerd, words, sizeof words);
}

static void pause_longer(struct health *health)
{
    health->pause = health->pause ? health->pause * 2 : PAUSE_LEAST;
    if (health->pause > PAUSE_MOST)
        health->pause = PAUSE_MOST;
    health->try_at = runner_now() + health->pause;
}

static void health_falls(struct providerd *providerd, const char *words)
{
    struct health *health = &providerd->health;

    if (!health->ails || strcmp(words, health->words) != 0)
        LOG(&providerd->daemon.log, LEVEL_WARNING, "machine.unwell", log_text("why", words),
            log_text("what", "it takes no more jobs until one of its own works"));
    if (!health->ails)
        health->since = runner_wall() / SECOND;
    health->ails = true;
    snprintf(health->words, sizeof health->words, "%s", words);
}

void health_fault(struct providerd *providerd, const char *words)
{
    bool fresh = !providerd->health.ails;

    health_falls(providerd, *words ? words : "a job could not be run");
    if (fresh)
        pause_longer(&providerd->health);
}

void health_good(struct providerd *providerd)
{
    if (!providerd->health.ails)
        providerd->health.pause = 0;
}

const char *health_words(const struct providerd *providerd)
{
    return providerd->health.ails ? providerd->health.words : NULL;
}

/* --------------------------------------------------------------------------------------------------------------- trials */

static void trial_over(struct providerd *providerd, const char *why)
{
    struct health *health = &providerd->health;
    char folder[DAEMON_PATH_MAX];
    struct err err;

    health->trying = false;
    providerd->executor->kind->clear(providerd->executor, health->claim);
    providerd_folder(providerd, folder, sizeof folder, health->claim, TRIAL_NUMBER);
    confined_remove(AT_FDCWD, folder, &err);
    if (why) {
        health_falls(providerd, why);
        pause_longer(health);
    } else {
        health->ails = false;
        LOG(&providerd->daemon.log, LEVEL_INFO, "machine.well",
            log_number("after", runner_wall() / SECOND - health->since));
    }
    providerd_probe(providerd);
}

/* Can a file be written there, and brought to disk? */
static int trial_write(const char *folder, struct err *err)
{
    char path[DAEMON_PATH_MAX + 16], bytes[TRIAL_BYTES];
    ssize_t wrote = -1;
    int fd;

    memset(bytes, 'x', sizeof bytes);
    snprintf(path, sizeof path, "%s/trial", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        wrote = write(fd, bytes, sizeof bytes);
    if (wrote == (ssize_t)sizeof bytes && fsync(fd) < 0)
        wrote = -1;
    if (wrote != (ssize_t)sizeof bytes)
        err_set(err, "%.200s: %s", folder, strerror(fd < 0 || wrote < 0 ? errno : ENOSPC));
    if (fd >= 0)
        close(fd);
    return wrote == (ssize_t)sizeof bytes ? 0 : -1;
}

static void trial_begin(struct providerd *providerd)
{
    static const char *const arguments[] = {"/bin/sh", "-c", "echo well >works && test -s works", NULL};
    static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    struct health *health = &providerd->health;
    struct executor *executor = providerd->executor;
    char folder[DAEMON_PATH_MAX];
    struct executor_order order = {
        .number = TRIAL_NUMBER,
        .folder = folder,
        .arguments = arguments,
        .environment = environment,
        .output = JOB_STDOUT,
        .error = JOB_STDERR,
        .deadline = runner_now() + TRIAL_SPAN,
        .span = TRIAL_SPAN,
        .warning = SIGTERM,
        .limits = {.cores = 1, .memory = INT64_C(64) << 20, .disk = INT64_C(16) << 20, .processes = 64}};
    struct err err = {0};

    health->claim = order.claim = secrets_word(&secrets_live);
    health->trying = true;
    providerd_folder(providerd, folder, sizeof folder, health->claim, TRIAL_NUMBER);
    if (workfolder_make(providerd, health->claim, TRIAL_NUMBER, &err) < 0 || trial_write(folder, &err) < 0 ||
        executor->kind->launch(executor, &order, &err) < 0)
        trial_over(providerd, err.text);
}

bool health_told(struct providerd *providerd, const struct executor_news *news)
{
    bool ours = providerd->health.trying && news->claim == providerd->health.claim;
    char words[EXECUTOR_WORDS_MAX + 64];

    if (!ours || news->kind == EXECUTOR_RUNS)
        return ours;
    snprintf(words, sizeof words, "a job of its own: %s%s%s", reason_words(news->reason), *news->words ? ": " : "",
             news->words);
    trial_over(providerd,
               news->kind == EXECUTOR_ENDED && news->reason == REASON_EXITED && news->status == 0 ? NULL : words);
    return true;
}

/* The owner's check, as words to a NULL; NULL: there is none. */
static const char *const *check_words(const struct providerd *providerd, const char *ret[CHECK_WORDS_MAX + 1])
{
    size_t count;
    const char *const *list = config_list(&providerd->daemon.config, CONFIG_HEALTH_CHECK, &count);

    for (size_t i = 0; i < count && i < CHECK_WORDS_MAX; i++)
        ret[i] = list[i];
    ret[count < CHECK_WORDS_MAX ? count : CHECK_WORDS_MAX] = NULL;
    return count ? ret : NULL;
}

/* A clock that is set while jobs run makes tokens, deadlines and files seem older or newer than they are: what works then is tried. */
static void clock_look(struct providerd *providerd)
{
    struct health *health = &providerd->health;
    int64_t clock = runner_wall() - runner_now(), moved = clock - health->clock;
    char words[HEALTH_WORDS_MAX + 1];

    if (health->clock && (moved > CLOCK_JUMP || moved < -CLOCK_JUMP)) {
        snprintf(words, sizeof words, "its clock was moved by %lld s", (long long)(moved / SECOND));
        health_fault(providerd, words);
        providerd_probe(providerd);
    }
    health->clock = clock;
}

/* Does the owner's check speak against jobs? Then the machine is unwell, and the check is asked again after a while. */
static bool check_refuses(struct providerd *providerd)
{
    struct health *health = &providerd->health;
    bool ailed = health->ails;

    if (!health->check.words[0])
        return false;
    health_falls(providerd, health->check.words);
    health->pause = PAUSE_CHECK;
    health->try_at = runner_now() + health->pause;
    if (!ailed)
        providerd_probe(providerd);
    return true;
}

void health_job(struct providerd *providerd)
{
    if (memory_is_full(&providerd->daemon.memory, runner_now()))
        providerd->health.look_at = 0;
}

void health_tick(struct providerd *providerd)
{
    struct health *health = &providerd->health;
    const char *check[CHECK_WORDS_MAX + 1];
    char words[HEALTH_WORDS_MAX + 1];
    bool ailed, due, checked;

    if (!providerd->executor || health->trying)
        return;
    clock_look(providerd);
    ailed = health->ails;
    due = ailed && runner_now() >= health->try_at;
    checked =
        health_check_tick(&health->check, check_words(providerd, check), due && health->check.ended < health->try_at);
    if ((ailed && !(due && checked)) || (checked && check_refuses(providerd)))
        return;
    if (!ailed && runner_now() < health->look_at)
        return;
    health->look_at = runner_now() + PROBE_MS * MILLISECOND;
    if (room_lacks(providerd, words, sizeof words) || memory_lacks(providerd, words, sizeof words)) {
        health_falls(providerd, words);
        health->pause = PAUSE_LEAST; /* looking costs nothing */
        health->try_at = runner_now() + health->pause;
        if (!ailed)
            providerd_probe(providerd);
    } else if (ailed) {
        trial_begin(providerd);
    }
}
