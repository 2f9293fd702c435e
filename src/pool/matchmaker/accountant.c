/* accountant.c: who has used how much: a table of users, found by their names. */
#include "pool/matchmaker/accountant.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "pool/protocol/mutants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct holder {
    char *name; /* ours; NULL: the number is free */
    size_t len;
    uint64_t hash;
    double usage, factor;
    int64_t stamp; /* the time as of which the usage holds */
    uint32_t holds;
    uint32_t after; /* the next user in the bucket; of a free one: the next free one; or ACCOUNTANT_NOBODY */
};

struct accountant {
    double half_life;
    uint64_t seed;
    struct holder *users;
    uint32_t count, room, free, used;
    uint32_t *buckets; /* a power of two of them: each the first user, or ACCOUNTANT_NOBODY */
    uint32_t bucket_count;
};

static uint32_t *buckets_new(uint32_t count)
{
    uint32_t *buckets = mem_alloc(count * sizeof *buckets);

    for (uint32_t i = 0; i < count; i++)
        buckets[i] = ACCOUNTANT_NOBODY;
    return buckets;
}

struct accountant *accountant_new(double half_life, uint64_t seed)
{
    struct accountant *accountant = mem_alloc(sizeof *accountant);

    *accountant = (struct accountant){.half_life = half_life > 0 ? half_life : ACCOUNTANT_HALF_LIFE,
                                      .seed = seed,
                                      .free = ACCOUNTANT_NOBODY,
                                      .bucket_count = 64};
    accountant->buckets = buckets_new(accountant->bucket_count);
    return accountant;
}

void accountant_free(struct accountant *accountant)
{
    if (!accountant)
        return;
    for (uint32_t i = 0; i < accountant->count; i++)
        free(accountant->users[i].name);
    free(accountant->users);
    free(accountant->buckets);
    free(accountant);
}

/* ------------------------------------------------------------------------------------------------------------ names */

static uint64_t name_hash(const struct accountant *accountant, const char *name, size_t len)
{
    uint64_t hash = accountant->seed;

    for (size_t i = 0; i < len; i++)
        hash = rng_mix(hash ^ (unsigned char)name[i]);
    return hash;
}

static uint32_t *bucket_of(const struct accountant *accountant, uint64_t hash)
{
    return &accountant->buckets[hash & (accountant->bucket_count - 1)];
}

static uint32_t find(const struct accountant *accountant, const char *name, size_t len, uint64_t hash)
{
    uint32_t number = *bucket_of(accountant, hash);

    while (number != ACCOUNTANT_NOBODY) {
        const struct holder *user = &accountant->users[number];

        if (user->hash == hash && user->len == len && (len == 0 || memcmp(user->name, name, len) == 0))
            return number;
        number = user->after;
    }
    return ACCOUNTANT_NOBODY;
}

const char *accountant_name(const struct accountant *accountant, uint32_t user)
{
    return accountant->users[user].name;
}

uint32_t accountant_find(const struct accountant *accountant, const char *name, size_t len)
{
    return find(accountant, name, len, name_hash(accountant, name, len));
}

static void bucket_add(struct accountant *accountant, uint32_t number)
{
    struct holder *user = &accountant->users[number];
    uint32_t *bucket = bucket_of(accountant, user->hash);

    user->after = *bucket;
    *bucket = number;
}

static void buckets_grow(struct accountant *accountant)
{
    free(accountant->buckets);
    accountant->bucket_count *= 2;
    accountant->buckets = buckets_new(accountant->bucket_count);
    for (uint32_t i = 0; i < accountant->count; i++)
        if (accountant->users[i].name)
            bucket_add(accountant, i);
}

static uint32_t number_take(struct accountant *accountant)
{
    uint32_t number = accountant->free;

    if (number != ACCOUNTANT_NOBODY) {
        accountant->free = accountant->users[number].after;
        return number;
    }
    ARRAY_ROOM(accountant->users, accountant->count, accountant->room, 16);
    return accountant->count++;
}

uint32_t accountant_user(struct accountant *accountant, const char *name, size_t len)
{
    uint64_t hash = name_hash(accountant, name, len);
    uint32_t number = find(accountant, name, len, hash);

    if (number != ACCOUNTANT_NOBODY)
        return number;
    if (accountant->used == accountant->bucket_count)
        buckets_grow(accountant);
    number = number_take(accountant);
    accountant->users[number] = (struct holder){.name = mem_dup(name, len), .len = len, .hash = hash, .factor = 1};
    bucket_add(accountant, number);
    accountant->used++;
    return number;
}

static void user_forget(struct accountant *accountant, uint32_t number)
{
    struct holder *user = &accountant->users[number];
    uint32_t *link = bucket_of(accountant, user->hash);

    while (*link != number)
        link = &accountant->users[*link].after;
    *link = user->after;
    free(user->name);
    *user = (struct holder){.after = accountant->free};
    accountant->free = number;
    accountant->used--;
}

/* ------------------------------------------------------------------------------------------------------------ usage */

void accountant_hold(struct accountant *accountant, uint32_t user)
{
    accountant->users[user].holds++;
}

void accountant_drop(struct accountant *accountant, uint32_t user)
{
    accountant->users[user].holds--;
}

static double usage_now(const struct accountant *accountant, const struct holder *user, int64_t now)
{
    double passed = (double)now - (double)user->stamp;

    return passed > 0 ? user->usage * exp2(-passed / accountant->half_life) : user->usage;
}

void accountant_charge(struct accountant *accountant, uint32_t user, double unit_seconds, int64_t now)
{
    struct holder *at = &accountant->users[user];

    if (!(unit_seconds > 0) || isinf(unit_seconds))
        return;
    at->usage = usage_now(accountant, at, now) + unit_seconds * log(2) / accountant->half_life;
    at->stamp = now; /* replaces also a stamp from a clock that was ahead: until that time nothing would decay */
}

void accountant_set_factor(struct accountant *accountant, uint32_t user, double factor)
{
    accountant->users[user].factor = factor > 0 && !isinf(factor) ? factor : 1;
}

double accountant_half_life(const struct accountant *accountant)
{
    return accountant->half_life;
}

double accountant_usage(const struct accountant *accountant, uint32_t user, int64_t now)
{
    return usage_now(accountant, &accountant->users[user], now);
}

double accountant_priority(const struct accountant *accountant, uint32_t user, int64_t now)
{
    return fmax(ACCOUNTANT_LEAST, accountant_usage(accountant, user, now)) * accountant->users[user].factor;
}

/* ------------------------------------------------------------------------------------------------------ all of them */

bool accountant_next(const struct accountant *accountant, uint32_t from, uint32_t *ret_number, struct account *ret)
{
    for (uint32_t i = from; i < accountant->count; i++) {
        const struct holder *at = &accountant->users[i];

        if (!at->name)
            continue;
        *ret_number = i;
        *ret = (struct account){at->name, at->len, at->usage, at->factor, at->stamp};
        return true;
    }
    return false;
}

void accountant_each(const struct accountant *accountant, accountant_fn *tell, void *user)
{
    struct account account;

    for (uint32_t i = 0; accountant_next(accountant, i, &i, &account); i++)
        tell(user, i, &account);
}

uint32_t accountant_load(struct accountant *accountant, const struct account *account)
{
    uint32_t number = accountant_user(accountant, account->name, account->len);
    struct holder *user = &accountant->users[number];

    user->usage = account->usage > 0 && !isinf(account->usage) ? account->usage : 0;
    user->stamp = account->stamp;
    accountant_set_factor(accountant, number, account->factor);
    return number;
}

uint32_t accountant_fold(struct accountant *accountant, const struct account *account)
{
    uint32_t number = accountant_user(accountant, account->name, account_len(account->name, account->len));
    struct holder *user = &accountant->users[number];
    struct holder other = {.usage = account->usage > 0 && !isinf(account->usage) ? account->usage : 0,
                           .stamp = account->stamp};
    int64_t now = user->stamp > other.stamp ? user->stamp : other.stamp;

    user->usage = usage_now(accountant, user, now) + usage_now(accountant, &other, now);
    user->stamp = now;
    return number;
}

uint32_t accountant_trim(struct accountant *accountant, double least, int64_t now)
{
    uint32_t before = accountant->used;

    for (uint32_t i = 0; i < accountant->count; i++) {
        const struct holder *user = &accountant->users[i];

        if (user->name && !user->holds && user->factor == 1 && usage_now(accountant, user, now) < least)
            user_forget(accountant, i);
    }
    return before - accountant->used;
}

uint32_t accountant_count(const struct accountant *accountant)
{
    return accountant->used;
}
