/* submit_check.c: can jobs ever be matched? */
#include "cli/jobs/submit_check.h"

#include "cli/ask/explain.h"
#include "cli/jobs/submit_check_stores.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/form/form.h"
#include "pool/protocol/job_processes.h"
#include "pool/protocol/wait_reason.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VET_ADS_MAX 50 /* ads of one submission that are asked about */

struct check {
    struct connection *pool;
    const struct job_submission *submission;
    bool quiet;      /* what a job waits for is not told */
    struct buf told; /* what was reported last: jobs that wait for the same are many */
};

static bool note_any(void *user, struct tree *ad)
{
    (void)ad;
    *(bool *)user = true;
    return false;
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

/* Would waiting help, as far as the pool knows? Without a machine that is known one may yet come. */
static bool may_wait(const struct explained *why)
{
    return (strcmp(why->first, wait_word(WAIT_NOFIT)) != 0 && strcmp(why->first, wait_word(WAIT_REFUSES)) != 0 &&
            strcmp(why->first, wait_word(WAIT_FORMS)) != 0 && strcmp(why->first, wait_word(WAIT_NEVER)) != 0) ||
           !why->machines;
}

/* Reports what a job that is submitted waits for; what many in a row wait for is reported once. */
static void wait_report(struct check *check, const char *name, const struct explained *why)
{
    if (check->quiet || !strcmp(buf_string(&check->told), why->text))
        return;
    buf_reset(&check->told);
    buf_adds(&check->told, why->text);
    report("%s %s", name, why->text);
}

/* Reports on an ad that does not match now. STATUS_NO: it is not to be submitted. */
static int submit_check_unmatched(struct check *check, const struct tree *ad, size_t place)
{
    char name[SUBMISSION_NAME_MAX];
    struct explained why;
    struct buf words, lack;
    bool matches = false;
    int status;

    submission_name(check->submission, place, name);
    status = explain_first(check->pool, ad, &why);
    if (status != STATUS_DONE || why.matches)
        return status;
    if (may_wait(&why)) {
        wait_report(check, name, &why);
        return STATUS_DONE;
    }
    buf_init(&words);
    buf_init(&lack);
    status = explain_ad(check->pool, ad, name, false, &words, &matches);
    if (status == STATUS_DONE) {
        fwrite(words.text, 1, words.len, stderr);
        lack_print(check, ad, name, &lack);
        report(ad_find(ad, "Ports") ? "%s in the pool; nothing was submitted: use --force to submit it all the same"
                                    : "%s of the pool, even when idle; nothing was submitted: use --force to submit it "
                                      "all the same, for one that comes later",
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
    struct tree *ports = job_has_processes(ad) ? job_processes_set(ad, NULL) : NULL; /* as the customer will */
    const struct tree *asked = ports ? ports : ad;
    int status = match_ask(check->pool, asked, &matches);

    if (status == STATUS_DONE && !matches)
        status = submit_check_unmatched(check, asked, place);
    tree_unref(ports);
    return status;
}

int submit_check_jobs(const struct connection_options *options, const struct job_submission *submission)
{
    struct connection pool;
    struct check check = {.pool = &pool, .submission = submission, .quiet = submission->quiet};
    int status = connection_open(&pool, options);

    buf_init(&check.told);
    if (status == STATUS_DONE)
        status = submit_check_stores(&pool, submission);
    for (size_t i = 0; i < submission->count && i < VET_ADS_MAX && status == STATUS_DONE; i++)
        if (!job_text_is(submission->ads[i], "Universe", "local")) /* no machine is asked for it */
            status = submit_check_ad(&check, submission->ads[i], i);
    connection_close(&pool);
    buf_done(&check.told);
    if (status == STATUS_DONE || status == STATUS_NO)
        return status;
    report("so the matchmaker could not be asked whether this can match: it is submitted all the same");
    return STATUS_DONE;
}
