/* customer_request.c: which callers the customer admits, and what they may see; the job numbers in a request.
 *
 * On the Unix socket the user who runs the customer, and root, may do everything; if the setting SubmitFor names its group, another user of
 * the machine may submit jobs, and sees its own. By TCP a token for this agent decides. */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/recovery.h"

#include "sys/secrets.h"
#include "sys/unix_users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------------------- gate */

/* The identity of an account: its name, with the domain of this host. False: it cannot be one. */
static bool account_identity(const struct customerd *customerd, const char *name, char ret[TOKEN_NAME_MAX + 1])
{
    const char *domain = config_text(&customerd->daemon.config, CONFIG_SUBMIT_DOMAIN);
    int len = snprintf(ret, TOKEN_NAME_MAX + 1, "%s%s%s", name, *domain ? "@" : "", domain);

    return len <= TEXT_MAX && unix_account_valid(ret);
}

static void account_admit(const struct customerd *customerd, uint32_t uid, int64_t now, struct gate_local *ret)
{
    struct unix_user account;

    switch (unix_users_look(customerd->users, uid, now, &account)) {
    case UNIX_USERS_LATER:
        ret->later = true;
        return;
    case UNIX_USERS_NOBODY:
        ret->why = "SubmitFor: your user id has no account on this machine";
        return;
    case UNIX_USERS_FOUND:
        break;
    }
    if (!account.listed)
        ret->why = "SubmitFor: you are in none of the groups whose members may submit jobs here";
    else if (!account_identity(customerd, account.name, ret->name))
        ret->why = "SubmitFor: the name of your account cannot be a user's of the pool";
    else if (!strcmp(ret->name, customerd->daemon.identity))
        ret->why =
            "SubmitFor: your account has the name that this service has in the pool; SubmitDomain tells them apart";
    else
        ret->scope = SCOPE_JOB_SUBMIT | SCOPE_OWN_JOBS;
}

static void local_admit(void *user, uint32_t uid, int64_t now, struct gate_local *ret)
{
    const struct customerd *customerd = user;

    if (uid == geteuid() || uid == 0) {
        snprintf(ret->name, sizeof ret->name, "%s", customerd->daemon.identity);
        ret->scope = SCOPE_ALL;
    } else if (customerd->users) {
        account_admit(customerd, uid, now, ret);
    }
}

/* Tokens are those of the customer's own pool. */
static bool token_proof(void *user, const char *token, size_t len, struct proof *ret)
{
    const struct customerd *customerd = user;

    (void)token, (void)len;
    return agent_proof(customerd->live, ret);
}

/* The customer still answers the user who runs it by the Unix socket, also when that one is disabled: what is in the queue can be looked at and
 * removed. Others of the machine are refused. */
static const char *user_disabled(void *user, const struct proof *proof, const char *identity)
{
    const struct customerd *customerd = user;

    return agent_disables(customerd->live, proof, identity);
}

static void token_refused(void *user, const struct proof *proof, enum token_fault fault)
{
    const struct customerd *customerd = user;

    metrics_add(customerd->daemon.metrics, METRIC_TOKENS_REFUSED, fault, 0, 1);
    agent_refuses(proof, fault);
}

static const char *customerd_unready(const void *daemon)
{
    const struct customerd *customerd = daemon;

    if (customerd->stopping)
        return CUSTOMERD_DOWN;
    if (!runner_is_broken(customerd->runner))
        return customerd->recovery ? recovery_words(customerd->recovery) : NULL;
    return agent_is_superseded(customerd->live)
               ? "another customer with this name and a copy of this state began later: this one takes no more work"
               : "the store has failed";
}

static const char *customerd_unwritable(const void *daemon)
{
    const struct customerd *customerd = daemon;

    return runner_is_away(customerd->runner) ? STORE_AWAY_WORDS : NULL;
}

static bool customerd_misread(void *daemon)
{
    return runner_misread(((struct customerd *)daemon)->runner);
}

void customerd_front(struct customerd *customerd, struct front_part *ret)
{
    struct gate_settings gate = {.user = customerd,
                                 .proof = token_proof,
                                 .local = local_admit,
                                 .refused = token_refused,
                                 .disabled = user_disabled,
                                 .config = &customerd->daemon.config,
                                 .people_are_agents = true, /* a submission makes a request for each file */
                                 .bodies_account = CUSTOMERD_BODIES_MAX};

    gate_init(&customerd->gate, &gate, secrets_word(&secrets_live));
    *ret = (struct front_part){.table = &customerd_routes,
                               .daemon = customerd,
                               .gate = &customerd->gate,
                               .config = &customerd->daemon.config,
                               .symbols = customerd->daemon.symbols,
                               .turns = true,
                               .elsewhere = customerd_elsewhere,
                               .unready = customerd_unready,
                               .unwritable = customerd_unwritable,
                               .misread = customerd_misread,
                               .refused = customer_audit_refusal};
}

/* -------------------------------------------------------------------------------------------------------------- caller */

bool caller_sees_all(const struct request *request)
{
    return request->caller.scope & SCOPE_JOB_ANY;
}

bool caller_sees(const struct request *request, const char *owner, size_t len)
{
    const char *identity = request_identity(request);

    return caller_sees_all(request) || (strlen(identity) == len && !memcmp(identity, owner, len));
}

bool caller_next(const struct request *request, uint64_t after, struct job_view *ret)
{
    const struct customer *customer = request_customerd(request)->customer;

    return caller_sees_all(request) ? customer_next(customer, after, ret)
                                    : customer_next_of(customer, request_identity(request), after, ret);
}

void caller_peer(const struct request *request, struct peer *ret)
{
    *ret = (struct peer){.agent = request_customerd(request)->role.self,
                         .identity = request_identity(request),
                         .any = caller_sees_all(request)};
}

/* ------------------------------------------------------------------------------------------------------------- numbers */

uint64_t request_job(const struct request *request)
{
    const char *text = request_variable(request, 0);
    size_t len = strlen(text);

    return len && len < 16 && strspn(text, "0123456789") == len ? strtoull(text, NULL, 10) : 0;
}

static bool number_read(const char **at, const char *end, uint64_t *ret)
{
    const char *from = *at;

    for (*ret = 0; *at < end && **at >= '0' && **at <= '9' && *at - from < 15; (*at)++)
        *ret = *ret * 10 + (uint64_t)(**at - '0');
    return *at > from;
}

static int range_order(const void *a, const void *b)
{
    const struct id_range *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

bool id_ranges_read(const char *text, size_t len, struct id_ranges *ret)
{
    const char *at = text, *end = text + len;

    ret->count = 0;
    while (at < end) {
        struct id_range *range = &ret->items[ret->count];

        if (ret->count == CUSTOMERD_RANGES_MAX || !number_read(&at, end, &range->first))
            return false;
        range->last = range->first;
        if (at < end && *at == '-') {
            at++;
            if (!number_read(&at, end, &range->last))
                return false;
        }
        if (range->last < range->first || !range->first)
            return false;
        ret->count++;
        if (at < end && (*at++ != ',' || at == end))
            return false;
    }
    qsort(ret->items, ret->count, sizeof *ret->items, range_order);
    return ret->count > 0;
}

uint64_t id_ranges_end(const struct id_ranges *ranges, uint64_t number)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ranges->items[i].first <= number && number <= ranges->items[i].last)
            return ranges->items[i].last;
    return number;
}

uint64_t id_ranges_next(const struct id_ranges *ranges, uint64_t after)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct id_range *range = &ranges->items[i];

        if (range->first > after)
            return range->first;
        if (range->last > after)
            return after + 1;
    }
    return 0;
}
