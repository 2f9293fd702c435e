/* customerd_tidy.c: tidying: ended jobs go to the history; old files, and inputs that no job names, are removed. */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/job_policy.h"
#include "live/customerd/user_logs.h"

#include "lang/ad/make.h"
#include "lang/base/textmap.h"
#include "sys/secrets.h"

#include <stdlib.h>
#include <string.h>

#define TIDY_JOBS 1000         /* jobs that one look moves to the history */
#define TIDY_LOOKED 4000       /* jobs that it looks at */
#define TIDY_QUIET 20000       /* microseconds that this may take, while nobody waits ... */
#define TIDY_BUSY 300          /* ... and while users do: then it goes on ... */
#define TIDY_SOON 15           /* ... so many milliseconds later */
#define TIDY_SHORTENED 2       /* steps to the bound of the history with each job that comes: it does not run away */
#define TIDY_FILES 20          /* jobs whose files one look removes */
#define TIDY_KEYS 6000         /* looks between going through the keys of submissions and doing it again: ten minutes */
#define TIDY_SPOOL 36000       /* looks between two sweeps of the spool: an hour */
#define LEFT_WAIT INT64_C(300) /* how many seconds to wait for the files of a job that was removed */

static void tidy_more(uv_timer_t *timer);

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

/* When work that may wait has to stop. */
static int64_t tidy_ends(const struct customerd *customerd)
{
    return runner_now() + (front_is_busy(agent_front(customerd->live)) ? TIDY_BUSY : TIDY_QUIET);
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

static void history_tidy(struct customerd *customerd)
{
    int64_t ends = tidy_ends(customerd);

    while (history_shorten(customerd)) {
        if (runner_now() >= ends) {
            uv_timer_start(&customerd->more, tidy_more, TIDY_SOON, 0);
            return;
        }
    }
}

/* Jobs of which something is still to come are looked at again after all the others. */
static void endings_tidy(struct customerd *customerd)
{
    uint32_t looks =
        endings_count(&customerd->endings) < TIDY_LOOKED ? endings_count(&customerd->endings) : TIDY_LOOKED;
    int64_t now = runner_settled(customerd->runner) / SECOND;
    int64_t ends = tidy_ends(customerd);
    struct job_view view;

    for (uint32_t closed = 0; looks && closed < TIDY_JOBS && (looks % 2 || runner_now() < ends); looks--) {
        uint64_t job = endings_take(&customerd->endings);
        bool over;

        if (!customer_job(customerd->customer, job, &view) || !view_ended(&view))
            continue; /* the job has gone, or waits again */
        over = job_is_over(customerd, &view, now);
        if (over)
            late_tell(customerd, &view, now);
        if (over && job_close(customerd, &view, now)) {
            for (int i = 0; i < TIDY_SHORTENED && history_shorten(customerd); i++)
                ;
            closed++;
            continue;
        }
        endings_add(&customerd->endings, job);
        if (over)
            return; /* the next job could not be recorded, either */
    }
    if (looks)
        uv_timer_start(&customerd->more, tidy_more, TIDY_SOON, 0);
}

static void tidy_more(uv_timer_t *timer)
{
    struct customerd *customerd = timer->data;

    if (runner_is_broken(customerd->runner))
        return;
    endings_tidy(customerd);
    history_tidy(customerd);
}

static void files_tidy(struct customerd *customerd)
{
    int64_t now = runner_settled(customerd->runner) / SECOND;
    struct history_row row;
    uint64_t place;

    for (int i = 0; i < TIDY_FILES && (place = history_after(customerd->history, customerd->expired, &row)); i++) {
        if (row.ended + CUSTOMERD_FILES_KEPT > now)
            break;
        jobfiles_remove(customerd->files, row.job);
        customerd->expired = place;
    }
}

/* --------------------------------------------------------------------------------------------------------- the spool */

struct naming {
    struct textmap hashes;
    const struct tree *last; /* jobs of one shape share their ad */
};

static bool name_input(void *user, const struct job_input *input)
{
    textmap_add(user, input->hash, strlen(input->hash));
    return true;
}

static void name_job(void *user, const struct job_view *view)
{
    struct naming *naming = user;

    if (view->ad != naming->last)
        job_inputs(view->ad, name_input, &naming->hashes);
    naming->last = view->ad;
}

static bool is_named(void *user, const char *hash)
{
    return textmap_find(user, hash, strlen(hash)) != TEXTMAP_NONE;
}

static void spool_tidy(struct customerd *customerd)
{
    struct naming naming = {.last = NULL};
    uint32_t gone;

    textmap_init(&naming.hashes, secrets_word(&secrets_live));
    customer_each(customerd->customer, name_job, &naming);
    gone = spool_sweep(customerd->spool, runner_settled(customerd->runner) / SECOND, is_named, &naming.hashes);
    if (gone)
        LOG(&customerd->daemon.log, LEVEL_INFO, "spool.swept", log_number("files", gone));
    textmap_done(&naming.hashes);
}

void customerd_tidy(struct customerd *customerd)
{
    user_logs_tick(customerd->logs);
    job_policies_tick(customerd->policies);
    endings_tidy(customerd);
    history_tidy(customerd);
    secrets_tidy(customerd);
    if (++customerd->tidied % 10 == 0)
        files_tidy(customerd);
    if (customerd->tidied % TIDY_SPOOL == 100)
        spool_tidy(customerd);
    if ((int32_t)(customerd->tidied - customerd->keys_due) >= 0 && submissions_tidy(customerd))
        customerd->keys_due = customerd->tidied + TIDY_KEYS;
}
