/* agent.h: a provider or a customer, live: a role whose messages go to the matchmaker and to other agents over HTTP.
 *
 *     to the matchmaker   ADVERTISE, WITHDRAW -> POST /v1/ads     REPORT -> POST /v1/claims
 *     to another agent    POST ADDRESS/v1/messages, by a token for that agent alone; or, where it cannot be called, by the
 *                         matchmaker's relay, sealed: the matchmaker can delay or drop it, not read or change it
 *     from others         letters of the matchmaker (matches, relayed messages), by a stream of events that is kept open;
 *                         and calls, where the agent listens
 *
 * Several matchmakers may be named: when one does not answer, the next is asked. */
#ifndef BERTH_NET_AGENT_H
#define BERTH_NET_AGENT_H

#include "net/address.h"
#include "net/log.h"
#include "net/runner.h"
#include "net/token.h"

#ifdef __cplusplus
extern "C" {
#endif

struct agent_settings {
    const struct role_kind *role;
    const void *role_settings; /* self and matchmaker as agent_self and agent_matchmaker say */
    const struct spans *spans;
    struct symbols *symbols; /* of all its ads */
    struct shelf *shelf;
    struct log *log;
    const char *const *matchmakers; /* URLs, or unix:PATH */
    size_t matchmaker_count;
    const struct token_file *token;  /* with a key to delegate by */
    const char *identity, *name;     /* whose agent it is, and which */
    const char *ca_file;             /* of the pool; NULL: none */
    const char *listen;              /* an address where it can be called; NULL: it cannot */
    const char *contact;             /* by which others call it; NULL: that of `listen` */
    const struct networks *networks; /* in which others may be, beside public ones */
    const char *version;
    void (*job)(void *user, const struct effect *effect); /* EFFECT_JOB, EFFECT_DEADLINE, EFFECT_STOP; or NULL */
    void (*broken)(void *user, const char *why);          /* the shelf has failed: it does nothing more */
    void *user;
};

struct live_agent;

/* All that is named in the settings outlives it. The role has loaded its rows; EVENT_BOOTED is the caller's to give. */
struct live_agent *agent_new(struct uv_loop_s *loop, const struct agent_settings *settings, struct err *err);
void agent_free(struct live_agent *live); /* the loop has to run once more */

struct runner *agent_runner(const struct live_agent *live);
const char *agent_address(const struct live_agent *live); /* where it listens, "" when it does not */

/* The handles that roles go by. */
agent agent_self(const char *identity, const char *name);
agent agent_matchmaker(void);

struct agent_counts {
    uint64_t sent, answered, relayed, taken, failed_over, refused;
};
struct agent_counts agent_counts(const struct live_agent *live);

#ifdef __cplusplus
}
#endif
#endif
