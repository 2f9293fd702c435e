/* token_cache.c: tokens that were found good, by the hash of their text.
 *
 *     text --BLAKE2b with a key of our own--> 32 bytes; the first 8 --map--> entry; the other 24 must agree
 *
 *     entries: a ring of `room`; the next one in takes the place of the oldest
 *
 * The key makes it impossible to look for texts that fall together. */
#include "live/auth/token.h"

#include "lang/base/map.h"
#include "live/auth/token_parts.h"

#include <sodium.h>
#include <stdlib.h>

#define HASH_BYTES 32

struct entry {
    unsigned char hash[HASH_BYTES];
    bool live;
    struct grant grant;
};

struct token_cache {
    struct map places;
    struct entry *entries;
    uint32_t room, made, next; /* entries that there may be, that there are, and the one that is taken next */
    unsigned char key[crypto_generichash_KEYBYTES];
};

struct token_cache *token_cache_new(uint32_t room)
{
    struct token_cache *cache = mem_alloc(sizeof *cache);
    uint64_t seed;

    if (sodium_init() < 0)
        abort();
    *cache = (struct token_cache){.room = room ? room : TOKEN_CACHE_ROOM};
    randombytes_buf(cache->key, sizeof cache->key);
    randombytes_buf(&seed, sizeof seed);
    map_init(&cache->places, seed);
    return cache;
}

void token_cache_free(struct token_cache *cache)
{
    if (!cache)
        return;
    map_done(&cache->places);
    free(cache->entries);
    sodium_memzero(cache->key, sizeof cache->key);
    free(cache);
}

uint32_t token_cache_count(const struct token_cache *cache)
{
    return map_count(&cache->places);
}

static uint64_t hash_place(const unsigned char hash[HASH_BYTES])
{
    uint64_t place;

    memcpy(&place, hash, sizeof place);
    return place;
}

static struct entry *entry_find(const struct token_cache *cache, const unsigned char hash[HASH_BYTES])
{
    uint64_t at = map_find(&cache->places, hash_place(hash));

    if (at == MAP_NONE || sodium_memcmp(cache->entries[at].hash, hash, HASH_BYTES) != 0)
        return NULL;
    return &cache->entries[at];
}

/* Drops an entry. Where another has taken over its place in the map, that stays. */
static void entry_drop(struct token_cache *cache, struct entry *entry)
{
    if (entry->live && entry_find(cache, entry->hash) == entry)
        map_remove(&cache->places, hash_place(entry->hash));
    entry->live = false;
}

static void entry_add(struct token_cache *cache, const unsigned char hash[HASH_BYTES], const struct grant *grant)
{
    struct entry *entry;

    if (cache->next == cache->made && cache->made < cache->room) {
        uint32_t made = cache->made ? 2 * cache->made : 16;

        made = made < cache->made || made > cache->room ? cache->room : made;
        cache->entries = mem_grow(cache->entries, made * sizeof *cache->entries);
        for (; cache->made < made; cache->made++)
            cache->entries[cache->made].live = false;
    }
    if (cache->next == cache->made)
        cache->next = 0;
    entry = &cache->entries[cache->next];
    entry_drop(cache, entry);
    memcpy(entry->hash, hash, HASH_BYTES);
    entry->grant = *grant;
    entry->live = true;
    map_set(&cache->places, hash_place(hash), cache->next++);
}

static bool key_known(const struct token_keys *keys, const struct grant *grant)
{
    for (uint32_t i = 0; i < keys->count && i < TOKEN_KEYS_MAX; i++)
        if (strcmp(keys->keys[i].id, grant->key) == 0)
            return strcmp(keys->issuer, grant->issuer) == 0;
    return false;
}

/* Was one of the links revoked? Where nobody can be asked, all are taken for revoked. */
static bool is_revoked(const struct grant *grant, token_revoked_fn *revoked, void *user)
{
    if (!revoked)
        return true;
    for (uint32_t i = 0; i < grant->links; i++)
        if (revoked(user, grant->ids[i]))
            return true;
    return false;
}

static void text_hash(const struct token_cache *cache, const char *text, size_t len, unsigned char ret[HASH_BYTES])
{
    crypto_generichash(ret, HASH_BYTES, (const unsigned char *)text, len, cache->key, sizeof cache->key);
}

bool token_cache_find(const struct token_cache *cache, const char *text, size_t len, struct grant *ret)
{
    unsigned char hash[HASH_BYTES];
    const struct entry *entry;

    text_hash(cache, text, len, hash);
    entry = entry_find(cache, hash);
    if (entry)
        *ret = entry->grant;
    return entry != NULL;
}

void token_cache_keep(struct token_cache *cache, const char *text, size_t len, const struct grant *grant)
{
    unsigned char hash[HASH_BYTES];

    text_hash(cache, text, len, hash);
    if (!entry_find(cache, hash))
        entry_add(cache, hash, grant);
}

void token_cache_forget(struct token_cache *cache)
{
    for (uint32_t i = 0; i < cache->made; i++)
        entry_drop(cache, &cache->entries[i]);
}

enum token_fault token_check(const struct proof *proof, const char *text, size_t len, int64_t now, struct grant *ret)
{
    unsigned char hash[HASH_BYTES];
    enum token_fault fault;
    struct entry *entry;
    struct grant grant;
    struct token_cache *cache = proof->tokens;

    if (len > TOKEN_BYTES_MAX)
        return TOKEN_TOO_LONG;
    text_hash(cache, text, len, hash);
    entry = entry_find(cache, hash);
    if (entry && key_known(proof->keys, &entry->grant)) {
        grant = entry->grant;
        fault = grant_check(&grant, proof->audience, now);
    } else {
        fault = token_verify(proof->keys, proof->audience, text, len, now, &grant);
    }
    if (!fault && is_revoked(&grant, proof->revoked, proof->user))
        fault = TOKEN_REVOKED;
    if (entry && fault)
        entry_drop(cache, entry);
    if (!fault && !entry)
        entry_add(cache, hash, &grant);
    if (!fault)
        *ret = grant;
    return fault;
}

void token_cache_retain(struct token_cache *cache, const struct token_keys *keys)
{
    for (uint32_t i = 0; i < cache->made; i++)
        if (cache->entries[i].live && !key_known(keys, &cache->entries[i].grant))
            entry_drop(cache, &cache->entries[i]);
}
