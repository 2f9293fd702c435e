/* issuers_parts.h: an issuer as it is known here; private to issuers.c, which has its keys, and signin.c, which lets people sign in by it. */
#ifndef BERTH_LIVE_HTTP_ISSUERS_PARTS_H
#define BERTH_LIVE_HTTP_ISSUERS_PARTS_H

#include "live/config/address.h"
#include "live/http/client.h"
#include "live/http/issuers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ISSUERS_FETCH_SPAN (10 * SECOND)

struct source {
    struct issuers *issuers;
    struct issuer_entry entry;
    struct client *client; /* NULL: its keys are in a file */
    struct jwt_keys *keys; /* NULL: none have come yet */
    int64_t came;          /* when they came; of the clock that never jumps */
    int64_t tried;         /* when they were last asked for; 0: never */
    bool asking;
    bool elsewhere; /* the keys are at another host than the issuer */
    /* For people who sign in by a browser: */
    struct client *door; /* asks for their tokens, so that they do not keep the keys waiting; NULL: nobody signs in */
    unsigned char mark[16];      /* which issuer it is: see signin_issuer */
    char authorize[URL_MAX + 1]; /* where they go; "": the issuer has not said so yet */
    char token[URL_MAX + 1];     /* where the code is shown that they bring back */
    bool token_elsewhere;        /* at another host than the issuer */
    bool posts_secret;           /* the issuer takes the client's secret in the body alone */
    uint32_t under_way;          /* codes that were shown and not answered yet */
};

struct issuers {
    struct log *log;
    const struct networks *networks;
    struct token_cache *tokens;
    uint32_t count;
    struct source sources[ISSUER_LIST_MAX];
};

/* Are there keys to check by, and is it known where people sign in? If not, the issuer is asked. */
bool source_ready(struct source *source);

/* Appends the secret of a client, from its file. */
int signin_secret_read(const char *path, struct buf *ret, struct err *err);

/* Proves a token that this issuer has given to who signs in. */
enum token_fault source_signed_in(struct source *source, const char *text, size_t len,
                                  const struct issuer_signin *signin, int64_t now, struct grant *ret, struct err *why);

#ifdef __cplusplus
}
#endif
#endif
