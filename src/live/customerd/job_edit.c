/* job_edit.c: a job's ad with some of its attributes changed.
 *
 * Most attributes may be changed at any time, also those that nobody but the user knows; a job that runs goes on as it was begun, and its next start
 * is by the new ones. Some decide where its files are, and are left alone while it runs; some were settled when it was submitted, and are left alone
 * for good. What a job does that came on the customer's socket is changed there alone: it writes into its user's folders, or runs there, and who only shows
 * a token has no right to that. */
#include "live/customerd/job_edit.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/buf.h"
#include "lang/text/print.h"
#include "live/customerd/job_ad.h"
#include "live/customerd/job_gpus.h"
#include "pool/protocol/job_processes.h"
#include "pool/protocol/job_urls.h"
#include "pool/protocol/job_wants.h"
#include "sys/secret_bundle.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SETTLED "it is settled when the job is submitted: remove the job, and submit another"
#define OF_FLOW "it is its workflow's matter"
#define OF_FILES "its files came when it was submitted: remove the job, and submit another"

static const struct {
    const char *name, *why;
} never[] = {
    {"Owner", "a job stays with its owner"},
    {"Type", SETTLED},
    {"Universe", SETTLED},
    {"Count", SETTLED},
    {"Node", OF_FLOW},
    {"After", OF_FLOW},
    {"Dag", OF_FLOW},
    {"CarriesDag", OF_FLOW},
    {"DAGManJobId", OF_FLOW},
    {"DAGNodeName", OF_FLOW},
    {"NodeInputs", OF_FLOW},
    {"Inputs", OF_FILES},
    {"InputData", OF_FILES},
    {JOB_URLS, OF_FILES},
    {"In", OF_FILES},
    {"LocalIn", OF_FILES},
    {"Iwd", SETTLED},
    {"IwdUser", SETTLED},
    {"UserLog", SETTLED},
    {SECRET_ATTRIBUTE, SETTLED},
    {SECRET_ID_ATTRIBUTE, SETTLED},
    {"Image", SETTLED},
    {"ImageSecret", SETTLED},
    {"Needs", SETTLED},
    {"RunAs", SETTLED},
    {"ShareFiles", SETTLED},
    {"Umask", SETTLED},
    {"RequireGpus", SETTLED},
    {"Ports", SETTLED},
    {JOB_PROCESSES_COUNT, SETTLED},
    {JOB_PROCESSES_ON, SETTLED},
    {JOB_PROCESSES_EXEC, SETTLED},
};

/* What is looked at while the job runs, or tells what runs. */
static const char *const waiting[] = {"Cmd",          "Args",    "Env",      "TransferExecutable", "Out",
                                      "Err",          "Outputs", "OutputTo", "OutputSE",           "OutputElsewhere",
                                      "OutputCopies", "Pre",     "Post",     "OutputData",         "Checkpoint"};

/* Of several processes each has its own port, made of these when the job was submitted. */
static const char *const of_ports[] = {"Constraint",  "Rank",        "RequestCpus",     "RequestMemory",
                                       "RequestDisk", "RequestGpus", "RequestProcesses"};

static bool name_is(const char *a, const char *b, size_t len)
{
    return strlen(a) == len && !strncasecmp(a, b, len);
}

static bool is_among(const char *const *names, size_t count, const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (name_is(names[i], name, len))
            return true;
    return false;
}

/* Requirements is another name of Constraint: the job has one of them. */
static bool is_constraint(const char *name, size_t len)
{
    return name_is("Constraint", name, len) || name_is("Requirements", name, len);
}

void job_edit_done(struct job_edit *edit)
{
    tree_unref(edit->set);
    edit->set = NULL;
}

static int names_check(const struct tree *set, struct err *err)
{
    const struct expr *parts = tree_parts(set, tree_root(set));
    uint32_t count = tree_root(set)->u.run.count;

    if (!count || count > JOB_EDIT_MAX)
        return err_set(err, "Set: expected from 1 to %d attributes", JOB_EDIT_MAX);
    for (uint32_t i = 0; i < count; i++) {
        size_t len;
        const char *name = symbols_text(set->symbols, parts[i].label, &len);

        for (size_t k = 0; k < sizeof never / sizeof *never; k++)
            if (name_is(never[k].name, name, len))
                return err_set(err, "%s cannot be changed: %s", never[k].name, never[k].why);
        if (job_ad_says(name, len))
            return err_set(err, "%.*s cannot be changed: it is what the customer knows of the job", (int)len, name);
    }
    return 0;
}

static int priority_read(const struct tree *ad, struct job_edit *ret, struct err *err)
{
    ret->prio = true;
    ret->relative = ad_find(ad, "Change") != NULL;
    if (!ad_integer(ad, ret->relative ? "Change" : "Priority", &ret->priority) || ret->priority > JOB_PRIORITY_MAX ||
        ret->priority < -JOB_PRIORITY_MAX)
        return err_set(err, "expected Priority or Change, a whole number of up to %d", JOB_PRIORITY_MAX);
    return 0;
}

int job_edit_read(const struct tree *ad, bool prio, struct job_edit *ret, struct err *err)
{
    const struct expr *set = ad_find(ad, "Set");

    *ret = (struct job_edit){0};
    if (prio)
        return priority_read(ad, ret, err);
    if (!set || set->kind != EXPR_AD)
        return err_set(err, "Set: expected an ad of the attributes that change");
    ret->set = ad_part(ad, set);
    if (names_check(ret->set, err) == 0)
        return 0;
    job_edit_done(ret);
    return -1;
}

void job_edit_words(const struct job_edit *edit, char *ret, size_t size)
{
    struct buf words;

    buf_init(&words);
    if (edit->prio)
        buf_addf(&words, edit->relative ? "Priority %+lld" : "Priority = %lld", (long long)edit->priority);
    for (uint32_t i = 0; edit->set && i < tree_root(edit->set)->u.run.count; i++) {
        const struct expr *part = &tree_parts(edit->set, tree_root(edit->set))[i];
        size_t len;
        const char *name = symbols_text(edit->set->symbols, part->label, &len);

        buf_addf(&words, "%s%.*s = ", i ? ", " : "", (int)len, name);
        print_expr(&words, edit->set, part, PRINT_PLAIN);
    }
    snprintf(ret, size, "%s", buf_string(&words));
    buf_done(&words);
}

/* --------------------------------------------------------------------------------------------------------- the new ad */

static void part_copy(struct maker *maker, const struct tree *ad, const struct expr *part)
{
    build_copy(&maker->build, ad, part);
    symbols_hold(ad->symbols, part->label);
    build_attribute(&maker->build, part->label);
    maker->count++;
}

/* Is the attribute replaced or taken away? */
static bool is_set(const struct tree *set, const char *name, size_t len)
{
    const struct expr *parts = tree_parts(set, tree_root(set));

    for (uint32_t i = 0; i < tree_root(set)->u.run.count; i++) {
        size_t other_len;
        const char *other = symbols_text(set->symbols, parts[i].label, &other_len);

        if ((other_len == len && !strncasecmp(other, name, len)) ||
            (is_constraint(name, len) && is_constraint(other, other_len)))
            return true;
    }
    return false;
}

static struct tree *parts_set(const struct tree *ad, const struct tree *set)
{
    const struct expr *parts = tree_parts(ad, tree_root(ad));
    struct maker maker;

    maker_init(&maker, ad->symbols);
    for (uint32_t i = 0; i < tree_root(ad)->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(ad->symbols, parts[i].label, &len);

        if (!is_set(set, name, len))
            part_copy(&maker, ad, &parts[i]);
    }
    parts = tree_parts(set, tree_root(set));
    for (uint32_t i = 0; i < tree_root(set)->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(set->symbols, parts[i].label, &len);

        if (parts[i].kind == EXPR_UNDEFINED)
            continue;
        if (is_constraint(name, len)) {
            build_copy(&maker.build, set, &parts[i]);
            build_attribute(&maker.build, symbols_take(ad->symbols, "Constraint", 10));
            maker.count++;
        } else {
            part_copy(&maker, set, &parts[i]);
        }
    }
    return maker_seal(&maker);
}

/* Whether the job as it stands may be changed so. */
static int job_allows(const struct tree *set, const struct job_view *view, bool here, struct err *err)
{
    const struct expr *parts = tree_parts(set, tree_root(set));
    bool ports = ad_find(view->ad, "Ports") != NULL;

    for (uint32_t i = 0; i < tree_root(set)->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(set->symbols, parts[i].label, &len);

        if (!here && (view->local || ad_find(view->ad, "Iwd")) &&
            is_among(waiting, sizeof waiting / sizeof *waiting, name, len))
            return err_set(
                err,
                "%.*s cannot be changed by a token: the job came from a user of the customer's machine, and brings "
                "files there or runs there with that user's rights",
                (int)len, name);
        if (view->rooted && is_among(waiting, sizeof waiting / sizeof *waiting, name, len))
            return err_set(err, "%.*s cannot be changed while the job runs: hold it first", (int)len, name);
        if (ports && (is_constraint(name, len) || is_among(of_ports, sizeof of_ports / sizeof *of_ports, name, len)))
            return err_set(err, "%.*s cannot be changed of a job with several members: its ports have been made of it",
                           (int)len, name);
        if (name_is("RequestGpus", name, len) && ad_find(view->ad, "RequireGpus"))
            return err_set(err,
                           "RequestGpus cannot be changed of a job with RequireGpus: remove it, and submit another");
    }
    return 0;
}

/* The clauses that the customer adds to a constraint stand in the old one: a new one gets them again. */
static struct tree *constraint_finish(struct tree *ad_take, struct err *err)
{
    struct tree *whole;

    if (job_requires_gpus(ad_take)) {
        whole = job_gpus_set(ad_take, err);
        tree_unref(ad_take);
        ad_take = whole;
    }
    if (ad_take && job_has_wants(ad_take)) {
        whole = job_wants_set(ad_take, err);
        tree_unref(ad_take);
        ad_take = whole;
    }
    return ad_take;
}

static struct tree *priority_set(const struct job_edit *edit, const struct tree *ad, struct err *err)
{
    double before = 0;
    int64_t priority = edit->priority;
    struct tree *bare = ad_without(ad, "Priority"), *made;
    struct maker maker;

    if (edit->relative && (ad_number(ad, "Priority", &before) || ad_number(ad, "JobPrio", &before)) &&
        before >= -JOB_PRIORITY_MAX && before <= JOB_PRIORITY_MAX)
        priority += (int64_t)before;
    if (priority > JOB_PRIORITY_MAX || priority < -JOB_PRIORITY_MAX) {
        tree_unref(bare);
        err_set(err, "Priority: expected a whole number of up to %d", JOB_PRIORITY_MAX);
        return NULL;
    }
    maker_init(&maker, ad->symbols);
    maker_parts(&maker, bare, "JobPrio");
    maker_integer(&maker, "Priority", priority);
    made = maker_seal(&maker);
    tree_unref(bare);
    return made;
}

struct tree *job_edited(const struct job_edit *edit, const struct job_view *view, struct err *err)
{
    struct tree *ad;

    if (edit->prio)
        return priority_set(edit, view->ad, err);
    if (job_allows(edit->set, view, edit->here, err) < 0)
        return NULL;
    ad = parts_set(view->ad, edit->set);
    if (!ad_find(ad, "Cmd") && !ad_find(ad, "Image")) {
        err_set(err, "Cmd: a job needs the name of a program");
    } else if (job_types_check(ad, err) == 0) {
        return is_set(edit->set, "Constraint", 10) ? constraint_finish(ad, err) : ad;
    }
    tree_unref(ad);
    return NULL;
}
