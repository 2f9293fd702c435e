/* crew.c: the subordinates of a party in a gang, led through the protocol together. */
#include "pool/crew.h"

#include "base/mem.h"
#include "pool/plants.h"

#include <stdlib.h>

void crew_done(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++)
        branch_done(&crew->branches[i]);
    free(crew->branches);
    *crew = (struct crew){0};
}

struct branch *crew_add(struct crew *crew, const struct edge *edge)
{
    crew->branches = mem_grow(crew->branches, (crew->count + 1) * sizeof *crew->branches);
    branch_init(&crew->branches[crew->count], edge);
    return &crew->branches[crew->count++];
}

struct branch *crew_find(const struct crew *crew, uint64_t claim)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->branches[i].claim == claim)
            return &crew->branches[i];
    return NULL;
}

void crew_go(struct crew *crew, int64_t now, enum branch_state state)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->branches[i].state != BRANCH_GONE)
            branch_go(&crew->branches[i], now, state);
}

bool crew_all(const struct crew *crew, enum branch_state state)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->branches[i].state != state)
            return false;
    return true;
}

bool crew_through(const struct crew *crew, enum branch_state state)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->branches[i].state < state || crew->branches[i].state > BRANCH_STARTED)
            return false;
    return true;
}

int64_t crew_run(struct crew *crew, struct branch_errand *errand, bool leased)
{
    uint64_t after = errand->after;
    int64_t next = INT64_MAX;

    for (uint32_t i = 0; i < crew->count; i++) {
        struct branch *branch = &crew->branches[i];
        int64_t again, left;

        errand->again = branch->active;
        errand->after = PLANTED(START_UNRECORDED) && branch->active ? 0 : after;
        again = branch_run(branch, errand);
        left = branch->lease - lease_clock(errand->env);
        if (leased && branch->state != BRANCH_GONE && errand->env->now + left < again)
            again = errand->env->now + left;
        if (leased && branch->state != BRANCH_GONE && branch->state != BRANCH_RELEASING && branch->alive < again)
            again = branch->alive;
        next = again < next ? again : next;
    }
    return next;
}

bool crew_expire(struct crew *crew, const struct role_env *env)
{
    bool any = false;

    for (uint32_t i = 0; i < crew->count; i++) {
        struct branch *branch = &crew->branches[i];

        if (branch->state != BRANCH_GONE && lease_clock(env) >= branch->lease) {
            branch->state = BRANCH_GONE;
            any = true;
        }
    }
    return any;
}

bool crew_silent(const struct crew *crew, const struct role_env *env)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->branches[i].state != BRANCH_GONE && env->now >= crew->branches[i].alive)
            return true;
    return false;
}

void crew_abort(const struct crew *crew, struct effects *effects)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->branches[i].proves)
            branch_abort(&crew->branches[i], effects);
}

void crew_pause(struct crew *crew, int64_t now, int64_t pause, struct effects *effects)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        struct branch *branch = &crew->branches[i];

        if (branch->state == BRANCH_VERIFIED)
            branch_abort(branch, effects);
        branch_go(branch, now + pause, BRANCH_VERIFYING);
        branch->proves = false;
    }
}

enum reason crew_beat(struct branch *branch, const struct role_env *env, const struct spans *spans,
                      const struct beat *beat, bool decided, bool ending)
{
    enum reason reason = REASON_OK;

    if (branch->state == BRANCH_GONE || (ending && !PLANTED(BEAT_REVIVES)))
        return REASON_RELEASED;
    if (!decided || !branch->attached)
        reason = PLANTED(ACK_UNATTACHED) ? REASON_OK : REASON_WAIT;
    else if (beat->epoch != branch->epoch && !PLANTED(EPOCH))
        reason = REASON_STALE;
    if (reason == REASON_OK && branch->attached) {
        int64_t alive = spans->lease + spans_margin(spans);

        branch_lives(branch, env, spans);
        if (beat->heard >= 0 && beat->heard <= env->now && beat->heard + alive > branch->alive)
            branch->alive = beat->heard + alive;
    }
    return reason;
}

uint64_t branch_store(const struct branch *branch, uint64_t gang, uint64_t shape, struct effects *effects)
{
    struct record record = {.kind = RECORD_BRANCH, .key = branch->claim};

    record.u.branch_record = (struct branch_record){.gang = gang,
                                                    .shape = shape,
                                                    .agent = branch->agent,
                                                    .offer = branch->offer,
                                                    .depth = branch->depth,
                                                    .port = branch->port,
                                                    .link = branch->link,
                                                    .epoch = branch->epoch,
                                                    .ad = branch->ad};
    return effects_persist(effects, &record);
}
