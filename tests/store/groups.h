/* groups.h: numbered groups of rows for tests of a shelf: from the number of the last one follows what every row must be.
 *
 * Group g puts GROUP_ROWS rows (key: g and the row's number, so they are in order), takes away all but the first row of group
 * g - GROUP_KEEP, and writes g into the row `count`. A shelf that holds some of a group and not the rest fits no number. */
#ifndef BERTH_TESTS_GROUPS_H
#define BERTH_TESTS_GROUPS_H

#include "lang/base/rng.h"
#include "pool/protocol/shelf.h"

#include <string.h>

#define GROUP_ROWS 4
#define GROUP_KEEP 3
#define GROUP_KEY 9
#define GROUP_VALUE_MAX 3000

struct group_walk {
    uint64_t last;  /* the group that the shelf should end with */
    uint64_t group; /* the row that comes next */
    unsigned row;
    bool wrong;
};

static inline void group_key(unsigned char *key, uint64_t group, unsigned row)
{
    for (int i = 0; i < 8; i++)
        key[i] = (unsigned char)(group >> (56 - 8 * i));
    key[8] = (unsigned char)row;
}

static inline size_t group_value(unsigned char *value, uint64_t group, unsigned row)
{
    uint64_t word = rng_mix(group * GROUP_ROWS + row);
    size_t len = word % GROUP_VALUE_MAX;

    for (size_t i = 0; i < len; i++)
        value[i] = (unsigned char)(word >> (i % 8 * 8)) ^ (unsigned char)i;
    return len;
}

/* All but the commit. */
static inline int group_put(struct shelf *shelf, uint64_t group, struct err *err)
{
    unsigned char key[GROUP_KEY], value[GROUP_VALUE_MAX];

    for (unsigned row = 0; row < GROUP_ROWS; row++) {
        size_t len = group_value(value, group, row);

        group_key(key, group, row);
        if (shelf->kind->put(shelf, "group", key, GROUP_KEY, value, len, err) < 0)
            return -1;
    }
    for (unsigned row = 1; row < GROUP_ROWS && group > GROUP_KEEP; row++) {
        group_key(key, group - GROUP_KEEP, row);
        if (shelf->kind->remove(shelf, "group", key, GROUP_KEY, err) < 0)
            return -1;
    }
    return shelf->kind->put(shelf, "count", "count", 5, &group, sizeof group, err);
}

static inline int group_commit(struct shelf *shelf, uint64_t group, struct err *err)
{
    return group_put(shelf, group, err) < 0 ? -1 : shelf->kind->commit(shelf, err);
}

static inline bool group_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct group_walk *walk = user;
    unsigned char want_key[GROUP_KEY], want[GROUP_VALUE_MAX];
    size_t want_len = group_value(want, walk->group, walk->row);

    group_key(want_key, walk->group, walk->row);
    walk->wrong = walk->group > walk->last || key_len != GROUP_KEY || memcmp(key, want_key, GROUP_KEY) != 0 ||
                  len != want_len || memcmp(value, want, len) != 0;
    if (walk->group + GROUP_KEEP <= walk->last || ++walk->row == GROUP_ROWS) {
        walk->group++;
        walk->row = 0;
    }
    return !walk->wrong;
}

static inline bool group_count_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len;
    if (len == sizeof(uint64_t))
        memcpy(user, value, len);
    return true;
}

/* The number of the last group when all rows are as they must be, else -1 and `err`. */
static inline int64_t group_last(struct shelf *shelf, struct err *err)
{
    uint64_t last = 0;
    struct group_walk walk = {.group = 1};

    if (shelf->kind->get(shelf, "count", "count", 5, group_count_row, &last, err) < 0)
        return -1;
    walk.last = last;
    if (shelf->kind->each(shelf, "group", group_row, &walk, err) < 0)
        return -1;
    if (walk.wrong || walk.row != 0 || walk.group != last + 1)
        return err_set(err, "the rows do not fit group %llu: row %u of group %llu", (unsigned long long)last, walk.row,
                       (unsigned long long)walk.group);
    return (int64_t)last;
}

#endif
