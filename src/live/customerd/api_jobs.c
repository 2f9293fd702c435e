/* api_jobs.c: lists of jobs, one job, the summary, the history. */
#include "live/customerd/customerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/customerd/job_outcome.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "match/pair/match.h"
#include "pool/protocol/writers.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- lists */

/* A list that is being made: which ads are wanted, and which attributes. */
struct job_list {
    struct request *request;
    struct tree *query;
    const char *select;
    uint64_t limit, cursor, steps;
    uint32_t looked;
    struct env env;
    struct arena scratch;
    struct listing listing;
    struct buf out;
};

static bool list_begin(struct job_list *list, struct request *request)
{
    const struct config *config = &request_customerd(request)->daemon.config;
    struct err err = {0};

    *list = (struct job_list){.request = request,
                              .steps = config_count(config, CONFIG_QUERY_STEPS),
                              .env = {.now = runner_wall() / SECOND,
                                      .steps = config_count(config, CONFIG_EVALUATION_STEPS),
                                      .bytes = config_size(config, CONFIG_EVALUATION_BYTES)}};
    if (!request_number(request, "limit", 0, CUSTOMERD_LIMIT_MAX, CUSTOMERD_LIMIT_DEFAULT, &list->limit) ||
        !request_number(request, "cursor", 0, INT64_MAX, 0, &list->cursor))
        return false;
    if (query_select(request->exchange, &list->select, &err) < 0 ||
        query_expr(request->exchange, "constraint", request_customerd(request)->daemon.symbols, config, &list->query,
                   &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return false;
    }
    if (!list->limit)
        list->limit = 1;
    arena_init(&list->scratch);
    buf_init(&list->out);
    listing_begin(&list->listing, &list->out, request->form);
    return true;
}

/* Looks at an ad, which it takes, and adds it if it is wanted; false: enough for this answer. */
static bool list_add(struct job_list *list, struct tree *ad)
{
    uint64_t steps = 1;
    struct tree *part;

    list->looked++;
    if (!list->query || match_query_counted(&list->env, &list->scratch, list->query, ad, &steps)) {
        if (list->select && (part = ad_select(request_customerd(list->request)->daemon.symbols, ad, list->select))) {
            tree_unref(ad);
            ad = part;
        }
        listing_add(&list->listing, ad);
    }
    tree_unref(ad);
    list->steps -= steps < list->steps ? steps : list->steps;
    return list->listing.count < list->limit && list->looked < CUSTOMERD_LOOK_MAX && list->steps;
}

static void list_end(struct job_list *list, bool more, uint64_t cursor)
{
    listing_end(&list->listing);
    request_list(list->request, &list->out, more, cursor);
    tree_unref(list->query);
    buf_done(&list->out);
    arena_done(&list->scratch);
}

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

/* The next job of the role among those that are asked for. */
static bool next_job(const struct customerd *customerd, const struct id_ranges *ranges, uint64_t after,
                     struct job_view *ret)
{
    while (customer_next(customerd->customer, after, ret)) {
        uint64_t wanted = ranges ? id_ranges_next(ranges, ret->id - 1) : ret->id;

        if (!wanted)
            return false;
        if (wanted == ret->id)
            return true;
        after = wanted - 1;
    }
    return false;
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

void api_jobs_list(struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    bool alone = request_flag(request, "alone");
    struct id_ranges ranges;
    struct job_view view;
    struct job_list list;
    bool given, more = true;

    if (!ids_read(request, &ranges, &given) || !list_begin(&list, request))
        return;
    while (more && next_job(customerd, given ? &ranges : NULL, list.cursor, &view)) {
        list.cursor = view.id;
        if (alone && has_company(customerd, &view, &list))
            more = ++list.looked < CUSTOMERD_LOOK_MAX;
        else if (caller_sees(request, view.owner, strlen(view.owner)))
            more = list_add(&list, job_ad(customerd->daemon.symbols, customerd->customer, &view,
                                          attempts_of(customerd->tries, view.id), list.env.now));
        else
            more = ++list.looked < CUSTOMERD_LOOK_MAX;
    }
    /* If the list ended because there is enough: is there more at all? */
    list_end(&list, !more && next_job(customerd, given ? &ranges : NULL, list.cursor, &view), list.cursor);
}

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

/* The cursor counts from the oldest, so that jobs that end meanwhile do not move it. */
void api_history(struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    uint32_t count = history_count(customerd->history);
    struct history_row row;
    struct job_list list;
    bool more = true;

    if (!list_begin(&list, request))
        return;
    if (!request_query(request, "cursor") || list.cursor > count)
        list.cursor = count;
    while (more && list.cursor) {
        struct tree *ad;

        history_at(customerd->history, count - (uint32_t)list.cursor, &row);
        list.cursor--;
        ad = history_told(customerd, row.job, list.env.now);
        if (ad && history_sees(request, ad)) {
            more = list_add(&list, ad);
        } else {
            tree_unref(ad);
            more = ++list.looked < CUSTOMERD_LOOK_MAX;
        }
    }
    list_end(&list, list.cursor, list.cursor);
}

/* --------------------------------------------------------------------------------------------------------------- one */

void api_job_get(struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    int64_t now = runner_wall() / SECOND;
    uint64_t id = request_job(request);
    struct tree *ad = NULL;
    struct job_view view;

    if (customer_job(customerd->customer, id, &view)) {
        if (caller_sees(request, view.owner, strlen(view.owner)))
            ad = job_ad(customerd->daemon.symbols, customerd->customer, &view, attempts_of(customerd->tries, id), now);
    } else {
        ad = history_told(customerd, id, now);
        if (ad && !history_sees(request, ad)) {
            tree_unref(ad);
            ad = NULL;
        }
    }
    if (ad)
        request_ad_take(request, 200, ad);
    else
        request_problem(request, 404, "%.20s: there is no such job", request_variable(request, 0));
}

/* ------------------------------------------------------------------------------------------------------------ summary */

#define COUNT_STUCK STANDING_COUNT /* of the blocked jobs, those that will not move by themselves */
#define COUNTS (STANDING_COUNT + 1)

static void count_job(const struct customerd *customerd, const struct request *request, const struct job_view *view,
                      uint64_t counts[COUNTS])
{
    if (!caller_sees(request, view->owner, strlen(view->owner)))
        return;
    counts[job_standing(view, attempts_last(customerd->tries, view->id))]++;
    counts[COUNT_STUCK] += view->stuck;
}

/* Counts jobs by their state. Jobs in the history count only when asked for by number. */
static void count_jobs(const struct request *request, const struct id_ranges *ranges, uint64_t counts[COUNTS])
{
    const struct customerd *customerd = request_customerd(request);
    struct history_row row;
    struct job_view view = {0};

    if (!ranges) {
        while (customer_next(customerd->customer, view.id, &view))
            count_job(customerd, request, &view, counts);
        return;
    }
    for (uint64_t id = id_ranges_next(ranges, 0), left = HISTORY_MAX; id && left; left--) {
        if (customer_job(customerd->customer, id, &view)) {
            count_job(customerd, request, &view, counts);
        } else if (history_find(customerd->history, id, &row)) {
            struct tree *ad = caller_sees_all(request) ? NULL : history_ad(customerd->history, id);

            counts[row.standing] += caller_sees_all(request) || (ad && history_sees(request, ad));
            tree_unref(ad);
        }
        id = id_ranges_next(ranges, id);
    }
}

void api_summary(struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    uint64_t counts[COUNTS] = {0}, total = 0, after;
    struct id_ranges ranges;
    struct maker maker;
    bool given;

    if (!ids_read(request, &ranges, &given) || !request_number(request, "after", 0, INT64_MAX, 0, &after))
        return;
    if (request_query(request, "after") && customerd->changes <= after && request_waits(request))
        return;
    count_jobs(request, given ? &ranges : NULL, counts);
    maker_init(&maker, customerd->daemon.symbols);
    maker_integer(&maker, "Changes", (int64_t)customerd->changes);
    for (int i = 0; i < STANDING_COUNT; i++)
        total += counts[i];
    maker_integer(&maker, "Total", (int64_t)total);
    for (int i = 0; i < STANDING_COUNT; i++)
        maker_integer(&maker, job_standing_word((enum job_standing)i), (int64_t)counts[i]);
    maker_integer(&maker, "Stuck", (int64_t)counts[COUNT_STUCK]);
    maker_text(&maker, "Warning", customerd_disk_words(customerd));
    request_ad_take(request, 200, maker_seal(&maker));
}

void api_customer_status(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    uint64_t counts[COUNTS] = {0}, total = 0;
    struct maker maker;

    count_jobs(request, NULL, counts);
    for (int i = 0; i < STANDING_COUNT; i++)
        total += counts[i];
    maker_init(&maker, customerd->daemon.symbols);
    maker_text(&maker, "Name", customerd->daemon.name);
    maker_text(&maker, "Identity", customerd->daemon.identity);
    maker_text(&maker, "Version", customerd->settings->version);
    maker_text(&maker, "Matchmaker", agent_asks(customerd->live));
    maker_flag(&maker, "Connected", agent_is_connected(customerd->live));
    maker_text(&maker, "Address", agent_address(customerd->live));
    maker_integer(&maker, "Started", customerd->started / SECOND);
    maker_integer(&maker, "Jobs", (int64_t)total);
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
    maker_integer(&maker, "Changes", (int64_t)customerd->changes);
    request_ad_take(request, 200, daemon_pools_ad(&customerd->daemon, customerd->live, maker_seal(&maker)));
}
