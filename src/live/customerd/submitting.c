/* submitting.c: gives the jobs of a submission to the role, and answers when they are durable.
 *
 *     few jobs      all in one turn: durable together
 *     many          in many turns, as a batch (pool/customer/batch.c): none begins before all are there, and a crash before that leaves none
 *
 * If an ad is refused after all, what was given is removed. What the request does not wait for any more is done by a task. */
#include "live/customerd/submitting.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/customerd/job_gpus.h"
#include "live/customerd/job_secrets.h"
#include "live/customerd/local_jobs.h"
#include "live/customerd/secret_sets.h"
#include "live/data/resolving.h"
#include "live/http/represent.h"
#include "pool/protocol/account.h"
#include "pool/protocol/job_processes.h"
#include "pool/protocol/job_wants.h"
#include "pool/protocol/time_limit.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 40 /* so many jobs are given in one turn, and no batch */
#define SOME 2     /* jobs between two looks at the time */
#define IWD_DROPPED                                                                                               \
    "Iwd: this customer does not run as root and cannot write into the folders of others: the outputs stay with " \
    "it, and `berth outputs` fetches them"
#define FREED 2000 /* ads that are freed in a turn of the loop */
#define ALONE 20   /* jobs that a turn of the loop does for a submission whose request has gone */

/* One ad of a submission that waits for its answer. */
struct submitting_ad {
    struct submitting *all;
    uint32_t place;
};

static void submitting_free(struct submitting *all)
{
    while (all->count)
        tree_unref(all->ads[--all->count]);
    if (all->holds)
        secret_sets_let(all->customerd->secrets, all->secrets);
    resolving_free(all->resolving);
    form_reader_free(all->form);
    free(all->ads);
    free(all->terms);
    free(all->answers);
    buf_done(&all->out);
    free(all);
}

void submitting_owner(const struct submitting *all, uint32_t place, struct text *ret)
{
    const struct job_terms *terms = &all->terms[place];

    if (terms->owner)
        text_set(ret, terms->owner, terms->owner_len);
    else
        text_set(ret, all->identity, strlen(all->identity));
}

/* Do the ads fit into what those of one user may take? Before they are given they are counted as if none were like another. */
static bool ads_fit(struct request *request, const struct submitting *all)
{
    uint64_t most = config_size(&all->customerd->daemon.config, CONFIG_JOB_BYTES_PER_IDENTITY), bytes = all->bytes;
    struct text owner, before = {0};

    for (uint32_t i = 0; i < (all->mixed ? all->count : 1); i++, before = owner) {
        submitting_owner(all, i, &owner);
        if (i && !memcmp(&owner, &before, sizeof owner)) /* mostly they are all of one */
            continue;
        if (bytes + customer_bytes(all->customerd->customer, owner.bytes) > most) {
            request_problem(
                request, 429,
                "JobBytesPerIdentity: the ads of one user's jobs take %llu bytes at most; those that are kept take "
                "%llu, and jobs that are alike take the room of one",
                (unsigned long long)most, (unsigned long long)customer_bytes(all->customerd->customer, owner.bytes));
            return false;
        }
    }
    return true;
}

/* Is there room for the jobs of ads that name their owners? */
static bool owners_have_room(const struct submitting *all, uint64_t most)
{
    uint64_t *totals = mem_alloc((all->count + 1) * sizeof *totals), queued = 0;
    struct text owner = {0}, before = {0};
    struct textmap owners;
    uint32_t place = 0;
    bool good = true;

    textmap_init(&owners, 0);
    for (uint32_t i = 0; good && i < all->count; i++) {
        submitting_owner(all, i, &owner);
        if (!i || memcmp(&owner, &before, sizeof owner) != 0) { /* mostly they are all of one */
            uint32_t places = owners.places;

            before = owner;
            place = textmap_add(&owners, owner.bytes, account_len(owner.bytes, strlen(owner.bytes)));
            if (place == places)
                totals[place] = 0;
            queued = customer_queued(all->customerd->customer, owner.bytes);
        }
        totals[place] += all->terms[i].count;
        good = totals[place] <= most && queued <= most - totals[place];
    }
    textmap_done(&owners);
    free(totals);
    return good;
}

/* Is there room for all jobs? Checked first, so that none is made when one could not be. */
static bool room_check(struct request *request, const struct submitting *all)
{
    uint64_t most = config_count(&all->customerd->daemon.config, CONFIG_JOBS_PER_IDENTITY);
    bool good = all->mixed
                    ? owners_have_room(all, most)
                    : all->jobs <= most && customer_queued(all->customerd->customer, all->identity) <= most - all->jobs;

    if (!good)
        request_problem(request, 429, "JobsPerIdentity: at most %llu jobs of one user are queued",
                        (unsigned long long)most);
    return good && ads_fit(request, all) && customerd_has_room(request, all->jobs);
}

static const struct {
    enum reason reason;
    unsigned status;
} refusals[] = {{REASON_LIMIT, 429}, {REASON_CONFLICT, 409}, {REASON_IDENTITY, 403}};

/* The first ad that was refused; `given` when none was. */
static uint32_t refused_ad(const struct submitting *all)
{
    uint32_t i = 0;

    while (i < all->given && all->answers[i].reason == REASON_OK)
        i++;
    return i;
}

/* ----------------------------------------------------------------------------------------------------------- answering */

/* A turn of the loop. */
static bool free_turn(struct customerd_task *task)
{
    struct submitting *all = (struct submitting *)task;

    for (int i = 0; i < FREED && all->count; i++)
        tree_unref(all->ads[--all->count]);
    if (all->count)
        return true;
    submitting_free(all);
    return false;
}

static void free_drop(struct customerd_task *task)
{
    submitting_free((struct submitting *)task);
}

void submitting_end(struct submitting *all)
{
    if (all->request) {
        all->request->work = NULL;
        all->request->forget = NULL;
        all->request = NULL;
    }
    all->task = (struct customerd_task){.step = free_turn, .drop = free_drop};
    if (all->count <= FREED || all->customerd->stopping)
        submitting_free(all);
    else
        customerd_task(all->customerd, &all->task);
}

/* Tells which jobs there are now. */
static void submitting_tell(struct request *request)
{
    struct submitting *all = request->work;

    for (uint32_t i = 1; all->place < all->count; i++) {
        const struct submitted *answer = &all->answers[all->place++];
        struct maker maker;
        struct tree *ad;

        maker_init(&maker, all->customerd->daemon.symbols);
        maker_integer(&maker, "First", (int64_t)answer->first);
        maker_integer(&maker, "Count", (int64_t)answer->count);
        if (all->iwd_user == IWD_NOBODY && ad_find(all->ads[all->place - 1], "Iwd"))
            maker_text(&maker, "Warning", IWD_DROPPED);
        ad = maker_seal(&maker);
        listing_add(&all->listing, ad);
        tree_unref(ad);
        if (i % SOME == 0 && request_turn_is_over(request)) {
            request_again(request, submitting_tell);
            return;
        }
    }
    listing_end(&all->listing);
    request_answer(request, all->again ? 200 : 201, media_type(request->form, &dialect_classic), all->out.text,
                   all->out.len, NULL, 0);
    submitting_end(all);
}

static void tell_forget(struct request *request)
{
    submitting_end(request->work);
}

static void tell_begin(struct submitting *all)
{
    struct request *request = all->request;

    if (!request) {
        submitting_end(all);
        return;
    }
    all->place = 0;
    listing_begin(&all->listing, &all->out, request->form);
    request->forget = tell_forget;
    if (all->count > AT_ONCE)
        request_again(request, submitting_tell);
    else
        submitting_tell(request);
}

/* ------------------------------------------------------------------------------------------------------------ removing */

static void ignore_answer(void *user, const struct message *answer)
{
    (void)user;
    (void)answer;
}

/* Removes up to that many of the jobs that were given; false: there are no more. */
static bool jobs_remove(struct submitting *all, uint32_t most)
{
    struct peer peer = {.agent = all->customerd->role.self, .identity = all->customerd->daemon.identity, .any = true};

    for (uint32_t i = 0; i < most; i++) {
        struct message message = {.kind = MESSAGE_CONTROL};

        while (all->place < all->given &&
               (all->answers[all->place].reason != REASON_OK || all->removed == all->answers[all->place].count)) {
            all->place++;
            all->removed = 0;
        }
        if (all->place == all->given)
            return false;
        message.u.control =
            (struct control){.job = all->answers[all->place].first + all->removed++, .verb = CONTROL_REMOVE};
        agent_local(all->customerd->live, &peer, &message, ignore_answer, NULL);
    }
    return true;
}

static void submitting_refuse(struct submitting *all)
{
    uint32_t refused = refused_ad(all);
    unsigned status = 400;

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].reason == all->answers[refused].reason)
            status = refusals[i].status;
    if (all->audited) {
        char result[16];

        snprintf(result, sizeof result, "refused %u", status);
        customer_audit_amend(all->customerd, all->audited, "", result, reason_words(all->answers[refused].reason));
    }
    if (all->request)
        request_problem(all->request, status, "ad %u: %s", refused + 1, reason_words(all->answers[refused].reason));
    customerd_changed(all->customerd);
    submitting_end(all);
}

/* Nothing of it is left: the key is free. */
static void removed_all(struct submitting *all)
{
    struct shelf *shelf = all->customerd->daemon.shelf;
    struct err err;

    shelf->kind->remove(shelf, CUSTOMERD_BODY_SPACE, all->row_key, strlen(all->row_key), &err);
    customerd_commit(all->customerd);
    submitting_refuse(all);
}

static void remove_step(struct request *request)
{
    struct submitting *all = request->work;

    while (jobs_remove(all, SOME))
        if (request_turn_is_over(request)) {
            request_again(request, remove_step);
            return;
        }
    removed_all(all);
}

static void remove_forget(struct request *request);
static void alone_begin(struct submitting *all);

/* An ad was refused: all that were new are removed. */
static void remove_begin(struct submitting *all)
{
    all->place = 0;
    if (all->again) {
        submitting_refuse(all);
    } else if (all->request) {
        all->request->forget = remove_forget;
        request_again(all->request, remove_step);
    } else {
        alone_begin(all);
    }
}

/* -------------------------------------------------------------------------------------------------------------- giving */

/* Writes the submission into the audit log: the row becomes durable with its last jobs. `last` is 0 while it is not known which they are. */
static void submission_audit(struct submitting *all, uint64_t first, uint64_t last)
{
    char about[48] = "", detail[TEXT_MAX + 64];
    struct text owner;

    if (all->again || all->refused || all->audited_whole)
        return;
    if (last)
        snprintf(about, sizeof about, first == last ? "%" PRIu64 : "%" PRIu64 "-%" PRIu64, first, last);
    submitting_owner(all, 0, &owner);
    snprintf(detail, sizeof detail, "%" PRIu64 " job%s%s%s%s", all->jobs, all->jobs == 1 ? "" : "s",
             all->flow ? ", a workflow" : "", strcmp(owner.bytes, all->identity) != 0 ? ", of " : "",
             strcmp(owner.bytes, all->identity) != 0 ? owner.bytes : "");
    if (!all->audited)
        all->audited = customer_audit(all->customerd, &all->who, "jobs.submit", about, detail);
    else if (last)
        customer_audit_amend(all->customerd, all->audited, about, NULL, NULL);
    all->audited_whole = last > 0;
}

/* Jobs that run on this host wait from now on: of a job that has come nothing else is told. */
static void local_begin(const struct submitting *all)
{
    struct job_view view;

    for (uint32_t i = 0; all->local && i < all->given; i++)
        for (uint64_t k = 0; customerd_local_is(all->ads[i]) && k < all->answers[i].count; k++)
            if (customer_job(all->customerd->customer, all->answers[i].first + k, &view) && view.local)
                local_jobs_changed(all->customerd->local, &view);
}

void trace_draw(struct job_trace *ret)
{
    uint64_t words[3];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = secrets_word(&secrets_live);
    job_trace_make(words, ret);
}

void submission_log(struct customerd *customerd, const char *owner, uint64_t first, uint64_t last,
                    const struct job_trace *trace)
{
    char id[JOB_TRACE_ID_LEN + 1];

    job_trace_id_write(trace, id);
    LOG(&customerd->daemon.log, LEVEL_INFO, "jobs.submitted", log_text("owner", owner),
        log_number("first", (int64_t)first), log_number("last", (int64_t)last), log_text("trace", id));
}

/* All are answered: writes the jobs into the row. */
static void submitting_settle(struct submitting *all)
{
    uint64_t first = all->first, last = all->end;
    struct text owner;
    struct err err;

    if (all->refused) {
        remove_begin(all);
        return;
    }
    metrics_add(all->customerd->daemon.metrics, METRIC_SUBMITTED, 0, 0, all->again ? 0 : all->jobs);
    if (all->last != last) {
        body_put(all, first, last, &err);
        customerd_commit(all->customerd);
    }
    submission_audit(all, first, last);
    submitting_owner(all, 0, &owner);
    if (!all->again)
        submission_log(all->customerd, owner.bytes, first, last, &all->trace);
    if (all->said && !all->again)
        newcomers_add(&all->customerd->newcomers, first, last);
    local_begin(all);
    customerd_changed(all->customerd);
    tell_begin(all);
}

/* One thing less to wait for; after the last the submission is settled. */
static void submitting_step(struct submitting *all)
{
    if (--all->waiting)
        return;
    if (all->lost) /* the customer is ending */
        submitting_end(all);
    else
        submitting_settle(all);
}

/* The role has taken the jobs of an ad, or refused it. */
static void ad_answer(struct submitting *all, uint32_t place, const struct submitted *answer)
{
    uint64_t last = answer->first + answer->count - 1;

    all->answers[place] = *answer;
    all->refused = all->refused || answer->reason != REASON_OK;
    if (answer->reason != REASON_OK)
        return;
    all->first = all->first && all->first < answer->first ? all->first : answer->first;
    all->end = last > all->end ? last : all->end;
}

static void ad_answered(void *user, const struct message *answer)
{
    struct submitting_ad *one = user;
    struct submitting *all = one->all;

    if (answer && answer->kind == MESSAGE_SUBMITTED) {
        ad_answer(all, one->place, &answer->u.submitted);
    } else {
        all->lost = true;
    }
    free(one);
    submitting_step(all);
}

struct tree *job_finished(struct customerd *customerd, const struct tree *ad, int64_t iwd_user, uint64_t secrets)
{
    struct tree *whole = job_submitted(customerd->daemon.symbols, ad, iwd_user), *sealed;
    struct err err = {0};

    if (whole && job_requires_gpus(whole)) {
        sealed = job_gpus_set(whole, &err);
        tree_unref(whole);
        whole = sealed;
    }
    if (whole && time_limit_is_normalised(whole) && !ad_find(whole, "TimeLimit")) {
        sealed = time_limit_set(whole, &err);
        tree_unref(whole);
        whole = sealed;
    }
    if (whole && job_has_wants(ad)) {
        sealed = job_wants_set(whole, &err);
        tree_unref(whole);
        whole = sealed;
    }
    if (whole && job_has_processes(whole)) { /* last: its ports have the whole constraint */
        sealed = job_processes_set(whole, &err);
        tree_unref(whole);
        whole = sealed;
    }
    if (!whole || !secrets || !job_has_secrets(ad))
        return whole;
    sealed = job_secrets_set(whole, secrets, &err);
    tree_unref(whole);
    return sealed;
}

static void ad_submit(struct submitting *all, uint32_t place)
{
    struct submitting_ad *one = mem_alloc(sizeof *one);
    struct tree *ad = all->resolving ? resolving_ad(all->resolving, all->ads[place]) : tree_ref(all->ads[place]);
    struct message message = {.kind = MESSAGE_SUBMIT};
    char key[SUBMISSION_KEY_MAX + 16];

    *one = (struct submitting_ad){all, place};
    memset(&message.u, 0, sizeof message.u);
    snprintf(key, sizeof key, "%s/%u", all->key, place);
    text_set(&message.u.submit.key, key, strlen(key));
    submitting_owner(all, place, &message.u.submit.owner);
    message.u.submit.count = all->terms[place].count;
    message.u.submit.ad = job_finished(all->customerd, ad, all->iwd_user, all->secrets);
    message.u.submit.batch = all->batch;
    message.u.submit.ads = all->batch ? all->count : 0;
    message.u.submit.jobs = all->batch ? all->jobs : 0;
    job_trace_write(&all->trace, &message.u.submit.trace);
    if (all->flow) {
        message.u.submit.flow = all->flow;
        message.u.submit.nodes = all->count;
        message.u.submit.node = job_node(all->customerd->daemon.symbols, ad);
    }
    all->waiting++;
    all->said = all->said || (message.u.submit.ad && newcomers_are_said(message.u.submit.ad));
    agent_local(all->customerd->live, &all->peer, &message, ad_answered, one);
    tree_unref(message.u.submit.ad);
    tree_unref(message.u.submit.node);
    tree_unref(ad);
}

/* What was given to the role is not needed here any more, but for what is asked of it later: so a large submission does not lie in memory twice. */
static void ad_let_go(struct submitting *all, uint32_t place)
{
    if (!all->batch || all->local || all->terms[place].owner || all->iwd_user == IWD_NOBODY)
        return;
    tree_unref(all->ads[place]);
    all->ads[place] = NULL;
}

/* Gives up to that many; false: all are given, or there is no use in more. */
static bool jobs_give(struct submitting *all, uint32_t most)
{
    for (uint32_t i = 0; i < most && all->given < all->count; i++) {
        ad_submit(all, all->given);
        ad_let_go(all, all->given++);
    }
    return all->given < all->count && !all->lost && !all->refused;
}

/* What was given in one turn has the numbers that were next: they are written together with it. */
static void numbers_put(struct submitting *all)
{
    uint64_t first = all->last + 1;
    struct err err;

    all->last = customer_last(all->customerd->customer);
    if (all->again || all->refused || all->last + 1 - first != all->jobs || body_put(all, first, all->last, &err) < 0)
        all->last = 0;
}

static void give_step(struct request *request)
{
    struct submitting *all = request->work;

    if (runner_is_broken(all->customerd->runner))
        return; /* the customer is ending */
    while (jobs_give(all, all->batch ? SOME : all->count))
        if (request_turn_is_over(request)) {
            request_again(request, give_step);
            return;
        }
    all->gives = false;
    if (!all->batch)
        numbers_put(all);
    submission_audit(all, all->last + 1 - all->jobs, all->batch ? 0 : all->last);
    submitting_step(all); /* our own count is the last one, since an answer may come at once */
}

/* --------------------------------------------------------------------------------------------- when the request has gone */

/* A turn of the loop: one submission after another. Answers come when rows are committed. */
static bool alone_turn(struct customerd_task *task)
{
    struct submitting *all = (struct submitting *)task;

    if (all->customerd->tasks != task || runner_is_broken(all->customerd->runner))
        return true;
    if (all->gives && !(all->gives = jobs_give(all, ALONE)))
        submission_audit(all, 0, 0);
    if (all->gives || all->waiting > 1)
        return true;
    if (!all->lost && all->refused && !all->again) {
        if (jobs_remove(all, ALONE))
            return true;
        removed_all(all);
        return false;
    }
    submitting_step(all);
    return false;
}

/* Of a batch that is not whole when the customer begins again its role drops what there is. */
static void alone_drop(struct customerd_task *task)
{
    struct submitting *all = (struct submitting *)task;

    all->lost = true;
    submitting_step(all);
}

static void alone_begin(struct submitting *all)
{
    if (!all->gives)
        all->waiting++;
    all->task = (struct customerd_task){.step = alone_turn, .drop = alone_drop};
    if (all->customerd->stopping)
        alone_drop(&all->task);
    else
        customerd_task(all->customerd, &all->task);
}

static void remove_forget(struct request *request)
{
    struct submitting *all = request->work;

    all->request = NULL;
    alone_begin(all);
}

static void give_forget(struct request *request)
{
    struct submitting *all = request->work;

    all->request = NULL;
    if (all->gives)
        alone_begin(all);
}

/* --------------------------------------------------------------------------------------------------------------- begin */

void submitting_begin(struct submitting *all)
{
    struct request *request = all->request;

    if (!body_check(all) || (!all->again && !room_check(request, all)) || !body_keep(all)) {
        submitting_end(all);
        return;
    }
    all->answers = mem_alloc(all->count * sizeof *all->answers);
    memset(all->answers, 0, all->count * sizeof *all->answers);
    all->batch = all->count > AT_ONCE ? all->word : 0;
    caller_peer(request, &all->peer);
    audit_who(request, &all->who);
    all->peer.identity = all->identity;
    request->work = all;
    request->forget = give_forget;
    all->gives = true;
    all->waiting = 1;
    all->last = customer_last(all->customerd->customer);
    customerd_commit(all->customerd);
    if (all->batch)
        request_again(request, give_step);
    else
        give_step(request);
}
