/* near.h: rows that are alike lie side by side, and blocks in which nothing can fit are passed over; not installed.
 *
 * Of 512 blocks, a *field*, two lines are kept for each line that the blocks have: in `some`, the blocks in which some row is in that line; in `every`, those in
 * which every row is. So a field is tested as a block is: where no row is in `in`, or every row is in `out`, none passes. That leaves out much if the rows of a
 * block are alike, so rows are divided in the middle by what they have in one dimension, each half by the next dimension, and so on, until each part is a block.
 *
 * What the lines of a field say is never too little. A block that gets a row is *open*, and looked at by every probe, until it is surveyed anew. */
#ifndef BERTH_MATCH_INDEX_NEAR_H
#define BERTH_MATCH_INDEX_NEAR_H

#include "match/index/dim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NEAR_FROM 2 /* blocks, from which on fields are kept */

struct index;

struct near {
    bool on;
    uint32_t field_count;      /* 0: nothing is known */
    uint32_t blocks;           /* that were surveyed */
    uint32_t lines;            /* that the fields have; of later ones nothing is known */
    struct line *some, *every; /* of field f and line l, at f * lines + l */
    struct line *open;         /* by field */
    struct near_block {
        uint16_t gone,
            visits; /* rows that have gone since it was surveyed; probes that looked at it while it was open */
    } * counts;
};

void near_done(struct near *near);
size_t near_bytes(const struct near *near);

/* Lays the rows near those that are like them. The columns and the lines that are not made from columns are right afterwards; the others must be made anew. */
void near_order(struct index *index);

/* Surveys all blocks. */
void near_survey(struct index *index);

/* The lines from that one on are made anew: nothing is known of them. */
void near_forget(struct near *near, uint32_t line, uint32_t count);

/* A row of the block has been put in; one has gone; a probe has looked at it. */
void near_put(struct near *near, uint32_t block);
void near_gone(struct near *near, uint32_t block);
void near_visited(struct index *index, uint32_t block);

/* Do the fields say what the blocks have? */
bool near_valid(const struct index *index);

#ifdef __cplusplus
}
#endif
#endif
