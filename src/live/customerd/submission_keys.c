/* submission_keys.c: keys of submissions: the same under the same key is the same submission.
 *
 *     row: caller and key -> hash of the body, when it came, its first job and its last (0 until all jobs are durable), a word,
 *          and where its jobs have secrets, the number of their set */
#include "live/customerd/submitting.h"

#include "lang/base/mem.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_KEPT \
    (INT64_C(2) * 86400) /* how many seconds a key is remembered, or longer while one of its jobs is not forgotten */
#define SWEEP_KEYS 50    /* that one look takes: it goes on there the next time */

bool key_read(struct request *request, char ret[SUBMISSION_KEY_MAX + 1])
{
    const char *key = request_query(request, "key");
    size_t len = key ? strlen(key) : 0;

    if (!key) { /* nobody can repeat it */
        snprintf(ret, SUBMISSION_KEY_MAX + 1, "%016" PRIx64, secrets_word(&secrets_live));
        return true;
    }
    for (size_t i = 0; i < len; i++)
        if (key[i] <= ' ' || key[i] == '/' || key[i] == 0x7f)
            len = 0;
    if (!len || len > SUBMISSION_KEY_MAX) {
        request_problem(request, 400, "key: expected up to %d visible characters, no '/'", SUBMISSION_KEY_MAX);
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

/* The row of a key: which body came under it, when, which jobs it became (0: not known yet), and the word under which they are given. */
int body_put(const struct submitting *all, uint64_t first, uint64_t last, struct err *err)
{
    struct shelf *shelf = all->customerd->daemon.shelf;
    char row[256];

    snprintf(row, sizeof row, "%s %" PRId64 " %" PRIu64 " %" PRIu64 " %016" PRIx64, all->hash,
             runner_settled(all->customerd->runner) / SECOND, first, last, all->word);
    if (all->secrets)
        snprintf(row + strlen(row), sizeof row - strlen(row), " %016" PRIx64, all->secrets);
    return shelf->kind->put(shelf, CUSTOMERD_BODY_SPACE, all->row_key, strlen(all->row_key), row, strlen(row), err);
}

/* What the row says. Where its jobs are not in it, the customer ended before they were, or they are being given: then the role knows. */
static void row_take(struct submitting *all, const char *row)
{
    unsigned long long first = 0, word = 0, secrets = 0;
    int got = sscanf(row, "%*64s %*d %llu %*u %16llx %16llx", &first, &word, &secrets);
    char key[SUBMISSION_KEY_MAX + 16];
    struct text owner;

    submitting_owner(all, 0, &owner);
    snprintf(key, sizeof key, "%s/0", all->key);
    all->again = got >= 1 && (first || customer_knows_key(all->customerd->customer, owner.bytes, key));
    if (all->again)
        all->secrets = secrets; /* those that its jobs have, whichever were sent now */
    if (got >= 1)
        all->word = got >= 2 ? word : 0; /* what is given under another word would never be whole */
    else if (!all->word)
        all->word = secrets_word(&secrets_live);
}

bool body_check(struct submitting *all)
{
    struct request *request = all->request;
    struct shelf *shelf = all->customerd->daemon.shelf;
    struct err err = {0};
    struct buf row;
    bool other;
    int failed;

    snprintf(all->row_key, sizeof all->row_key, "%s/%s", request_identity(request), all->key);
    buf_init(&row);
    failed = shelf->kind->get(shelf, CUSTOMERD_BODY_SPACE, all->row_key, strlen(all->row_key), row_copy, &row, &err);
    other = row.len >= HASH_DIGITS && memcmp(row.text, all->hash, HASH_DIGITS) != 0;
    row_take(all, buf_string(&row));
    buf_done(&row);
    if (failed)
        request_problem(request, 503, "%s", err.text);
    else if (other)
        request_problem(request, 409, "key: another submission was made under this key");
    return !failed && !other;
}

bool body_keep(struct submitting *all)
{
    struct err err = {0};

    if (all->again || body_put(all, 0, 0, &err) == 0)
        return true;
    request_problem(all->request, 503, "%s", err.text);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ sweeping */

struct old_keys {
    const struct customer *customer;
    int64_t before;
    char *at; /* the row that was looked at last: of SHELF_KEY_MAX bytes at most */
    char keys[SWEEP_KEYS][SHELF_KEY_MAX + 1];
    uint32_t looked, count;
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
    memcpy(old->at, key, key_len);
    old->at[key_len] = '\0';
    if (sscanf(row, "%*64s %lld %llu %llu", &at, &first, &last) == 3 && first && at < old->before &&
        (!customer_next(old->customer, first - 1, &view) || view.id > last))
        memcpy(old->keys[old->count++], old->at, key_len + 1);
    return ++old->looked < SWEEP_KEYS;
}

bool submissions_tidy(struct customerd *customerd)
{
    struct old_keys *old = mem_alloc(sizeof *old);
    struct shelf *shelf = customerd->daemon.shelf;
    char *at = customerd->swept;
    struct err err;
    int failed;
    bool all;

    *old = (struct old_keys){
        .customer = customerd->customer, .before = runner_settled(customerd->runner) / SECOND - KEYS_KEPT, .at = at};
    if (*at)
        failed = shelf->kind->each_after(shelf, CUSTOMERD_BODY_SPACE, at, strlen(at), key_is_old, old, &err);
    else
        failed = shelf->kind->each(shelf, CUSTOMERD_BODY_SPACE, key_is_old, old, &err);
    if (failed) {
        runner_misread(customerd->runner); /* nothing follows from it: the next sweep looks again */
        free(old);
        return true;
    }
    for (uint32_t i = 0; i < old->count; i++)
        shelf->kind->remove(shelf, CUSTOMERD_BODY_SPACE, old->keys[i], strlen(old->keys[i]), &err);
    all = old->looked < SWEEP_KEYS;
    if (all)
        *at = '\0';
    if (old->count)
        customerd_commit(customerd);
    free(old);
    return all;
}
