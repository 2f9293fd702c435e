/* matchmaker_gang.c: a gang that the engine has made goes to the ledgers, the registrar and the notifier.
 *
 *     root          one gang, a claim for each member; each party is told of its superior and, with tickets, of its subordinates
 *     |- machine
 *     '- service    a ticket is made with the subordinate's key, for the owner that its superior's ad names;
 *         '- disk       below a service also for the root's owner, who is charged */
#include "pool/matchmaker/matchmaker_parts.h"

#include "lang/base/mem.h"
#include "pool/claim/crew.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/ticket.h"

#include <stdlib.h>

#define NO_MEMBER UINT32_MAX

/* A member, or the root, while the gang is told. */
struct gang_party {
    uint32_t entry; /* its number in the collector */
    uint32_t superior;
    uint64_t port, link;
    uint64_t claim, number, depth;
    struct tree *ad;      /* as it was matched; held */
    struct tree *receipt; /* held; or NULL */
};

/* parties[0] is the root. */
struct gathering {
    struct step_ctx *step;
    uint64_t gang;
    struct gang_party *parties;
    uint32_t count;
};

static const struct entry *party_entry(const struct gathering *gathering, uint32_t party)
{
    return &gathering->step->matchmaker->collector.entries[gathering->parties[party].entry];
}

/* The subordinates of a party, held; NULL when it has none. */
static struct edges *party_edges(const struct gathering *gathering, uint32_t superior)
{
    const struct step_ctx *step = gathering->step;
    uint32_t count = 0;
    struct edges *edges;
    struct text owner, root;

    for (uint32_t i = 1; i < gathering->count; i++)
        count += gathering->parties[i].superior == superior;
    if (!count)
        return NULL;
    edges = edges_new(count);
    collector_owner(&step->matchmaker->collector, gathering->parties[superior].ad, &owner);
    text_set(&root, "", 0);
    if (superior)
        collector_owner(&step->matchmaker->collector, gathering->parties[0].ad, &root);
    for (uint32_t i = 1, n = 0; i < gathering->count; i++) {
        const struct gang_party *party = &gathering->parties[i];
        const struct entry *entry = party_entry(gathering, i);

        if (party->superior != superior)
            continue;
        edges->items[n] = (struct edge){.claim = party->claim,
                                        .agent = entry->agent,
                                        .offer = entry->id,
                                        .depth = party->depth,
                                        .port = party->port,
                                        .link = party->link,
                                        .ad = tree_ref(party->ad),
                                        .receipt = party->receipt ? tree_ref(party->receipt) : NULL};
        ticket_make_below(step->env->secrets, &entry->key, entry->id, party->claim, gathering->gang, owner.bytes,
                          root.bytes, &edges->items[n++].ticket);
    }
    return edges;
}

/* Does the superior's port want this member, or one below it, to run the job? */
static bool party_wanted(const struct gathering *gathering, uint32_t number)
{
    const struct gang_party *party = &gathering->parties[number];
    const struct gang_party *superior = &gathering->parties[party->superior];

    return port_runs(superior->ad, party->port, party->superior ? superior->link : RUNS_NO_LINK);
}

/* Adds the members that run the job, in the order of ports and depth first; `under` is 0 for the first level, which has
 * edges. */
static void below_add(const struct gathering *gathering, uint32_t superior, uint64_t under, struct edges *all)
{
    uint32_t last = 0; /* the member that came last in the order of ports */

    for (;;) {
        uint32_t next = 0;

        for (uint32_t i = 1; i < gathering->count; i++) {
            const struct gang_party *party = &gathering->parties[i], *best = &gathering->parties[next];
            const struct gang_party *done = &gathering->parties[last];

            if (party->superior == superior &&
                (!last || party->port > done->port || (party->port == done->port && i > last)) &&
                (!next || party->port < best->port))
                next = i;
        }
        if (!next)
            return;
        last = next;
        if (!party_wanted(gathering, next))
            continue;
        if (under && ad_executes(gathering->parties[next].ad) && all->count < EDGES_MAX)
            all->items[all->count++] = (struct edge){
                .claim = gathering->parties[next].claim, .agent = party_entry(gathering, next)->agent, .under = under};
        below_add(gathering, next, under ? under : gathering->parties[next].claim, all);
    }
}

/* The members that run the job further below than the edges, held; NULL: there are none. */
static struct edges *party_below(const struct gathering *gathering, uint32_t number)
{
    struct edges *all;

    if (gathering->parties[number].depth < 2)
        return NULL;
    all = edges_new(EDGES_MAX);
    all->count = 0;
    below_add(gathering, number, 0, all);
    if (all->count)
        return all;
    edges_unref(all);
    return NULL;
}

static void party_tell(const struct gathering *gathering, uint32_t number)
{
    const struct step_ctx *step = gathering->step;
    struct matchmaker *matchmaker = step->matchmaker;
    const struct gang_party *party = &gathering->parties[number];
    struct match_told told = {.id = party_entry(gathering, number)->id,
                              .incarnation = matchmaker->incarnation,
                              .number = party->number,
                              .window = matchmaker->settings->spans->window,
                              .gang = gathering->gang,
                              .claim = party->claim,
                              .receipt = party->receipt};
    struct tree *shown = NULL;

    if (number) {
        const struct gang_party *superior = &gathering->parties[party->superior];
        bool runs = ad_executes(party->ad) && party_wanted(gathering, number);

        shown = runs ? tree_ref(superior->ad)
                     : duty_withhold(superior->ad, party->port, party->superior ? superior->link : RUNS_NO_LINK);
        told.superior = party_entry(gathering, party->superior)->agent;
        told.superior_ad = shown;
        told.port = party->port;
        told.link = party->link;
        told.customer = party->superior ? party_entry(gathering, 0)->agent : 0;
    }
    told.edges = party_edges(gathering, number);
    told.below = party_below(gathering, number);
    notifier_add(&matchmaker->notifier, step->env, party_entry(gathering, number)->agent, &told, step->effects);
    edges_unref(told.edges);
    edges_unref(told.below);
    tree_unref(shown);
}

/* Each member is charged to the root's owner; the job's limits are held once. */
static void party_expect(const struct gathering *gathering, uint32_t number, uint32_t owner)
{
    const struct step_ctx *step = gathering->step;
    struct matchmaker *matchmaker = step->matchmaker;
    struct gang_party *party = &gathering->parties[number];
    const struct entry *offer = party_entry(gathering, number);
    struct collector_match_ads ads = {.offer = party->ad,
                                      .root = gathering->parties[party->superior].ad,
                                      .left = offer->left,
                                      .known = true,
                                      .whole = offer->ad};
    struct limits_asked asked = {.count = 0};
    struct tally_unit unit;
    struct expected expected = {.claim = party->claim,
                                .gang = gathering->gang,
                                .from = offer->agent,
                                .offer = offer->id,
                                .user = owner,
                                .asked = &asked,
                                .unit = &unit};

    collector_unit(&matchmaker->collector, step->env, &ads, &unit);
    collector_asks(&matchmaker->collector, step->env, gathering->parties[0].ad, &asked);
    expected.weight =
        collector_weight(&matchmaker->collector, step->env, party->ad, gathering->parties[party->superior].ad);
    party->receipt = registrar_expect(&matchmaker->registrar, step->env, &expected);
}

/* Fills in the parties, and the ad of each as it was matched. */
static void gathering_read(struct gathering *gathering, uint32_t root, const struct engine_member *members)
{
    const struct collector *collector = &gathering->step->matchmaker->collector;

    gathering->parties[0] = (struct gang_party){.entry = root, .superior = NO_MEMBER};
    for (uint32_t i = 1; i < gathering->count; i++) {
        const struct engine_member *member = &members[i - 1];

        gathering->parties[i] = (struct gang_party){.entry = member->offer,
                                                    .superior = member->parent == ENGINE_ROOT ? 0 : member->parent + 1,
                                                    .port = member->port,
                                                    .link = member->link,
                                                    .claim = secrets_word(gathering->step->env->secrets)};
    }
    for (uint32_t i = gathering->count; i-- > 1;) { /* superiors come before their subordinates */
        struct gang_party *superior = &gathering->parties[gathering->parties[i].superior];

        if (superior->depth <= gathering->parties[i].depth)
            superior->depth = gathering->parties[i].depth + 1;
    }
    for (uint32_t i = 0; i < gathering->count; i++)
        gathering->parties[i].ad = tree_ref(collector->entries[gathering->parties[i].entry].left);
}

/* Has an ad in the gang expired? Then the gang is undone, and all ads go back. */
static bool gathering_undone(const struct gathering *gathering, uint32_t root, const struct engine_member *members)
{
    struct collector *collector = &gathering->step->matchmaker->collector;
    int64_t now = gathering->step->env->now;
    bool lives = collector_lives(collector, now, root);

    for (uint32_t i = 0; i + 1 < gathering->count; i++)
        lives = lives && collector_lives(collector, now, members[i].offer);
    if (lives)
        return false;
    collector_restore(collector, root);
    for (uint32_t i = 0; i + 1 < gathering->count; i++)
        collector_restore(collector, members[i].offer);
    return true;
}

/* For a planted bug (GANG_UNTAKEN): the offer is there as if nobody had taken it. */
static void party_untaken(const struct gathering *gathering, uint32_t number)
{
    struct collector *collector = &gathering->step->matchmaker->collector;
    struct entry *entry = &collector->entries[gathering->parties[number].entry];

    tree_unref(entry->left);
    entry->left = tree_ref(gathering->parties[number].ad);
    entry->free = 1;
    collector_restore(collector, gathering->parties[number].entry);
}

void matchmaker_gang_made(void *user, uint32_t root, const struct engine_member *members, uint32_t count)
{
    struct step_ctx *step = user;
    struct matchmaker *matchmaker = step->matchmaker;
    struct gathering gathering = {.step = step, .count = count + 1};
    uint32_t owner = matchmaker->collector.entries[root].user;

    if (gathering_undone(&gathering, root, members))
        return;
    gathering.parties = mem_alloc(gathering.count * sizeof *gathering.parties);
    gathering.gang = secrets_word(step->env->secrets);
    gathering_read(&gathering, root, members);
    gathering.parties[0].number = collector_match(&matchmaker->collector, step->env, root, NULL);
    for (uint32_t i = 1; i < gathering.count; i++) {
        struct gang_party *party = &gathering.parties[i];

        party->number = collector_match(&matchmaker->collector, step->env, party->entry, members[i - 1].counterpart);
        party_expect(&gathering, i,
                     MUTANT(CHARGED_APART) && i > 1 ? matchmaker->collector.entries[party->entry].user : owner);
        if (MUTANT(GANG_UNTAKEN) && i > 1)
            party_untaken(&gathering, i);
    }
    for (uint32_t i = 0; i < gathering.count; i++)
        party_tell(&gathering, i);
    matchmaker->matches++;
    for (uint32_t i = 0; i < gathering.count; i++) {
        tree_unref(gathering.parties[i].ad);
        tree_unref(gathering.parties[i].receipt);
    }
    free(gathering.parties);
}
