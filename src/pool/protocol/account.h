/* account.h: what an identity counts for. */
#ifndef BERTH_POOL_PROTOCOL_ACCOUNT_H
#define BERTH_POOL_PROTOCOL_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of these are names of users and groups for whom machines are booked: they get into constraints. */
#define USER_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+@:/~"

/* The account that an identity counts for is the beginning of its name; returns how long that is. Whoever holds a token
 * can make others from it that add "/" and more to the name, as many as they like, so they must gain nothing by that:
 * zoe/s1 counts for zoe, and in a group physics~zoe/s1 for physics~zoe. A machine that has joined, machine/NAME, is an
 * account by itself, because joining takes an administrator's code. Shares, quotas and limits go by the account. */
size_t account_len(const char *identity, size_t len);
bool account_same(const char *identity, const char *other); /* do both count for the same account? */

/* Is the identity that user, or one whom it has delegated to? Somebody of an institute, ISSUER:SUB, is meant as well where an account stands in front:
 * physics/idp:alice is idp:alice. Nobody else's name has a ':'. */
bool identity_is_of(const char *identity, size_t len, const char *user);

#ifdef __cplusplus
}
#endif
#endif
