/* waits.c: why a request waits, machine by machine.
 *
 *     does it fit as a whole?   no: nofit    its owner refuses it: refuses, or owner where nobody is let in now
 *     is it there?              away, sick, drained
 *     may it be had now?        no: busy     it asks by itself: pull     it is kept for others: kept     yes: soon
 *
 * The first reason is the last of these that some machine has come to. What the matchmaker holds back itself comes before all of them. */
#include "live/matchmakerd/waits.h"

#include "lang/base/array.h"
#include "match/pair/match.h"
#include "pool/provider/owner.h"

#include <string.h>

#define MACHINES_AT_ONCE 512 /* that are looked at in one go ... */
#define STEPS_AT_ONCE 20000  /* ... but no more once they have cost so many steps: an owner may ask for much */

static const char *const asks[AMOUNTS] = {"RequestCpus", "RequestMemory", "RequestDisk", "RequestGpus"};

/* What the request asks for, where it can be known without a machine: only words depend on it. */
static double amount_asked(const struct env *env, struct arena *scratch, const struct tree *request, const char *name)
{
    struct arena_mark mark = arena_mark(scratch);
    symbol label = symbols_find(request->symbols, name, strlen(name));
    struct scope scope;
    struct eval eval;
    struct value v;
    double asked = -1;

    if (!label || !tree_find(request, tree_root(request), label))
        return -1;
    scope_init(&scope, request, NULL);
    eval_init(&eval, env, scratch);
    if (eval_attribute(&eval, &scope, label, &v) && value_is_number(&v))
        asked = v.type == VALUE_INTEGER ? (double)v.u.integer : v.u.real;
    arena_rewind(scratch, mark);
    return asked;
}

void waits_begin(struct waits *waits, const struct env *env, struct arena *scratch,
                 const struct pool_machines *machines, struct tree *request)
{
    *waits = (struct waits){.machines = machines,
                            .request = request,
                            .runners = machines->runners,
                            .opens = INT64_MAX,
                            .first = WAIT_NOFIT};
    for (int i = 0; i < AMOUNTS; i++)
        waits->asked[i] = amount_asked(env, scratch, request, asks[i]);
    if (waits->asked[AMOUNT_CPUS] < 0)
        waits->asked[AMOUNT_CPUS] = 1;
}

static void plan_place(struct waits *waits, const struct matchmakerd *matchmakerd, int64_t now)
{
    struct plan_view plan;

    if (!matchmaker_planned(matchmakerd->matchmaker, waits->who, waits->id, &plan))
        return;
    waits->planned = true;
    waits->planned_in = plan.start > now ? (plan.start - now) / SECOND : 0;
    waits->planned_at = NOBODY;
    for (uint32_t i = 0; i < waits->machines->present; i++)
        if (waits->machines->items[i].agent == plan.agent && waits->machines->items[i].number == plan.machine)
            waits->planned_at = i;
}

void waits_place(struct waits *waits, const struct matchmakerd *matchmakerd, agent who, uint64_t id)
{
    struct entry_view view;
    int64_t knows, began = matchmaker_began(matchmakerd->matchmaker, &knows), now = runner_now();

    waits->window = (matchmaker_window(matchmakerd->matchmaker, now, &waits->window_left) + SECOND - 1) / SECOND;
    waits->window_left = waits->window_left < 0 ? -1 : (waits->window_left + SECOND - 1) / SECOND;
    waits->learning = now < knows;
    waits->began = (now - began) / SECOND;
    waits->who = who;
    waits->id = id;
    if (!who)
        return;
    plan_place(waits, matchmakerd, now);
    if (matchmaker_find(matchmakerd->matchmaker, who, id, &view)) {
        waits->claiming = view.outstanding;
        waits->left = view.free;
    }
    waits->has_hold = request_hold(matchmakerd->matchmaker, who, id, &waits->hold);
    matchmaker_ahead(matchmakerd->matchmaker, runner_wall() / SECOND, who, id, &waits->ahead, &waits->ahead_users);
}

/* --------------------------------------------------------------------------------------------------------------- looking */

static bool both_accept(const struct env *env, struct arena *scratch, const struct tree *request,
                        const struct tree *machine, uint64_t *steps)
{
    return match_accepts_counted(env, scratch, request, machine, steps) &&
           match_accepts_counted(env, scratch, machine, request, steps);
}

/* An owner that lets nobody in now: would it take this request otherwise? When its time has come, or without the clauses that are its own. */
static bool owner_would(const struct env *env, struct arena *scratch, const struct tree *request,
                        const struct pool_machine *machine, uint64_t *steps)
{
    struct env later = *env;

    if (machine->until != INT64_MAX && machine->sure) {
        later.now = env->now + (machine->until - runner_now() + SECOND - 1) / SECOND;
        return match_accepts_counted(&later, scratch, machine->whole, request, steps);
    }
    return owner_alone(env, scratch, machine->whole, request, steps);
}

/* One that is away, drained or sick: it is asked whether it would fit, and take the request, if it were not. A sick one's ad refuses everybody while it
 * is advertised, but not its whole. */
static enum wait_reason absent_reason(const struct waits *waits, const struct env *env, struct arena *scratch,
                                      const struct pool_machine *machine, uint64_t *steps)
{
    if (!match_accepts_counted(env, scratch, waits->request, machine->whole, steps))
        return WAIT_NOFIT;
    if (!match_accepts_counted(env, scratch, machine->whole, waits->request, steps))
        return WAIT_REFUSES;
    return machine->state == MACHINE_AWAY ? WAIT_AWAY : machine->state == MACHINE_SICK ? WAIT_SICK : WAIT_DRAINED;
}

static bool is_planned_at(const struct waits *waits, const struct pool_machine *machine)
{
    return waits->planned && waits->planned_at != NOBODY && &waits->machines->items[waits->planned_at] == machine;
}

static enum wait_reason present_reason(const struct waits *waits, const struct env *env, struct arena *scratch,
                                       const struct pool_machine *machine, unsigned met, uint64_t *steps)
{
    if (!(met & WHY_MET_FITS))
        return WAIT_NOFIT;
    if (!(met & WHY_MET_ACCEPTS))
        return machine->state == MACHINE_OWNER && owner_would(env, scratch, waits->request, machine, steps)
                   ? WAIT_OWNER
                   : WAIT_REFUSES;
    if (machine->state == MACHINE_BUSY)
        return WAIT_BUSY;
    if (machine->pulls)
        return machine->state == MACHINE_IDLE ? WAIT_PULL : WAIT_BUSY;
    if (!machine->left)
        return machine->state == MACHINE_IDLE ? WAIT_SOON : WAIT_BUSY;
    if (!both_accept(env, scratch, waits->request, machine->left, steps))
        return WAIT_BUSY;
    return machine->narrow && !is_planned_at(waits, machine) &&
                   !both_accept(env, scratch, waits->request, machine->narrow, steps)
               ? WAIT_KEPT
               : WAIT_SOON;
}

/* Puts the end in its place; the latest falls off. */
static void end_add(struct waits *waits, uint32_t place, int64_t in)
{
    uint32_t at = waits->end_count < WAITS_ENDS ? waits->end_count++ : WAITS_ENDS;

    if (at == WAITS_ENDS && waits->ends[--at].in <= in)
        return;
    for (; at > 0 && waits->ends[at - 1].in > in; at--)
        waits->ends[at] = waits->ends[at - 1];
    waits->ends[at] = (struct waits_end){in, place};
}

/* An owner lets somebody in at a time that is known, or nobody knows when the first one does. */
static void opens_add(struct waits *waits, uint32_t place, const struct pool_machine *machine)
{
    int64_t now = runner_now(), in = machine->until > now ? (machine->until - now) / SECOND : 0;

    if (machine->until == INT64_MAX || !machine->sure) {
        waits->opens = -1;
    } else if (in < waits->opens) {
        waits->opens = in;
        waits->opens_at = place;
    }
}

static void machine_count(struct waits *waits, uint32_t place, enum wait_reason reason)
{
    const struct pool_machine *machine = &waits->machines->items[place];

    if (waits->counts[reason] < WAITS_NAMED)
        waits->named[reason][waits->counts[reason]] = place;
    waits->counts[reason]++;
    waits->free += reason == WAIT_SOON && machine->left;
    if (reason == WAIT_BUSY && machine->first_end >= 0)
        end_add(waits, place, machine->first_end);
    if (reason == WAIT_OWNER)
        opens_add(waits, place, machine);
}

static enum wait_reason hold_reason(enum hold_kind kind)
{
    return kind == HOLD_QUOTA    ? WAIT_QUOTA
           : kind == HOLD_LIMIT  ? WAIT_LIMIT
           : kind == HOLD_NEVER  ? WAIT_NEVER
           : kind == HOLD_LEARNS ? WAIT_LEARNS
                                 : WAIT_GAVEUP;
}

static enum wait_reason first_find(const struct waits *waits, const struct why *why)
{
    static const enum wait_reason order[] = {WAIT_SOON,    WAIT_PULL, WAIT_KEPT, WAIT_BUSY,   WAIT_OWNER,
                                             WAIT_DRAINED, WAIT_SICK, WAIT_AWAY, WAIT_REFUSES};
    enum wait_reason first = WAIT_NOFIT;
    uint32_t found = 0, wanted = waits->wanted > 1 ? waits->wanted : 1;

    if (waits->claiming > 0 && !waits->left)
        return WAIT_CLAIMING;
    if (waits->has_hold && waits->hold.kind <= HOLD_LEARNS)
        return hold_reason(waits->hold.kind);
    for (size_t i = 0; i < sizeof order / sizeof *order && first == WAIT_NOFIT; i++)
        if ((found += waits->counts[order[i]]) >= wanted)
            first = order[i];
    if (first == WAIT_SOON && why->discarded)
        return WAIT_DISCARDED;
    if (first == WAIT_SOON && waits->has_hold)
        return hold_reason(waits->hold.kind);
    if (first == WAIT_SOON && waits->window && waits->free)
        return WAIT_WINDOW;
    if (first == WAIT_SOON && waits->ahead)
        return WAIT_SHARE;
    return waits->learning && first == WAIT_NOFIT && !waits->runners ? WAIT_LEARNS : first;
}

bool waits_go_on(struct waits *waits, const struct env *env, struct arena *scratch, const struct why *why,
                 uint64_t *steps)
{
    const struct pool_machines *machines = waits->machines;
    uint32_t end = waits->at + MACHINES_AT_ONCE < machines->count ? waits->at + MACHINES_AT_ONCE : machines->count;
    uint64_t enough = *steps + STEPS_AT_ONCE;

    for (; waits->at < end && *steps < enough; waits->at++) {
        const struct pool_machine *machine = &machines->items[waits->at];

        if (waits->at >= machines->present)
            machine_count(waits, waits->at, absent_reason(waits, env, scratch, machine, steps));
        else if (waits->at < why->offers)
            machine_count(waits, waits->at, present_reason(waits, env, scratch, machine, why->met[waits->at], steps));
    }
    if (waits->at < machines->count)
        return true;
    waits->first = first_find(waits, why);
    return false;
}

bool waits_only(const struct waits *waits)
{
    switch (waits->first) {
    case WAIT_AWAY:
    case WAIT_SICK:
    case WAIT_DRAINED:
    case WAIT_OWNER:
    case WAIT_BUSY:
    case WAIT_KEPT:
    case WAIT_PULL:
    case WAIT_CLAIMING:
        return true;
    case WAIT_SOON:
        return !waits->free;
    case WAIT_QUOTA:
    case WAIT_LIMIT:
    case WAIT_NEVER:
        return !waits->counts[WAIT_SOON];
    default:
        return false;
    }
}

bool waits_tell_hold(const struct waits *waits)
{
    return waits->has_hold && waits->first == hold_reason(waits->hold.kind);
}
