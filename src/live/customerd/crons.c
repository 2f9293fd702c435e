/* crons.c: jobs that come again: the rows, and what each look at the clock makes of them.
 *
 *     NUMBER (16 hexadecimal digits) -> the rule, as cron_ad makes it, with what is kept of its last jobs; written at each of its moments
 *     NUMBER.ad                      -> [ JobAd = [...] ], which may be large; written once
 *     last                           -> the last number that was given */
#include "live/customerd/crons.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "live/customerd/local_jobs.h"
#include "live/customerd/submitting.h"
#include "pool/protocol/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAST_KEY "last"
#define ID_DIGITS 16
#define AD_END ".ad"
#define AD_KEY_LEN (ID_DIGITS + sizeof AD_END - 1)
#define BACK INT64_C(86400) /* a clock that was set back by more was wrong before */
#define OPEN_LOOKED 1000    /* jobs that one look goes through */

const char *const cron_missed_words[2] = {"run", "skip"};
const char *const cron_overlap_words[3] = {"skip", "wait", "run"};

struct crons {
    struct customerd *customerd;
    struct cron **items; /* by number */
    uint32_t count, room;
    uint64_t last; /* the last number that was given */
};

/* ------------------------------------------------------------------------------------------------------------- the time */

static int64_t now_seconds(void)
{
    return runner_wall() / SECOND;
}

/* Local time is that of the customer's host. */
static int64_t host_offset(void *user, int64_t moment)
{
    time_t at = (time_t)moment;
    struct tm local;

    (void)user;
    return localtime_r(&at, &local) ? local.tm_gmtoff : 0;
}

static void cron_plan(struct cron *cron)
{
    cron->due = schedule_next(&cron->schedule, cron->settled, cron->created, host_offset, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- the rows */

struct cron *crons_find(const struct crons *crons, uint64_t id)
{
    const struct cron *behind = id ? crons_after(crons, id - 1) : NULL;

    return behind && behind->id == id ? (struct cron *)(uintptr_t)behind : NULL;
}

const struct cron *crons_after(const struct crons *crons, uint64_t id)
{
    uint32_t low = 0, high = crons->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (crons->items[middle]->id > id)
            high = middle;
        else
            low = middle + 1;
    }
    return low < crons->count ? crons->items[low] : NULL;
}

static void cron_free(struct cron *cron)
{
    tree_unref(cron->ad);
    free(cron);
}

/* How its last jobs stand: the first that is not over, or else the last of them. */
static const char *standing_word(const struct customerd *customerd, const struct cron *cron)
{
    uint64_t last = cron->first + cron->count - 1, job = cron->open <= last ? cron->open : last;
    struct history_row row;
    struct job_view view;

    if (customer_job(customerd->customer, job, &view))
        return job_standing_word(job_standing(&view, attempts_last(customerd->tries, job)));
    return history_find(customerd->history, job, &row) ? job_standing_word(row.standing) : NULL;
}

static void cron_fill(struct maker *maker, const struct cron *cron)
{
    maker_integer(maker, "Cron", (int64_t)cron->id);
    maker_text(maker, "Owner", cron->owner);
    maker_text(maker, "Schedule", cron->text);
    maker_text(maker, "Missed", cron_missed_words[cron->missed]);
    maker_text(maker, "Overlap", cron_overlap_words[cron->overlap]);
    maker_flag(maker, "Held", cron->held);
    maker_integer(maker, "Created", cron->created);
    maker_integer(maker, "Runs", (int64_t)cron->runs);
    maker_integer(maker, "Skipped", (int64_t)cron->skipped);
    if (cron->waits)
        maker_flag(maker, "Waits", true);
    if (*cron->why)
        maker_text(maker, "Reason", cron->why);
    if (cron->last) {
        maker_integer(maker, "Last", cron->last);
        maker_integer(maker, "LastJob", (int64_t)cron->first);
        maker_integer(maker, "LastCount", (int64_t)cron->count);
    }
}

struct tree *cron_ad(const struct customerd *customerd, const struct cron *cron, bool whole)
{
    const char *standing = cron->last ? standing_word(customerd, cron) : NULL;
    struct maker maker;

    maker_init(&maker, customerd->daemon.symbols);
    cron_fill(&maker, cron);
    maker_text(&maker, "LastState", standing);
    if (!cron->held && cron->due != SCHEDULE_NEVER)
        maker_integer(&maker, "Next", cron->due);
    if (whole)
        maker_ad(&maker, "JobAd", cron->ad);
    return maker_seal(&maker);
}

static void id_key(uint64_t id, char ret[ID_DIGITS + 1])
{
    snprintf(ret, ID_DIGITS + 1, "%016" PRIx64, id);
}

static void ad_key(uint64_t id, char ret[AD_KEY_LEN + 1])
{
    snprintf(ret, AD_KEY_LEN + 1, "%016" PRIx64 AD_END, id);
}

static int row_put(const struct crons *crons, const char *key, const struct tree *row, struct err *err)
{
    struct shelf *shelf = crons->customerd->daemon.shelf;
    struct buf text;
    int failed;

    buf_init(&text);
    print_tree(&text, row, PRINT_COMPACT);
    failed = shelf->kind->put(shelf, CRONS_SPACE, key, strlen(key), text.text, text.len, err);
    buf_done(&text);
    return failed;
}

static int cron_put_ad(const struct crons *crons, const struct cron *cron, struct err *err)
{
    char key[AD_KEY_LEN + 1];
    struct maker maker;
    struct tree *row;
    int failed;

    maker_init(&maker, crons->customerd->daemon.symbols);
    maker_ad(&maker, "JobAd", cron->ad);
    row = maker_seal(&maker);
    ad_key(cron->id, key);
    failed = row_put(crons, key, row, err);
    tree_unref(row);
    return failed;
}

static int cron_put(struct crons *crons, const struct cron *cron, struct err *err)
{
    char key[ID_DIGITS + 1];
    struct maker maker;
    struct tree *row;
    int failed;

    maker_init(&maker, crons->customerd->daemon.symbols);
    cron_fill(&maker, cron);
    maker_integer(&maker, "Settled", cron->settled);
    maker_integer(&maker, "Open", (int64_t)cron->open);
    maker_integer(&maker, "Count", (int64_t)cron->count);
    maker_integer(&maker, "IwdUser", cron->iwd_user);
    row = maker_seal(&maker);
    id_key(cron->id, key);
    failed = row_put(crons, key, row, err);
    tree_unref(row);
    return failed;
}

/* The same for what a look has found; a shelf that takes no rows ends the customer. */
static void cron_keep(struct crons *crons, const struct cron *cron)
{
    struct err err;

    if (cron_put(crons, cron, &err) == 0)
        customerd_commit(crons->customerd);
}

/* A number of a row, which may be anything. */
static int64_t row_number(const struct tree *row, const char *name)
{
    int64_t number = 0;

    return ad_integer(row, name, &number) && number > 0 && number < INT64_C(1) << 48 ? number : 0;
}

static int word_place(const struct tree *row, const char *name, const char *const *words, int count)
{
    char text[8];

    for (int i = 0; ad_text(row, name, text, sizeof text) && i < count; i++)
        if (!strcmp(text, words[i]))
            return i;
    return 0;
}

static void cron_load(struct crons *crons, const struct tree *row)
{
    struct cron cron = {.id = (uint64_t)row_number(row, "Cron")}, *kept;
    struct err err;

    if (!cron.id || !ad_text(row, "Owner", cron.owner, sizeof cron.owner) ||
        !ad_text(row, "Schedule", cron.text, sizeof cron.text) ||
        schedule_read(cron.text, strlen(cron.text), &cron.schedule, &err) < 0)
        return; /* of a later version, perhaps: it stays on the shelf */
    cron.missed = word_place(row, "Missed", cron_missed_words, 2);
    cron.overlap = word_place(row, "Overlap", cron_overlap_words, 3);
    ad_flag(row, "Held", &cron.held);
    ad_flag(row, "Waits", &cron.waits);
    ad_text(row, "Reason", cron.why, sizeof cron.why);
    cron.created = row_number(row, "Created");
    cron.settled = row_number(row, "Settled");
    cron.runs = (uint64_t)row_number(row, "Runs");
    cron.skipped = (uint64_t)row_number(row, "Skipped");
    cron.last = row_number(row, "Last");
    cron.first = (uint64_t)row_number(row, "LastJob");
    cron.open = (uint64_t)row_number(row, "Open");
    cron.count = (uint64_t)row_number(row, "Count");
    if (!cron.count || cron.count > CUSTOMER_SUBMIT_MAX)
        cron.count = 1;
    if (cron.open < cron.first || cron.open > cron.first + cron.count)
        cron.open = cron.first;
    cron.iwd_user = IWD_NOBODY;
    ad_integer(row, "IwdUser", &cron.iwd_user);
    cron_plan(&cron);
    kept = mem_alloc(sizeof *kept);
    *kept = cron;
    ARRAY_ROOM(crons->items, crons->count, crons->room, 16);
    crons->items[crons->count++] = kept; /* rows come by their keys, which are the numbers */
    crons->last = cron.id > crons->last ? cron.id : crons->last;
}

/* The ad of a rule, whose own row came before. */
static void cron_load_ad(struct crons *crons, const void *key, const struct tree *row)
{
    const struct expr *ad = ad_find(row, "JobAd");
    struct cron *cron = crons->count ? crons->items[crons->count - 1] : NULL;
    char own[ID_DIGITS + 1] = "";

    if (cron)
        id_key(cron->id, own);
    if (cron && !cron->ad && ad && ad->kind == EXPR_AD && !memcmp(own, key, ID_DIGITS))
        cron->ad = ad_part(row, ad);
}

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct crons *crons = user;
    struct tree *row;
    struct buf text;
    struct err err;

    buf_init(&text);
    buf_add(&text, value, len);
    if (key_len == ID_DIGITS || key_len == AD_KEY_LEN) {
        row = form_parse(crons->customerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text),
                         text.len, &err);
        if (row && key_len == ID_DIGITS)
            cron_load(crons, row);
        else if (row)
            cron_load_ad(crons, key, row);
        tree_unref(row);
    } else if (key_len == strlen(LAST_KEY) && !memcmp(key, LAST_KEY, key_len) && text.len < ID_DIGITS) {
        uint64_t last = strtoull(buf_string(&text), NULL, 10);

        crons->last = last > crons->last ? last : crons->last;
    }
    buf_done(&text);
    return true;
}

/* A rule without an ad has none that this version can read: its rows stay on the shelf. */
static void crons_prune(struct crons *crons)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < crons->count; i++)
        if (crons->items[i]->ad)
            crons->items[kept++] = crons->items[i];
        else
            cron_free(crons->items[i]);
    crons->count = kept;
}

struct crons *crons_new(struct customerd *customerd, struct err *err)
{
    struct shelf *shelf = customerd->daemon.shelf;
    struct crons *crons = mem_alloc(sizeof *crons);

    *crons = (struct crons){.customerd = customerd};
    tzset(); /* localtime_r need not */
    if (shelf->kind->each(shelf, CRONS_SPACE, row_load, crons, err) < 0) {
        crons_free(crons);
        return NULL;
    }
    crons_prune(crons);
    return crons;
}

void crons_free(struct crons *crons)
{
    if (!crons)
        return;
    for (uint32_t i = 0; i < crons->count; i++)
        cron_free(crons->items[i]);
    free(crons->items);
    free(crons);
}

/* ------------------------------------------------------------------------------------------------------------- changing */

/* Has the account of that owner room for one more? */
static int room_check(const struct crons *crons, const struct cron *cron, struct err *err)
{
    size_t account = account_len(cron->owner, strlen(cron->owner));
    uint64_t bytes = tree_size(cron->ad);
    uint32_t count = 1;

    for (uint32_t i = 0; i < crons->count; i++) {
        const char *other = crons->items[i]->owner;

        if (account_len(other, strlen(other)) == account && !memcmp(other, cron->owner, account)) {
            bytes += tree_size(crons->items[i]->ad);
            count++;
        }
    }
    if (count > CRONS_PER_ACCOUNT || bytes > CRONS_BYTES)
        return err_set(err, "one user has at most %d jobs that come again, and their ads take %d MiB at most",
                       CRONS_PER_ACCOUNT, (int)(CRONS_BYTES >> 20));
    if (crons->count >= CRONS_MAX)
        return err_set(err, "this customer has at most %d jobs that come again, of all its users", CRONS_MAX);
    return 0;
}

int crons_add(struct crons *crons, struct cron *cron, struct err *err)
{
    struct shelf *shelf = crons->customerd->daemon.shelf;
    struct cron *kept;
    char last[ID_DIGITS + 8];

    if (room_check(crons, cron, err) < 0)
        return 1;
    cron->id = crons->last + 1;
    cron->created = cron->settled = now_seconds();
    cron_plan(cron);
    snprintf(last, sizeof last, "%" PRIu64, cron->id);
    if (shelf->kind->put(shelf, CRONS_SPACE, LAST_KEY, strlen(LAST_KEY), last, strlen(last), err) < 0 ||
        cron_put_ad(crons, cron, err) < 0 || cron_put(crons, cron, err) < 0)
        return -1;
    crons->last = cron->id;
    kept = mem_alloc(sizeof *kept);
    *kept = *cron;
    cron->ad = NULL;
    ARRAY_ROOM(crons->items, crons->count, crons->room, 16);
    crons->items[crons->count++] = kept;
    return 0;
}

int crons_remove(struct crons *crons, uint64_t id, struct err *err)
{
    struct shelf *shelf = crons->customerd->daemon.shelf;
    char key[ID_DIGITS + 1], ad[AD_KEY_LEN + 1];

    id_key(id, key);
    ad_key(id, ad);
    if (shelf->kind->remove(shelf, CRONS_SPACE, key, ID_DIGITS, err) < 0 ||
        shelf->kind->remove(shelf, CRONS_SPACE, ad, AD_KEY_LEN, err) < 0)
        return -1;
    for (uint32_t i = 0; i < crons->count; i++)
        if (crons->items[i]->id == id) {
            cron_free(crons->items[i]);
            memmove(crons->items + i, crons->items + i + 1, (--crons->count - i) * sizeof *crons->items);
            break;
        }
    return 0;
}

int crons_hold(struct crons *crons, uint64_t id, bool held, struct err *err)
{
    struct cron *cron = crons_find(crons, id);

    cron->held = held;
    cron->waits = cron->waits && !held;
    cron->settled = now_seconds(); /* what would have come meanwhile was not missed */
    cron_plan(cron);
    return cron_put(crons, cron, err);
}

/* ------------------------------------------------------------------------------------------------------------ submitting */

/* Jobs of a moment that are being given to the role. The rule may be gone when it answers. */
struct cron_giving {
    struct crons *crons;
    uint64_t id;
};

static void cron_skip(struct crons *crons, struct cron *cron, const char *why)
{
    cron->skipped++;
    snprintf(cron->why, sizeof cron->why, "%s", why);
    metrics_add(crons->customerd->daemon.metrics, METRIC_CRONS_SKIPPED, 0, 0, 1);
    LOG(&crons->customerd->daemon.log, LEVEL_INFO, "cron.skipped", log_number("cron", (int64_t)cron->id),
        log_text("owner", cron->owner), log_text("why", why));
    cron_keep(crons, cron);
    customerd_changed(crons->customerd);
}

/* The jobs are there: those who look for jobs that say something learn of them. */
static void given_begin(struct customerd *customerd, const struct cron *cron)
{
    uint64_t last = cron->first + cron->count - 1;
    struct job_view view;

    metrics_add(customerd->daemon.metrics, METRIC_SUBMITTED, 0, 0, cron->count);
    metrics_add(customerd->daemon.metrics, METRIC_CRONS_RUN, 0, 0, 1);
    LOG(&customerd->daemon.log, LEVEL_INFO, "cron.run", log_number("cron", (int64_t)cron->id),
        log_text("owner", cron->owner), log_number("job", (int64_t)cron->first));
    if (customer_job(customerd->customer, cron->first, &view))
        submission_log(customerd, cron->owner, cron->first, last, &view.trace);
    if (newcomers_are_said(cron->ad))
        newcomers_add(&customerd->newcomers, cron->first, last);
    for (uint64_t job = cron->first; customerd_local_is(cron->ad) && job <= last; job++)
        if (customer_job(customerd->customer, job, &view) && view.local)
            local_jobs_changed(customerd->local, &view);
    customerd_changed(customerd);
}

static void cron_given(void *user, const struct message *answer)
{
    struct cron_giving giving = *(struct cron_giving *)user;
    struct cron *cron = answer ? crons_find(giving.crons, giving.id) : NULL;

    free(user);
    if (!cron) /* it was removed meanwhile, or the customer is ending */
        return;
    cron->giving = false;
    if (answer->kind == MESSAGE_SUBMITTED && answer->u.submitted.reason == REASON_OK) {
        bool same = cron->first == answer->u.submitted.first;

        cron->first = cron->open = answer->u.submitted.first;
        if (!same)
            cron_keep(giving.crons, cron);
        given_begin(giving.crons->customerd, cron);
    } else {
        cron->first = cron->open = 0;
        cron->last = 0;
        cron->runs--;
        cron_skip(giving.crons, cron,
                  answer->kind == MESSAGE_SUBMITTED ? reason_words(answer->u.submitted.reason) : "it was refused");
    }
}

/* Its ad takes room again once nothing of its last jobs is kept. */
static bool ad_fits(const struct customerd *customerd, const struct cron *cron)
{
    return customer_bytes(customerd->customer, cron->owner) + tree_size(cron->ad) <=
           config_size(&customerd->daemon.config, CONFIG_JOB_BYTES_PER_IDENTITY);
}

/* Submits the jobs of a moment, for the owner. */
static void cron_submit(struct crons *crons, struct cron *cron, int64_t moment)
{
    struct customerd *customerd = crons->customerd;
    struct peer peer = {.agent = customerd->role.self, .identity = cron->owner};
    struct message message = {.kind = MESSAGE_SUBMIT};
    const char *disabled = agent_disables(customerd->live, NULL, cron->owner);
    struct cron_giving *giving;
    struct job_trace trace;
    char key[80];

    cron->waits = false;
    if (memory_refuses(&customerd->daemon.memory, runner_now())) {
        cron_skip(crons, cron, MEMORY_WORDS);
        return;
    }
    if (disabled || !ad_fits(customerd, cron)) {
        cron_skip(crons, cron, disabled ? disabled : "JobBytesPerIdentity: the ads of its owner's jobs take all room");
        return;
    }
    memset(&message.u, 0, sizeof message.u);
    /* With a blank: no key of a user has one. */
    snprintf(key, sizeof key, "cron %" PRIu64 ".%" PRId64 ".%" PRId64 "/0", cron->id, cron->created, moment);
    text_set(&message.u.submit.key, key, strlen(key));
    text_set(&message.u.submit.owner, cron->owner, strlen(cron->owner));
    message.u.submit.count = cron->count;
    message.u.submit.ad = job_finished(customerd, cron->ad, cron->iwd_user, 0);
    trace_draw(&trace);
    job_trace_write(&trace, &message.u.submit.trace);
    cron->last = moment;
    cron->first = cron->open = customer_last(customerd->customer) + 1; /* it is the next: the answer says so */
    cron->giving = true;
    cron->why[0] = '\0';
    cron->runs++;
    cron_keep(crons, cron);
    giving = mem_alloc(sizeof *giving);
    *giving = (struct cron_giving){crons, cron->id};
    agent_local(customerd->live, &peer, &message, cron_given, giving);
    tree_unref(message.u.submit.ad);
}

/* -------------------------------------------------------------------------------------------------------------- looking */

/* Are its last jobs over? Looks at some of those that may not be. */
static bool jobs_are_over(const struct customerd *customerd, struct cron *cron)
{
    uint64_t end = cron->last ? cron->first + cron->count : cron->open;
    struct job_view view;

    for (int i = 0; i < OPEN_LOOKED && cron->open < end; i++, cron->open++)
        if (customer_job(customerd->customer, cron->open, &view) && !view_ended(&view))
            return false;
    return cron->open >= end;
}

/* A moment has come. */
static void cron_due(struct crons *crons, struct cron *cron, int64_t now)
{
    int64_t moment = cron->due;

    cron->settled = now;
    cron_plan(cron);
    if (cron->missed == MISSED_SKIP && now - moment > CRONS_LATE) {
        cron_skip(crons, cron, "missed: the customer was not there");
    } else if (cron->overlap == OVERLAP_RUN || jobs_are_over(crons->customerd, cron)) {
        cron_submit(crons, cron, moment);
    } else if (cron->overlap == OVERLAP_SKIP) {
        cron_skip(crons, cron, "overlap: its last jobs are not over");
    } else if (cron->waits) {
        cron_skip(crons, cron, "overlap: one already waits for the last jobs");
    } else {
        cron->waits = true;
        cron_keep(crons, cron);
    }
}

static void cron_look(struct crons *crons, struct cron *cron, int64_t now)
{
    if (cron->held || cron->giving)
        return;
    if (cron->settled > now + BACK) {
        cron->settled = cron->created = now; /* it is in the keys: the jobs of those days may be remembered */
        cron_plan(cron);
        cron_keep(crons, cron);
    }
    if (cron->due <= now)
        cron_due(crons, cron, now);
    else if (jobs_are_over(crons->customerd, cron) && cron->waits)
        cron_submit(crons, cron, cron->settled);
}

void crons_tick(struct crons *crons)
{
    int64_t now = now_seconds();

    if (runner_is_away(crons->customerd->runner))
        return;
    for (uint32_t i = 0; i < crons->count && !runner_is_broken(crons->customerd->runner); i++)
        cron_look(crons, crons->items[i], now);
}
