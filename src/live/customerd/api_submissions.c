/* api_submissions.c: the submissions that have jobs in the queue, and how far each is: counted here, so that nobody has to ask for thousands of jobs.
 *
 *     POST /v1/jobs with 500 ads  ->  jobs 21 to 520, one submission        GET /v1/submissions  ->  [ Submission = 21; Last = 520; Jobs = 500; Waiting = 380; ... ]
 *
 * The numbers of a submission follow one another. Those of its jobs that are over are in the history. The role remembers its ads for a day after their
 * last job was forgotten; then the row of its key tells which jobs it had (submission_keys.c). */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/many.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/customerd/walk.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "match/pair/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBMISSIONS_LOOK_MAX 300000 /* jobs that are looked at for one answer, those of the history as well */
#define ADS_REMEMBERED \
    (INT64_C(20) * 3600) /* seconds for which the role remembers every ad of a submission, and some more */

/* A submission, counted. */
struct counted {
    uint64_t first, last;
    uint64_t counts[STANDING_COUNT];
    int64_t started;               /* the first of its jobs; 0: none has, as far as is known */
    uint64_t refused, refused_job; /* jobs whose requests no matchmaker takes, and the first of them */
    enum reason reason;            /* why not */
    struct history_row oldest;     /* of its jobs in the history the one that ended first; no job: there is none */
};

/* --------------------------------------------------------------------------------------------------------- which jobs */

static bool row_read(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct counted *counted = user;
    unsigned long long first = 0, last = 0;
    char row[256] = "";

    (void)key;
    (void)key_len;
    memcpy(row, value, len < sizeof row - 1 ? len : sizeof row - 1);
    if (sscanf(row, "%*64s %*d %llu %llu", &first, &last) == 2 && first && last >= first) {
        counted->first = first;
        counted->last = last;
    }
    return false;
}

void submission_of(const struct customerd *customerd, const struct job_view *view, int64_t now, uint64_t *ret_first,
                   uint64_t *ret_last)
{
    struct shelf *shelf = customerd->daemon.shelf;
    struct submission_view known;
    struct counted row = {0};
    char key[SHELF_KEY_MAX];
    struct err err;

    *ret_first = *ret_last = view->id;
    if (!customer_submission(customerd->customer, view->id, &known))
        return;
    *ret_first = known.first;
    *ret_last = known.last;
    if (known.whole && known.ads == 1 && now - view->submitted < ADS_REMEMBERED)
        return; /* as most are: the row need not be read */
    snprintf(key, sizeof key, "%s/%.*s", view->owner, (int)known.key_len, known.key);
    if (shelf->kind->get(shelf, CUSTOMERD_BODY_SPACE, key, strlen(key), row_read, &row, &err) == 0 && row.first &&
        row.first <= known.first && row.last >= known.last && row.last - row.first < HISTORY_MAX) {
        *ret_first = row.first;
        *ret_last = row.last;
    }
}

/* ------------------------------------------------------------------------------------------------------------ counting */

static void started_note(struct counted *counted, int64_t started)
{
    if (started > 0 && (!counted->started || started < counted->started))
        counted->started = started;
}

/* When a job of the history started. Of a very short one nobody was told: then it is known how long it ran. */
static int64_t history_started(const struct customerd *customerd, uint64_t job)
{
    struct tree *ad = history_ad(customerd->history, job);
    int64_t started = 0;
    double used = 0;

    if (ad && !ad_integer(ad, "Started", &started) && ad_integer(ad, "Ended", &started)) {
        ad_number(ad, "WallUsed", &used);
        started -= used > 0 && used < (double)started ? (int64_t)used + 1 : 1;
    }
    tree_unref(ad);
    return started;
}

/* Counts a job by its state, and with it those behind it that are alike; returns the number of the next. Of those in the history only the one that ended
 * first is read: it was among the first that started. */
static uint64_t submission_count(const struct customerd *customerd, struct counted *counted, struct many *many,
                                 uint64_t id)
{
    uint64_t alike = customer_stand_alike(customerd->customer, id, counted->last);
    struct history_row row;
    struct job_view view;

    if (customer_job(customerd->customer, id, &view)) {
        const struct job_attempt *last = attempts_last(customerd->tries, id);

        alike = alike ? alike : 1;
        counted->counts[job_standing(&view, last)] += alike;
        many_note(many, &view, last);
        started_note(counted, last ? last->started : 0);
        if (view.refused != REASON_OK && !counted->refused) {
            counted->refused_job = id;
            counted->reason = view.refused;
        }
        counted->refused += view.refused != REASON_OK ? alike : 0;
        return id + alike;
    }
    if (history_find(customerd->history, id, &row)) {
        counted->counts[row.standing]++;
        many_note_ended(many, row.ended);
        if (row.standing != STANDING_CANCELLED && (!counted->oldest.job || row.ended < counted->oldest.ended))
            counted->oldest = row;
    }
    return id + 1;
}

/* How many seconds it will take, if it goes on as it has gone so far: those that run are half done. -1: that cannot be told. */
static int64_t time_left(const struct counted *counted, int64_t now)
{
    const uint64_t *counts = counted->counts;
    double ended = (double)(counts[STANDING_DONE] + counts[STANDING_FAILED]);
    double running = (double)(counts[STANDING_READY] + counts[STANDING_SCHEDULED] + counts[STANDING_RUNNING]);
    double left = (double)counts[STANDING_WAITING] + (double)counts[STANDING_BLOCKED] + running / 2;

    if (!(ended > 0) || !(left > 0) || !counted->started || now <= counted->started)
        return -1;
    left *= (double)(now - counted->started) / ended;
    return left < 1e12 ? (int64_t)left : -1;
}

/* `view` is of a job that is still in the queue: what it runs stands for what all of them do. */
static struct tree *submission_ad(const struct customerd *customerd, const struct job_view *view,
                                  const struct counted *counted, int64_t now)
{
    struct tree *shown = ad_select(customerd->daemon.symbols, view->ad, "Cmd,Args,Name");
    const uint64_t *counts = counted->counts;
    int64_t left = time_left(counted, now);
    struct maker maker;

    maker_init(&maker, customerd->daemon.symbols);
    maker_parts(&maker, shown, NULL);
    tree_unref(shown);
    maker_integer(&maker, "Submission", (int64_t)counted->first);
    maker_integer(&maker, "Last", (int64_t)counted->last);
    maker_integer(&maker, "Jobs", (int64_t)(counted->last - counted->first + 1));
    maker_text(&maker, "Owner", view->owner);
    maker_integer(&maker, "Submitted", view->submitted);
    maker_integer(&maker, "Waiting", (int64_t)(counts[STANDING_WAITING] + counts[STANDING_BLOCKED]));
    maker_integer(&maker, "Running",
                  (int64_t)(counts[STANDING_READY] + counts[STANDING_SCHEDULED] + counts[STANDING_RUNNING]));
    maker_integer(&maker, "Held", (int64_t)counts[STANDING_HELD]);
    maker_integer(&maker, "Succeeded", (int64_t)counts[STANDING_DONE]);
    maker_integer(&maker, "Failed", (int64_t)(counts[STANDING_FAILED] + counts[STANDING_ABORTED]));
    maker_integer(&maker, "Removed", (int64_t)counts[STANDING_CANCELLED]);
    if (view->workflow)
        maker_integer(&maker, "Workflow", (int64_t)view->workflow);
    if (counted->refused) {
        maker_integer(&maker, "Refused", (int64_t)counted->refused);
        maker_integer(&maker, "RefusedJob", (int64_t)counted->refused_job);
        maker_text(&maker, "Reason", reason_words(counted->reason));
    }
    if (counted->started)
        maker_integer(&maker, "Started", counted->started);
    if (left >= 0)
        maker_integer(&maker, "Estimate", left);
    return maker_seal(&maker);
}

/* -------------------------------------------------------------------------------------------------------------- listing */

struct submission_walk {
    struct walk walk;
    int64_t now;
    uint64_t limit, cursor, looked;
    bool more;
    struct tree *query; /* which are wanted; NULL: all */
    uint64_t steps;     /* that may still be spent on it */
    struct env env;
    struct arena scratch;
    uint64_t job;           /* the job in the queue that led to the submission which is being counted; 0: none is */
    uint64_t at;            /* the next of its jobs */
    struct counted counted; /* so far */
    struct listing listing;
    struct buf out;
    bool alone;       /* one submission as a resource: */
    struct many many; /* ... what is asked of it */
    struct tree *ad;  /* ... and what it is; NULL: it is not there, or not yet counted */
};

/* The next submission is to be counted, if it is the caller's; false: there is none, or enough is listed. */
static bool submission_next(struct submission_walk *list, const struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    struct job_view view;

    if (list->alone && list->looked)
        return false;
    list->more = caller_next(request, list->cursor, &view);
    if (!list->more || list->listing.count >= (list->limit ? list->limit : 1) || list->looked > SUBMISSIONS_LOOK_MAX ||
        !list->steps)
        return false;
    list->counted = (struct counted){0};
    submission_of(customerd, &view, list->now, &list->counted.first, &list->counted.last);
    list->cursor = list->counted.last > view.id ? list->counted.last : view.id;
    list->looked += list->counted.last - list->counted.first + 1;
    list->at = list->counted.first;
    list->job = view.id;
    if (!list->alone)
        return true;
    list->many.last = list->counted.last;
    return list->job && list->counted.first == list->many.number;
}

static bool submission_wanted(struct submission_walk *list, const struct tree *ad)
{
    uint64_t steps = 1;
    bool wanted = match_query_counted(&list->env, &list->scratch, list->query, ad, &steps);

    list->steps -= steps < list->steps ? steps : list->steps;
    return wanted;
}

static void submission_add(struct submission_walk *list, const struct customerd *customerd)
{
    struct job_view view;
    struct tree *ad;

    if (list->counted.oldest.job)
        started_note(&list->counted, history_started(customerd, list->counted.oldest.job));
    if (customer_job(customerd->customer, list->job, &view)) { /* it may have gone meanwhile */
        ad = submission_ad(customerd, &view, &list->counted, list->now);
        if (list->alone)
            list->ad = tree_ref(ad);
        else if (!list->query || submission_wanted(list, ad))
            listing_add(&list->listing, ad);
        tree_unref(ad);
    }
    list->job = 0;
}

static bool submission_one(struct walk *walk, struct request *request)
{
    struct submission_walk *list = (struct submission_walk *)walk;
    const struct customerd *customerd = request_customerd(request);

    if (!list->job)
        return submission_next(list, request);
    if (list->at <= list->counted.last)
        list->at = submission_count(customerd, &list->counted, &list->many, list->at);
    else
        submission_add(list, customerd);
    return true;
}

static void submissions_told(struct walk *walk, struct request *request)
{
    struct submission_walk *list = (struct submission_walk *)walk;

    if (list->alone) {
        many_end(request, &list->many, list->ad);
        return;
    }
    listing_end(&list->listing);
    request_list(request, &list->out, list->more, list->cursor);
}

static void submissions_drop(struct walk *walk)
{
    struct submission_walk *list = (struct submission_walk *)walk;

    buf_done(&list->out);
    many_done(&list->many);
    tree_unref(list->ad);
    tree_unref(list->query);
    arena_done(&list->scratch);
    free(walk);
}

static struct submission_walk *submissions_walk(uint64_t limit, uint64_t cursor)
{
    struct submission_walk *list = mem_alloc(sizeof *list);

    memset(list, 0, sizeof *list);
    list->walk = (struct walk){submission_one, submissions_told, submissions_drop};
    list->now = runner_wall() / SECOND;
    list->limit = limit;
    list->cursor = cursor;
    list->steps = UINT64_MAX;
    arena_init(&list->scratch);
    buf_init(&list->out);
    return list;
}

/* Submissions in the order of their numbers, those that are asked for. The cursor is the last job that was looked at. */
void api_submissions(struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    const struct config *config = &customerd->daemon.config;
    uint64_t limit, cursor;
    struct submission_walk *list;
    struct tree *query = NULL;
    struct err err = {0};

    if (!request_number(request, "limit", 0, CUSTOMERD_LIMIT_MAX, CUSTOMERD_LIMIT_DEFAULT, &limit) ||
        !request_number(request, "cursor", 0, INT64_MAX, 0, &cursor))
        return;
    if (query_expr(request->exchange, "constraint", customerd->daemon.symbols, config, &query, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return;
    }
    list = submissions_walk(limit, cursor);
    list->query = query;
    list->steps = config_count(config, CONFIG_QUERY_STEPS);
    list->env = (struct env){.now = list->now,
                             .steps = config_count(config, CONFIG_EVALUATION_STEPS),
                             .bytes = config_size(config, CONFIG_EVALUATION_BYTES)};
    listing_begin(&list->listing, &list->out, request->form);
    walk_begin(request, &list->walk);
}

/* One submission, by the number of its first job: told, or changed. */
void api_submission(struct request *request)
{
    struct submission_walk *list;
    struct many many;

    if (!many_begin(request, &many))
        return;
    list = submissions_walk(1, many.number ? many.number - 1 : 0);
    list->alone = true;
    list->many = many;
    walk_begin(request, &list->walk);
}
