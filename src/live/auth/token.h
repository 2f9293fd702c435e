/* token.h: bearer tokens: who somebody is, what they may do, where and until when, signed with Ed25519.
 *
 *     v4.public.PAYLOAD.FOOTER                      PASETO v4.public; PAYLOAD ends with the signature; FOOTER is {"kid":"..."}
 *     {"iss":"5f...","sub":"alice","aud":"5f...","scope":"ad:read job:submit","iat":1700000000,"exp":1700003600,"jti":"9c...","dlg":"77..."}
 *
 *     iss   the pool's id, 32 hexadecimal digits           iat, exp   seconds since 1970; iat < exp
 *     sub   whose it is: subject_valid below               jti        the token's own id, 32 hexadecimal digits
 *     aud   where it is good: a pool's id, or              dlg        may be missing: the public key whose owner may sign
 *           the pool's id "/" an agent's handle                       further links, 64 hexadecimal digits
 *     scope as scope.h prints it                           kid        the id of the key that signed, 32 hexadecimal digits
 *
 * Delegation needs nobody's leave: whoever has the private key to a token's `dlg` appends a link:
 *
 *     FIRST ~ SECOND ~ THIRD          each a v4.public token, signed by the key that the one before it names
 *
 * A link is never wider than the one before: the same iss; sub and aud equal, or longer behind a "/"; a subset of its
 * scope; iat not before, exp not after. The signature of a link covers all text before it (as PASETO's implicit
 * assertion), so that a link cannot be moved behind another token.
 *
 * A TOKEN THAT NAMES A KEY IS NO BEARER TOKEN: the last link must not have a `dlg`, or it is refused as BARE.
 * Otherwise a job that is given FIRST~SECOND could cut it at the "~" and present FIRST. So who holds a token with a
 * key signs a short last link, without a key, before anything is sent: token_file_bearer does that, and its result
 * serves for an hour. A token that is made without a `dlg` is sent as it is, and cannot be delegated. Revoking a
 * link's jti revokes all that is behind it.
 *
 * Whoever verifies names itself, and a token must be for exactly that audience: one for the pool is refused by an
 * agent that it was sent to by mistake, and one for an agent by the matchmaker.
 *
 * All calls need libsodium to be ready; those that draw or sign make it so. */
#ifndef BERTH_LIVE_AUTH_TOKEN_H
#define BERTH_LIVE_AUTH_TOKEN_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "live/auth/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TOKEN_BYTES_MAX 8192 /* of the whole text */
#define TOKEN_LINKS_MAX 4
#define TOKEN_NAME_MAX 127                   /* bytes of a subject or an audience */
#define TOKEN_GROUP_MAX 63                   /* bytes of a group of shares */
#define TOKEN_UNIX_MAX 32                    /* bytes of the name of a Unix user */
#define TOKEN_ID_DIGITS 32                   /* of a jti, a kid and a pool's id */
#define TOKEN_SKEW 60                        /* seconds that another's clock may be ahead */
#define TOKEN_TIME_MAX INT64_C(253402300799) /* the end of the year 9999 */
#define TOKEN_REVOKED_TOLD 1000              /* ids of revoked tokens that agents are told: the last ones */
#define TOKEN_BEARER_SPAN 3600               /* seconds that a link made by token_file_bearer lasts, at most */

/* What is wrong with a token; OK comes first. */
#define TOKEN_FAULTS(X)                                               \
    X(OK, "ok")                                                       \
    X(MALFORMED, "not a token")                                       \
    X(TOO_LONG, "too long")                                           \
    X(VERSION, "of another version")                                  \
    X(UNKNOWN_KEY, "signed by a key that is not known")               \
    X(SIGNATURE, "the signature is not good")                         \
    X(ISSUER, "issued by another pool")                               \
    X(AUDIENCE, "meant for another audience")                         \
    X(EXPIRED, "expired")                                             \
    X(NOT_YET, "issued in the future")                                \
    X(CLAIMS, "a claim is missing, unknown, or not as it must be")    \
    X(WIDER, "a link grants more than the one before it")             \
    X(CHAIN, "a link where none may be")                              \
    X(BARE, "names a key, and no link signed by that key follows it") \
    X(REVOKED, "revoked")                                             \
    X(ALGORITHM, "signed by an algorithm that is not taken")          \
    X(HEADER, "its header asks for what is not done here")            \
    X(NO_ISSUER, "issued by nobody who is configured")                \
    X(KEYS, "the keys of its issuer have not come yet")               \
    X(MAPPING, "its claims give no identity of this pool")            \
    X(NO_SCOPE, "it grants nothing here")

enum token_fault {
#define X(id, words) TOKEN_##id,
    TOKEN_FAULTS(X)
#undef X
        TOKEN_FAULT_COUNT
};

const char *token_fault_words(enum token_fault fault); /* "expired" */
const char *token_fault_name(enum token_fault fault);  /* "EXPIRED": for counters */

/* ---- keys ---- */

#define PUBLIC_KEY_BYTES 32
#define SIGNING_SEED_BYTES 32

struct public_key {
    unsigned char bytes[PUBLIC_KEY_BYTES];
};

struct signing_key {
    unsigned char secret[64];
    struct public_key open;       /* its public half */
    char id[TOKEN_ID_DIGITS + 1]; /* the kid: BLAKE2b-128 of the public half */
};

void signing_key_draw(struct signing_key *ret);
void signing_key_from_seed(const unsigned char seed[SIGNING_SEED_BYTES], struct signing_key *ret);
void signing_key_done(struct signing_key *key); /* overwrites it */
void public_key_id(const struct public_key *key, char ret_id[TOKEN_ID_DIGITS + 1]);

/* The id of a pool whose first signing key was that one: the first 16 bytes of BLAKE2b-512. */
void pool_id_of(const struct public_key *first, char ret_id[TOKEN_ID_DIGITS + 1]);

/* What a verifier knows: plain data, to be copied. */
#define TOKEN_KEYS_MAX 3

struct token_key {
    char id[TOKEN_ID_DIGITS + 1];
    struct public_key open;
};

struct token_keys {
    char issuer[TOKEN_ID_DIGITS + 1]; /* the pool's id */
    uint32_t count;
    struct token_key keys[TOKEN_KEYS_MAX];
};

/* ---- making ---- */

struct token_terms {
    const char *issuer, *subject, *audience;
    scopes scope;
    int64_t issued, expires;
    const struct public_key *delegate; /* `dlg`; NULL: none */
    bool bounded; /* it was given for the token of an institute, and is never renewed. For the record */
    const char *group,
        *unix_account; /* of a bounded one: what the institute's token gave. For the record; NULL: nothing, "": that there is none */
    const char *follows; /* ids, with blanks between: it is revoked with each of them. For the record; NULL: none */
    const char *code;    /* not in the token: the number of the code that buys it; or NULL */
};

/* Is that a subject? It has letters, digits and . _ - + = @ : in parts with "/" between them; no part is empty, "." or ".."; it has up to
 * TOKEN_NAME_MAX bytes. */
bool subject_valid(const char *text, size_t len);

/* May a user of a machine be called so, whom the kernel and a directory name? A subject of one part; and not like others whom a pool knows: those of an
 * institute (ISSUER:SUB), its machines (machine/NAME), the matchmaker, and users without an account (uid.1001). */
bool unix_account_valid(const char *name);

/* The audience of one agent: POOL/00000000000000a1. */
void token_agent_audience(const char *pool, uint64_t agent, char ret_audience[TOKEN_NAME_MAX + 1]);

/* Appends a token with one link; its id, which is drawn, goes to `ret_id` unless that is NULL. -1 when the terms are
 * none that could be verified (a subject with a blank, no scope, expires <= issued): nothing is appended then. */
int token_sign(struct buf *out, const struct signing_key *key, const struct token_terms *terms,
               char ret_id[TOKEN_ID_DIGITS + 1], struct err *err);

/* Appends the parent and a link behind it, signed with the key that the parent names. Of the terms, NULL, 0 and
 * SCOPE_NONE mean: as in the parent (but `delegate` NULL: none, and `issued` must be given; it is moved to the
 * parent's when it is before that). -1, and nothing appended, when the key is not the one the parent names, the result
 * would be wider, or too long. The parent's first signature cannot be checked here. */
int token_delegate(struct buf *out, const char *parent, size_t len, const struct signing_key *key,
                   const struct token_terms *narrower, char ret_id[TOKEN_ID_DIGITS + 1], struct err *err);

/* ---- reading ---- */

/* What a token gives: the terms of its last link. */
struct grant {
    char issuer[TOKEN_ID_DIGITS + 1];
    char key[TOKEN_ID_DIGITS + 1]; /* that signed the first link */
    char root[TOKEN_NAME_MAX + 1]; /* the first link's subject: whose all that was delegated is */
    char subject[TOKEN_NAME_MAX + 1];
    char audience[TOKEN_NAME_MAX + 1];
    scopes scope;
    int64_t issued, expires;
    bool delegates; /* it names a key: never so in what token_verify accepts */
    struct public_key delegate;
    uint32_t links;
    char ids[TOKEN_LINKS_MAX][TOKEN_ID_DIGITS + 1]; /* the jti of each link, the first first */
    /* Of a token of another issuer (issuer.h); such a token has no key and no audience here. */
    bool foreign;
    bool grouped;                    /* its issuer says in which group it is: it is charged to no other */
    char group[TOKEN_GROUP_MAX + 1]; /* "": none */
    char unix_account[TOKEN_UNIX_MAX + 1];
};

/* Is the token good here and now? Pure; `*ret` is set only when TOKEN_OK is returned. Revocation is not looked at: see token_check. */
enum token_fault token_verify(const struct token_keys *keys, const char *audience, const char *text, size_t len,
                              int64_t now, struct grant *ret);

/* What the text says, for its holder to look at: all that can be checked without the pool's keys, an audience and the
 * time is checked; WHO SIGNED THE FIRST LINK IS NOT. A last link that names a key is fine here. */
enum token_fault token_read(const char *text, size_t len, struct grant *ret);

/* ---- a verifier that remembers ---- */

/* Tokens that were found good, by the hash of their text. Finding one costs that hash and a look into a map, where
 * verifying costs 140 microseconds a link. Expiry, audience, the key's still being known and revocation are looked at
 * each time; what was found bad is not kept. A cache serves one pool. */
#define TOKEN_CACHE_ROOM 16384

struct token_cache;

struct token_cache *token_cache_new(uint32_t room); /* that many tokens, then the oldest goes; 0: TOKEN_CACHE_ROOM */
void token_cache_free(struct token_cache *cache);
uint32_t token_cache_count(const struct token_cache *cache);

typedef bool token_revoked_fn(void *user, const char *id); /* is the token with that jti revoked? */

/* What a token is held against. All is lent. */
struct proof {
    struct token_cache *tokens;
    const struct token_keys *keys;
    const char *audience;
    token_revoked_fn *revoked; /* asked for each link; there has to be one: without it no token is good */
    void *user;
};

/* Verifies a token by way of the cache. `*ret` is set only when TOKEN_OK is returned. */
enum token_fault token_check(const struct proof *proof, const char *text, size_t len, int64_t now, struct grant *ret);

/* For tokens that are verified elsewhere, as those of other issuers are: gives the grant of a text that is kept, keeps one, and forgets all. What may have
 * changed since (time, revocation) is the caller's to look at. */
bool token_cache_find(const struct token_cache *cache, const char *text, size_t len, struct grant *ret);
void token_cache_keep(struct token_cache *cache, const char *text, size_t len, const struct grant *grant);
void token_cache_forget(struct token_cache *cache);

/* Forgets what was signed by keys that are not among these: after a rotation. token_check would refuse it anyway. */
void token_cache_retain(struct token_cache *cache, const struct token_keys *keys);

/* ---- what a user keeps ---- */

/* A file that only its owner may read, an ad:
 *
 *     [ Token = "v4.public..."; Key = "64 hexadecimal digits"; Pool = "https://..."; Others = "https://... https://...";
 *       Ca = "-----BEGIN CERTIFICATE-----..." ]
 *
 * Key is the seed of the key that the token's last link names, and is there if and only if that names one. Pool, Others
 * (further matchmakers of the same pool, with blanks between) and Ca may be missing. */
#define TOKEN_FILE_BYTES_MAX (64u << 10)
#define TOKEN_PLACE_MAX 4000 /* bytes of an address */

struct token_file {
    char *token, *pool, *others, *ca; /* strings of mem_dup's, owned; all but the token may be NULL */
    bool has_key;
    struct signing_key key;
};

void token_file_init(struct token_file *file);
void token_file_done(struct token_file *file); /* overwrites what it held */

/* The addresses that it names, the pool's first: false when there are not so many. One of Others is passed over that would lead from https down to http. */
bool token_file_place(const struct token_file *file, size_t place, char ret[TOKEN_PLACE_MAX + 1]);
bool token_file_names(const struct token_file *file, const char *url); /* is that one of them? */

/* Reads such a file. -1 when there is none, it is not a regular file of our own, others can read or write it, or its contents are not as above.
 * `ret` need not be initialised. */
int token_file_read(const char *path, struct token_file *ret, struct err *err);

/* Writes such a file in the place of what was there, all or nothing: a new file of mode 0600, flushed to disk, then renamed. */
int token_file_write(const char *path, const struct token_file *file, struct err *err);

/* Appends the text to send to `audience` (NULL: the token's own): the token itself when it names no key, else the
 * token and one more link, without a key, of the same scope and subject, that lasts TOKEN_BEARER_SPAN or as long as
 * the token. `*ret_expires`: when to ask again. */
int token_file_bearer(struct buf *out, const struct token_file *file, const char *audience, int64_t now,
                      int64_t *ret_expires, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
