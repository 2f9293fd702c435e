/* admit.c: which callers the matchmaker admits: those with a token of its own pool, and users of this machine, by their names here. */
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "live/auth/roles.h"
#include "live/http/standby.h"
#include "store/store.h"
#include "sys/secrets.h"
#include "sys/unix_users.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool token_is_revoked(void *user, const char *id)
{
    const struct matchmakerd *matchmakerd = user;

    return textmap_find(&matchmakerd->revoked, id, strlen(id)) != TEXTMAP_NONE;
}

/* The user who runs the matchmaker, and root, may do everything. Who has no account, or one whose name would be somebody else's, is known by its
 * number. */
static void local_admit(void *user, uint32_t uid, int64_t now, struct gate_local *ret)
{
    struct matchmakerd *matchmakerd = user;
    struct unix_user account;

    switch (unix_users_look(matchmakerd->local_users, uid, now, &account)) {
    case UNIX_USERS_LATER:
        ret->later = true;
        return;
    case UNIX_USERS_FOUND:
        if (unix_account_valid(account.name)) {
            snprintf(ret->name, sizeof ret->name, "%.*s", TOKEN_NAME_MAX, account.name);
            break;
        }
        /* fall through */
    case UNIX_USERS_NOBODY:
        snprintf(ret->name, sizeof ret->name, "uid.%u", uid);
        break;
    }
    ret->scope = uid == geteuid() || uid == 0 ? SCOPE_ALL : ROLE_PERSON;
}

static const char *user_disabled(void *user, const struct proof *proof, const char *identity)
{
    const struct matchmakerd *matchmakerd = user;
    const struct disabled_entry *entry = disabled_find(&matchmakerd->disabled, identity, strlen(identity));

    (void)proof;
    return entry ? entry->words : NULL;
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

/* Where others stand by, one of them may lead when the lease has run out, and may have revoked what is still good here. */
static bool is_deposed(const struct matchmakerd *matchmakerd)
{
    struct store_replica replicas[STORE_REPLICAS_MAX];
    struct shelf *shelf = matchmakerd->shelf;

    return shelf->kind->may_act && !shelf->kind->may_act(shelf) && matchmakerd_replicas(matchmakerd, replicas) > 1;
}

static const char *matchmakerd_unready(const void *daemon)
{
    const struct matchmakerd *matchmakerd = daemon;

    if (matchmakerd->standby)
        return NULL; /* what a standby answers needs nothing */
    return matchmakerd->stopping                   ? "the service is going down"
           : runner_is_broken(matchmakerd->runner) ? "the store has failed"
           : is_deposed(matchmakerd)               ? "the lease has run out: another matchmaker may lead"
                                                   : NULL;
}

static bool matchmakerd_elsewhere(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);

    if (matchmakerd->standby)
        return standby_answers(matchmakerd->standby, request);
    if (!is_deposed(matchmakerd) || (request->route && request->route->handle == front_health))
        return false;
    standby_deposed(request, "matchmaker");
    return true;
}

static const char *matchmakerd_unwritable(const void *daemon)
{
    const struct matchmakerd *matchmakerd = daemon;

    return runner_is_away(matchmakerd->runner) ? STORE_AWAY_WORDS : NULL;
}

static bool matchmakerd_misread(void *daemon)
{
    return runner_misread(((struct matchmakerd *)daemon)->runner);
}

void matchmakerd_front(struct matchmakerd *matchmakerd)
{
    struct front_settings settings = {.parts = {{.table = &matchmakerd_routes,
                                                 .daemon = matchmakerd,
                                                 .gate = &matchmakerd->gate,
                                                 .config = &matchmakerd->config,
                                                 .symbols = matchmakerd->symbols,
                                                 .elsewhere = matchmakerd_elsewhere,
                                                 .unready = matchmakerd_unready,
                                                 .unwritable = matchmakerd_unwritable,
                                                 .misread = matchmakerd_misread,
                                                 .refused = request_audit_refusal}},
                                      .part_count = 1,
                                      .log = &matchmakerd->log,
                                      .loop = matchmakerd->loop,
                                      .memory = &matchmakerd->memory,
                                      .metrics = matchmakerd->metrics,
                                      .version = matchmakerd->settings->version};
    struct gate_settings gate = {.user = matchmakerd,
                                 .proof = token_proof,
                                 .local = local_admit,
                                 .refused = token_refused,
                                 .disabled = user_disabled,
                                 .reserved = RESERVED_IDENTITY,
                                 .config = &matchmakerd->config};

    memory_watch_init(&matchmakerd->memory, &matchmakerd->config, &matchmakerd->log);
    matchmakerd->local_users = unix_users_new(NULL, 0);
    gate_init(&matchmakerd->gate, &gate, secrets_word(&secrets_live));
    front_init(&matchmakerd->front, &settings);
}
