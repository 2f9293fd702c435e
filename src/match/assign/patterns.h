/* patterns.h: ways to fill one offer of a shelf with whole requests, and the linear programme that chooses among them; not installed.
 *
 *     pattern -> a shelf, and parts: so many requests of a group
 *     column: how many offers of its shelf are filled by a pattern
 *     rows:   a group has so many requests, a shelf so many offers
 *
 * With all patterns that exist, the value of that programme is a bound, and one that knows that a request goes into one offer whole. There are far
 * too many patterns, so the programme begins with some and gets those that its prices ask for (generate.c). */
#ifndef BERTH_MATCH_ASSIGN_PATTERNS_H
#define BERTH_MATCH_ASSIGN_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATTERNS_MAX 60000u        /* patterns that are kept at most ... */
#define PATTERN_PARTS_MAX 4000000u /* ... and parts of all of them together */

struct pattern_part {
    uint32_t group, count;
};

struct pattern {
    uint32_t shelf;
    uint32_t first, count; /* of the parts */
    double value;
};

struct patterns {
    struct pattern *items;
    struct pattern_part *parts;
    uint32_t *slots; /* by hash: the number of a pattern plus one, or 0 */
    uint32_t count, room, part_count, part_room, slot_room;
};

void patterns_init(struct patterns *patterns);
void patterns_done(struct patterns *patterns);

/* Adds a pattern. The parts are copied; they are of different groups, in an order that is the same for the same requests. False: the pattern is
 * there already, or there is no room. */
bool patterns_add(struct patterns *patterns, uint32_t shelf, const struct pattern_part *parts, uint32_t count,
                  double value);

/* ------------------------------------------------------------------------------------------------ the programme over patterns */

/* The programme; each time it is solved it goes on from where it was. */
struct master;

struct master *master_new(uint32_t group_count, uint32_t shelf_count);
void master_free(struct master *master);

/* Sets how many requests and offers there are, by row: the groups, then the shelves. */
void master_limit(struct master *master, const double *bounds);

/* Adds those patterns of the pool that the programme does not have yet. */
void master_extend(struct master *master, const struct patterns *patterns);

/* Closes a pattern, which must not be used any more. */
void master_close(struct master *master, uint32_t pattern);

/* Solves the programme; false when CLP could not. Adds the work done. */
bool master_solve(struct master *master, uint64_t *work);

double master_value(const struct master *master);
const double *master_x(const struct master *master);      /* by pattern */
const double *master_prices(const struct master *master); /* by row, not below 0 */

#ifdef __cplusplus
}
#endif
#endif
