/* machines.c: what is known of each machine, whether or not it has room. */
#include "pool/matchmaker/machines.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/matchmaker/collector_parts.h"
#include "pool/protocol/account.h"
#include "pool/protocol/mutants.h"

#include <stdlib.h>
#include <string.h>

#define KEPT "Name,Type,Cpus,Memory,Disk,GpuCount,Owner,Identity" /* of a machine that has been away for long */

void machines_init(struct machines *machines, struct collector *collector, struct timers *timers, uint32_t timer_what,
                   uint32_t share, uint64_t bytes_max, uint64_t seed)
{
    *machines = (struct machines){.collector = collector,
                                  .timers = timers,
                                  .timer_what = timer_what,
                                  .share = share ? share : COLLECTOR_ADS_MAX,
                                  .bytes_max = bytes_max ? bytes_max : COLLECTOR_BYTES_MAX,
                                  .second = symbols_take(collector->symbols, "Preempts", 8),
                                  .free = NOBODY};
    map_init(&machines->places, seed);
    map_init(&machines->accounts, seed);
    map_init(&machines->account_bytes, seed);
    map_init(&machines->bytes, seed);
    map_init(&machines->absent, seed);
    map_init(&machines->parted, seed);
}

void machines_done(struct machines *machines)
{
    if (!machines || !machines->collector)
        return;
    for (uint32_t i = 0; i < machines->count; i++) {
        tree_unref(machines->items[i].whole);
        tree_unref(machines->items[i].told);
    }
    free(machines->items);
    map_done(&machines->places);
    map_done(&machines->accounts);
    map_done(&machines->account_bytes);
    map_done(&machines->bytes);
    map_done(&machines->absent);
    map_done(&machines->parted);
    free(machines->gone);
    symbols_drop(machines->collector->symbols, machines->second);
}

/* ---------------------------------------------------------------------------------------------------------------- records */

static uint64_t place_key(const struct machines *machines, agent who, uint64_t id)
{
    return rng_mix(who ^ machines->places.seed) + id;
}

static uint32_t record_find(const struct machines *machines, agent who, uint64_t id)
{
    uint64_t found = map_find(&machines->places, place_key(machines, who, id));
    uint32_t place = found == MAP_NONE ? NOBODY : (uint32_t)found;

    while (place != NOBODY && (machines->items[place].agent != who || machines->items[place].id != id))
        place = machines->items[place].next;
    return place;
}

const struct machine_record *machines_find(const struct machines *machines, agent who, uint64_t id)
{
    uint32_t place = record_find(machines, who, id);

    return place == NOBODY ? NULL : &machines->items[place];
}

static uint64_t tally_of(const struct map *map, uint64_t key)
{
    uint64_t found = map_find(map, key);

    return found == MAP_NONE ? 0 : found;
}

static void tally_move(struct map *map, uint64_t key, uint64_t more, uint64_t less)
{
    uint64_t now = tally_of(map, key) + more - less;

    if (more == less)
        return;
    if (now)
        map_set(map, key, now);
    else
        map_remove(map, key);
}

static uint64_t account_key(const struct machines *machines, const struct peer *peer)
{
    const char *text = peer->account ? peer->account : peer->identity ? peer->identity : "";
    size_t len = account_len(text, strlen(text));
    uint64_t key = machines->absent.seed;

    for (size_t i = 0; i < len; i++)
        key = rng_mix(key ^ (unsigned char)text[i]);
    return key;
}

static uint64_t record_bytes(const struct machine_record *record)
{
    return text_bytes(record->whole) + text_bytes(record->told);
}

/* Takes over the references. */
static void record_set(struct machines *machines, struct machine_record *record, struct tree *whole, struct tree *told)
{
    uint64_t before = record_bytes(record);

    tree_unref(record->whole);
    tree_unref(record->told);
    record->whole = whole;
    record->told = told;
    tally_move(&machines->bytes, record->agent, record_bytes(record), before);
    tally_move(&machines->account_bytes, record->account, record_bytes(record), before);
}

/* May a record of the peer (NULL: a new one) change by so much? */
static bool has_room(const struct machines *machines, const struct peer *peer, const struct machine_record *record,
                     uint64_t more, uint64_t less)
{
    uint64_t account = record ? record->account : account_key(machines, peer);

    if (!record && (tally_of(&machines->accounts, account) >= machines->share ||
                    (machines->free == NOBODY && machines->count == MACHINES_MAX)))
        return false;
    return tally_of(&machines->bytes, peer->agent) + more - less <= COLLECTOR_BYTES_MAX &&
           tally_of(&machines->account_bytes, account) + more - less <= machines->bytes_max;
}

static uint32_t record_add(struct machines *machines, const struct peer *peer, uint64_t id)
{
    uint64_t key = place_key(machines, peer->agent, id), first = map_find(&machines->places, key);
    uint32_t place = machines->free;

    if (place != NOBODY) {
        machines->free = machines->items[place].next;
    } else {
        ARRAY_ROOM(machines->items, machines->count, machines->room, 64);
        place = machines->count++;
        machines->items[place] = (struct machine_record){.timer = INT64_MAX};
    }
    machines->items[place] = (struct machine_record){.agent = peer->agent,
                                                     .id = id,
                                                     .account = account_key(machines, peer),
                                                     .until = INT64_MAX,
                                                     .doubt = INT64_MAX,
                                                     .timer = machines->items[place].timer,
                                                     .timers = machines->items[place].timers,
                                                     .next = first == MAP_NONE ? NOBODY : (uint32_t)first};
    map_set(&machines->places, key, place);
    tally_move(&machines->accounts, machines->items[place].account, 1, 0);
    machines->live++;
    return place;
}

static void record_forget(struct machines *machines, uint32_t place)
{
    struct machine_record *record = &machines->items[place];
    uint64_t key = place_key(machines, record->agent, record->id);
    uint32_t at = (uint32_t)map_find(&machines->places, key);

    record_set(machines, record, NULL, NULL);
    if (at == place && record->next == NOBODY) {
        map_remove(&machines->places, key);
    } else if (at == place) {
        map_set(&machines->places, key, record->next);
    } else {
        while (machines->items[at].next != place)
            at = machines->items[at].next;
        machines->items[at].next = record->next;
    }
    tally_move(&machines->accounts, record->account, 0, 1);
    tally_move(&machines->absent, record->account, 0, record->away);
    *record = (struct machine_record){.timer = record->timer, .timers = record->timers, .next = machines->free};
    machines->free = place;
    machines->live--;
}

/* ------------------------------------------------------------------------------------------------------------------- gone */

/* Which machines are gone is known by a mixed number alone: one that is taken for another is answered that its word is old, and says it anew. */
static const struct machine_gone *gone_find(const struct machines *machines, agent who, uint64_t id, int64_t now)
{
    uint64_t found = map_find(&machines->parted, place_key(machines, who, id));

    return found == MAP_NONE || machines->gone[found].until <= now ? NULL : &machines->gone[found];
}

static void gone_drop(struct machines *machines, uint64_t key)
{
    uint64_t found = map_find(&machines->parted, key);

    if (found == MAP_NONE)
        return;
    map_remove(&machines->parted, key);
    machines->gone[found] = (struct machine_gone){0};
}

static void gone_note(struct machines *machines, uint64_t key, uint64_t version, int64_t until)
{
    struct machine_gone *oldest;

    if (!machines->gone) {
        machines->gone = mem_alloc(MACHINES_GONE_MAX * sizeof *machines->gone);
        memset(machines->gone, 0, MACHINES_GONE_MAX * sizeof *machines->gone);
    }
    gone_drop(machines, key);
    oldest = &machines->gone[machines->gone_next];
    if (oldest->until)
        map_remove(&machines->parted, oldest->key);
    *oldest = (struct machine_gone){key, version, until};
    map_set(&machines->parted, key, machines->gone_next);
    machines->gone_next = (machines->gone_next + 1) % MACHINES_GONE_MAX;
}

/* A machine is gone for good, as far as it says. */
static void gone_take(struct machines *machines, const struct role_env *env, const struct peer *peer, uint64_t id,
                      uint64_t version)
{
    const struct machine_gone *before = gone_find(machines, peer->agent, id, env->now);
    uint32_t place = record_find(machines, peer->agent, id);
    int64_t lifetime = place != NOBODY ? machines->items[place].lifetime : machines->collector->spans->lifetime;

    if (place != NOBODY && !MUTANT(GONE_KEPT))
        record_forget(machines, place);
    gone_note(machines, place_key(machines, peer->agent, id),
              before && before->version > version ? before->version : version, env->now + lifetime);
}

/* ------------------------------------------------------------------------------------------------------------------- time */

/* What comes next if nothing is heard. */
static int64_t record_next(const struct machine_record *record)
{
    if (!record->away)
        return record->heard + record->lifetime;
    return record->heard + (record->shrunk ? MACHINES_FORGET : MACHINES_SHRINK);
}

/* With too many timers a later one will do: it is away somewhat later then. */
static void record_schedule(struct machines *machines, uint32_t place)
{
    struct machine_record *record = &machines->items[place];

    if (record_next(record) >= record->timer || record->timers >= MACHINES_TIMERS_MAX)
        return;
    record->timer = record_next(record);
    record->timers++;
    timers_set(machines->timers, record->timer, machines->timer_what, place);
}

static void record_heard(struct machines *machines, uint32_t place, int64_t now)
{
    struct machine_record *record = &machines->items[place];

    record->heard = now;
    tally_move(&machines->absent, record->account, 0, record->away);
    record->away = false;
    record_schedule(machines, place);
}

/* Only what is told in one line is kept. */
static void record_shrink(struct machines *machines, struct machine_record *record)
{
    struct symbols *symbols = machines->collector->symbols;
    struct tree *whole = record->whole ? ad_select(symbols, record->whole, KEPT) : NULL;

    if (whole)
        record_set(machines, record, whole, NULL);
    record->base = 0;
    record->shrunk = true;
}

/* Places are used again: a timer may have been set for a record that was forgotten. */
void machines_due(struct machines *machines, const struct role_env *env, uint32_t place, int64_t at)
{
    struct machine_record *record = &machines->items[place];

    record->timers--;
    if (record->timer == at)
        record->timer = INT64_MAX;
    if (!record->agent)
        return;
    if (record_next(record) <= env->now && !record->away) {
        record->away = true;
        tally_move(&machines->absent, record->account, 1, 0);
        if (tally_of(&machines->absent, record->account) > MACHINES_AWAY_MAX) {
            record_forget(machines, place);
            return;
        }
    } else if (record_next(record) <= env->now && !record->shrunk) {
        record_shrink(machines, record);
    } else if (record_next(record) <= env->now) {
        record_forget(machines, place);
        return;
    }
    record_schedule(machines, place);
}

/* --------------------------------------------------------------------------------------------------------------- what is told */

const struct entry *machines_offer(const struct machines *machines, agent who, uint64_t id)
{
    uint32_t number = entry_find(machines->collector, who, id);
    const struct entry *offer = number == NOBODY ? NULL : &machines->collector->entries[number];

    return offer && offer->state == ENTRY_LIVE && !offer->request ? offer : NULL;
}

/* Checks a whole ad as an offer is checked, and writes into it what the matchmaker writes into offers. Where the offer says the same, that is
 * the whole. */
static enum reason whole_take(const struct machines *machines, const struct role_env *env, const struct peer *peer,
                              const struct stands *stands, struct text_terms *ret, struct tree **ret_whole)
{
    const struct collector *collector = machines->collector;
    struct advertise advertise = {.id = stands->id, .version = stands->version, .ad = stands->ad};
    enum reason reason = text_check(collector, env, peer, &advertise, ret);
    const struct entry *offer = machines_offer(machines, peer->agent, stands->id);
    const char *identity = peer->identity ? peer->identity : "";

    if (reason != REASON_OK)
        return reason;
    if (offer && text_is_same(collector, offer->ad, stands->ad, identity, ret))
        *ret_whole = tree_ref(offer->ad);
    else
        *ret_whole = text_write(collector, env, stands->ad, identity, ret);
    return *ret_whole ? REASON_OK : REASON_LIMIT;
}

static bool told_is_good(const struct machines *machines, const struct tree *told)
{
    return !told || (told->symbols == machines->collector->symbols && told->cell_count && tree_is_ad(told) &&
                     told->cell_count <= MACHINES_TOLD_CELLS && text_bytes(told) <= MACHINES_TOLD_BYTES);
}

/* Versions of offers and of words rise within a life of the machine's agent, and from one to the next by at least 2^32. */
static uint64_t machine_life(uint64_t version)
{
    return version >> 32;
}

/* True: this is a later life than any before. */
static bool life_note(struct machine_record *record, uint64_t version)
{
    bool later = machine_life(version) > record->life;

    if (later)
        record->life = machine_life(version);
    return later;
}

/* Takes the word of a machine; `whole` is its ad, which this takes over, or NULL: it is as it was. */
static void record_take(struct machines *machines, const struct role_env *env, uint32_t place,
                        const struct stands *stands, struct tree *whole)
{
    struct machine_record *record = &machines->items[place];
    bool ends = stands->until >= 0 && stands->until < INT64_MAX / 2;

    record_set(machines, record, whole ? whole : tree_ref(record->whole), stands->told ? tree_ref(stands->told) : NULL);
    record->version = stands->version;
    record->base = stands->base;
    record->state = (enum machine_state)stands->state;
    record->pulls = stands->pulls;
    record->sure = stands->sure;
    record->shrunk = false;
    record->said = env->now;
    record->doubt = INT64_MAX;
    record->since = env->now - (stands->since >= 0 && stands->since < INT64_MAX / 2 ? stands->since : 0);
    record->until = ends ? env->now + stands->until : INT64_MAX;
    record_heard(machines, place, env->now);
}

enum reason machines_take(struct machines *machines, const struct role_env *env, const struct peer *peer,
                          const struct stands *stands)
{
    uint32_t place = record_find(machines, peer->agent, stands->id);
    const struct machine_record *record = place == NOBODY ? NULL : &machines->items[place];
    const struct entry *offer = machines_offer(machines, peer->agent, stands->id);
    struct text_terms terms = {.lifetime = record ? record->lifetime : 0};
    const struct machine_gone *gone = gone_find(machines, peer->agent, stands->id, env->now);
    struct tree *whole = NULL;
    enum reason reason;
    uint64_t less;

    if (record && stands->version < record->version && !MUTANT(STANDS_OLD))
        return REASON_STALE;
    if (stands->gone) {
        gone_take(machines, env, peer, stands->id, stands->version);
        return REASON_OK;
    }
    if (gone && stands->version < gone->version && !MUTANT(GONE_REVIVED))
        return REASON_STALE;
    if (!stands->version || stands->state >= MACHINE_AWAY || !told_is_good(machines, stands->told))
        return REASON_INVALID;
    if (!stands->ad && !stands->base && stands->state == MACHINE_IDLE && offer) {
        whole = tree_ref(offer->ad);
        terms.lifetime = offer->lifetime;
    } else if (!stands->ad && (!record || !record->base || record->base != stands->base)) {
        return REASON_BODY;
    }
    if (stands->ad && (reason = whole_take(machines, env, peer, stands, &terms, &whole)) != REASON_OK)
        return reason;
    less = record ? text_bytes(record->told) + (whole ? text_bytes(record->whole) : 0) : 0;
    if (!has_room(machines, peer, record, text_bytes(whole) + text_bytes(stands->told), less)) {
        tree_unref(whole);
        return REASON_LIMIT;
    }
    if (!record)
        place = record_add(machines, peer, stands->id);
    gone_drop(machines, place_key(machines, peer->agent, stands->id));
    machines->items[place].lifetime = terms.lifetime;
    life_note(&machines->items[place], stands->version);
    if (offer)
        life_note(&machines->items[place], offer->version);
    record_take(machines, env, place, stands, whole);
    return REASON_OK;
}

/* Takes the offer for all that there is of the machine: its word was of an earlier life, and none has come in this one. */
static void word_drop(struct machines *machines, struct machine_record *record, int64_t now)
{
    record_set(machines, record, tree_ref(record->whole), NULL);
    record->version = record->base = 0;
    record->state = MACHINE_IDLE;
    record->pulls = record->sure = false;
    record->since = now;
    record->until = record->doubt = INT64_MAX;
}

/* The offer is of that version. In a new life a word is awaited, for somewhat less than a lifetime: offers are renewed three times within one. */
static void life_watch(struct machines *machines, struct machine_record *record, uint64_t version, int64_t now)
{
    if (!record->version)
        return;
    if (life_note(record, version))
        record->doubt = now + record->lifetime - record->lifetime / 3;
    else if (now >= record->doubt && !MUTANT(WORD_OUTLIVES))
        word_drop(machines, record, now);
}

void machines_offered(struct machines *machines, const struct role_env *env, const struct peer *peer, uint64_t id)
{
    uint32_t place = record_find(machines, peer->agent, id);
    const struct entry *offer = machines_offer(machines, peer->agent, id);
    struct machine_record *record;
    bool fits;

    if (!offer || (place == NOBODY && tree_find(offer->ad, tree_root(offer->ad), machines->second)))
        return;
    record = place == NOBODY ? NULL : &machines->items[place];
    fits = has_room(machines, peer, record, text_bytes(offer->ad), record ? text_bytes(record->whole) : 0);
    if (!record && (!fits || gone_find(machines, peer->agent, id, env->now)))
        return;
    if (!record)
        place = record_add(machines, peer, id);
    record = &machines->items[place];
    record->lifetime = offer->lifetime;
    life_watch(machines, record, offer->version, env->now);
    if (!record->whole)
        record->since = env->now;
    if (!record->base && record->whole != offer->ad && fits) {
        record_set(machines, record, tree_ref(offer->ad), record->told ? tree_ref(record->told) : NULL);
        record->shrunk = false;
    }
    record_heard(machines, place, env->now);
}

/* A machine that tells how it stands only has no room now. For any other its ad was all that there is of it. */
void machines_withdrawn(struct machines *machines, const struct peer *peer, uint64_t id)
{
    uint32_t place = record_find(machines, peer->agent, id);

    if (place != NOBODY && !machines->items[place].version)
        record_forget(machines, place);
}

void machines_heard(struct machines *machines, const struct role_env *env, const struct peer *peer, uint64_t id)
{
    uint32_t place = record_find(machines, peer->agent, id);

    if (place != NOBODY && !machines->items[place].away)
        record_heard(machines, place, env->now);
}

uint64_t machines_bytes(const struct machines *machines)
{
    const struct map *maps[] = {&machines->places, &machines->accounts, &machines->account_bytes,
                                &machines->bytes,  &machines->absent,   &machines->parted};
    uint64_t bytes = (uint64_t)machines->room * sizeof *machines->items +
                     (machines->gone ? MACHINES_GONE_MAX * sizeof *machines->gone : 0);

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        bytes += (uint64_t)maps[i]->room * sizeof *maps[i]->slots;
    for (uint32_t i = 0; i < machines->count; i++) {
        const struct machine_record *record = &machines->items[i];
        const struct entry *offer = record->agent ? machines_offer(machines, record->agent, record->id) : NULL;

        bytes += text_bytes(record->told) + (offer && offer->ad == record->whole ? 0 : text_bytes(record->whole));
    }
    return bytes;
}

bool machines_valid(const struct machines *machines, const char **ret_why)
{
    uint32_t live = 0;
    const char *why = NULL;

    for (uint32_t i = 0; i < machines->count; i++) {
        const struct machine_record *record = &machines->items[i];

        if (!record->agent)
            continue;
        live++;
        if (record_find(machines, record->agent, record->id) != i)
            why = "a machine's record is not found";
        if (!record->whole)
            why = "a machine's record has no ad";
        if (!record->timers)
            why = "a machine's record is never looked at again";
    }
    if (live != machines->live)
        why = "the machines' records are not counted right";
    if (why)
        *ret_why = why;
    return !why;
}
