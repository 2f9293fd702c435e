/* many.c: submissions and workflows as resources: what they are, and what is done to all of their jobs at once.
 *
 *     GET /v1/submissions/21         ETag: W/"9f2c..."     Link: </v1/submissions/21>; rel="self", </v1/submissions/21/hold>; rel="hold"; method="POST", ...
 *     PATCH /v1/submissions/21       [ Priority = 7 ]      If-Match: W/"9f2c..."
 *     POST /v1/workflows/30/hold     also release, vacate, rescue; DELETE removes
 *
 * A change is that of /v1/control to all of its jobs, and is answered as there: how many were changed, and where to go on if there are more than one
 * request looks at. */
#include "live/customerd/many.h"
#include "live/http/weak_tag.h"

#include "lang/ad/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What follows from the clock. */
static const char *const by_clock[] = {"Estimate", NULL};

static const struct {
    enum control_verb verb;
    const char *part, *rel, *method;
} changes[] = {
    {CONTROL_EDIT, "", "edit", "PATCH"},
    {CONTROL_HOLD, "/hold", "hold", "POST"},
    {CONTROL_RELEASE, "/release", "release", "POST"},
    {CONTROL_VACATE, "/vacate", "vacate", "POST"},
    {CONTROL_RESCUE, "/rescue", "rescue", "POST"},
    {CONTROL_REMOVE, "", "remove", "DELETE"},
};

static const char *many_kind(const struct many *many)
{
    return many->workflow ? "workflows" : "submissions";
}

static void none_answer(struct request *request, const struct many *many)
{
    request_problem(request, 404,
                    "there is no %s of that number with jobs in the queue; what is over is in the history",
                    many->workflow ? "workflow" : "submission");
}

/* --------------------------------------------------------------------------------------------------------- what is asked */

static const char *verb_of(const struct route *route)
{
    switch (route->method) {
    case HTTP_PATCH:
        return "edit";
    case HTTP_DELETE:
        return "remove";
    case HTTP_POST:
        return strrchr(route->path, '/') + 1;
    default:
        return NULL;
    }
}

bool many_begin(struct request *request, struct many *ret)
{
    uint64_t number = request_job(request);

    *ret = (struct many){.workflow = strstr(request->route->path, "workflows"),
                         .number = number,
                         .last = number,
                         .verb = verb_of(request->route)};
    ret->changes = ret->verb;
    if (!number) {
        none_answer(request, ret);
        return false;
    }
    if (ret->changes && !request_number(request, "from", 1, INT64_MAX, number, &ret->from))
        return false;
    if (request->route->method == HTTP_PATCH && !(ret->set = request_body_ad(request)))
        return false;
    return true;
}

void many_done(struct many *many)
{
    tree_unref(many->set);
    many->set = NULL;
}

/* ------------------------------------------------------------------------------------------------------------- its jobs */

static void modified_note(struct many *many, int64_t when)
{
    if (when > many->modified)
        many->modified = when;
}

void many_note(struct many *many, const struct job_view *view, const struct job_attempt *last)
{
    modified_note(many, view->changed);
    modified_note(many, last ? last->heard : 0);
    for (int verb = 0; verb < CONTROL_COUNT; verb++)
        many->applies[verb] = many->applies[verb] || control_applies((enum control_verb)verb, view);
}

void many_note_ended(struct many *many, int64_t ended)
{
    modified_note(many, ended);
}

/* -------------------------------------------------------------------------------------------------------------- answers */

static void links_print(struct buf *out, const struct request *request, const struct many *many)
{
    const char *kind = many_kind(many);

    buf_addf(out, "</v1/%s/%" PRIu64 ">; rel=\"self\"", kind, many->number);
    for (int past = 0; past < 2; past++) {
        const char *list = past ? "history" : "jobs";

        if (many->workflow)
            buf_addf(out, ", </v1/%s?constraint=Workflow%%3D%%3D%" PRIu64 ">; rel=\"%s\"", list, many->number, list);
        else
            buf_addf(out, ", </v1/%s?ids=%" PRIu64 "-%" PRIu64 ">; rel=\"%s\"", list, many->number, many->last, list);
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (many->applies[changes[i].verb] && control_permits(request, changes[i].verb))
            buf_addf(out, ", </v1/%s/%" PRIu64 "%s>; rel=\"%s\"; method=\"%s\"", kind, many->number, changes[i].part,
                     changes[i].rel, changes[i].method);
}

static void many_answer(struct request *request, const struct many *many, const struct tree *ad, const char *etag)
{
    char date[HTTP_DATE_MAX];
    struct http_field fields[3];
    struct buf links;

    if (answered_unchanged(request, etag))
        return;
    http_date(many->modified, date);
    buf_init(&links);
    links_print(&links, request, many);
    fields[0] = (struct http_field){"ETag", etag};
    fields[1] = (struct http_field){"Link", buf_string(&links)};
    fields[2] = (struct http_field){"Last-Modified", date};
    request_ad(request, 200, ad, fields, 3);
    buf_done(&links);
}

static void many_change(struct request *request, const struct many *many)
{
    struct maker maker;
    struct tree *ad;
    char which[64];

    maker_init(&maker, request_customerd(request)->daemon.symbols);
    maker_text(&maker, "Verb", many->verb);
    if (many->workflow) {
        snprintf(which, sizeof which, "Workflow == %" PRIu64, many->number);
        maker_text(&maker, "Constraint", which);
    } else {
        snprintf(which, sizeof which, "%" PRIu64 "-%" PRIu64, many->number, many->last);
        maker_text(&maker, "Ids", which);
    }
    maker_integer(&maker, "From", (int64_t)many->from);
    if (many->set)
        maker_ad(&maker, "Set", many->set);
    ad = maker_seal(&maker);
    control_begin(request, ad, 0);
    tree_unref(ad);
}

void many_end(struct request *request, struct many *many, const struct tree *ad)
{
    char etag[WEAK_TAG_MAX];

    if (!ad) {
        none_answer(request, many);
        return;
    }
    weak_tag(ad, by_clock, etag);
    if (!many->changes)
        many_answer(request, many, ad, etag);
    else if (request->misread || runner_misread(request_customerd(request)->runner)) /* which jobs they are */
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
    else if (conditions_met(request, etag))
        many_change(request, many);
}
