/* issuers.h: tokens of other issuers: their keys, fetched and kept; and the check that a gate makes of such a token.
 *
 *     token -> kept? -> read -> whose -> that issuer's keys -> proved -> mapped -> revoked? -> kept by its hash
 *
 * Keys come from a file, or from where ISSUER/.well-known/openid-configuration says (`jwks_uri`); https alone, bounded in size and time, no redirect followed.
 * They are fetched at the start, when they have come of age, and when a token names a key that is not known, but not more often than the issuer's KeysPause. Nothing waits for
 * an issuer: while its keys are missing its tokens get TOKEN_KEYS, and everybody else goes on. Keys that could not be fetched again serve for 24 times
 * KeysAge, and then no more.
 *
 * Any daemon may have one, and give it to its gate: matchmakers and customers do. */
#ifndef BERTH_LIVE_HTTP_ISSUERS_H
#define BERTH_LIVE_HTTP_ISSUERS_H

#include "live/auth/token.h"
#include "live/config/issuer_list.h"
#include "sys/log.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ISSUERS_DESCRIPTION_MAX (64u << 10) /* bytes of an issuer's description */
#define ISSUERS_STALE 24                    /* times KeysAge */

typedef struct uv_loop_s uv_loop_t; /* from uv.h */

struct issuers;
struct networks;

/* Puts the issuers of a list, which is empty afterwards, in the place of `*issuers`; NULL stands for none. The keys of an issuer that is still asked in the same way stay.
 * -1, and all as it was, when the list cannot be used: a file of keys cannot be read. `networks` are those that an issuer may lead to besides its own host and
 * public addresses; lent, as is the log. Both may be NULL. */
int issuers_set(struct issuers **issuers, uv_loop_t *loop, struct issuer_list *list, struct log *log,
                const struct networks *networks, struct err *err);
void issuers_free(struct issuers *issuers); /* the loop has to run once more before it can be closed */

/* Is the token good now (seconds since 1970)? `revoked` is asked for its id, and must be there. `*ret` is set only when TOKEN_OK is returned; otherwise `why` may say more. */
bool issuers_know(const struct issuers *issuers, const char *text, size_t len); /* was it found good before? */
enum token_fault issuers_check(struct issuers *issuers, const char *text, size_t len, int64_t now,
                               token_revoked_fn *revoked, void *user, struct grant *ret, struct err *why);

#ifdef __cplusplus
}
#endif
#endif
