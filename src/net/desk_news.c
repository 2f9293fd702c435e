/* desk_news.c: what the role and the providers tell of jobs: tries are recorded, lines of the log written, those who wait are woken. */
#include "net/desk_parts.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAKE_SPAN 20  /* milliseconds in which changes are taken together ... */
#define WAKE_MANY 200 /* ... and where there are very many jobs */

static void wake_due(uv_timer_t *timer)
{
    struct desk *desk = timer->data;

    desk->woken = false;
    visits_wake(desk, true);
}

/* Those who wait look again. */
static void desk_wake(struct desk *desk)
{
    if (desk->woken || !desk->waiting)
        return;
    desk->woken = true;
    uv_timer_start(&desk->wake, wake_due, customer_count(desk->customer) > DESK_LOOK_MAX ? WAKE_MANY : WAKE_SPAN, 0);
}

void desk_changed(struct desk *desk)
{
    desk->changes++;
    desk_wake(desk);
}

void desk_commit(struct desk *desk)
{
    runner_commit(desk->runner, NULL, NULL);
}

static int64_t wall_seconds(void)
{
    return runner_wall() / SECOND;
}

bool desk_job(void *user, uint64_t id, struct job_view *ret)
{
    const struct desk *desk = user;

    return customer_job(desk->customer, id, ret);
}

bool desk_node(void *user, uint64_t job, const char *name, size_t len, uint64_t *ret_first, uint64_t *ret_count)
{
    const struct desk *desk = user;

    return customer_node(desk->customer, job, name, len, ret_first, ret_count);
}

struct tree *desk_asked(void *user, const struct peer *peer, const struct tree *question)
{
    struct desk *desk = user;

    return desk->stopping || runner_is_broken(desk->runner) ? NULL : question_answer(&desk->questions, peer, question);
}

/* ------------------------------------------------------------------------------------------------------------ the role */

/* The try that the role has decided on. */
static void try_note(struct desk *desk, const struct job_view *view)
{
    const char *identity, *name, *pool = agent_pool_of(desk->live, view->member);
    struct job_try *one;
    struct err err;
    bool made;

    if (!view->claim)
        return;
    one = tries_begin(desk->tries, view->id, view->claim, view->number, view->member, wall_seconds(), &made);
    if (!made)
        return;
    one->pass = view->pass;
    if (agent_known(desk->live, view->member, &identity, &name))
        tries_text(&one->provider, name, strlen(name));
    if (pool)
        tries_text(&one->pool, pool, strlen(pool));
    if (tries_store(desk->tries, view->id, &err) == 0)
        desk_commit(desk);
    joblog_add(desk->files, view->id, view->submitted, wall_seconds(), "claimed %s of %s%s%s (claim %016llx, try %llu)",
               one->provider ? one->provider : "a machine",
               agent_known(desk->live, view->member, &identity, &name) ? identity : "somebody",
               pool ? " in the pool " : "", pool ? pool : "", (unsigned long long)view->claim,
               (unsigned long long)one->serial);
}

static void end_words(const struct desk *desk, const struct job_view *view, char ret[512])
{
    const struct job_tries *tries = tries_of(desk->tries, view->id);
    const char *why = tries && tries->why ? tries->why : NULL;

    if (view->state == JOB_DONE && view->reason == REASON_EXITED && view->status < 0)
        snprintf(ret, 512, "ended by signal %lld", (long long)-view->status);
    else if (view->state == JOB_DONE && view->reason == REASON_EXITED)
        snprintf(ret, 512, "ended with status %lld", (long long)view->status);
    else if (view->state == JOB_DONE)
        snprintf(ret, 512, "ended: %s", reason_words(view->reason));
    else if (view->state == JOB_HELD)
        snprintf(ret, 512, "held: %s", why && view->reason == REASON_RELEASED ? why : reason_words(view->reason));
    else if (view->state == JOB_REMOVED)
        snprintf(ret, 512, "removed%s%s", why ? ": " : "", why ? why : "");
    else if (view->state == JOB_ABORTED)
        snprintf(ret, 512, "given up: %s", reason_words(view->reason));
    else
        snprintf(ret, 512, "waits again: %s",
                 view->reason == REASON_OK ? "its machine was lost" : reason_words(view->reason));
}

/* A job that never ran leaves no file behind: there may be a hundred thousand of them. */
static void state_log(struct desk *desk, const struct job_view *view)
{
    char words[512];

    if (view->state == JOB_RUNNING || !joblog_exists(desk->files, view->id))
        return;
    end_words(desk, view, words);
    joblog_add(desk->files, view->id, view->submitted, wall_seconds(), "%s", words);
}

bool view_ended(const struct job_view *view)
{
    return view->state == JOB_DONE || view->state == JOB_REMOVED || view->state == JOB_ABORTED;
}

void desk_job_changed(void *user, uint64_t job)
{
    struct desk *desk = user;
    struct job_view view;

    if (!desk->customer || !customer_job(desk->customer, job, &view))
        return;
    try_note(desk, &view);
    /* Two changes that became durable together are told one after the other, and both show the end. */
    if (!view_ended(&view) || map_find(&desk->ending, job) == MAP_NONE)
        state_log(desk, &view);
    if (view_ended(&view))
        map_set(&desk->ending, job, 1);
    desk_changed(desk);
}

/* ------------------------------------------------------------------------------------------------------- the providers */

void desk_news(void *user, const struct job_view *view, const struct job_try *one, enum question_news news,
               const char *words)
{
    struct desk *desk = user;
    const char *name = one->provider ? one->provider : "a machine";

    if (news == NEWS_FILE) { /* for those who read that file; nothing else has changed */
        desk_wake(desk);
        return;
    }
    desk_commit(desk);
    if (news == NEWS_RUNNING)
        joblog_add(desk->files, view->id, view->submitted, wall_seconds(), "running on %s (claim %016llx, try %llu)",
                   name, (unsigned long long)one->claim, (unsigned long long)one->serial);
    else if (news == NEWS_STAGING)
        joblog_add(desk->files, view->id, view->submitted, wall_seconds(), "files on their way to %s", name);
    else if (news == NEWS_FINISHED)
        joblog_add(desk->files, view->id, view->submitted, wall_seconds(), "all files are here%s%s", words ? ": " : "",
                   words ? words : "");
    else if (news == NEWS_STORED)
        joblog_add(desk->files, view->id, view->submitted, wall_seconds(), "%s", words);
    else if (news == NEWS_TROUBLE)
        joblog_add(desk->files, view->id, view->submitted, wall_seconds(), "trouble with files: %s", words);
    desk_changed(desk);
}

/* ------------------------------------------------------------------------------------------------------------- restart */

static void boot_job(void *user, const struct job_view *view)
{
    struct desk *desk = user;

    if (view->state == JOB_RUNNING)
        try_note(desk, view);
    if (view_ended(view))
        map_set(&desk->ending, view->id, 1);
}

struct strays {
    const struct customer *customer;
    uint64_t *ids;
    uint32_t count, room;
};

static void boot_tries(void *user, const struct job_tries *job)
{
    struct strays *strays = user;
    struct job_view view;

    if (customer_job(strays->customer, job->job, &view))
        return;
    if (strays->count == strays->room) {
        strays->room = strays->room ? strays->room * 2 : 64;
        strays->ids = mem_grow(strays->ids, strays->room * sizeof *strays->ids);
    }
    strays->ids[strays->count++] = job->job;
}

void desk_boot(struct desk *desk)
{
    struct strays strays = {.customer = desk->customer};
    struct err err;

    customer_each(desk->customer, boot_job, desk);
    tries_each(desk->tries, boot_tries, &strays);
    for (uint32_t i = 0; i < strays.count; i++)
        tries_forget(desk->tries, strays.ids[i], &err);
    free(strays.ids);
    desk_commit(desk);
}
