/* roles.h: names for sets of scopes that belong together: what kind of person or machine a token is for.
 *
 * A role is a short way to say scopes when a token is made; the token holds the scopes. The manual page of roles is printed from this table. */
#ifndef BERTH_LIVE_AUTH_ROLES_H
#define BERTH_LIVE_AUTH_ROLES_H

#include "live/auth/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

struct role_row {
    const char *name;
    scopes scope;
    const char *who; /* who has it, in a few words */
    const char *may; /* what it may do, in sentences */
};

#define ROLE_READER (SCOPE_AD_READ | SCOPE_MATCH)
#define ROLE_MACHINE (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_CLAIM | SCOPE_MATCH)
#define ROLE_PERSON (ROLE_MACHINE | SCOPE_JOB_SUBMIT | SCOPE_OWN_JOBS)
#define ROLE_CUSTOMER (ROLE_PERSON | SCOPE_JOB_ANY)
#define ROLE_OPERATOR (ROLE_CUSTOMER | SCOPE_CONFIG | SCOPE_OPERATE | SCOPE_AUDIT)

/* All roles, the widest first; ends with a row without a name. */
extern const struct role_row roles[];

const struct role_row *role_named(const char *name, size_t len); /* NULL: there is none */
/* The role whose scopes these are exactly; of two that are alike, the one for that subject. NULL: none has just these. */
const struct role_row *role_of(scopes scope, const char *subject);

/* What a scope is for, in words: a row for each, in the order of scope.h. */
const char *scope_means(enum scope_number scope);

#ifdef __cplusplus
}
#endif
#endif
