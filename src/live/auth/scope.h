/* scope.h: what a token lets its holder do: a set of scopes, one bit each. Who has job:own has job:read, job:modify and job:cancel with it: sets that are read have all of
 * them, and where they are printed job:own stands for all. */
#ifndef BERTH_LIVE_AUTH_SCOPE_H
#define BERTH_LIVE_AUTH_SCOPE_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCOPES(X)               \
    X(AD_READ, "ad:read")       \
    X(AD_WRITE, "ad:write")     \
    X(JOB_SUBMIT, "job:submit") \
    X(JOB_OWN, "job:own")       \
    X(JOB_ANY, "job:any")       \
    X(CLAIM, "claim")           \
    X(MATCH, "match")           \
    X(CONFIG, "config")         \
    X(SERVE, "serve")           \
    X(OPERATE, "operate")       \
    X(AUDIT, "audit")           \
    X(ADMIN, "admin")           \
    X(JOB_READ, "job:read")     \
    X(JOB_MODIFY, "job:modify") \
    X(JOB_CANCEL, "job:cancel")

enum scope_number {
#define X(id, words) SCOPE_NUMBER_##id,
    SCOPES(X)
#undef X
        SCOPE_COUNT
};

typedef uint32_t scopes;

enum {
#define X(id, words) SCOPE_##id = 1 << SCOPE_NUMBER_##id,
    SCOPES(X)
#undef X
        SCOPE_NONE = 0,
    SCOPE_ALL = (1 << SCOPE_COUNT) - 1,
    SCOPE_OWN_PARTS = SCOPE_JOB_READ | SCOPE_JOB_MODIFY | SCOPE_JOB_CANCEL, /* what is in job:own */
    SCOPE_OWN_JOBS = SCOPE_JOB_OWN | SCOPE_OWN_PARTS,
};

/* Appends the scopes as words, "ad:read ad:write", in the order of the list. */
void scopes_print(struct buf *out, scopes set);

/* Reads the set that such words name. False when a word is not a scope or is there twice, or there is none. */
bool scopes_read(const char *text, size_t len, scopes *ret);

#ifdef __cplusplus
}
#endif
#endif
