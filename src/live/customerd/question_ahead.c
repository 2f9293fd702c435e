/* question_ahead.c: which files the job reads that a claim is to have next, told while its job still runs. The job is one of the same owner and of the
 * same shape: the machine would get it, and these files, a moment later. */
#include "live/customerd/questions_parts.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "live/data/input_data.h"
#include "pool/claim/duty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The job that the asking claim is to have next. False: there is none, or it is not a claim of one machine alone. */
static bool next_of(const struct asking *asking, bool promise, struct job_view *ret)
{
    const struct questions *questions = asking->questions;
    uint64_t job;

    if (!questions->ahead || !pass_is_none(&asking->one->pass) || !asking->last || asking->view.state != JOB_RUNNING)
        return false;
    job = questions->ahead(questions->user, asking->one->claim, promise);
    return job && questions->job(questions->user, job, ret) && !strcmp(ret->owner, asking->view.owner);
}

struct inputs {
    struct symbols *symbols;
    struct tree **ads;
    uint32_t count, room;
};

static bool input_add(void *user, const struct job_input *input)
{
    struct inputs *inputs = user;
    struct maker maker;

    maker_init(&maker, inputs->symbols);
    maker_text(&maker, "Name", input->name);
    maker_integer(&maker, "Size", (int64_t)input->size);
    maker_text(&maker, "Hash", input->hash);
    ARRAY_ROOM(inputs->ads, inputs->count, inputs->room, 16);
    inputs->ads[inputs->count++] = maker_seal(&maker);
    return true;
}

struct tree *question_ahead(struct asking *asking)
{
    struct inputs inputs = {.symbols = asking->questions->symbols};
    struct input_data data = {0};
    struct job_view next;
    struct tree *answer;
    struct maker maker;

    if (!next_of(asking, true, &next))
        return question_reason(asking, "unknown");
    job_inputs(next.ad, input_add, &inputs);
    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", "ok");
    maker_integer(&maker, "Next", (int64_t)next.id);
    maker_list(&maker, "Files", inputs.ads, inputs.count);
    if (input_data_read(next.ad, &data, NULL) == 0)
        maker_texts(&maker, "InputData", (const char *const *)data.names, data.count);
    input_data_done(&data);
    answer = maker_seal(&maker);
    for (uint32_t i = 0; i < inputs.count; i++)
        tree_unref(inputs.ads[i]);
    free(inputs.ads);
    return answer;
}

struct wanted {
    const char *hash;
    bool found;
};

static bool input_looked(void *user, const struct job_input *input)
{
    struct wanted *wanted = user;

    wanted->found = !strcmp(input->hash, wanted->hash);
    return !wanted->found;
}

int ahead_open(const struct asking *asking, const char *hash)
{
    struct wanted wanted = {.hash = hash};
    struct job_view next;

    if (next_of(asking, false, &next))
        job_inputs(next.ad, input_looked, &wanted);
    if (wanted.found)
        return spool_open(asking->questions->spool, hash);
    errno = ENOENT;
    return -1;
}
