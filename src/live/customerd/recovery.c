/* recovery.c: what a customer does whose rows are of a backup, before any job runs. */
#include "live/customerd/recovery.h"
#include "live/customerd/customerd_parts.h"
#include "live/customerd/ends_heard.h"
#include "live/customerd/ends_tell.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/span.h"
#include "live/world/restored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_PAUSE SECOND
#define ASK_PAUSE_BAD (30 * SECOND) /* after an answer that makes no sense */
#define ASK_UNKNOWN \
    (30 * SECOND)         /* a matchmaker that does not know the question for so long is of an earlier version */
#define DELAY_TOLD MINUTE /* without an answer, until that is logged */
#define STATUS_UNKNOWN_ROUTE 404
#define NUMBERS_ROUND \
    UINT64_C(1000000) /* numbers go on behind a multiple of it: no queue gets as many between two backups */

struct recovery {
    struct customerd *customerd;
    struct restored restored;
    bool asking, heard;     /* the pool is being asked; it has said all */
    bool mute;              /* it cannot say anything */
    struct ends_heard pool; /* what it has said */
    uint64_t last;          /* the largest number of a job that it knows */
    int64_t began;          /* when the pool knew us: others with our name have been told to stop then; 0: not yet */
    int64_t ask_at;
    int64_t unknown; /* since when it does not know the question; 0: it may */
    int64_t page_at; /* when the last page came, or the asking began */
    bool delay_told;
    uint64_t *ended; /* jobs that have ended since */
    uint32_t count, room;
    uint64_t stored; /* the largest number in the rows */
    char words[400];
};

int recovery_new(struct customerd *customerd, struct recovery **ret, struct err *err)
{
    struct recovery *recovery;
    struct restored restored;

    *ret = NULL;
    if (restored_look(customerd->daemon.shelf, &restored, err) < 0)
        return -1;
    if (!restored.is)
        return 0;
    *ret = recovery = mem_alloc(sizeof *recovery);
    *recovery = (struct recovery){.customerd = customerd, .restored = restored};
    recovery->mute = restored.alone || !ends_tell_queue(customerd->ends);
    recovery->heard = recovery->mute;
    ends_heard_init(&recovery->pool);
    return 0;
}

void recovery_free(struct recovery *recovery)
{
    if (!recovery)
        return;
    ends_heard_done(&recovery->pool);
    free(recovery->ended);
    free(recovery);
}

/* ---------------------------------------------------------------------------------------------------------------- asking */

/* Nothing came that can be used. */
static void page_fails(struct recovery *recovery, unsigned status, int64_t now)
{
    recovery->ask_at = now + ASK_PAUSE;
    if (status != STATUS_UNKNOWN_ROUTE)
        recovery->unknown = 0;
    else if (!recovery->unknown)
        recovery->unknown = now;
}

static void page_done(void *user, unsigned status, const char *body, size_t len)
{
    struct recovery *recovery = user;
    int64_t now = runner_now();
    struct err err;
    struct tree *page;

    recovery->asking = false;
    if (!body) {
        page_fails(recovery, status, now);
        return;
    }
    recovery->unknown = 0;
    page = form_parse(recovery->customerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL, body, len, &err);
    switch (ends_heard_page(&recovery->pool, page)) {
    case ENDS_PAGE_LAST:
        recovery->heard = true;
        break;
    case ENDS_PAGE_MORE:
        recovery->ask_at = now;
        recovery->page_at = now;
        break;
    case ENDS_PAGE_BAD:
        ends_heard_reset(&recovery->pool);
        recovery->ask_at = now + ASK_PAUSE_BAD;
        break;
    }
    tree_unref(page);
}

/* Says once that it does not go on, and what the user can do. */
static void delay_tell(struct recovery *recovery, int64_t now)
{
    bool connected = recovery->began != 0;

    if (!recovery->page_at)
        recovery->page_at = now;
    if (recovery->heard || recovery->delay_told || now < recovery->page_at + DELAY_TOLD)
        return;
    recovery->delay_told = true;
    LOG(&recovery->customerd->daemon.log, LEVEL_WARNING, "restored",
        log_text(
            "why",
            connected
                ? "the pool does not say which jobs have ended since, and none runs before it does: "
                  "`berth store restore --alone` does not ask"
                : "the pool cannot be reached, which is asked which jobs have ended since, and none runs before that: "
                  "`berth store restore --alone` does not ask"));
}

static void pool_ask(struct recovery *recovery, int64_t now)
{
    struct customerd *customerd = recovery->customerd;
    char path[80];

    if (recovery->heard || recovery->asking || now < recovery->ask_at)
        return;
    if (recovery->unknown && now > recovery->unknown + ASK_UNKNOWN) {
        recovery->heard = recovery->mute = true;
        return;
    }
    snprintf(path, sizeof path, "/v1/ends?queue=%016" PRIx64 "&cursor=%" PRIu64, ends_tell_queue(customerd->ends),
             recovery->pool.cursor);
    recovery->asking = agent_fetch(customerd->live, customerd_pool(customerd), path, page_done, recovery);
    recovery->ask_at = now + ASK_PAUSE;
}

/* ----------------------------------------------------------------------------------------------------------------- ending */

static bool run_apply(void *user, const struct ends_run *run)
{
    static const enum job_state states[END_COUNT] = {
        [END_DONE] = JOB_DONE, [END_REMOVED] = JOB_REMOVED, [END_ABORTED] = JOB_ABORTED};
    struct recovery *recovery = user;
    struct customerd *customerd = recovery->customerd;
    uint64_t last = run->last < recovery->stored ? run->last : recovery->stored;

    if (run->how == END_UNKNOWN || run->how == END_AGAIN)
        return true;
    for (uint64_t job = run->first; job <= last; job++) {
        uint64_t before = customer_ended_since(customerd->customer);

        runner_event(customerd->runner, &(struct event){.kind = EVENT_ENDED,
                                                        .job = job,
                                                        .number = states[run->how],
                                                        .reason = run->reason,
                                                        .status = run->status,
                                                        .at = wall_seconds(runner_wall())});
        if (customer_ended_since(customerd->customer) == before)
            continue;
        ARRAY_ROOM(recovery->ended, recovery->count, recovery->room, 64);
        recovery->ended[recovery->count++] = job;
    }
    return true;
}

/* Nothing more will come of their tries: what they have left is where it was left, or lost with the host. */
static void tries_forget(struct recovery *recovery)
{
    struct err err;

    for (uint32_t i = 0; i < recovery->count; i++)
        if (attempts_of(recovery->customerd->tries, recovery->ended[i]))
            attempts_forget(recovery->customerd->tries, recovery->ended[i], &err);
}

static void numbers_raise(struct recovery *recovery)
{
    struct customer_settings *role = &recovery->customerd->role;
    uint64_t used = role->used > recovery->stored ? role->used : recovery->stored;

    used = used > recovery->last ? used : recovery->last;
    role->used = (used / NUMBERS_ROUND + 1) * NUMBERS_ROUND;
}

static int64_t span_to_wait(const struct recovery *recovery)
{
    const struct spans *spans = &recovery->customerd->daemon.spans;

    return 2 *
           (spans->lease + spans_margin(spans)); /* who works for a member of a gang may go on for a lease after it */
}

bool recovery_tick(struct recovery *recovery)
{
    struct customerd *customerd = recovery->customerd;
    int64_t now = runner_now();

    delay_tell(recovery, now);
    if (!recovery->began && (recovery->restored.alone || agent_pool_view(customerd->live, 0).connected))
        recovery->began = now;
    if (!recovery->began)
        return false;
    pool_ask(recovery, now);
    if (!recovery->heard || recovery->asking || now < recovery->began + span_to_wait(recovery))
        return false;
    recovery->stored = customer_last(customerd->customer);
    if (recovery->pool.last <= ENDS_NUMBER_MAX - 2 * NUMBERS_ROUND) /* else no number would be left */
        recovery->last = recovery->pool.last;
    (void)ends_read(buf_string(&recovery->pool.text), recovery->pool.text.len, run_apply,
                    recovery); /* each page was read before */
    tries_forget(recovery);
    numbers_raise(recovery);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- telling */

static void age_print(const struct recovery *recovery, struct buf *out)
{
    int64_t age = wall_seconds(runner_wall()) - recovery->restored.second;

    if (!recovery->restored.second || age < 0) {
        buf_adds(out, "from a backup, or repaired");
        return;
    }
    buf_adds(out, "from a backup of ");
    span_say(out, age);
    buf_adds(out, " ago");
}

const char *recovery_words(struct recovery *recovery)
{
    int64_t left = recovery->began + span_to_wait(recovery) - runner_now();
    struct buf words;

    buf_init(&words);
    buf_adds(&words, "this queue was restored ");
    age_print(recovery, &words);
    if (!recovery->began)
        buf_adds(&words, ": its pool cannot be reached, which is asked first what has ended since");
    else if (!recovery->heard)
        buf_adds(&words,
                 recovery->delay_told
                     ? ": its pool does not say what has ended since (`berth store restore --alone` does not ask)"
                     : ": its pool is being asked what has ended since");
    else
        buf_adds(&words, ": it waits until what ran before is over");
    if (recovery->began && left > 0) {
        buf_adds(&words, "; ");
        span_say(&words, left / SECOND + 1);
        buf_adds(&words, " at least");
    }
    snprintf(recovery->words, sizeof recovery->words, "%s", buf_string(&words));
    buf_done(&words);
    return recovery->words;
}

/* A line in the log of each job that has one. */
static void jobs_log(const struct recovery *recovery)
{
    struct customerd *customerd = recovery->customerd;

    for (uint32_t i = 0; i < recovery->count; i++)
        if (joblog_exists(customerd->files, recovery->ended[i]))
            joblog_add(customerd->files, recovery->ended[i], 0, wall_seconds(runner_wall()),
                       "the queue was restored from a backup: this job had ended since, as its pool knows");
}

void recovery_tell(struct recovery *recovery)
{
    struct customerd *customerd = recovery->customerd;
    bool lost = recovery->last > recovery->stored;
    char numbers[64] = "";
    struct buf note;

    if (lost)
        snprintf(numbers, sizeof numbers, "%" PRIu64 "-%" PRIu64, recovery->stored + 1, recovery->last);
    LOG(&customerd->daemon.log, LEVEL_WARNING, "restored", log_number("ended", recovery->count),
        log_text("lost", lost ? numbers : NULL), log_number("next", (int64_t)customer_last(customerd->customer) + 1),
        log_text("why", recovery->restored.alone ? "the pool was not asked what had ended since: jobs may run again"
                        : recovery->mute
                            ? "the pool, or the backup, is of an earlier version: what had ended since runs again"
                            : "the pool said which jobs had ended since; the others wait, or run again"));
    buf_init(&note);
    buf_adds(&note, "its queue was restored ");
    age_print(recovery, &note);
    buf_addf(&note, ": %" PRIu32 " jobs had ended since", recovery->count);
    if (lost)
        buf_addf(&note, "; jobs %s, submitted since, are lost", numbers);
    agent_say(customerd->live, buf_string(&note));
    buf_done(&note);
    jobs_log(recovery);
}
