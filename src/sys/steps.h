/* steps.h: where the time of a job goes: the moments of its way through the processes of a pool, for `berth bench jobs`.
 *
 * Noted only where the variable BERTH_STEPS names a file, to which all processes append; elsewhere a note costs a look at a number. */
#ifndef BERTH_SYS_STEPS_H
#define BERTH_SYS_STEPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STEPS_VARIABLE "BERTH_STEPS"

/* X(id, name, what has happened at that moment), in the order of a job's way. */
#define STEPS(X)                                                                        \
    X(HANDED, "handed", "the customer sends the job to its claim")                      \
    X(TAKEN, "taken", "the provider has it, in a durable row")                          \
    X(STAGED, "staged", "its folder and inputs are there")                              \
    X(ORDERED, "ordered", "the launcher of the claim reads its order")                  \
    X(MADE, "made", "the first process of its sandbox is there, and is let go")         \
    X(EXITED, "exited", "its sandbox was furnished, and its program has run and ended") \
    X(UNDONE, "undone", "nothing of its sandbox is left, and the end is written")       \
    X(HEARD, "heard", "the provider has heard of it")                                   \
    X(TOLD, "told", "the provider sends the result, from a durable row")                \
    X(DURABLE, "durable", "the customer has it, in a durable row")                      \
    X(ACKNOWLEDGED, "acknowledged", "the provider knows that")

enum job_step {
#define X(id, ...) STEP_##id,
    STEPS(X)
#undef X
        STEP_COUNT
};

/* What is counted, in each process. */
#define STEPS_COUNTED(X)                                        \
    X(COMMIT, "commits", "of a store: each waits for the disk") \
    X(ROW, "rows", "put into a store or removed")               \
    X(EXCHANGE, "exchanges", "over HTTP, that it began")

enum counted {
#define X(id, ...) COUNTED_##id,
    STEPS_COUNTED(X)
#undef X
        COUNTED_COUNT
};

struct step_note {
    uint64_t claim, number; /* of what is counted: the process, and 0 */
    int64_t at;             /* nanoseconds of the machine's clock since its start */
    uint64_t step;          /* an enum job_step; from STEP_COUNT on an enum counted */
};

void step_note(enum job_step step, uint64_t claim, uint64_t number);
void step_counts(enum counted counted);

#ifdef __cplusplus
}
#endif
#endif
