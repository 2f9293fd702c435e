/* dag_progress.c: how far workflows are, counted from the jobs of each. */
#include "cli/jobs/dag_parts.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

void dag_progresses_init(struct dag_progresses *all)
{
    *all = (struct dag_progresses){0};
    map_init(&all->places, 0);
}

void dag_progresses_done(struct dag_progresses *all)
{
    while (all->count)
        free(all->items[--all->count].name);
    free(all->items);
    map_done(&all->places);
}

static struct dag_progress *progress_of(struct dag_progresses *all, int64_t workflow)
{
    uint64_t place = map_find(&all->places, (uint64_t)workflow);

    if (place != MAP_NONE)
        return &all->items[place];
    ARRAY_ROOM(all->items, all->count, all->room, 16);
    map_set(&all->places, (uint64_t)workflow, all->count);
    all->items[all->count] = (struct dag_progress){.workflow = workflow};
    return &all->items[all->count++];
}

void dag_progresses_add(struct dag_progresses *all, const struct tree *job)
{
    struct dag_progress *one;
    int64_t workflow = 0;
    const char *name;
    size_t len;

    if (!ad_integer(job, "Workflow", &workflow) || workflow < 1)
        return;
    one = progress_of(all, workflow);
    if (!one->name && ad_string(job, "Dag", &name, &len))
        one->name = mem_dup(name, len);
    ad_integer(job, "Submitted", &one->submitted);
    one->total++;
    one->done += job_is_good(job);
    one->removed += job_text_is(job, "State", "Cancelled");
    one->failed += job_is_over(job) && !job_is_good(job) && !job_text_is(job, "State", "Cancelled");
    one->held += job_text_is(job, "State", "Held");
    one->waiting += job_text_is(job, "State", "Waiting");
    one->blocked += job_text_is(job, "State", "Blocked");
    one->running += job_text_is(job, "State", "Running") || job_text_is(job, "State", "Ready") ||
                    job_text_is(job, "State", "Scheduled");
}

static void part_print(struct buf *out, uint64_t count, const char *one, const char *many)
{
    if (count)
        buf_addf(out, ", %" PRIu64 " %s", count, count == 1 ? one : many);
}

void dag_progress_print(struct buf *out, const struct dag_progress *one)
{
    size_t from = out->len;

    buf_addf(out, "workflow %" PRId64, one->workflow);
    if (one->name)
        buf_addf(out, " (%s)", one->name);
    text_tame(out, from);
    buf_addf(out, ": %" PRIu64 " of %" PRIu64 " done", one->done, one->total);
    part_print(out, one->running, "runs", "run");
    part_print(out, one->failed, "failed", "failed");
    part_print(out, one->held, "held", "held");
    part_print(out, one->removed, "removed", "removed");
    part_print(out, one->waiting + one->blocked, "waits", "wait");
    buf_addc(out, '\n');
}
