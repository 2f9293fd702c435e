/* A provider that lies, in any message, any field, at any time: no promise to an honest party is broken.
 *
 * Worlds of sim/run.h, with faults and the judge, have one or two more providers, whose ads look good. They are in the pool under their own
 * names, are matched and claimed, and
 *
 *     bend      what they say is changed in a field or two, or not said at all
 *     invent    messages of any kind to anybody, mostly about claims that they have, or have had
 *
 * The judge looks at all others: what a job's customer promised its user, what providers promise each other's customers, the matchmaker's
 * books. Then the liars are gone, and all that can run must end. */
#include "common/gossip.h"
#include "common/tap.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "pool/customer/customer.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/protocol/mutants.h"
#include "pool/provider/provider.h"
#include "sim/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#if defined(TESTS_SANITIZED)
#define CLAIMS 2000 /* a sanitizer looks at the code, and is slow */
#else
#define CLAIMS 20000 /* `./dev soak` takes ten million */
#endif
#define TRACE_LINES 40
#define LIARS_MAX 2
#define SPEAK_ONE_IN 24

/* What they offer: more than anybody; nothing that anybody would want but its price; a part of a gang. */
static const char *const offer_texts[] = {
    "[ Type = \"Machine\"; Memory = 8192; Constraint = true ]",
    "[ Type = \"Machine\"; Memory = 4096; Cpus = 64; Constraint = true; Residual = [ Cpus = Cpus - other.RequestCpus ] ]",
    "[ Type = \"Machine\"; Memory = 300; Constraint = true; Preemption = true; Rank = other.RequestMemory ]",
    "[ Type = \"Licence\"; Executes = false; Most = 4096; Constraint = true ]",
    "[ Type = \"Licence\"; Memory = 4096; Most = 4096; Constraint = true ]",
    "[ Type = \"Disk\"; Executes = false; Room = 100; Constraint = true ]",
    "[ Type = \"Service\"; Executes = false; RequestRoom = 1; RequestMemory = 256; RequestCpus = 1; TimeLimit = 20; Ports = { "
    "[ Label = request; Sort = \"render\"; Constraint = true ], "
    "[ Label = cpu; Constraint = cpu.Type == \"Machine\" && cpu.Memory >= RequestMemory; Rank = cpu.Memory ] } ]",
};
#define OFFER_TEXTS (sizeof offer_texts / sizeof *offer_texts)

struct liars {
    struct gossip gossip;
    struct world *world;
    struct parties parties;
    uint32_t first, count; /* their hosts */
    bool quiet;
    uint64_t bend_one_in; /* of what they say */
    struct provider_settings settings[LIARS_MAX];
    uint64_t ids[LIARS_MAX];
    struct tree *offers[LIARS_MAX];
    /* of all worlds */
    uint64_t bent, withheld, invented;
    uint64_t stands; /* words of how their machines stand that were bent or invented */
};

static bool is_liar(const struct liars *liars, uint32_t place)
{
    return place >= liars->first && place < liars->first + liars->count;
}

/* ---------------------------------------------------------------------------------------------------------- bending */

static bool liar_tells(void *user, const struct host *from, struct message *message)
{
    struct liars *liars = user;

    if (liars->quiet || !is_liar(liars, from->place) || !gossip_one_in(&liars->gossip, liars->bend_one_in))
        return true;
    if (gossip_one_in(&liars->gossip, 4)) {
        liars->withheld++;
        return false;
    }
    gossip_bend(&liars->gossip, message);
    liars->bent++;
    liars->stands += message->kind == MESSAGE_STANDS;
    return true;
}

/* -------------------------------------------------------------------------------------------------------- inventing */

struct pick {
    struct liars *liars;
    uint64_t seen;
    struct tenant_view tenant;
};

static void pick_tenant(void *user, const struct tenant_view *tenant)
{
    struct pick *pick = user;

    if (gossip_one_in(&pick->liars->gossip, ++pick->seen))
        pick->tenant = *tenant;
}

/* About a claim that it has: then each field may still be any other. */
static void liar_aim(struct liars *liars, const struct host *liar, struct message *message)
{
    struct pick pick = {.liars = liars};

    provider_each(liar->role, pick_tenant, &pick);
    if (!pick.seen || gossip_one_in(&liars->gossip, 4))
        return;
    message_aim(message, "claim", pick.tenant.claim);
    if (gossip_one_in(&liars->gossip, 3))
        return;
    message_aim(message, "gang", pick.tenant.gang);
    message_aim(message, "epoch", pick.tenant.epoch);
    message_aim(message, "offer", pick.tenant.offer);
    message_aim(message, "job", pick.tenant.job);
    message_aim(message, "number", pick.tenant.number);
}

static void liar_says(struct liars *liars, const struct host *liar, struct host *to)
{
    struct gossip *gossip = &liars->gossip;
    const struct heard *heard = &gossip->heard[gossip_below(gossip, HEARD)];
    struct message message;

    if (heard->message.kind && gossip_one_in(gossip, 3)) { /* as it, or another, has said something before */
        message_copy(&message, &heard->message);
        gossip_bend(gossip, &message);
    } else {
        gossip_make(gossip, (enum message_kind)(1 + gossip_below(gossip, MESSAGE_COUNT - 1)), &message);
    }
    if (!gossip_one_in(gossip, 3))
        liar_aim(liars, liar, &message);
    liars->invented++;
    liars->stands += message.kind == MESSAGE_STANDS;
    gossip_say(gossip, liar->place, to, gossip_make_word(gossip, "channel"), &message);
}

/* ------------------------------------------------------------------------------------------------------ in the world */

/* They know the claims and jobs of all, and the secrets that were told to them. */
static void liars_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct liars *liars = user;
    bool theirs = is_liar(liars, host->place);

    (void)env;
    if (host->place >= liars->parties.users && !theirs)
        return;
    if (event->message && event->peer && event->peer->agent &&
        (theirs || is_liar(liars, (uint32_t)event->peer->agent - 1)))
        gossip_hear(&liars->gossip, host, event);
    else if (event->message && gossip_one_in(&liars->gossip, 8))
        gossip_ids(&liars->gossip, message_layout(event->message->kind), &event->message->u);
    if (!liars->quiet && !theirs && event->kind != EVENT_LOADED && gossip_one_in(&liars->gossip, SPEAK_ONE_IN))
        world_plan(liars->world,
                   liars->world->time +
                       (gossip_one_in(&liars->gossip, 4) ? (int64_t)gossip_below(&liars->gossip, SECOND) : 0),
                   SIM_PLANS + host->place);
}

static void liars_plan(void *user, uint32_t which)
{
    struct liars *liars = user;
    struct host *to = &liars->world->hosts[which - SIM_PLANS];
    const struct host *liar = &liars->world->hosts[liars->first + gossip_below(&liars->gossip, liars->count)];

    if (!liars->quiet && to->role && liar->role)
        liar_says(liars, liar, to);
}

static struct tree *offer_make(struct world *world, const char *text)
{
    struct build build;
    struct err err = {0};
    struct tree *ad;

    build_init(&build, world->symbols, &dialect_classic);
    ad = parse_ad(&build, NULL, text, strlen(text), &err);
    build_done(&build);
    return ad;
}

static void liars_come(void *user, struct world *world, struct judge *judge, const struct parties *parties)
{
    static const uint64_t bend_one_in[] = {2, 6, 20, 100};
    static const char *const names[LIARS_MAX] = {"liar1", "liar2"};
    struct liars *liars = user;

    (void)judge;
    liars->world = world;
    liars->parties = *parties;
    liars->quiet = false;
    gossip_init(&liars->gossip, world, world->hash ^ 0x6c69617273); /* "liars" */
    liars->first = world->host_count;
    liars->count = 1 + (uint32_t)gossip_below(&liars->gossip, LIARS_MAX);
    liars->bend_one_in = bend_one_in[gossip_below(&liars->gossip, 4)];
    for (uint32_t i = 0; i < liars->count; i++) {
        liars->ids[i] = 2000 + i;
        liars->offers[i] = offer_make(world, offer_texts[gossip_below(&liars->gossip, OFFER_TEXTS)]);
        liars->settings[i] = (struct provider_settings){.self = world->host_count + 1,
                                                        .matchmaker = 1,
                                                        .spans = world->spans,
                                                        .identity = "liar",
                                                        .ids = &liars->ids[i],
                                                        .ads = &liars->offers[i],
                                                        .count = 1};
        world_add(world, &provider_role, &liars->settings[i], "liar", false, names[i]);
    }
    world->ways.tells = liar_tells;
    world->ways.user = liars;
    world_watch(world, &(struct watch){.user = liars, .stepped = liars_stepped});
}

/* They are gone for good. */
static void liars_quiet(void *user)
{
    struct liars *liars = user;

    liars->quiet = true;
    for (uint32_t i = 0; i < liars->count; i++)
        host_crash(liars->world, &liars->world->hosts[liars->first + i], true, INT64_MAX / 2);
}

static void liars_go(void *user)
{
    struct liars *liars = user;

    for (uint32_t i = 0; i < liars->count; i++)
        tree_unref(liars->offers[i]);
    gossip_done(&liars->gossip);
}

/* ---------------------------------------------------------------------------------------------------------- the test */

static struct sim_settings settings_make(struct sim_guest *hooks, struct buf *trace)
{
    const char *seed = getenv("BERTH_SEED"), *rounds = getenv("BERTH_ROUNDS");

    return (struct sim_settings){.seed = seed ? strtoull(seed, NULL, 10) : 1,
                                 .claims = rounds ? strtoull(rounds, NULL, 10) : CLAIMS,
                                 .faults = true,
                                 .lines = TRACE_LINES,
                                 .trace = trace,
                                 .guest = hooks};
}

static void promises_hold(struct liars *liars, struct sim_guest *hooks)
{
    struct buf trace;
    struct sim_settings settings = settings_make(hooks, &trace);
    struct sim_report report;
    int broken;

    buf_init(&trace);
    broken = sim_run(&settings, &report);
    tap_ok(!broken,
           "providers lie, and no promise to an honest party is broken: %" PRIu64 " claims and %" PRIu64
           " jobs in %" PRIu64 " worlds",
           report.claims, report.jobs, report.worlds);
    if (broken) {
        tap_diag("seed %" PRIu64 ": invariant %d is broken after %.6f s by %s: %s", report.failed,
                 report.violation.number, (double)report.violation.time / (double)SECOND, report.violation.party,
                 report.violation.words);
        printf("%s", buf_string(&trace));
    }
    tap_ok(broken || (liars->bent > report.worlds && liars->withheld && liars->invented > report.worlds &&
                      liars->stands > report.worlds),
           "%" PRIu64 " messages were bent, %" PRIu64 " withheld, %" PRIu64 " invented; %" PRIu64
           " said how a machine stands",
           liars->bent, liars->withheld, liars->invented, liars->stands);
    buf_done(&trace);
}

#ifdef BERTH_MUTANTS
enum mutant mutant_now;

/* Bugs that an honest pool never shows are found here. They show in few worlds: the search begins shortly before one that is known. If roles or
 * worlds change it is longer; then BERTH_SEED=1 says the new one. */
#define PLANT_SEED 1
#define PLANT_CLAIMS 100000

static void plants_are_found(struct sim_guest *hooks)
{
    static const struct {
        enum mutant mutant;
        const char *words;
    } plants[] = {
#define X(id, words) {MUTANT_##id, words},
        LIAR_MUTANTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct buf trace;
        struct sim_settings settings = settings_make(hooks, &trace);
        struct sim_report report;
        bool found;

        buf_init(&trace);
        if (!getenv("BERTH_SEED"))
            settings.seed = PLANT_SEED;
        if (!getenv("BERTH_ROUNDS"))
            settings.claims = PLANT_CLAIMS;
        mutant_now = plants[i].mutant;
        found = sim_run(&settings, &report);
        tap_ok(found, "planted: %s: found after %" PRIu64 " claims in the world of seed %" PRIu64 ": %s",
               plants[i].words, report.claims, report.failed, report.violation.words);
        mutant_now = MUTANT_NONE;
        buf_done(&trace);
    }
}
#endif

int main(void)
{
    struct liars *liars = mem_alloc(sizeof *liars);
    struct sim_guest hooks = {liars, liars_come, liars_plan, liars_quiet, liars_go};

    memset(liars, 0, sizeof *liars);
    promises_hold(liars, &hooks);
#ifdef BERTH_MUTANTS
    plants_are_found(&hooks);
#endif
    free(liars);
    return tap_done();
}
