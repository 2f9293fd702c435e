/* connection.h: a running pool, as the command line asks it: where it is, who we are there, and what it answers. Also the customer, which has the
 * user's jobs: it is found in its own way, and asked in the same way.
 *
 *     where   --pool URL, $BERTH_POOL, the setting Matchmakers (the first that answers), the pool of a token that was named by hand;
 *             else the matchmaker of the user's own state folder: STATE/matchmaker.sock
 *             the customer: --customer URL, $BERTH_CUSTOMER (several, with blanks between them: the first that has the queue), else
 *             STATE/customer/customer.sock, else the setting SubmitSocket; one that stands by says where the one is that has the queue
 *             or, where none runs and the machine has joined a pool elsewhere, the pool of its token
 *     who     --token FILE, $BERTH_TOKEN; else STATE/token or `token` beside the configuration file, else the token of an institute in
 *             $BEARER_TOKEN or the file $BEARER_TOKEN_FILE, else the token of the customer or provider of this machine. On a Unix socket the kernel says who we are: only a token that was named by hand is sent there
 *
 * A token is sent encrypted, or within this machine, or to the very address that its file names; the certificate of a pool is checked by the CA in
 * the token's file. Errors are reported here, as "berth: DETAIL"; callers pass the status on. */
#ifndef BERTH_CLI_ASK_CONNECTION_H
#define BERTH_CLI_ASK_CONNECTION_H

#include "cli/term/config_options.h"
#include "lang/base/buf.h"
#include "lang/text/tree.h"
#include "live/auth/token.h"
#include "live/http/client.h"

#define POOL_PLACES_MAX 16
#define POOL_PAGE 10000 /* ads that are asked for in one answer; the next question goes on behind them */

struct connection_options {
    const char *url, *customer, *token;
    struct config_options config;
};

option_read_fn option_limit; /* uint64_t, how many at most: from 1 */

/* The rows for a structure T that has a `struct connection_options pool`. */
#define POOL_OPTION_ROWS(T)                                                                                        \
    {0,                                                                                                            \
     "pool",                                                                                                       \
     "URL",                                                                                                        \
     "where the pool is: http://..., https://... or unix:PATH; else $BERTH_POOL, the setting Matchmakers, or the " \
     "matchmaker of the state folder",                                                                             \
     option_text,                                                                                                  \
     offsetof(T, pool.url)},                                                                                       \
        POOL_WHO_ROWS(T)

#define POOL_WHO_ROWS(T)                                                                                               \
    {0,           "token",                                                                                             \
     "FILE",      "the file of the token to show; else $BERTH_TOKEN, or `token` in the state or configuration folder", \
     option_file, offsetof(T, pool.token)},                                                                            \
        {0, "config", "FILE", "the configuration file", option_config_file, offsetof(T, pool.config)},                 \
    {                                                                                                                  \
        0, "state", "FOLDER", "the folder of the state, in which a matchmaker or customer of one's own listens",       \
            option_config_state, offsetof(T, pool.config)                                                              \
    }

/* The rows for commands that ask a customer, and not a matchmaker. */
#define CUSTOMER_OPTION_ROWS(T) CUSTOMER_OPTION_ROW(T), POOL_WHO_ROWS(T)
#define CUSTOMER_OPTION_ROW(T)                                                                     \
    {                                                                                              \
        0, "customer", "URL",                                                                      \
            "where the customer is that has the jobs: http://..., https://... or unix:PATH; else " \
            "$BERTH_CUSTOMER, or the one of the state folder",                                     \
            option_text, offsetof(T, pool.customer)                                                \
    }

/* An address of the pool. */
struct connection_place {
    char *url;    /* without a slash at its end */
    char *socket; /* path of a Unix socket; NULL: none */
    /* of a customer, as one that stands by for it has told; else NULL: */
    char *audience;        /* for whom tokens are that are shown there */
    char *pin;             /* of its certificate */
    int64_t heard, silent; /* when (clock_now) it answered last, and when it did not answer in time; 0: never */
    bool asked;            /* in this round */
    bool failed;           /* nobody answered when it was asked last */
};

void connection_place_done(struct connection_place *place);

struct connection {
    struct config config;
    struct connection_place places[POOL_PLACES_MAX];
    size_t count, at; /* the place that answers, or is tried next */
    bool named;       /* the place was named by hand: no other was looked for */
    bool customer;    /* this is a customer, and not a matchmaker */
    struct token_file token;
    char *token_name; /* path of the token's file; NULL: there is none */
    bool token_named; /* the token was named by hand */
    bool token_lent;  /* the host's customer has lent it */
    struct buf bearer;
    const char *bearer_for; /* the audience of the place that it is for; lent; NULL: that of the token */
    int64_t bearer_ends;    /* in seconds on the wall clock: by then it is made anew; 0: it stays */
    char ca_file[32];       /* "" when the system's certificates are used */
    int ca_fd;
    struct symbols *symbols; /* of the ads in its answers */
};

/* Opens a connection to the pool; nothing is sent yet. All functions here that return int give STATUS_DONE, or the status to end with when something
 * went wrong, which has been reported. connection_close takes a connection that failed to open. */
int connection_open(struct connection *pool, const struct connection_options *options);
int customer_open(struct connection *pool,
                  const struct connection_options *options); /* to the customer; connection_close ends it */
int connection_knock(struct connection *pool);               /* does the pool answer at all? */
void connection_close(struct connection *pool);
/* Is the customer on this machine? It is asked, and where nobody answers the place that is tried first tells. */
bool customer_is_near(struct connection *customer);

/* Shows that token from now on, which another issuer has made; the one of a file is forgotten. */
void connection_show(struct connection *pool, const char *bearer);

/* Opens the pool at options->url, of which nothing is known: no token is shown. Once its CA is known (token.ca), connection_trust makes that CA the
 * only one that is trusted. */
int connection_open_stranger(struct connection *pool, const struct connection_options *options);
int connection_trust(struct connection *pool);

/* Looks again for the token where it was found, since a command may go on for weeks: somebody may have renewed it; the pool is asked to, when it is
 * time. What cannot be found leaves the one that is there. */
void connection_token_again(struct connection *pool);

/* Reads only the token: its file, as connection_open would find it. */
int connection_token(const struct connection_options *options, struct token_file *ret);

struct connection_ask {
    const char *method;      /* NULL: GET */
    const char *path;        /* with the query */
    const char *accept;      /* NULL: classad */
    const struct tree *body; /* NULL: none */
    const struct buf *bytes; /* a body as it is, in place of `body`; NULL: none */
    const char *type;        /* of the bytes */
    bool may_miss;           /* 404 is the answer no: STATUS_NO */
    bool may_conflict;       /* 404 and 409 are too: what is asked cannot be done as things are */
    bool hush;               /* an answer of 404 is not reported */
    bool mute;               /* nor any other problem */
    bool quiet;              /* nor is it reported that nobody answers */
    bool patient;            /* 429, too many requests at once: wait, and ask again */
    bool hasty;              /* who does not answer within seconds is let alone */
    const char *unless;      /* an entity tag: an answer of 304 says that it still holds; NULL: none */
    const char *about;       /* what a problem is about, put in front; or NULL */
};

/* Asks. `ret` is an answer of 2xx, which the caller ends with fetched_done. */
int connection_fetch(struct connection *pool, const struct connection_ask *ask, struct fetched *ret);

/* Asks for one ad, which the caller unrefs. */
int connection_fetch_ad(struct connection *pool, const struct connection_ask *ask, struct tree **ret);

/* Takes an ad; false: it is enough, the rest is not wanted. */
typedef bool connection_ad_fn(void *user, struct tree *ad);

/* Asks once, and gives the ads of the answer, one on each line; each is lent. */
int connection_fetch_ads(struct connection *pool, const struct connection_ask *ask, connection_ad_fn *each, void *user);

/* Asks for a whole list, in several answers if need be, and gives its ads as they come (up to `limit`; 0: all); each is lent. `path` has no limit in
 * it. */
int connection_list(struct connection *pool, const char *path, uint64_t limit, connection_ad_fn *each, void *user);
/* The same for a list that a service of an earlier version does not have: STATUS_NO then, and nothing is reported. */
int connection_list_if(struct connection *pool, const char *path, connection_ad_fn *each, void *user);

/* Is what is sent there kept from others? It is when it is encrypted, or stays within this machine. */
bool url_is_private(const char *url);

/* Append to a path: a text as one segment (or one value of a query), escaped; or "?name=value" or "&name=value", and nothing when the value is
 * NULL. */
void path_escape(struct buf *out, const char *text);
void path_query(struct buf *out, const char *name, const char *value);

#endif
