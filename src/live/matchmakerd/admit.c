/* admit.c: which callers the matchmaker admits: those with a token of its own pool, and users of this machine, by their names here. */
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/base/mem.h"
#include "sys/secrets.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOCAL_SCOPES (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_JOB_SUBMIT | SCOPE_JOB_OWN | SCOPE_CLAIM | SCOPE_MATCH)
#define RESERVED_IDENTITY "matchmaker" /* our own: nobody else may have this name */
#define LOCAL_SPAN MINUTE              /* how long the name of a local user is remembered */

/* The name of a local user, as it was looked up a while ago. */
struct local_user {
    uint32_t uid;
    int64_t until; /* when it is looked up again; 0: the place is free */
    char name[TOKEN_NAME_MAX + 1];
};
#define LOCAL_USERS 64 /* names that are remembered at a time */

static bool token_is_revoked(void *user, const char *id)
{
    const struct matchmakerd *matchmakerd = user;

    return textmap_find(&matchmakerd->revoked, id, strlen(id)) != TEXTMAP_NONE;
}

/* The name of a user of this machine. It is remembered for a while: if names come from a directory, looking one up can take long, and
 * all others would wait meanwhile. */
static const char *local_name(struct matchmakerd *matchmakerd, uint32_t uid, int64_t now)
{
    struct local_user *user = &matchmakerd->local_users[uid % LOCAL_USERS];
    struct passwd row, *found = NULL;
    char text[2048];

    if (user->until > now && user->uid == uid)
        return user->name;
    getpwuid_r(uid, &row, text, sizeof text, &found);
    if (found && subject_valid(found->pw_name, strlen(found->pw_name)) &&
        strcmp(found->pw_name, RESERVED_IDENTITY) != 0)
        snprintf(user->name, sizeof user->name, "%s", found->pw_name);
    else
        snprintf(user->name, sizeof user->name, "uid.%u", uid);
    user->uid = uid;
    user->until = now + LOCAL_SPAN;
    return user->name;
}

/* The user who runs the matchmaker, and root, may do everything. */
static scopes local_admit(void *user, uint32_t uid, int64_t now, char ret_name[TOKEN_NAME_MAX + 1])
{
    snprintf(ret_name, TOKEN_NAME_MAX + 1, "%s", local_name(user, uid, now));
    return uid == geteuid() || uid == 0 ? SCOPE_ALL : LOCAL_SCOPES;
}

static bool token_proof(void *user, const char *token, size_t len, struct proof *ret)
{
    struct matchmakerd *matchmakerd = user;

    (void)token, (void)len;
    *ret = (struct proof){.tokens = matchmakerd->tokens,
                          .keys = &matchmakerd->token_keys,
                          .audience = keyring_pool(matchmakerd->keys),
                          .revoked = token_is_revoked,
                          .user = matchmakerd};
    return true;
}

static void token_refused(void *user, const struct proof *proof, enum token_fault fault)
{
    (void)proof;
    metrics_add(((struct matchmakerd *)user)->metrics, METRIC_TOKENS_REFUSED, fault, 0, 1);
}

static const char *matchmakerd_unready(const void *daemon)
{
    const struct matchmakerd *matchmakerd = daemon;

    return matchmakerd->stopping                   ? "the service is going down"
           : runner_is_broken(matchmakerd->runner) ? "the store has failed"
                                                   : NULL;
}

void matchmakerd_front(struct matchmakerd *matchmakerd)
{
    struct front_settings settings = {.parts = {{.table = &matchmakerd_routes,
                                                 .daemon = matchmakerd,
                                                 .gate = &matchmakerd->gate,
                                                 .config = &matchmakerd->config,
                                                 .symbols = matchmakerd->symbols,
                                                 .unready = matchmakerd_unready}},
                                      .part_count = 1,
                                      .log = &matchmakerd->log,
                                      .metrics = matchmakerd->metrics,
                                      .version = matchmakerd->settings->version};
    struct gate_settings gate = {.user = matchmakerd,
                                 .proof = token_proof,
                                 .local = local_admit,
                                 .refused = token_refused,
                                 .reserved = RESERVED_IDENTITY,
                                 .config = &matchmakerd->config};

    matchmakerd->local_users = mem_alloc(LOCAL_USERS * sizeof *matchmakerd->local_users);
    memset(matchmakerd->local_users, 0, LOCAL_USERS * sizeof *matchmakerd->local_users);
    gate_init(&matchmakerd->gate, &gate, secrets_word(&secrets_live));
    front_init(&matchmakerd->front, &settings);
}
