/* tree_test.c: gangs that are trees, claimed in worlds that break everything: the roles and the world are the real
 * ones, the matchmaker is a script that makes gangs of many shapes. What a gang promises is judged by src/sim/judge_gangs.h; beside it
 * this file looks at what only the maker of these gangs knows.
 *
 *        root          What is judged after every event, by the parties' own records, numbered as in protocol.md:
 *       /    \           1  an offer is pinned by one claim at most
 *      A      I          2a no process starts before the root has decided durably and every member of its gang, at
 *             |             whatever depth, has cleared the way; all were pinned when the root decided
 *             C          2b when an essential member is lost, all processes of the gang end in time; without one that
 *                           is not, the others go on, and the gang is not used for a next job
 *                        3  a job does not start in a gang while it runs in another; whatever starts is the root's job
 *                        4  no gang is decided that the ports of a party do not accept
 *                        6  once faults stop, every job ends and nothing is left of any claim
 *
 * A member that has cleared the way and is lost before others have started counts as having done so: no protocol can
 * know of that, and 2b ends such a gang.
 *
 * In half of the worlds the ads have ports: each says what it wants of whom, also beside another, and whose loss matters.
 * The script looks at none of that. Some members execute nothing. The *leader* is the first that does; only how it ends
 * is how the job ends.
 *
 * BERTH_SEED is the seed of the first world, BERTH_ROUNDS how many there are. */
#include "common/tap.h"
#include "lang/base/buf.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "pool/customer/customer.h"
#include "pool/matchmaker/notifier.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/seen.h"
#include "pool/protocol/ticket.h"
#include "pool/provider/provider.h"
#include "sim/faults.h"
#include "sim/judge_gangs.h"
#include "sim/trace.h"
#include "sim/user.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(TESTS_SANITIZED)
#define WORLDS 40
#define GANGS_LEAST 800
#elif defined(__OPTIMIZE__)
#define WORLDS 160 /* `./dev soak` takes ten thousand */
#define GANGS_LEAST 2700
#else
#define WORLDS 100
#define GANGS_LEAST 2000
#endif
#define TRACE_LINES 40

#define MEMBERS_MAX 5
#define CUSTOMERS_MAX 2
#define PROVIDERS_MAX 9
#define USERS_MAX CUSTOMERS_MAX
#define SHAPES 3
#define PARALLEL_SHAPE 1 /* its members are processes of one job */
#define SITES 2
#define NAME_BYTES 16
#define ENTRIES_MAX 64
#define OPEN_MAX 64                   /* matches of an ad that may still be heard of */
#define SWEEP_PLAN FAULTS_PLANS       /* the judge looks around */
#define LONG_PLAN (FAULTS_PLANS + 1)  /* something is gone for many leases */
#define SPARE_PLAN (FAULTS_PLANS + 2) /* somebody is lost that is not essential */
#define CYCLE (50 * MILLISECOND)      /* of the matchmaker */
#define LIMIT 120                     /* seconds that a job may run at most */
#define PATIENCE (3 * SECOND)         /* for a shape that there are not enough offers for */

/* ---------------------------------------------------------------------------------------- what the maker knows of all */

/* When is a loss at a port harmless? */
enum rule { RULE_NONE, RULE_TRUE, RULE_TIME, RULE_FALSE, RULES };
static const char *const rule_texts[RULES] = {"", "Essential = true;", "Essential = JobRunTime < 4;",
                                              "Essential = false;"};

/* What is known of an ad: nobody here evaluates one. */
struct party {
    bool ported;
    bool checks;  /* its later ports want whoever is on the site of its first */
    bool picky;   /* its link wants that as well, of itself */
    bool up_last; /* its link is its last port, else its first */
    bool executes;
    uint32_t site;
    enum rule rules[MEMBERS_MAX]; /* by port for subordinates; without ports, [0] is for all */
    bool idle[MEMBERS_MAX];       /* by port: whoever docks there runs nothing, nor does anybody below it */
};

struct member {
    const struct party *party;
    uint32_t port; /* which of its superior's subordinates it is */
    uint64_t claim, offer;
    uint32_t host;
    int superior;      /* a member, or -1: the root */
    bool owned;        /* its owner may come back and have it */
    uint32_t had;      /* what its provider has of it, in memory: 0, or 1 more than an enum tenant_state */
    bool pinned, over; /* its row was: durable, removed (or lost with its boot) */
    bool rebooted;
};

struct gang {
    uint64_t id;
    agent root;
    uint32_t count, depth;
    bool spared; /* a member was lost at its job that nobody needs */
    const struct party *party;
    struct member members[MEMBERS_MAX];
};

struct totals {
    uint64_t worlds, gangs, trees, events, faults;
    struct gang_counts of;
};

struct scene {
    struct world *world;
    struct faults faults;
    struct trace *trace;
    struct spans spans;
    struct rng rng;
    struct build build;
    bool quiet;
    bool ported;
    bool sparing; /* only members are lost that are not essential */
    bool slow;    /* jobs run for many leases, so that a gang that has lost a member has time to show it */
    uint32_t customers, providers, users, end; /* the first host of each sort */
    uint32_t shapes;                           /* of gangs in this world: the first so many */
    struct customer_settings customer[CUSTOMERS_MAX];
    struct provider_settings provider[PROVIDERS_MAX];
    struct user_settings user[USERS_MAX];
    uint64_t ids[PROVIDERS_MAX];
    bool owned[PROVIDERS_MAX];
    struct party offer_parties[PROVIDERS_MAX], job_parties[USERS_MAX][SHAPES];
    struct tree *offers[PROVIDERS_MAX], *jobs[USERS_MAX][SHAPES];
    char names[HOSTS_MAX][NAME_BYTES], identities[HOSTS_MAX][NAME_BYTES];
    /* what is judged */
    struct judged_gangs *judged;
    struct gang *gangs;
    uint32_t gang_count, gang_room;
    struct map gang_map, claim_map;
    bool up[HOSTS_MAX];
    uint32_t had[HOSTS_MAX][256]; /* places of the members that a provider has in memory: gang and member */
    uint32_t had_count[HOSTS_MAX];
    struct totals totals;
    int broken; /* the number of an invariant; 0: none */
    int64_t when;
    char where[32], words[200];
};

__attribute__((format(printf, 4, 5))) static void violated(struct scene *scene, int number, const struct host *host,
                                                           const char *format, ...)
{
    va_list args;

    if (scene->broken)
        return;
    scene->broken = number;
    scene->when = scene->world->time;
    snprintf(scene->where, sizeof scene->where, "%s", host ? host->name : "the world");
    va_start(args, format);
    vsnprintf(scene->words, sizeof scene->words, format, args);
    va_end(args);
}

static struct gang *gang_new(struct scene *scene, uint64_t id, agent root, const int *superiors, uint32_t count)
{
    struct gang *gang;

    if (scene->gang_count == scene->gang_room) {
        scene->gang_room = scene->gang_room ? scene->gang_room * 2 : 64;
        scene->gangs = mem_grow(scene->gangs, scene->gang_room * sizeof *scene->gangs);
    }
    gang = &scene->gangs[scene->gang_count];
    *gang = (struct gang){.id = id, .root = root, .count = count, .depth = 1};
    map_set(&scene->gang_map, id, scene->gang_count++);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t level = 1;

        for (int at = superiors[i]; at >= 0; at = superiors[at])
            level++;
        gang->members[i].superior = superiors[i];
        for (uint32_t k = 0; k < i; k++)
            gang->members[i].port += superiors[k] == superiors[i];
        gang->depth = level > gang->depth ? level : gang->depth;
    }
    scene->totals.gangs++;
    scene->totals.trees += gang->depth > 1;
    return gang;
}

static struct gang *gang_find(const struct scene *scene, uint64_t id)
{
    uint64_t found = map_find(&scene->gang_map, id);

    return found == MAP_NONE ? NULL : &scene->gangs[found];
}

static struct member *member_at(const struct scene *scene, uint32_t place)
{
    return &scene->gangs[place / MEMBERS_MAX].members[place % MEMBERS_MAX];
}

static struct member *member_find(const struct scene *scene, uint64_t claim, struct gang **ret_gang)
{
    uint64_t found = map_find(&scene->claim_map, claim);

    if (found == MAP_NONE)
        return NULL;
    if (ret_gang)
        *ret_gang = &scene->gangs[found / MEMBERS_MAX];
    return member_at(scene, (uint32_t)found);
}

static const struct party *superior_party(const struct gang *gang, uint32_t member)
{
    int superior = gang->members[member].superior;

    return superior < 0 ? gang->party : gang->members[superior].party;
}

/* The port of its superior that it docks at, and its own. */
static uint64_t member_port(const struct gang *gang, uint32_t member)
{
    const struct party *superior = superior_party(gang, member);
    bool behind = superior->ported && gang->members[member].superior >= 0 && !superior->up_last;

    return superior->ported ? gang->members[member].port + behind : 0;
}

static uint64_t member_link(const struct member *member)
{
    return member->party->ported && member->party->up_last ? 2 : 0;
}

/* ------------------------------------------------------------------------------ the matchmaker: what is advertised */

struct entry {
    agent who;
    uint64_t id, version;
    bool request, there;
    struct key key;
    struct tree *ad; /* held */
    char identity[NAME_BYTES];
    struct seen seen;
    int64_t expires;
    int64_t units; /* of its text */
    uint64_t numbered, settled;
    int64_t made[OPEN_MAX]; /* by number, modulo */
    uint32_t shape;         /* a request's next gang: 1 more than its place; 0: not chosen */
    int64_t patience;
};

struct maker {
    struct scene *scene;
    const struct spans *spans;
    uint64_t incarnation;
    int64_t next;
    struct timers timers;
    struct notifier notifier;
    struct entry entries[ENTRIES_MAX];
    uint32_t count;
};

static void *maker_make(const void *settings)
{
    struct maker *maker = mem_alloc(sizeof *maker);

    memset(maker, 0, sizeof *maker);
    memcpy(&maker->scene, settings, sizeof maker->scene);
    maker->spans = &maker->scene->spans;
    timers_init(&maker->timers);
    notifier_init(&maker->notifier, maker->spans, &maker->timers, 0, 1);
    return maker;
}

static void maker_free(void *role)
{
    struct maker *maker = role;

    for (uint32_t i = 0; i < maker->count; i++)
        tree_unref(maker->entries[i].ad);
    notifier_done(&maker->notifier);
    timers_done(&maker->timers);
    free(maker);
}

static struct entry *entry_of(struct maker *maker, agent who, uint64_t id)
{
    for (uint32_t i = 0; i < maker->count; i++)
        if (maker->entries[i].who == who && maker->entries[i].id == id)
            return &maker->entries[i];
    if (maker->count == ENTRIES_MAX)
        return NULL;
    maker->entries[maker->count] = (struct entry){.who = who, .id = id};
    return &maker->entries[maker->count++];
}

static int64_t ad_integer(const struct tree *ad, const char *name, int64_t absent)
{
    symbol which = symbols_find(ad->symbols, name, strlen(name));
    const struct expr *e = which ? tree_find(ad, tree_root(ad), which) : NULL;

    return e && e->kind == EXPR_INTEGER ? e->u.integer : absent;
}

/* Matches of which nobody will hear any more are settled. */
static void entry_settle(const struct maker *maker, struct entry *entry, int64_t now)
{
    while (entry->settled < entry->numbered &&
           entry->made[(entry->settled + 1) % OPEN_MAX] + maker->spans->window + maker->spans->deadline <= now)
        entry->settled++;
}

/* What is left of its units: open matches that its text does not name are taken off. */
static int64_t entry_units(const struct maker *maker, struct entry *entry, int64_t now)
{
    int64_t units = entry->units;

    if (entry->there && entry->expires <= now)
        entry->there = false;
    entry_settle(maker, entry, now);
    if (!entry->there || entry->numbered - entry->settled + 2 > OPEN_MAX)
        return 0;
    for (uint64_t n = entry->settled + 1; n <= entry->numbered; n++)
        units -= !seen_has(&entry->seen, maker->incarnation, n);
    return units;
}

static enum reason entry_put(struct maker *maker, const struct role_env *env, struct entry *entry,
                             const struct peer *peer, const struct advertise *told)
{
    if (told->version < entry->version)
        return REASON_STALE;
    if (told->bare && (!entry->there || told->version != entry->version))
        return REASON_BODY;
    entry->expires = env->now + maker->spans->lifetime;
    if (told->bare)
        return REASON_OK;
    entry->there = true;
    entry->version = told->version;
    entry->request = told->request;
    entry->key = told->key;
    entry->seen = told->seen;
    entry->units = told->request ? ad_integer(told->ad, "Count", 1) : 1;
    snprintf(entry->identity, sizeof entry->identity, "%s", peer->identity);
    tree_unref(entry->ad);
    entry->ad = tree_ref(told->ad);
    return REASON_OK;
}

static void maker_advertised(struct maker *maker, const struct role_env *env, const struct event *event,
                             struct message *answer)
{
    const struct advertise *told = &event->message->u.advertise;
    struct entry *entry = entry_of(maker, event->peer->agent, told->id);

    answer->kind = MESSAGE_ADVERTISED;
    answer->u.advertised = (struct advertised){.id = told->id, .reason = REASON_LIMIT};
    if (!entry)
        return;
    entry_settle(maker, entry, env->now);
    answer->u.advertised.reason = entry_put(maker, env, entry, event->peer, told);
    answer->u.advertised.version = entry->version;
    answer->u.advertised.incarnation = maker->incarnation;
    answer->u.advertised.settled = entry->settled;
    answer->u.advertised.clock = env->now;
}

static void maker_message(struct maker *maker, const struct role_env *env, const struct event *event,
                          struct effects *effects)
{
    struct message answer = {.kind = MESSAGE_GOT};
    struct entry *entry;

    switch (event->message->kind) {
    case MESSAGE_ADVERTISE:
        maker_advertised(maker, env, event, &answer);
        break;
    case MESSAGE_WITHDRAW:
        entry = entry_of(maker, event->peer->agent, event->message->u.withdraw.id);
        if (entry && event->message->u.withdraw.version >= entry->version) {
            entry->version = event->message->u.withdraw.version;
            entry->there = false;
        }
        break;
    default:
        break;
    }
    effects_reply(effects, event->token, &answer, 0);
}

/* ----------------------------------------------------------------------------------------- the matchmaker: gangs */

struct shape_of_gang {
    uint32_t count;
    int superiors[MEMBERS_MAX]; /* of each member: one before it, or -1 */
};

/* Those of depth one are first. */
static const struct shape_of_gang shapes[] = {
    {1, {-1}},
    {2, {-1, -1}},
    {3, {-1, -1, -1}},
    {5, {-1, -1, -1, -1, -1}},
    {2, {-1, 0}},
    {3, {-1, -1, 1}}, /* the tree of claim.pml */
    {3, {-1, 0, 1}},
    {3, {-1, 0, 0}},
    {4, {-1, -1, 1, 1}},
    {4, {-1, 0, 1, 2}},
    {5, {-1, -1, 0, 1, 1}},
    {5, {-1, 0, 0, 1, 2}},
    {5, {-1, -1, 1, 2, 2}},
};
#define FLAT 4
#define ALL_SHAPES (sizeof shapes / sizeof *shapes)

/* In whose name its subordinates are asked. */
static void entry_owner(const struct entry *entry, char *ret, size_t room)
{
    symbol name = symbols_find(entry->ad->symbols, "Owner", 5);
    const struct expr *owner = name ? tree_find(entry->ad, tree_root(entry->ad), name) : NULL;

    if (owner && owner->kind == EXPR_STRING)
        snprintf(ret, room, "%.*s", (int)owner->u.run.count, tree_string(entry->ad, owner));
    else
        snprintf(ret, room, "%s", entry->identity);
}

/* Members come after their superiors, so one pass from the end will do. */
static uint64_t levels_below(const struct gang *gang, uint32_t member)
{
    uint64_t most = 0;

    for (uint32_t k = member + 1; k < gang->count; k++)
        if (gang->members[k].superior == (int)member && levels_below(gang, k) + 1 > most)
            most = levels_below(gang, k) + 1;
    return most;
}

/* The subordinates of the root (-1) or of a member; NULL when there are none. */
static struct edges *gang_edges(const struct role_env *env, const struct gang *gang, const struct entry *request,
                                struct entry *const *offers, const struct entry *superior, int place)
{
    struct edges *edges;
    char owner[TEXT_MAX + 1], root[TEXT_MAX + 1] = "";
    uint32_t count = 0;

    for (uint32_t i = 0; i < gang->count; i++)
        count += gang->members[i].superior == place;
    if (!count)
        return NULL;
    edges = edges_new(count);
    entry_owner(superior, owner, sizeof owner);
    if (place >= 0)
        entry_owner(request, root, sizeof root);
    for (uint32_t i = 0, n = 0; i < gang->count; i++) {
        const struct entry *offer = offers[i];
        struct edge *edge = &edges->items[n];

        if (gang->members[i].superior != place)
            continue;
        edge->claim = gang->members[i].claim;
        edge->agent = offer->who;
        edge->offer = offer->id;
        edge->depth = levels_below(gang, i);
        edge->port = member_port(gang, i);
        edge->link = member_link(&gang->members[i]);
        edge->ad = tree_ref(offer->ad);
        ticket_make_below(env->secrets, &offer->key, offer->id, edge->claim, gang->id, owner, root, &edge->ticket);
        n++;
    }
    return edges;
}

/* Does the member run the job, by what it and the ports on the way down from `top` to it say? */
static bool member_runs(const struct gang *gang, uint32_t member, int top)
{
    bool runs = gang->members[member].party->executes;

    for (int at = (int)member; at != top && runs; at = gang->members[at].superior) {
        const struct party *above =
            gang->members[at].superior < 0 ? gang->party : gang->members[gang->members[at].superior].party;

        runs = !above->ported || !above->idle[gang->members[at].port];
    }
    return runs;
}

/* Those who run the job below the subordinates of the root (-1) or of a member, in the order of ports: members come after their superiors, and
 * before the next of those. */
static void below_add(const struct gang *gang, struct entry *const *offers, int top, int superior, uint64_t under,
                      struct edges *all)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        if (gang->members[i].superior != superior)
            continue;
        if (under && member_runs(gang, i, top))
            all->items[all->count++] =
                (struct edge){.claim = gang->members[i].claim, .agent = offers[i]->who, .under = under};
        below_add(gang, offers, top, (int)i, under ? under : gang->members[i].claim, all);
    }
}

/* Tells the root, or a member, of its place. */
static void gang_tell(struct maker *maker, const struct role_env *env, const struct gang *gang, struct entry *request,
                      struct entry *const *offers, int place, struct effects *effects)
{
    struct entry *entry = place < 0 ? request : offers[place];
    struct match_told told = {.id = entry->id,
                              .incarnation = maker->incarnation,
                              .number = ++entry->numbered,
                              .window = maker->spans->window,
                              .gang = gang->id};

    entry->made[entry->numbered % OPEN_MAX] = env->now;
    if (place >= 0) {
        int above = gang->members[place].superior;
        const struct entry *superior = above < 0 ? request : offers[above];

        told.claim = gang->members[place].claim;
        told.superior = superior->who;
        told.superior_ad = superior->ad;
        told.port = member_port(gang, (uint32_t)place);
        told.link = member_link(&gang->members[place]);
        told.customer = above < 0 ? 0 : request->who;
    }
    told.edges = gang_edges(env, gang, request, offers, entry, place);
    told.below = edges_new(MEMBERS_MAX);
    told.below->count = 0;
    below_add(gang, offers, place, place, 0, told.below);
    notifier_add(&maker->notifier, env, entry->who, &told, effects);
    edges_unref(told.edges);
    edges_unref(told.below);
}

static void gang_make(struct maker *maker, const struct role_env *env, struct entry *request,
                      const struct shape_of_gang *shape, struct entry *const *offers, struct effects *effects)
{
    struct scene *scene = maker->scene;
    struct gang *gang = gang_new(scene, secrets_word(env->secrets), request->who, shape->superiors, shape->count);
    uint32_t first = scene->gang_count - 1;

    gang->party = &scene->job_parties[request->who - 1 - scene->customers][ad_integer(request->ad, "Shape", 0)];
    for (uint32_t i = 0; i < gang->count; i++) {
        struct member *member = &gang->members[i];

        member->party = &scene->offer_parties[offers[i]->who - 1 - scene->providers];
        member->claim = secrets_word(env->secrets);
        member->offer = offers[i]->id;
        member->host = (uint32_t)offers[i]->who - 1;
        member->owned = scene->owned[member->host - scene->providers];
        map_set(&scene->claim_map, member->claim, first * MEMBERS_MAX + i);
    }
    for (int place = -1; place < (int)gang->count; place++)
        gang_tell(maker, env, gang, request, offers, place, effects);
}

/* The shape of a request's next gang: chosen once, and anew when there are not enough offers for too long. */
static const struct shape_of_gang *entry_shape(const struct maker *maker, const struct role_env *env,
                                               struct entry *entry)
{
    uint32_t providers = maker->scene->users - maker->scene->providers;

    while (!entry->shape || shapes[entry->shape - 1].count > providers || entry->patience <= env->now) {
        entry->shape = 1 + (uint32_t)rng_below(env->chance, maker->scene->shapes);
        entry->patience = env->now + PATIENCE;
    }
    return &shapes[entry->shape - 1];
}

static const struct party *party_of(const struct scene *scene, const struct entry *offer)
{
    return &scene->offer_parties[offer->who - 1 - scene->providers];
}

static uint32_t offers_of_site(const struct scene *scene, struct entry **offers, uint32_t count, uint32_t site)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (party_of(scene, offers[i])->site == site)
            offers[kept++] = offers[i];
    return kept;
}

/* Would anybody of such a gang run the job? */
static bool shape_runs(const struct scene *scene, const struct party *root, const struct shape_of_gang *shape,
                       struct entry *const *offers)
{
    struct gang gang = {.count = shape->count, .party = root};
    bool runs = false;

    for (uint32_t i = 0; i < shape->count; i++) {
        gang.members[i].party = party_of(scene, offers[i]);
        gang.members[i].superior = shape->superiors[i];
        for (uint32_t k = 0; k < i; k++)
            gang.members[i].port += shape->superiors[k] == shape->superiors[i];
        runs = runs || member_runs(&gang, i, -1);
    }
    return runs;
}

static const struct party *request_party(const struct scene *scene, const struct entry *request)
{
    return &scene->job_parties[request->who - 1 - scene->customers][ad_integer(request->ad, "Shape", 0)];
}

static void maker_serve(struct maker *maker, const struct role_env *env, struct entry *request, struct effects *effects)
{
    const struct shape_of_gang *shape = entry_shape(maker, env, request);
    struct entry *offers[ENTRIES_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < maker->count; i++)
        if (!maker->entries[i].request && entry_units(maker, &maker->entries[i], env->now) > 0)
            offers[count++] = &maker->entries[i];
    if (maker->scene->ported && rng_below(env->chance, 8)) /* most often what is there could be a gang */
        count = offers_of_site(maker->scene, offers, count, (uint32_t)rng_below(env->chance, SITES));
    if (count < shape->count)
        return;
    for (uint32_t i = 0; i < shape->count; i++) {
        uint32_t other = i + (uint32_t)rng_below(env->chance, count - i);
        struct entry *chosen = offers[other];

        offers[other] = offers[i];
        offers[i] = chosen;
    }
    if (!shape_runs(maker->scene, request_party(maker->scene, request), shape, offers))
        return;
    gang_make(maker, env, request, shape, offers, effects);
    request->shape = 0;
}

static void maker_cycle(struct maker *maker, const struct role_env *env, struct effects *effects)
{
    uint32_t first = maker->count ? (uint32_t)rng_below(env->chance, maker->count) : 0;

    for (uint32_t i = 0; i < maker->count; i++) {
        struct entry *entry = &maker->entries[(first + i) % maker->count];

        if (entry->request && entry_units(maker, entry, env->now) > 0)
            maker_serve(maker, env, entry, effects);
    }
}

static void maker_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct maker *maker = role;
    struct timer timer;
    int64_t next;

    if (event->kind == EVENT_BOOTED)
        maker->incarnation = secrets_word(env->secrets);
    else if (event->kind == EVENT_MESSAGE)
        maker_message(maker, env, event, effects);
    else if (event->kind == EVENT_ANSWER)
        notifier_answer(&maker->notifier, env, event->token,
                        event->answer == ANSWER_GOT && event->message->kind == MESSAGE_GOT &&
                            event->message->u.got.reason == REASON_OK,
                        effects);
    while (timers_pop(&maker->timers, env->now, &timer))
        notifier_due(&maker->notifier, env, (uint32_t)timer.which, effects);
    if (env->now >= maker->next) {
        maker_cycle(maker, env, effects);
        maker->next = env->now + CYCLE;
    }
    next = timers_next(&maker->timers);
    effects_wake(effects, next < maker->next ? next : maker->next);
}

static const struct role_kind maker_role = {
    .name = "matchmaker", .make = maker_make, .free = maker_free, .step = maker_step};

/* ------------------------------------------------------------------------------------ providers and their records */

struct looking {
    struct scene *scene;
    struct host *host;
    uint32_t places[256], count;
    uint64_t offers[PROVIDERS_MAX]; /* that are pinned */
    uint32_t pinned;
};

static void check_tenant(void *user, const struct tenant_view *tenant)
{
    struct looking *looking = user;
    struct scene *scene = looking->scene;
    struct gang *gang = NULL;
    struct member *member = member_find(scene, tenant->claim, &gang);

    if (!member || gang->id != tenant->gang || member->host != looking->host->place || member->offer != tenant->offer) {
        violated(scene, 2, looking->host, "a tenant has a claim that was never matched there");
        return;
    }
    if (looking->count < 256)
        looking->places[looking->count++] =
            (uint32_t)(gang - scene->gangs) * MEMBERS_MAX + (uint32_t)(member - gang->members);
    if (tenant->state >= TENANT_PINNED) {
        for (uint32_t i = 0; i < looking->pinned; i++)
            if (looking->offers[i] == tenant->offer)
                violated(scene, 1, looking->host, "an offer is pinned by two claims");
        looking->offers[looking->pinned++ % PROVIDERS_MAX] = tenant->offer;
        if (member->over && !member->rebooted)
            violated(scene, 1, looking->host, "a claim that was over is pinned again");
    }
    member->had = (uint32_t)tenant->state + 1;
}

static void provider_stepped(struct scene *scene, struct host *host)
{
    struct looking looking = {.scene = scene, .host = host};

    for (uint32_t i = 0; i < scene->had_count[host->place]; i++)
        member_at(scene, scene->had[host->place][i])->had = 0;
    provider_each(host->role, check_tenant, &looking);
    memcpy(scene->had[host->place], looking.places, looking.count * sizeof *looking.places);
    scene->had_count[host->place] = looking.count;
}

static void count_row(void *user, const struct record *record)
{
    (void)record;
    ++*(uint32_t *)user;
}

/* Where only members are lost that nobody needs, a gang does its job. */
static void check_spared(struct scene *scene, const struct gang *gang, const struct member *member)
{
    if (gang->spared && judged_gangs_goes_on(scene->judged, gang->id) &&
        member->claim == judged_gangs_leader(scene->judged, gang->id))
        violated(scene, 2, &scene->world->hosts[member->host],
                 "gang %llx ends, though only a member was lost that is not essential", (unsigned long long)gang->id);
}

static void tenant_durable(struct scene *scene, const struct host *host, const struct record *record)
{
    struct gang *gang = NULL;
    struct member *member = member_find(scene, record->key, &gang);
    uint32_t rows = 0;

    if (!member)
        return;
    if (record->removed) {
        check_spared(scene, gang, member);
        member->over = true;
        return;
    }
    member->pinned = true;
    disk_each(&host->disk, RECORD_TENANT, count_row, &rows);
    if (rows > 1)
        violated(scene, 1, host, "an offer is pinned by two claims, on disk");
}

/* A machine comes back without what it had. */
static void host_rebooted(struct scene *scene, const struct host *host)
{
    for (uint32_t i = 0; i < scene->gang_count; i++)
        for (uint32_t k = 0; k < scene->gangs[i].count; k++) {
            struct member *member = &scene->gangs[i].members[k];

            if (member->host != host->place || member->over || !(member->pinned || member->had))
                continue;
            check_spared(scene, &scene->gangs[i], member);
            member->rebooted = member->over = true;
            member->had = 0;
        }
    scene->had_count[host->place] = 0;
}

/* --------------------------------------------------------------------------------------------- decisions, the end */

/* Has its provider a record of it, in memory, or on disk when it is down? */
static bool member_pinned(const struct scene *scene, const struct member *member)
{
    const struct host *host = &scene->world->hosts[member->host];

    return scene->up[member->host] ? member->had > TENANT_PINNED
                                   : disk_find(&host->disk, RECORD_TENANT, member->claim) != NULL;
}

/* The root decides now: nobody's pin may have run out. Who is lost with its boot, or has its owner back, takes its
 * superiors with it, and the root may not have heard. */
static void check_decision(struct scene *scene, const struct host *host, const struct gang *gang)
{
    bool excused = false;

    for (uint32_t i = 0; i < gang->count; i++)
        excused = excused || gang->members[i].rebooted ||
                  (gang->members[i].owned && !member_pinned(scene, &gang->members[i]));
    for (uint32_t i = 0; i < gang->count && !excused; i++)
        if (!member_pinned(scene, &gang->members[i]))
            violated(scene, 2, host, "gang %llx is decided, but its member %u, on %s, is not pinned",
                     (unsigned long long)gang->id, i, scene->world->hosts[gang->members[i].host].name);
}

/* By the numbers alone: is everybody on the site where somebody wants it? */
static void check_ports(struct scene *scene, const struct host *host, const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct party *superior = superior_party(gang, i);
        uint32_t first = i;

        for (uint32_t k = 0; k < i; k++)
            if (gang->members[k].superior == gang->members[i].superior && gang->members[k].port == 0)
                first = k;
        if (superior->ported && gang->members[first].party->site != gang->members[i].party->site &&
            (superior->checks || gang->members[i].party->picky))
            violated(scene, 4, host, "gang %llx is decided, but its member %u, on %s, is not accepted there",
                     (unsigned long long)gang->id, i, scene->world->hosts[gang->members[i].host].name);
    }
}

static void customer_stepped(struct scene *scene, const struct host *host, const struct event *event)
{
    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];
        const struct gang *gang;

        if (effect->kind != EFFECT_PERSIST || event->kind == EVENT_LOADED || event->kind == EVENT_BOOTED)
            continue;
        gang = effect->record.kind == RECORD_BRANCH && !effect->record.removed
                   ? gang_find(scene, effect->record.u.branch_record.gang)
                   : NULL;
        if (gang && !judged_gangs_decided(scene->judged, gang->members[0].claim)) {
            check_decision(scene, host, gang);
            check_ports(scene, host, gang);
        }
        judged_gangs_persists(scene->judged, host, &effect->record);
    }
}

struct leftover {
    uint64_t jobs, claims;
};

static void left_job(void *user, const struct job_view *job)
{
    ((struct leftover *)user)->jobs += job->state == JOB_IDLE || job->state == JOB_RUNNING;
}

static void left_root(void *user, const struct root_view *root)
{
    (void)root;
    ((struct leftover *)user)->claims++;
}

static void left_tenant(void *user, const struct tenant_view *tenant)
{
    (void)tenant;
    ((struct leftover *)user)->claims++;
}

/* What has not ended yet. */
static struct leftover scene_left(const struct scene *scene)
{
    struct leftover left = {0};

    for (uint32_t i = scene->customers; i < scene->end; i++) {
        const struct host *host = &scene->world->hosts[i];
        uint32_t rows = 0;

        if (!host->role) {
            left.claims++;
        } else if (i < scene->providers) {
            customer_each(host->role, left_job, &left);
            customer_each_root(host->role, left_root, &left);
        } else if (i < scene->users) {
            provider_each(host->role, left_tenant, &left);
        } else {
            left.jobs += user_waiting(host->role);
        }
        disk_each(&host->disk, RECORD_TENANT, count_row, &rows);
        disk_each(&host->disk, RECORD_BRANCH, count_row, &rows);
        left.claims += rows;
        for (uint32_t at = host->processes; at != NOBODY;) {
            const struct process *process = slab_at(&scene->world->processes, at);

            left.claims += process_lives(process);
            at = process->next;
        }
    }
    return left;
}

/* ------------------------------------------------------------------------------------------------- what is looked at */

static void gang_wrong(void *user, int number, const struct host *host, const char *words)
{
    violated(user, number, host, "%s", words);
}

static void scene_sent(void *user, const struct host *host, const struct effect *effect)
{
    judged_gangs_sent(((struct scene *)user)->judged, host, effect);
}

static void scene_launched(void *user, const struct host *host, struct process *process)
{
    struct scene *scene = user;
    struct gang *gang = NULL;

    if (member_find(scene, process->claim, &gang)) {
        process->gang = gang->id;
        process->superior = gang->root;
    }
    judged_gangs_launched(scene->judged, host, process);
}

static void scene_ended(void *user, const struct host *host, const struct process *process)
{
    judged_gangs_ended(((struct scene *)user)->judged, host, process);
}

static void scene_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct scene *scene = user;

    (void)env;
    if (event->kind == EVENT_BOOTED)
        scene->up[host->place] = true;
    if (host->place >= scene->customers && host->place < scene->providers)
        customer_stepped(scene, host, event);
    else if (host->place >= scene->providers && host->place < scene->users && scene->up[host->place])
        provider_stepped(scene, host);
    else if (host->place >= scene->users && user_wrong(host->role))
        violated(scene, 3, host, "%s", user_wrong(host->role));
    if (scene->world->broken)
        violated(scene, 9, host, "%s", scene->world->broken);
}

static void scene_durable(void *user, const struct host *host, const struct record *record)
{
    struct scene *scene = user;

    if (record->kind == RECORD_TENANT)
        tenant_durable(scene, host, record);
    judged_gangs_durable(scene->judged, host, record);
}

static void scene_went(void *user, const struct host *host, const char *what)
{
    struct scene *scene = user;

    scene->up[host->place] = false;
    if (!strcmp(what, "starts"))
        faults_started(&scene->faults, host);
    else if (!strcmp(what, "reboots") && host->place >= scene->providers && host->place < scene->users) {
        host_rebooted(scene, host);
        judged_gangs_rebooted(scene->judged, host);
    }
}

static int64_t scene_between(struct scene *scene, int64_t least, int64_t most)
{
    return least + (int64_t)rng_below(&scene->rng, (uint64_t)(most - least + 1));
}

static struct host *any_provider(struct scene *scene)
{
    return &scene->world->hosts[scene->providers + rng_below(&scene->rng, scene->users - scene->providers)];
}

/* What the planner of faults does not do: for many leases two do not hear each other, or one is down. */
static void scene_long(struct scene *scene)
{
    struct world *world = scene->world;
    int64_t until = world->time + scene_between(scene, 3, 8) * scene->spans.lease;
    struct host *one = any_provider(scene);
    uint32_t other = (uint32_t)scene_between(scene, scene->customers, scene->users - 1);

    if (scene->quiet)
        return;
    if (rng_below(&scene->rng, 2))
        world->cuts[one->place][other] = world->cuts[other][one->place] = until;
    else
        host_crash(world, one, rng_below(&scene->rng, 2), until);
    world_plan(world, world->time + scene_between(scene, 1, 30) * SECOND, LONG_PLAN);
}

/* Of those that run, somebody's machine is lost whom nobody needs. */
static void scene_spare(struct scene *scene)
{
    uint32_t first = (uint32_t)rng_below(&scene->rng, scene->gang_count + 1);

    for (uint32_t i = 0; i < scene->gang_count; i++) {
        struct gang *gang = &scene->gangs[(first + i) % scene->gang_count];

        for (uint32_t k = 0; k < gang->count; k++) {
            struct host *host = &scene->world->hosts[gang->members[k].host];

            if (!judged_gangs_goes_on(scene->judged, gang->id) || gang->members[k].over || !scene->up[host->place] ||
                !judged_gangs_spares(scene->judged, gang->members[k].claim))
                continue;
            gang->spared = true;
            host_crash(scene->world, host, true, scene->world->time + scene_between(scene, 1, 8) * SECOND);
            return;
        }
    }
}

static void scene_plan(void *user, uint32_t which)
{
    struct scene *scene = user;

    if (which < FAULTS_PLANS) {
        faults_plan(&scene->faults, which);
        return;
    }
    if (which == LONG_PLAN) {
        scene_long(scene);
        return;
    }
    if (which == SPARE_PLAN) {
        if (!scene->quiet)
            scene_spare(scene);
        world_plan(scene->world, scene->world->time + scene_between(scene, 500, 4000) * MILLISECOND, SPARE_PLAN);
        return;
    }
    judged_gangs_sweep(scene->judged);
    world_plan(scene->world, scene->world->time + scene->spans.lease / 8, SWEEP_PLAN);
}

/* ----------------------------------------------------------------------------------------------- a world of a seed */

static struct tree *scene_ad(struct scene *scene, const char *text)
{
    struct err err = {0};

    return parse_ad(&scene->build, NULL, text, strlen(text), &err);
}

static void scene_spans(struct scene *scene)
{
    int64_t pin = scene_between(scene, 4000, 8000) * MILLISECOND,
            lease = pin + scene_between(scene, 0, 6000) * MILLISECOND;
    int64_t deadline = scene_between(scene, 300, 1500) * MILLISECOND;

    if (scene->slow) {
        pin /= 2;
        lease = pin + scene_between(scene, 0, 1500) * MILLISECOND;
        deadline /= 2;
    }
    scene->spans = (struct spans){
        .window = scene_between(scene, 1000, 3000) * MILLISECOND,
        .pin = pin,
        .lease = lease,
        .life = scene_between(scene, 2, 20) * SECOND,
        .deadline = deadline,
        .retry = 100 * MILLISECOND,
        .lifetime = scene_between(scene, 6, 20) * SECOND,
        .cycle = 20 * MILLISECOND,
        .keep = 10 * MINUTE,
        .grace = scene_between(scene, 0, 2000) * MILLISECOND,
        .half = MINUTE,
    };
}

static uint32_t scene_add(struct scene *scene, const struct role_kind *kind, const void *settings, const char *identity,
                          bool any, const char *sort, uint32_t number)
{
    char *name = scene->names[scene->world->host_count];

    snprintf(name, NAME_BYTES, "%s%u", sort, number);
    return world_add(scene->world, kind, settings, identity, any, name);
}

static struct party scene_party(struct scene *scene)
{
    struct party party = {.ported = scene->ported && rng_below(&scene->rng, 4),
                          .checks = rng_below(&scene->rng, 2),
                          .picky = rng_below(&scene->rng, 2),
                          .up_last = rng_below(&scene->rng, 2),
                          .executes = !scene->ported || rng_below(&scene->rng, 4),
                          .site = (uint32_t)rng_below(&scene->rng, SITES)};

    for (uint32_t i = 0; i < MEMBERS_MAX && scene->ported; i++) {
        party.rules[i] = (enum rule)rng_below(&scene->rng, RULES);
        party.idle[i] = i && !rng_below(&scene->rng, 4);
    }
    return party;
}

/* The ports for subordinates, of which any may stay empty: each but the first tells what it wants, and asks for it if it checks. */
static void ports_text(struct buf *out, const struct party *party, uint32_t count)
{
    buf_addf(out, "[ Choose = { 0, %u }; Ports = { ", count);
    for (uint32_t i = 0; i < count; i++) {
        buf_addf(out, "%s[ Label = p%u; %s Executes = %s; ", i ? ", " : "", i, rule_texts[party->rules[i]],
                 party->idle[i] ? "false" : "true");
        if (i)
            buf_adds(out, "Wants = p0.Site; ");
        buf_addf(out, "Constraint = p%u.Memory >= RequestMemory", i);
        if (i && party->checks)
            buf_addf(out, " && p%u.Site == p0.Site", i);
        buf_adds(out, " ]");
    }
    buf_adds(out, " } ]");
}

/* Each can be a superior as well as a subordinate: it wants something of others, too. Some say whose they are. */
static void provider_text(struct scene *scene, uint32_t number, const char *identity, struct buf *out)
{
    const struct party *party = &scene->offer_parties[number];
    const char *up = party->ported ? "up" : "other";
    struct buf link;

    buf_init(&link);
    buf_addf(&link, "Constraint = %s%s.RequestMemory <= Memory", scene->owned[number] ? "KeyboardIdle > 900 && " : "",
             up);
    if (party->picky)
        buf_addf(&link, " && (%s.Wants is undefined || %s.Wants == Site)", up, up);
    buf_addf(out, "[ Type = \"Machine\"; Memory = 4096; RequestMemory = 64; Site = %u; TimeLimit = %d; ", party->site,
             scene->slow ? LIMIT : 20);
    if (rng_below(&scene->rng, 2))
        buf_addf(out, "Owner = \"%s\"; ", identity);
    if (!party->executes)
        buf_adds(out, "Executes = false; ");
    if (party->ported) {
        buf_adds(out, "Ports = { ");
        if (!party->up_last)
            buf_addf(out, "[ Label = up; %s ], ", buf_string(&link));
        ports_text(out, party, 2);
        if (party->up_last)
            buf_addf(out, ", [ Label = up; %s ]", buf_string(&link));
        buf_adds(out, " } ]");
    } else {
        buf_addf(out, "%s %s ]", rule_texts[party->rules[0]], buf_string(&link));
    }
    buf_done(&link);
}

static void provider_add(struct scene *scene, uint32_t number)
{
    char *identity = scene->identities[scene->world->host_count];
    struct buf text;

    snprintf(identity, NAME_BYTES, "o%u", number % 3);
    scene->owned[number] = !scene->sparing && rng_below(&scene->rng, 4) == 0;
    scene->offer_parties[number] = scene_party(scene);
    scene->offer_parties[number].executes |= number == 0; /* else nothing could ever be done */
    scene->owned[number] &= number != 0;
    buf_init(&text);
    provider_text(scene, number, identity, &text);
    scene->ids[number] = 1000 + number;
    scene->offers[number] = scene_ad(scene, buf_string(&text));
    buf_done(&text);
    scene->provider[number] = (struct provider_settings){
        .self = scene->world->host_count + 1,
        .matchmaker = 1,
        .spans = &scene->spans,
        .identity = identity,
        .ids = &scene->ids[number],
        .ads = &scene->offers[number],
        .count = 1,
    };
    scene_add(scene, &provider_role, &scene->provider[number], identity, false, "provider", number + 1);
}

static void user_add(struct scene *scene, uint32_t number)
{
    char *identity = scene->identities[scene->world->host_count];

    snprintf(identity, NAME_BYTES, "u%u", number + 1);
    for (uint32_t i = 0; i < SHAPES; i++) {
        struct party *party = &scene->job_parties[number][i];
        struct buf text;

        *party = scene_party(scene);
        buf_init(&text);
        buf_addf(
            &text,
            "[ Type = \"Job\"; Owner = \"%s\"; Shape = %u; Iwd = \"/home\"; RequestMemory = %u; TimeLimit = %d; %s",
            identity, i, 256 << i, scene->slow ? LIMIT : (int)scene_between(scene, 8, 40),
            i == PARALLEL_SHAPE ? "Processes = 2; " : "");
        if (party->ported) {
            buf_adds(&text, "Ports = { ");
            ports_text(&text, party, MEMBERS_MAX);
            buf_adds(&text, " } ]");
        } else {
            buf_addf(&text, "%s Constraint = other.Memory >= RequestMemory ]", rule_texts[party->rules[0]]);
        }
        scene->jobs[number][i] = scene_ad(scene, buf_string(&text));
        buf_done(&text);
    }
    scene->user[number] = (struct user_settings){
        .customer = 2 + number,
        .matchmaker = 1,
        .owner = identity,
        .shapes = scene->jobs[number],
        .shape_count = SHAPES,
        .pause = scene_between(scene, 1, 6) * SECOND,
        .jobs_max = 100,
        .seed = 1000 * (uint64_t)number,
        .meddles = !scene->sparing && rng_below(&scene->rng, 2),
        .quiet = &scene->quiet,
        .meddled = &scene->world->faults[FAULT_USER],
        .lied = &scene->world->faults[FAULT_LIE],
    };
    scene_add(scene, &user_role, &scene->user[number], identity, false, "user", number + 1);
}

static void scene_hosts(struct scene *scene)
{
    uint32_t customers = (uint32_t)scene_between(scene, 1, CUSTOMERS_MAX);
    uint32_t providers = (uint32_t)scene_between(scene, 3, PROVIDERS_MAX);
    static struct scene *self; /* the settings of the matchmaker: whose it is */

    self = scene;
    scene_add(scene, &maker_role, &self, "pool", true, "matchmaker", 1);
    scene->customers = scene->world->host_count;
    for (uint32_t i = 0; i < customers; i++) {
        scene->customer[i] =
            (struct customer_settings){.self = scene->world->host_count + 1, .matchmaker = 1, .spans = &scene->spans};
        scene_add(scene, &customer_role, &scene->customer[i], "customer", true, "customer", i + 1);
    }
    scene->providers = scene->world->host_count;
    for (uint32_t i = 0; i < providers; i++)
        provider_add(scene, i);
    scene->users = scene->world->host_count;
    for (uint32_t i = 0; i < customers; i++)
        user_add(scene, i);
    scene->end = scene->world->host_count;
}

enum mode { CALM, FAULTS, SPARING };

static struct scene *scene_new(uint64_t seed, enum mode mode, bool trees, uint32_t lines)
{
    struct scene *scene = mem_alloc(sizeof *scene);

    memset(scene, 0, sizeof *scene);
    rng_init(&scene->rng, rng_mix(seed ^ 0x74726565)); /* "tree" */
    map_init(&scene->gang_map, 0);
    map_init(&scene->claim_map, 0);
    scene->sparing = mode == SPARING;
    scene->ported = scene->sparing || rng_below(&scene->rng, 2);
    scene->slow = scene->sparing || rng_below(&scene->rng, 2);
    scene_spans(scene);
    scene->world = world_new(seed, &scene->spans);
    scene->world->check = true;
    scene->world->plan = scene_plan;
    scene->world->plan_user = scene;
    scene->world->rates.job_most = scene->slow ? LIMIT * SECOND : scene_between(scene, 1, 15) * SECOND;
    build_init(&scene->build, scene->world->symbols, &dialect_classic);
    scene->shapes = trees ? ALL_SHAPES : FLAT;
    scene_hosts(scene);
    faults_init(&scene->faults, scene->world, seed, mode == FAULTS, 0, scene->providers, scene->users);
    scene->judged = judged_gangs_new(scene->world, scene->customers, scene->providers, scene->users, gang_wrong, scene);
    world_watch(scene->world, &(struct watch){.user = scene,
                                              .stepped = scene_stepped,
                                              .sent = scene_sent,
                                              .durable = scene_durable,
                                              .launched = scene_launched,
                                              .ended = scene_ended,
                                              .went = scene_went});
    if (lines)
        scene->trace = trace_new(scene->world, lines);
    return scene;
}

static void scene_free(struct scene *scene)
{
    trace_free(scene->trace);
    faults_done(&scene->faults);
    for (uint32_t i = 0; i < PROVIDERS_MAX; i++)
        tree_unref(scene->offers[i]);
    for (uint32_t i = 0; i < USERS_MAX; i++)
        for (uint32_t k = 0; k < SHAPES; k++)
            tree_unref(scene->jobs[i][k]);
    build_done(&scene->build);
    world_free(scene->world);
    judged_gangs_free(scene->judged);
    map_done(&scene->gang_map);
    map_done(&scene->claim_map);
    free(scene->gangs);
    free(scene);
}

static void scene_until(struct scene *scene, int64_t until)
{
    while (!scene->broken && world_next(scene->world, until))
        ;
}

/* Everything breaks for a while; then nothing does, and all has to end. */
static void scene_live(struct scene *scene)
{
    const struct spans *spans = &scene->spans;
    struct world *world = scene->world;
    struct leftover left;
    int64_t bound;

    for (uint32_t i = 0; i < world->host_count; i++)
        host_start(world, &world->hosts[i]);
    world_plan(world, spans->lease / 8, SWEEP_PLAN);
    if (!scene->faults.quiet && scene->slow)
        world_plan(world, 10 * SECOND, LONG_PLAN);
    if (scene->sparing)
        world_plan(world, 5 * SECOND, SPARE_PLAN);
    scene_until(scene, scene_between(scene, 60, 180) * SECOND);
    scene->quiet = true;
    faults_stop(&scene->faults);
    world->rates.job_least = 100 * MILLISECOND;
    world->rates.job_most = SECOND;
    left = scene_left(scene);
    bound =
        8 * (spans->window + spans->pin + 2 * spans->lease + spans->lifetime + spans->deadline) + 2 * LIMIT * SECOND;
    bound += world->time + (int64_t)left.jobs * 10 * SECOND;
    while (!scene->broken && (left.jobs || left.claims) && world->time < bound) {
        scene_until(scene, world->time + SECOND);
        left = scene_left(scene);
    }
    if (left.jobs)
        violated(scene, 6, NULL, "%llu jobs have not ended in the quiet phase", (unsigned long long)left.jobs);
    else if (left.claims)
        violated(scene, 6, NULL, "%llu claims, rows or processes are left after the quiet phase",
                 (unsigned long long)left.claims);
}

#ifdef BERTH_MUTANTS
/* ------------------------------------------------------------------------------------------------- testing the test */

enum mutant mutant_now;

#if !defined(__OPTIMIZE__)
#define SURE false /* what a slow build does not find soon it leaves to the fast one */
#define MUTANT_WORLDS 12
#else
#define SURE true
#define MUTANT_WORLDS 3000
#endif

static const struct plant_row {
    enum mutant mutant;
    const char *name, *words;
} mutants[] = {
#define X(id, words) {MUTANT_##id, #id, words},
    GANG_MUTANTS(X)
#undef X
};

/* One shows in few worlds: the search begins shortly before one that is known. If roles or worlds change, it is as long as any. */
static uint64_t first_world(enum mutant mutant)
{
    return mutant == MUTANT_FAILURE_IGNORED ? 530 : 0;
}

/* What is found in one world with the plant, and not without it. */
static int plant_caught(enum mutant mutant, uint64_t seed, enum mode mode, char *words, size_t room)
{
    struct scene *scene;
    int broken;

    mutant_now = mutant;
    scene = scene_new(seed, mode, true, 0);
    scene_live(scene);
    broken = scene->broken;
    snprintf(words, room, "%s", scene->words);
    scene_free(scene);
    mutant_now = MUTANT_NONE;
    if (!broken)
        return 0;
    scene = scene_new(seed, mode, true, 0);
    scene_live(scene);
    broken = scene->broken ? 0 : broken;
    scene_free(scene);
    return broken;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        char words[200] = "";
        uint64_t first = first_world(mutants[i].mutant), world = first;
        int broken = 0;

        if (argc > 1 && strcmp(argv[1], mutants[i].name) != 0)
            continue;
        for (; !broken && world < first + MUTANT_WORLDS; world++)
            broken = plant_caught(mutants[i].mutant, 1 + world / 2, world % 2 ? SPARING : FAULTS, words, sizeof words);
        tap_ok(broken || !SURE, "%s: caught by invariant %d, \"%s\", after %llu worlds (%s)", mutants[i].words, broken,
               words, (unsigned long long)(world - first), mutants[i].name);
    }
    return tap_done();
}
#else
/* ---------------------------------------------------------------------------------------------------------- worlds */

static void totals_add(struct totals *totals, const struct scene *scene)
{
    const struct totals *one = &scene->totals;

    totals->worlds++;
    totals->gangs += one->gangs;
    totals->trees += one->trees;
    gang_counts_add(&totals->of, judged_gangs_counts(scene->judged));
    totals->events += scene->world->events;
    for (uint32_t i = 0; i < FAULT_COUNT; i++)
        totals->faults += scene->world->faults[i];
}

static uint64_t totals_claimed(const struct totals *totals)
{
    uint64_t claimed = 0;

    for (uint32_t i = 0; i <= JUDGED_MEMBERS_MAX; i++)
        claimed += totals->of.claimed[i];
    return claimed;
}

/* The same world again, with a trace. */
static void world_again(uint64_t seed, enum mode mode, bool trees)
{
    struct scene *scene = scene_new(seed, mode, trees, TRACE_LINES);
    struct buf out;

    scene_live(scene);
    tap_diag("seed %llu: invariant %d is broken after %.6f s by %s: %s\nBERTH_SEED=%llu BERTH_ROUNDS=1 replays it",
             (unsigned long long)seed, scene->broken, (double)scene->when / (double)SECOND, scene->where, scene->words,
             (unsigned long long)seed);
    for (uint32_t i = 0; i < scene->gang_count; i++) {
        const struct gang *gang = &scene->gangs[i];
        char id[20];

        snprintf(id, sizeof id, "%llx", (unsigned long long)gang->id);
        for (uint32_t k = 0; k < gang->count && strstr(scene->words, id); k++)
            tap_diag("gang %s member %u: %s claim %llx, superior %d", id, k,
                     scene->world->hosts[gang->members[k].host].name, (unsigned long long)gang->members[k].claim,
                     gang->members[k].superior);
    }
    buf_init(&out);
    trace_print(scene->trace, &out);
    printf("%s", buf_string(&out));
    buf_done(&out);
    scene_free(scene);
}

static bool worlds_run(uint64_t seed, uint64_t worlds, enum mode mode, bool trees, struct totals *ret)
{
    *ret = (struct totals){0};
    for (uint64_t i = 0; i < worlds; i++) {
        struct scene *scene = scene_new(seed + i, mode, trees, 0);
        bool broken;

        scene_live(scene);
        broken = scene->broken != 0;
        totals_add(ret, scene);
        scene_free(scene);
        if (broken) {
            world_again(seed + i, mode, trees);
            return false;
        }
    }
    return true;
}

static void test_calm(uint64_t seed, uint64_t worlds)
{
    struct totals totals;
    bool held = worlds_run(seed, worlds, CALM, true, &totals);

    tap_ok(held && totals_claimed(&totals),
           "in %llu worlds without faults %llu of %llu gangs are claimed, %llu of them trees",
           (unsigned long long)totals.worlds, (unsigned long long)totals_claimed(&totals),
           (unsigned long long)totals.gangs, (unsigned long long)totals.of.nested);
}

static void test_faults(uint64_t seed, uint64_t worlds, bool trees, bool whole)
{
    struct totals totals;
    bool held = worlds_run(seed, worlds, FAULTS, trees, &totals);

    tap_ok(
        held,
        "%s: nothing breaks in %llu worlds with %llu gangs claimed (%llu of them deeper than one), under %llu faults",
        trees ? "trees" : "gangs of depth one", (unsigned long long)totals.worlds,
        (unsigned long long)totals_claimed(&totals), (unsigned long long)totals.of.nested,
        (unsigned long long)totals.faults);
    tap_ok(held, "%llu of them lose a member while others run: all end within %.0f %% of the time they have",
           (unsigned long long)totals.of.lost, (double)totals.of.worst / 10);
    tap_ok(!held || !whole || !trees || totals.of.reduced_done,
           "%llu lose one that is not essential, and %llu of them do their job without it",
           (unsigned long long)totals.of.reduced, (unsigned long long)totals.of.reduced_done);
    tap_ok(!held || !whole || (totals.of.again && totals.of.helped),
           "%llu times a gang is used again; %llu members end that are not the leader",
           (unsigned long long)totals.of.again, (unsigned long long)totals.of.helped);
    if (whole)
        tap_ok(!held || totals_claimed(&totals) * (trees ? 1 : 4) >= GANGS_LEAST,
               "enough gangs are claimed: %llu of %llu, in %llu events", (unsigned long long)totals_claimed(&totals),
               (unsigned long long)totals.gangs, (unsigned long long)totals.events);
}

static void test_sparing(uint64_t seed, uint64_t worlds)
{
    struct totals totals;
    bool held = worlds_run(seed, worlds, SPARING, true, &totals);

    tap_ok(held && totals.of.reduced_done,
           "in %llu worlds where only members are lost that are not essential, %llu gangs go on, and %llu do their job",
           (unsigned long long)totals.worlds, (unsigned long long)totals.of.reduced,
           (unsigned long long)totals.of.reduced_done);
}

int main(void)
{
    const char *seed_text = getenv("BERTH_SEED"), *rounds = getenv("BERTH_ROUNDS");
    uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 1;
    uint64_t worlds = rounds ? strtoull(rounds, NULL, 10) : WORLDS;

    test_calm(seed, worlds / 8 + 1);
    test_sparing(seed, worlds / 4 + 1);
    test_faults(seed, (worlds + 3) / 4, false, !rounds);
    test_faults(seed, worlds, true, !rounds);
    return tap_done();
}
#endif
