/* disabled.h: users whom an administrator has shut out of a pool, by name: who did it, when and why.
 *
 *     "alice"      covers  alice, alice/laptop, alice/laptop/x      not alice2, not Alice: names are compared byte by byte
 *     "idp:alice"  covers  idp:alice and what lies behind it, also in an account: physics/idp:alice
 *
 * The matchmaker keeps such a book in rows; agents have a copy of the names, which it tells them. */
#ifndef BERTH_LIVE_AUTH_DISABLED_H
#define BERTH_LIVE_AUTH_DISABLED_H

#include "lang/base/textmap.h"
#include "live/auth/token.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DISABLED_MAX 1000       /* users at a time: all of them are told to every agent */
#define DISABLED_REASON_MAX 200 /* bytes of a reason */

struct disabled_entry {
    int64_t at;                           /* seconds since 1970 */
    bool now;                             /* what runs was ended, too */
    char by[TOKEN_NAME_MAX + 1];          /* who did it; "": not known here */
    char reason[DISABLED_REASON_MAX + 1]; /* "": none was given */
    char words[DISABLED_REASON_MAX + 32]; /* what the user is told: "disabled", "disabled: has left" */
};

struct disabled {
    struct textmap names;
    struct disabled_entry *entries; /* by the place of the name */
    uint32_t room;
};

void disabled_init(struct disabled *book, uint64_t seed);
void disabled_done(struct disabled *book);

/* Enters a user, or puts another entry in the place of the one there was; fills in `words`. */
void disabled_set(struct disabled *book, const char *name, size_t len, const struct disabled_entry *entry);
bool disabled_remove(struct disabled *book, const char *name, size_t len); /* false: there was none */

/* The entry of exactly that name; NULL: there is none. */
const struct disabled_entry *disabled_named(const struct disabled *book, const char *name, size_t len);
/* The entry that covers an identity: of its own name, or of one that it lies behind. */
const struct disabled_entry *disabled_find(const struct disabled *book, const char *identity, size_t len);

#ifdef __cplusplus
}
#endif
#endif
