/* copies_stores.c: the stores of the pool: which may get a copy of a file, and which are away.
 *
 * Anybody may advertise a store, of any name and any place. A copy goes to those of the customer's own account alone, and to those of the identities
 * that StoreOwners names, and these are asked for first, each for themselves: however many others advertise, they are known. */
#include "live/customerd/copies_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "match/pair/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- the list */

void copies_stores_clear(struct copies *all)
{
    for (uint32_t i = 0; i < all->store_count; i++)
        tree_unref(all->stores[i]);
    free(all->stores);
    all->stores = NULL;
    all->store_count = 0;
    all->owner = 0;
}

static int by_name(const void *a, const void *b)
{
    struct store_place left = {.port = 0}, right = {.port = 0};

    (void)store_read(*(struct tree *const *)a, &left, NULL);
    (void)store_read(*(struct tree *const *)b, &right, NULL);
    return strcmp(left.name, right.name);
}

static const char *const *store_owners(const struct copies *all, size_t *ret_count)
{
    return config_list(&all->customerd->daemon.config, CONFIG_STORE_OWNERS, ret_count);
}

void copies_stores_path(const struct copies *all, struct buf *out)
{
    const char *identity = all->customerd->daemon.identity;
    size_t count, len = account_len(identity, strlen(identity));
    const char *const *owners = store_owners(all, &count);
    struct buf query;

    buf_init(&query);
    buf_adds(&query, "Type == \"" STORE_TYPE "\"");
    if (all->owner < count) {
        buf_adds(&query, " && Identity is ");
        print_string(&query, owners[all->owner], strlen(owners[all->owner]), PRINT_PLAIN);
    } else if (!count && !all->owner) {
        buf_adds(&query, " && (Identity is ");
        print_string(&query, identity, len, PRINT_PLAIN);
        buf_addf(&query, " || substr(Identity, 0, %zu) is strcat(", len + 1);
        print_string(&query, identity, len, PRINT_PLAIN);
        buf_adds(&query, ", \"/\"))");
    }
    buf_adds(out, "/v1/ads?limit=1000&constraint=");
    url_value_add(out, buf_string(&query));
    buf_done(&query);
}

static bool is_usable(const struct copies *all, const struct tree *ad);

static bool is_others_turn(const struct copies *all)
{
    size_t count;

    (void)store_owners(all, &count);
    return all->owner >= (count ? count : 1);
}

void copies_stores_read(struct copies *all, const char *body, size_t len)
{
    struct form_text reading = {body, len};
    struct form_reader *reader =
        form_reader_new(all->customerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL, form_text_read, &reading);
    bool others = is_others_turn(all);
    struct tree *ad;
    struct err err;

    if (!all->stores)
        all->stores = mem_alloc(COPIES_STORES_MAX * sizeof(struct tree *));
    while (all->store_count < COPIES_STORES_MAX && form_reader_next(reader, &ad, &err) == 1)
        if (is_usable(all, ad) != others)
            all->stores[all->store_count++] = ad;
        else
            tree_unref(ad); /* it was there already, or is not whose it was asked for */
    form_reader_free(reader);
}

bool copies_stores_more(struct copies *all)
{
    if (is_others_turn(all) || all->store_count == COPIES_STORES_MAX) {
        qsort(all->stores, all->store_count, sizeof(struct tree *), by_name);
        return false;
    }
    all->owner++;
    return true;
}

/* ----------------------------------------------------------------------------------------------------------------- away */

static bool text_is(const char *text, size_t len, const char *other)
{
    return strlen(other) == len && !memcmp(text, other, len);
}

/* Finds the place beneath which the URL lies, as a store of that name that may be used, or may not, advertises it. */
static bool place_among(const struct copies *all, bool usable, const char *store, const char *url, struct buf *ret)
{
    struct store_place place;
    const char *name;
    size_t len;

    for (uint32_t i = 0; i < all->store_count; i++) {
        const struct tree *ad = all->stores[i];

        if (!ad_string(ad, "Name", &name, &len) || !text_is(name, len, store) || is_usable(all, ad) != usable ||
            store_read(ad, &place, NULL) < 0)
            continue;
        buf_reset(ret);
        store_url(&place, "", ret);
        if (!strncmp(url, buf_string(ret), ret->len))
            return true;
    }
    return false;
}

/* The same of any store of that name: one that may be used before those of others. */
static bool place_of(const struct copies *all, const char *store, const char *url, struct buf *ret)
{
    return place_among(all, true, store, url, ret) || place_among(all, false, store, url, ret);
}

bool copies_store_keeps(const struct copies *all, const char *store, const char *url)
{
    struct buf place;
    bool keeps;

    buf_init(&place);
    keeps = place_among(all, true, store, url, &place);
    buf_done(&place);
    return keeps;
}

static bool lies_in(const char *url, const struct store_away *away)
{
    return !strncmp(url, away->place, strlen(away->place));
}

static void away_drop(struct copies *all, uint32_t i)
{
    free(all->away[i].place);
    all->away[i] = all->away[--all->away_count];
}

void copies_store_serves(struct copies *all, const char *url)
{
    for (uint32_t i = all->away_count; i-- > 0;)
        if (!all->away[i].puts && lies_in(url, &all->away[i]))
            away_drop(all, i);
}

void copies_stores_forget(struct copies *all)
{
    for (uint32_t i = all->away_count; i-- > 0;)
        if (all->away[i].round != all->round)
            away_drop(all, i);
}

/* The one of exactly that place; made when there is none. NULL: there are too many. */
static struct store_away *away_at(struct copies *all, const struct buf *place, bool puts)
{
    for (uint32_t i = 0; i < all->away_count; i++)
        if (all->away[i].puts == puts && text_is(place->text, place->len, all->away[i].place))
            return &all->away[i];
    if (all->away_count == COPIES_STORES_MAX)
        return NULL;
    all->away = mem_grow(all->away, (all->away_count + 1) * sizeof *all->away);
    all->away[all->away_count] =
        (struct store_away){.place = mem_dup(place->text, place->len), .puts = puts, .since = runner_now()};
    return &all->away[all->away_count++];
}

bool copies_store_fails(struct copies *all, const char *store, const char *url, bool puts, const char *words)
{
    struct store_away *away = NULL;
    struct buf place;

    buf_init(&place);
    if (place_of(all, store, url, &place))
        away = away_at(all, &place, puts);
    buf_done(&place);
    if (!away)
        return false;
    away->round = all->round;
    snprintf(away->words, sizeof away->words, "%s", words);
    return true;
}

const char *copies_store_trouble(const struct copies *all, const char *url, bool puts)
{
    for (uint32_t i = 0; i < all->away_count; i++)
        if (all->away[i].round == all->round && (puts || !all->away[i].puts) && lies_in(url, &all->away[i]))
            return all->away[i].words;
    return NULL;
}

static int64_t away_ends(const struct copies *all, const struct store_away *away)
{
    return away->since + config_span(&all->customerd->daemon.config, CONFIG_TRANSFER_PATIENCE);
}

bool copies_store_is_lost(const struct copies *all, const char *url)
{
    for (uint32_t i = 0; i < all->away_count; i++)
        if (!all->away[i].puts && lies_in(url, &all->away[i]) && runner_now() >= away_ends(all, &all->away[i]))
            return true;
    return false;
}

int64_t copies_stores_due(const struct copies *all)
{
    int64_t due = INT64_MAX;

    for (uint32_t i = 0; i < all->away_count; i++) {
        int64_t ends = away_ends(all, &all->away[i]);

        due = !all->away[i].puts && ends > runner_now() && ends < due ? ends : due;
    }
    return due;
}

/* ------------------------------------------------------------------------------------------------------------- choosing */

/* Is it a store of our own account, or of somebody whose stores are used? The matchmaker says whose it is. */
static bool is_usable(const struct copies *all, const struct tree *ad)
{
    const struct daemon *daemon = &all->customerd->daemon;
    size_t count, len, own = account_len(daemon->identity, strlen(daemon->identity));
    const char *const *owners = store_owners(all, &count);
    const char *identity;

    if (!ad_string(ad, "Identity", &identity, &len))
        return false;
    for (size_t i = 0; i < count; i++)
        if (text_is(identity, len, owners[i]))
            return true;
    return !count && own && account_len(identity, len) == own && !memcmp(identity, daemon->identity, own);
}

/* Does the store take files such as this one? */
static bool accepts(const struct copying *copying, const struct tree *ad)
{
    struct env env = {.now = runner_wall() / SECOND};
    struct arena scratch;
    struct maker maker;
    struct tree *file;
    bool good;

    if (!ad_find(ad, "Accepts"))
        return true;
    maker_init(&maker, copying->all->customerd->daemon.symbols);
    maker_text(&maker, "Type", "Transfer");
    maker_text(&maker, "Name", copying->entry.name);
    maker_text(&maker, "Owner", copying->entry.owner);
    maker_integer(&maker, "Size", copying->entry.size);
    file = maker_seal(&maker);
    arena_init(&scratch);
    good = match_says(&env, &scratch, ad, "Accepts", file);
    arena_done(&scratch);
    tree_unref(file);
    return good;
}

static bool was_tried(const struct copying *copying, const char *store)
{
    for (uint32_t i = 0; i < copying->tried_count; i++)
        if (!strcmp(copying->tried[i], store))
            return true;
    return false;
}

/* Has the entry nothing in the store that must stay, and room for it? A replica that was lost is put there again, at the same place. */
static bool is_free(const struct copying *copying, const struct store_place *place)
{
    int replica = file_replica_find(&copying->entry, place->name);
    struct buf url;
    bool good = replica < 0 && copying->entry.count < FILE_REPLICAS_MAX;

    if (replica >= 0 && copying->states[replica] == COPY_LOST) {
        buf_init(&url);
        store_url(place, copying->entry.name, &url);
        good = !strcmp(buf_string(&url), copying->entry.replicas[replica].url);
        buf_done(&url);
    }
    return good;
}

/* May the copy go there? The words say why not. */
static bool store_serves(const struct copying *copying, const struct tree *ad, struct store_place *place,
                         struct err *err)
{
    const struct copies *all = copying->all;
    const char *trouble;
    struct buf url;

    if (store_read(ad, place, err) < 0 || was_tried(copying, place->name) || !is_free(copying, place))
        return false;
    buf_init(&url);
    store_url(place, "", &url);
    trouble = copies_store_trouble(all, buf_string(&url), true);
    buf_done(&url);
    if (!is_usable(all, ad))
        err_set(err, "the store %.100s is of somebody whose stores are not used here (StoreOwners)", place->name);
    else if (!accepts(copying, ad))
        err_set(err, "the store %.100s does not take it", place->name);
    else if (trouble)
        err_set(err, "%.100s: %.100s", place->name, trouble);
    else
        return true;
    return false;
}

/* Why the replica, which is there, is none of the copies. */
static void beside_tell(const struct copying *copying, const struct file_replica *replica, struct err *err)
{
    struct buf place;

    buf_init(&place);
    if (place_among(copying->all, false, replica->store, replica->url, &place))
        err_set(err, "the store %.100s is of somebody whose stores are not used here (StoreOwners)", replica->store);
    else
        err_set(err, "%.100s: its replica lies elsewhere than the store keeps files", replica->store);
    buf_done(&place);
}

/* The store of that name. Several may be called so: the first that may be used. */
static bool named_serves(const struct copying *copying, const char *name, struct store_place *ret, struct err *err)
{
    const struct copies *all = copying->all;
    int replica = file_replica_find(&copying->entry, name);
    const char *text;
    size_t len;

    if (!was_tried(copying, name) && replica < 0)
        err_set(err, "the pool knows no store %.100s", name);
    else if (replica >= 0 && copying->states[replica] == COPY_BESIDE)
        beside_tell(copying, &copying->entry.replicas[replica], err);
    for (uint32_t i = 0; i < all->store_count; i++)
        if (ad_string(all->stores[i], "Name", &text, &len) && text_is(text, len, name) &&
            store_serves(copying, all->stores[i], ret, err))
            return true;
    return false;
}

bool copies_store_choose(const struct copying *copying, struct store_place *ret, struct err *err)
{
    const struct file_entry *entry = &copying->entry;
    const struct copies *all = copying->all;

    err_set(err, entry->at ? "no other store is named" : "the pool has no other store that takes it");
    if (entry->count == FILE_REPLICAS_MAX)
        err_set(err, "it has %d replicas, which is as many as an entry has", FILE_REPLICAS_MAX);
    if (entry->at) {
        for (uint32_t i = 0; i < entry->at_count; i++)
            if (named_serves(copying, entry->at[(copying->from + i) % entry->at_count], ret, err))
                return true;
        return false;
    }
    for (uint32_t i = 0; i < all->store_count; i++)
        if (store_serves(copying, all->stores[(copying->from + i) % all->store_count], ret, err))
            return true;
    return false;
}
