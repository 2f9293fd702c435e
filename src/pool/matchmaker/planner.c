/* planner.c: when and where the first of those that wait for room will begin. */
#include "pool/matchmaker/planner.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "match/pair/match.h"
#include "match/pair/narrow.h"
#include "pool/matchmaker/collector_parts.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENDS_MAX 256 /* claims of one machine */
#define AMOUNTS PLAN_AMOUNTS
#define ENDS_FAR 1e12 /* seconds: no claim ends later */
#define STEP_BITS 4   /* a span is told in steps of a sixteenth or so, or the clause would change each time */

static const char *const amounts[AMOUNTS] = {"Cpus", "Memory", "Disk", "GpuCount"};

static struct tree *plan_dress(void *user, uint32_t number);

void planner_init(struct planner *planner, struct collector *collector, const struct machines *machines, uint32_t most,
                  uint64_t seed)
{
    *planner = (struct planner){.collector = collector,
                                .machines = machines,
                                .most = most < PLANS_MAX / PLANS_WATCHED ? most : PLANS_MAX / PLANS_WATCHED,
                                .next = INT64_MAX};
    if (!planner->most)
        return;
    map_init(&planner->roots, seed);
    map_init(&planner->taken, seed);
    planner->plans = mem_alloc(PLANS_MAX * sizeof *planner->plans);
    for (uint32_t i = 0; i < PLANS_MAX; i++)
        planner->plans[i] = (struct plan){.root = NOBODY};
    collector->dress = plan_dress;
    collector->dresser = planner;
}

void planner_done(struct planner *planner)
{
    if (!planner->plans)
        return;
    map_done(&planner->roots);
    map_done(&planner->taken);
    free(planner->plans);
}

static struct plan *plan_of(const struct planner *planner, uint32_t root)
{
    uint64_t place = planner->plans ? map_find(&planner->roots, root) : MAP_NONE;

    return place == MAP_NONE ? NULL : &planner->plans[place];
}

const struct plan *planner_find(const struct planner *planner, uint32_t root)
{
    return plan_of(planner, root);
}

/* ---------------------------------------------------------------------------------------------- what the engine has */

static uint64_t machine_key(const struct planner *planner, agent who, uint64_t machine)
{
    return rng_mix(who ^ planner->taken.seed) + machine;
}

/* The plan that has that machine, or NULL. Two machines may mix to the same word: of these the one whose plan came last counts. */
static struct plan *plan_at(const struct planner *planner, agent who, uint64_t machine)
{
    uint64_t place = planner->plans ? map_find(&planner->taken, machine_key(planner, who, machine)) : MAP_NONE;
    struct plan *plan = place == MAP_NONE ? NULL : &planner->plans[place];

    return plan && plan->agent == who && plan->machine == machine ? plan : NULL;
}

const struct plan *planner_holding(const struct planner *planner, agent who, uint64_t machine)
{
    const struct plan *plan = plan_at(planner, who, machine);

    return plan && plan->held ? plan : NULL;
}

/* The request says which plan is its own, and the offer of its machine lets it in, and others whose limits end in time. */
static struct tree *plan_dress(void *user, uint32_t number)
{
    const struct planner *planner = user;
    const struct entry *entry = &planner->collector->entries[number];
    const struct plan *plan =
        entry->request ? planner_find(planner, number) : planner_holding(planner, entry->agent, entry->id);
    struct ad_setting setting = {planner->collector->names[COLLECTOR_PLANNED], {0}};
    struct tree *worn;
    struct buf text;

    if (!plan || !plan->held)
        return NULL;
    if (entry->request) {
        setting.value = value_integer((int64_t)plan->number);
        return ad_set(entry->left, &setting, 1, NULL);
    }
    buf_init(&text);
    buf_addf(&text, "(other.PlannedOn is %" PRIu64 " || other.TimeLimit <= %" PRId64 ")", plan->number,
             MUTANT(PLAN_PASSED) ? INT64_MAX / SECOND : plan->span / SECOND);
    worn = constraint_narrow_text(entry->left, text.text, text.len);
    buf_done(&text);
    return worn;
}

/* What stands for the two in the engine is made anew. */
static void plan_redress(struct planner *planner, uint32_t root, agent who, uint64_t machine)
{
    struct collector *collector = planner->collector;
    const struct entry *offer = machines_offer(planner->machines, who, machine);

    if (collector->entries[root].state == ENTRY_LIVE && collector->entries[root].request)
        collector_restore(collector, root);
    if (offer)
        collector_restore(collector, (uint32_t)(offer - collector->entries));
}

static void plan_drop(struct planner *planner, struct plan *plan)
{
    struct plan old = *plan;

    map_remove(&planner->roots, plan->root);
    if (plan->planned && plan_at(planner, plan->agent, plan->machine) == plan)
        map_remove(&planner->taken, machine_key(planner, plan->agent, plan->machine));
    *plan = (struct plan){.root = NOBODY};
    planner->count--;
    if (old.held)
        plan_redress(planner, old.root, old.agent, old.machine);
}

/* A span in steps, none of them longer than it is. */
static int64_t span_step(int64_t span)
{
    int64_t seconds = span / SECOND, step = 1;

    if (seconds <= 0)
        return 0;
    while (seconds / step >= 1 << STEP_BITS)
        step *= 2;
    return seconds / step * step * SECOND;
}

/* ------------------------------------------------------------------------------------------------- when there is room */

/* The claims of a machine, as it tells, in the order in which they must end. */
struct ends {
    struct end {
        int64_t at; /* on our clock; INT64_MAX: nothing says so */
        double takes[AMOUNTS];
    } items[ENDS_MAX];
    uint32_t count;
};

static int end_compare(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* A number that is an attribute of that part of the tree; below 0: there is none. */
static double part_number(const struct tree *tree, const struct expr *part, symbol name)
{
    const struct expr *found = name ? tree_find(tree, part, name) : NULL;

    if (found && found->kind == EXPR_INTEGER)
        return (double)found->u.integer;
    return found && found->kind == EXPR_REAL && found->u.real >= 0 ? found->u.real : -1;
}

/* False: some of its claims are not told. */
static bool ends_read(const struct planner *planner, const struct machine_record *record, struct ends *ret)
{
    const struct tree *told = record->told;
    const struct expr *claims = ad_find(told, "Claims"), *rows = claims ? tree_parts(told, claims) : NULL;
    int64_t hidden;

    ret->count = 0;
    if (ad_integer(told, "More", &hidden) || ad_integer(told, "Elsewhere", &hidden) || !claims ||
        claims->kind != EXPR_LIST || claims->u.run.count > ENDS_MAX)
        return false;
    for (uint32_t i = 0; i < claims->u.run.count; i++) {
        struct end *end = &ret->items[ret->count++];
        bool row = rows[i].kind == EXPR_AD;
        double seconds = row ? part_number(told, &rows[i], planner->names[AMOUNTS]) : -1;

        *end = (struct end){.at = INT64_MAX};
        if (seconds >= 0 && seconds < ENDS_FAR)
            end->at = record->said + (int64_t)seconds * SECOND;
        for (int n = 0; row && n < AMOUNTS; n++)
            end->takes[n] = fmax(part_number(told, &rows[i], planner->names[n]), 0);
    }
    qsort(ret->items, ret->count, sizeof *ret->items, end_compare);
    return ret->count > 0;
}

/* The machine when the first so many of its claims have ended. */
static struct tree *whole_less(const struct tree *whole, const struct ends *ends, uint32_t ended)
{
    struct ad_setting settings[AMOUNTS];
    struct tree *left;
    uint32_t count = 0;

    for (int n = 0; n < AMOUNTS; n++) {
        double all, taken = 0;

        for (uint32_t i = ended; i < ends->count; i++)
            taken += ends->items[i].takes[n];
        if (taken <= 0 || !ad_number(whole, amounts[n], &all))
            continue;
        all -= taken;
        settings[count++] =
            (struct ad_setting){symbols_take(whole->symbols, amounts[n], strlen(amounts[n])),
                                all == floor(all) && fabs(all) < 9e15 ? value_integer((int64_t)all) : value_real(all)};
    }
    left = ad_set(whole, settings, count, NULL);
    while (count)
        symbols_drop(whole->symbols, settings[--count].name);
    return left;
}

/* What users and machines wrote is evaluated: as much of it as one look at a plan may take. */
static void look_begin(struct planner *planner, const struct role_env *env)
{
    planner->names[AMOUNTS] = symbols_find(env->symbols, "Ends", 4);
    for (int n = 0; n < AMOUNTS; n++)
        planner->names[n] = symbols_find(env->symbols, amounts[n], strlen(amounts[n]));
    planner->meter_end = planner->meter + PLAN_STEPS;
}

static struct env plan_env(struct planner *planner, const struct role_env *env)
{
    struct env at = eval_env(env);

    at.steps = PLAN_EVAL_STEPS;
    at.meter = &planner->meter;
    at.meter_end = planner->meter_end;
    return at;
}

static bool is_spent(const struct planner *planner)
{
    return planner->meter >= planner->meter_end;
}

static bool fits(struct planner *planner, const struct role_env *env, const struct tree *request,
                 const struct machine_record *record, const struct ends *ends, uint32_t ended)
{
    struct tree *left = whole_less(record->whole, ends, ended);
    struct env at = plan_env(planner, env);
    bool fits =
        left && match_accepts(&at, env->scratch, request, left) && match_accepts(&at, env->scratch, left, request);

    planner->meter += tree_size(record->whole) / EVAL_STEP_BYTES; /* which was copied */
    tree_unref(left);
    return fits;
}

/* How long the request may run, as it says; INT64_MAX: it does not. */
static int64_t request_span(struct planner *planner, const struct role_env *env, const struct tree *request)
{
    symbol name = symbols_find(request->symbols, "TimeLimit", 9);
    struct arena_mark mark = arena_mark(env->scratch);
    struct env at = plan_env(planner, env);
    struct scope scope;
    struct eval eval;
    struct value v;
    bool says;

    scope_init(&scope, request, NULL);
    eval_init(&eval, &at, env->scratch);
    says = name && eval_attribute(&eval, &scope, name, &v);
    arena_rewind(env->scratch, mark); /* of numbers nothing is kept there */
    if (!says)
        return INT64_MAX;
    if ((v.type == VALUE_INTEGER || v.type == VALUE_RELTIME) && v.u.integer > 0 && v.u.integer < INT64_MAX / 4 / SECOND)
        return v.u.integer * SECOND;
    return v.type == VALUE_REAL && v.u.real > 0 && v.u.real < 1e12 ? (int64_t)(v.u.real * (double)SECOND) : INT64_MAX;
}

/* Is the machine booked by the time that the request could be done there? */
static bool is_booked(struct planner *planner, const struct role_env *env, const struct tree *request,
                      const struct machine_record *record, int64_t start)
{
    const struct expr *rows = ad_find(record->told, "Bookings");
    int64_t span = request_span(planner, env, request), wall = env->wall + (start - env->now), from, until;
    bool booked = false;

    for (uint32_t i = 0; rows && rows->kind == EXPR_LIST && i < rows->u.run.count && !booked; i++) {
        const struct expr *part = &tree_parts(record->told, rows)[i];
        struct tree *row = part->kind == EXPR_AD ? ad_part(record->told, part) : NULL;

        if (row && ad_integer(row, "From", &from) && ad_integer(row, "Until", &until))
            booked = until > env->wall / SECOND && (span == INT64_MAX || from < (wall + span) / SECOND);
        tree_unref(row);
    }
    return booked;
}

/* ROOM_UNKNOWN: a claim says no limit now (it may be between two jobs), or finding out takes too much. */
enum room { ROOM_NEVER, ROOM_UNKNOWN, ROOM_THEN };

/* By when the machine has room for the request: when the claims that must end first have, and their jobs' warning; now, if it has room already. Only what is
 * sooner than `before` counts. */
static enum room room_find(struct planner *planner, const struct role_env *env, const struct tree *request,
                           const struct machine_record *record, int64_t before, int64_t *ret)
{
    int64_t grace = planner->collector->spans->grace;
    struct ends ends;
    uint32_t low = 0, high = 0;
    bool booked;

    if (!ends_read(planner, record, &ends) || ends.items[0].at == INT64_MAX)
        return ROOM_UNKNOWN;
    while (high < ends.count && (before == INT64_MAX || ends.items[high].at < before - grace))
        high++;
    if (!high)
        return ROOM_NEVER;
    if (!fits(planner, env, request, record, &ends, high))
        return is_spent(planner) ? ROOM_UNKNOWN : ROOM_NEVER;
    while (low < high) { /* the fewest that must have ended; fewer claims leave no less room */
        uint32_t middle = low + (high - low) / 2;

        if (fits(planner, env, request, record, &ends, middle))
            high = middle;
        else
            low = middle + 1;
    }
    if (low && ends.items[low - 1].at == INT64_MAX)
        return ROOM_UNKNOWN;
    *ret = low ? ends.items[low - 1].at + grace : env->now;
    if (*ret < env->now)
        *ret = env->now;
    booked = is_booked(planner, env, request, record, *ret);
    return is_spent(planner) ? ROOM_UNKNOWN : booked ? ROOM_NEVER : ROOM_THEN;
}

/* Does the machine tell of claims, and is it known what is in use? */
static bool is_told(const struct planner *planner, const struct machine_record *record)
{
    const struct entry *offer;

    if (!record->agent || record->away || record->shrunk || record->pulls || !record->told || !record->whole ||
        (record->state != MACHINE_BUSY && record->state != MACHINE_PART))
        return false;
    offer = machines_offer(planner->machines, record->agent, record->id);
    return !offer || !offer->unnamed;
}

/* ---------------------------------------------------------------------------------------------------------------- plans */

/* How many machines may be looked into this time, and passed over. */
struct quota {
    uint32_t looks, passes;
};

/* Looks at some more machines for it; it is planned when all have been looked at, or enough. */
static void plan_seek(struct planner *planner, const struct role_env *env, struct plan *plan, struct quota *quota)
{
    const struct machines *machines = planner->machines;
    struct tree *request = planner->collector->entries[plan->root].left;

    look_begin(planner, env);
    for (uint32_t looks = PLANS_LOOKS / 2;
         plan->seen < machines->count && quota->passes && looks && quota->looks && !is_spent(planner); plan->seen++) {
        const struct machine_record *record = &machines->items[plan->at % machines->count];
        int64_t start;

        quota->passes--;
        plan->at = (plan->at + 1) % machines->count;
        if (!is_told(planner, record) || plan_at(planner, record->agent, record->id))
            continue;
        quota->looks--;
        looks--;
        plan->looked++;
        if (room_find(planner, env, request, record, plan->agent ? plan->start : INT64_MAX, &start) != ROOM_THEN ||
            start <= env->now)
            continue;
        plan->agent = record->agent;
        plan->machine = record->id;
        plan->start = start;
    }
    if (plan->agent && (plan->seen >= machines->count || plan->looked >= PLANS_LOOKS / 2)) {
        plan->planned = !plan_at(planner, plan->agent, plan->machine);
        if (plan->planned)
            map_set(&planner->taken, machine_key(planner, plan->agent, plan->machine),
                    (uint64_t)(plan - planner->plans));
        plan->agent = plan->planned ? plan->agent : 0;
        plan->number = ++planner->made;
        plan->unknown = INT64_MAX;
        plan->said = plan->version = 0; /* it is looked at once more */
    }
    if (plan->seen >= machines->count)
        plan->seen = plan->looked = 0;
}

/* Looks again at a plan that was made: false when it is over. It stays as it was for a while when nothing is known anew. */
static bool plan_renew(struct planner *planner, const struct role_env *env, struct plan *plan)
{
    const struct machine_record *record = machines_find(planner->machines, plan->agent, plan->machine);
    const struct entry *root = &planner->collector->entries[plan->root];
    enum room room;
    int64_t start;

    if (!record || record->away || record->state == MACHINE_SICK || record->state == MACHINE_DRAINED ||
        record->state == MACHINE_OWNER ||
        (env->now > plan->start + planner->collector->spans->lifetime && !MUTANT(PLAN_FOREVER)))
        return false;
    if (is_told(planner, record) && root->left && planner->meter < PLANS_STEPS / 2 &&
        (record->said != plan->said || root->version != plan->version)) {
        look_begin(planner, env);
        room = room_find(planner, env, root->left, record, INT64_MAX, &start);
        if (room == ROOM_NEVER)
            return false;
        plan->start = room == ROOM_THEN ? start : plan->start;
        plan->unknown = room == ROOM_THEN ? INT64_MAX : plan->unknown < env->now ? plan->unknown : env->now;
        plan->said = record->said;
        plan->version = root->version;
    }
    return plan->unknown == INT64_MAX || env->now - plan->unknown <= planner->collector->spans->lifetime / PLAN_WAITS;
}

/* Does it wait still, and is it the same as it was? */
static bool root_waits(const struct planner *planner, int64_t now, const struct plan *plan)
{
    const struct entry *root = &planner->collector->entries[plan->root];

    return collector_lives(planner->collector, now, plan->root) && root->request && root->left && root->free > 0 &&
           root->numbered == plan->numbered;
}

/* Those that found nobody are watched, and no others; what is planned stays. */
static void plans_watch(struct planner *planner, const struct role_env *env, const uint32_t *roots, uint32_t count)
{
    uint32_t last = 0;
    struct plan *known;

    for (uint32_t k = 0; k < count; k++)
        if ((known = plan_of(planner, roots[k])) != NULL)
            known->waits = planner->turn;
    for (uint32_t i = 0; i < PLANS_MAX; i++) {
        struct plan *plan = &planner->plans[(planner->renewed + i) % PLANS_MAX];

        if (plan->root == NOBODY)
            continue;
        if (!root_waits(planner, env->now, plan) || (!plan->planned && plan->waits != planner->turn) ||
            (plan->planned && !plan_renew(planner, env, plan)))
            plan_drop(planner, plan);
        if (planner->meter < PLANS_STEPS / 2)
            last = i + 1;
    }
    planner->renewed = (planner->renewed + last) % PLANS_MAX;
    for (uint32_t k = 0, at = 0; k < count && planner->count < PLANS_MAX; k++) {
        if (planner_find(planner, roots[k]))
            continue;
        while (planner->plans[at].root != NOBODY)
            at++;
        planner->plans[at] = (struct plan){
            .root = roots[k], .numbered = planner->collector->entries[roots[k]].numbered, .since = env->now};
        map_set(&planner->roots, roots[k], at);
        planner->count++;
    }
}

/* Others are kept from the machines of the first plans, and from no more of them than may be. */
static void plans_hold(struct planner *planner, const struct role_env *env)
{
    const struct spans *spans = planner->collector->spans;
    uint32_t most = planner->machines->live / PLANS_HELD, held = 0;

    for (uint32_t i = 0; i < PLANS_MAX; i++)
        held += planner->plans[i].root != NOBODY && planner->plans[i].held;
    for (uint32_t i = 0; i < PLANS_MAX; i++) {
        struct plan *plan = &planner->plans[i];
        /* whoever is matched begins within a window, and is given the grace at its end */
        int64_t span = span_step(plan->start - env->now - spans->window - spans->grace - spans->lifetime / PLANS_EVERY);

        if (plan->root == NOBODY || !plan->planned ||
            (!plan->held && held >= (most ? most : 1) && !MUTANT(PLAN_UNBOUND)))
            continue;
        held += !plan->held;
        if (plan->held && plan->span == span)
            continue;
        plan->held = true;
        plan->span = span;
        plan_redress(planner, plan->root, plan->agent, plan->machine);
    }
}

static int64_t plans_every(const struct planner *planner)
{
    return planner->collector->spans->lifetime / PLANS_EVERY;
}

/* Whose turn it is to be looked at: those who had none longest, in the order in which they are served; so one that fits nowhere, or takes long to
 * evaluate, holds up nobody. NULL: all have had theirs. */
static struct plan *plan_next(const struct planner *planner, int64_t now, const uint32_t *roots, uint32_t count)
{
    struct plan *next = NULL;

    for (uint32_t k = 0; k < count; k++) {
        struct plan *plan = plan_of(planner, roots[k]);

        if (plan && !plan->planned && plan->turn != planner->turn &&
            now - plan->since >= planner->collector->spans->lifetime / PLAN_WAITS && (!next || plan->turn < next->turn))
            next = plan;
    }
    return next;
}

int64_t planner_run(struct planner *planner, const struct role_env *env)
{
    struct quota quota = {PLANS_LOOKS, PLANS_LOOKS * PLANS_PASSED};
    struct plan *plan;
    uint32_t roots[PLANS_MAX], planned = 0,
                               count = engine_waiting(planner->collector->engine, roots, planner->most * PLANS_WATCHED);

    planner->meter = 0;
    planner->turn++;
    plans_watch(planner, env, roots, count);
    for (uint32_t i = 0; i < PLANS_MAX; i++)
        planned += planner->plans[i].root != NOBODY && planner->plans[i].planned;
    while (planned < planner->most && quota.looks && quota.passes && planner->meter < PLANS_STEPS &&
           (plan = plan_next(planner, env->now, roots, count)) != NULL) {
        plan->turn = planner->turn;
        plan_seek(planner, env, plan, &quota);
        planned += plan->planned;
    }
    plans_hold(planner, env);
    planner->next = planner->count ? env->now + plans_every(planner) : INT64_MAX;
    return planner->next;
}

int64_t planner_cycle(struct planner *planner, const struct role_env *env)
{
    if (!planner->most || planner->next != INT64_MAX)
        return INT64_MAX;
    planner->next = env->now + plans_every(planner);
    return planner->next;
}

bool planner_valid(const struct planner *planner, const char **ret_why)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < PLANS_MAX && planner->plans; i++) {
        const struct plan *plan = &planner->plans[i];

        count += plan->root != NOBODY;
        if (plan->root != NOBODY && plan->held && !plan->planned)
            *ret_why = "a machine is held for nobody";
        else if (plan->root != NOBODY && plan->held && planner_find(planner, plan->root) != plan)
            *ret_why = "a request has two plans";
        else
            continue;
        return false;
    }
    if (count != planner->count)
        *ret_why = "the plans are not counted right";
    return count == planner->count;
}
