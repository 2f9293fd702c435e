/* twin_planner.c: those that wait for room are planned where and when they are if each end of each claim is tried.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/rounds.h"
#include "matchmaker_world.h"

#include "lang/base/rng.h"

#include <inttypes.h>

#define MACHINES 5
#define CLAIMS 5
#define REQUESTS 3
#define FIRST 10 /* the first agent that is a machine */
#define ALICE 2
#define NEVER INT64_MAX

struct claim {
    int64_t cpus, memory, ends; /* ends: in so many seconds; NEVER: nothing says so */
};

struct machine {
    int64_t cpus, memory;
    struct claim claims[CLAIMS];
    uint32_t count;
    int64_t booked; /* from so many seconds on; NEVER: it is not */
    bool taken;     /* by a plan */
};

struct request {
    int64_t cpus, memory, limit; /* limit 0: it says none */
};

struct round {
    struct rng rng;
    struct pool *pool;
    struct machine machines[MACHINES];
    struct request requests[REQUESTS];
    uint32_t machine_count, request_count;
    int64_t told; /* when */
};

static int64_t below(struct round *round, int64_t bound)
{
    return (int64_t)rng_below(&round->rng, (uint64_t)bound);
}

/* ------------------------------------------------------------------------------------------------------------ the pool */

/* Its claims take all that there is. No two claims end at once. */
static void machine_make(struct round *round, uint32_t at)
{
    struct machine *machine = &round->machines[at];
    int64_t cpus, memory;

    *machine = (struct machine){.count = 1 + (uint32_t)below(round, CLAIMS), .booked = NEVER};
    machine->cpus = cpus = machine->count + below(round, 8);
    machine->memory = memory = machine->count + below(round, 8);
    for (uint32_t i = 0; i < machine->count; i++) {
        struct claim *claim = &machine->claims[i];
        bool last = i + 1 == machine->count;
        int64_t others = machine->count - 1 - i;

        claim->cpus = last ? cpus : 1 + below(round, cpus - others);
        claim->memory = last ? memory : 1 + below(round, memory - others);
        cpus -= claim->cpus;
        memory -= claim->memory;
        claim->ends = below(round, 8) ? 600 + below(round, 60) * MACHINES * CLAIMS + at * CLAIMS + i : NEVER;
    }
    if (below(round, 4) == 0)
        machine->booked = 900 + below(round, 3000);
}

static void machine_tell(struct round *round, uint32_t at)
{
    const struct machine *machine = &round->machines[at];
    struct message message = {.kind = MESSAGE_STANDS};
    int64_t wall = round->pool->env.wall / SECOND;
    struct buf whole, told;
    struct err err = {0};

    buf_init(&whole);
    buf_init(&told);
    buf_addf(&whole,
             "[ Type = \"Machine\"; Cpus = %" PRId64 "; Memory = %" PRId64
             "; Constraint = Cpus > 0 && other.Cpus <= Cpus && other.Memory <= Memory; "
             "Residual = [ Cpus = Cpus - other.Cpus; Memory = Memory - other.Memory ] ]",
             machine->cpus, machine->memory);
    buf_addf(&told, "[ Used = [ Cpus = %" PRId64 "; Memory = %" PRId64 " ]; Claims = {", machine->cpus,
             machine->memory);
    for (uint32_t i = 0; i < machine->count; i++) {
        const struct claim *claim = &machine->claims[i];

        buf_addf(&told, "%s [ Claim = \"%016x\"; Job = 1; ", i ? "," : "", at * CLAIMS + i + 1);
        if (claim->ends != NEVER)
            buf_addf(&told, "Ends = %" PRId64 "; ", claim->ends);
        buf_addf(&told, "Cpus = %" PRId64 "; Memory = %" PRId64 " ]", claim->cpus, claim->memory);
    }
    buf_adds(&told, " }");
    if (machine->booked != NEVER)
        buf_addf(&told, "; Bookings = { [ Booking = \"%016x\"; From = %" PRId64 "; Until = %" PRId64 " ] }", at + 1,
                 wall + machine->booked, wall + machine->booked + 600);
    buf_adds(&told, " ]");
    message.u.stands = (struct stands){.id = FIRST + at,
                                       .version = 1,
                                       .base = 1,
                                       .state = MACHINE_BUSY,
                                       .until = -1,
                                       .ad = lang_ad(&round->pool->lang, &dialect_classic, buf_string(&whole), &err),
                                       .told = lang_ad(&round->pool->lang, &dialect_classic, buf_string(&told), &err)};
    if (!message.u.stands.ad || !message.u.stands.told)
        printf("Bail out! %s\n", err.text);
    say_as(round->pool, peer_of(FIRST + at), &message);
    if (round->pool->answer.u.got.reason != REASON_OK)
        printf("Bail out! the machine's word is refused: %d\n", (int)round->pool->answer.u.got.reason);
    message_done(&message);
    buf_done(&whole);
    buf_done(&told);
}

static bool is_asked(const struct round *round, uint32_t before, const struct request *request)
{
    for (uint32_t i = 0; i < before; i++)
        if (round->requests[i].cpus == request->cpus && round->requests[i].memory == request->memory)
            return true;
    return false;
}

/* None asks for the same as another: of such the first alone is planned. */
static void request_put(struct round *round, uint32_t at)
{
    struct request *request = &round->requests[at];
    struct buf text;

    do
        *request =
            (struct request){1 + below(round, 10), 1 + below(round, 10), below(round, 4) ? 60 + below(round, 2000) : 0};
    while (is_asked(round, at, request));
    buf_init(&text);
    buf_addf(&text,
             "[ Type = \"Job\"; Cpus = %" PRId64 "; Memory = %" PRId64 "; Constraint = other.Type == \"Machine\"",
             request->cpus, request->memory);
    if (request->limit)
        buf_addf(&text, "; TimeLimit = %" PRId64, request->limit);
    buf_adds(&text, " ]");
    if (put(round->pool, (struct put){.from = ALICE, .id = at + 1, .version = 1, .request = true}, buf_string(&text))
            .reason != REASON_OK)
        printf("Bail out! the job is refused\n");
    buf_done(&text);
}

static void round_begin(struct round *round, uint64_t seed)
{
    rng_init(&round->rng, rng_mix(seed));
    round->machine_count = 1 + (uint32_t)below(round, MACHINES);
    round->request_count = 1 + (uint32_t)below(round, REQUESTS);
    round->pool = pool_new();
    round->pool->settings.plans = REQUESTS;
    role_restart(round->pool);
    round->told = round->pool->env.now;
    for (uint32_t i = 0; i < round->machine_count; i++) {
        machine_make(round, i);
        machine_tell(round, i);
    }
    /* something is offered, to nobody: requests are alike to a matchmaker that knows no offer which reads what they ask for */
    put(round->pool, (struct put){.from = FIRST + MACHINES, .id = FIRST + MACHINES, .version = 1},
        "[ Type = \"Machine\"; Constraint = other.Cpus < 1 && other.Memory < 1 && other.TimeLimit < 1 ]");
    for (uint32_t i = 0; i < round->request_count; i++)
        request_put(round, i);
    for (int i = 0; i < 6; i++)
        pass(round->pool, round->pool->spans.lifetime / 20);
}

/* ----------------------------------------------------------------------------------------------------- each end is tried */

static bool has_room(const struct machine *machine, const struct request *request, int64_t at)
{
    int64_t cpus = machine->cpus, memory = machine->memory;

    for (uint32_t i = 0; i < machine->count; i++)
        if (machine->claims[i].ends > at) {
            cpus -= machine->claims[i].cpus;
            memory -= machine->claims[i].memory;
        }
    return request->cpus <= cpus && request->memory <= memory;
}

/* When the machine first has room for it: seconds from when it told of its claims; NEVER: not, or it would reach into a booking. */
static int64_t room_at(const struct round *round, const struct machine *machine, const struct request *request)
{
    int64_t first = NEVER, grace = round->pool->spans.grace / SECOND;

    for (uint32_t i = 0; i < machine->count; i++) {
        int64_t at = machine->claims[i].ends;

        if (at != NEVER && at < first && has_room(machine, request, at))
            first = at;
    }
    if (first == NEVER)
        return NEVER;
    if (machine->booked != NEVER && (!request->limit || machine->booked < first + grace + request->limit))
        return NEVER;
    return first;
}

/* Each has the machine where it begins first, of those that are left to it. */
static bool is_right(struct round *round, uint64_t *planned)
{
    bool right = true;

    for (uint32_t i = 0; i < round->request_count; i++) {
        uint32_t best = MACHINES;
        int64_t first = NEVER;
        struct plan_view plan;
        bool is = matchmaker_planned(round->pool->role, ALICE, i + 1, &plan);

        for (uint32_t m = 0; m < round->machine_count; m++) {
            int64_t at = round->machines[m].taken ? NEVER : room_at(round, &round->machines[m], &round->requests[i]);

            if (at < first) {
                first = at;
                best = m;
            }
        }
        if (is != (first != NEVER))
            right = false;
        else if (is &&
                 (plan.agent != FIRST + best || plan.start != round->told + first * SECOND + round->pool->spans.grace))
            right = false;
        if (!right) {
            tap_diag("request %u: %s at machine %d after %" PRId64 " s; where each end is tried: machine %u, %" PRId64,
                     i, is ? "planned" : "not planned", is ? (int)(plan.agent - FIRST) : -1,
                     is ? (plan.start - round->told - round->pool->spans.grace) / SECOND : -1, best, first);
            return false;
        }
        if (is)
            round->machines[best].taken = true;
        *planned += is;
    }
    return true;
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(300), planned = 0, all = 0;
    bool right = true;

    for (uint64_t i = 0; i < rounds && right; i++) {
        struct round round = {0};

        round_begin(&round, seed + i);
        right = is_right(&round, &planned);
        all += round.request_count;
        if (!right)
            tap_diag("seed %" PRIu64, seed + i);
        pool_drop(round.pool);
    }
    tap_ok(right, "plans are where and when they are if each end of each claim is tried");
    tap_ok(planned > rounds / 2 && planned < all - rounds / 10,
           "many are planned, and some are not: %" PRIu64 " of %" PRIu64, planned, all);
    return tap_done();
}
