/* matchmaker_test.c: the matchmaker introduces those that fit, pairs and gangs, and tells both sides. */
#include "matchmaker_world.h"

#include "match/assign/assign.h"
#include "pool/protocol/ticket.h"

/* ---------------------------------------------------------------------------------------------------------- matches */

static void matches_are_told(void)
{
    struct pool *pool = pool_new();
    const struct match_told *root, *member;
    struct key ticket, offer_key = {{7}};
    struct sent *to_root, *to_member;

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    to_root = sent_to(pool, 2, 0);
    to_member = sent_to(pool, 5, 0);
    if (!tap_ok(matches(pool) == 1 && to_root && to_member && pool->sent_count == 2, "both sides of a match are told"))
        return;
    root = &to_root->message.u.match_told;
    member = &to_member->message.u.match_told;
    tap_ok(root->id == 1 && root->number == 1 && root->claim == 0 && root->superior == 0 && root->edges &&
               root->edges->count == 1 && root->window == pool->spans.window,
           "the root hears of its ad, its number and its member");
    tap_ok(root->edges->items[0].agent == 5 && root->edges->items[0].offer == 7 &&
               ad_says(pool, root->edges->items[0].ad, "Cpus == 8"),
           "the member is named by its agent and its ad, which is sent as it was matched");
    tap_ok(member->id == 7 && member->number == 1 && member->superior == 2 && !member->edges &&
               member->claim == root->edges->items[0].claim && member->gang == root->gang && member->claim &&
               ad_says(pool, member->superior_ad, "Type == \"Job\" && Owner == \"alice\""),
           "the member hears of its superior, the same claim and the same gang");
    ticket_make(&pool->secrets, &offer_key, 7, member->claim, member->gang, "alice", &ticket);
    tap_ok(key_equal(&ticket, &root->edges->items[0].ticket), "the provider can make the customer's ticket again");
    tap_ok(look(pool, 2, 1).free == 0 && look(pool, 5, 7).free == 0 && look(pool, 5, 7).outstanding == 1,
           "nothing is left of either");
    answer_all(pool);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 1 && matchmaker_counts(pool->role).told == 2, "one match is one match");
    pool_free(pool, "matches");
}

#define GANG                                                                                                     \
    "[ Type = \"Job\"; Ports = { [ Label = cpu; Cpus = 2; Constraint = cpu.Type == \"Machine\" ], [ Label = s; " \
    "Constraint = s.Type == \"Service\" ] } ]"
#define SERVICE                                                                                                         \
    "[ Type = \"Service\"; Ports = { [ Label = disk; Constraint = disk.Type == \"Disk\" ], [ Label = user; Constraint " \
    "= user.Type == \"Job\" ] } ]"

/* Claims that are charged to that user. */
static uint32_t claims_of(const struct pool *pool, const char *user)
{
    struct claim_view view;
    uint32_t count = 0;

    for (uint32_t from = 0; matchmaker_next_claim(pool->role, from, &view, &from);)
        count += view.user && !strcmp(view.user, user);
    return count;
}

static bool edge_is(const struct edge *edge, agent who, uint64_t offer, uint64_t port, uint64_t link, uint64_t depth)
{
    return edge->agent == who && edge->offer == offer && edge->port == port && edge->link == link &&
           edge->depth == depth;
}

static void gangs_are_told(void)
{
    struct pool *pool = pool_new();
    const struct match_told *root, *machine, *service, *disk;
    struct key ticket, matchmakerd_key = {{8}}, disk_key = {{9}};

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, GANG);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    put(pool, (struct put){.from = 6, .id = 8, .version = 1}, SERVICE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 0 && pool->sent_count == 0 && look(pool, 5, 7).free == 1 && look(pool, 2, 1).free == 1,
           "a gang that lacks a member is told to nobody");
    put(pool, (struct put){.from = 9, .id = 9, .version = 1}, "[ Type = \"Disk\" ]");
    pass(pool, CYCLE);
    if (!tap_ok(matches(pool) == 1 && pool->sent_count == 4 && sent_to(pool, 2, 0) && sent_to(pool, 5, 0) &&
                    sent_to(pool, 6, 0) && sent_to(pool, 9, 0),
                "the root of a gang and each member are told"))
        return;
    root = &sent_to(pool, 2, 0)->message.u.match_told;
    machine = &sent_to(pool, 5, 0)->message.u.match_told;
    service = &sent_to(pool, 6, 0)->message.u.match_told;
    disk = &sent_to(pool, 9, 0)->message.u.match_told;
    tap_ok(root->claim == 0 && root->superior == 0 && root->edges && root->edges->count == 2 &&
               edge_is(&root->edges->items[0], 5, 7, 0, 0, 0) && edge_is(&root->edges->items[1], 6, 8, 1, 1, 1),
           "the root hears of those at its ports: which dock, and how many levels are below");
    tap_ok(machine->superior == 2 && !machine->edges && service->superior == 2 && service->edges &&
               service->edges->count == 1 && edge_is(&service->edges->items[0], 9, 9, 0, 0, 0) && disk->superior == 6 &&
               !disk->edges,
           "a member hears of its superior, and of those below it");
    tap_ok(root->gang && machine->gang == root->gang && service->gang == root->gang && disk->gang == root->gang &&
               machine->claim == root->edges->items[0].claim && service->claim == root->edges->items[1].claim &&
               disk->claim == service->edges->items[0].claim && machine->claim != service->claim &&
               service->claim != disk->claim,
           "it is one gang, and each edge is a claim");
    tap_ok(ad_says(pool, disk->superior_ad, "Type == \"Service\"") &&
               ad_says(pool, service->superior_ad, "Type == \"Job\" && Owner == \"alice\"") &&
               ad_says(pool, root->edges->items[1].ad, "Type == \"Service\""),
           "the ads of both ends are sent as they were matched");
    ticket_make(&pool->secrets, &matchmakerd_key, 8, service->claim, root->gang, "alice", &ticket);
    tap_ok(key_equal(&ticket, &root->edges->items[1].ticket), "the root has tickets for its members");
    ticket_make_below(&pool->secrets, &disk_key, 9, disk->claim, root->gang, "host", "alice", &ticket);
    tap_ok(key_equal(&ticket, &service->edges->items[0].ticket),
           "a member has them for those below, in its own name and in that of the root");
    tap_ok(service->port == root->edges->items[1].port && service->link == root->edges->items[1].link &&
               disk->port == service->edges->items[0].port && disk->link == service->edges->items[0].link &&
               service->port == 1 && machine->port == 0,
           "each hears by which ports it docks");
    tap_ok(disk->customer == 2 && service->customer == 0 && machine->customer == 0 && root->customer == 0,
           "and who has the job, if that is not its superior");
    tap_ok(claims_of(pool, "alice") == 3, "every member is charged to the root's owner");
    tap_ok(look(pool, 2, 1).free == 0 && look(pool, 5, 7).free == 0 && look(pool, 6, 8).free == 0 &&
               look(pool, 9, 9).free == 0 && look(pool, 9, 9).outstanding == 1,
           "nothing is left of any");
    answer_all(pool);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 1 && matchmaker_counts(pool->role).told == 4, "one gang is one match");
    pool_free(pool, "gangs");
}

static void gangs_leave_residuals(void)
{
    static const char divided[] = "[ Type = \"Machine\"; Cpus = 8; Constraint = other.Cpus <= Cpus; "
                                  "Residual = [ Cpus = Cpus - other.Cpus ] ]";
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, GANG);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, divided);
    put(pool, (struct put){.from = 6, .id = 8, .version = 1}, "[ Type = \"Service\" ]");
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1 && look(pool, 5, 7).free == 1 && ad_says(pool, look(pool, 5, 7).left, "Cpus == 6"),
           "what the port asked for is taken off a machine in a gang");
    put(pool, (struct put){.from = 5, .id = 7, .version = 2}, divided);
    tap_ok(look(pool, 5, 7).outstanding == 1 && ad_says(pool, look(pool, 5, 7).left, "Cpus == 6"),
           "and off a text that was written before");
    put(pool, (struct put){.from = 5, .id = 7, .version = 3, .seen = seen_of(pool, 1, 0)}, divided);
    tap_ok(ad_says(pool, look(pool, 5, 7).left, "Cpus == 8"), "but not off one that names the match");
    pool_free(pool, "residuals of gangs");
}

static void ports_are_checked(void)
{
    struct pool *pool = pool_new();

    tap_ok(put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, "[ Ports = { [ A = 1 ] } ]")
                   .reason == REASON_INVALID,
           "an ad whose ports are not in order is refused");
    tap_ok(put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true},
               "[ Ports = { [ Label = a; Count = 65 ] } ]")
                   .reason == REASON_LIMIT,
           "and one that wants more members than it can be told of");
    tap_ok(put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true},
               "[ Ports = { [ Label = a; Count = 64 ] } ]")
                   .reason == REASON_OK,
           "as many as that are well");
    pool_free(pool, "ports");
}

static void counts_are_units(void)
{
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(3));
    for (uint64_t i = 0; i < 5; i++)
        put(pool, (struct put){.from = 10 + i, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 3 && look(pool, 2, 1).free == 0 && look(pool, 2, 1).numbered == 3,
           "a request of three units is matched three times");
    tap_ok(put(pool, (struct put){.from = 2, .id = 2, .version = 1, .request = true}, JOBS(0)).reason ==
                   REASON_CONSUMED &&
               look(pool, 2, 2).ad,
           "one of no units is stored, and nothing is left of it");
    pool_free(pool, "counts");
}

static void crossing_updates_neither_double_nor_lose(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};
    struct advertised answer;

    put(pool, ad, JOBS(5));
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).free == 3, "two of five units are matched");
    ad.version = 2; /* it was written before the notifications came */
    answer = put(pool, ad, JOBS(6));
    tap_ok(look(pool, 2, 1).free == 4 && look(pool, 2, 1).outstanding == 2 && answer.settled == 0,
           "matches that a text does not name are taken off it again");
    ad.version = 3;
    ad.seen = seen_of(pool, 0, 1); /* the second, but not the first */
    answer = put(pool, ad, JOBS(5));
    tap_ok(look(pool, 2, 1).free == 4 && look(pool, 2, 1).outstanding == 1 && answer.settled == 0,
           "one beyond a gap is named, the gap is not");
    ad.version = 4;
    ad.seen = seen_of(pool, 2, 0);
    answer = put(pool, ad, JOBS(4));
    tap_ok(look(pool, 2, 1).free == 4 && look(pool, 2, 1).outstanding == 0 && answer.settled == 2,
           "when all are named the text stands as it is written, and they are settled");
    ad.version = 5;
    ad.seen = (struct seen){12345, 9, 0};
    put(pool, ad, JOBS(4));
    tap_ok(
        look(pool, 2, 1).free == 2,
        "a sender that knows nothing of this incarnation may have restarted: what it named before is taken off again");
    put(pool, (struct put){.from = 6, .id = 8, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    ad.version = 6;
    put(pool, ad, JOBS(4));
    tap_ok(look(pool, 2, 1).numbered == 3 && look(pool, 2, 1).free == 1,
           "numbers of another incarnation name nothing of this one");
    pool_free(pool, "crossing updates");
}

static void lost_notifications_come_back(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};
    struct put offer = {.from = 5, .id = 7, .version = 1, .seen = seen_of(pool, 0, 0)};
    struct advertised answer;

    put(pool, ad, JOBS(3));
    put(pool, offer, MACHINE);
    pass(pool, CYCLE);
    offer.bare = true;
    answer = put(pool, offer, NULL);
    tap_ok(answer.reason == REASON_CONSUMED && answer.span > 0,
           "a renewal hears that nothing is left, and for how long");
    offer.bare = false;
    answer = put(pool, offer, MACHINE);
    tap_ok(answer.reason == REASON_CONSUMED && answer.settled == 0, "so does a text that does not name the match");
    pass(pool, answer.span - 1);
    withdraw(pool, 2, 1, 2); /* nobody else shall take it */
    tap_ok(put(pool, offer, MACHINE).reason == REASON_CONSUMED, "that is so for as long as was said");
    pass(pool, 1);
    answer = put(pool, offer, MACHINE);
    tap_ok(answer.reason == REASON_CONSUMED && answer.span == 0,
           "a text may have been long on its way: what it does not name it may have been too early for");
    offer.heard = answer.clock;
    offer.bare = true;
    answer = put(pool, offer, NULL);
    tap_ok(answer.reason == REASON_OK && answer.settled == 1 && look(pool, 5, 7).free == 1,
           "once its sender has heard of that time it comes back: nobody can name the match any more");
    pool_free(pool, "lost notifications");
}

static void incarnations_differ(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 5, .request = true};
    uint64_t before = matchmaker_incarnation(pool->role);

    put(pool, ad, JOBS(5));
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    ad.seen = seen_of(pool, 1, 0);
    role_restart(pool);
    tap_ok(matchmaker_incarnation(pool->role) != before && !look(pool, 2, 1).ad, "a restart is another incarnation");
    ad.bare = true;
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "which asks for the texts again");
    ad.bare = false;
    put(pool, ad, JOBS(4));
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).numbered == 1 && look(pool, 2, 1).free == 3, "and counts from one");
    ad.version++;
    put(pool, ad, JOBS(4));
    tap_ok(look(pool, 2, 1).free == 3, "an unknown incarnation takes off all matches of the present one");
    pool_free(pool, "incarnations");
}

static void numbers_go_on(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};

    put(pool, ad, JOBS(2));
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    answer_all(pool);
    withdraw(pool, 2, 1, 2);
    ad.version = 3;
    ad.seen = seen_of(pool, 1, 0);
    put(pool, ad, JOBS(2));
    tap_ok(look(pool, 2, 1).numbered == 1 && look(pool, 2, 1).free == 2, "numbers go on over a withdrawal");
    withdraw(pool, 2, 1, 4);
    pass(pool, 10 * pool->spans.lifetime);
    ad.version = 5;
    put(pool, ad, JOBS(2));
    tap_ok(look(pool, 2, 1).numbered == 1,
           "where all was forgotten, the numbers that the sender knows are not used again");
    ad.version = 6;
    ad.seen = seen_of(pool, UINT64_MAX - 3, 7);
    tap_ok(put(pool, ad, JOBS(2)).reason == REASON_INVALID, "numbers that nobody could have given are refused");
    pool_free(pool, "numbers");
}

static void residuals_are_taken_off(void)
{
    struct pool *pool = pool_new();
    struct put offer = {.from = 5, .id = 7, .version = 1};

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true},
        "[ Type = \"Job\"; Cpus = 3; Count = 2; Constraint = other.Type == \"Machine\" ]");
    put(pool, offer, SHARED);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 2 && ad_says(pool, look(pool, 5, 7).left, "Cpus == 2") &&
               ad_says(pool, look(pool, 5, 7).ad, "Cpus == 8"),
           "a machine that divides is matched with two jobs, and what is left goes on");
    offer.version = 2;
    put(pool, offer, SHARED);
    tap_ok(ad_says(pool, look(pool, 5, 7).left, "Cpus == 2") && look(pool, 5, 7).outstanding == 2,
           "a text that names neither loses both parts again");
    offer.version = 3;
    offer.seen = seen_of(pool, 1, 0);
    put(pool, offer,
        "[ Type = \"Machine\"; Cpus = 5; Constraint = Cpus > 0 && other.Cpus <= Cpus; "
        "Residual = [ Cpus = Cpus - other.Cpus ] ]");
    tap_ok(ad_says(pool, look(pool, 5, 7).left, "Cpus == 2") && look(pool, 5, 7).outstanding == 1,
           "one that names the first loses the second");
    put(pool, (struct put){.from = 2, .id = 2, .version = 1, .request = true},
        "[ Type = \"Job\"; Cpus = 2; Constraint = other.Type == \"Machine\" ]");
    pass(pool, CYCLE);
    offer.version = 4;
    tap_ok(look(pool, 5, 7).free == 0 && put(pool, offer,
                                             "[ Type = \"Machine\"; Cpus = 5; "
                                             "Constraint = Cpus > 0 && other.Cpus <= Cpus; "
                                             "Residual = [ Cpus = Cpus - other.Cpus ] ]")
                                                 .reason == REASON_CONSUMED,
           "when nothing of it can be given to anybody, it is consumed");
    pool_free(pool, "residuals");
}

static void same_texts_cost_little(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};
    const struct tree *before;
    uint64_t cycles;

    put(pool, ad, LONELY);
    pass(pool, SECOND);
    before = look(pool, 2, 1).ad;
    cycles = matchmaker_counts(pool->role).cycles;
    ad.version = 2;
    put(pool, ad, LONELY);
    pass(pool, SECOND);
    tap_ok(look(pool, 2, 1).ad == before && matchmaker_counts(pool->role).cycles == cycles,
           "a text that says the same is no change: no cycle runs for it");
    pool_free(pool, "same texts");
}

/* --------------------------------------------------------------------------------------------------------- notifier */

static void notes_go_in_order(void)
{
    struct pool *pool = pool_new();
    uint64_t number = 0;
    bool in_order = true;

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(5));
    for (uint64_t i = 0; i < 5; i++)
        put(pool, (struct put){.from = 10 + i, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 5 && sent_count(pool, 2) == 1, "one message is on its way to an agent at a time");
    for (struct sent *sent; (sent = sent_to(pool, 2, 0));) {
        in_order = in_order && sent->message.u.match_told.number == ++number;
        answer_sent(pool, sent, true);
    }
    tap_ok(in_order && number == 5, "the others follow in their order");
    pool_free(pool, "order of notes");
}

static void notes_are_repeated(void)
{
    struct pool *pool = pool_new();
    int64_t pause = 0, begun, longest = 0;
    bool grows = true, aged = true;
    struct event stray = {.kind = EVENT_ANSWER, .token = UINT64_MAX, .tag = MESSAGE_MATCH};
    struct sent *sent;
    int tries = 0;

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    begun = pool->env.now;
    hand_over(pool, &stray);
    answer_sent(pool, sent_to(pool, 5, 0), true);
    while ((sent = sent_to(pool, 2, 0))) {
        int64_t from = pool->env.now;

        aged = aged && (tries == 0 || sent->message.u.match_told.age >= from - begun);
        answer_sent(pool, sent, false);
        while (!sent_to(pool, 2, 0) && pool->env.now < begun + 2 * pool->spans.window)
            pass(pool, 10 * MILLISECOND);
        pause = pool->env.now - from;
        grows = grows && (tries == 0 || !sent_to(pool, 2, 0) || pause * 4 > longest);
        longest = pause > longest ? pause : longest;
        tries++;
    }
    tap_ok(tries >= 5 && tries < 12 && grows, "what is not answered is sent again, after ever longer pauses");
    tap_ok(aged, "and says how old it is by then");
    tap_ok(matchmaker_counts(pool->role).given_up == 1 && pool->notes == 1 && matchmaker_counts(pool->role).told == 1,
           "when the window is over it is given up, visibly");
    pool_free(pool, "repeats");
}

static void tickets_are_bound(void)
{
    struct rng hidden;
    struct secrets secrets = {&hidden, plain_draw, plain_seal};
    struct key key = {{1}}, other = {{2}}, a, b;

    rng_init(&hidden, 3);
    ticket_make(&secrets, &key, 1, 2, 3, "alice", &a);
    ticket_make(&secrets, &key, 1, 2, 3, "alice", &b);
    tap_ok(key_equal(&a, &b), "a ticket can be made again");
    ticket_make(&secrets, &key, 1, 2, 4, "alice", &b);
    tap_ok(!key_equal(&a, &b), "it is bound to the gang");
    ticket_make_below(&secrets, &key, 1, 2, 3, "alice", "bob", &b);
    tap_ok(!key_equal(&a, &b), "and to the owner of the root, if that is another");
    ticket_make_below(&secrets, &key, 1, 2, 3, "alice", "", &b);
    tap_ok(key_equal(&a, &b), "of the root itself nothing is said");
    ticket_make(&secrets, &key, 1, 2, 3, "alic", &b);
    tap_ok(!key_equal(&a, &b), "and to the owner");
    ticket_make(&secrets, &other, 1, 2, 3, "alice", &b);
    tap_ok(!key_equal(&a, &b), "and to the offer's key");
    ticket_proof(&secrets, &key, true, &a, &b, 5, &a);
    ticket_proof(&secrets, &key, false, &a, &b, 5, &b);
    tap_ok(!key_equal(&a, &b), "a customer's proof is not a provider's");
}

/* Figure 1.1: who comes first would take what only the last can use. */
static void windows_are_settled_at_once(void)
{
    static const char cluster[] =
        "[ Cpus = %d; Constraint = other.RequestCpus <= Cpus; Residual = [ Cpus = Cpus - other.RequestCpus ] ]";
    struct pool *pool = pool_new();
    char text[200];
    uint64_t early;

    pool->settings.assignment = ASSIGN_SRFM + 1;
    pool->spans.cycle = 10 * SECOND;
    role_restart(pool);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, cluster, i ? 10 : 20);
        put(pool, (struct put){.from = 2, .id = (uint64_t)i + 1, .version = 1}, text);
    }
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, "[ RequestCpus = 5 ]");
    pass(pool, 4 * SECOND);
    put(pool, (struct put){.from = 3, .id = 2, .version = 1, .request = true}, "[ RequestCpus = 5 ]");
    pass(pool, 4 * SECOND);
    put(pool, (struct put){.from = 3, .id = 3, .version = 1, .request = true}, "[ RequestCpus = 20 ]");
    early = matches(pool);
    pass(pool, 3 * SECOND);
    if (!tap_ok(
            early == 0 && matches(pool) == 3,
            "with an assignment requests are gathered for a window, and then all three of figure 1.1 get a cluster"))
        tap_diag("%llu matches early, %llu then", (unsigned long long)early, (unsigned long long)matches(pool));
    pool_free(pool, "windows");
}

/* A machine whose job has ended tells what is free: that is settled in a cycle, and the next job comes right behind it. */
static void offers_put_nobody_off(void)
{
    struct pool *pool = pool_new();
    uint64_t early;

    pool->spans.cycle = 8 * SECOND;
    role_restart(pool);
    put(pool, (struct put){.from = 2, .id = 1, .version = 1}, "[ Cpus = 1; Count = 9 ]");
    pass(pool, SECOND);
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, "[ Cpus = 1 ]");
    pass(pool, 0);
    tap_ok(matches(pool) == 1, "a request does not wait for a cycle because an offer came a short while ago");
    put(pool, (struct put){.from = 3, .id = 2, .version = 1, .request = true}, "[ Cpus = 1 ]");
    pass(pool, 7 * SECOND);
    early = matchmaker_counts(pool->role).cycles;
    pass(pool, SECOND);
    tap_ok(early == 2 && matchmaker_counts(pool->role).cycles == 3,
           "it does because another request came: requests are gathered");
    pool_free(pool, "offers that come");
}

int main(void)
{
    matches_are_told();
    offers_put_nobody_off();
    windows_are_settled_at_once();
    gangs_are_told();
    gangs_leave_residuals();
    ports_are_checked();
    counts_are_units();
    crossing_updates_neither_double_nor_lose();
    lost_notifications_come_back();
    incarnations_differ();
    numbers_go_on();
    residuals_are_taken_off();
    same_texts_cost_little();
    notes_go_in_order();
    notes_are_repeated();
    tickets_are_bound();
    return tap_done();
}
