/* api_jobs.c: lists of jobs, one job, the summary, the history. */
#include "live/customerd/customerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/customerd/job_list_parts.h"
#include "live/customerd/job_outcome.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "match/pair/match.h"
#include "pool/protocol/writers.h"

#include <stdlib.h>
#include <string.h>

#define ORDER_MAX 10000       /* rows of an ordered list, over all its pages */
#define ORDER_LOOK_MAX 100000 /* at most so many jobs are looked at for a page of it */
#define ORDER_NAME_MAX 100
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* -------------------------------------------------------------------------------------------------------------- lists */

/* ids=1-20,31; false after a problem was answered, when it is malformed. `*ret_given`: it was given. */
static bool ids_read(struct request *request, struct id_ranges *ret, bool *ret_given)
{
    const char *text = request_query(request, "ids");

    *ret_given = text;
    if (!text || id_ranges_read(text, strlen(text), ret))
        return true;
    request_problem(request, 400, "ids: expected numbers and ranges such as 1-20,31");
    return false;
}

enum next { NEXT_NONE, NEXT_FOUND, NEXT_LATER };
#define NEXT_LOOKS 8 /* whether there is more: if that is not known by then, it is said that there may be */

/* The next job of the caller's among those that are asked for, behind `*at`, which becomes its number. LATER: it is looked for behind `*at` the next time, so that a
 * list of many ranges takes many steps. */
static enum next next_job(const struct request *request, const struct id_ranges *ranges, uint64_t *at,
                          struct job_view *ret)
{
    uint64_t wanted;

    if (!caller_next(request, *at, ret))
        return NEXT_NONE;
    wanted = ranges ? id_ranges_next(ranges, ret->id - 1) : ret->id;
    *at = wanted == ret->id ? wanted : wanted - 1;
    return !wanted ? NEXT_NONE : wanted == ret->id ? NEXT_FOUND : NEXT_LATER;
}

/* Is the job one of several that were submitted together? The last of them becomes the cursor. */
static bool has_company(const struct customerd *customerd, const struct job_view *view, struct job_list *list)
{
    uint64_t first, last;

    submission_of(customerd, view, list->env.now, &first, &last);
    if (first == last)
        return false;
    list->cursor = last > view->id ? last : view->id;
    return true;
}

static bool list_job(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    const struct customerd *customerd = request_customerd(request);
    struct job_view view;
    enum next next = next_job(request, list->given ? &list->ranges : NULL, &list->cursor, &view);
    bool goes_on;

    if (next != NEXT_FOUND)
        return next == NEXT_LATER;
    if (list->alone && has_company(customerd, &view, list))
        goes_on = ++list->looked < CUSTOMERD_LOOK_MAX;
    else
        goes_on = list_add(list, job_ad(customerd->daemon.symbols, customerd->customer, &view,
                                        attempts_of(customerd->tries, view.id), list->env.now));
    list->more = !goes_on;
    return goes_on;
}

/* If the list ended because there is enough: is there more at all? */
static void list_told(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    uint64_t at = list->cursor;
    enum next next = list->more ? NEXT_LATER : NEXT_NONE;
    struct job_view view;

    for (int i = 0; i < NEXT_LOOKS && next == NEXT_LATER; i++)
        next = next_job(request, list->given ? &list->ranges : NULL, &at, &view);
    list_end(list, next != NEXT_NONE, list->cursor);
}

/* ----------------------------------------------------------------------------------------------------------- in an order */

/* order=-Submitted: by that attribute, the largest first. False after a problem was answered. */
static bool order_read(struct request *request, struct job_list *list)
{
    const char *name = request_query(request, "order");
    bool down = name && *name == '-';

    if (!name)
        return true;
    name += down;
    if (!*name || strlen(name) > ORDER_NAME_MAX || name[strspn(name, NAME_CHARACTERS)]) {
        request_problem(request, 400, "order: expected the name of an attribute, with - in front: the largest first");
        return false;
    }
    if (list->cursor > ORDER_MAX || list->limit > ORDER_MAX - list->cursor) {
        request_problem(request, 400,
                        "order: of an ordered list there are %d rows at most: ask for fewer, or with a constraint",
                        ORDER_MAX);
        return false;
    }
    list->skip = list->cursor;
    list->cursor = 0;
    list->order = job_order_new(name, down, (uint32_t)(list->skip + list->limit));
    return true;
}

static bool order_job(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    const struct customerd *customerd = request_customerd(request);
    struct job_view view;
    enum next next = next_job(request, list->given ? &list->ranges : NULL, &list->cursor, &view);
    struct tree *ad;

    list->more = false;
    if (next != NEXT_FOUND)
        return next == NEXT_LATER;
    if (list->alone && has_company(customerd, &view, list)) {
        list->looked++;
    } else {
        ad = job_ad(customerd->daemon.symbols, customerd->customer, &view, attempts_of(customerd->tries, view.id),
                    list->env.now);
        if (list_wants(list, ad))
            job_order_note(list->order, ad, view.id);
        tree_unref(ad);
    }
    list->more = true;
    return list->looked < ORDER_LOOK_MAX && list->steps;
}

/* Those of the page; what has ended meanwhile is left out. */
static void order_told(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    const struct customerd *customerd = request_customerd(request);
    uint64_t end = list->skip + list->limit;
    struct job_view view;

    job_order_sort(list->order);
    for (uint64_t i = list->skip; i < end && i < job_order_count(list->order); i++)
        if (customer_job(customerd->customer, job_order_id(list->order, (uint32_t)i), &view))
            list_put(list, job_ad(customerd->daemon.symbols, customerd->customer, &view,
                                  attempts_of(customerd->tries, view.id), list->env.now));
    list_order_end(list, job_order_seen(list->order) > end && end < ORDER_MAX, end, !list->more);
}

void api_jobs_list(struct request *request)
{
    struct job_list *list = list_new();
    bool good =
        list_begin(list, request) && ids_read(request, &list->ranges, &list->given) && order_read(request, list);

    list->alone = request_flag(request, "alone");
    list->walk.one = list->order ? order_job : list_job;
    list->walk.end = list->order ? order_told : list_told;
    if (good)
        walk_begin(request, &list->walk);
    else
        list_drop(&list->walk);
}

/* ------------------------------------------------------------------------------------------------------------ the history */

static bool history_sees(const struct request *request, const struct tree *ad)
{
    const char *owner;
    size_t len;

    return caller_sees_all(request) || (ad_string(ad, "Owner", &owner, &len) && caller_sees(request, owner, len));
}

/* Adds the outcome to a job that an earlier version recorded. Takes the ad. */
static struct tree *outcome_told(struct tree *ad)
{
    enum job_outcome outcome;
    struct maker maker;
    int64_t status = 0;
    struct tree *told;

    if (ad_find(ad, "Outcome") || !job_outcome(ad, &outcome))
        return ad;
    ad_integer(ad, "Status", &status);
    maker_init(&maker, ad->symbols);
    maker_parts(&maker, ad, NULL);
    job_outcome_add(&maker, outcome, status);
    told = maker_seal(&maker);
    tree_unref(ad);
    return told;
}

/* A job of the history. `Since` was computed when the job was recorded, moments after its end: here it goes on. NULL:
 * there is none. */
static struct tree *history_told(const struct customerd *customerd, uint64_t job, int64_t now)
{
    struct tree *ad = history_ad(customerd->history, job), *told = NULL;
    struct ad_setting since;
    int64_t ended;

    ad = ad ? outcome_told(ad) : NULL;
    if (!ad || !ad_integer(ad, "Ended", &ended))
        return ad;
    since = (struct ad_setting){symbols_take(ad->symbols, "Since", 5), value_integer(now > ended ? now - ended : 0)};
    told = ad_set(ad, &since, 1, NULL);
    symbols_drop(ad->symbols, since.name);
    if (!told)
        return ad;
    tree_unref(ad);
    return told;
}

/* The ad as lists have it. Takes the ad. */
static struct tree *without_samples(struct tree *ad)
{
    struct tree *less = ad && ad_find(ad, "Samples") ? ad_without(ad, "Samples") : NULL;

    if (!less)
        return ad;
    tree_unref(ad);
    return less;
}

static bool list_past(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    const struct customerd *customerd = request_customerd(request);
    struct history_row row;
    uint64_t place = caller_sees_all(request)
                         ? history_before(customerd->history, list->cursor, &row)
                         : history_before_of(customerd->history, list->cursor, request_identity(request), &row);
    struct tree *ad;

    list->cursor = place ? place - 1 : 0;
    if (!place)
        return false;
    if (!row.job)
        return true;
    ad = without_samples(history_told(customerd, row.job, list->env.now));
    if (ad && history_sees(request, ad))
        return list_add(list, ad);
    tree_unref(ad);
    return ++list->looked < CUSTOMERD_LOOK_MAX;
}

static void list_past_told(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    struct history_row next;

    list_end(list, history_before(request_customerd(request)->history, list->cursor, &next), list->cursor);
}

/* One of those that are asked for by their numbers, in the order of these. */
static bool list_past_named(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    const struct customerd *customerd = request_customerd(request);
    uint64_t job = id_ranges_next(&list->ranges, list->cursor);
    struct history_row row;
    struct tree *ad = NULL;
    bool goes_on;

    if (!job)
        return false;
    list->cursor = job;
    if (history_find(customerd->history, job, &row))
        ad = without_samples(history_told(customerd, job, list->env.now));
    if (ad && history_sees(request, ad)) {
        goes_on = list_add(list, ad);
    } else {
        tree_unref(ad);
        goes_on = list_pass(list);
    }
    list->more = !goes_on;
    return goes_on;
}

static void list_past_named_told(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;

    (void)request;
    list_end(list, list->more && id_ranges_next(&list->ranges, list->cursor), list->cursor);
}

/* The cursor is a place in the history, which neither jobs that end meanwhile nor those that go move; with numbers it is the last one that was looked at. */
void api_history(struct request *request)
{
    uint64_t newest = history_newest(request_customerd(request)->history);
    struct job_list *list;

    if (runner_is_away(request_customerd(request)->runner)) {
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
        return;
    }
    list = list_new();
    if (!list_begin(list, request) || !ids_read(request, &list->ranges, &list->given)) {
        list_drop(&list->walk);
        return;
    }
    if (!list->given && (!request_query(request, "cursor") || list->cursor > newest))
        list->cursor = newest;
    list->walk.one = list->given ? list_past_named : list_past;
    list->walk.end = list->given ? list_past_named_told : list_past_told;
    walk_begin(request, &list->walk);
}

/* --------------------------------------------------------------------------------------------------------------- one */

void job_missing(struct request *request, uint64_t job)
{
    const struct history *history = request_customerd(request)->history;
    struct tree *ad = NULL;
    struct history_row row;
    struct err err;

    if (history_find(history, job, &row) && history_read(history, job, &ad, &err) < 0)
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
    else
        request_problem(request, 404, "%.20s: there is no such job", request_variable(request, 0));
    tree_unref(ad);
}

struct tree *job_seen(const struct request *request, uint64_t job, struct job_view *ret_view, bool *ret_here)
{
    const struct customerd *customerd = request_customerd(request);
    int64_t now = runner_wall() / SECOND;
    struct tree *ad;

    *ret_here = customer_job(customerd->customer, job, ret_view);
    if (*ret_here)
        return caller_sees(request, ret_view->owner, strlen(ret_view->owner))
                   ? job_ad_whole(customerd->daemon.symbols, customerd->customer, ret_view,
                                  attempts_of(customerd->tries, job), now)
                   : NULL;
    ad = history_told(customerd, job, now);
    if (ad && history_sees(request, ad))
        return ad;
    tree_unref(ad);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ summary */

/* Counts the job, and those behind it up to `last` that are alike; returns how many it has looked at. */
static uint64_t count_job(const struct request *request, const struct job_view *view, uint64_t last,
                          uint64_t counts[COUNTS])
{
    const struct customerd *customerd = request_customerd(request);
    uint64_t alike = customer_stand_alike(customerd->customer, view->id, last);

    alike = alike ? alike : 1;
    if (caller_sees(request, view->owner, strlen(view->owner))) {
        counts[job_standing(view, attempts_last(customerd->tries, view->id))] += alike;
        counts[COUNT_STUCK] += view->stuck ? alike : 0;
    }
    return alike;
}

/* Jobs as they are counted, by their state. Jobs in the history count only when asked for by number. */
struct count_walk {
    struct walk walk;
    void (*answer)(struct request *request, const struct count_walk *count);
    uint64_t counts[COUNTS], total;
    uint64_t changes; /* when counting began: whoever waits for what comes next hears of what came meanwhile */
    uint64_t at, left;
    bool given;
    struct id_ranges ranges;
};

static bool count_one(struct walk *walk, struct request *request)
{
    struct count_walk *count = (struct count_walk *)walk;
    const struct customerd *customerd = request_customerd(request);
    struct history_row row;
    struct job_view view;

    if (!count->given) {
        if (!caller_next(request, count->at, &view))
            return false;
        count->at = view.id + count_job(request, &view, UINT64_MAX, count->counts) - 1;
        return true;
    }
    count->at = count->left ? id_ranges_next(&count->ranges, count->at) : 0;
    if (!count->at)
        return false;
    if (customer_job(customerd->customer, count->at, &view)) {
        uint64_t end = id_ranges_end(&count->ranges, count->at);
        uint64_t most = count->at + count->left - 1, alike;

        alike = count_job(request, &view, end < most ? end : most, count->counts);
        count->at += alike - 1;
        count->left -= alike;
        return true;
    }
    count->left--;
    if (history_find(customerd->history, count->at, &row)) {
        struct tree *ad = caller_sees_all(request) ? NULL : history_ad(customerd->history, count->at);

        count->counts[row.standing] += caller_sees_all(request) || (ad && history_sees(request, ad));
        tree_unref(ad);
    }
    return true;
}

static void count_told(struct walk *walk, struct request *request)
{
    struct count_walk *count = (struct count_walk *)walk;

    for (int i = 0; i < STANDING_COUNT; i++)
        count->total += count->counts[i];
    count->answer(request, count);
}

static void count_drop(struct walk *walk)
{
    free(walk);
}

/* All jobs of all users are counted at once, others one by one. */
static void count_begin(struct request *request, const struct id_ranges *ranges,
                        void (*answer)(struct request *request, const struct count_walk *count))
{
    struct count_walk *count = mem_alloc(sizeof *count);

    memset(count, 0, sizeof *count);
    count->walk = (struct walk){count_one, count_told, count_drop};
    count->answer = answer;
    count->changes = request_customerd(request)->changes;
    count->left = HISTORY_MAX;
    count->given = ranges != NULL;
    if (ranges)
        count->ranges = *ranges;
    if (ranges || !caller_sees_all(request)) {
        walk_begin(request, &count->walk);
        return;
    }
    jobs_counted(request_customerd(request), count->counts);
    count_told(&count->walk, request);
    count_drop(&count->walk);
}

static void summary_answer(struct request *request, const struct count_walk *count)
{
    const struct customerd *customerd = request_customerd(request);
    struct maker maker;

    maker_init(&maker, customerd->daemon.symbols);
    maker_integer(&maker, "Changes", (int64_t)count->changes);
    maker_integer(&maker, "Total", (int64_t)count->total);
    for (int i = 0; i < STANDING_COUNT; i++)
        maker_integer(&maker, job_standing_word((enum job_standing)i), (int64_t)count->counts[i]);
    maker_integer(&maker, "Stuck", (int64_t)count->counts[COUNT_STUCK]);
    maker_text(&maker, "Warning", customerd_disk_words(customerd));
    request_ad_take(request, 200, maker_seal(&maker));
}

void api_summary(struct request *request)
{
    struct id_ranges ranges;
    uint64_t after, one;
    bool given;

    if (!ids_read(request, &ranges, &given) || !request_number(request, "after", 0, INT64_MAX, 0, &after))
        return;
    one = given && ranges.count == 1 && ranges.items[0].first == ranges.items[0].last ? ranges.items[0].first : 0;
    if (request_query(request, "after") && request_customerd(request)->changes <= after &&
        request_watches(request, one))
        return;
    count_begin(request, given ? &ranges : NULL, summary_answer);
}

static void status_answer(struct request *request, const struct count_walk *count)
{
    struct customerd *customerd = request_customerd(request);
    const uint64_t *counts = count->counts;
    struct maker maker;

    maker_init(&maker, customerd->daemon.symbols);
    maker_text(&maker, "Name", customerd->daemon.name);
    maker_text(&maker, "Identity", customerd->daemon.identity);
    maker_text(&maker, "Version", customerd->settings->version);
    maker_text(&maker, "Matchmaker", agent_asks(customerd->live));
    maker_flag(&maker, "Connected", agent_is_connected(customerd->live));
    maker_text(&maker, "Address", agent_address(customerd->live));
    maker_integer(&maker, "Started", customerd->started / SECOND);
    maker_integer(&maker, "Jobs", (int64_t)count->total);
    maker_integer(&maker, "Waiting", (int64_t)(counts[STANDING_WAITING] + counts[STANDING_BLOCKED]));
    maker_integer(&maker, "Running",
                  (int64_t)(counts[STANDING_READY] + counts[STANDING_SCHEDULED] + counts[STANDING_RUNNING]));
    maker_integer(&maker, "Held", (int64_t)counts[STANDING_HELD]);
    maker_integer(&maker, "Ended",
                  (int64_t)(counts[STANDING_DONE] + counts[STANDING_FAILED] + counts[STANDING_ABORTED] +
                            counts[STANDING_CANCELLED]));
    maker_integer(&maker, "History", history_count(customerd->history));
    maker_integer(&maker, "Spool", (int64_t)spool_bytes(customerd->spool));
    maker_integer(&maker, "FreeDisk", (int64_t)customerd->disk_free);
    maker_text(&maker, "Warning", customerd_disk_words(customerd));
    maker_integer(&maker, "Changes", (int64_t)count->changes);
    request_ad_take(request, 200, daemon_pools_ad(&customerd->daemon, customerd->live, maker_seal(&maker)));
}

void api_customer_status(struct request *request)
{
    count_begin(request, NULL, status_answer);
}
