/* matchmakerd_parts.h: what the files of the live matchmaker share; private to them.
 *
 *     matchmakerd.c      starting, stopping, reloading; the loop's timers
 *     matchmakerd_load.c, matchmakerd_listen.c   loading its state; where it listens
 *     admit.c        which callers are admitted: tokens of its pool, users of this machine
 *     request_agent.c  which agent a request speaks for;  request_role.c  asking the role, and answers that wait until rows are durable
 *     ad_take.c      takes an ad that was sent, or refuses it
 *     routes.c       the table of routes (live/http/front.h has what all daemons share)
 *     api_*.c        the handlers, by subject
 *     api_commands.c commands to agents: taken, told, answered
 *     delivery.c     matches to agents: by call, or by letter
 *     scans.h        work over all ads, in slices, and lists;  explain.h  questions about an ad: why, and what if */
#ifndef BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_PARTS_H
#define BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_PARTS_H

#include "lang/ad/make.h"
#include "lang/base/err.h"
#include "live/auth/join.h"
#include "live/auth/keyring.h"
#include "live/auth/token.h"
#include "live/config/address.h"
#include "live/config/config.h"
#include "live/data/file_book.h"
#include "live/http/client.h"
#include "live/http/front.h"
#include "live/http/guard.h"
#include "live/http/metrics.h"
#include "live/http/request.h"
#include "live/http/server.h"
#include "live/matchmakerd/agents.h"
#include "live/matchmakerd/census.h"
#include "live/matchmakerd/ids.h"
#include "live/matchmakerd/matchmakerd.h"
#include "live/matchmakerd/routes.h"
#include "live/world/commands.h"
#include "live/world/runner.h"
#include "match/pair/match.h"
#include "pool/matchmaker/matchmaker.h"
#include "sys/log.h"
#include "sys/notify.h"

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SERVERS_MAX 18
#define RENEWAL_WORDS 3
#define REVOKED_SPACE "revoked"          /* rows: a token's id -> when it would have ended */
#define TOKEN_SPACE "token"              /* a token's id -> an ad that describes it */
#define CODE_SPACE "code"                /* a number -> a row of the book of join codes */
#define CONFIG_SPACE "config"            /* a section -> an ad */
#define POLICY_SPACE "policy"            /* "policy", "shares" -> the ad that was applied last */
#define TOKEN_SPAN_MAX INT64_C(31536000) /* seconds that a token lasts at most; a machine's token lasts as long */

struct scan;
struct relay;
struct waiting;
struct command_wait;
struct local_user;

struct matchmakerd {
    uv_loop_t *loop;
    const struct matchmakerd_settings *settings;
    struct config config;
    struct spans spans;
    struct symbols *symbols;
    struct shelf *shelf;
    struct log log;
    struct metrics *metrics;
    struct notify notify;

    struct keyring *keys;
    struct token_keys token_keys;
    struct token_cache *tokens;
    struct textmap revoked; /* ids of revoked tokens; their places rise with the time of revocation */
    struct join_book *codes;
    struct networks networks; /* the networks that contact addresses may lie in */
    char *url;                /* the URL by which others reach us */

    struct matchmaker_settings role;
    struct tree *policy; /* the present policy; NULL: the defaults */
    struct tree *shares; /* the present groups and limits; NULL: there are none */
    bool shares_put;     /* a request has set them: then they take precedence over the file */
    struct runner *runner;
    const struct matchmaker *matchmaker; /* the runner's role, to look things up in */
    struct message reply;                /* the role's answer to the present message */
    bool replied;

    struct server *servers[SERVERS_MAX];
    size_t server_count;
    struct client *client;
    struct check *failed_checks; /* checks of contact addresses that failed, told when their time is over */
    struct client *checker;      /* for contact addresses alone: those that do not answer keep nobody else waiting */
    const char *route_words[ROUTES_MAX], *fault_words[TOKEN_FAULT_COUNT],
        *guard_texts[GUARD_REASON_COUNT]; /* for metrics */
    struct gate gate;
    struct front front;
    struct local_user *local_users; /* local users whose names are remembered (admit.c) */
    struct page_link *links;        /* an array of PAGE_LINKS */
    struct agents agents;
    struct census census; /* counts of the ads */
    struct ids ids;
    struct file_book files; /* the catalogue */
    struct relay *relays;   /* relayed messages that wait for an answer */
    uint32_t relay_count;
    struct waiting *waitings;           /* requests that wait for letters */
    struct commands commands;           /* commands that wait for agents */
    struct command_wait *command_waits; /* requests that wait for answers to commands */
    struct observer *observers;         /* streams that watch the pool */
    struct scan *scans;                 /* scans under way */
    uv_idle_t scan_turn;

    uv_timer_t sweep, lag, watchdog;
    uv_signal_t signals[3];
    uint32_t sweeps, sweep_at;
    int64_t lag_due;
    int64_t cycle_took; /* time of the present cycle so far */
    bool in_cycle;
    uint64_t cycles; /* cycles begun so far */
    uint32_t streams;
    uint64_t incarnation;
    int64_t started; /* on the wall clock */
    bool ready, stopping;
    int status;                    /* the exit status of the process */
    symbol renewal[RENEWAL_WORDS]; /* the names in the most frequent message: Message, Id, Bare */
    struct buf out;                /* scratch, for one answer */
};

/* A link to the page that is good once. */
#define LINK_DIGITS 32
struct page_link {
    char code[LINK_DIGITS + 1];
    char subject[TOKEN_NAME_MAX + 1]; /* the person who uses the link, with these scopes */
    scopes scope;
    int64_t ends;    /* seconds; 0: the place is free */
    int64_t expires; /* the token that it gives does not last longer; 0: no bound */
};
#define PAGE_LINKS 32 /* links at a time */

static inline struct matchmakerd *request_matchmakerd(const struct request *request)
{
    return request->part->daemon;
}

/* ---- messages.c ---- */

/* Passes each message in the body to `take`, one after another, which adds its answer to the listing; then answers.
 * `take` returns false when the store has failed, after it has answered that. */
typedef bool message_fn(struct request *request, void *user, struct tree *ad, struct listing *answers);
void request_messages(struct request *request, message_fn *take, void *user);
/* Adds the answer to a message of that kind that the role was not asked about, with words. `id` is the ad's, NULL:
 * none. */
void message_refuse(struct request *request, struct listing *answers, enum message_kind kind, const char *id,
                    enum reason reason, const char *words);

/* ---- request_role.c ---- */

/* Passes a message to the role; its answer is matchmakerd->reply. False, after a problem was answered, when there was
 * none. */
bool request_ask(struct request *request, const struct peer *peer, const struct message *message);

/* Rows were put on the shelf: `then` is called when they are durable, to answer, unless the request has gone. */
void request_commit(struct request *request, void (*then)(struct request *request));

/* The same, with an ad for the answer, which is taken; NULL: 204. */
void request_answer_durable(struct request *request, unsigned status, struct tree *ad);

/* Puts a row on the shelf; false, after a problem was answered, when that failed. */
bool request_row_put(struct request *request, const char *space, const void *key, size_t key_len, const void *value,
                     size_t len);
/* A row could not be put on the shelf: answers so, and the matchmaker ends. */
void request_store_failed(struct request *request, const char *why);

void request_message(struct request *request, unsigned status, const struct message *message,
                     const struct http_field *fields, size_t field_count);
unsigned reason_status(enum reason reason); /* the HTTP status of a role's reason */

/* ---- admit.c ---- */

void matchmakerd_front(struct matchmakerd *matchmakerd); /* makes the front and its gate */

/* ---- request_agent.c ---- */

uint64_t request_handle(
    struct request *request); /* of the agent that it speaks for, known or not; 0: its name is malformed */
bool request_any(const struct request *request);             /* may it act for everybody, and see all? */
bool request_serves(const struct request *request);          /* may it ask for machines for others? */
bool identity_owns(const char *owner, const char *identity); /* the same, or one that `owner` has delegated to */
/* The place of the agent that the request speaks for (Berth-Agent), added if new; TEXTMAP_NONE, after a problem was
 * answered, when its name is malformed. */
uint32_t request_agent(struct request *request);
/* By this field an agent says which process under its name it is, "NUMBER.PROCESS": one that began before another is told so, with 409. */
#define INCARNATION_FIELD "Berth-Incarnation"
bool request_is_superseded(const struct request *request,
                           uint32_t agent); /* for a request that was answered before, and lasts */
#define INCARNATION_MAX (UINT64_C(1) << 48)
/* The same for requests that lead to matches: with Berth-Introduced it is a problem, too, when the agent has not introduced itself here. */
uint32_t request_advertiser(struct request *request);
uint32_t request_agent_named(struct request *request, const char *name); /* by that name, which is valid */
void request_peer(struct request *request, uint32_t who, struct peer *ret);

/* ---- ad_take.c ---- */

/* What became of an ad that was sent: the role's answer, or why the role was not even asked. */
struct taking {
    enum reason reason;
    struct err err; /* the words, when the role was not asked */
    bool created;
};

/* Opens the key of an offer, as that agent has sealed it for the ad of that id. Returns the reason, with words, when it does not open. */
enum reason sealed_key_take(const struct request *request, uint32_t who, const char *id, const char *text, size_t len,
                            struct key *ret, struct err *err);
/* The heart of PUT and of the batch. A version of 0 stands for the next one. False, after a problem was answered, when the store has failed. */
bool ad_take(struct request *request, uint32_t who, const char *id, struct message *message, struct taking *ret);
/* id_unlive: the ad of that id has gone, and no longer counts for its account. id_forget: nothing of it is remembered,
 * and the id is removed. */
void id_unlive(struct matchmakerd *matchmakerd, uint32_t place);
void id_forget(struct matchmakerd *matchmakerd, uint32_t place);

/* ---- matchmakerd_load.c ---- */

int matchmakerd_load(struct matchmakerd *matchmakerd, struct err *err); /* loads the state from the shelf */
/* Reads the policy in a file. -1 when the file cannot be read, or is not a policy. */
int policy_file(struct matchmakerd *matchmakerd, const char *path, struct tree **ret, struct err *err);

/* Groups and limits (api_shares.c): at the start, and when the configuration was read again. */
int shares_load(struct matchmakerd *matchmakerd, struct err *err);
void shares_reload(struct matchmakerd *matchmakerd, bool changed);

/* Appends a line about what holds the request of that id back, if anything does. */
void shares_explain(const struct matchmakerd *matchmakerd, const char *id, struct buf *out);
/* The same as a JSON object; false, with nothing appended, when nothing holds the request back. */
bool shares_explain_json(const struct matchmakerd *matchmakerd, const char *id, struct buf *out);

/* ---- api_policy.c ---- */

struct tree *policy_body(struct request *request); /* the policy in the body; NULL after a problem was answered */

/* ---- matchmakerd_listen.c ---- */

int matchmakerd_listen(struct matchmakerd *matchmakerd,
                       struct err *err); /* listens on every address, and sets the URL for others */

/* ---- delivery.c ---- */

void delivery_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag);
/* A match as it is told: with its present age, and the contacts of the agents it names. The caller unrefs it. */
struct tree *match_letter(struct matchmakerd *matchmakerd, const struct agent_row *to, const struct message *match,
                          int64_t at);
/* A list of how the agents that a match names are reached. The caller unrefs it. */
struct tree *match_contacts(struct matchmakerd *matchmakerd, const struct match_told *told);
/* Calls an agent whose contact is good; fills in the address. Returns the call's id. */
uint64_t contact_send(struct matchmakerd *matchmakerd, const struct agent_row *row, const char *path,
                      struct http_call *call, call_done_fn *done, void *user);
#define CHECKS_MAX 16 /* checks of one account at a time */
/* Asks the agent's contact address, if it has one, to prove itself within that time; then answers the request, if there
 * is one. False when too many checks of its account are under way. */
bool contact_check(struct matchmakerd *matchmakerd, uint32_t who, struct request *waits, int64_t most);
void agent_answer(struct request *request, uint32_t place); /* with its ad (api_pool.c); TEXTMAP_NONE: with 404 */

/* ---- api_pool.c ---- */

/* A match as it is listed, from a letter to one of its parties: who got what, and when; never a ticket. The caller unrefs it. */
struct tree *match_row(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter,
                       const struct edge *edge, int64_t now);

/* ---- api_events.c ---- */

void relays_sweep(struct matchmakerd *matchmakerd, int64_t now);
void checks_sweep(struct matchmakerd *matchmakerd, int64_t now); /* delivery.c; INT64_MAX: at the end */
void relay_displaced(void *user, uint64_t number);               /* for agents.h: the letter had to give way */
void waitings_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds);
void waitings_end(struct matchmakerd *matchmakerd); /* answers polling requests */
void waitings_revoked(struct matchmakerd *matchmakerd,
                      const char *id); /* tells every stream that the token of that id is revoked */

/* ---- api_commands.c ---- */

/* Puts the commands that wait for that agent among its letters. */
void commands_tell(struct matchmakerd *matchmakerd, uint32_t who);
/* Adds to a letter what it says of the command with that key. */
void command_letter(struct matchmakerd *matchmakerd, uint64_t key, struct maker *maker);
void command_waits_sweep(struct matchmakerd *matchmakerd, int64_t now, bool all);
void commands_expire(
    struct matchmakerd *matchmakerd); /* expires commands whose time is over; tells agents that listen of the others */

/* ---- api_overview.c ---- */

extern const char *const outcome_words[CENSUS_OUTCOMES]; /* by enum engine_outcome */
/* The outcome of that name; 0: there is no such outcome. */
int outcome_find(const char *word);

/* The pool at a glance, and how many rows a watcher has missed (0: left out). The caller unrefs it. */
struct tree *overview_ad(struct matchmakerd *matchmakerd, int64_t missed);

/* ---- api_watch.c ---- */

/* Tells watchers of a match, by the letter to that agent; and of a claim that the provider reports. */
void observers_match(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter);
void observers_claim(struct matchmakerd *matchmakerd, const struct report *report, const char *provider);
void observers_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds);

/* ---- api_tokens.c ---- */

/* Signs a token, records it, and answers with it when that is durable. */
void token_give(struct request *request, unsigned status, const struct token_terms *terms);
void tokens_sweep(struct matchmakerd *matchmakerd); /* removes the records of tokens that have expired */

/* ---- api_join.c ---- */

/* Appends a code with which a machine joins; its row is on the shelf and needs a commit. */
int matchmakerd_join_code(struct matchmakerd *matchmakerd, struct buf *out, struct err *err);

/* ---- visibility ---- */

/* May the caller see that ad at all? */
bool request_sees(struct request *request, const struct entry_view *view);
/* The ad of an id, among those that the caller may see; false when there is none. */
bool entry_named(struct request *request, const char *id, struct entry_view *ret);
const char *entry_id(const struct matchmakerd *matchmakerd, const struct entry_view *view); /* "" when it has none */

#ifdef __cplusplus
}
#endif
#endif
