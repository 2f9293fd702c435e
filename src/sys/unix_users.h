/* unix_users.h: who a user id is on this machine, by NSS: accounts that a directory keeps (LDAP, sssd) come with it.
 *
 *     uid -> a thread of its own asks NSS -> name, and whether the account is in one of the groups; kept for a minute
 *
 * A directory may be slow, or down: whoever asks never waits, and is told LATER until there is an answer. What was known before holds on while it is
 * looked up again. */
#ifndef BERTH_SYS_UNIX_USERS_H
#define BERTH_SYS_UNIX_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNIX_NAME_MAX 255        /* bytes of an account's name */
#define UNIX_USERS_EVERYBODY "*" /* in the place of a group */

struct unix_users;

struct unix_user {
    char name[UNIX_NAME_MAX + 1];
    bool listed; /* it is in one of the groups, or everybody is */
};

enum unix_users_answer {
    UNIX_USERS_FOUND,
    UNIX_USERS_NOBODY, /* no account has that id */
    UNIX_USERS_LATER,  /* not known yet: ask again in a moment */
};

/* Names of groups; they are copied. */
struct unix_users *unix_users_new(const char *const *groups, size_t count);
/* The thread ends by itself, when NSS has answered it. */
void unix_users_free(struct unix_users *users);

/* `now`: microseconds on a clock that does not jump. `ret` is filled with FOUND. */
enum unix_users_answer unix_users_look(struct unix_users *users, uint32_t uid, int64_t now, struct unix_user *ret);

#ifdef __cplusplus
}
#endif
#endif
