/* matchmaker_parts.h: what a matchmaker is made of; for its own files. */
#ifndef BERTH_POOL_MATCHMAKER_MATCHMAKER_PARTS_H
#define BERTH_POOL_MATCHMAKER_MATCHMAKER_PARTS_H

#include "pool/matchmaker/collector.h"
#include "pool/matchmaker/machines.h"
#include "pool/matchmaker/notifier.h"
#include "pool/matchmaker/planner.h"
#include "pool/matchmaker/puller.h"
#include "pool/matchmaker/registrar.h"

#ifdef __cplusplus
extern "C" {
#endif

enum timer_what {
    TIMER_ENTRY,
    TIMER_RECIPIENT,
    TIMER_CLAIM,
    TIMER_WRITE,
    TIMER_BOOK,
    TIMER_LEARNT,
    TIMER_MACHINE,
    TIMER_PLANS
};

struct matchmaker {
    const struct matchmaker_settings *settings;
    uint64_t incarnation; /* 0: the role has not begun */
    struct engine *engine;
    struct accountant *accountant;
    struct timers timers;
    struct collector collector;
    struct notifier notifier;
    struct registrar registrar;
    struct puller puller;
    struct machines machines;
    struct planner planner;
    int64_t began;              /* when the role began: what it has not heard of before may yet be heard of */
    const struct role_env *env; /* of the present step, for callbacks within it */
    bool in_cycle;
    int64_t cycle_from; /* the next cycle may not begin before */
    bool gathers;       /* a window is open: the next cycle begins at cycle_from */
    int64_t wake;       /* the wake-up that the world was asked for; INT64_MAX: none */
    uint64_t matches, cycles;
};

/* What a step works with. */
struct step_ctx {
    struct matchmaker *matchmaker;
    const struct role_env *env;
    struct effects *effects;
};

/* matchmaker_gang.c: the engine has made a gang; `user` is the step. */
void matchmaker_gang_made(void *user, uint32_t root, const struct engine_member *members, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
