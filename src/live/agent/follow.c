/* follow.c: which of a pool's matchmakers an agent asks: those that it was told of, and the one of them that leads.
 *
 *     the settings, or the token's file -----> the first ones: they stay
 *     the matchmaker, with the pool's keys --> further ones: the last list counts
 *
 * A matchmaker that stands by names the leader, which is followed if it is one of these: what it says adds none. Where nobody is, or none leads, the
 * next is asked. What a matchmaker adds has to be encrypted and proved by the pool's CA, for a token is shown there; or to be on this machine, where the
 * one that tells it is not encrypted either. */
#include "live/agent/agent_parts.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "live/config/address.h"

#include <stdlib.h>
#include <string.h>

#define PLACE_BYTES_MAX 300
#define MOVES_AT_ONCE 2 /* one after the other; then there may be no leader yet */

void follow_init(struct membership *pool)
{
    for (size_t i = 0; i < pool->is.matchmaker_count && pool->place_count < AGENT_PLACES_MAX; i++)
        pool->places[pool->place_count++] = mem_dup(pool->is.matchmakers[i], strlen(pool->is.matchmakers[i]));
    pool->own_places = pool->place_count;
}

void follow_done(struct membership *pool)
{
    while (pool->place_count)
        free(pool->places[--pool->place_count]);
}

static size_t place_find(const struct membership *pool, const char *url)
{
    size_t at = 0;

    while (at < pool->place_count && strcmp(pool->places[at], url) != 0)
        at++;
    return at;
}

/* May a matchmaker add that address? */
static bool place_may(const struct membership *pool, const char *text)
{
    struct err ignored;
    struct url url;

    if (url_read(text, strlen(text), &url, &ignored) < 0 || url.path_len)
        return false;
    if (url.secure)
        return pool->is.ca_file;
    return url_is_loopback(text) && strncmp(pool->places[pool->at], "https:", 6) != 0;
}

void follow_learn(struct membership *pool, const struct tree *keys)
{
    const struct expr *list = ad_find(keys, "Matchmakers"), *parts;
    char *present = mem_dup(pool->places[pool->at], strlen(pool->places[pool->at]));

    while (pool->place_count > pool->own_places)
        free(pool->places[--pool->place_count]);
    parts = list && list->kind == EXPR_LIST ? tree_parts(keys, list) : NULL;
    pool->at = 0;
    for (uint32_t i = 0; parts && i < list->u.run.count && pool->place_count < AGENT_PLACES_MAX - 1; i++) {
        const char *text = parts[i].kind == EXPR_STRING ? tree_string(keys, &parts[i]) : NULL;
        char url[PLACE_BYTES_MAX + 1];

        if (!text || parts[i].u.run.count > PLACE_BYTES_MAX || memchr(text, '\0', parts[i].u.run.count))
            continue;
        memcpy(url, text, parts[i].u.run.count);
        url[parts[i].u.run.count] = '\0';
        if (place_find(pool, url) == pool->place_count && (!strcmp(url, present) || place_may(pool, url)))
            pool->places[pool->place_count++] = mem_dup(url, strlen(url));
    }
    pool->at = place_find(pool, present);
    if (pool->at == pool->place_count)
        pool->places[pool->place_count++] = present; /* it is asked until it fails */
    else
        free(present);
}

static void follow_to(struct membership *pool, size_t at)
{
    pool->failures = 0;
    pool->at = at;
    pool->live->counts.failed_over++;
    pool->standing = UNKNOWN_THERE;
    pool->keys_asked = 0;
    client_cancel(pool->client, pool->describe_call); /* whoever is asked there may be stopped */
    pool->describe_call = 0;
    pool->describing = false;
    LOG(pool->live->settings->log, LEVEL_WARNING, "matchmaker.next",
        log_text("pool", *pool->is.name ? pool->is.name : NULL), log_text("url", pool->places[at]));
}

bool follow_next(struct membership *pool)
{
    if (pool->place_count < 2)
        return false;
    follow_to(pool, (pool->at + 1) % pool->place_count);
    return true;
}

enum followed follow_outcome(struct membership *pool, const struct http_outcome *outcome)
{
    bool stands_by = http_stands_by(outcome);
    size_t leader;

    if (!stands_by && outcome->result != CALL_UNREACHED)
        return FOLLOWED_NONE;
    leader = stands_by && outcome->leader ? place_find(pool, outcome->leader) : pool->place_count;
    if (leader < pool->place_count && leader != pool->at)
        follow_to(pool, leader);
    else if (!follow_next(pool))
        return stands_by ? FOLLOWED_LATER : FOLLOWED_NONE;
    return ++pool->moves <= MOVES_AT_ONCE ? FOLLOWED_AT_ONCE : FOLLOWED_LATER;
}
