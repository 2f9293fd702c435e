/* accountant.h: who has used how much: fair shares.
 *
 * A user's *usage* is the number of units used lately: what was charged, in unit-seconds, counts half as much after
 * each half-life. A user that uses n units all the time comes to a usage of n. The *priority* that a matchmaker goes by is the
 * usage, but at least ACCOUNTANT_LEAST, times the user's factor: the larger, the later the user is served.
 *
 *     usage(t) = usage(t0) * 2^-((t - t0) / half-life)          charging adds unit-seconds * ln 2 / half-life
 *
 * Nothing is swept: a user's usage is brought up to date when it is looked at. Users have small numbers, which they
 * keep until they are trimmed. Time is in seconds and comes with each call; a time that goes back counts as standing
 * still. */
#ifndef BERTH_POOL_MATCHMAKER_ACCOUNTANT_H
#define BERTH_POOL_MATCHMAKER_ACCOUNTANT_H

#include "pool/protocol/account.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACCOUNTANT_HALF_LIFE 86400.0 /* seconds: the default */
#define ACCOUNTANT_LEAST 0.5         /* below it all users are alike */
#define ACCOUNTANT_NOBODY UINT32_MAX

struct accountant;

/* A half-life of 0 or less is the default. The seed makes the table unguessable where strangers choose names, and
 * changes nothing. */
struct accountant *accountant_new(double half_life, uint64_t seed);
void accountant_free(struct accountant *accountant);

/* The number of a user, who is added if new; and of one who must be there, else ACCOUNTANT_NOBODY. */
uint32_t accountant_user(struct accountant *accountant, const char *name, size_t len);
uint32_t accountant_find(const struct accountant *accountant, const char *name, size_t len);

const char *accountant_name(const struct accountant *accountant, uint32_t user);

/* Code that keeps the number of a user (for an ad, a claim) holds it, and drops it again: a user that is held is not
 * trimmed. */
void accountant_hold(struct accountant *accountant, uint32_t user);
void accountant_drop(struct accountant *accountant, uint32_t user);

/* Charges units times seconds, used up to now, in units of weight 1. */
void accountant_charge(struct accountant *accountant, uint32_t user, double unit_seconds, int64_t now);
void accountant_set_factor(struct accountant *accountant, uint32_t user, double factor); /* above 0; 1 at first */

double accountant_half_life(const struct accountant *accountant); /* seconds */
double accountant_usage(const struct accountant *accountant, uint32_t user, int64_t now);
double accountant_priority(const struct accountant *accountant, uint32_t user, int64_t now);

/* A user as kept on disk. */
struct account {
    const char *name; /* NUL-terminated as well */
    size_t len;
    double usage, factor;
    int64_t stamp; /* the time as of which the usage holds */
};

/* The first user whose number is `from` or above; false when there is none. */
bool accountant_next(const struct accountant *accountant, uint32_t from, uint32_t *ret_number, struct account *ret);

typedef void accountant_fn(void *user, uint32_t number, const struct account *account);
void accountant_each(const struct accountant *accountant, accountant_fn *tell,
                     void *user);                                                       /* in the order of numbers */
uint32_t accountant_load(struct accountant *accountant, const struct account *account); /* replaces what was there */
/* Loads a delegate's row, from the time when delegates had accounts of their own: its usage is added to that of its
 * account, whichever is loaded first. Its factor is dropped. */
uint32_t accountant_fold(struct accountant *accountant, const struct account *account);

/* Forgets users whom nobody holds, whose factor is 1, and whose usage has fallen below `least`: to all others they are
 * as if new. Without this strangers could fill the table. Returns how many were forgotten. */
uint32_t accountant_trim(struct accountant *accountant, double least, int64_t now);
uint32_t accountant_count(const struct accountant *accountant);

#ifdef __cplusplus
}
#endif
#endif
