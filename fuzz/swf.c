/* swf.c (fuzzer): traces from any text: the Standard Workload Format, and JSON lines when the first byte is odd.
 *
 * Law: what is refused has a reason and a place within the text; what is read is in order, can be simulated, and reads back as the same jobs
 * when it is written. */
#include "sim/swf.h"
#include "fuzz.h"
#include "lang/ad/names.h"
#include "sim/joblines.h"

#include <math.h>

#define JOBS_MAX 200 /* that are simulated */

static uint32_t lines_of(const char *text, size_t size)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

static void check_order(const struct batch_work *work)
{
    for (uint32_t i = 0; i < work->count; i++) {
        const struct batch_job *job = &work->jobs[i];

        if (job->submit < 0 || job->duration < 0 || job->estimate < 0 || job->user >= work->users ||
            !(job->asks[0] >= 0 && job->asks[1] >= 0 && job->asks[2] >= 0))
            fuzz_broken("a job has times, amounts and a user");
        if (i && job->submit < job[-1].submit)
            fuzz_broken("jobs are in the order of submission");
    }
}

static void check_run(struct batch_work *work, const struct batch_park *park)
{
    static const enum batch_policy policies[] = {BATCH_FCFS, BATCH_STRICT, BATCH_EASY, BATCH_CONSERVATIVE};
    struct batch_outcome outcomes[JOBS_MAX + 1];
    struct batch_totals totals;
    struct err err = {0};

    if (work->count > JOBS_MAX)
        return;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (batch_run(&(struct batch_settings){.work = work,
                                               .park = park,
                                               .policy = policies[i],
                                               .window = {BATCH_SECOND, BATCH_SECOND},
                                               .timeout = 3600ll * BATCH_SECOND,
                                               .horizon = INT64_MAX / 4},
                      outcomes, &totals, &err) < 0)
            fuzz_broken("what was read can be simulated");
}

static void check_back(struct symbols *symbols, struct batch_work *work, const struct batch_park *park)
{
    struct batch_work again;
    struct err err = {0};
    struct buf out;
    double largest;

    buf_init(&out);
    work_init(&again);
    joblines_write(&out, work, NULL, park);
    if (joblines_read(symbols, out.text ? out.text : "", out.len, park, &again, &largest, &err) < 0 ||
        again.count != work->count)
        fuzz_broken("what is written can be read");
    for (uint32_t i = 0; i < work->count; i++)
        if (work->jobs[i].submit != again.jobs[i].submit || work->jobs[i].duration != again.jobs[i].duration ||
            work->jobs[i].asks[0] != again.jobs[i].asks[0])
            fuzz_broken("and is the same");
    work_done(&again);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbols *symbols;
    static size_t names;
    struct batch_kind kind = {.name = "only", .capacity = {64, INFINITY, INFINITY}, .count = 1};
    const char *text = (const char *)data + 1;
    struct swf_header header = {0};
    struct batch_work work;
    struct batch_park park;
    struct err err = {0};
    double largest;
    int result;

    if (!symbols) {
        symbols = names_new(0);
        names = symbols_count(symbols);
    }
    if (size < 1)
        return 0;
    park_init(&park);
    park_add(&park, &kind);
    work_init(&work);
    if (data[0] & 1) {
        result = joblines_read(symbols, text, size - 1, &park, &work, &largest, &err);
    } else {
        result = swf_read(text, size - 1, &work, &header, &err);
        for (uint32_t i = 0, row = work_row_all(&work, &park); i < work.count; i++)
            work.jobs[i].row = row;
    }
    if (result < 0 && (!*err.text || err.line > lines_of(text, size - 1)))
        fuzz_broken("what is refused has a reason, and a place");
    if (result == 0) {
        check_order(&work);
        check_run(&work, &park);
        check_back(symbols, &work, &park);
    }
    work_done(&work);
    park_done(&park);
    if (symbols_count(symbols) != names)
        fuzz_broken("no name is left");
    return 0;
}
