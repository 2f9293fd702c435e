/* daemon_pools.c: the pools of a live customer or provider, as the setting Pools names them. */
#include "live/agent/daemon_parts.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int daemon_pools_read(struct daemon *daemon, struct err *err)
{
    const struct config_value *value = &daemon->config.values[CONFIG_POOLS];

    if (pool_list_parse(&daemon->list, daemon->symbols, config_ads(&daemon->config, CONFIG_POOLS), err) == 0)
        return 0;
    return err_context(err, "Pools (%.100s)", value->from);
}

const struct pool_entry *daemon_pool_own(const struct daemon *daemon)
{
    for (uint32_t i = 0; i < daemon->list.count; i++)
        if (!daemon->list.items[i].token)
            return &daemon->list.items[i];
    return daemon->list.count ? daemon->list.items : NULL;
}

/* Opens a further pool. The token says who we are there, and its file where the pool is. */
static int pool_open(struct daemon *daemon, const struct pool_entry *entry, struct daemon_pool *other,
                     struct agent_pool *ret, struct err *err)
{
    char name[TOKEN_NAME_MAX + 16];
    struct grant grant;

    snprintf(other->token_path, sizeof other->token_path, "%.4000s", entry->token);
    if (token_file_read(other->token_path, &other->token, err) < 0) {
        token_file_init(&other->token);
        return -1;
    }
    if (!other->token.has_key)
        return err_set(err, "%.200s: the token has no key to delegate by", entry->token);
    if (token_read(other->token.token, strlen(other->token.token), &grant) != TOKEN_OK)
        return err_set(err, "%.200s: the token cannot be read", entry->token);
    snprintf(other->identity, sizeof other->identity, "%s", grant.subject);
    for (; ret->matchmaker_count < entry->matchmaker_count; ret->matchmaker_count++)
        other->matchmakers[ret->matchmaker_count] = entry->matchmakers[ret->matchmaker_count];
    if (!ret->matchmaker_count && !other->token.pool)
        return err_set(err, "Matchmaker: it is not said here, and %.200s does not tell either", entry->token);
    if (!ret->matchmaker_count) { /* a copy: the token is renewed */
        snprintf(other->matchmaker, sizeof other->matchmaker, "%s", other->token.pool);
        other->matchmakers[ret->matchmaker_count++] = other->matchmaker;
    }
    snprintf(name, sizeof name, "ca.%s.pem", entry->name);
    if (entry->ca)
        snprintf(other->ca_file, sizeof other->ca_file, "%.4000s", entry->ca);
    else if (ca_keep(daemon, &other->token, name, other->ca_file, err) < 0)
        return -1;
    ret->name = entry->name;
    ret->matchmakers = other->matchmakers;
    ret->token = &other->token;
    ret->identity = other->identity;
    ret->ca_file = *other->ca_file ? other->ca_file : NULL;
    ret->networks = &other->networks;
    ret->private_peers = pool_is_private(other->matchmakers[0], &other->token);
    return 0;
}

int daemon_pools_open(struct daemon *daemon, struct err *err)
{
    const struct pool_entry *own = daemon_pool_own(daemon);

    if (own && own->token && !own->matchmaker_count && !daemon->token.pool)
        return err_set(err, "Pools: %s.Matchmaker: it is not said, and %.200s does not tell either", own->name,
                       own->token);
    daemon->others = mem_alloc(POOL_LIST_MAX * sizeof *daemon->others);
    daemon->pools = mem_alloc(POOL_LIST_MAX * sizeof *daemon->pools);
    memset(daemon->others, 0, POOL_LIST_MAX * sizeof *daemon->others);
    memset(daemon->pools, 0, POOL_LIST_MAX * sizeof *daemon->pools);
    for (uint32_t i = 0; i < daemon->list.count; i++) {
        const struct pool_entry *entry = &daemon->list.items[i];
        struct daemon_pool *other = &daemon->others[daemon->other_count];
        struct agent_pool *pool = &daemon->pools[daemon->other_count];

        if (entry == own)
            continue;
        daemon->other_count++;
        token_file_init(&other->token);
        networks_init(&other->networks);
        if (pool_open(daemon, entry, other, pool, err) < 0)
            return err_context(err, "Pools (%.100s): %s", daemon->config.values[CONFIG_POOLS].from, entry->name);
    }
    return 0;
}

void daemon_pools_done(struct daemon *daemon)
{
    for (uint32_t i = 0; i < daemon->other_count; i++) {
        networks_done(&daemon->others[i].networks);
        token_file_done(&daemon->others[i].token);
    }
    free(daemon->others);
    free(daemon->pools);
    pool_list_done(&daemon->list);
}

void daemon_pools_networks(struct daemon *daemon)
{
    for (uint32_t i = 0; i < daemon->other_count; i++)
        networks_fill(daemon, &daemon->others[i].networks, daemon->others[i].matchmakers[0]);
}

const char *daemon_pools_words(const struct daemon *daemon, const struct live_agent *live, struct buf *ret)
{
    if (daemon->list.count < 2)
        return agent_asks(live);
    buf_reset(ret);
    for (uint32_t i = 0; i < agent_pools(live); i++) {
        struct agent_pool_view view = agent_pool_view(live, i);

        buf_addf(ret, "%s%s (%s)", i ? ", " : "", view.name, view.url);
    }
    return buf_string(ret);
}

struct tree *daemon_pools_ad(struct daemon *daemon, const struct live_agent *live, struct tree *status)
{
    struct tree *rows[POOL_LIST_MAX], *both;
    struct maker maker;

    if (!daemon->list.count)
        return status;
    for (uint32_t i = 0; i < daemon->list.count; i++) {
        const struct pool_entry *entry = &daemon->list.items[i];
        struct agent_pool_view view = {.name = ""};

        for (uint32_t k = 0; k < agent_pools(live) && strcmp(view.name, entry->name) != 0; k++)
            view = agent_pool_view(live, k);
        maker_init(&maker, daemon->symbols);
        maker_text(&maker, "Name", entry->name);
        maker_text(&maker, "Matchmaker", view.url);
        maker_text(&maker, "Identity", view.identity);
        maker_flag(&maker, "Connected", view.connected);
        if (entry->share > 0)
            maker_real(&maker, "Share", entry->share);
        rows[i] = maker_seal(&maker);
    }
    maker_init(&maker, daemon->symbols);
    maker_parts(&maker, status, NULL);
    maker_list(&maker, "Pools", rows, daemon->list.count);
    both = maker_seal(&maker);
    for (uint32_t i = 0; i < daemon->list.count; i++)
        tree_unref(rows[i]);
    tree_unref(status);
    return both;
}
