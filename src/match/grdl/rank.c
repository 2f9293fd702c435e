/* rank.c: candidates in the order of somebody's preferences: algorithm 7.1 with table 7.1.
 *
 * A preference gives each candidate a key; candidates are sorted by it, and runs of equal keys go to the next preference. Candidates behind the
 * first `top` are not sorted any further. */
#include "match/grdl/rank.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum tier { TIER_ORDERED, TIER_OTHER, TIER_INCOMPARABLE, TIER_WITHOUT };

/* How a preference sees a candidate. Within TIER_ORDERED the value or the distance decides. */
struct index_key {
    enum tier tier;
    const struct grdl_value *value; /* NULL: none is compared */
    struct grdl_distance distance;
};

/* A preference at work. */
struct judge {
    const struct grdl_point *pref;
    enum { BY_PRESENCE, BY_VALUE, BY_DISTANCE, BY_MEMBERSHIP } by;
    int direction;                 /* of values: 1 the lowest first, -1 the highest; of distances likewise */
    const struct grdl_value *like; /* values are ordered among those comparable with this one; NULL: none is there */
};

static bool is_specified(const struct grdl_point *point)
{
    return point->value.kind != GRDL_UNSPECIFIED;
}

/* Finds the value that stands for the type of a preference without a value: the first that some candidate has, of the preference's own type if it
 * names one. */
static const struct grdl_value *like_find(const struct grdl_point *pref, const struct grdl_reading *const *candidates,
                                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct grdl_points chars = grdl_reading_chars(candidates[i], pref->dimension);

        for (uint32_t j = 0; j < chars.count; j++)
            if (is_specified(&chars.items[j]) &&
                (pref->value.type == GRDL_TYPE_NONE || pref->value.type == chars.items[j].value.type))
                return &chars.items[j].value;
    }
    return NULL;
}

static struct judge judge_make(const struct grdl_point *pref, const struct grdl_reading *const *candidates,
                               uint32_t count)
{
    struct judge judge = {.pref = pref, .by = BY_VALUE, .direction = 1};
    bool value = is_specified(pref), above = pref->match == GRDL_GT || pref->match == GRDL_GE;

    judge.like = value ? &pref->value : like_find(pref, candidates, count);
    if (pref->match == GRDL_CLOSE || pref->match == GRDL_FAR) {
        judge.by = BY_DISTANCE;
        judge.direction = pref->match == GRDL_CLOSE ? 1 : -1;
    } else if (pref->match == GRDL_EQ || pref->match == GRDL_NE) {
        judge.by = value ? BY_MEMBERSHIP : BY_PRESENCE;
    } else {
        judge.direction = above == value ? 1 : -1; /* nearest above a value: ascending; highest of all: descending */
    }
    return judge;
}

/* Of two keys of one judge: below 0 when `a` goes first. */
static int key_order(const struct judge *judge, const struct index_key *a, const struct index_key *b)
{
    if (a->tier != b->tier)
        return a->tier < b->tier ? -1 : 1;
    if (!a->value || !b->value)
        return 0;
    if (judge->by == BY_DISTANCE)
        return judge->direction * grdl_distance_order(&a->distance, &b->distance);
    return judge->direction * grdl_value_order(a->value, b->value);
}

/* The key that one characteristic gives its candidate. */
static struct index_key char_key(const struct judge *judge, const struct grdl_point *characteristic)
{
    const struct grdl_value *value = &characteristic->value;
    struct index_key key = {.tier = TIER_INCOMPARABLE};

    if (judge->by == BY_MEMBERSHIP) {
        key.tier = grdl_value_holds(value, judge->pref->match, judge->like) ? TIER_ORDERED : TIER_OTHER;
        return key;
    }
    if (!judge->like || !grdl_comparable(value, judge->like))
        return key;
    key.tier = TIER_ORDERED;
    if (judge->by == BY_VALUE && is_specified(judge->pref) &&
        !grdl_value_holds(value, judge->pref->match, judge->like)) {
        key.tier = TIER_OTHER;
        return key;
    }
    key.value = value;
    if (judge->by == BY_DISTANCE)
        key.distance = grdl_value_distance(value, judge->like);
    return key;
}

/* The key of a candidate: the best of those that its characteristics give. */
static struct index_key candidate_key(const struct judge *judge, const struct grdl_reading *candidate)
{
    struct grdl_points chars = grdl_reading_chars(candidate, judge->pref->dimension);
    struct index_key best = {.tier = TIER_WITHOUT};

    if (judge->by == BY_PRESENCE) {
        best.tier = (judge->pref->match == GRDL_EQ) == (chars.count > 0) ? TIER_ORDERED : TIER_OTHER;
        return best;
    }
    for (uint32_t i = 0; i < chars.count; i++) {
        struct index_key key = char_key(judge, &chars.items[i]);

        if (i == 0 || key_order(judge, &key, &best) < 0)
            best = key;
    }
    return best;
}

struct entry {
    uint32_t candidate;
    struct index_key key;
};

struct ranking {
    const struct judge *judges;
    uint32_t judge_count;
    const struct grdl_reading *const *candidates;
    struct entry *entries, *spare;
    struct grdl_ranked *ranked;
    uint32_t top;
};

/* A merge sort: those that are equal stay in their order. */
static void entries_sort(const struct judge *judge, struct entry *entries, struct entry *spare, uint32_t count)
{
    uint32_t half = count / 2, a = 0, b = half;

    if (count < 2)
        return;
    entries_sort(judge, entries, spare, half);
    entries_sort(judge, entries + half, spare, count - half);
    for (uint32_t i = 0; i < count; i++) {
        bool first = b == count || (a < half && key_order(judge, &entries[a].key, &entries[b].key) <= 0);

        spare[i] = first ? entries[a++] : entries[b++];
    }
    memcpy(entries, spare, count * sizeof *entries);
}

/* Ranks the entries from `first` to `end`, which the preferences before left tied. */
static void range_rank(struct ranking *ranking, uint32_t first, uint32_t end, uint32_t pref)
{
    const struct judge *judge = &ranking->judges[pref];
    struct entry *entries = ranking->entries;

    if (first >= ranking->top)
        return;
    if (end - first < 2 || pref == ranking->judge_count) {
        for (uint32_t i = first; i < end && i < ranking->top; i++)
            ranking->ranked[i] = (struct grdl_ranked){entries[i].candidate, first + 1};
        return;
    }
    for (uint32_t i = first; i < end; i++)
        entries[i].key = candidate_key(judge, ranking->candidates[entries[i].candidate]);
    entries_sort(judge, entries + first, ranking->spare, end - first);
    while (first < end) {
        uint32_t tied = first + 1;

        while (tied < end && key_order(judge, &entries[first].key, &entries[tied].key) == 0)
            tied++;
        range_rank(ranking, first, tied, pref + 1);
        first = tied;
    }
}

uint32_t grdl_rank(const struct grdl_reading *who, const struct grdl_reading *const *candidates, uint32_t count,
                   uint32_t top, struct grdl_ranked *ret_ranked)
{
    struct judge *judges = mem_alloc((who->pref_count + 1) * sizeof *judges);
    struct entry *entries = mem_alloc((2 * (size_t)count + 1) * sizeof *entries);
    struct ranking ranking = {judges, who->pref_count, candidates, entries, entries + count, ret_ranked, count};

    if (top && top < count)
        ranking.top = top;
    for (uint32_t i = 0; i < who->pref_count; i++)
        judges[i] = judge_make(&who->prefs[i], candidates, count);
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (struct entry){.candidate = i};
    range_rank(&ranking, 0, count, 0);
    free(judges);
    free(entries);
    return ranking.top;
}

int grdl_prefer(const struct grdl_reading *who, const struct grdl_reading *a, const struct grdl_reading *b,
                uint32_t *ret_preference)
{
    const struct grdl_reading *const both[] = {a, b};

    for (uint32_t i = 0; i < who->pref_count; i++) {
        struct judge judge = judge_make(&who->prefs[i], both, 2);
        struct index_key x = candidate_key(&judge, a), y = candidate_key(&judge, b);
        int order = key_order(&judge, &x, &y);

        if (!order)
            continue;
        if (ret_preference)
            *ret_preference = i;
        return order;
    }
    return 0;
}

bool grdl_pref_same(const struct grdl_point *a, const struct grdl_point *b)
{
    return a->dimension == b->dimension && a->match == b->match && grdl_same_value(&a->value, &b->value);
}

bool grdl_prefs_consistent(const struct grdl_reading *a, const struct grdl_reading *b)
{
    if (a->pref_count < b->pref_count)
        return false;
    for (uint32_t i = 0; i < b->pref_count; i++)
        if (!grdl_pref_same(&a->prefs[i], &b->prefs[i]))
            return false;
    return true;
}
