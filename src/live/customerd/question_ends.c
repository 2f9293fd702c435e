/* question_ends.c: what a try reports while it runs, and its end. */
#include "live/customerd/questions_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/data/samples_ad.h"
#include "live/data/stored.h"
#include "pool/protocol/job_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_WAIT \
    INT64_C(60)       /* seconds that the end of a try waits for what its members beside the leader have written */
#define UNMADE_TOLD 3 /* names of files that are told */

/* ------------------------------------------------------------------------------------------------- report and finish */

/* Takes what the job used over its life, as far as it makes sense: a provider may say anything. */
static void samples_take(const struct asking *asking)
{
    static const char *const names[] = {"Read", "Written"};
    struct tree *samples = samples_part(asking->question, "Samples");
    int64_t bytes;

    if (samples) {
        tree_unref(asking->one->samples);
        asking->one->samples = samples;
    }
    for (int i = 0; i < 2; i++)
        if (ad_integer(asking->question, names[i], &bytes) && bytes >= 0 && bytes <= SAMPLES_AMOUNT_MAX)
            asking->one->moved[i] = bytes;
}

static void usage_read(const struct asking *asking)
{
    struct job_attempt *one = asking->one;
    double cpu = one->cpu, wall = one->wall, cpus;
    int64_t memory = one->memory, disk = one->disk;

    ad_number(asking->question, "Cpu", &cpu);
    ad_number(asking->question, "Wall", &wall);
    ad_integer(asking->question, "Memory", &memory);
    ad_integer(asking->question, "Disk", &disk);
    one->cpu = cpu >= 0 && cpu < 1e15 ? cpu : one->cpu;
    one->wall = wall >= 0 && wall < 1e15 ? wall : one->wall;
    one->memory = memory > one->memory && memory <= SAMPLES_AMOUNT_MAX ? memory : one->memory;
    one->disk = disk > one->disk && disk <= SAMPLES_AMOUNT_MAX ? disk : one->disk;
    if (ad_number(asking->question, "MayCpus", &cpus) && cpus > 0 && cpus < 1e9 &&
        ad_integer(asking->question, "MayMemory", &memory) && memory >= 0 && memory <= SAMPLES_AMOUNT_MAX &&
        ad_integer(asking->question, "MayDisk", &disk) && disk >= 0 && disk <= SAMPLES_AMOUNT_MAX) {
        one->may_cpus = cpus;
        one->may_memory = memory;
        one->may_disk = disk;
    }
    if (ad_number(asking->question, "Benchmark", &cpus) && cpus > 0 && cpus < 1e12)
        one->benchmark = cpus;
    samples_take(asking);
    one->heard = asking->now;
}

/* How many tenths the job has done, as its line of status says; -1: it does not say. */
static int tenths_done(const char *message)
{
    const char *words;
    double part;

    return progress_read(message, &part, &words) ? (int)(10 * part + 1e-9) : -1;
}

struct tree *question_report(struct asking *asking)
{
    struct job_attempt *one = asking->one;
    enum question_news news = NEWS_MESSAGE;
    int before;
    bool further;
    const char *text;
    struct err err;
    size_t len;

    if (!asking->last)
        return question_reason(asking, "stale");
    usage_read(asking);
    before = tenths_done(one->message);
    if (ad_string(asking->question, "Message", &text, &len))
        attempts_text(&one->message, text, len);
    further = tenths_done(one->message) > (before > one->tenths ? before : one->tenths);
    one->tenths = further ? tenths_done(one->message) : one->tenths;
    if (ad_string(asking->question, "State", &text, &len)) {
        if (len == 7 && !memcmp(text, "running", 7) && !one->started) {
            one->started = asking->now;
            news = NEWS_RUNNING;
        } else if (len == 7 && !memcmp(text, "staging", 7) && !one->staging) {
            one->staging = true;
            news = NEWS_STAGING;
        }
    }
    if (attempts_store(asking->questions->tries, asking->view.id, &err) < 0)
        return NULL;
    question_tell(asking, news, one->message);
    if (further)
        question_tell(asking, NEWS_PROGRESS, one->message);
    if (ad_string(asking->question, "Trouble", &text, &len) && len <= TRY_MESSAGE_MAX) {
        char words[TRY_MESSAGE_MAX + 1];

        snprintf(words, sizeof words, "%.*s", (int)len, text);
        question_tell_files(asking, NEWS_TROUBLE, words);
    }
    return question_reason(asking, "ok");
}

/* Notes the files that the provider itself could not send. */
static void missing_told(const struct asking *asking)
{
    const struct expr *told = ad_find(asking->question, "Missing");
    struct tree *missing = told && told->kind == EXPR_AD ? ad_part(asking->question, told) : NULL;

    if (missing)
        missing_read(&asking->one->missing, missing);
    tree_unref(missing);
}

/* Outputs that the job names and has not made: noted, as HTCondor says it of a job that is held for it; or told. The role knows by the result
 * whether the job is held. */
static void unmade_told(const struct asking *asking, bool tell)
{
    const struct expr *told = ad_find(asking->question, "NotMade");
    struct tree *ad = told && told->kind == EXPR_AD ? ad_part(asking->question, told) : NULL;
    struct missing unmade = {.count = 0};
    struct buf words, whole;

    if (!ad)
        return;
    missing_read(&unmade, ad);
    buf_init(&words);
    buf_init(&whole);
    for (uint32_t i = 0; i < unmade.known && i < UNMADE_TOLD; i++)
        buf_addf(&words, "%s%s", i ? ", " : "the job has not made ", unmade.files[i].name);
    if (unmade.count > UNMADE_TOLD)
        buf_addf(&words, " and %lld more", (long long)unmade.count - UNMADE_TOLD);
    if (words.len && tell)
        question_tell_files(asking, NEWS_TROUBLE, buf_string(&words));
    if (words.len && !tell) {
        buf_reset(&whole);
        buf_addf(&whole,
                 "Transfer output files failure at the execution point %s: %s: (errno 2) No such file or directory",
                 asking->one->provider ? asking->one->provider : "", buf_string(&words));
        attempts_text(&asking->one->unmade, whole.text, whole.len);
    }
    buf_done(&whole);
    buf_done(&words);
    missing_done(&unmade);
    tree_unref(ad);
}

/* The provider forgets what it has told when it hears "ok": so that waits until it is durable. */
static struct tree *question_durable(const struct asking *asking)
{
    asking->turn->waits = !asking->turn->durable;
    return asking->turn->durable ? question_reason(asking, "ok") : NULL;
}

/* The end of a member beside the leader: what it has written is here. */
static struct tree *member_finish(struct asking *asking)
{
    struct attempt_member *member = asking->member;
    int64_t memory = 0, status;
    char words[160];
    double cpu = 0;
    struct err err;

    if (!asking->last)
        return question_reason(asking, "stale");
    if (member->finished)
        return question_durable(asking);
    member->finished = true;
    member->ended = ad_integer(asking->question, "Status", &status);
    member->status = member->ended ? status : 0;
    if (ad_number(asking->question, "Cpu", &cpu) && cpu >= 0 && cpu < 1e15)
        member->cpu = cpu;
    if (ad_integer(asking->question, "Memory", &memory) && memory >= 0 && memory <= SAMPLES_AMOUNT_MAX)
        member->memory = memory;
    if (attempts_store(asking->questions->tries, asking->view.id, &err) < 0)
        return NULL;
    if (member->ended && member->status) {
        snprintf(words, sizeof words, "member %u on %s ended with status %lld", (unsigned)asking->number,
                 member->name ? member->name : "a machine", (long long)member->status);
        question_tell_files(asking, NEWS_STORED, words);
    }
    return question_durable(asking);
}

/* Is something still to come that other members have written? They are stopped when the leader has ended; one whose machine has died since sends
 * nothing, and is waited for only so long. */
static bool members_are_due(struct asking *asking)
{
    struct job_attempt *one = asking->one;
    static const char why[] = "its machine did not send it in time";
    char name[32];

    if (!attempt_members_due(&one->members) || !asking->last ||
        (asking->view.state != JOB_RUNNING && asking->view.state != JOB_DONE))
        return false;
    one->closing = one->closing ? one->closing : asking->now;
    if (asking->now < one->closing + MEMBERS_WAIT)
        return true;
    for (uint32_t i = 1; i < one->members.count; i++) {
        snprintf(name, sizeof name, "stdout.%u", (unsigned)i);
        if (!one->members.items[i].finished)
            missing_add(&one->missing, name, strlen(name), why, sizeof why - 1);
    }
    return false;
}

/* Its end is durable: now it is told. */
static struct tree *finish_tell(struct asking *asking)
{
    if (asking->turn->mark) {
        unmade_told(asking, true);
        question_tell(asking, NEWS_FINISHED, asking->one->words);
    }
    return question_durable(asking);
}

struct tree *question_finish(struct asking *asking)
{
    int64_t transfers;
    const char *text;
    struct err err;
    uint32_t uid;
    char *folder;
    size_t len;

    if (asking->member)
        return member_finish(asking);
    if (asking->one->finished)
        return asking->turn->durable ? finish_tell(asking) : question_durable(asking);
    if (members_are_due(asking))
        return question_wait(asking);
    usage_read(asking);
    if (ad_integer(asking->question, "Transfers", &transfers) && transfers > 0) {
        int64_t most = (int64_t)permits_stored(question_permits_of(asking));

        asking->one->transfers = transfers < most ? transfers : most;
    }
    missing_told(asking);
    unmade_told(asking, false);
    if (ad_string(asking->question, "Words", &text, &len))
        attempts_text(&asking->one->words, text, len);
    asking->one->finished = asking->now;
    folder = job_iwd_of(asking->view.ad, &uid);
    asking->one->delivering = folder != NULL;
    free(folder);
    if (attempts_store(asking->questions->tries, asking->view.id, &err) < 0)
        return NULL;
    asking->turn->mark = true;
    return question_durable(asking);
}

static void stored_news(void *user, const char *words)
{
    question_tell(user, NEWS_STORED, words);
}

/* Does the provider tell only of files that the job leaves for stores? */
static bool stored_are_ours(const struct asking *asking)
{
    const struct expr *list = ad_find(asking->question, "Files");
    const struct permits *permits = question_permits_of(asking);
    int64_t total = 0;
    bool good = !ad_integer(asking->question, "Total", &total) || total <= (int64_t)permits_stored(permits);

    for (uint32_t i = 0; good && list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *one = ad_part(asking->question, &tree_parts(asking->question, list)[i]);
        const char *name;
        size_t len;

        good = tree_is_ad(one) && ad_string(one, "Name", &name, &len) && permits_stores(permits, name, len);
        tree_unref(one);
    }
    return good;
}

/* The provider deletes files when it hears "ok": so the news has to be durable first. A job that waits again may still take this try's result. */
struct tree *question_stored(struct asking *asking)
{
    struct tree *stored;
    struct err err;

    if (asking->turn->durable) {
        question_tell(asking, NEWS_MESSAGE, NULL);
        return question_durable(asking);
    }
    if (!asking->last)
        return question_reason(asking, "stale");
    if (asking->view.state == JOB_IDLE)
        return question_reason(asking, "wait");
    if (!stored_are_ours(asking))
        return question_reason(asking, "invalid");
    stored = stored_merge(asking->questions->symbols, asking->one->stored, asking->question, stored_news, asking);
    if (!stored)
        return question_reason(asking, "invalid");
    tree_unref(asking->one->stored);
    asking->one->stored = stored;
    asking->one->transfers = stored_count(stored).total;
    if (attempts_store(asking->questions->tries, asking->view.id, &err) < 0)
        return NULL;
    return question_durable(asking);
}
