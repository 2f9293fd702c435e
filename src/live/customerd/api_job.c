/* api_job.c: one job as a resource: its ad with an entity tag and links to what can be done next; its attributes and its state are changed in place.
 *
 *     GET /v1/jobs/5          ETag: W/"9f2c..."     Link: </v1/jobs/5>; rel="self", </v1/jobs/5/hold>; rel="hold"; method="POST", ...
 *     PATCH /v1/jobs/5        [ Priority = 7; Colour = undefined ]        If-Match: W/"9f2c..."
 *     POST /v1/jobs/5/hold    also release, vacate, rescue                DELETE /v1/jobs/5
 *
 * The tag is of what the job is: what the clock alone changes in its ad is not in it. What is done is done as by /v1/control, to one job, and answered
 * with the job as it is then, or with 204 where the caller may not read it. */
#include "live/customerd/customerd_parts.h"
#include "live/http/weak_tag.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the clock alone changes. */
static const char *const by_clock[] = {"Since", "WallUsed", "OfferedIn", NULL};

static void job_etag(const struct tree *ad, char out[WEAK_TAG_MAX])
{
    weak_tag(ad, by_clock, out);
}

/* ------------------------------------------------------------------------------------------------------------- links */

static void link_add(struct buf *out, uint64_t job, const char *part, const char *rel, const char *method)
{
    buf_addf(out, "%s</v1/jobs/%" PRIu64 "%s%s>; rel=\"%s\"", out->len ? ", " : "", job, *part ? "/" : "", part, rel);
    if (method)
        buf_addf(out, "; method=\"%s\"", method);
}

/* What the job belongs to. */
static void belongs_print(struct buf *out, const struct request *request, const struct job_view *view)
{
    uint64_t first, last;

    submission_of(request_customerd(request), view, runner_wall() / SECOND, &first, &last);
    buf_addf(out, ", </v1/submissions/%" PRIu64 ">; rel=\"submission\"", first);
    if (view->workflow)
        buf_addf(out, ", </v1/workflows/%" PRIu64 ">; rel=\"workflow\"", view->workflow);
}

/* Where to go on from the job; `view`: NULL of one in the history. */
static void links_print(struct buf *out, const struct request *request, uint64_t job, const struct job_view *view)
{
    static const struct {
        enum control_verb verb;
        const char *part, *rel, *method;
    } rows[] = {
        {CONTROL_EDIT, "", "edit", "PATCH"},
        {CONTROL_HOLD, "hold", "hold", "POST"},
        {CONTROL_RELEASE, "release", "release", "POST"},
        {CONTROL_VACATE, "vacate", "vacate", "POST"},
        {CONTROL_RESCUE, "rescue", "rescue", "POST"},
        {CONTROL_REMOVE, "", "remove", "DELETE"},
    };

    link_add(out, job, "", "self", NULL);
    link_add(out, job, "log", "log", NULL);
    link_add(out, job, "files", "files", NULL);
    if (view)
        belongs_print(out, request, view);
    for (size_t i = 0; view && i < sizeof rows / sizeof *rows; i++)
        if (control_applies(rows[i].verb, view) && control_permits(request, rows[i].verb))
            link_add(out, job, rows[i].part, rows[i].rel, rows[i].method);
}

/* ----------------------------------------------------------------------------------------------------------- answers */

static void job_answer(struct request *request, uint64_t job, const struct job_view *view, const struct tree *ad)
{
    const struct job_attempt *last = attempts_last(request_customerd(request)->tries, job);
    int64_t modified = view ? view->changed : 0;
    char etag[WEAK_TAG_MAX], date[HTTP_DATE_MAX];
    struct http_field fields[3];
    struct buf links;

    if (!view)
        ad_integer(ad, "Ended", &modified);
    else if (last && last->heard > modified)
        modified = last->heard;
    job_etag(ad, etag);
    if (answered_unchanged(request, etag))
        return;
    http_date(modified, date);
    buf_init(&links);
    links_print(&links, request, job, view);
    fields[0] = (struct http_field){"ETag", etag};
    fields[1] = (struct http_field){"Link", buf_string(&links)};
    fields[2] = (struct http_field){"Last-Modified", date};
    request_ad(request, 200, ad, fields, 3);
    buf_done(&links);
}

static void job_tell(struct request *request, uint64_t job)
{
    struct job_view view;
    bool here;
    struct tree *ad = job_seen(request, job, &view, &here);

    if (ad)
        job_answer(request, job, here ? &view : NULL, ad);
    else
        job_missing(request, job);
    tree_unref(ad);
}

void api_job_get(struct request *request)
{
    job_tell(request, request_job(request));
}

/* Is the job there for the caller, and is it what If-Match says? False, after a problem was answered, when not. */
static bool job_is_met(struct request *request, uint64_t job)
{
    char etag[WEAK_TAG_MAX];
    struct job_view view;
    bool here, met = false;
    struct tree *ad = job_seen(request, job, &view, &here);

    if (!ad) {
        job_missing(request, job);
    } else if (!here) {
        request_problem(request, 409, "%" PRIu64 ": the job is over, and is in the history", job);
    } else {
        job_etag(ad, etag);
        met = conditions_met(request, etag);
    }
    tree_unref(ad);
    return met;
}

static void job_change(struct request *request, const char *verb, const struct tree *set)
{
    uint64_t job = request_job(request);
    struct maker maker;
    struct tree *ad;
    char ids[24];

    if (!job_is_met(request, job))
        return;
    snprintf(ids, sizeof ids, "%" PRIu64, job);
    maker_init(&maker, request_customerd(request)->daemon.symbols);
    maker_text(&maker, "Verb", verb);
    maker_text(&maker, "Ids", ids);
    maker_ad(&maker, "Set", set);
    ad = maker_seal(&maker);
    control_begin(request, ad, job);
    tree_unref(ad);
}

void job_changed_answer(struct request *request, uint64_t job, bool removed)
{
    if (removed || !(request->caller.scope & (SCOPE_JOB_OWN | SCOPE_JOB_ANY | SCOPE_JOB_READ)))
        request_done(request); /* whoever may change jobs, and not read them, is told no more */
    else
        job_tell(request, job);
}

void api_job_patch(struct request *request)
{
    struct tree *set = request_body_ad(request);

    if (set)
        job_change(request, "edit", set);
    tree_unref(set);
}

void api_job_delete(struct request *request)
{
    job_change(request, "remove", NULL);
}

/* POST /v1/jobs/5/hold: the verb is the path's last part. */
void api_job_turn(struct request *request)
{
    job_change(request, strrchr(request->route->path, '/') + 1, NULL);
}
