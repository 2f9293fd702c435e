/* customerd_tidy.c: tidying: ended jobs go to the history, and old files are removed. */
#include "live/customerd/audited.h"
#include "live/customerd/copies.h"
#include "live/customerd/crons.h"
#include "live/customerd/customerd_parts.h"
#include "live/customerd/job_policy.h"
#include "live/customerd/replicas_renew.h"
#include "live/customerd/user_logs.h"

#include "lang/ad/make.h"

#include <stdlib.h>
#include <string.h>

#define TIDY_LOOKED 4000       /* ended jobs that one look goes through: those of which something is to come stay */
#define TIDY_QUIET 2000        /* microseconds of a turn of the loop, while nobody waits ... */
#define TIDY_BUSY 300          /* ... and while users do: the rest comes ... */
#define TIDY_SOON_QUIET 2      /* ... so many milliseconds later ... */
#define TIDY_SOON_BUSY 5       /* ... or so many */
#define TIDY_SHORTENED 2       /* steps to the bound of the history with each job that comes: it does not run away */
#define TIDY_FILES 20          /* jobs whose files one look removes */
#define TIDY_SECOND 10         /* looks in a second */
#define TIDY_KEYS 6000         /* looks between going through the keys of submissions and doing it again: ten minutes */
#define TIDY_SPOOL 36000       /* looks between two sweeps of the spool: an hour */
#define LEFT_WAIT INT64_C(300) /* how many seconds to wait for the files of a job that was removed */

/* Has everything come that the job leaves? */
static bool job_is_over(const struct customerd *customerd, const struct job_view *view, int64_t now)
{
    const struct job_attempt *last = attempts_last(customerd->tries, view->id);

    if (view->rooted || view->kept)
        return false;
    if ((last && last->delivering) || user_logs_owe(customerd->logs, view))
        return false;
    if (last && last->finished && job_files_due(view, last, now))
        return false;
    if (!last || last->finished || now >= view->changed + OUTPUTS_KEPT)
        return true;
    return view->state != JOB_DONE && now >= view->changed + LEFT_WAIT;
}

/* The job's ad for the history, with what is needed to find its files again. */
static struct tree *ad_for_history(struct customerd *customerd, const struct job_view *view, int64_t now)
{
    struct tree *ad = job_ad_whole(customerd->daemon.symbols, customerd->customer, view,
                                   attempts_of(customerd->tries, view->id), now),
                *more;
    const struct job_attempt *last = attempts_last(customerd->tries, view->id);
    struct maker maker;

    if (!last)
        return ad;
    maker_init(&maker, customerd->daemon.symbols);
    maker_parts(&maker, ad, "OutputsDue");
    maker_word(&maker, "LastClaim", last->claim);
    maker_word(&maker, "LastNumber", last->number);
    more = maker_seal(&maker);
    tree_unref(ad);
    return more;
}

/* Notes files that never came: or the end of the waiting would be taken for all files being here. */
static void late_tell(struct customerd *customerd, const struct job_view *view, int64_t now)
{
    static const char why[] = "its machine did not send all of it within a day";
    struct job_attempt *last = attempts_last(customerd->tries, view->id);

    if (view->state != JOB_DONE || !last || last->finished)
        return;
    missing_add(&last->missing, "(others)", 8, why, sizeof why - 1);
    joblog_add(customerd->files, view->id, view->submitted, now, "not all files are here: %s", why);
}

/* Moves the job to the history. False: it could not be recorded. */
static bool job_close(struct customerd *customerd, const struct job_view *view, int64_t now)
{
    struct history_row row = {
        .job = view->id, .ended = now, .standing = job_standing(view, attempts_last(customerd->tries, view->id))};
    struct tree *ad = ad_for_history(customerd, view, now);
    struct err err = {0};
    bool done =
        history_add(customerd->history, &row, ad, &err) == 0 && attempts_forget(customerd->tries, view->id, &err) == 0;

    if (done) {
        user_logs_forget(customerd->logs, view->id);
        customerd_commit(customerd);
        /* All of this becomes durable together, or none of it. */
        runner_event(customerd->runner, &(struct event){.kind = EVENT_FORGET, .job = view->id});
        customerd_changed(customerd);
    } else {
        LOG(&customerd->daemon.log, LEVEL_ERROR, "history", log_text("why", err.text));
    }
    tree_unref(ad);
    return done;
}

/* One step towards the bound of the history. False: there is nothing more to do. */
static bool history_shorten(struct customerd *customerd)
{
    struct err err = {0};
    uint64_t gone;

    if (!history_step(customerd->history, &gone, &err)) {
        if (*err.text)
            LOG(&customerd->daemon.log, LEVEL_ERROR, "history", log_text("why", err.text));
        return false;
    }
    if (gone)
        jobfiles_remove(customerd->files, gone);
    customerd_commit(customerd);
    return true;
}

static bool history_tidy(struct customerd *customerd, int64_t ends)
{
    while (history_shorten(customerd))
        if (runner_now() >= ends)
            return true;
    return false;
}

/* Jobs of which something is still to come are looked at again after all the others. */
static bool endings_tidy(struct customerd *customerd, int64_t ends)
{
    uint32_t looks =
        endings_count(&customerd->endings) < TIDY_LOOKED ? endings_count(&customerd->endings) : TIDY_LOOKED;
    int64_t now = runner_settled(customerd->runner) / SECOND;
    struct job_view view;

    for (; looks; looks--) {
        uint64_t job;
        bool over;

        if (looks % 2 == 0 && runner_now() >= ends)
            return true;
        job = endings_take(&customerd->endings);
        if (!customer_job(customerd->customer, job, &view) || !view_ended(&view))
            continue; /* the job has gone, or waits again */
        over = job_is_over(customerd, &view, now);
        if (over)
            late_tell(customerd, &view, now);
        if (over && job_close(customerd, &view, now)) {
            for (int i = 0; i < TIDY_SHORTENED && history_shorten(customerd); i++)
                ;
            continue;
        }
        endings_add(&customerd->endings, job);
        if (over)
            return false; /* the next job could not be recorded, either */
    }
    return false;
}

static bool replicas_tidy(struct customerd *customerd, int64_t ends)
{
    return renewal_tick(customerd->renewal, ends);
}

/* Once a second. Those that have no files take but the time of a look. */
static bool files_tidy(struct customerd *customerd, int64_t ends)
{
    int64_t now = runner_settled(customerd->runner) / SECOND;
    uint64_t from = customerd->expired, place;
    struct history_row row;
    int removed = 0;

    if (customerd->tidied % TIDY_SECOND)
        return false;
    while (removed < TIDY_FILES && (place = history_after(customerd->history, customerd->expired, &row))) {
        if (row.ended + CUSTOMERD_FILES_KEPT > now)
            break;
        if (customerd->expired != from && runner_now() >= ends)
            return true;
        if (!row.alike) {
            jobfiles_remove(customerd->files, row.job);
            removed++;
        }
        customerd->expired = place;
    }
    return false;
}

static bool keys_tidy(struct customerd *customerd, int64_t ends)
{
    (void)ends; /* it looks at few */
    if ((int32_t)(customerd->tidied - customerd->keys_due) >= 0 && submissions_tidy(customerd))
        customerd->keys_due = customerd->tidied + TIDY_KEYS;
    return false;
}

static bool logs_tidy(struct customerd *customerd, int64_t ends)
{
    return user_logs_tick(customerd->logs, ends);
}

static bool policies_tidy(struct customerd *customerd, int64_t ends)
{
    return job_policies_tick(customerd->policies, ends);
}

/* Once a second. */
static bool seconds_tidy(struct customerd *customerd, int64_t ends)
{
    (void)ends;
    if (customerd->tidied % TIDY_SECOND != 1)
        return false;
    customerd_disk_look(customerd);
    callers_sweep(&customerd->gate.callers, runner_now());
    customer_audit_sweep(customerd);
    crons_tick(customerd->crons);
    copies_tick(customerd->copies);
    return false;
}

/* The parts of tidying. Each works until its time is over, and says whether there is more. */
static bool (*const parts[])(struct customerd *customerd, int64_t ends) = {
    newcomers_tidy, logs_tidy,  policies_tidy, endings_tidy, history_tidy,  secrets_tidy,
    files_tidy,     spool_tidy, keys_tidy,     seconds_tidy, replicas_tidy,
};
#define PARTS (sizeof parts / sizeof *parts)

/* The next part that is due; there is one. */
static uint32_t part_next(struct customerd *customerd)
{
    uint32_t part = customerd->tidy_next;

    while (!(customerd->tidy_due & UINT32_C(1) << part))
        part = (part + 1) % PARTS;
    customerd->tidy_next = (part + 1) % PARTS;
    return part;
}

/* One part after another, as long as a turn may take: whoever comes then waits for that, and not for all of them. */
void customerd_tidy_more(uv_timer_t *timer)
{
    struct customerd *customerd = timer->data;
    bool busy = front_is_busy(agent_front(customerd->live));
    int64_t ends = runner_now() + (busy ? TIDY_BUSY : TIDY_QUIET);

    if (runner_is_broken(customerd->runner) || !runner_may_act(customerd->runner))
        return; /* the rest is done in the next look, if there is one */
    do {
        uint32_t part = part_next(customerd);

        if (!parts[part](customerd, ends))
            customerd->tidy_due &= ~(UINT32_C(1) << part);
    } while (customerd->tidy_due && runner_now() < ends && !runner_is_broken(customerd->runner));
    if (customerd->tidy_due)
        uv_timer_start(&customerd->more, customerd_tidy_more, busy ? TIDY_SOON_BUSY : TIDY_SOON_QUIET, 0);
}

void customerd_tidy(struct customerd *customerd)
{
    if (++customerd->tidied % TIDY_SPOOL == 100)
        spool_tidy_begin(customerd);
    customerd->tidy_due = (UINT32_C(1) << PARTS) - 1;
    if (!uv_is_active((uv_handle_t *)&customerd->more))
        customerd_tidy_more(&customerd->more);
}
