/* equals.h: rows by their value, so that an equality need not look at all of them; not installed.
 *
 *     hash of a value -> row 7 <-> row 2 <-> row 9
 *
 * A list holds all rows with a value, and perhaps others whose values have the same hash: the caller looks them up in the column. */
#ifndef BERTH_MATCH_INDEX_EQUALS_H
#define BERTH_MATCH_INDEX_EQUALS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EQUALS_END UINT32_MAX

struct equals {
    uint32_t *first; /* by hash */
    uint32_t mask;
    uint32_t *next, *before; /* by row; EQUALS_END */
};

/* Lists for rows below `room`, which are in none yet. */
struct equals *equals_new(uint32_t room);
void equals_free(struct equals *equals);
size_t equals_bytes(const struct equals *equals);

/* A row had that value, and now has this one; NaN: none. */
void equals_move(struct equals *equals, uint32_t row, double from, double to);

/* The first row of the list of a value, or EQUALS_END. */
uint32_t equals_first(const struct equals *equals, double v);

#ifdef __cplusplus
}
#endif
#endif
