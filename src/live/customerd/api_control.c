/* api_control.c: holds, releases, removes and edits jobs and sends them away from their machines, by their numbers or where an expression is true. Each turn of the account does some of them, and
 * one request no more than can be looked at in good time: the answer says from which job on to ask for the rest. When the request goes, the rest is
 * left as it is. */
#include "live/customerd/audited.h"
#include "live/customerd/customerd_parts.h"
#include "live/customerd/job_edit.h"
#include "live/customerd/job_policy.h"
#include "live/customerd/job_secrets.h"
#include "live/customerd/secret_sets.h"
#include "live/customerd/user_logs.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/data/stored.h"
#include "live/http/query.h"
#include "match/pair/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTROL_SOME 8 /* jobs between two looks at the time */
#define DROP_MOST 9999 /* jobs behind one that are removed with it: that takes some milliseconds */

static const char *const verbs[CONTROL_COUNT] = {
    [CONTROL_HOLD] = "hold",     [CONTROL_RELEASE] = "release", [CONTROL_REMOVE] = "remove",
    [CONTROL_RESCUE] = "rescue", [CONTROL_VACATE] = "vacate",   [CONTROL_EDIT] = "edit"};

struct controlling {
    struct customerd *customerd;
    struct request *request; /* NULL: the request has gone */
    char identity[TOKEN_NAME_MAX + 1];
    bool any;
    enum control_verb verb;
    bool by_ids;
    struct id_ranges ids;
    struct tree *query;
    char *why;
    struct job_edit edit;
    struct audit_who who;
    char *about;      /* its jobs, as they were asked for */
    uint64_t told;    /* jobs of which the role was told */
    uint64_t audited; /* the number of its row in the audit log; 0: it has none */
    uint64_t noted;   /* how many jobs that row tells of */
    uint64_t at;      /* the last job that was looked at */
    uint64_t looked;  /* how many were looked at */
    uint64_t next;    /* the first job of the rest; 0: there is none */
    uint64_t changed, unchanged, missing, waiting;
    uint64_t refused;                 /* of the unchanged: jobs that cannot be edited so ... */
    char refusal[AUDIT_TEXT_MAX + 1]; /* ... and why the first of them cannot */
    uint64_t storing;                 /* of the unchanged: jobs that have ended, and whose files still go to stores */
    bool walked, lost;
    uint64_t one; /* the job, if it is one as a resource (api_job.c); 0: it is not */
};

static void controlling_free(struct controlling *all)
{
    tree_unref(all->query);
    free(all->why);
    free(all->about);
    job_edit_done(&all->edit);
    free(all);
}

/* Writes into the audit log how many jobs were changed, if that is not there. */
static void controlling_audit(struct controlling *all, uint64_t changed)
{
    char what[32], detail[AUDIT_TEXT_MAX + 1], edit[AUDIT_TEXT_MAX - 40] = "";
    const char *why = all->verb == CONTROL_EDIT ? edit : all->why;

    if (all->audited ? changed == all->noted : !changed)
        return;
    job_edit_words(&all->edit, edit, sizeof edit);
    snprintf(detail, sizeof detail, "%" PRIu64 " job%s%s%s", changed, changed == 1 ? "" : "s", why ? ": " : "",
             why ? why : "");
    snprintf(what, sizeof what, "jobs.%s", verbs[all->verb]);
    if (all->audited)
        customer_audit_amend(all->customerd, all->audited, NULL, changed ? NULL : "nothing changed", detail);
    else
        all->audited = customer_audit(all->customerd, &all->who, what, all->about, detail);
    all->noted = changed;
}

/* What became of the job that was named as a resource. */
static void one_answer(const struct controlling *all)
{
    if (all->changed)
        job_changed_answer(all->request, all->one, all->verb == CONTROL_REMOVE);
    else if (all->refused)
        request_problem(all->request, 409, "%s", all->refusal);
    else if (all->storing)
        request_problem(all->request, 409, "job %" PRIu64 " has ended, and its files wait to be stored", all->one);
    else
        request_problem(all->request, 409, "job %" PRIu64 ": as it stands now there is nothing to %s", all->one,
                        verbs[all->verb]);
}

static void controlling_end(struct controlling *all)
{
    struct maker maker;

    if (!all->lost)
        controlling_audit(all, all->changed);
    if (all->verb == CONTROL_EDIT && all->changed)
        customerd_changed(all->customerd); /* of an edit the role tells nothing else */
    if (all->request && !all->lost) {
        all->request->work = NULL;
        all->request->forget = NULL;
        if (all->one) {
            one_answer(all);
            controlling_free(all);
            return;
        }
        maker_init(&maker, all->customerd->daemon.symbols);
        maker_integer(&maker, "Changed", (int64_t)all->changed);
        maker_integer(&maker, "Unchanged", (int64_t)all->unchanged);
        maker_integer(&maker, "Missing", (int64_t)all->missing);
        if (all->storing)
            maker_integer(&maker, "Storing", (int64_t)all->storing);
        if (all->refused) {
            maker_integer(&maker, "Refused", (int64_t)all->refused);
            maker_text(&maker, "Reason", all->refusal);
        }
        if (all->next)
            maker_integer(&maker, "Next", (int64_t)all->next);
        request_ad_take(all->request, 200, maker_seal(&maker));
    } else if (all->request) {
        all->request->work = NULL;
        all->request->forget = NULL;
    }
    controlling_free(all);
}

/* The request has gone: what the role was told is done, and no more. */
static void controlling_forget(struct request *request)
{
    struct controlling *all = request->work;

    all->request = NULL;
    if (all->walked)
        return; /* the answers end it */
    all->walked = true;
    if (!all->waiting)
        controlling_end(all);
}

static void job_answered(void *user, const struct message *answer)
{
    struct controlling *all = user;

    all->lost = all->lost || !answer;
    if (answer && answer->kind == MESSAGE_GOT && answer->u.got.reason == REASON_OK)
        all->changed++;
    else
        all->unchanged++;
    if (!--all->waiting && all->walked)
        controlling_end(all);
}

bool control_applies(enum control_verb verb, const struct job_view *view)
{
    bool ended = view_ended(view);
    bool failed = ended && view->kept && !(view->state == JOB_DONE && view->reason == REASON_EXITED && !view->status);

    if (verb == CONTROL_EDIT)
        return !ended;
    if (verb == CONTROL_VACATE)
        return view->state == JOB_RUNNING && view->rooted;
    if (verb == CONTROL_RESCUE || (verb == CONTROL_REMOVE && failed))
        return failed && (verb == CONTROL_RESCUE || view->state != JOB_REMOVED);
    return verb == CONTROL_RELEASE ? view->state == JOB_HELD
                                   : !ended && (verb == CONTROL_REMOVE || view->state != JOB_HELD);
}

static bool job_wanted(const struct controlling *all, const struct job_view *view)
{
    const struct config *config = &all->customerd->daemon.config;
    struct env env = {.now = runner_wall() / SECOND,
                      .steps = config_count(config, CONFIG_EVALUATION_STEPS),
                      .bytes = config_size(config, CONFIG_EVALUATION_BYTES)};
    struct arena scratch;
    struct tree *ad;
    bool wanted;

    if (!all->query)
        return true;
    ad = job_ad(all->customerd->daemon.symbols, all->customerd->customer, view,
                attempts_of(all->customerd->tries, view->id), env.now);
    arena_init(&scratch);
    wanted = match_query(&env, &scratch, all->query, ad);
    arena_done(&scratch);
    tree_unref(ad);
    return wanted;
}

/* Has the job ended, while not all of its files are in their stores? */
static bool is_storing(const struct controlling *all, const struct job_view *view)
{
    const struct job_attempt *last = view_ended(view) ? attempts_last(all->customerd->tries, view->id) : NULL;

    return last && stored_count(last->stored).over < last->transfers;
}

/* Notes the words with which a job is held or removed; those of an earlier time are gone. */
static void why_note(struct controlling *all, uint64_t job)
{
    struct job_attempts *tries = attempts_of(all->customerd->tries, job);
    struct err err;

    if (!all->why && (!tries || (!tries->why && !tries->hold_code)))
        return;
    tries = attempts_make(all->customerd->tries, job);
    tries->hold_code = tries->hold_sub = 0;
    if (all->why) {
        attempts_text(&tries->why, all->why, strlen(all->why));
    } else {
        free(tries->why);
        tries->why = NULL;
    }
    attempts_store(all->customerd->tries, job, &err);
}

/* The job as it is to be; NULL: it cannot be so, and that is counted. */
static struct tree *edited_ad(struct controlling *all, const struct job_view *view)
{
    struct err err = {0};
    struct tree *ad = job_edited(&all->edit, view, &err);

    if (ad && customer_bytes(all->customerd->customer, view->owner) + 2 * tree_size(ad) >
                  config_size(&all->customerd->daemon.config, CONFIG_JOB_BYTES_PER_IDENTITY)) {
        tree_unref(ad);
        ad = NULL;
        err_set(&err, "JobBytesPerIdentity: the ads of one user's jobs would take more");
    }
    if (ad)
        return ad;
    if (!all->refused++)
        snprintf(all->refusal, sizeof all->refusal, "job %" PRIu64 ": %.200s", view->id, err.text);
    all->unchanged++;
    return NULL;
}

/* What looks at jobs from time to time hears that this one says something now. */
static void edit_note(struct controlling *all, const struct job_view *view, const struct tree *ad)
{
    char words[200];

    job_policies_edited(all->customerd->policies, view, ad);
    if (!joblog_exists(all->customerd->files, view->id))
        return;
    job_edit_words(&all->edit, words, sizeof words);
    joblog_add(all->customerd->files, view->id, view->submitted, wall_seconds(runner_wall()), "edited: %s", words);
}

/* Jobs that are removed all at once. */
struct dropping {
    struct controlling *all;
    uint64_t first, count;
};

/* The jobs that were dropped are in the history, or the customer is ending. */
static void jobs_dropped(void *user, bool durable)
{
    struct dropping *dropping = user;
    struct controlling *all = dropping->all;

    if (durable)
        customerd_dropped(all->customerd, dropping->first, dropping->count);
    free(dropping);
    all->lost = all->lost || !durable;
    if (!--all->waiting && all->walked)
        controlling_end(all);
}

/* Records jobs that have never run as removed: they are alike, up to that number, but for their own. */
static bool alike_close(struct controlling *all, const struct job_view *view, uint64_t last)
{
    struct customerd *customerd = all->customerd;
    struct job_attempts tries = {.job = view->id, .why = all->why};
    int64_t now = wall_seconds(runner_wall());
    struct history_row row = {
        .job = view->id, .ended = runner_settled(customerd->runner) / SECOND, .standing = STANDING_CANCELLED};
    struct job_view removed = *view;
    struct err err = {0};
    struct tree *ad;
    int failed;

    removed.state = JOB_REMOVED;
    removed.reason = REASON_RELEASED;
    removed.changed = now;
    ad = job_ad(customerd->daemon.symbols, customerd->customer, &removed, &tries, now);
    failed = history_add_alike(customerd->history, &row, last, ad, &err);
    tree_unref(ad);
    if (failed)
        LOG(&customerd->daemon.log, LEVEL_ERROR, "history", log_text("why", err.text));
    return !failed;
}

/* Removes the job and those behind it that are alike, to which nothing has happened, all at once; true: that is done. One that a log of its user's tells of
 * is removed like any other. */
static bool jobs_drop(struct controlling *all, const struct job_view *view)
{
    struct customerd *customerd = all->customerd;
    uint64_t left = CUSTOMERD_LOOK_MAX - all->looked, most, end, count;
    struct dropping *dropping;

    if (all->verb != CONTROL_REMOVE || all->query || view->local || user_logs_owe(customerd->logs, view))
        return false;
    most = view->id + (left < DROP_MOST ? left : DROP_MOST);
    end = all->by_ids ? id_ranges_end(&all->ids, view->id) : most;
    count = customer_alike(customerd->customer, view->id, end < most ? end : most);
    if (count < 2 || !alike_close(all, view, view->id + count - 1))
        return false;
    all->at = view->id + count - 1;
    all->looked += count - 1;
    all->told += count;
    all->changed += count;
    all->waiting++;
    secret_sets_ended(customerd->secrets, job_secrets_id(view->ad));
    runner_event(customerd->runner,
                 &(struct event){.kind = EVENT_DROP, .job = view->id, .number = view->id + count - 1});
    dropping = mem_alloc(sizeof *dropping);
    *dropping = (struct dropping){.all = all, .first = view->id, .count = count};
    runner_commit(customerd->runner, jobs_dropped, dropping);
    customerd_changed(customerd);
    return true;
}

static void job_control(struct controlling *all, const struct job_view *view)
{
    struct peer peer = {.agent = all->customerd->role.self, .identity = all->identity, .any = all->any};
    struct message message = {.kind = MESSAGE_CONTROL};

    if (!all->any && strcmp(view->owner, all->identity) != 0) {
        all->missing += all->by_ids; /* a job that the caller may not see is not there */
        return;
    }
    if (jobs_drop(all, view) || !job_wanted(all, view))
        return;
    if (!control_applies(all->verb, view)) {
        all->unchanged++;
        all->storing += is_storing(all, view);
        return;
    }
    if (all->verb == CONTROL_HOLD || all->verb == CONTROL_REMOVE)
        why_note(all, view->id);
    message.u.control = (struct control){.job = view->id, .verb = all->verb};
    if (all->verb == CONTROL_EDIT && !(message.u.control.ad = edited_ad(all, view)))
        return;
    if (all->verb == CONTROL_EDIT)
        edit_note(all, view, message.u.control.ad);
    all->waiting++;
    all->told++;
    agent_local(all->customerd->live, &peer, &message, job_answered, all);
    tree_unref(message.u.control.ad);
}

/* The number of the next job to look at; 0: there are no more. */
static uint64_t job_next(const struct controlling *all)
{
    struct job_view view;

    if (all->by_ids)
        return id_ranges_next(&all->ids, all->at);
    if (all->any)
        return customer_next(all->customerd->customer, all->at, &view) ? view.id : 0;
    return customer_next_of(all->customerd->customer, all->identity, all->at, &view) ? view.id : 0;
}

static void controlling_step(struct request *request)
{
    struct controlling *all = request->work;
    uint64_t timed = all->looked;
    struct job_view view;

    if (runner_is_broken(all->customerd->runner))
        return;     /* the customer is ending */
    all->waiting++; /* our own count: an answer may come at once */
    for (;;) {
        uint64_t id = job_next(all);

        all->walked = !id || all->looked == CUSTOMERD_LOOK_MAX;
        if (all->walked) {
            all->next = id;
            break;
        }
        all->at = id;
        all->looked++;
        if (customer_job(all->customerd->customer, id, &view))
            job_control(all, &view);
        else
            all->missing++;
        if (all->looked - timed < CONTROL_SOME)
            continue;
        timed = all->looked;
        if (request_turn_is_over(request))
            break;
    }
    if (!all->audited)
        controlling_audit(all, all->told); /* in the same commit as what the role has written */
    customerd_commit(all->customerd);
    all->waiting--;
    if (!all->walked)
        request_again(request, controlling_step);
    else if (!all->waiting)
        controlling_end(all);
}

static bool constraint_read(struct request *request, const struct tree *ad, struct tree **ret)
{
    const struct daemon *daemon = &request_customerd(request)->daemon;
    struct err err = {0};
    const char *text;
    size_t len;
    char *copy;
    int failed;

    *ret = NULL;
    if (!ad_string(ad, "Constraint", &text, &len))
        return true;
    copy = mem_dup(text, len);
    failed = query_parse("Constraint", copy, len, daemon->symbols, &daemon->config, ret, &err);
    free(copy);
    if (failed)
        request_problem(request, 400, "%s", err.text);
    return !failed;
}

/* Does it say that all jobs are meant? */
static bool is_true(const struct tree *query)
{
    return tree_root(query)->kind == EXPR_BOOLEAN && tree_root(query)->small;
}

bool control_permits(const struct request *request, enum control_verb verb)
{
    scopes need = verb == CONTROL_REMOVE ? SCOPE_JOB_CANCEL : SCOPE_JOB_MODIFY;

    return request->caller.scope & (SCOPE_JOB_OWN | SCOPE_JOB_ANY | need);
}

/* Reads the verb and the jobs; false after a problem was answered. */
static bool control_read(struct request *request, const struct tree *ad, struct controlling *all)
{
    bool prio = false;
    int verb = CONTROL_COUNT;
    struct err err = {0};
    const char *text;
    int64_t from;
    size_t len = 0;

    if (ad_string(ad, "Verb", &text, &len))
        for (verb = 0; verb < CONTROL_COUNT; verb++)
            if (strlen(verbs[verb]) == len && !memcmp(verbs[verb], text, len))
                break;
    if (verb == CONTROL_COUNT && len == 4 && !memcmp(text, "prio", 4)) {
        prio = true;
        verb = CONTROL_EDIT;
    }
    if (verb == CONTROL_COUNT) {
        request_problem(
            request, 400,
            "Verb: expected \"hold\", \"release\", \"remove\", \"rescue\", \"vacate\", \"edit\" or \"prio\"");
        return false;
    }
    if (!control_permits(request, (enum control_verb)verb)) {
        request_problem(request, 403, "Verb: the token does not have the scope that %s needs: %s", verbs[verb],
                        verb == CONTROL_REMOVE ? "job:own job:any job:cancel" : "job:own job:any job:modify");
        return false;
    }
    all->verb = (enum control_verb)verb;
    if (verb == CONTROL_EDIT && job_edit_read(ad, prio, &all->edit, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return false;
    }
    all->edit.here = request->caller.local;
    all->by_ids = ad_string(ad, "Ids", &text, &len);
    if (all->by_ids && !id_ranges_read(text, len, &all->ids)) {
        request_problem(request, 400, "Ids: expected numbers and ranges such as \"1-20,31\"");
        return false;
    }
    for (uint32_t i = 0; all->by_ids && i < all->ids.count; i++)
        if (all->ids.items[i].last - all->ids.items[i].first >= HISTORY_MAX) {
            request_problem(request, 400, "Ids: expected a range of up to %d", HISTORY_MAX);
            return false;
        }
    if (!constraint_read(request, ad, &all->query))
        return false;
    if (all->by_ids || ad_string(ad, "Constraint", &text, &len))
        all->about = mem_dup(text, len);
    if (!all->by_ids && !all->query) {
        request_problem(request, 400, "Ids or Constraint: which jobs?");
        return false;
    }
    if (all->query && is_true(all->query)) {
        tree_unref(all->query);
        all->query = NULL;
    }
    if (ad_find(ad, "From") && (!ad_integer(ad, "From", &from) || from < 1)) {
        request_problem(request, 400, "From: expected the number of a job");
        return false;
    }
    all->at = ad_find(ad, "From") ? (uint64_t)from - 1 : 0;
    if (ad_string(ad, "Why", &text, &len))
        attempts_text(&all->why, text, len);
    return true;
}

void control_begin(struct request *request, const struct tree *ad, uint64_t one)
{
    struct controlling *all = mem_alloc(sizeof *all);

    memset(all, 0, sizeof *all);
    all->customerd = request_customerd(request);
    all->request = request;
    all->any = caller_sees_all(request);
    all->one = one;
    audit_who(request, &all->who);
    snprintf(all->identity, sizeof all->identity, "%s", request_identity(request));
    if (control_read(request, ad, all)) {
        request->work = all;
        request->forget = controlling_forget;
        controlling_step(request);
    } else {
        controlling_free(all);
    }
}

void api_control(struct request *request)
{
    struct tree *ad = request_body_ad(request);

    if (ad)
        control_begin(request, ad, 0);
    tree_unref(ad);
}
