/* customerd_tidy.c: what is over goes: ended jobs to the history, old files, inputs that no job names. */
#include "live/customerd/customerd_parts.h"

#include "lang/base/textmap.h"

#include <stdlib.h>
#include <string.h>

#define TIDY_JOBS 1000         /* that one look takes to the history */
#define TIDY_LOOKED 4000       /* that it looks at */
#define TIDY_FILES 20          /* jobs whose files one look removes */
#define TIDY_SPOOL 36000       /* looks between two at the spool: an hour */
#define LEFT_WAIT INT64_C(300) /* seconds that the files of a job that was removed are waited for */

/* Is all that is to come of the job here? */
static bool job_is_over(const struct desk *desk, const struct job_view *view, int64_t now)
{
    const struct job_try *last = tries_last(desk->tries, view->id);

    if (view->rooted || view->kept)
        return false;
    if (last && last->finished && job_files_due(view, last, now))
        return false;
    if (!last || last->finished || now >= view->changed + OUTPUTS_KEPT)
        return true;
    return view->state != JOB_DONE && now >= view->changed + LEFT_WAIT;
}

/* With what is needed to find its files again. */
static struct tree *ad_for_history(struct desk *desk, const struct job_view *view, int64_t now)
{
    struct tree *ad = job_ad(desk->daemon.symbols, desk->customer, view, tries_of(desk->tries, view->id), now), *more;
    const struct job_try *last = tries_last(desk->tries, view->id);
    struct maker maker;

    if (!last)
        return ad;
    maker_init(&maker, desk->daemon.symbols);
    maker_parts(&maker, ad, "OutputsDue");
    maker_word(&maker, "LastClaim", last->claim);
    maker_word(&maker, "LastNumber", last->number);
    more = maker_seal(&maker);
    tree_unref(ad);
    return more;
}

/* What was waited for in vain is not here: nobody takes the end of the waiting for all of it. */
static void late_tell(struct desk *desk, const struct job_view *view, int64_t now)
{
    static const char why[] = "its machine did not send all of it within a day";
    struct job_try *last = tries_last(desk->tries, view->id);

    if (view->state != JOB_DONE || !last || last->finished)
        return;
    missing_add(&last->missing, "(others)", 8, why, sizeof why - 1);
    joblog_add(desk->files, view->id, view->submitted, now, "not all files are here: %s", why);
}

/* False: it could not be written down. */
static bool job_close(struct desk *desk, const struct job_view *view, int64_t now)
{
    struct history_row row = {
        .job = view->id, .ended = now, .standing = job_standing(view, tries_last(desk->tries, view->id))};
    struct tree *ad = ad_for_history(desk, view, now);
    struct err err = {0};
    bool done = history_add(desk->history, &row, ad, &err) == 0 && tries_forget(desk->tries, view->id, &err) == 0;

    if (done) {
        desk_commit(desk);
        /* All of it is durable together, or nothing is. */
        runner_event(desk->runner, &(struct event){.kind = EVENT_FORGET, .job = view->id});
        desk_changed(desk);
    } else {
        LOG(&desk->daemon.log, LEVEL_ERROR, "history", log_text("why", err.text));
    }
    tree_unref(ad);
    return done;
}

/* Those of which something is still to come are looked at again when all the others were. */
static void endings_tidy(struct desk *desk)
{
    uint32_t looks = endings_count(&desk->endings) < TIDY_LOOKED ? endings_count(&desk->endings) : TIDY_LOOKED;
    int64_t now = runner_settled(desk->runner) / SECOND;
    struct job_view view;

    for (uint32_t closed = 0; looks && closed < TIDY_JOBS; looks--) {
        uint64_t job = endings_take(&desk->endings);
        bool over;

        if (!customer_job(desk->customer, job, &view) || !view_ended(&view))
            continue; /* it has gone, or waits again */
        over = job_is_over(desk, &view, now);
        if (over)
            late_tell(desk, &view, now);
        if (over && job_close(desk, &view, now)) {
            closed++;
            continue;
        }
        endings_add(&desk->endings, job);
        if (over)
            break; /* the next could not be written down, either */
    }
}

static void files_go(void *user, uint64_t job)
{
    struct desk *desk = user;

    jobfiles_remove(desk->files, job);
    desk->expired -= desk->expired != 0;
}

static void files_tidy(struct desk *desk)
{
    int64_t now = runner_settled(desk->runner) / SECOND;
    struct history_row row;
    struct err err;

    for (int i = 0; i < TIDY_FILES && desk->expired < history_count(desk->history); i++) {
        history_at(desk->history, history_count(desk->history) - 1 - desk->expired, &row);
        if (row.ended + DESK_FILES_KEPT > now)
            break;
        jobfiles_remove(desk->files, row.job);
        desk->expired++;
    }
    if (history_trim(desk->history, files_go, desk, &err))
        desk_commit(desk);
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

static void spool_tidy(struct desk *desk)
{
    struct naming naming = {.last = NULL};
    uint32_t gone;

    textmap_init(&naming.hashes, 0);
    customer_each(desk->customer, name_job, &naming);
    gone = spool_sweep(desk->spool, runner_settled(desk->runner) / SECOND, is_named, &naming.hashes);
    if (gone)
        LOG(&desk->daemon.log, LEVEL_INFO, "spool.swept", log_number("files", gone));
    textmap_done(&naming.hashes);
}

void desk_tidy(struct desk *desk)
{
    endings_tidy(desk);
    if (++desk->tidied % 10 == 0)
        files_tidy(desk);
    if (desk->tidied % TIDY_SPOOL == 100)
        spool_tidy(desk);
    if (desk->tidied % TIDY_SPOOL == 200)
        submissions_tidy(desk);
}
