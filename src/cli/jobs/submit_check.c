/* submit_check.c: can jobs ever be matched? */
#include "cli/jobs/submit_check.h"

#include "cli/ask/explain.h"
#include "cli/jobs/submit_check_stores.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/form/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VET_ADS_MAX 50 /* ads of one submission that are asked about */

/* How the pool stands; it is asked once, when something does not match. */
struct check {
    struct connection *pool;
    const struct job_submission *submission;
    bool quiet; /* what a job waits for is not told */
    bool known, has_offers, is_busy;
    uint64_t unseen; /* machines that are there and offer nothing (explain.h) */
    bool is_empty;   /* no machine offers itself: that has been reported, and there is no more to ask */
};

static bool note_any(void *user, struct tree *ad)
{
    (void)ad;
    *(bool *)user = true;
    return false;
}

static int stand_ask(struct connection *pool, const char *path, const char *constraint, uint64_t limit,
                     connection_ad_fn *note, void *user)
{
    struct buf whole;
    int status;

    buf_init(&whole);
    buf_adds(&whole, path);
    path_query(&whole, "constraint", constraint);
    status = connection_list(pool, buf_string(&whole), limit, note, user);
    buf_done(&whole);
    return status;
}

static int pool_stand(struct check *check)
{
    struct connection *pool = check->pool;
    int status;

    if (check->known)
        return STATUS_DONE;
    /* stores, licences and the like run no jobs */
    status = stand_ask(pool, "/v1/ads?kind=offers&select=AdId", "Executes =!= false && Type =!= \"Storage\"", 1,
                       note_any, &check->has_offers);
    /* a claim that is on its way comes within moments, or not at all */
    if (status == STATUS_DONE)
        status = stand_ask(pool, "/v1/claims", "State == \"active\" || State == \"expected\" && Age < 3", 1, note_any,
                           &check->is_busy);
    if (status == STATUS_DONE)
        status = explain_unseen(pool, &check->unseen);
    check->known = status == STATUS_DONE;
    return status;
}

/* Is there an offer for the ad now? This is cheaper than asking why not. */
static int match_ask(struct connection *pool, const struct tree *ad, bool *ret)
{
    struct tree *body = explain_body(pool, ad);
    struct connection_ask ask = {.method = "POST", .path = "/v1/match?limit=1", .body = body};
    int status = body ? connection_fetch_ads(pool, &ask, note_any, ret) : STATUS_BAD;

    tree_unref(body);
    return status;
}

/* ---- which ports of a gang have nobody */

static const struct expr *part_find(const struct tree *tree, const struct expr *part, const char *name)
{
    symbol known = symbols_find(tree->symbols, name, strlen(name));

    return known == SYMBOL_NONE || part->kind != EXPR_AD ? NULL : tree_find(tree, part, known);
}

static bool part_is(const struct tree *tree, const struct expr *part, const char *name, bool zero)
{
    const struct expr *e = part_find(tree, part, name);

    return e && e->kind == EXPR_INTEGER && (e->u.integer == 0) == zero;
}

/* Appends the ports that must be filled and that nobody fits, by the pool's explanation: `cpu, license`. */
static void ports_print(struct buf *out, const struct tree *why)
{
    const struct expr *list = ad_find(why, "ports");
    uint32_t count = list && list->kind == EXPR_LIST ? expr_part_count(list) : 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct expr *part = &tree_parts(why, list)[i], *label = part_find(why, part, "port");

        if (!label || label->kind != EXPR_STRING || !part_is(why, part, "matching", true) ||
            !part_is(why, part, "least", false))
            continue;
        buf_adds(out, out->len ? ", " : "");
        buf_add(out, tree_string(why, label), label->u.run.count);
    }
}

/* Says what an ad does not find: a machine, or somebody for its ports. */
static void lack_print(struct check *check, const struct tree *ad, const char *name, struct buf *out)
{
    struct tree *why = NULL;
    struct buf answer, ports;
    bool matches;

    buf_init(&answer);
    buf_init(&ports);
    if (ad_find(ad, "Ports") && explain_ad(check->pool, ad, name, true, &answer, &matches) == STATUS_DONE)
        why = form_parse(check->pool->symbols, &dialect_condor, FORM_JSON, NULL, buf_string(&answer), answer.len,
                         NULL); /* in this dialect fields may be called error and undefined */
    if (why)
        ports_print(&ports, why);
    if (ports.len)
        buf_addf(out, "%s finds nobody for its port%s %s", name, strchr(buf_string(&ports), ',') ? "s" : "",
                 buf_string(&ports));
    else
        buf_addf(out, why ? "%s finds nobody for all of its ports together" : "%s matches no machine", name);
    tree_unref(why);
    buf_done(&ports);
    buf_done(&answer);
}

/* Reports that nothing is offered, which is all there is to say about any job. */
static void empty_report(struct check *check)
{
    check->is_empty = true;
    if (check->quiet)
        return;
    if (check->is_busy)
        report("all machines of the pool are busy: what is submitted waits for them");
    else if (!check->unseen)
        report("no machine offers itself in the pool yet: what is submitted waits for one, or for one that pulls");
    else
        report(check->unseen == 1
                   ? "no machine offers itself in the pool yet; %" PRIu64
                     " is there that pulls, is drained, unwell or has just come: what is submitted waits"
                   : "no machine offers itself in the pool yet; %" PRIu64
                     " are there that pull, are drained, unwell or have just come: what is submitted waits",
               check->unseen);
}

/* Reports on an ad that does not match now. STATUS_NO: it is not to be submitted. */
static int submit_check_unmatched(struct check *check, const struct tree *ad, size_t place)
{
    bool matches = false;
    char name[SUBMISSION_NAME_MAX];
    struct buf words, lack;
    int status = pool_stand(check);

    if (status != STATUS_DONE)
        return status;
    if (!check->has_offers) {
        empty_report(check);
        return STATUS_DONE;
    }
    buf_init(&words);
    buf_init(&lack);
    submission_name(check->submission, place, name);
    status = explain_ad(check->pool, ad, name, false, &words, &matches);
    if (status == STATUS_DONE && check->quiet && (matches || check->is_busy || check->unseen)) {
        ; /* it waits */
    } else if (status == STATUS_DONE && matches) {
        report("%s: the machines that it matches are busy: it waits for them", name);
    } else if (status == STATUS_DONE && check->is_busy) {
        lack_print(check, ad, name, &lack);
        report("%s as they are now, and some are busy: it waits (`berth why` tells more)", buf_string(&lack));
    } else if (status == STATUS_DONE && check->unseen) {
        lack_print(check, ad, name, &lack);
        report(check->unseen == 1 ? "%s as they are now, but %" PRIu64
                                    " machine pulls, is drained or unwell, and is not seen here: it waits"
                                  : "%s as they are now, but %" PRIu64
                                    " machines pull, are drained or unwell, and are not seen here: it waits",
               buf_string(&lack), check->unseen);
    } else if (status == STATUS_DONE) {
        fwrite(words.text, 1, words.len, stderr);
        lack_print(check, ad, name, &lack);
        report(ad_find(ad, "Ports")
                   ? "%s in the pool; nothing was submitted: use --force to submit it all the same"
                   : "%s that is seen in the pool; nothing was submitted: use --force to submit it all "
                     "the same, for one that pulls or comes later",
               buf_string(&lack));
        status = STATUS_NO;
    }
    buf_done(&lack);
    buf_done(&words);
    return status;
}

static int submit_check_ad(struct check *check, const struct tree *ad, size_t place)
{
    bool matches = false;
    int status = match_ask(check->pool, ad, &matches);

    return status == STATUS_DONE && !matches ? submit_check_unmatched(check, ad, place) : status;
}

int submit_check_jobs(const struct connection_options *options, const struct job_submission *submission)
{
    struct connection pool;
    struct check check = {.pool = &pool, .submission = submission, .quiet = submission->quiet};
    int status = connection_open(&pool, options);

    if (status == STATUS_DONE)
        status = submit_check_stores(&pool, submission);
    for (size_t i = 0; i < submission->count && i < VET_ADS_MAX && status == STATUS_DONE && !check.is_empty; i++)
        status = submit_check_ad(&check, submission->ads[i], i);
    connection_close(&pool);
    if (status == STATUS_DONE || status == STATUS_NO)
        return status;
    report("so the matchmaker could not be asked whether this can match: it is submitted all the same");
    return STATUS_DONE;
}
