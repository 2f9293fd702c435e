/* ahead.c: fetches what the next job of a claim reads while this one runs, so that a claim of short jobs with large inputs is busy all the time.
 *
 *     a job runs whose files were large, or come from the catalogue -> its customer is asked what the next one reads, and promises the claim that job
 *         -> inputs, piece by piece (staging.c), then files of the catalogue (input_fetch.c): into the cache, and no further
 *         -> the next job begins: what is there is there; what still comes is gone on with
 *
 * One job ahead of each claim, and for all claims together no more bytes than InputsAhead, nor than a quarter of what the disk has left, until those jobs
 * begin; an image among a job's inputs counts as they do. Nothing is tried twice, and nobody is told of a failure:
 * the job itself fetches what it lacks, as ever. What is fetched so is a task that is none of the role's: its `job` is the one that it is for. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "pool/claim/duty.h"

#include <stdlib.h>
#include <sys/statvfs.h>

#define AHEAD_LEAST CONFIG_MIB        /* bytes of a job's own inputs, from which on it is worth a question */
#define AHEAD_PAUSE (10 * SECOND)     /* before the customer is asked again whether it has a next job; it doubles ... */
#define AHEAD_PAUSE_MAX (10 * MINUTE) /* ... up to that */
#define AHEAD_DISK_PART 4             /* of what the disk has left */
#define AHEAD_NUMBER (UINT64_C(1) << 63) /* marks the names of its parts, which lie beside those of jobs */

static struct task *ahead_of(const struct providerd *providerd, uint64_t claim)
{
    struct task *ahead = providerd->aheads;

    while (ahead && ahead->claim != claim)
        ahead = ahead->next;
    return ahead;
}

static struct task *task_of(const struct providerd *providerd, uint64_t claim)
{
    struct task *task = providerd->tasks;

    while (task && task->claim != claim)
        task = task->next;
    return task;
}

/* The bytes that have come count as those of the job that they are for, if it is here. */
static void ahead_count(struct task *ahead, struct task *task)
{
    if (!task || task->job != ahead->job)
        return;
    task->taken += ahead->taken;
    ahead->taken = 0;
}

static void ahead_free(struct task *ahead)
{
    struct providerd *providerd = ahead->providerd;
    struct task **link = &providerd->aheads;

    while (*link != ahead)
        link = &(*link)->next;
    *link = ahead->next;
    ahead_count(ahead, task_of(providerd, ahead->claim));
    staging_cancel(ahead->staging);
    datain_cancel(ahead->datain);
    tree_unref(ahead->ad);
    free(ahead);
}

/* How many bytes may be fetched beside what is ahead already; 0 or less: none. */
static int64_t ahead_room(const struct providerd *providerd)
{
    int64_t most = (int64_t)config_size(&providerd->daemon.config, CONFIG_INPUTS_AHEAD), part;
    struct statvfs disk;

    if (!most || health_lacks(providerd) || statvfs(providerd->daemon.folder, &disk) < 0)
        return 0;
    part = (int64_t)((double)disk.f_bavail * (double)disk.f_frsize / AHEAD_DISK_PART);
    most = part < most ? part : most;
    for (const struct task *ahead = providerd->aheads; ahead; ahead = ahead->next)
        most -= ahead->ahead_bytes;
    return most;
}

int64_t ahead_left(const struct task *ahead)
{
    int64_t room = ahead_room(ahead->providerd);

    return room > 0 ? room : 1; /* 0 would be as much as jobs have */
}

void ahead_begin(struct task *task)
{
    struct providerd *providerd = task->providerd;
    int64_t now = runner_now();
    struct task *ahead;

    if (now < task->ahead_at || !task->runs || task->helps || !pass_is_none(&task->inquiry.pass) ||
        (!datain_is_needed(task) && task->taken < AHEAD_LEAST) || ahead_of(providerd, task->claim))
        return;
    task->ahead_pause = !task->ahead_pause                        ? AHEAD_PAUSE
                        : task->ahead_pause < AHEAD_PAUSE_MAX / 2 ? task->ahead_pause * 2
                                                                  : AHEAD_PAUSE_MAX;
    task->ahead_at = now + task->ahead_pause;
    if (ahead_room(providerd) <= 0)
        return;
    ahead = mem_alloc(sizeof *ahead);
    *ahead = (struct task){.next = providerd->aheads,
                           .providerd = providerd,
                           .claim = task->claim,
                           .number = task->number | AHEAD_NUMBER,
                           .inquiry = task->inquiry,
                           .ahead = true,
                           .secrets = -1};
    ahead->order.order.limits.disk = 1; /* until it is told what it is to fetch */
    providerd->aheads = ahead;
    staging_begin(ahead, ""); /* it may be over at once */
}

void ahead_told(struct task *ahead, const struct tree *told)
{
    struct task *task = task_of(ahead->providerd, ahead->claim);
    const struct expr *files = ad_find(told, "Files");
    int64_t next, size, all = 0;

    if (!ad_integer(told, "Next", &next) || next <= 0)
        next = 0;
    ahead->job = (uint64_t)next;
    ahead->ad = tree_ref((struct tree *)(uintptr_t)told);
    ahead->order.order.limits.disk = ahead_left(ahead);
    for (uint32_t i = 0; files && files->kind == EXPR_LIST && i < files->u.run.count; i++) {
        struct tree *file = ad_part(told, &tree_parts(told, files)[i]);

        if (ad_integer(file, "Size", &size) && size > 0)
            all = size < INT64_MAX - all ? all + size : INT64_MAX;
        tree_unref(file);
    }
    ahead_spend(ahead, all);
    if (task && (task->number | AHEAD_NUMBER) == ahead->number)
        task->ahead_at = INT64_MAX; /* one is enough */
}

void ahead_spend(struct task *ahead, int64_t bytes)
{
    int64_t left = ahead_left(ahead);

    ahead->ahead_bytes += bytes < left ? bytes : left; /* what is more than there is room for is not fetched */
}

static void ahead_end(struct task *ahead, const char *why)
{
    const struct task *task = task_of(ahead->providerd, ahead->claim);

    if (why || ahead->taken)
        LOG(&ahead->providerd->daemon.log, why ? LEVEL_DEBUG : LEVEL_INFO, "data.ahead",
            log_word("claim", ahead->claim), log_number("job", (int64_t)ahead->job), log_number("bytes", ahead->taken),
            log_text("why", why));
    ahead->ahead_bytes = ahead->taken;
    if (!ahead->job || (task && task->job == ahead->job))
        ahead_free(ahead); /* else it stays until that job begins, with the number of its bytes */
}

void ahead_staged(struct task *ahead, const char *why)
{
    if (why || !datain_is_needed(ahead))
        ahead_end(ahead, why);
    else
        datain_begin(ahead);
}

void ahead_data_staged(struct task *ahead, const char *why)
{
    ahead_end(ahead, why);
}

void ahead_meets(struct task *task)
{
    struct task *ahead = ahead_of(task->providerd, task->claim);

    if (!ahead)
        return;
    ahead_count(ahead, task);
    if (!ahead->datain || ahead->job != task->job)
        ahead_free(ahead);
}

void aheads_tick(struct providerd *providerd)
{
    struct task *next;

    for (struct task *ahead = providerd->aheads; ahead; ahead = next) {
        next = ahead->next;
        if (!claim_is_kept(providerd, ahead->claim) && !task_of(providerd, ahead->claim))
            ahead_free(ahead);
    }
}

void aheads_done(struct providerd *providerd)
{
    while (providerd->aheads)
        ahead_free(providerd->aheads);
}
