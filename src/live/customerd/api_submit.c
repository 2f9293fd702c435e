/* api_submit.c: submissions: many ads in one body, all of them or none.
 *
 *     POST /v1/jobs?key=K     ad 0 -> the role, under the key K/0;  ad 1 -> K/1; ...        all in one turn: durable together
 *
 * The hash of the body is kept under the key: the same body again gets the same answer, another one is refused. */
#include "live/customerd/customerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "lang/form/dag.h"
#include "live/data/input_data.h"
#include "live/data/resolving.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "pool/protocol/account.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_MAX 48
#define SUBMISSION_ADS_MAX 100000
#define KEYS_KEPT \
    (INT64_C(2) * 86400) /* how many seconds a key is remembered, or longer while one of its jobs is not forgotten */
#define SWEEP_KEYS 1000  /* keys that one sweep removes */

/* A submission under way. */
struct submitting {
    struct customerd *customerd;
    struct request *request; /* NULL: the request has gone */
    char key[KEY_MAX + 1], row_key[SHELF_KEY_MAX], hash[HASH_DIGITS + 1];
    bool again; /* the same was submitted before */
    bool lost;  /* the customer is ending, and there will be no answer */
    struct tree **ads;
    struct job_terms *terms;
    struct submitted *answers;
    uint32_t count, room, waiting;
    uint64_t flow;               /* the jobs are a workflow, under that word; 0: they are not */
    struct resolving *resolving; /* the catalogue's files that its jobs read; or NULL */
};

/* One ad of a submission that waits for its answer. */
struct submitting_ad {
    struct submitting *all;
    uint32_t place;
};

static void submitting_free(struct submitting *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        tree_unref(all->ads[i]);
    resolving_free(all->resolving);
    free(all->ads);
    free(all->terms);
    free(all->answers);
    free(all);
}

static void submitting_forget(struct request *request)
{
    ((struct submitting *)request->work)->request = NULL;
}

/* ------------------------------------------------------------------------------------------------------------ reading */

static void ad_keep(struct submitting *all, struct tree *ad, const struct job_terms *terms)
{
    if (all->count == all->room) {
        all->room = all->room ? all->room * 2 : 64;
        all->ads = mem_grow(all->ads, all->room * sizeof *all->ads);
        all->terms = mem_grow(all->terms, all->room * sizeof *all->terms);
    }
    all->ads[all->count] = ad;
    all->terms[all->count++] = *terms;
}

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

/* Does a pool that the job is for take requests of that owner? In its own pool the customer asks for itself alone, unless its token has the
 * scope `serve` or `admin`; in other pools all its requests are its own. */
static bool owner_is_served(const struct customerd *customerd, const struct tree *ad, const char *owner)
{
    const struct pool_entry *own = daemon_pool_own(&customerd->daemon);
    const struct expr *list = ad ? ad_find(ad, "Pools") : NULL, *parts = list ? tree_parts(ad, list) : NULL;
    struct grant grant;

    if (!strcmp(owner, customerd->daemon.identity) ||
        token_read(customerd->daemon.token.token, strlen(customerd->daemon.token.token), &grant) != TOKEN_OK ||
        (grant.scope & (SCOPE_SERVE | SCOPE_ADMIN)))
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
        return true;
    return false;
}

static int data_check(const struct tree *ad, struct err *err)
{
    struct input_data data;
    int failed = input_data_read(ad, &data, err);

    input_data_done(&data);
    return failed;
}

/* With whose rights the outputs of this caller's jobs are put into its folders. Root alone can take on those of others. */
static int64_t iwd_user(const struct request *request)
{
    if (request->caller.scope & SCOPE_JOB_ANY)
        return IWD_OURS;
    return geteuid() == 0 && request->caller.uid != 0 ? (int64_t)request->caller.uid : IWD_NOBODY;
}

/* May this caller submit that ad? -1 and why not. */
static int ad_check(const struct request *request, const struct tree *ad, struct job_terms *ret, struct err *err)
{
    if (ad->dialect != &dialect_classic)
        return err_set(err, "jobs are submitted in the classic dialect");
    if (job_check(ad, request_customerd(request)->spool, request_identity(request), ret, err) < 0 ||
        pools_check(request_customerd(request), ad, err) < 0 || data_check(ad, err) < 0)
        return -1;
    if (ret->iwd && !request->caller.local)
        return err_set(err, "Iwd: only a user of this machine may say where outputs go, on the customer's socket");
    if (ret->iwd && iwd_user(request) == IWD_OURS && job_iwd_check(ad, err) < 0)
        return -1;
    if (ret->owner && !caller_sees(request, ret->owner, ret->owner_len))
        return err_set(err, "Owner: you can submit jobs only for yourself");
    if (ret->owner && (ret->owner_len > TEXT_MAX || !subject_valid(ret->owner, ret->owner_len)))
        return err_set(err, "Owner: expected the name of a user");
    return 0;
}

/* Reads and checks all ads of the body; false after a problem was answered. */
static bool ads_read(struct request *request, struct submitting *all)
{
    struct form_limits limits = query_limits(&request_customerd(request)->daemon.config);
    struct form_text reader;
    struct form_reader *form;
    struct job_terms terms;
    struct err err = {0};
    struct media media;
    struct tree *ad;
    int got;

    if (!media_read(exchange_field(request->exchange, "Content-Type"), &media)) {
        request_problem(request, 415, "jobs are sent as %s or %s", TYPE_CLASSAD, TYPE_JSON);
        return false;
    }
    reader.text = exchange_body(request->exchange, &reader.len);
    if (utf8_check(reader.text, reader.len, &err) < 0) {
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
        return false;
    }
    form = form_reader_new(request_customerd(request)->daemon.symbols, media.dialect, media.form, &limits,
                           form_text_read, &reader);
    while ((got = form_reader_next(form, &ad, &err)) > 0) {
        bool full = all->count == SUBMISSION_ADS_MAX, bad = full || ad_check(request, ad, &terms, &err) < 0;

        if (full)
            err_set(&err, "a submission has at most %d ads", SUBMISSION_ADS_MAX);
        if (bad || owner_check(request, ad, &terms, &err) < 0) {
            request_problem(request, bad ? 400 : 403, "ad %u: %s", all->count + 1, err.text);
            tree_unref(ad);
            break;
        }
        ad_keep(all, ad, &terms);
    }
    form_reader_free(form);
    if (got < 0)
        request_problem(request, 400, "ad %u: line %u, column %u: %s", all->count + 1, err.line, err.column, err.text);
    else if (!got && !all->count)
        request_problem(request, 400, "there is no job in the body");
    return got == 0 && all->count;
}

static void ad_owner(const struct submitting *all, uint32_t place, struct text *ret)
{
    const struct job_terms *terms = &all->terms[place];

    if (terms->owner)
        text_set(ret, terms->owner, terms->owner_len);
    else
        text_set(ret, request_identity(all->request), strlen(request_identity(all->request)));
}

/* Jobs that name each other are a workflow, which belongs to one user. */
static bool flow_read(struct request *request, struct submitting *all)
{
    struct err err = {0};
    uint32_t place = 0;
    int found = dag_check(all->ads, all->count, secrets_word(&secrets_live), &place, &err);

    for (uint32_t i = 1; found > 0 && i < all->count; i++) {
        struct text first, owner;

        ad_owner(all, 0, &first);
        ad_owner(all, i, &owner);
        if (memcmp(&first, &owner, sizeof first) != 0)
            found = err_set(&err, "Owner: all jobs of a workflow are of one user");
        place = i;
    }
    if (found < 0)
        request_problem(request, 400, "ad %u: %s", place + 1, err.text);
    else if (found)
        all->flow = secrets_word(&secrets_live);
    return found >= 0;
}

/* ---------------------------------------------------------------------------------------------------------------- keys */

static bool key_read(struct request *request, char ret[KEY_MAX + 1])
{
    const char *key = request_query(request, "key");
    size_t len = key ? strlen(key) : 0;

    if (!key) { /* nobody can repeat it */
        snprintf(ret, KEY_MAX + 1, "%016" PRIx64, secrets_word(&secrets_live));
        return true;
    }
    for (size_t i = 0; i < len; i++)
        if (key[i] <= ' ' || key[i] == '/' || key[i] == 0x7f)
            len = 0;
    if (!len || len > KEY_MAX) {
        request_problem(request, 400, "key: expected up to %d visible characters, no '/'", KEY_MAX);
        return false;
    }
    memcpy(ret, key, len + 1);
    return true;
}

static bool row_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key;
    (void)key_len;
    buf_add(user, value, len);
    return false;
}

static void body_hash(const struct request *request, char ret[HASH_DIGITS + 1])
{
    size_t len;
    const char *body = exchange_body(request->exchange, &len);

    hash_bytes(body, len, ret);
}

/* The row of a key: which body came under it, when, and which jobs it became (0: not known yet). */
static int body_put(const struct submitting *all, uint64_t first, uint64_t last, struct err *err)
{
    struct shelf *shelf = all->customerd->daemon.shelf;
    char row[256];

    snprintf(row, sizeof row, "%s %" PRId64 " %" PRIu64 " %" PRIu64, all->hash,
             runner_settled(all->customerd->runner) / SECOND, first, last);
    return shelf->kind->put(shelf, CUSTOMERD_BODY_SPACE, all->row_key, strlen(all->row_key), row, strlen(row), err);
}

/* Is the key new, or did the same body come under it? False after a problem was answered, when it was another body. */
static bool body_check(struct request *request, struct submitting *all)
{
    struct shelf *shelf = request_customerd(request)->daemon.shelf;
    struct err err = {0};
    struct buf row;
    bool other;
    int failed;

    body_hash(request, all->hash);
    snprintf(all->row_key, sizeof all->row_key, "%s/%s", request_identity(request), all->key);
    buf_init(&row);
    failed = shelf->kind->get(shelf, CUSTOMERD_BODY_SPACE, all->row_key, strlen(all->row_key), row_copy, &row, &err);
    all->again = row.len >= HASH_DIGITS;
    other = all->again && memcmp(row.text, all->hash, HASH_DIGITS) != 0;
    buf_done(&row);
    if (failed)
        request_problem(request, 503, "%s", err.text);
    else if (other)
        request_problem(request, 409, "key: another submission was made under this key");
    return !failed && !other;
}

/* Writes the row of a new submission: it becomes durable together with its jobs. */
static bool body_keep(struct request *request, const struct submitting *all)
{
    struct err err = {0};

    if (all->again || body_put(all, 0, 0, &err) == 0)
        return true;
    request_problem(request, 503, "%s", err.text);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ sweeping */

struct old_keys {
    const struct customer *customer;
    int64_t before;
    char keys[SWEEP_KEYS][SHELF_KEY_MAX + 1];
    uint32_t count;
};

/* Notes the row if it is old and the role has none of its jobs any more. */
static bool key_is_old(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct old_keys *old = user;
    unsigned long long first = 0, last = 0;
    long long at = 0;
    struct job_view view;
    char row[256] = "";

    memcpy(row, value, len < sizeof row - 1 ? len : sizeof row - 1);
    if (sscanf(row, "%*64s %lld %llu %llu", &at, &first, &last) == 3 && first && at < old->before &&
        (!customer_next(old->customer, first - 1, &view) || view.id > last)) {
        memcpy(old->keys[old->count], key, key_len);
        old->keys[old->count++][key_len] = '\0';
    }
    return old->count < SWEEP_KEYS;
}

void submissions_tidy(struct customerd *customerd)
{
    struct old_keys *old = mem_alloc(sizeof *old);
    struct shelf *shelf = customerd->daemon.shelf;
    struct err err;

    memset(old, 0, sizeof *old);
    old->customer = customerd->customer;
    old->before = runner_settled(customerd->runner) / SECOND - KEYS_KEPT;
    shelf->kind->each(shelf, CUSTOMERD_BODY_SPACE, key_is_old, old, &err);
    for (uint32_t i = 0; i < old->count; i++)
        shelf->kind->remove(shelf, CUSTOMERD_BODY_SPACE, old->keys[i], strlen(old->keys[i]), &err);
    if (old->count)
        customerd_commit(customerd);
    free(old);
}

/* ---------------------------------------------------------------------------------------------------------- submitting */

/* Is there room for all jobs? Checked first, so that none is made when one could not be. */
static bool room_check(struct request *request, const struct submitting *all)
{
    uint64_t most = config_count(&request_customerd(request)->daemon.config, CONFIG_JOBS_PER_IDENTITY);
    struct textmap owners;
    uint64_t *totals = mem_alloc((all->count + 1) * sizeof *totals), queued;
    bool good = true;

    textmap_init(&owners, 0);
    for (uint32_t i = 0; good && i < all->count; i++) {
        struct text owner;
        uint32_t places = owners.places, place;

        ad_owner(all, i, &owner);
        place = textmap_add(&owners, owner.bytes, account_len(owner.bytes, strlen(owner.bytes)));
        if (place == places)
            totals[place] = 0;
        totals[place] += all->terms[i].count;
        queued = customer_queued(request_customerd(request)->customer, owner.bytes);
        good = totals[place] <= most && queued <= most - totals[place];
    }
    textmap_done(&owners);
    free(totals);
    if (!good)
        request_problem(request, 429, "JobsPerIdentity: at most %llu jobs of one user are queued",
                        (unsigned long long)most);
    return good;
}

static void ignore_answer(void *user, const struct message *answer)
{
    (void)user;
    (void)answer;
}

/* An ad was refused after all: all jobs of the submission are removed. */
static void submitting_undo(const struct submitting *all)
{
    struct peer peer = {.agent = all->customerd->role.self, .identity = all->customerd->daemon.identity, .any = true};

    for (uint32_t i = 0; i < all->count; i++)
        for (uint64_t n = 0; all->answers[i].reason == REASON_OK && n < all->answers[i].count; n++) {
            struct message message = {.kind = MESSAGE_CONTROL};

            message.u.control = (struct control){.job = all->answers[i].first + n, .verb = CONTROL_REMOVE};
            agent_local(all->customerd->live, &peer, &message, ignore_answer, NULL);
        }
}

static const struct {
    enum reason reason;
    unsigned status;
} refusals[] = {{REASON_LIMIT, 429}, {REASON_CONFLICT, 409}, {REASON_IDENTITY, 403}};

/* The first ad that was refused; `count` when none was. */
static uint32_t refused_ad(const struct submitting *all)
{
    uint32_t i = 0;

    while (i < all->count && all->answers[i].reason == REASON_OK)
        i++;
    return i;
}

static void submitting_answer(struct submitting *all)
{
    struct request *request = all->request;
    uint32_t refused = refused_ad(all);
    struct listing listing;
    unsigned status = 400;
    struct buf out;

    if (refused < all->count) {
        for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
            if (refusals[i].reason == all->answers[refused].reason)
                status = refusals[i].status;
        request_problem(request, status, "ad %u: %s", refused + 1, reason_words(all->answers[refused].reason));
        return;
    }
    buf_init(&out);
    listing_begin(&listing, &out, request->form);
    for (uint32_t i = 0; i < all->count; i++) {
        struct maker maker;
        struct tree *ad;

        maker_init(&maker, all->customerd->daemon.symbols);
        maker_integer(&maker, "First", (int64_t)all->answers[i].first);
        maker_integer(&maker, "Count", (int64_t)all->answers[i].count);
        ad = maker_seal(&maker);
        listing_add(&listing, ad);
        tree_unref(ad);
    }
    listing_end(&listing);
    request_answer(request, all->again ? 200 : 201, media_type(request->form, &dialect_classic), out.text, out.len,
                   NULL, 0);
    buf_done(&out);
}

/* All ads are answered: writes the jobs into the row; or, when an ad was refused, removes all, and the key is free. */
static void submitting_settle(const struct submitting *all)
{
    struct shelf *shelf = all->customerd->daemon.shelf;
    uint64_t first = all->answers[0].first, last = 0;
    struct err err;

    if (refused_ad(all) < all->count) {
        if (all->again)
            return;
        submitting_undo(all);
        shelf->kind->remove(shelf, CUSTOMERD_BODY_SPACE, all->row_key, strlen(all->row_key), &err);
    } else {
        for (uint32_t i = 0; i < all->count; i++) {
            uint64_t end = all->answers[i].first + all->answers[i].count - 1;

            first = all->answers[i].first < first ? all->answers[i].first : first;
            last = end > last ? end : last;
        }
        body_put(all, first, last, &err);
    }
    customerd_commit(all->customerd);
}

/* One thing less to wait for; after the last the request is answered. */
static void submitting_step(struct submitting *all)
{
    if (--all->waiting)
        return;
    if (all->request) {
        all->request->work = NULL;
        all->request->forget = NULL;
    }
    if (!all->lost) { /* otherwise the customer is ending */
        submitting_settle(all);
        if (all->request)
            submitting_answer(all);
        customerd_changed(all->customerd);
    }
    submitting_free(all);
}

static void ad_answered(void *user, const struct message *answer)
{
    struct submitting_ad *one = user;
    struct submitting *all = one->all;

    if (answer && answer->kind == MESSAGE_SUBMITTED)
        all->answers[one->place] = answer->u.submitted;
    else
        all->lost = true;
    free(one);
    submitting_step(all);
}

static void ad_submit(struct submitting *all, uint32_t place)
{
    struct submitting_ad *one = mem_alloc(sizeof *one);
    struct tree *ad = all->resolving ? resolving_ad(all->resolving, all->ads[place]) : tree_ref(all->ads[place]);
    struct message message = {.kind = MESSAGE_SUBMIT};
    char key[KEY_MAX + 16];
    struct peer peer;

    *one = (struct submitting_ad){all, place};
    memset(&message.u, 0, sizeof message.u);
    snprintf(key, sizeof key, "%s/%u", all->key, place);
    text_set(&message.u.submit.key, key, strlen(key));
    ad_owner(all, place, &message.u.submit.owner);
    message.u.submit.count = all->terms[place].count;
    message.u.submit.ad = job_submitted(all->customerd->daemon.symbols, ad, iwd_user(all->request));
    if (all->flow) {
        message.u.submit.flow = all->flow;
        message.u.submit.nodes = all->count;
        message.u.submit.node = job_node(all->customerd->daemon.symbols, ad);
    }
    caller_peer(all->request, &peer);
    agent_local(all->customerd->live, &peer, &message, ad_answered, one);
    tree_unref(message.u.submit.ad);
    tree_unref(message.u.submit.node);
    tree_unref(ad);
}

/* Everything is known: gives the jobs to the role. Takes `all`. */
static void submitting_begin(struct request *request, struct submitting *all)
{
    if (!body_check(request, all) || (!all->again && !room_check(request, all)) || !body_keep(request, all)) {
        submitting_free(all);
        return;
    }
    all->answers = mem_alloc(all->count * sizeof *all->answers);
    memset(all->answers, 0, all->count * sizeof *all->answers);
    request->work = all;
    request->forget = submitting_forget;
    all->waiting = all->count + 1; /* our own count is the last one, since an answer may come at once */
    customerd_commit(request_customerd(request));
    for (uint32_t i = 0; i < all->count; i++)
        ad_submit(all, i);
    submitting_step(all);
}

static void data_found(void *user, unsigned status, const char *words)
{
    struct submitting *all = user;
    struct request *request = all->request;

    if (request) {
        request->work = NULL;
        request->forget = NULL;
    }
    if (request && !status) {
        submitting_begin(request, all);
        return;
    }
    if (request)
        request_problem(request, status, "%s", words);
    submitting_free(all);
}

/* Asks the catalogues first; the submission goes on when they have answered. */
static void data_find(struct request *request, struct submitting *all)
{
    request->work = all;
    request->forget = submitting_forget;
    all->resolving = resolving_start(request_customerd(request)->catalogues, all->ads, all->count, data_found, all);
    if (all->resolving)
        return;
    request->work = NULL;
    request->forget = NULL;
    request_problem(request, 400, "InputData: the jobs of one submission read at most %d files", RESOLVING_NAMES_MAX);
    submitting_free(all);
}

void api_jobs_submit(struct request *request)
{
    struct submitting *all = mem_alloc(sizeof *all);

    *all = (struct submitting){.customerd = request_customerd(request), .request = request};
    if (!key_read(request, all->key) || !ads_read(request, all) || !flow_read(request, all) ||
        !body_check(request, all))
        submitting_free(all);
    else if (!all->again && resolving_is_needed(all->ads, all->count))
        data_find(request, all);
    else
        submitting_begin(request, all);
}
