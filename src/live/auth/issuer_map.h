/* issuer_map.h: an issuer's expressions over the claims of a token. Private to issuer.c. */
#ifndef BERTH_LIVE_AUTH_ISSUER_MAP_H
#define BERTH_LIVE_AUTH_ISSUER_MAP_H

#include "lang/ad/eval.h"
#include "live/auth/jwt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The claims as an ad, and what evaluation needs. A claim whose name is no identifier is called by it with _ for what does not fit: wlcg_groups. */
struct issuer_map {
    struct tree *ad;
    struct scope scope;
    struct env env;
    struct eval eval;
    struct arena arena;
};

/* -1 when two claims would have one name. issuer_map_done is called in any case. */
int issuer_map_init(struct issuer_map *map, const struct jwt *jwt, int64_t now, struct err *why);
void issuer_map_done(struct issuer_map *map);

enum mapped { MAPPED_NOTHING, MAPPED, MAPPED_BADLY };

/* The text that the expression gives. MAPPED_NOTHING: it is undefined, or there is no expression. MAPPED_BADLY: it is an error, no text, or too long; `why` says so. */
enum mapped issuer_map_text(struct issuer_map *map, const char *field, const char *expression, char *ret, size_t room,
                            struct err *why);

/* The same for scopes: a text with blanks between them, or a list of texts. */
enum mapped issuer_map_scopes(struct issuer_map *map, const char *expression, scopes *ret, struct err *why);

#ifdef __cplusplus
}
#endif
#endif
