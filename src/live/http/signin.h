/* signin.h: people sign in by a browser at an issuer: OpenID Connect, the authorization code with PKCE (S256), state and nonce.
 *
 *     signin_begin    the browser is sent to the issuer; what is known of the sign-in lies sealed in its cookie (live/auth/signin_state.h)
 *     signin_end      it comes back: cookie and state -> the code is shown to the issuer, with verifier and secret -> who it is, proved by the
 *                     issuer's keys, for our client and this nonce -> what that gives here
 *
 * Nothing here is the caller's to choose but the issuer, by its name: where the browser goes is said by the issuer, and where it comes back to, by us. */
#ifndef BERTH_LIVE_HTTP_SIGNIN_H
#define BERTH_LIVE_HTTP_SIGNIN_H

#include "live/auth/token.h"
#include "live/http/issuers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIGNIN_UNDER_WAY_MAX 64 /* codes that are shown to one issuer at a time */
#define SIGNIN_SECRET_MAX 1024  /* bytes of a client's secret */
#define SIGNIN_CODE_MAX 4096    /* bytes of an issuer's code */

/* What became of a sign-in: identifier, the word that the page is told, and what went wrong. */
#define SIGNIN_FAULTS(X)                                                                          \
    X(OK, "ok", "")                                                                               \
    X(UNKNOWN, "unknown", "nobody signs in by that issuer here")                                  \
    X(EXPIRED, "expired", "it was not begun in this browser, took too long, or has ended before") \
    X(DENIED, "denied", "the issuer says that it was refused there")                              \
    X(ISSUER, "issuer", "the issuer does not answer, or not as it must")                          \
    X(REFUSED, "refused", "who the issuer says it is was not accepted")                           \
    X(RIGHTS, "rights", "who it is may do nothing here")                                          \
    X(DISABLED, "disabled", "the user is disabled")                                               \
    X(BUSY, "busy", "too many sign in at the moment, or the issuer's keys have not come yet")

enum signin_fault {
#define X(id, word, words) SIGNIN_##id,
    SIGNIN_FAULTS(X)
#undef X
        SIGNIN_FAULT_COUNT
};

const char *signin_fault_word(enum signin_fault fault);
const char *signin_fault_words(enum signin_fault fault);

/* Those who sign in: what seals their cookies, and which sign-ins have ended. Outlives the issuers, which a reload replaces. */
struct signins;

struct signins *signins_new(void);
void signins_free(struct signins *signins);

/* Appends, for each issuer that people can sign in by, what `add` makes of it: its name, and what the page calls it. */
void signin_each(struct issuers *issuers, void (*add)(void *user, const char *name, const char *title), void *user);

/* Appends where the browser goes, and its cookie. `back`: our own address that it comes back to. `now`: seconds of the clock that never jumps. */
enum signin_fault signin_begin(struct signins *signins, struct issuers *issuers, const char *name, const char *back,
                               int64_t now, struct buf *ret_location, struct buf *ret_cookie);

/* What the browser brings back; all may be NULL. */
struct signin_answer {
    const char *cookie; /* the sealed text, `cookie_len` bytes */
    size_t cookie_len;
    const char *state, *code, *error, *issuer;
};

/* Who has signed in. */
struct signed_in {
    enum signin_fault fault;
    enum token_fault token;    /* with SIGNIN_REFUSED and SIGNIN_RIGHTS: what was wrong with it */
    const char *issuer;        /* its URL; NULL: not known */
    const char *why;           /* more about a fault, for the log; "": nothing */
    const struct grant *grant; /* with SIGNIN_OK */
    int64_t session;           /* seconds that it lasts */
};

typedef void signin_done_fn(void *user, const struct signed_in *signed_in);

struct signin_call;

/* Ends a sign-in. `done` is called once: before this returns, which then is NULL; or later. */
struct signin_call *signin_end(struct signins *signins, struct issuers *issuers, const struct signin_answer *answer,
                               const char *back, int64_t now, signin_done_fn *done, void *user);
void signin_forget(struct signin_call *call); /* `done` is not called any more */

#ifdef __cplusplus
}
#endif
#endif
