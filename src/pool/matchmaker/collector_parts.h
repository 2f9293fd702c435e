/* collector_parts.h: what the files of the collector share; private to them.
 *
 *     collector.c        entries, their ledgers, and answers
 *     collector_text.c   what a text says of itself
 *     collector_share.c  what ads count for, and which accounts they are charged to
 *     collector_valid.c  do the books balance? */
#ifndef BERTH_POOL_MATCHMAKER_COLLECTOR_PARTS_H
#define BERTH_POOL_MATCHMAKER_COLLECTOR_PARTS_H

#include "lang/ad/eval.h"
#include "pool/matchmaker/collector.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An agent's tally: entries in the upper half, living ones in the lower. */
#define LIVE_ONE UINT64_C(1)
#define ENTRY_ONE (UINT64_C(1) << 32)

static inline struct env eval_env(const struct role_env *env)
{
    struct env ret = {.now = wall_seconds(env->wall), .zone = env->zone};

    return ret;
}

/* collector.c */
uint32_t entry_find(const struct collector *collector, agent who, uint64_t id); /* UINT32_MAX: none */
uint64_t text_bytes(const struct tree *text);
void entry_set_user(struct collector *collector, struct entry *entry, uint32_t user);
void entry_set_remote(struct collector *collector, struct entry *entry, uint32_t remote);

/* collector_share.c */
void entry_unweigh(struct collector *collector, uint32_t entry); /* what is left of the ad has changed */
uint32_t entry_account(const struct collector *collector, const struct text *owner, const struct text *group);

/* collector_text.c */
struct text_terms {
    struct text owner, group;
    struct text remote, remote_group; /* "" when the ad has no RemoteUser, or RemoteGroup, that is a string */
    int64_t units, lifetime;
    struct engine_turn turn; /* `submitted` is 0 when the ad does not say */
};

/* May that peer advertise the ad? Then `ret` gets what the ad says. */
enum reason text_check(const struct collector *collector, const struct role_env *env, const struct peer *peer,
                       const struct advertise *advertise, struct text_terms *ret);

/* Does the text say the same as the one before? Then that one stays, which costs the engine nothing. */
bool text_is_same(const struct collector *collector, const struct tree *before, const struct tree *ad,
                  const char *identity, const struct text_terms *terms);

/* The ad with the attributes that the matchmaker adds; NULL when it is too long then. The caller unrefs it. */
struct tree *text_write(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                        const char *identity, const struct text_terms *terms);

#ifdef __cplusplus
}
#endif
#endif
