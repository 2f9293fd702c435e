/* wait.c: condor_wait: waits until jobs are over, by the event log that they name. No pool is asked.
 *
 *     005 (12.003.000) 2026-11-18 14:20:15 Job terminated.     the head of an event: its number, the job, the time, words
 *     ...                                                      its last line: before that comes, the event is not whole
 *
 * A log that is not there yet, or does not tell of the job yet, is waited for: the customer writes it soon after the submission. */
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 200             /* between two looks at the log */
#define BEGIN_US (20 * 1000000) /* so long a log may tell of no job at all */
#define READ_BYTES (1u << 16)
#define EVENT_MAX (1u << 20) /* bytes of an event: what is longer is no log */
#define JOB_KEY(cluster, proc) ((cluster) << 24 ^ (proc))
#define NUMBER_MAX (UINT64_C(1) << 38)

enum { W_STATUS, W_ECHO, W_WAIT, W_NUM, W_DEBUG, W_ALL, W_HELP };

static const struct condor_option options[] = {
    [W_STATUS] = {"status", 1, false}, [W_ECHO] = {"echo", 1, false},   [W_WAIT] = {"wait", 1, true},
    [W_NUM] = {"num", 1, true},        [W_DEBUG] = {"debug", 1, false}, [W_ALL] = {"allevents", 1, false},
    [W_HELP] = {"help", 1, false},
};

enum { EVENT_SUBMIT = 0, EVENT_EXECUTE = 1, EVENT_BAD_PROGRAM = 2, EVENT_TERMINATED = 5, EVENT_ABORTED = 9 };

struct waiting {
    const char *path;
    int64_t cluster, proc, sub; /* -1: any */
    bool status, echo;
    int64_t seconds; /* -1: as long as it takes */
    uint64_t wanted; /* jobs that are enough; 0: all */
    off_t at;        /* so much of the log has been read */
    struct buf text; /* what follows it, as far as it was read */
    struct map jobs; /* those that were submitted: 1; over: 2 */
    uint64_t submitted, over;
};

/* ----------------------------------------------------------------------------------------------------------- one event */

static const char *event_words(unsigned number)
{
    static const char *const words[] = {[0] = "submitted",
                                        [2] = "could not be executed",
                                        [3] = "checkpointed",
                                        [4] = "evicted",
                                        [5] = "completed",
                                        [7] = "exited with a shadow exception",
                                        [9] = "aborted by the user",
                                        [10] = "suspended",
                                        [11] = "unsuspended",
                                        [12] = "held",
                                        [13] = "released"};

    return number < sizeof words / sizeof *words ? words[number] : NULL;
}

static void event_show(const struct waiting *waiting, const char *event, size_t len, unsigned number, const char *job)
{
    const char *host;
    size_t line = strcspn(event, "\n");

    if (waiting->echo)
        fwrite(event, 1, len, stdout);
    if (waiting->status && number == EVENT_EXECUTE) {
        host = strstr(event, " host: ");
        printf("%s executing on host %.*s\n", job, host && host < event + line ? (int)(event + line - host - 7) : 0,
               host ? host + 7 : "");
    } else if (waiting->status && event_words(number)) {
        printf("%s %s\n", job, event_words(number));
    }
    fflush(stdout);
}

/* Does the text begin as an event does? Its first line is whole. */
static bool is_head(const char *text)
{
    return text[0] >= '0' && text[0] <= '9' && text[1] >= '0' && text[1] <= '9' && text[2] >= '0' && text[2] <= '9' &&
           text[3] == ' ' && text[4] == '(';
}

/* Takes a whole event. -1: it is none. */
static int event_take(struct waiting *waiting, const char *event, size_t len)
{
    unsigned long long cluster, proc, sub;
    unsigned number;
    char job[80];
    uint64_t before;

    if (sscanf(event, "%3u (%llu.%llu.%llu)", &number, &cluster, &proc, &sub) != 4 || cluster > NUMBER_MAX ||
        proc > NUMBER_MAX)
        return -1;
    if ((waiting->cluster >= 0 && cluster != (uint64_t)waiting->cluster) ||
        (waiting->proc >= 0 && proc != (uint64_t)waiting->proc) || (waiting->sub >= 0 && sub != (uint64_t)waiting->sub))
        return 0;
    snprintf(job, sizeof job, "%llu.%llu.%llu", cluster, proc, sub);
    before = map_find(&waiting->jobs, JOB_KEY(cluster, proc));
    if (number == EVENT_SUBMIT && before == MAP_NONE) {
        map_set(&waiting->jobs, JOB_KEY(cluster, proc), 1);
        waiting->submitted++;
    } else if ((number == EVENT_TERMINATED || number == EVENT_ABORTED || number == EVENT_BAD_PROGRAM) && before == 1) {
        map_set(&waiting->jobs, JOB_KEY(cluster, proc), 2);
        waiting->over++;
    }
    event_show(waiting, event, len, number, job);
    return 0;
}

/* The end of the event that the text begins with: behind its line "..."; 0: it is not whole. */
static size_t event_end(const struct buf *text, size_t from)
{
    const char *line = text->text + from, *end;

    for (; (end = memchr(line, '\n', (size_t)(text->text + text->len - line))); line = end + 1)
        if (end - line == 3 && !memcmp(line, "...", 3))
            return (size_t)(end + 1 - text->text);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- the log */

/* Takes what is whole. STATUS_BAD after it was reported that this is no log. */
static int text_take(struct waiting *waiting)
{
    size_t from = 0, end;

    buf_string(&waiting->text);
    while (from < waiting->text.len && (end = event_end(&waiting->text, from))) {
        const char *event = waiting->text.text + from;

        if (event_take(waiting, event, end - from) < 0) {
            report("%.200s is no event log: '%.40s'", waiting->path, event);
            return STATUS_BAD;
        }
        from = end;
    }
    memmove(waiting->text.text, waiting->text.text + from, waiting->text.len - from);
    waiting->text.len -= from;
    if (waiting->text.len > EVENT_MAX || (strchr(buf_string(&waiting->text), '\n') && !is_head(waiting->text.text))) {
        report("%.200s is no event log", waiting->path);
        return STATUS_BAD;
    }
    return STATUS_DONE;
}

static bool is_enough(const struct waiting *waiting)
{
    return waiting->submitted &&
           (waiting->wanted ? waiting->over >= waiting->wanted : waiting->over == waiting->submitted);
}

/* Reads what is new in the log. */
static int log_read(struct waiting *waiting)
{
    int fd = open(waiting->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status = STATUS_DONE;
    struct stat info;
    ssize_t got = 0;

    if (fd < 0 && errno == ENOENT)
        return STATUS_DONE;
    if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode)) {
        report("%.200s: %s", waiting->path, fd < 0 ? strerror(errno) : "it is not a file");
        if (fd >= 0)
            close(fd);
        return STATUS_BAD;
    }
    if (info.st_size < waiting->at) { /* it was begun anew */
        waiting->at = 0;
        waiting->text.len = 0;
    }
    while (status == STATUS_DONE && !is_enough(waiting)) {
        got = pread(fd, buf_reserve(&waiting->text, READ_BYTES), READ_BYTES, waiting->at);
        if (got <= 0)
            break;
        waiting->text.len += (size_t)got;
        waiting->at += got;
        status = text_take(waiting);
    }
    if (got < 0) {
        report("%.200s: %s", waiting->path, strerror(errno));
        status = STATUS_BAD;
    }
    close(fd);
    return status;
}

static int log_wait(struct waiting *waiting)
{
    int64_t began = clock_now();

    for (;;) {
        struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
        int64_t waited;
        int status = log_read(waiting);

        if (status != STATUS_DONE)
            return status;
        if (is_enough(waiting)) {
            if (waiting->wanted)
                printf("Specified number of jobs (%" PRIu64 ") done.\n", waiting->wanted);
            else
                puts("All jobs done.");
            return STATUS_DONE;
        }
        waited = clock_now() - began;
        if (waiting->seconds >= 0 && waited >= waiting->seconds * 1000000) {
            puts("Time expired.");
            return STATUS_NO;
        }
        if (!waiting->submitted && waited >= BEGIN_US) {
            if (access(waiting->path, F_OK) < 0)
                report("condor_wait: %.200s: %s", waiting->path, strerror(errno));
            else
                report(waiting->cluster < 0 ? "This log does not mention any jobs!"
                                            : "This log does not mention that job");
            return STATUS_NO;
        }
        nanosleep(&pause, NULL);
    }
}

/* ------------------------------------------------------------------------------------------------------------- the words */

static bool number_read(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *ret >= 0 && *ret < (int64_t)NUMBER_MAX;
}

/* 5, 5.2, 5.2.0 */
static bool job_read(const char *word, struct waiting *ret)
{
    int used = 0;
    long long cluster, proc = -1, sub = -1;

    if (sscanf(word, "%9lld%n", &cluster, &used) != 1 || cluster < 0)
        return false;
    word += used;
    if (*word && (sscanf(word, ".%9lld%n", &proc, &used) != 1 || proc < 0))
        return false;
    word += *word ? used : 0;
    if (*word && (sscanf(word, ".%9lld%n", &sub, &used) != 1 || sub < 0 || word[used]))
        return false;
    ret->cluster = cluster;
    ret->proc = proc;
    ret->sub = sub;
    return true;
}

/* -1: something is wrong, which has been reported. */
static int words_read(struct condor_words *words, struct waiting *ret)
{
    bool job = false;
    int64_t number = 0;
    int found;

    while ((found = words_next(words, options, sizeof options / sizeof *options)) != -2) {
        if (found == -3)
            return -1;
        if ((found == W_WAIT || found == W_NUM) &&
            (!number_read(words->value, &number) || (found == W_NUM && !number))) {
            report("condor_wait: -%s wants a number, not '%.60s'", options[found].name, words->value);
            return -1;
        }
        if (found == W_WAIT)
            ret->seconds = number;
        else if (found == W_NUM)
            ret->wanted = (uint64_t)number;
        else if (found == W_STATUS || found == W_ECHO || found == W_ALL)
            *(found == W_STATUS ? &ret->status : &ret->echo) = true;
        else if (found == -1 && !ret->path)
            ret->path = words->value;
        else if (found == -1 && (job || !job_read(words->value, ret))) {
            report("condor_wait: '%.60s' is no job: expected 5, 5.2 or 5.2.0", words->value);
            return -1;
        } else if (found == -1)
            job = true;
    }
    if (!ret->path)
        report(
            "condor_wait: expected the file of a log: condor_wait [-status] [-echo] [-wait SECONDS] [-num JOBS] LOG [JOB]");
    return ret->path ? 0 : -1;
}

int condor_wait(struct condor_words *words)
{
    struct waiting waiting = {.cluster = -1, .proc = -1, .sub = -1, .seconds = -1};
    int status;

    if (words_read(words, &waiting) < 0)
        return STATUS_NO;
    buf_init(&waiting.text);
    map_init(&waiting.jobs, 0);
    status = log_wait(&waiting);
    map_done(&waiting.jobs);
    buf_done(&waiting.text);
    return status == STATUS_BAD ? STATUS_NO : status;
}
