/* samples_put.c: what a job used over its life, for its customer: with some of the reports while it runs, and with its end. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/data/samples_ad.h"

#include <stdlib.h>

#define PACE \
    12 /* a series is told again when it has grown by such a part: so all that is sent of it stays a small multiple of it */

static void moved_put(struct maker *maker, const char *name, int64_t bytes)
{
    if (bytes >= 0)
        maker_integer(maker, name, bytes);
}

/* Has the series grown enough since it was last told? */
static bool is_due(const struct task *task, const struct samples *samples)
{
    int64_t now = samples->count * samples->span, told = task->samples_told;

    return now >= told + samples->span && now >= told + told / PACE;
}

void samples_put(struct maker *maker, struct task *task, bool over)
{
    struct executor *executor = task->providerd->executor;
    int64_t read = -1, written = -1;
    struct samples *samples;
    struct tree *ad;

    if (!executor || !executor->kind->samples)
        return;
    samples = mem_alloc(sizeof *samples);
    if (executor->kind->samples(executor, task->claim, task->number, samples, &read, &written) &&
        (over || is_due(task, samples))) {
        ad = samples_ad(task->providerd->daemon.symbols, samples);
        maker_ad(maker, "Samples", ad);
        tree_unref(ad);
        moved_put(maker, "Read", read);
        moved_put(maker, "Written", written);
        task->samples_told = samples->count * samples->span;
    }
    free(samples);
}
