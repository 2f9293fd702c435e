/* matchmakerd_load.c: loads the matchmaker's state at the start: revoked tokens, disabled users, open codes, the policy, waiting commands, the audit log. */
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/api_tokens.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct revoked_row {
    int64_t ends; /* rises with the time of revocation */
    char id[TOKEN_ID_DIGITS];
};

static bool revoked_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct revoked_row row;
    char ends[24] = "";

    memcpy(ends, value, len < sizeof ends - 1 ? len : sizeof ends - 1);
    row.ends = strtoll(ends, NULL, 10);
    /* No row is left out because of its time: if the clock is ahead now, the token would be good again once the clock
     * is right. */
    if (key_len != sizeof row.id)
        return true;
    memcpy(row.id, key, sizeof row.id);
    buf_add(user, (const char *)&row, sizeof row);
    return true;
}

static int revoked_order(const void *a, const void *b)
{
    const struct revoked_row *one = a, *two = b;

    return one->ends != two->ends ? (one->ends > two->ends) - (one->ends < two->ends)
                                  : memcmp(one->id, two->id, sizeof one->id);
}

/* Loads ids in the order in which they were revoked: api_keys tells the last ones. */
static int revoked_load(struct matchmakerd *matchmakerd, struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;
    struct buf rows;
    int failed;

    buf_init(&rows);
    failed = shelf->kind->each(shelf, REVOKED_SPACE, revoked_row, &rows, err);
    if (rows.len)
        qsort(rows.text, rows.len / sizeof(struct revoked_row), sizeof(struct revoked_row), revoked_order);
    for (size_t at = 0; at < rows.len; at += sizeof(struct revoked_row))
        textmap_add(&matchmakerd->revoked, ((struct revoked_row *)(void *)(rows.text + at))->id, TOKEN_ID_DIGITS);
    buf_done(&rows);
    return failed;
}

static bool code_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct matchmakerd *matchmakerd = user;
    struct err err;

    (void)key;
    (void)key_len;
    if (join_book_load(matchmakerd->codes, value, len, &err) < 0)
        LOG(&matchmakerd->log, LEVEL_WARNING, "code.lost", log_text("why", err.text));
    return true;
}

static bool policy_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct matchmakerd *matchmakerd = user;
    const char *text = value, *blank = memchr(text, ' ', len);
    bool condor = blank && blank - text == 6;
    struct err err;

    (void)key;
    (void)key_len;
    if (blank)
        matchmakerd->policy = form_parse(matchmakerd->symbols, condor ? &dialect_condor : &dialect_classic,
                                         FORM_CLASSAD, NULL, blank + 1, len - (size_t)(blank + 1 - text), &err);
    return false;
}

int policy_file(struct matchmakerd *matchmakerd, const char *path, struct tree **ret, struct err *err)
{
    FILE *file = fopen(path, "r");
    struct policy policy;
    struct buf text;
    symbol wrong;
    int c;

    if (!file)
        return err_set(err, "%s: the policy cannot be read", path);
    buf_init(&text);
    while ((c = getc(file)) != EOF && text.len < 1u << 20)
        buf_addc(&text, (char)c);
    fclose(file);
    *ret = form_parse(matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    buf_done(&text);
    if (*ret && policy_init(&policy, *ret, &wrong, err) == 0) {
        policy_done(&policy);
        return 0;
    }
    tree_unref(*ret);
    *ret = NULL;
    return err_context(err, "%s", path);
}

struct keys_row {
    struct keyring *keys;
    struct err err;
    int taken; /* of keyring_take; 0: there is no row */
};

static bool keys_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct keys_row *row = user;

    (void)key, (void)key_len;
    row->taken = keyring_take(row->keys, value, len, &row->err);
    return false;
}

bool keys_are_shared(const struct matchmakerd *matchmakerd)
{
    return matchmakerd->shelf->kind->may_act; /* others may have the rows */
}

int keys_share(struct matchmakerd *matchmakerd, struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;
    struct buf box;
    int failed;

    if (!keys_are_shared(matchmakerd))
        return 0;
    buf_init(&box);
    failed = keyring_seal(matchmakerd->keys, NULL, &box, err);
    if (!failed)
        failed = shelf->kind->put(shelf, KEYS_SPACE, "keys", 4, box.text, box.len, err);
    buf_done(&box);
    return failed;
}

/* Where several matchmakers have the rows, the keys are those of whoever has rotated them last. */
static int keys_load(struct matchmakerd *matchmakerd, struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;
    struct keys_row row = {.keys = matchmakerd->keys};

    if (!keys_are_shared(matchmakerd))
        return 0;
    if (shelf->kind->get(shelf, KEYS_SPACE, "keys", 4, keys_row, &row, err) < 0)
        return -1;
    if (row.taken < 0)
        return err_set(err, "the keys of this matchmaker are not those of the matchmakers that have its store: %.800s",
                       row.err.text);
    keyring_token_keys(matchmakerd->keys, &matchmakerd->token_keys);
    return row.taken == KEYRING_TAKEN ? 0 : keys_share(matchmakerd, err);
}

int matchmakerd_load(struct matchmakerd *matchmakerd, struct err *err)
{
    struct shelf *shelf = matchmakerd->shelf;
    const char *file = config_text(&matchmakerd->config, CONFIG_POLICY);

    if (keys_load(matchmakerd, err) < 0 || revoked_load(matchmakerd, err) < 0 || disabled_load(matchmakerd, err) < 0 ||
        tokens_load(matchmakerd, err) < 0 || shelf->kind->each(shelf, CODE_SPACE, code_row, matchmakerd, err) < 0 ||
        shelf->kind->get(shelf, POLICY_SPACE, "policy", 6, policy_row, matchmakerd, err) < 0 ||
        shares_load(matchmakerd, err) < 0 || commands_load(&matchmakerd->commands, err) < 0 ||
        audit_load(&matchmakerd->audit, err) < 0 || ends_book_load(&matchmakerd->ends, err) < 0 ||
        file_book_load(&matchmakerd->files, shelf, matchmakerd->symbols, err) < 0)
        return -1;
    if (!matchmakerd->policy && *file)
        return policy_file(matchmakerd, file, &matchmakerd->policy, err);
    return 0;
}
