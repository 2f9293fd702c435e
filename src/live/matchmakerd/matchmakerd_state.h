/* matchmakerd_state.h: the state of the live matchmaker, which its files share; private to them.
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
#ifndef BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_STATE_H
#define BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_STATE_H

#include "lang/base/err.h"
#include "live/auth/disabled.h"
#include "live/auth/join.h"
#include "live/auth/keyring.h"
#include "live/auth/token.h"
#include "live/config/address.h"
#include "live/config/config.h"
#include "live/data/file_book.h"
#include "live/http/client.h"
#include "live/http/front.h"
#include "live/http/guard.h"
#include "live/http/issuers.h"
#include "live/http/loop_watch.h"
#include "live/http/metrics.h"
#include "live/http/request.h"
#include "live/http/server.h"
#include "live/matchmakerd/agents.h"
#include "live/matchmakerd/census.h"
#include "live/matchmakerd/ends_book.h"
#include "live/matchmakerd/ids.h"
#include "live/matchmakerd/matchmakerd.h"
#include "live/matchmakerd/routes.h"
#include "live/matchmakerd/token_tally.h"
#include "live/matchmakerd/waiting_gauge.h"
#include "live/world/audit.h"
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
#define RESERVED_IDENTITY "matchmaker" /* our own: nobody else may have this name */
#define REVOKED_SPACE "revoked"        /* rows: a token's id -> when it would have ended */
#define TOKEN_SPACE "token"            /* a token's id -> an ad that describes it */
#define DISABLED_SPACE "disabled"      /* a user's name -> who disabled it, when and why: api_users.c */
#define CODE_SPACE "code"              /* a number -> a row of the book of join codes */
#define CODE_FOR_SPACE "code.for"   /* the same number -> whom that code is for, if not for a machine: see code_for */
#define CODE_USER_SPACE "code.user" /* the same number -> the user who logs in with that code */
#define CODE_STANDBY_SPACE "code.standby" /* the same number: that code is for another matchmaker of the pool */
#define CONFIG_SPACE "config"             /* a section -> an ad */
#define KEYS_SPACE \
    "keys" /* "keys" -> the pool's keys, sealed for those who have them: of a store that others have, too */
#define POLICY_SPACE "policy"            /* "policy", "shares" -> the ad that was applied last */
#define TOKEN_SPAN_MAX INT64_C(31536000) /* seconds that a token lasts at most; a machine's token lasts as long */

struct scan;
struct relay;
struct waiting;
struct command_wait;
struct unix_users;
struct standby;

struct matchmakerd {
    uv_loop_t *loop;
    const struct matchmakerd_settings *settings;
    struct config config;
    struct spans spans;
    struct symbols *symbols;
    struct shelf *shelf;     /* NULL while it stands by */
    struct standby *standby; /* NULL: it leads */
    struct err unled;        /* why it cannot */
    struct log log;
    struct metrics *metrics;
    struct memory_watch memory;
    struct notify notify;

    struct keyring *keys;
    struct token_keys token_keys;
    struct token_cache *tokens;
    struct textmap revoked;   /* ids of revoked tokens; their places rise with the time of revocation */
    struct token_tally made;  /* how many tokens each account has made */
    struct disabled disabled; /* users who are shut out */
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
    uint64_t asked; /* the number of the request that waits for the reply; 0: none does */

    struct server *servers[SERVERS_MAX];
    size_t server_count;
    struct client *client;
    struct check *failed_checks; /* checks of contact addresses that failed, told when their time is over */
    struct issuers *issuers;     /* whose tokens are taken besides our own */
    struct signins *signins;     /* those who sign in on the page by them */
    struct client *checker;      /* for contact addresses alone: those that do not answer keep nobody else waiting */
    const char *route_words[ROUTES_MAX], *fault_words[TOKEN_FAULT_COUNT], *guard_texts[GUARD_REASON_COUNT],
        *wait_words[WAIT_REASON_COUNT + 1]; /* for metrics */
    struct gate gate;
    struct front front;
    struct unix_users *local_users; /* who the users of this machine are */
    struct page_link *links;        /* an array of PAGE_LINKS */
    struct agents agents;
    struct census census; /* counts of the ads */
    struct waiting_gauge waiting_gauge;
    struct ids ids;
    struct file_book files; /* the catalogue */
    struct ends_book ends;  /* which jobs of customers have ended */
    struct relay *relays;   /* relayed messages that wait for an answer */
    uint32_t relay_count;
    struct waiting *waitings;           /* requests that wait for letters */
    struct audit audit;                 /* who has changed what */
    uint64_t audit_told;                /* rows that had to go, when that was last logged */
    struct commands commands;           /* commands that wait for agents */
    struct command_wait *command_waits; /* requests that wait for answers to commands */
    struct observer *observers;         /* streams that watch the pool ... */
    struct desk_news *desk_news;        /* ... and the customers that they watch */
    struct scan *scans;                 /* scans under way */
    uv_idle_t scan_turn;

    uv_timer_t sweep, lag, watchdog;
    struct loop_watch turns;
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
    /* Of who has signed in at an institute: */
    bool foreign, grouped;
    char of[TOKEN_ID_DIGITS + 1]; /* the institute's token, with which the one that it gives is revoked */
    char group[TOKEN_GROUP_MAX + 1];
    char unix_account[TOKEN_UNIX_MAX + 1];
};
#define PAGE_LINKS 64 /* links at a time */

/* The processes of its store, this one and those that stand by; `ret` has room for STORE_REPLICAS_MAX. */
static inline uint32_t matchmakerd_replicas(const struct matchmakerd *matchmakerd, struct store_replica *ret)
{
    return matchmakerd->settings->replicas ? matchmakerd->settings->replicas(matchmakerd->shelf, ret) : 0;
}

static inline struct matchmakerd *request_matchmakerd(const struct request *request)
{
    return request->part->daemon;
}

#ifdef __cplusplus
}
#endif
#endif
