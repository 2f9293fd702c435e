/* plan.c (fuzzer): scenarios of clusters from any text.
 *
 * Law: what is refused has a reason and a place within the text; what is read can be asked what if, draws jobs, and can be simulated for a
 * simulated minute. Nothing is left of a name when it is gone. */
#include "sim/plan.h"
#include "fuzz.h"
#include "lang/ad/names.h"

#define JOBS_MAX 300 /* that are simulated */

static uint32_t lines_of(const uint8_t *data, size_t size)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

static void check(struct plan *plan)
{
    struct batch_outcome outcomes[JOBS_MAX + 1];
    struct batch_totals totals;
    struct batch_work work;
    struct err err = {0};

    if (plan->park.clusters < 1000 && plan_what_if(plan, "+2 machines like [ Cpus = 4 ]", &err) < 0)
        fuzz_broken("machines can be added");
    work_init(&work);
    if (plan_generate(plan, 1, 0, BATCH_SECOND / 5, &work, &err) < 0) {
        if (!*err.text)
            fuzz_broken("when no jobs can be drawn there is a reason");
    } else if (work.count <= JOBS_MAX && plan->park.clusters < 1000 &&
               batch_run(&(struct batch_settings){.work = &work,
                                                  .park = &plan->park,
                                                  .extra = true,
                                                  .policy = BATCH_FCFS,
                                                  .window = plan->windows[BATCH_FCFS],
                                                  .horizon = 60ll * BATCH_SECOND},
                         outcomes, &totals, &err) < 0) {
        fuzz_broken("what was drawn can be simulated");
    }
    work_done(&work);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbols *symbols;
    static size_t names;
    struct err err = {0};
    struct plan *plan;

    if (!symbols) {
        symbols = names_new(0);
        names = symbols_count(symbols);
    }
    plan = plan_read(symbols, (const char *)data, size, NULL, NULL, &err);
    if (plan)
        check(plan);
    else if (!*err.text || err.line > lines_of(data, size))
        fuzz_broken("what is refused has a reason, and a place");
    plan_free(plan);
    if (symbols_count(symbols) != names)
        fuzz_broken("no name is left");
    return 0;
}
