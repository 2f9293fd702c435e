/* attempts.c: which try of which job is at which agent, and what was reported about it. */
#include "live/customerd/attempts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "live/data/samples_ad.h"
#include "live/http/represent.h"
#include "pool/claim/duty.h"
#include "sys/encoding.h"

#include <stdlib.h>
#include <string.h>

struct attempts {
    struct symbols *symbols;
    struct shelf *shelf;
    struct map jobs; /* id -> struct job_attempts */
    struct buf text;
};

static void try_done(struct job_attempt *one)
{
    free(one->provider);
    free(one->pool);
    free(one->message);
    free(one->words);
    free(one->unmade);
    tree_unref(one->stored);
    tree_unref(one->samples);
    missing_done(&one->missing);
    attempt_members_done(&one->members);
}

static void job_free(struct job_attempts *job)
{
    for (uint32_t i = 0; i < job->count; i++)
        try_done(&job->tries[i]);
    free(job->why);
    free(job);
}

struct job_attempts *attempts_of(const struct attempts *tries, uint64_t job)
{
    uint64_t value = map_find(&tries->jobs, job);

    return value == MAP_NONE ? NULL : (struct job_attempts *)(uintptr_t)value;
}

struct job_attempts *attempts_make(struct attempts *tries, uint64_t id)
{
    struct job_attempts *job = attempts_of(tries, id);

    if (job)
        return job;
    job = mem_alloc(sizeof *job);
    *job = (struct job_attempts){.job = id};
    map_set(&tries->jobs, id, (uint64_t)(uintptr_t)job);
    return job;
}

struct job_attempt *attempts_last(const struct attempts *tries, uint64_t id)
{
    struct job_attempts *job = attempts_of(tries, id);

    return job && job->count ? &job->tries[job->count - 1] : NULL;
}

struct job_attempt *attempts_find(const struct attempts *tries, uint64_t id, uint64_t claim, uint64_t number)
{
    struct job_attempts *job = attempts_of(tries, id);

    for (uint32_t i = job ? job->count : 0; i-- > 0;)
        if (job->tries[i].claim == claim && job->tries[i].number == number)
            return &job->tries[i];
    return NULL;
}

static struct job_attempt *try_add(struct job_attempts *job)
{
    if (job->count == TRIES_KEPT) {
        try_done(&job->tries[0]);
        memmove(job->tries, job->tries + 1, (TRIES_KEPT - 1) * sizeof *job->tries);
        job->count--;
    }
    job->tries[job->count] = (struct job_attempt){.claim = 0};
    return &job->tries[job->count++];
}

struct job_attempt *attempts_begin(struct attempts *tries, uint64_t id, uint64_t claim, uint64_t number, agent member,
                                   int64_t now, bool *ret_new)
{
    struct job_attempt *one = attempts_find(tries, id, claim, number);
    struct job_attempts *job;

    *ret_new = !one;
    if (one)
        return one;
    job = attempts_make(tries, id);
    one = try_add(job);
    for (uint32_t i = 0; i + 1 < job->count; i++) {
        tree_unref(job->tries[i].samples); /* nobody looks at those of earlier tries */
        job->tries[i].samples = NULL;
    }
    *one = (struct job_attempt){
        .claim = claim, .number = number, .member = member, .serial = ++job->made, .began = now, .heard = now};
    return one;
}

void attempts_text(char **text, const char *bytes, size_t len)
{
    size_t line = 0;

    while (line < len && line < TRY_MESSAGE_MAX && (unsigned char)bytes[line] >= ' ' && bytes[line] != 0x7f)
        line++;
    while (line && line < len && ((unsigned char)bytes[line] & 0xc0) == 0x80)
        line--; /* do not cut within a character */
    free(*text);
    *text = line ? mem_dup(bytes, line) : NULL;
}

/* --------------------------------------------------------------------------------------------------------------- rows */

static struct tree *try_ad(struct attempts *tries, const struct job_attempt *one)
{
    struct tree *missing = missing_ad(tries->symbols, &one->missing);
    char digits[2 * KEY_BYTES + 1];
    struct maker maker;

    maker_init(&maker, tries->symbols);
    maker_word(&maker, "Claim", one->claim);
    maker_word(&maker, "Number", one->number);
    maker_word(&maker, "Member", one->member);
    maker_integer(&maker, "Serial", (int64_t)one->serial);
    maker_integer(&maker, "Began", one->began);
    maker_integer(&maker, "Started", one->started);
    maker_integer(&maker, "Heard", one->heard);
    maker_integer(&maker, "Finished", one->finished);
    if (one->suspended)
        maker_integer(&maker, "Suspended", one->suspended);
    if (one->delivering)
        maker_flag(&maker, "Delivering", true);
    maker_flag(&maker, "Staging", one->staging);
    maker_flag(&maker, "Read", one->read);
    maker_real(&maker, "Cpu", one->cpu);
    maker_real(&maker, "Wall", one->wall);
    maker_integer(&maker, "Memory", one->memory);
    maker_integer(&maker, "Disk", one->disk);
    if (one->taken)
        maker_integer(&maker, "Taken", one->taken);
    if (one->brought)
        maker_integer(&maker, "Brought", one->brought);
    if (one->benchmark > 0)
        maker_real(&maker, "Benchmark", one->benchmark);
    if (one->may_cpus > 0) {
        maker_real(&maker, "MayCpus", one->may_cpus);
        maker_integer(&maker, "MayMemory", one->may_memory);
        maker_integer(&maker, "MayDisk", one->may_disk);
    }
    maker_text(&maker, "Provider", one->provider);
    maker_text(&maker, "Pool", one->pool);
    maker_text(&maker, "Message", one->message);
    maker_text(&maker, "Words", one->words);
    maker_text(&maker, "Unmade", one->unmade);
    if (one->transfers)
        maker_integer(&maker, "Transfers", one->transfers);
    maker_ad(&maker, "Stored", one->stored);
    maker_ad(&maker, "Samples", one->samples);
    if (one->moved[0] || one->moved[1])
        maker_integers(&maker, "Moved", one->moved, 2);
    maker_ad(&maker, "Missing", missing);
    tree_unref(missing);
    attempt_members_put(&one->members, &maker, "Members", true);
    hex_print(one->pass.bytes, KEY_BYTES, digits);
    maker_text(&maker, one->unbound ? "Pass" : "PassKey", pass_is_none(&one->pass) ? NULL : digits);
    return maker_seal(&maker);
}

static void key_of(uint64_t job, unsigned char ret[8])
{
    for (int i = 0; i < 8; i++)
        ret[i] = (unsigned char)(job >> (56 - 8 * i));
}

int attempts_store(struct attempts *tries, uint64_t id, struct err *err)
{
    const struct job_attempts *job = attempts_of(tries, id);
    struct tree *ads[TRIES_KEPT], *row;
    unsigned char key[8];
    struct maker maker;

    if (!job)
        return 0;
    for (uint32_t i = 0; i < job->count; i++)
        ads[i] = try_ad(tries, &job->tries[i]);
    maker_init(&maker, tries->symbols);
    maker_integer(&maker, "Job", (int64_t)job->job);
    maker_integer(&maker, "Made", (int64_t)job->made);
    maker_text(&maker, "Why", job->why);
    if (job->hold_code)
        maker_integer(&maker, "HoldCode", job->hold_code);
    if (job->hold_sub)
        maker_integer(&maker, "HoldSubCode", job->hold_sub);
    maker_list(&maker, "Tries", ads, job->count);
    row = maker_seal(&maker);
    for (uint32_t i = 0; i < job->count; i++)
        tree_unref(ads[i]);
    buf_reset(&tries->text);
    represent_ad(&tries->text, FORM_CLASSAD, row);
    tree_unref(row);
    key_of(id, key);
    return tries->shelf->kind->put(tries->shelf, TRY_SPACE, key, sizeof key, tries->text.text, tries->text.len, err);
}

int attempts_forget(struct attempts *tries, uint64_t id, struct err *err)
{
    struct job_attempts *job = attempts_of(tries, id);
    unsigned char key[8];

    if (!job)
        return 0;
    map_remove(&tries->jobs, id);
    job_free(job);
    key_of(id, key);
    return tries->shelf->kind->remove(tries->shelf, TRY_SPACE, key, sizeof key, err);
}

static void text_load(const struct tree *ad, const char *name, char **ret)
{
    const char *text;
    size_t len;

    if (ad_string(ad, name, &text, &len))
        attempts_text(ret, text, len);
}

static void integer_load(const struct tree *ad, const char *name, int64_t *ret)
{
    int64_t value;

    if (ad_integer(ad, name, &value))
        *ret = value;
}

static void moved_load(const struct tree *ad, int64_t moved[2])
{
    const struct expr *list = ad_find(ad, "Moved");

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && list->u.run.count == 2 && i < 2; i++)
        if (tree_parts(ad, list)[i].kind == EXPR_INTEGER)
            moved[i] = tree_parts(ad, list)[i].u.integer;
}

static void try_load(struct job_attempts *job, const struct tree *ad)
{
    struct job_attempt *one = try_add(job);
    int64_t serial = 0;
    const struct expr *stored = ad_find(ad, "Stored"), *missing = ad_find(ad, "Missing");
    const char *pass;
    size_t len;

    integer_load(ad, "Transfers", &one->transfers);
    if (stored && stored->kind == EXPR_AD)
        one->stored = ad_part(ad, stored);
    if (missing && missing->kind == EXPR_AD) {
        struct tree *files = ad_part(ad, missing);

        missing_read(&one->missing, files);
        tree_unref(files);
    }
    one->samples = samples_part(ad, "Samples");
    moved_load(ad, one->moved);
    ad_word(ad, "Claim", &one->claim);
    ad_word(ad, "Number", &one->number);
    ad_word(ad, "Member", &one->member);
    integer_load(ad, "Serial", &serial);
    one->serial = (uint64_t)serial;
    integer_load(ad, "Began", &one->began);
    integer_load(ad, "Started", &one->started);
    integer_load(ad, "Heard", &one->heard);
    integer_load(ad, "Finished", &one->finished);
    integer_load(ad, "Memory", &one->memory);
    integer_load(ad, "Disk", &one->disk);
    integer_load(ad, "Taken", &one->taken);
    integer_load(ad, "Brought", &one->brought);
    ad_number(ad, "Benchmark", &one->benchmark);
    ad_number(ad, "MayCpus", &one->may_cpus);
    integer_load(ad, "MayMemory", &one->may_memory);
    integer_load(ad, "MayDisk", &one->may_disk);
    ad_integer(ad, "Suspended", &one->suspended);
    ad_flag(ad, "Delivering", &one->delivering);
    ad_flag(ad, "Staging", &one->staging);
    ad_flag(ad, "Read", &one->read);
    ad_number(ad, "Cpu", &one->cpu);
    ad_number(ad, "Wall", &one->wall);
    text_load(ad, "Provider", &one->provider);
    text_load(ad, "Pool", &one->pool);
    text_load(ad, "Message", &one->message);
    text_load(ad, "Words", &one->words);
    text_load(ad, "Unmade", &one->unmade);
    attempt_members_load(&one->members, ad, "Members");
    one->unbound = ad_string(ad, "Pass", &pass, &len);
    if ((one->unbound || ad_string(ad, "PassKey", &pass, &len)) && len == 2 * (size_t)KEY_BYTES)
        hex_read(pass, len, one->pass.bytes, KEY_BYTES);
}

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct attempts *tries = user;
    const struct expr *list;
    struct job_attempts *job;
    struct err err;
    struct tree *ad;
    int64_t id, made = 0;

    (void)key;
    (void)key_len;
    buf_reset(&tries->text);
    buf_add(&tries->text, value, len);
    ad = form_parse(tries->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&tries->text), len, &err);
    if (ad && ad_integer(ad, "Job", &id) && id > 0) {
        job = attempts_make(tries, (uint64_t)id);
        integer_load(ad, "Made", &made);
        job->made = (uint64_t)made;
        text_load(ad, "Why", &job->why);
        integer_load(ad, "HoldCode", &job->hold_code);
        integer_load(ad, "HoldSubCode", &job->hold_sub);
        list = ad_find(ad, "Tries");
        for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
            struct tree *one = ad_part(ad, &tree_parts(ad, list)[i]);

            if (tree_is_ad(one))
                try_load(job, one);
            tree_unref(one);
        }
    }
    tree_unref(ad);
    return true;
}

struct attempts *attempts_new(struct symbols *symbols, struct shelf *shelf, struct err *err)
{
    struct attempts *tries = mem_alloc(sizeof *tries);

    *tries = (struct attempts){.symbols = symbols, .shelf = shelf};
    map_init(&tries->jobs, 0);
    buf_init(&tries->text);
    if (shelf->kind->each(shelf, TRY_SPACE, row_load, tries, err) < 0) {
        attempts_free(tries);
        return NULL;
    }
    return tries;
}

void attempts_each(const struct attempts *tries, attempts_fn *fn, void *user)
{
    uint64_t id, value;
    uint32_t at = 0;

    while (map_next(&tries->jobs, &at, &id, &value))
        fn(user, (const struct job_attempts *)(uintptr_t)value);
}

void attempts_free(struct attempts *tries)
{
    uint64_t id, value;
    uint32_t at = 0;

    if (!tries)
        return;
    while (map_next(&tries->jobs, &at, &id, &value))
        job_free((struct job_attempts *)(uintptr_t)value);
    map_done(&tries->jobs);
    buf_done(&tries->text);
    free(tries);
}
