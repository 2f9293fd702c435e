/* daemon_parts.h: what a live customer and a live provider have in common: a loop, signals, a log, who they are and where their pool is.
 *
 *     daemon_init -> fill in daemon.agent's role and ports -> agent_new -> daemon_run ... SIGTERM -> daemon_close -> daemon_done
 *
 * All of its own is in one folder: the token (`token`), the CA of its pool (`ca.pem`), and what its role keeps. */
#ifndef BERTH_LIVE_AGENT_DAEMON_PARTS_H
#define BERTH_LIVE_AGENT_DAEMON_PARTS_H

#include "live/agent/agent.h"
#include "live/config/config.h"
#include "live/config/pool_list.h"
#include "live/http/request.h"
#include "sys/notify.h"

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAEMON_PATH_MAX 4096

struct daemon_settings {
    const char *role;   /* "customer", "provider", ...: its folder is STATE/ROLE */
    const char *name;   /* of the agent; NULL: the machine's */
    const char *listen; /* where it can be called; "" or NULL: it cannot */
    const char *token;  /* the file of its token; NULL: STATE/ROLE/token */
    bool pools;         /* it belongs to those of the setting Pools; else to its own alone */
    bool near;          /* a matchmaker that runs with the same state folder goes before the pool of the token */
    const char *version;
    const struct config_sources *sources; /* for reloading; or NULL */
    struct shelf *shelf;
    int log_fd;
};

/* A pool besides its own. */
struct daemon_pool {
    struct token_file token;
    struct networks networks;
    const char *matchmakers[POOL_URLS_MAX];
    char token_path[DAEMON_PATH_MAX], ca_file[DAEMON_PATH_MAX], identity[TOKEN_NAME_MAX + 1];
    char matchmaker[1024]; /* that the token's file tells */
};

struct daemon {
    uv_loop_t loop;
    uv_signal_t signals[3];
    uv_timer_t watchdog, renewal;
    struct config config;
    struct log log;
    struct notify notify;
    struct networks networks;
    struct token_file token;
    struct spans spans;
    struct symbols *symbols;
    struct shelf *shelf;
    char folder[DAEMON_PATH_MAX], token_path[DAEMON_PATH_MAX], ca_file[DAEMON_PATH_MAX], matchmaker[DAEMON_PATH_MAX];
    char identity[TOKEN_NAME_MAX + 1], name[TOKEN_NAME_MAX + 1];
    char listen[ADDRESS_HOST_MAX + 16], host[ADDRESS_HOST_MAX + 4]; /* where it can be called, if that was found out */
    const char *matchmakers[16];                                    /* copies: a reload frees what the settings lent */
    char *listen_said;          /* so is this: where it listens, as the settings say */
    struct pool_list list;      /* the setting Pools */
    struct daemon_pool *others; /* those of the list that are not its own */
    struct agent_pool *pools;   /* the same, for the agent */
    uint32_t other_count;
    struct live_agent *live; /* while it runs; lent */
    struct metrics *metrics; /* daemon_metrics_begin; or NULL */
    struct memory_watch memory;
    int64_t lag_due;             /* when a timer is next due; 0: not known */
    struct agent_settings agent; /* all but role, job, changed, asked, other and user is filled in */
    void (*reload)(
        void *user,
        const struct config_change *change); /* SIGHUP: the configuration is that of the files again; or NULL */
    void (*ending)(void *user); /* it is told to end, and is to stop the loop soon; NULL: that stops at once */
    void *user;
    const struct config_sources *sources;
    bool as_machine; /* other things than a machine are offered, under the machine's own token */
    bool told;       /* to end */
    int status;
};

/* Makes a daemon; the configuration is taken. After an error daemon_done is still to be called. */
int daemon_init(struct daemon *daemon, const struct daemon_settings *settings, struct config *config, struct err *err);
int daemon_run(struct daemon *daemon,
               struct live_agent *live); /* 0 when it was told to end; 1 when it could not go on */
void daemon_close(
    struct daemon *daemon); /* all handles of the loop, after the agent was freed; nothing is called back after it */
void daemon_done(struct daemon *daemon); /* closes it, when that was not done before */
struct tree *daemon_pools_ad(struct daemon *daemon, const struct live_agent *live, struct tree *status); /* takes it */
void daemon_broken(struct daemon *daemon, const char *why); /* ends, with status 1 */

/* ---- daemon_metrics.c ---- */

#define DAEMON_METRIC_SETS 4 /* sets that a role gives words of its own */
/* Makes the metrics of a customer or a provider, which the agent and its front count in; the role's own sets, and the tables of routes of its front. */
void daemon_metrics_begin(struct daemon *daemon, enum metric_party party, const struct metric_words *sets,
                          size_t set_count, const struct route_table *const *tables, size_t table_count);
/* A timer of the role has come that comes again after that long: how late was it? */
void daemon_metrics_tick(struct daemon *daemon, int64_t span);
/* Answers with the metrics, when the role has set its gauges. */
void daemon_metrics_answer(struct daemon *daemon, struct request *request);

/* ---- daemon_tokens.c ---- */

/* Keeps the tokens good, of all its pools: reads their files again, and has those renewed that are in the second half of their life. Returns after how
 * many milliseconds that is to be done again. */
uint64_t daemon_tokens_tend(struct daemon *daemon);

/* ---- daemon_pools.c ---- */

int daemon_pools_read(struct daemon *daemon, struct err *err); /* the list */
/* The pool of the list that is its own: the one without a token, else the first; NULL: there is no list. */
const struct pool_entry *daemon_pool_own(const struct daemon *daemon);
int daemon_pools_open(struct daemon *daemon, struct err *err); /* the others */
void daemon_pools_done(struct daemon *daemon);
void daemon_pools_networks(struct daemon *daemon); /* the configuration is another */
/* Words for a person about which pools are asked: one URL, or those of several pools, in the buffer. */
const char *daemon_pools_words(const struct daemon *daemon, const struct live_agent *live, struct buf *ret);
/* Fills in the networks that the agents of a pool may be in, beside public ones: those of the settings, and this machine if its matchmaker is on it. */
void networks_fill(struct daemon *daemon, struct networks *networks, const char *matchmaker);
/* Writes the CA that a token's file has to STATE/ROLE/NAME, since the client wants a file of its own; `ret` gets its path, or is empty. */
int ca_keep(const struct daemon *daemon, const struct token_file *token, const char *name, char ret[DAEMON_PATH_MAX],
            struct err *err);

/* ---- daemon_listen.c ---- */

/* Fills in where the agent listens, and what others are told of that. The matchmakers and the token are known. */
void daemon_listen_find(struct daemon *daemon, const char *listen);
/* Does this machine reach the pool from a private address? Then other agents of it, if they were proved, may have such, too. */
bool pool_is_private(const char *matchmaker, const struct token_file *token);

/* ---- daemon_catalogues.c ---- */

struct catalogues;
/* Makes the catalogues of files that the daemon asks, in its loop; the caller frees them (live/data/catalogue.h) before the daemon is closed. NULL and
 * `err`. */
struct catalogues *daemon_catalogues(struct daemon *daemon, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
