/* ends_catch_up.c: tells the pool what the history has and the pool may not have heard. */
#include "live/customerd/ends_catch_up.h"

#include "lang/ad/get.h"
#include "live/customerd/job_outcome.h"

#define ENDS_OVERLAP 60 /* seconds: what came into the history that much earlier is told again */

void ends_catch_up_begin(struct ends_catch_up *catch_up, const struct history *history, struct ends_tell *tell)
{
    int64_t since = ends_tell_since(tell) - ENDS_OVERLAP;
    uint64_t newest = history_newest(history), first = newest + 1, place = first;
    struct history_row row;

    while ((place = history_before(history, place - 1, &row)) && row.ended >= since)
        first = place;
    *catch_up = (struct ends_catch_up){.history = history, .tell = tell, .at = first - 1, .end = newest};
    ends_tell_behind(tell, catch_up->at < catch_up->end);
}

/* False: it cannot be read now. */
static bool job_tell(struct ends_catch_up *catch_up, uint64_t job)
{
    enum job_outcome outcome;
    int64_t status = 0;
    struct err ignored;
    struct tree *ad;

    if (history_read(catch_up->history, job, &ad, &ignored) < 0)
        return false;
    if (ad && job_outcome(ad, &outcome)) {
        ad_integer(ad, "Status", &status);
        ends_tell_add(catch_up->tell, job,
                      outcome == OUTCOME_REMOVED   ? END_REMOVED
                      : outcome == OUTCOME_EXPIRED ? END_ABORTED
                                                   : END_DONE,
                      job_outcome_reason(outcome), status);
    }
    tree_unref(ad);
    return true;
}

void ends_catch_up_tick(struct ends_catch_up *catch_up)
{
    struct history_row row;

    if (catch_up->at >= catch_up->end || ends_tell_waiting(catch_up->tell) >= ENDS_WAITING)
        return;
    for (int i = 0; i < ENDS_SLICE; i++) {
        uint64_t place = history_after(catch_up->history, catch_up->at, &row);

        if (!place || place > catch_up->end) {
            catch_up->at = catch_up->end;
            break;
        }
        if (!job_tell(catch_up, row.job))
            break; /* and goes on with it: one that the pool is not told of would run again after a restore */
        catch_up->at = place;
    }
    ends_tell_behind(catch_up->tell, catch_up->at < catch_up->end);
}
