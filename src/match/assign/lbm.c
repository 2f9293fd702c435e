/* lbm.c: by linear programme (section 4.5): each pair has a value in the relaxed programme, and the largest are tried first.
 *
 * A column of x requests is that many pairs of value 1, one of what is left of x, and the rest of value 0. Of pairs with equal values those with the
 * larger desire are first: large requests find room while there is some. */
#include "match/assign/greedy.h"
#include "match/assign/programme.h"

#include <math.h>
#include <stdio.h>

#define WHOLE 1e-6 /* a number so near a whole one counts as whole */

enum part { PART_WHOLE, PART_FRACTION, PART_ZERO, PARTS };

/* Tries the pairs of one part of the columns, by their keys. */
static void part_run(struct greedy *greedy, const struct programme *programme, enum part part)
{
    const struct settling *settling = greedy->settling;

    for (uint32_t i = 0; i < programme->lp.column_count; i++) {
        const struct column *column = &programme->columns[i];
        double whole = floor(programme->x[i] + WHOLE), left = programme->x[i] - whole;
        double desire = desire_of(settling->groups[column->group].amounts, greedy->shelves->items[column->shelf].free,
                                  settling->quantity_count);

        if (part == PART_WHOLE && whole > 0)
            greedy_add(greedy, -desire, column->group, column->shelf, (uint32_t)whole);
        else if (part == PART_FRACTION && left > WHOLE)
            greedy_add(greedy, left, column->group, column->shelf, 1);
        else if (part == PART_ZERO)
            greedy_add(greedy, -desire, column->group, column->shelf, GREEDY_ALL);
    }
    greedy_run(greedy);
}

static void fall_back(struct settling *settling, const struct err *why, struct err *err)
{
    settling->result->fell_back = true;
    snprintf(settling->result->why, sizeof settling->result->why, "%.150s", why->text);
    policy_srfm(settling, err);
}

int policy_lbm(struct settling *settling, struct err *err)
{
    struct shelves shelves;
    struct programme programme = {0};
    struct greedy greedy;
    struct err why = {0};

    shelves_init(&shelves, settling);
    if (programme_init(&programme, settling, &shelves, false, &why) < 0 ||
        programme_solve(&programme, settling, &why) < 0) {
        fall_back(settling, &why, err);
        return 0;
    }
    settling->result->relaxation = programme_total(&programme);
    settling->result->count_bound = (uint32_t)floor(settling->result->relaxation + WHOLE);
    greedy_init(&greedy, settling, &shelves);
    greedy_add_groups(&greedy);
    for (enum part part = PART_WHOLE; part < PARTS; part++)
        part_run(&greedy, &programme, part);
    greedy_done(&greedy);
    return 0;
}
