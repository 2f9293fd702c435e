/* api_crons.c: jobs that come again, as one's users ask for them.
 *
 *     POST /v1/crons [ Schedule = "0 8 * * mon-fri"; Missed = "run"; Overlap = "skip"; JobAd = [ Cmd = "report.sh"; ... ] ] -> [ Cron = 3; Next = ... ]
 *     GET /v1/crons    GET, DELETE /v1/crons/3    POST /v1/crons/3/hold, /release */
#include "live/customerd/crons.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/customerd/audited.h"
#include "live/customerd/job_secrets.h"
#include "live/customerd/submitting.h"
#include "live/data/resolving.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A change that is becoming durable: then it is answered. */
struct cron_change {
    struct customerd *customerd;
    struct request *request; /* NULL: the request has gone */
    uint64_t id;
    unsigned status; /* 204: with nothing */
};

static void change_forget(struct request *request)
{
    ((struct cron_change *)request->work)->request = NULL;
}

static void change_kept(void *user, bool durable)
{
    struct cron_change *change = user;
    struct request *request = change->request;
    const struct cron *cron = crons_find(change->customerd->crons, change->id);

    if (request) {
        request->work = NULL;
        request->forget = NULL;
    }
    if (request && durable && change->status != 204 && cron)
        request_ad_take(request, change->status, cron_ad(change->customerd, cron, false));
    else if (request && durable)
        request_done(request);
    free(change);
}

static void change_keep(struct request *request, uint64_t id, unsigned status, const char *what)
{
    struct customerd *customerd = request_customerd(request);
    struct cron_change *change = mem_alloc(sizeof *change);
    struct audit_who who;
    char about[24];

    snprintf(about, sizeof about, "%" PRIu64, id);
    audit_who(request, &who);
    customer_audit(customerd, &who, what, about, NULL);
    *change = (struct cron_change){customerd, request, id, status};
    request->work = change;
    request->forget = change_forget;
    customerd_changed(customerd);
    runner_commit(customerd->runner, change_kept, change);
}

/* --------------------------------------------------------------------------------------------------------------- adding */

static bool word_read(struct request *request, const struct tree *ad, const char *name, const char *const *words,
                      int count, int *ret)
{
    char word[8] = "";

    if (!body_text(request, ad, name, words[0], word, sizeof word))
        return false;
    for (*ret = 0; *ret < count; ++*ret)
        if (!strcmp(word, words[*ret]))
            return true;
    request_problem(request, 400, count == 2 ? "%s: expected %s or %s" : "%s: expected %s, %s or %s", name, words[0],
                    words[1], count == 2 ? "" : words[2]);
    return false;
}

/* What cannot come again in this way; -1 and why. */
static int again_check(struct tree *ad, struct err *err)
{
    if (ad_find(ad, "Node") || ad_find(ad, "After") || ad_find(ad, "Dag"))
        return err_set(err, "After: a job that comes again is no part of a workflow");
    if (job_has_secrets(ad))
        return err_set(err, "Secrets: they are sent with each submission, and kept only until its jobs are over");
    if (resolving_is_needed(&ad, 1))
        return err_set(err, "InputData: files of the catalogue are found when jobs are submitted by hand");
    return 0;
}

/* The job of the body, checked as if it were submitted now. False after a problem was answered. */
static bool job_read(struct request *request, const struct tree *body, struct cron *cron)
{
    const struct expr *part = ad_find(body, "JobAd");
    struct job_terms terms = {.count = 1};
    struct err err = {0};
    unsigned refused = 400;

    if (!part || part->kind != EXPR_AD) {
        request_problem(request, 400, "JobAd: expected the ad of the job");
        return false;
    }
    cron->ad = ad_part(body, part);
    if (again_check(cron->ad, &err) == 0)
        refused = job_refused(request, cron->ad, &terms, &err);
    if (refused) {
        request_problem(request, refused, "JobAd: %s", err.text);
        return false;
    }
    cron->count = terms.count;
    cron->iwd_user = job_iwd_user(request);
    if (terms.owner)
        snprintf(cron->owner, sizeof cron->owner, "%.*s", (int)terms.owner_len, terms.owner);
    else
        snprintf(cron->owner, sizeof cron->owner, "%s", request_identity(request));
    return true;
}

static bool cron_read(struct request *request, const struct tree *body, struct cron *cron)
{
    int missed, overlap;
    struct err err = {0};

    if (!body_text(request, body, "Schedule", NULL, cron->text, sizeof cron->text) ||
        !word_read(request, body, "Missed", cron_missed_words, 2, &missed) ||
        !word_read(request, body, "Overlap", cron_overlap_words, 3, &overlap))
        return false;
    cron->missed = (enum cron_missed)missed;
    cron->overlap = (enum cron_overlap)overlap;
    if (schedule_read(cron->text, strlen(cron->text), &cron->schedule, &err) < 0) {
        request_problem(request, 400, "Schedule: %s", err.text);
        return false;
    }
    return job_read(request, body, cron);
}

void api_cron_add(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    struct cron cron = {0};
    struct err err = {0};
    struct tree *body;
    int failed;

    if (!customerd_takes(request) || !(body = request_body_of(request, "Schedule Missed Overlap JobAd")))
        return;
    if (cron_read(request, body, &cron)) {
        failed = crons_add(customerd->crons, &cron, &err);
        if (failed)
            request_problem(request, failed > 0 ? 429 : 503, "%s", err.text);
        else
            change_keep(request, cron.id, 201, "cron.add");
    }
    tree_unref(cron.ad);
    tree_unref(body);
}

/* -------------------------------------------------------------------------------------------------------------- looking */

/* The one that is named in the path. NULL after a problem was answered. */
static const struct cron *cron_named(struct request *request)
{
    const struct cron *cron = crons_find(request_customerd(request)->crons, request_job(request));

    if (cron && caller_sees(request, cron->owner, strlen(cron->owner)))
        return cron;
    request_problem(request, 404, "%.20s: there is no such job that comes again", request_variable(request, 0));
    return NULL;
}

void api_crons(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    const struct cron *cron = NULL;
    struct listing listing;

    buf_reset(&customerd->out);
    listing_begin(&listing, &customerd->out, request->form);
    while ((cron = crons_after(customerd->crons, cron ? cron->id : 0))) {
        struct tree *ad;

        if (!caller_sees(request, cron->owner, strlen(cron->owner)))
            continue;
        ad = cron_ad(customerd, cron, false);
        listing_add(&listing, ad);
        tree_unref(ad);
    }
    listing_end(&listing);
    request_answer(request, 200, media_type(request->form, &dialect_classic),
                   customerd->out.len ? customerd->out.text : "", customerd->out.len, NULL, 0);
}

void api_cron_get(struct request *request)
{
    const struct cron *cron = cron_named(request);

    if (cron)
        request_ad_take(request, 200, cron_ad(request_customerd(request), cron, true));
}

/* ------------------------------------------------------------------------------------------------------------- changing */

void api_cron_delete(struct request *request)
{
    const struct cron *cron = cron_named(request);
    struct err err = {0};
    uint64_t id;

    if (!cron)
        return;
    id = cron->id;
    if (crons_remove(request_customerd(request)->crons, id, &err) < 0)
        request_problem(request, 503, "%s", err.text);
    else
        change_keep(request, id, 204, "cron.remove");
}

static void cron_turn(struct request *request, bool held)
{
    const struct cron *cron = cron_named(request);
    struct err err = {0};

    if (!cron)
        return;
    if (cron->held == held)
        request_problem(request, 409, "%" PRIu64 " is %s", cron->id, held ? "held already" : "not held");
    else if (crons_hold(request_customerd(request)->crons, cron->id, held, &err) < 0)
        request_problem(request, 503, "%s", err.text);
    else
        change_keep(request, cron->id, 200, held ? "cron.hold" : "cron.release");
}

void api_cron_hold(struct request *request)
{
    cron_turn(request, true);
}

void api_cron_release(struct request *request)
{
    cron_turn(request, false);
}
