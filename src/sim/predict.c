/* predict.c: keeps the last jobs of each user. */
#include "sim/predict.h"

#include "lang/base/mem.h"
#include "sim/batch.h"

#include <stdlib.h>
#include <string.h>

struct predict_user {
    struct predict_job {
        int64_t at, took;
        uint32_t job;
    } last[PREDICT_LAST]; /* the very last first */
    uint32_t count;
};

void predictor_init(struct predictor *predictor, uint32_t users)
{
    size_t bytes = ((size_t)users + 1) * sizeof *predictor->users;

    predictor->users = mem_alloc(bytes);
    memset(predictor->users, 0, bytes);
}

void predictor_done(struct predictor *predictor)
{
    free(predictor->users);
    predictor->users = NULL;
}

static bool is_later(const struct predict_job *a, const struct predict_job *b)
{
    return a->at != b->at ? a->at > b->at : a->job > b->job;
}

void predictor_learn(struct predictor *predictor, uint32_t user, uint32_t job, int64_t at, int64_t took)
{
    struct predict_user *of = &predictor->users[user];
    struct predict_job next = {at, took, job};

    for (uint32_t i = 0; i < of->count; i++)
        if (is_later(&next, &of->last[i])) {
            struct predict_job was = of->last[i];

            of->last[i] = next;
            next = was;
        }
    if (of->count < PREDICT_LAST)
        of->last[of->count++] = next;
}

int64_t predictor_length(const struct predictor *predictor, uint32_t user, int64_t limit)
{
    const struct predict_user *of = &predictor->users[user];
    int64_t mean = 0;

    if (of->count < PREDICT_LAST)
        return limit;
    for (uint32_t i = 0; i < PREDICT_LAST; i++)
        mean += of->last[i].took / PREDICT_LAST;
    mean = mean < BATCH_SECOND ? BATCH_SECOND : mean / BATCH_SECOND * BATCH_SECOND;
    return mean < limit ? mean : limit;
}
