/* matchmakerd_parts.h: what the files of the live matchmaker share; not installed.
 *
 *     matchmakerd.c      starting, stopping, reloading; the loop's timers
 *     matchmakerd_load.c, matchmakerd_listen.c   what was kept; where it listens
 *     admit.c        whom it lets in: tokens of its pool, users of this machine
 *     request_agent.c  for which agent a request speaks;  request_role.c  what the role is told for it, and answers that are durable
 *     ad_take.c      an ad that was sent is taken, or is not
 *     routes.c       the table of routes (live/http/front.h has what all daemons do alike)
 *     api_*.c        the handlers, by what they are about
 *     api_commands.c commands to agents: taken, told, answered
 *     delivery.c     matches to agents: called, or by letter
 *     scans.h        work over all ads, in slices, and lists;  explain.h  what is asked about an ad: why, and what if */
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
#define TOKEN_SPACE "token"              /* a token's id -> an ad that tells of it */
#define CODE_SPACE "code"                /* a number -> a row of the book of codes */
#define CONFIG_SPACE "config"            /* a section -> an ad */
#define POLICY_SPACE "policy"            /* "policy", "shares" -> the ad that was applied last */
#define TOKEN_SPAN_MAX INT64_C(31536000) /* seconds that a token lasts at most, and that of a machine */

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
    struct textmap revoked; /* ids of tokens, in places that rise with the time when they were */
    struct join_book *codes;
    struct networks networks; /* that contact addresses may lie in */
    char *url;                /* by which others reach us */

    struct matchmaker_settings role;
    struct tree *policy; /* that holds; NULL: the defaults */
    struct tree *shares; /* groups and limits that hold; NULL: there are none */
    bool shares_put;     /* by a request: then they go before those of the file */
    struct runner *runner;
    const struct matchmaker *matchmaker; /* the host's role, for questions */
    struct message reply;                /* to the message at hand */
    bool replied;

    struct server *servers[SERVERS_MAX];
    size_t server_count;
    struct client *client;
    struct check *failed_checks; /* of contact addresses, told when their time is over */
    struct client *checker;      /* of contact addresses: those who do not answer keep nobody else waiting */
    const char *route_words[ROUTES_MAX], *fault_words[TOKEN_FAULT_COUNT],
        *guard_texts[GUARD_REASON_COUNT]; /* for metrics */
    struct gate gate;
    struct front front;
    struct local_user *local_users; /* of this machine, whose names are remembered (admit.c) */
    struct page_link *links;        /* PAGE_LINKS of them */
    struct agents agents;
    struct census census; /* of the ads */
    struct ids ids;
    struct file_book files; /* the catalogue */
    struct relay *relays;   /* that wait for an answer */
    uint32_t relay_count;
    struct waiting *waitings;           /* who wait for letters */
    struct commands commands;           /* that wait for agents */
    struct command_wait *command_waits; /* who wait for their answers */
    struct observer *observers;         /* who watch the pool */
    struct scan *scans;                 /* under way */
    uv_idle_t scan_turn;

    uv_timer_t sweep, lag, watchdog;
    uv_signal_t signals[3];
    uint32_t sweeps, sweep_at;
    int64_t lag_due;
    int64_t cycle_took; /* the cycle at hand, so far */
    bool in_cycle;
    uint64_t cycles; /* that were begun */
    uint32_t streams;
    uint64_t incarnation;
    int64_t started; /* wall */
    bool ready, stopping;
    int status;                    /* that the process shall end with */
    symbol renewal[RENEWAL_WORDS]; /* the names in the commonest message: Message, Id, Bare */
    struct buf out;                /* scratch, for one answer */
};

/* A link to the page that is good once. */
#define LINK_DIGITS 32
struct page_link {
    char code[LINK_DIGITS + 1];
    char subject[TOKEN_NAME_MAX + 1]; /* who comes by it, with those scopes */
    scopes scope;
    int64_t ends;    /* seconds; 0: there is none here */
    int64_t expires; /* nothing that it gives lasts longer; 0: no bound */
};
#define PAGE_LINKS 32 /* at a time */

static inline struct matchmakerd *request_matchmakerd(const struct request *request)
{
    return request->part->daemon;
}

/* ---- messages.c ---- */

/* Messages in the body, one after another: each is handed to `take`, which adds its answer to the listing; false when the store has
 * failed, which it has answered. Then all is answered. */
typedef bool message_fn(struct request *request, void *user, struct tree *ad, struct listing *answers);
void request_messages(struct request *request, message_fn *take, void *user);
/* The answer to a message of that kind that was not handed to the role: with words. `id` is the ad's, NULL: none. */
void message_refuse(struct request *request, struct listing *answers, enum message_kind kind, const char *id,
                    enum reason reason, const char *words);

/* ---- request_role.c ---- */

/* Hands a message to the role; its answer is service->reply. False, and a problem was answered, when there was none. */
bool request_ask(struct request *request, const struct peer *peer, const struct message *message);

/* Rows were put on the shelf: answers when they are durable. `then` is called with the request, unless it has gone. */
void request_commit(struct request *request, void (*then)(struct request *request));

/* The same, with an ad for the answer, which is taken; NULL: 204. */
void request_answer_durable(struct request *request, unsigned status, struct tree *ad);

/* Puts a row on the shelf; false, and a problem was answered, when that failed. */
bool request_row_put(struct request *request, const char *space, const void *key, size_t key_len, const void *value,
                     size_t len);
/* A row could not be put on the shelf: says so, and the service ends. */
void request_store_failed(struct request *request, const char *why);

void request_message(struct request *request, unsigned status, const struct message *message,
                     const struct http_field *fields, size_t field_count);
unsigned reason_status(enum reason reason); /* of a refusal by a role */

/* ---- admit.c ---- */

void matchmakerd_front(struct matchmakerd *matchmakerd); /* the front and its gate */

/* ---- request_agent.c ---- */

uint64_t request_handle(
    struct request *request); /* of the agent that it speaks for, known or not; 0: its name is none */
bool request_any(const struct request *request);             /* may it act for, and see, everybody? */
bool request_serves(const struct request *request);          /* may it ask for machines for others than itself? */
bool identity_owns(const char *owner, const char *identity); /* the same, or one that it has delegated to */
/* The agent that it speaks for (Berth-Agent), new perhaps: a place; TEXTMAP_NONE, and a problem was answered, when its name is none. */
uint32_t request_agent(struct request *request);
/* What an agent says of which of those by its name it is, "NUMBER.PROCESS": one that began before another is told so, 409. */
#define INCARNATION_FIELD "Berth-Incarnation"
bool request_is_superseded(const struct request *request,
                           uint32_t agent); /* of one that was answered before, and lasts */
#define INCARNATION_MAX (UINT64_C(1) << 48)
/* The same for what leads to matches: with Berth-Introduced it is a problem, too, when the agent has said nothing of itself here. */
uint32_t request_advertiser(struct request *request);
uint32_t request_agent_named(struct request *request, const char *name); /* by that name, which is good */
void request_peer(struct request *request, uint32_t who, struct peer *ret);

/* ---- ad_take.c ---- */

/* What became of an ad that was sent: the role's answer, or why it was not even asked. */
struct taking {
    enum reason reason;
    struct err err; /* the words, when the role was not asked */
    bool created;
};

/* The key of an offer, as that agent has sealed it for the ad of that id. An error, and its words, when it does not open. */
enum reason sealed_key_take(const struct request *request, uint32_t who, const char *id, const char *text, size_t len,
                            struct key *ret, struct err *err);
/* The heart of PUT and of the batch. A version of 0 is the next one. False when the store has failed, and that was answered. */
bool ad_take(struct request *request, uint32_t who, const char *id, struct message *message, struct taking *ret);
/* The ad of that id has gone: it no longer counts for its identity. And: nothing of it is remembered, it goes. */
void id_unlive(struct matchmakerd *matchmakerd, uint32_t place);
void id_forget(struct matchmakerd *matchmakerd, uint32_t place);

/* ---- matchmakerd_load.c ---- */

int matchmakerd_load(struct matchmakerd *matchmakerd, struct err *err); /* what was kept, from the shelf */
/* The policy of the file that the configuration names. -1 when there is none, or it is none. */
int policy_file(struct matchmakerd *matchmakerd, const char *path, struct tree **ret, struct err *err);

/* Groups and limits: at the start, and when the configuration was read again. */
int shares_load(struct matchmakerd *matchmakerd, struct err *err);
void shares_reload(struct matchmakerd *matchmakerd, bool changed);

/* A line about what the request of that id is held back by, if it is; appended. */
void shares_explain(const struct matchmakerd *matchmakerd, const char *id, struct buf *out);
/* The same as a JSON object; false, and nothing appended, when nothing holds it back. */
bool shares_explain_json(const struct matchmakerd *matchmakerd, const char *id, struct buf *out);

/* ---- api_policy.c ---- */

struct tree *policy_body(struct request *request); /* the policy in the body; NULL, and a problem was answered */

/* ---- matchmakerd_listen.c ---- */

int matchmakerd_listen(struct matchmakerd *matchmakerd,
                       struct err *err); /* at every address, and says what it is called */

/* ---- delivery.c ---- */

void delivery_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag);
/* A match as it is told: with its age now, and the contacts of those it names. The caller unrefs it. */
struct tree *match_letter(struct matchmakerd *matchmakerd, const struct agent_row *to, const struct message *match,
                          int64_t at);
/* How those that a match names are reached: a list. The caller unrefs it. */
struct tree *match_contacts(struct matchmakerd *matchmakerd, const struct match_told *told);
/* A call to an agent whose contact is good; where it goes is filled in. Returns the call's id. */
uint64_t contact_send(struct matchmakerd *matchmakerd, const struct agent_row *row, const char *path,
                      struct http_call *call, call_done_fn *done, void *user);
#define CHECKS_MAX 16 /* of one account, at a time */
/* Its contact address, if it has one, is asked to prove itself, within that time; then the request, if there is one, is answered. False
 * when too many of its account are. */
bool contact_check(struct matchmakerd *matchmakerd, uint32_t who, struct request *waits, int64_t most);
void agent_answer(struct request *request, uint32_t place); /* with what is known of it; TEXTMAP_NONE: nothing is */

/* ---- api_pool.c ---- */

/* A match as it is listed, from a letter of one of its parties: who got what, and when; never a ticket. The caller unrefs it. */
struct tree *match_row(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter,
                       const struct edge *edge, int64_t now);

/* ---- api_events.c ---- */

void relays_sweep(struct matchmakerd *matchmakerd, int64_t now);
void checks_sweep(struct matchmakerd *matchmakerd, int64_t now); /* INT64_MAX: the end of all */
void relay_displaced(void *user, uint64_t number);               /* for agents.h: its letter had to give way */
void waitings_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds);
void waitings_end(struct matchmakerd *matchmakerd); /* those who only ask are answered */
void waitings_revoked(struct matchmakerd *matchmakerd,
                      const char *id); /* every stream is told that the token of that id is refused */

/* ---- api_commands.c ---- */

/* Those that wait for that agent lie among its letters from now on. */
void commands_tell(struct matchmakerd *matchmakerd, uint32_t who);
/* What a letter says of the command with that key. */
void command_letter(struct matchmakerd *matchmakerd, uint64_t key, struct maker *maker);
void command_waits_sweep(struct matchmakerd *matchmakerd, int64_t now, bool all);
void commands_expire(
    struct matchmakerd *matchmakerd); /* those whose time is over; and agents that listen are told of the others */

/* ---- api_overview.c ---- */

extern const char *const outcome_words[CENSUS_OUTCOMES]; /* by enum engine_outcome */
/* The outcome of that name; 0: there is none. */
int outcome_find(const char *word);

/* The pool at a glance, and how many rows a watcher has missed (0: that is not said). The caller unrefs it. */
struct tree *overview_ad(struct matchmakerd *matchmakerd, int64_t missed);

/* ---- api_watch.c ---- */

/* Those who watch hear of a match that a letter to that agent tells of; and of a claim that the provider reports. */
void observers_match(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter);
void observers_claim(struct matchmakerd *matchmakerd, const struct report *report, const char *provider);
void observers_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds);

/* ---- api_tokens.c ---- */

/* Signs it, notes it, and answers with it when that is durable. */
void token_give(struct request *request, unsigned status, const struct token_terms *terms);
void tokens_sweep(struct matchmakerd *matchmakerd); /* what is told of those that have ended goes */

/* ---- api_join.c ---- */

/* A code with which a machine joins, appended; its row is on the shelf and wants a commit. */
int matchmakerd_join_code(struct matchmakerd *matchmakerd, struct buf *out, struct err *err);

/* ---- visibility ---- */

/* May the caller see that ad at all? */
bool request_sees(struct request *request, const struct entry_view *view);
/* The ad of an id, of those that the caller may see; false when there is none. */
bool entry_named(struct request *request, const char *id, struct entry_view *ret);
const char *entry_id(const struct matchmakerd *matchmakerd, const struct entry_view *view); /* "" when it has none */

#ifdef __cplusplus
}
#endif
#endif
