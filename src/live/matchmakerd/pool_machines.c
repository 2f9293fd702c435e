/* pool_machines.c: the machines of the pool as one question finds them.
 *
 *     records     every machine that is known, with room or without
 *     then ads    those beside a claim, which stand for no machine of their own, but may be matched
 *     then sorted: those that are there before those that are away, drained or sick */
#include "live/matchmakerd/pool_machines.h"

#include "live/matchmakerd/ad_shown.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/cut.h"
#include "lang/base/mem.h"
#include "match/gang/gang_why.h"
#include "match/pair/match.h"
#include "match/pair/narrow.h"
#include "pool/protocol/writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MASK_AT_ONCE 20000 /* steps: in one go, what is hidden of machines is made until it has cost so many ... */
#define MASK_COST 100      /* ... and of one machine it costs this beside its answer: its ad is copied */

bool pool_machine_is_present(const struct pool_machine *machine)
{
    return machine->state != MACHINE_AWAY && machine->state != MACHINE_DRAINED && machine->state != MACHINE_SICK;
}

/* Is it a machine that runs jobs, as far as its ad says? */
static bool runs_jobs(const struct pool_machine *machine)
{
    const char *type;
    bool executes;
    size_t len;

    return machine->counts && (!ad_flag(machine->whole, "Executes", &executes) || executes) &&
           !(ad_string(machine->whole, "Type", &type, &len) && len == 7 && !strncasecmp(type, "Storage", 7));
}

static struct pool_machine *machine_add(struct pool_machines *machines)
{
    ARRAY_ROOM(machines->items, machines->count, machines->room, 256);
    return &machines->items[machines->count++];
}

/* What others may have, whose TimeLimit is no longer than that. */
static struct tree *plan_narrow(struct tree *left, const struct plan_view *plan)
{
    char text[80];

    snprintf(text, sizeof text, "other.TimeLimit <= %" PRId64, plan->span / SECOND);
    return constraint_narrow_text(left, text, strlen(text));
}

static void record_add(struct pool_machines *machines, const struct matchmakerd *matchmakerd, struct request *caller,
                       const struct machine_view *view)
{
    struct machine_facts facts;
    struct pool_machine *machine;
    struct plan_view plan;
    const char *id;

    if (view->brief) {
        machines->gone_long++;
        return;
    }
    machine_facts(view, runner_now(), &facts);
    id = entry_id(matchmakerd, &(struct entry_view){.agent = view->agent, .id = view->id});
    machine = machine_add(machines);
    *machine = (struct pool_machine){.whole = tree_ref((struct tree *)view->whole),
                                     .left = view->left ? tree_ref((struct tree *)view->left) : NULL,
                                     .id = *id ? mem_dup(id, strlen(id)) : mem_dup(facts.name, strlen(facts.name)),
                                     .state = view->state,
                                     .pulls = view->pulls,
                                     .sure = view->sure,
                                     .counts = true,
                                     .hidden = caller && !machine_shows_policy(caller, view),
                                     .since = view->since,
                                     .until = view->until,
                                     .first_end = facts.first_end};
    machine->agent = view->agent;
    machine->number = view->id;
    if (machine->left && matchmaker_planned_there(matchmakerd->matchmaker, view->agent, view->id, &plan))
        machine->narrow = plan_narrow(machine->left, &plan);
    if (facts.words && facts.words_len && (!caller || machine_shows_words(caller, view, &facts)))
        machine->words = mem_dup(facts.words, facts.words_len);
    for (int i = 0; i < AMOUNTS; i++) {
        machine->all[i] = facts.amounts[i].known ? facts.amounts[i].all : 0;
        machine->used[i] = facts.amounts[i].known ? facts.amounts[i].used : 0;
    }
}

static void ad_add(struct pool_machines *machines, const struct matchmakerd *matchmakerd, struct request *caller,
                   const struct entry_view *view)
{
    struct machine_view record;
    const char *id;

    if (view->request || !view->left || view->free < 1 || (caller && !request_sees(caller, view)) ||
        matchmaker_find_machine(matchmakerd->matchmaker, view->agent, view->id, &record))
        return;
    id = entry_id(matchmakerd, view);
    *machine_add(machines) = (struct pool_machine){.whole = tree_ref((struct tree *)view->left),
                                                   .left = tree_ref((struct tree *)view->left),
                                                   .id = mem_dup(id, strlen(id)),
                                                   .hidden = caller && entry_hides_policy(caller, view),
                                                   .until = INT64_MAX,
                                                   .first_end = -1};
}

void pool_machines_suppose(struct pool_machines *machines, const char *id, struct tree *ad)
{
    struct pool_machine *machine = NULL;

    for (uint32_t i = 0; i < machines->count && !machine; i++)
        machine = !strcmp(machines->items[i].id, id) ? &machines->items[i] : NULL;
    if (!machine) {
        machine = machine_add(machines);
        *machine = (struct pool_machine){.id = mem_dup(id, strlen(id)), .counts = true};
    }
    tree_unref(machine->whole);
    tree_unref(machine->left);
    tree_unref(machine->narrow);
    free(machine->words);
    *machine = (struct pool_machine){.id = machine->id,
                                     .whole = tree_ref(ad),
                                     .left = tree_ref(ad),
                                     .counts = machine->counts,
                                     .until = INT64_MAX,
                                     .first_end = -1};
}

/* Those that are there come first; otherwise the order stays. */
void pool_machines_end(struct pool_machines *machines)
{
    struct pool_machine *sorted = mem_alloc((machines->count + 1) * sizeof *sorted);
    uint32_t at = 0;

    for (uint32_t i = 0; i < machines->count; i++)
        if (pool_machine_is_present(&machines->items[i]))
            sorted[at++] = machines->items[i];
    machines->present = at;
    for (uint32_t i = 0; i < machines->count; i++)
        if (!pool_machine_is_present(&machines->items[i]))
            sorted[at++] = machines->items[i];
    free(machines->items);
    machines->items = sorted;
    machines->room = machines->count + 1;
    machines->total = machines->count;
    machines->wholes = mem_alloc((machines->count + 1) * sizeof *machines->wholes);
    for (uint32_t i = 0; i < machines->count; i++) {
        machines->wholes[i] = sorted[i].whole;
        machines->runners += runs_jobs(&sorted[i]);
    }
}

bool pool_machines_next(struct pool_machines *machines, const struct matchmakerd *matchmakerd, struct request *caller)
{
    const struct matchmaker *matchmaker = matchmakerd->matchmaker;
    struct machine_view record;
    struct entry_view ad;

    if (!machines->ads && matchmaker_next_machine(matchmaker, machines->at, &record, &machines->at)) {
        record_add(machines, matchmakerd, caller, &record);
        return true;
    }
    if (!machines->ads) {
        machines->ads = true;
        machines->at = 0;
    }
    if (matchmaker_next(matchmaker, machines->at, &ad, &machines->at)) {
        ad_add(machines, matchmakerd, caller, &ad);
        return true;
    }
    return false;
}

static struct tree *machine_masked(const struct env *env, struct arena *scratch, const struct tree *ad,
                                   const struct tree *request, uint64_t *steps)
{
    return ad_masked(ad, match_accepts_counted(env, scratch, ad, request, steps));
}

bool pool_machines_mask(struct pool_machines *machines, const struct env *env, struct arena *scratch,
                        const struct tree *request)
{
    uint64_t steps = 0;

    for (; machines->masked < machines->present && steps < MASK_AT_ONCE; machines->masked++) {
        struct pool_machine *machine = &machines->items[machines->masked];

        if (!machine->hidden)
            continue;
        steps += MASK_COST;
        tree_unref(machine->masked);
        tree_unref(machine->masked_left);
        machine->masked = machine_masked(env, scratch, machine->whole, request, &steps);
        machine->masked_left = machine->left ? machine_masked(env, scratch, machine->left, request, &steps) : NULL;
        machines->wholes[machines->masked] = machine->masked;
    }
    if (machines->masked < machines->present)
        return true;
    machines->masked = 0;
    return false;
}

uint32_t pool_machines_leave_ported(struct pool_machines *machines)
{
    struct pool_machine *aside = mem_alloc((machines->count + 1) * sizeof *aside);
    uint32_t kept = 0, left = 0, present = 0;

    for (uint32_t i = 0; i < machines->count; i++) {
        if (gang_why_ported(machines->items[i].whole)) {
            machines->runners -= runs_jobs(&machines->items[i]);
            aside[left++] = machines->items[i];
            continue;
        }
        present += i < machines->present;
        machines->items[kept++] = machines->items[i];
    }
    memcpy(machines->items + kept, aside, left * sizeof *aside);
    free(aside);
    machines->count = kept;
    machines->present = present;
    for (uint32_t i = 0; i < kept; i++)
        machines->wholes[i] = machines->items[i].whole;
    return left;
}

void pool_machines_done(struct pool_machines *machines)
{
    uint32_t total = machines->total > machines->count ? machines->total : machines->count;

    for (uint32_t i = 0; i < total; i++) {
        tree_unref(machines->items[i].whole);
        tree_unref(machines->items[i].left);
        tree_unref(machines->items[i].masked);
        tree_unref(machines->items[i].narrow);
        tree_unref(machines->items[i].masked_left);
        free(machines->items[i].id);
        free(machines->items[i].words);
    }
    free(machines->items);
    free(machines->wholes);
}

void pool_machine_name(const struct pool_machine *machine, struct buf *out)
{
    const char *text;
    size_t len, from = out->len;

    if (ad_string(machine->whole, "Name", &text, &len) && len)
        buf_add(out, text, cut_len(text, len, MACHINE_NAME_MAX));
    else
        buf_adds(out, machine->id);
    for (size_t i = from; i < out->len; i++) /* whatever an owner calls it, it does not control a terminal */
        if ((unsigned char)out->text[i] < ' ' || out->text[i] == 127)
            out->text[i] = '?';
}
