/* api_submit.c: submissions: many ads in one body, all of them or none.
 *
 *     POST /v1/jobs?key=K     ad 0 -> the role, under the key K/0;  ad 1 -> K/1; ...
 *
 * Here: the body is looked at, and its ads are read and checked, before any becomes a job. The hash of the body is kept under the key: the same body
 * again gets the same answer, another one is refused. */
#include "live/customerd/submitting.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/dag.h"
#include "live/customerd/job_secrets.h"
#include "live/customerd/local_jobs.h"
#include "live/customerd/secret_sets.h"
#include "live/data/input_data.h"
#include "live/data/resolving.h"
#include "live/http/query.h"
#include "pool/protocol/job_wants.h"
#include "sys/names.h"
#include "sys/secret_bundle.h"
#include "sys/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_BYTES 65536 /* of the body, between two looks at the time */
#define READ_ADS 4       /* the same for ads */

/* ----------------------------------------------------------------------------------------------------------- checking */

/* Are the pools that a job asks for ours? */
static int pools_check(const struct customerd *customerd, const struct tree *ad, struct err *err)
{
    const struct expr *list = ad_find(ad, "Pools"), *parts = list ? tree_parts(ad, list) : NULL;
    const struct pool_list *ours = &customerd->daemon.list;
    struct buf names;

    for (uint32_t i = 0; list && i < list->u.run.count; i++) {
        const char *name = tree_string(ad, &parts[i]);
        size_t len = parts[i].u.run.count;

        if (pool_list_find(ours, name, len) >= 0)
            continue;
        buf_init(&names);
        for (uint32_t k = 0; k < ours->count; k++)
            buf_addf(&names, "%s%s", k ? ", " : "; there are ", ours->items[k].name);
        if (!ours->count)
            buf_adds(&names, "; it has none beside its own, for the setting Pools is empty");
        err_set(err, "Pools: this customer has no pool '%.*s'%s", (int)(len < 63 ? len : 63), name, buf_string(&names));
        buf_done(&names);
        return -1;
    }
    if (list && !list->u.run.count)
        return err_set(err, "Pools: it would be offered to no pool");
    return 0;
}

/* Has its token the scope `serve` or `admin`, so that in its own pool it may ask for others? The token is read anew when it was renewed. */
static bool customer_serves(struct customerd *customerd)
{
    const char *token = customerd->daemon.token.token;
    struct grant grant;

    if (customerd->serves_by && !strcmp(customerd->serves_by, token))
        return customerd->serves;
    free(customerd->serves_by);
    customerd->serves_by = mem_dup(token, strlen(token));
    return customerd->serves =
               token_read(token, strlen(token), &grant) != TOKEN_OK || (grant.scope & (SCOPE_SERVE | SCOPE_ADMIN));
}

/* Does a pool that the job is for take requests of that owner? In its own pool the customer asks for itself alone, unless it serves others; in other
 * pools all its requests are its own. */
static bool owner_is_served(struct customerd *customerd, const struct tree *ad, const char *owner)
{
    const struct pool_entry *own = daemon_pool_own(&customerd->daemon);
    const struct expr *list = ad ? ad_find(ad, "Pools") : NULL, *parts = list ? tree_parts(ad, list) : NULL;

    if (!strcmp(owner, customerd->daemon.identity) || customer_serves(customerd))
        return true;
    if (!list)
        return customerd->daemon.other_count > 0;
    for (uint32_t i = 0; i < list->u.run.count; i++)
        if (!own || strlen(own->name) != parts[i].u.run.count ||
            memcmp(own->name, tree_string(ad, &parts[i]), parts[i].u.run.count) != 0)
            return true;
    return false;
}

/* A job that no pool would ever be asked to run is refused at once; -1 and why. */
static int owner_check(const struct request *request, const struct tree *ad, const struct job_terms *terms,
                       struct err *err)
{
    const char *ours = request_customerd(request)->daemon.identity;
    char owner[TEXT_MAX + 1];

    snprintf(owner, sizeof owner, "%.*s", terms->owner ? (int)terms->owner_len : TEXT_MAX,
             terms->owner ? terms->owner : request_identity(request));
    if (owner_is_served(request_customerd(request), ad, owner))
        return 0;
    return err_set(err,
                   "this customer is %.60s's, and may ask for machines only for %.60s: a job of %.60s's would wait for "
                   "ever. Use a customer of your own (`berth customer`), or let an administrator give this one a token "
                   "with the scope admin",
                   ours, ours, owner);
}

bool customerd_has_room(struct request *request, uint64_t jobs)
{
    const struct customerd *customerd = request_customerd(request);
    uint64_t most = config_count(&customerd->daemon.config, CONFIG_JOBS_MAX);
    uint64_t queued = customer_count(customerd->customer);

    if (jobs <= most && queued <= most - jobs)
        return true;
    request_problem(request, 429,
                    "JobsMax: this customer has %llu jobs of all its users together, and takes at most %llu: try again "
                    "when some of them are over",
                    (unsigned long long)queued, (unsigned long long)most);
    return false;
}

bool customerd_takes(struct request *request)
{
    const struct customerd *customerd = request_customerd(request);
    uint64_t most = config_count(&customerd->daemon.config, CONFIG_JOBS_PER_IDENTITY);
    struct job_terms terms = {.count = 1};
    struct err err = {0};

    if (caller_sees_all(request))
        return true;
    if (owner_check(request, NULL, &terms, &err) < 0)
        request_problem(request, 403, "%s", err.text);
    else if (customer_queued(customerd->customer, request_identity(request)) >= most)
        request_problem(request, 429, "JobsPerIdentity: at most %llu jobs of one user are queued",
                        (unsigned long long)most);
    else
        return customerd_has_room(request, 1);
    return false;
}

static int data_check(const struct tree *ad, struct err *err)
{
    struct input_data data;
    int failed = input_data_read(ad, &data, err);

    input_data_done(&data);
    return failed;
}

/* Root alone can take on the rights of others. */
int64_t job_iwd_user(const struct request *request)
{
    if (request->caller.scope & SCOPE_JOB_ANY)
        return IWD_OURS;
    return geteuid() == 0 && request->caller.uid != 0 ? (int64_t)request->caller.uid : IWD_NOBODY;
}

/* Whom its institute has put into a group is charged to that one, or to none. Of a caller who comes by way of the matchmaker that one says the group, in a
 * field; whoever else sends it binds nobody but itself. What an expression will say is not known here. */
static int group_check(const struct request *request, const struct tree *ad, struct err *err)
{
    const struct caller *caller = &request->caller;
    const char *told = exchange_field(request->exchange, GROUP_FIELD), *mine = caller->grouped ? caller->group : told;
    const char *group;
    size_t len;

    if (!mine || !ad_find(ad, "AccountingGroup"))
        return 0;
    if (ad_string(ad, "AccountingGroup", &group, &len) && len == strlen(mine) && !memcmp(group, mine, len))
        return 0;
    return *mine ? err_set(err,
                           "AccountingGroup: your institute has put you into the group %.64s, and no other is charged",
                           mine)
                 : err_set(err, "AccountingGroup: your institute has put you into no group");
}

/* What runs on this host runs with the rights of one of its users: of the one who is there, by the word of the kernel. -1 and why it may not. */
static int local_check(const struct request *request, struct err *err)
{
    const struct caller *caller = &request->caller;

    if (!config_count(&request_customerd(request)->daemon.config, CONFIG_LOCAL_JOBS))
        return err_set(err, "Universe: this customer runs no jobs on its own host: the setting LocalJobs is 0");
    if (!caller->local)
        return err_set(err, "Universe: only a user of this machine may have a job run on it, on the customer's socket: "
                            "neither a token nor the page says with whose rights it would run");
    if (job_iwd_user(request) == IWD_NOBODY)
        return err_set(err, "Universe: this customer does not run as root, and cannot take on the rights of its users");
    return 0;
}

/* May this caller submit that ad? -1 and why not. */
static int ad_check(const struct request *request, const struct tree *ad, struct job_terms *ret, struct err *err)
{
    if (ad->dialect != &dialect_classic)
        return err_set(err, "jobs are submitted in the classic dialect");
    if (job_check(ad, request_customerd(request)->spool, request_identity(request), ret, err) < 0 ||
        pools_check(request_customerd(request), ad, err) < 0 || data_check(ad, err) < 0 ||
        group_check(request, ad, err) < 0 || (customerd_local_is(ad) && local_job_check(ad, err) < 0))
        return -1;
    if (ret->iwd && !request->caller.local && !customerd_local_is(ad))
        return err_set(err, "Iwd: only a user of this machine may say where outputs go, on the customer's socket");
    if (ret->iwd && job_iwd_user(request) == IWD_OURS && job_iwd_check(ad, err) < 0)
        return -1;
    if (job_shares_files(ad) && job_iwd_user(request) == IWD_NOBODY)
        return err_set(err, "ShareFiles: this customer is not root, and does not vouch for your folders");
    if (ret->owner && !caller_sees(request, ret->owner, ret->owner_len))
        return err_set(err, "Owner: you can submit jobs only for yourself");
    if (ret->owner && (ret->owner_len > TEXT_MAX || !subject_valid(ret->owner, ret->owner_len)))
        return err_set(err, "Owner: expected the name of a user");
    return 0;
}

unsigned job_refused(const struct request *request, const struct tree *ad, struct job_terms *ret, struct err *err)
{
    if (ad_check(request, ad, ret, err) < 0)
        return 400;
    if ((!customer_serves(request_customerd(request)) && owner_check(request, ad, ret, err) < 0) ||
        (customerd_local_is(ad) && local_check(request, err) < 0))
        return 403;
    return 0;
}

/* Does the bundle have what each ad names? -1 and what is missing. */
static int secrets_look(const struct submitting *all, const struct buf *bundle, struct err *err)
{
    char name[SECRET_NAME_MAX + 1];

    for (uint32_t i = 0; all->hides && i < all->count; i++)
        if (job_secrets_missing(all->ads[i], bundle, name))
            return err_set(err,
                           "ad %u: Secrets: '%s' was not sent with the submission; `berth submit --secret %s=FILE` "
                           "sends it",
                           i + 1, name, name);
    return 0;
}

/* Were the secrets sent that the ads name, and by this caller? The submission holds them from now on. False after a problem was answered. */
static bool secrets_check(struct submitting *all)
{
    const char *given = request_query(all->request, "secrets");
    struct err err = {0};
    struct buf bundle;
    int failed = 0;

    if (all->again)
        return true;
    buf_init(&bundle);
    if (given) {
        all->secrets = strlen(given) == 16 ? id_number(given, 16) : 0;
        all->holds = all->secrets && secret_sets_hold(all->customerd->secrets, all->secrets, all->identity);
        if (!all->holds)
            failed = err_set(&err, "secrets: you have sent none under this Id, or they were not used within an hour");
        else
            failed = secret_sets_open(all->customerd->secrets, all->secrets, &bundle, &err);
    }
    if (!failed)
        failed = secrets_look(all, &bundle, &err);
    secret_wipe(&bundle);
    if (failed)
        request_problem(all->request, 400, "%s", err.text);
    return !failed;
}

/* ------------------------------------------------------------------------------------------------------------- reading */

static void submitting_forget(struct request *request)
{
    submitting_end(request->work);
}

/* A problem was answered: nothing comes of it. */
static void submitting_refused(struct submitting *all)
{
    submitting_end(all);
}

static void ad_keep(struct submitting *all, struct tree *ad, const struct job_terms *terms)
{
    if (all->count == all->room) {
        all->room = all->room ? all->room * 2 : 64;
        all->ads = mem_grow(all->ads, all->room * sizeof *all->ads);
        all->terms = mem_grow(all->terms, all->room * sizeof *all->terms);
    }
    all->ads[all->count] = ad;
    all->terms[all->count++] = *terms;
    all->jobs += terms->count;
    all->bytes += tree_size(ad);
    all->mixed = all->mixed || terms->owner;
    all->named = all->named || ad_find(ad, "Node") || ad_find(ad, "After") || ad_find(ad, "NodeInputs");
    all->local = all->local || customerd_local_is(ad);
    all->reads = all->reads || resolving_is_needed(&ad, 1);
    all->hides = all->hides || job_has_secrets(ad);
}

/* Jobs that name each other are a workflow, which belongs to one user. */
static bool flow_read(struct request *request, struct submitting *all)
{
    struct err err = {0};
    uint32_t place = 0;
    int found = all->named ? dag_check(all->ads, all->count, secrets_word(&secrets_live), &place, &err) : 0;

    for (uint32_t i = 1; found > 0 && i < all->count; i++) {
        struct text first, owner;

        submitting_owner(all, 0, &first);
        submitting_owner(all, i, &owner);
        if (memcmp(&first, &owner, sizeof first) != 0)
            found = err_set(&err, "Owner: all jobs of a workflow are of one user");
        place = i;
    }
    if (found < 0)
        request_problem(request, 400, "ad %u: %s", place + 1, err.text);
    else if (found)
        all->flow = all->word ? all->word : secrets_word(&secrets_live);
    return found >= 0;
}

static void data_found(void *user, unsigned status, const char *words)
{
    struct submitting *all = user;
    struct request *request = all->request;

    if (!request) {
        submitting_end(all);
    } else if (status) {
        request_problem(request, status, "%s", words);
        submitting_refused(all);
    } else {
        submitting_begin(all);
    }
}

/* The catalogues still have it: data_found frees it. */
static void data_forget(struct request *request)
{
    ((struct submitting *)request->work)->request = NULL;
}

/* Asks the catalogues first; the submission goes on when they have answered. */
static void data_find(struct submitting *all)
{
    all->request->forget = data_forget;
    all->resolving = resolving_start(all->customerd->catalogues, all->ads, all->count, data_found, all);
    if (all->resolving)
        return;
    request_problem(all->request, 400, "InputData: the jobs of one submission read at most %d files",
                    RESOLVING_NAMES_MAX);
    submitting_refused(all);
}

/* All ads are there: their text, which may be long, is not needed any more. */
static void ads_settle(struct submitting *all)
{
    struct buf body;

    buf_init(&body);
    exchange_body_take(all->request->exchange, &body);
    buf_done(&body);
    if (!body_check(all) || !flow_read(all->request, all) || !secrets_check(all))
        submitting_refused(all);
    else if (!all->again && all->reads)
        data_find(all);
    else
        submitting_begin(all);
}

/* Reads an ad, and checks it: 1 when there may be more, 0 at the end, -1 after a problem was answered. */
static int ad_read(struct submitting *all)
{
    struct request *request = all->request;
    struct job_terms terms;
    struct err err = {0};
    struct tree *ad;
    int got = form_reader_next(all->form, &ad, &err);
    unsigned refused;

    if (got < 0)
        request_problem(request, 400, "ad %u: line %u, column %u: %s", all->count + 1, err.line, err.column, err.text);
    else if (!got && !all->count)
        request_problem(request, 400, "there is no job in the body");
    if (got <= 0)
        return got < 0 || !all->count ? -1 : 0;
    if (all->count == SUBMISSION_ADS_MAX) {
        refused = 400;
        err_set(&err, "a submission has at most %d ads", SUBMISSION_ADS_MAX);
    } else {
        refused = job_refused(request, ad, &terms, &err);
    }
    if (refused) {
        request_problem(request, refused, "ad %u: %s", all->count + 1, err.text);
        tree_unref(ad);
        return -1;
    }
    ad_keep(all, ad, &terms);
    return 1;
}

/* A body may be long: as long as it is read there has to be memory for what it becomes. */
static bool memory_lacks(struct submitting *all)
{
    if (!memory_refuses(&all->customerd->daemon.memory, runner_now()))
        return false;
    request_problem_with(all->request, 503, MEMORY_WORDS, "Retry-After", MEMORY_AGAIN);
    return true;
}

static void ads_read(struct request *request)
{
    struct submitting *all = request->work;
    int got = memory_lacks(all) ? -1 : 1;

    for (uint32_t i = 1; got > 0; i++) {
        got = ad_read(all);
        if (got > 0 && i % READ_ADS == 0 && request_turn_is_over(request)) {
            request_again(request, ads_read);
            return;
        }
    }
    form_reader_free(all->form);
    all->form = NULL;
    if (got < 0)
        submitting_refused(all);
    else
        ads_settle(all);
}

/* Where a piece of the text that begins at `at` ends: not inside of a character. */
static size_t piece_end(const char *text, size_t len, size_t at)
{
    size_t end = len - at > LOOK_BYTES ? at + LOOK_BYTES : len;

    for (int i = 0; i < 4 && end < len && end > at && ((unsigned char)text[end] & 0xc0) == 0x80; i++)
        end--;
    return end;
}

/* Is the body text, and what is its hash? Then its ads are read. */
static void body_look(struct request *request)
{
    struct submitting *all = request->work;
    struct form_limits limits = query_limits(&all->customerd->daemon.config);
    struct err err = {0};
    size_t len;
    const char *text = exchange_body(request->exchange, &len);

    while (all->looked < len) {
        size_t end = piece_end(text, len, all->looked);

        if (utf8_check(text + all->looked, end - all->looked, &err) < 0) {
            utf8_check(text, len, &err); /* once more, for the line */
            request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
            submitting_refused(all);
            return;
        }
        hashing_add(&all->hashing, text + all->looked, end - all->looked);
        all->looked = end;
        if (end < len && request_turn_is_over(request)) {
            request_again(request, body_look);
            return;
        }
    }
    hashing_digits(&all->hashing, all->hash);
    all->text = (struct form_text){text, len};
    all->form = form_reader_new(all->customerd->daemon.symbols, all->media.dialect, all->media.form, &limits,
                                form_text_read, &all->text);
    ads_read(request);
}

void api_jobs_submit(struct request *request)
{
    struct submitting *all = mem_alloc(sizeof *all);

    memset(all, 0, sizeof *all);
    all->customerd = request_customerd(request);
    all->request = request;
    all->iwd_user = job_iwd_user(request);
    if (!request_trace(request, &all->trace))
        trace_draw(&all->trace);
    snprintf(all->identity, sizeof all->identity, "%s", request_identity(request));
    buf_init(&all->out);
    hashing_begin(&all->hashing);
    request->work = all;
    request->forget = submitting_forget;
    if (!key_read(request, all->key)) {
        submitting_refused(all);
    } else if (!media_read(exchange_field(request->exchange, "Content-Type"), &all->media)) {
        request_problem(request, 415, "jobs are sent as %s or %s", TYPE_CLASSAD, TYPE_JSON);
        submitting_refused(all);
    } else {
        body_look(request);
    }
}
