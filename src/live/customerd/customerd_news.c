/* customerd_news.c: news of jobs from the role and the providers: records tries, writes lines of the log, and wakes waiting requests. */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/job_outcome.h"
#include "live/customerd/job_policy.h"
#include "live/customerd/shells.h"
#include "live/customerd/user_logs.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/customerd/deliveries.h"
#include "live/customerd/job_secrets.h"
#include "live/customerd/local_jobs.h"
#include "live/customerd/secret_sets.h"
#include "pool/claim/duty.h"
#include "sys/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAKE_SPAN 20  /* milliseconds over which changes are collected ... */
#define WAKE_MANY 200 /* ... and if there are very many jobs */

static void delivery_begin(struct customerd *customerd, const struct job_view *view);

static void wake_due(uv_timer_t *timer)
{
    struct customerd *customerd = timer->data;

    customerd->woken = false;
    front_wake(agent_front(customerd->live), true);
}

static void watched_due(uv_timer_t *timer)
{
    struct customerd *customerd = timer->data;

    front_wake_marked(agent_front(customerd->live));
}

/* Wakes waiting requests, so that they look again: those that watch this job (0: it is not about one) when the turn is over and its rows are durable,
 * for somebody sits there and waits; the others, who look at many jobs, with what else happens in a short while. */
static void customerd_wake(struct customerd *customerd, uint64_t job)
{
    struct front *front = agent_front(customerd->live);

    if (!front_waits(front))
        return;
    if (front_mark(front, job) && !uv_is_active((uv_handle_t *)&customerd->watched))
        uv_timer_start(&customerd->watched, watched_due, 0, 0);
    if (customerd->woken)
        return;
    customerd->woken = true;
    uv_timer_start(&customerd->wake, wake_due,
                   customer_count(customerd->customer) > CUSTOMERD_LOOK_MAX ? WAKE_MANY : WAKE_SPAN, 0);
}

static void job_has_changed(struct customerd *customerd, uint64_t job)
{
    customerd->changes++;
    customerd_wake(customerd, job);
}

void customerd_changed(struct customerd *customerd)
{
    job_has_changed(customerd, 0);
}

void customerd_commit(struct customerd *customerd)
{
    runner_commit(customerd->runner, NULL, NULL);
}

bool customerd_job(void *user, uint64_t id, struct job_view *ret)
{
    const struct customerd *customerd = user;

    return customer_job(customerd->customer, id, ret);
}

bool customerd_node(void *user, uint64_t job, const char *name, size_t len, uint64_t *ret_first, uint64_t *ret_count)
{
    const struct customerd *customerd = user;

    return customer_node(customerd->customer, job, name, len, ret_first, ret_count);
}

struct tree *customerd_asked(void *user, const struct peer *peer, const struct tree *question, struct agent_turn *turn)
{
    struct customerd *customerd = user;

    const char *ask;
    size_t len;

    if (customerd->stopping || customerd->recovery || runner_is_broken(customerd->runner))
        return NULL;
    return ad_string(question, "Ask", &ask, &len) && len == 5 && !memcmp(ask, "shell", 5)
               ? customer_shells_asked(customerd, peer, question)
               : question_answer(&customerd->questions, peer, question, turn);
}

/* ------------------------------------------------------------------------------------------------------------ the role */

uint32_t customerd_members(void *user, uint64_t job, struct member_view *ret, uint32_t room)
{
    const struct customerd *customerd = user;

    return customer_members(customerd->customer, job, ret, room);
}

uint64_t customerd_ahead(void *user, uint64_t claim, bool promise)
{
    struct customerd *customerd = user;

    if (promise)
        runner_event(customerd->runner, &(struct event){.kind = EVENT_AHEAD, .claim = claim});
    return customer_ahead(customerd->customer, claim);
}

/* Records who runs the try, where several do. */
static void members_note(struct customerd *customerd, const struct job_view *view, struct job_attempt *one)
{
    struct member_view members[ATTEMPT_MEMBERS_MAX];

    if (view->rooted && !one->members.count && !pass_is_none(&view->pass))
        attempt_members_fill(&one->members, members,
                             customer_members(customerd->customer, view->id, members, ATTEMPT_MEMBERS_MAX));
}

/* Records the try that the role has decided on. */
static void try_note(struct customerd *customerd, const struct job_view *view)
{
    const char *identity, *name, *pool = agent_pool_of(customerd->live, view->member);
    char trace[JOB_TRACE_ID_LEN + 1];
    struct job_attempt *one;
    struct err err;
    bool made;

    if (!view->claim)
        return;
    one = attempts_begin(customerd->tries, view->id, view->claim, view->number, view->member,
                         wall_seconds(runner_wall()), &made);
    members_note(customerd, view, one);
    if (!made)
        return;
    customer_metrics_try(customerd, view, one);
    one->pass = view->pass;
    if (agent_known(customerd->live, view->member, &identity, &name))
        attempts_text(&one->provider, name, strlen(name));
    if (pool)
        attempts_text(&one->pool, pool, strlen(pool));
    if (attempts_store(customerd->tries, view->id, &err) == 0)
        customerd_commit(customerd);
    job_trace_id_write(&view->trace, trace);
    LOG(&customerd->daemon.log, LEVEL_INFO, "job.claimed", log_number("job", (int64_t)view->id),
        log_word("claim", view->claim), log_text("provider", one->provider), log_text("pool", pool),
        log_text("trace", *trace ? trace : NULL));
    joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()),
               "claimed %s of %s%s%s (claim %016llx, try %llu)", one->provider ? one->provider : "a machine",
               agent_known(customerd->live, view->member, &identity, &name) ? identity : "somebody",
               pool ? " in the pool " : "", pool ? pool : "", (unsigned long long)view->claim,
               (unsigned long long)one->serial);
}

/* How a try ended, in words, by its result. */
static void how_words(const struct customerd *customerd, const struct job_view *view, const char *verb, char ret[512])
{
    const struct job_attempt *last = attempts_last(customerd->tries, view->id);
    const char *words = last && view->reason == REASON_SETUP ? last->words : NULL;

    if (view->reason == REASON_EXITED && view->status < 0)
        snprintf(ret, 512, "%s by signal %lld", verb, (long long)status_signal(view->status));
    else if (view->reason == REASON_EXITED)
        snprintf(ret, 512, "%s with status %lld", verb, (long long)view->status);
    else
        snprintf(ret, 512, "%s: %s%s%s", verb, reason_words(view->reason), words ? ": " : "", words ? words : "");
}

static void end_words(const struct customerd *customerd, const struct job_view *view, char ret[512])
{
    const struct job_attempts *tries = attempts_of(customerd->tries, view->id);
    const char *why = job_why(view, tries);

    if (view->state == JOB_DONE)
        how_words(customerd, view, "ended", ret);
    else if (view->state == JOB_HELD && (why || view->reason == REASON_RELEASED))
        snprintf(ret, 512, "held: %s", why ? why : reason_words(view->reason));
    else if (view->state == JOB_HELD && view->reason == REASON_EXITED &&
             (ad_find(view->ad, "OnExitHold") || ad_find(view->ad, "OnExitRemove")))
        how_words(customerd, view, "held, as the job says: it ended", ret);
    else if (view->state == JOB_HELD) /* a job that could run is held only because of another member */
        how_words(customerd, view, view->reason == REASON_EXITED ? "held: a member of its gang failed" : "held", ret);
    else if (view->state == JOB_REMOVED)
        snprintf(ret, 512, "removed%s%s", why ? ": " : "", why ? why : "");
    else
        snprintf(ret, 512, "given up: %s", reason_words(view->reason));
}

/* Is this the reason of a try's end, not of a claim's? */
static bool is_result(enum reason reason)
{
    return reason == REASON_EXITED || reason == REASON_TIME || reason == REASON_MEMORY || reason == REASON_DISK ||
           reason == REASON_SETUP || reason == REASON_UNMADE;
}

/* The last try before the one that runs now. */
static uint64_t try_before(const struct job_attempts *tries, const struct job_view *view)
{
    for (uint32_t i = tries->count; i-- > 0;)
        if (view->state != JOB_RUNNING || tries->tries[i].claim != view->claim ||
            tries->tries[i].number != view->number)
            return tries->tries[i].serial;
    return 0;
}

/* Why a job is to run once more, if that is news. The end of a try that another one follows is not a state of the job, and most often
 * the next try has begun when we hear of it: the count of failed tries tells it, which begins anew when the job is released. */
static bool again_words(const struct customerd *customerd, const struct job_view *view, char ret[640])
{
    struct job_attempts *tries = attempts_of(customerd->tries, view->id);
    bool failed = tries && view->tries > tries->failed, released = tries && view->tries < tries->failed;
    const char *verb = view->state == JOB_IDLE ? "waits again" : "tried again";
    char how[512];

    if (view->state == JOB_RUNNING && !view->claim) /* other members of its gang are not gone yet */
        return false;
    if (tries)
        tries->failed = view->tries;
    if (failed) {
        how_words(customerd, view, "failed", how);
        snprintf(ret, 640, "%s: try %llu %s", verb, (unsigned long long)try_before(tries, view), how);
    } else if (view->state == JOB_IDLE && view->in_vain) {
        int64_t rests = view->rests ? (view->rests - runner_now() + SECOND / 2) / SECOND : 0;

        snprintf(ret, 640, rests > 0 ? "%s: %s (%u in turn); it rests for %lld s" : "%s: %s", verb,
                 reason_words(view->reason), view->in_vain, (long long)rests);
    } else if (view->state == JOB_IDLE) {
        snprintf(ret, 640, "%s: %s", verb,
                 endings_has(&customerd->endings, view->id)             ? "rescued"
                 : released                                             ? reason_words(REASON_RELEASED)
                 : view->reason == REASON_OK || is_result(view->reason) ? "its machine was lost"
                                                                        : reason_words(view->reason));
    }
    return failed || view->state == JOB_IDLE;
}

/* Logs a change of state. A job that never ran gets no log file: there may be a hundred thousand of them. */
static void state_log(struct customerd *customerd, const struct job_view *view)
{
    bool goes_on = view->state == JOB_RUNNING || view->state == JOB_IDLE;
    struct job_attempts *tries = attempts_of(customerd->tries, view->id);
    char words[640], trace[JOB_TRACE_ID_LEN + 1];

    if (goes_on && !again_words(customerd, view, words))
        return;
    if (goes_on && tries)
        metrics_count(customerd->daemon.metrics, METRIC_TRIES_LOST);
    if (view->state == JOB_HELD && view->reason == REASON_EXITED)
        job_policy_held(customerd, view);
    if (!goes_on)
        end_words(customerd, view, words);
    if (!goes_on && tries)
        tries->failed = view->tries;
    job_trace_id_write(&view->trace, trace);
    if (tries || view->local)
        LOG(&customerd->daemon.log, LEVEL_INFO,
            goes_on                   ? "job.again"
            : view->state == JOB_HELD ? "job.held"
                                      : "job.ended",
            log_number("job", (int64_t)view->id), log_text("what", words), log_text("trace", *trace ? trace : NULL));
    if (joblog_exists(customerd->files, view->id))
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()), "%s", words);
}

void customerd_ends(struct customerd *customerd, const struct job_view *view)
{
    enum end_how how = view->state == JOB_DONE      ? END_DONE
                       : view->state == JOB_REMOVED ? END_REMOVED
                       : view->state == JOB_ABORTED ? END_ABORTED
                                                    : END_AGAIN;

    ends_tell_add(customerd->ends, view->id, how, view->reason, view->status);
}

void customerd_dropped(struct customerd *customerd, uint64_t first, uint64_t count)
{
    customer_metrics_dropped(customerd, count);
    for (uint64_t i = 0; i < count; i++)
        ends_tell_add(customerd->ends, first + i, END_REMOVED, REASON_RELEASED, 0);
}

bool view_ended(const struct job_view *view)
{
    return view->state == JOB_DONE || view->state == JOB_REMOVED || view->state == JOB_ABORTED;
}

void customerd_job_changed(void *user, uint64_t job)
{
    struct customerd *customerd = user;
    struct job_view view;

    if (!customerd->customer || !customer_job(customerd->customer, job, &view))
        return;
    /* Two changes that became durable together are told one after the other, and both show the last state. */
    if (view.state == JOB_RUNNING)
        state_log(customerd, &view); /* how the last try ended */
    try_note(customerd, &view);
    if (!view_ended(&view) && endings_has(&customerd->endings, job))
        customerd_ends(customerd, &view); /* rescued: it had ended */
    if (view.state != JOB_RUNNING && (!view_ended(&view) || !endings_has(&customerd->endings, job)))
        state_log(customerd, &view);
    if (view_ended(&view)) {
        if (!endings_has(&customerd->endings, job))
            customer_metrics_ended(customerd, &view);
        step_note(STEP_DURABLE, view.claim, view.number);
        endings_add(&customerd->endings, job);
        customerd_ends(customerd, &view);
        secret_sets_ended(customerd->secrets, job_secrets_id(view.ad));
    }
    if (view.local)
        local_jobs_changed(customerd->local, &view);
    user_logs_note(customerd->logs, &view);
    job_has_changed(customerd, job);
}

/* ------------------------------------------------------------------------------------------------------- the providers */

/* The machine's words about the end of a try are a line of their own: they have nothing to do with the files. */
static void finish_log(struct customerd *customerd, const struct job_view *view, const struct job_attempt *one,
                       const char *name, const char *words)
{
    int64_t now = wall_seconds(runner_wall());
    struct buf missing;

    if (words)
        joblog_add(customerd->files, view->id, view->submitted, now, "%s says: %s", name, words);
    buf_init(&missing);
    missing_words(&one->missing, &missing);
    metrics_add(customerd->daemon.metrics, METRIC_OUTPUTS_MISSING, 0, 0, missing.len != 0);
    if (missing.len)
        joblog_add(customerd->files, view->id, view->submitted, now, "not all files are here: %s",
                   buf_string(&missing));
    else /* a try that was stopped or never ran has not made all its files: those that it made have come */
        joblog_add(customerd->files, view->id, view->submitted, now,
                   words ? "nothing more comes of this try" : "all files are here");
    buf_done(&missing);
}

void customerd_news(void *user, const struct job_view *view, const struct job_attempt *one, enum question_news news,
                    const char *words)
{
    struct customerd *customerd = user;
    const char *name = one->provider ? one->provider : "a machine";

    if (news == NEWS_FILE) { /* for readers of that file; nothing else has changed */
        customerd_wake(customerd, view->id);
        return;
    }
    customerd_commit(customerd);
    if (news == NEWS_RUNNING)
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()),
                   "running on %s (claim %016llx, try %llu)", name, (unsigned long long)one->claim,
                   (unsigned long long)one->serial);
    else if (news == NEWS_STAGING)
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()), "files on their way to %s",
                   name);
    else if (news == NEWS_PROGRESS)
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()), "progress: %s", words);
    else if (news == NEWS_FINISHED)
        finish_log(customerd, view, one, name, words);
    else if (news == NEWS_STORED)
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()), "%s", words);
    else if (news == NEWS_REFUSED)
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()), "refused: %s", words);
    else if (news == NEWS_TROUBLE)
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()), "trouble with files: %s",
                   words);
    if (news == NEWS_FINISHED)
        delivery_begin(customerd, view);
    user_logs_note(customerd->logs, view);
    job_has_changed(customerd, view->id);
}

/* --------------------------------------------------------------------------------------------------- outputs of others */

static bool delivery_job(void *user, uint64_t job, struct delivery_job *ret)
{
    const struct customerd *customerd = user;
    const struct job_attempt *last = attempts_last(customerd->tries, job);
    struct job_view view;

    if (!last || !last->delivering || !customer_job(customerd->customer, job, &view))
        return false;
    *ret = (struct delivery_job){.place = {.job = job, .claim = last->claim, .number = last->number},
                                 .keep = view.workflow != 0};
    ret->place.iwd = job_iwd_of(view.ad, &ret->uid);
    if (ret->place.iwd)
        ret->owner = mem_dup(view.owner, strlen(view.owner));
    return ret->place.iwd != NULL;
}

static void delivery_trouble(void *user, uint64_t job, const char *words)
{
    struct customerd *customerd = user;
    struct job_view view;

    if (customer_job(customerd->customer, job, &view))
        joblog_add(customerd->files, job, view.submitted, wall_seconds(runner_wall()), "trouble with files: %s", words);
    job_has_changed(customerd, job);
}

static void delivery_over(void *user, uint64_t job)
{
    struct customerd *customerd = user;
    struct job_attempt *last = attempts_last(customerd->tries, job);
    struct job_view view;
    struct err err;

    if (!last || !last->delivering)
        return;
    last->delivering = false;
    if (attempts_store(customerd->tries, job, &err) == 0)
        customerd_commit(customerd);
    if (customer_job(customerd->customer, job, &view))
        user_logs_note(customerd->logs, &view);
    job_has_changed(customerd, job);
}

/* Brings the outputs of the job's last try to its user, if they are due there. */
static void delivery_begin(struct customerd *customerd, const struct job_view *view)
{
    const struct job_attempt *last = attempts_last(customerd->tries, view->id);
    uint32_t uid;
    char *folder = last && last->delivering ? job_iwd_of(view->ad, &uid) : NULL;

    if (folder)
        deliveries_add(customerd->deliveries, view->id, uid);
    else if (last && last->delivering)
        delivery_over(customerd, view->id);
    free(folder);
}

void customerd_deliveries(struct customerd *customerd)
{
    struct deliveries_ports ports = {.user = customerd,
                                     .customer = customerd->role.self,
                                     .files = customerd->files,
                                     .program = customerd->settings->program,
                                     .job = delivery_job,
                                     .trouble = delivery_trouble,
                                     .over = delivery_over};

    customerd->deliveries = deliveries_new(&customerd->daemon.loop, &ports);
}

/* ------------------------------------------------------------------------------------------------------------- restart */

static void boot_job(struct customerd *customerd, const struct job_view *view)
{
    struct job_attempts *tries = attempts_of(customerd->tries, view->id);

    if (tries)
        tries->failed = view->tries; /* the log has these failures already */
    if (view->state == JOB_RUNNING)
        try_note(customerd, view);
    if (view_ended(view)) {
        endings_add(&customerd->endings, view->id);
        customerd_ends(customerd, view);
    }
    delivery_begin(customerd, view);
    if (view->local)
        local_jobs_changed(customerd->local, view);
}

/* To those that wait, and have never done anything else, nothing is to be done. */
static void boot_jobs(struct customerd *customerd)
{
    struct job_view view = {0};
    uint64_t at = 0, alike;

    while (customer_next(customerd->customer, at, &view)) {
        alike = view.local ? 0 : customer_stand_alike(customerd->customer, view.id, UINT64_MAX);
        if (!alike)
            boot_job(customerd, &view);
        at = view.id + (alike ? alike - 1 : 0);
    }
}

struct strays {
    const struct customer *customer;
    uint64_t *ids;
    uint32_t count, room;
};

static void boot_tries(void *user, const struct job_attempts *job)
{
    struct strays *strays = user;
    struct job_view view;

    if (customer_job(strays->customer, job->job, &view))
        return;
    ARRAY_ROOM(strays->ids, strays->count, strays->room, 64);
    strays->ids[strays->count++] = job->job;
}

void customerd_boot(struct customerd *customerd)
{
    struct strays strays = {.customer = customerd->customer};
    struct err err;

    ends_catch_up_begin(&customerd->catch_up, customerd->history, customerd->ends);
    boot_jobs(customerd);
    if (customer_last(customerd->customer))
        newcomers_add(&customerd->newcomers, 1, customer_last(customerd->customer));
    attempts_each(customerd->tries, boot_tries, &strays);
    for (uint32_t i = 0; i < strays.count; i++)
        attempts_forget(customerd->tries, strays.ids[i], &err);
    free(strays.ids);
    customerd_commit(customerd);
}
