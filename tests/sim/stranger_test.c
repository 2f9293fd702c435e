/* Whatever is said to a role, in whatever state: it answers or ignores, and its promises hold.
 *
 * Worlds of sim/run.h, with faults and the judge, have a guest. He keeps what passes by (words by the names of their
 * fields, ads, keys, whole messages), makes messages of every kind of that and of extremes, and says them
 *
 *     under his own name      he takes no part in the pool: all invariants hold, and the quiet phase ends
 *     under others' names     old messages again, in any order, to whom they were for; and forged ones
 *     as the world itself     answers, news of jobs and probes that are none, rows that are garbage
 *
 * Where names lie, only what the recipient promises by itself can hold: a provider 1 and 4, the matchmaker 7 and its
 * books. 2, 3 and 6 need an honest customer, 5 that identities hold, 8 that agents say truly what they have seen. */
#include "common/gossip.h"
#include "common/tap.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "pool/customer/customer.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/provider/provider.h"
#include "sim/run.h"
#include "sim/user.h"

#include <inttypes.h>
#include <stdlib.h>

/* So many worlds that every kind of message meets every state: that is for the plain build to prove. A sanitizer looks at the code, and is
 * slow. */
#define WORLDS 16
#if defined(TESTS_SANITIZED)
#define WORLDS_HERE 3
#define PILES 50
#else
#define WORLDS_HERE WORLDS
#define PILES 1000
#endif
#define TRACE_LINES 25
#define TICKETS 32 /* sends whose answer might be under way */
#define STATES 8   /* of any role, none included */
#define PAST 16    /* ads that were there */
#define SPEAK_ONE_IN 5
#define LOOK_ONE_IN 16

enum name { HIS_OWN, OTHERS, THE_WORLDS };
enum party_sort { MATCHMAKER, CUSTOMER, PROVIDER, PARTIES };

static const char *const party_words[PARTIES] = {"the matchmaker", "a customer", "a provider"};
static const char *const matchmaker_states[STATES] = {"no ad", "an ad", "an ad that is past its time"};
static const char *const customer_states[STATES] = {"no claim", "verifying", "committing", "activating",
                                                    "starting", "running",   "ending",     "attaching"};
static const char *const provider_states[STATES] = {"no claim", "matched", "verified", "pinned", "claimed", "stopping"};
static const char *const *const state_words[PARTIES] = {matchmaker_states, customer_states, provider_states};
static const uint32_t state_counts[PARTIES] = {3, 8, 6};

struct posted {
    uint32_t host, tag;
    uint64_t token;
};

struct guest {
    enum name name;
    struct world *world;
    struct parties parties;
    struct gossip gossip;
    uint32_t place; /* his own host */
    bool silent, quiet;
    struct user_settings settings;
    struct posted posted[TICKETS];
    struct map late; /* messages that may be answered later: token -> kind */
    struct map had;  /* agents and ids that had an ad: agent, id mixed -> 0 */
    struct entry_view past[PAST];
    const char *wrong; /* the first thing that must not be */
    char where[160];
    /* of all worlds */
    uint64_t said, told, unanswered, rows;
    uint64_t cells[PARTIES][MESSAGE_COUNT][STATES];
    uint64_t here[PARTIES][MESSAGE_COUNT][STATES]; /* in this world; of kind NONE: of all kinds */
};

static void guest_wrong(struct guest *guest, const struct host *host, const struct message *message, const char *why)
{
    if (guest->wrong)
        return;
    guest->wrong = why;
    guest->world->broken = why;
    snprintf(guest->where, sizeof guest->where, "%s, after %.6f s, at a %s", host->name,
             (double)guest->world->time / (double)SECOND, message ? message_layout(message->kind)->name : "event");
}

/* ------------------------------------------------------------------------------------------- whom he means */

static enum party_sort party_of(const struct guest *guest, const struct host *host)
{
    return host->place < guest->parties.customers   ? MATCHMAKER
           : host->place < guest->parties.providers ? CUSTOMER
                                                    : PROVIDER;
}

/* One of the role's claims or ads, chosen at random as they are listed; and the state of a certain one. */
struct pick {
    struct guest *guest;
    uint64_t key, seen; /* key: of the one that is looked for */
    agent by;
    uint32_t state, farthest;
    uint32_t chosen; /* the state of the one that was chosen */
    uint64_t rarest; /* how often one in that state was spoken of */
    struct tenant_view tenant;
    struct root_view root;
    struct entry_view entry;
};

/* Mostly the one in whose state the least has been said. */
static bool pick_takes(struct pick *pick, enum party_sort party, uint32_t state)
{
    uint64_t said = pick->guest->here[party][MESSAGE_NONE][state];

    if (pick->seen++ && (gossip_one_in(&pick->guest->gossip, 4) ? !gossip_one_in(&pick->guest->gossip, pick->seen)
                                                                : said >= pick->rarest))
        return false;
    pick->rarest = said;
    pick->chosen = state;
    return true;
}

static void pick_tenant(void *user, const struct tenant_view *tenant)
{
    struct pick *pick = user;
    uint32_t state = 1 + (uint32_t)tenant->state;

    if (pick_takes(pick, PROVIDER, state))
        pick->tenant = *tenant;
    if (tenant->claim == pick->key)
        pick->state = state;
    pick->farthest = state > pick->farthest ? state : pick->farthest;
}

static void pick_root(void *user, const struct root_view *root)
{
    struct pick *pick = user;
    uint32_t state = 1 + (uint32_t)root->state;

    if (pick_takes(pick, CUSTOMER, state))
        pick->root = *root;
    if (root->claim == pick->key)
        pick->state = state;
    /* the ones that last a moment count most */
    if (!pick->farthest || root->state != ROOT_RUNNING)
        pick->farthest = state;
}

static void pick_entry(void *user, const struct entry_view *entry)
{
    struct pick *pick = user;

    if (pick->guest->name != HIS_OWN || entry->agent == pick->guest->place + 1)
        if (pick_takes(pick, MATCHMAKER, 1))
            pick->entry = *entry;
    if (entry->agent == pick->by) {
        pick->farthest = 1;
        if (entry->id == pick->key) {
            pick->state = 1;
            pick->guest->past[gossip_place(&pick->guest->gossip, RING_PAST, PAST)] = *entry;
        }
    }
}

static void pick_each(struct pick *pick, const struct host *host)
{
    switch (party_of(pick->guest, host)) {
    case MATCHMAKER:
        matchmaker_each(host->role, pick_entry, pick);
        break;
    case CUSTOMER:
        customer_each_root(host->role, pick_root, pick);
        break;
    default:
        provider_each(host->role, pick_tenant, pick);
        break;
    }
}

static uint64_t had_key(agent by, uint64_t id)
{
    return rng_mix(id) ^ by;
}

/* The state of what a message names; of one that names nothing, the farthest that there is. */
static uint32_t state_named(struct guest *guest, const struct host *host, struct message *message, agent by)
{
    bool matchmaker = party_of(guest, host) == MATCHMAKER;
    const uint64_t *word = message_word(message, matchmaker ? "id" : "claim");
    struct pick pick = {.guest = guest, .key = word ? *word : 0, .by = by};
    struct rng kept = guest->gossip.rng;

    pick_each(&pick, host);
    guest->gossip.rng = kept;
    if (!word)
        pick.state = pick.farthest;
    if (matchmaker && pick.state)
        map_set(&guest->had, word ? had_key(by, *word) : by, 0);
    else if (matchmaker && map_find(&guest->had, word ? had_key(by, *word) : by) != MAP_NONE)
        pick.state = 2;
    return pick.state;
}

static void aim_tenant(struct message *message, const struct tenant_view *tenant, bool all)
{
    message_aim(message, "claim", tenant->claim);
    if (!all)
        return;
    message_aim(message, "gang", tenant->gang);
    message_aim(message, "epoch", tenant->epoch);
    message_aim(message, "offer", tenant->offer);
    message_aim(message, "id", tenant->offer);
    message_aim(message, "superior", tenant->superior);
}

static void aim_root(struct message *message, const struct root_view *root, bool all)
{
    message_aim(message, "claim", root->claim);
    if (!all)
        return;
    message_aim(message, "gang", root->gang);
    message_aim(message, "epoch", root->epoch);
    message_aim(message, "job", root->job);
    message_aim(message, "number", root->number);
    message_aim(message, "id", root->shape);
}

/* Makes the message be about what was picked; who would say that. */
static uint32_t message_aimed(struct guest *guest, const struct host *host, const struct pick *pick,
                              struct message *message)
{
    bool all = !gossip_one_in(&guest->gossip, 3);
    agent by = 0;

    if (!pick->seen && party_of(guest, host) != MATCHMAKER)
        return guest->place;
    if (party_of(guest, host) == MATCHMAKER) {
        const struct entry_view *entry = !pick->seen || gossip_one_in(&guest->gossip, 3)
                                             ? &guest->past[gossip_below(&guest->gossip, PAST)]
                                             : &pick->entry;

        message_aim(message, "id", entry->id);
        if (all)
            message_aim(message, "version", entry->version + gossip_below(&guest->gossip, 3) - 1);
        by = entry->agent;
    } else if (party_of(guest, host) == CUSTOMER) {
        aim_root(message, &pick->root, all);
        by = pick->root.member;
    } else {
        aim_tenant(message, &pick->tenant, all);
        by = pick->tenant.superior;
    }
    if (message->kind == MESSAGE_MATCH && host->place != guest->parties.matchmaker)
        by = guest->parties.matchmaker + 1;
    return by - 1 < guest->world->host_count ? (uint32_t)by - 1 : guest->place;
}

/* ------------------------------------------------------------------------------------------- saying */

/* Is the role in order? */
static void look(struct guest *guest, const struct host *host, const struct message *message)
{
    const char *why = NULL;

    if (host->role && host->kind->valid && !host->kind->valid(host->role, &why))
        guest_wrong(guest, host, message, why ? why : "a role's state is not in order");
}

/* At once; nobody waits for the answer. The message is handed over. */
static void say(struct guest *guest, uint32_t from, struct host *to, uint64_t channel, struct message *message)
{
    struct message copy = *message;
    uint32_t state = state_named(guest, to, &copy, from + 1);

    guest->cells[party_of(guest, to)][message->kind][state]++;
    guest->here[party_of(guest, to)][message->kind][state]++;
    guest->here[party_of(guest, to)][MESSAGE_NONE][state]++;
    guest->said++;
    copy.kind = message->kind;
    gossip_say(&guest->gossip, from, to, channel, message);
    look(guest, to, &copy);
}

/* Of some kinds the one of which the least has been said in that state. */
static enum message_kind kind_choose(struct guest *guest, enum party_sort party, uint32_t state)
{
    enum message_kind best = MESSAGE_NONE;

    for (int i = 0; i < 6; i++) {
        enum message_kind kind = (enum message_kind)(1 + gossip_below(&guest->gossip, MESSAGE_COUNT - 1));

        if (!best || guest->here[party][kind][state] < guest->here[party][best][state])
            best = kind;
    }
    return best;
}

static void say_anew(struct guest *guest, struct host *to)
{
    struct pick pick = {.guest = guest};
    struct message message;
    uint32_t from = guest->place;

    pick_each(&pick, to);
    gossip_make(&guest->gossip, kind_choose(guest, party_of(guest, to), pick.chosen), &message);
    if (!gossip_one_in(&guest->gossip, 8))
        from = message_aimed(guest, to, &pick, &message);
    if (guest->name == HIS_OWN)
        from = guest->place;
    else if (gossip_one_in(&guest->gossip, 8))
        from = (uint32_t)gossip_below(&guest->gossip, guest->world->host_count);
    if (message.kind == MESSAGE_MATCH && gossip_one_in(&guest->gossip, 2)) {
        message.u.match_told.window = guest->world->spans->window;
        message.u.match_told.age = 0;
        if (guest->world->hosts[0].role)
            message.u.match_told.incarnation = matchmaker_incarnation(guest->world->hosts[0].role);
    }
    say(guest, from, to,
        gossip_one_in(&guest->gossip, 2) ? gossip_make_word(&guest->gossip, "channel") : guest->gossip.heard[0].channel,
        &message);
}

static void say_again(struct guest *guest, struct host *to)
{
    struct message message;
    struct heard *heard = NULL;

    for (int tries = 0; tries < 16 && !heard; tries++) {
        heard = &guest->gossip.heard[gossip_below(&guest->gossip, HEARD)];
        if (!heard->message.kind || heard->to != to->place)
            heard = NULL;
    }
    if (!heard)
        return;
    message_copy(&message, &heard->message);
    if (gossip_one_in(&guest->gossip, 2))
        gossip_bend(&guest->gossip, &message);
    if (guest->name == HIS_OWN && message.kind == MESSAGE_ADVERTISE)
        message.u.advertise.seen = gossip_make_seen(&guest->gossip);
    say(guest, guest->name == HIS_OWN ? guest->place : heard->from, to, heard->channel, &message);
}

/* ------------------------------------------------------------------------------------------- events that are none */

static void record_make(struct guest *guest, struct record *ret)
{
    const struct layout *layout;

    memset(ret, 0, sizeof *ret);
    ret->kind = (enum record_kind)(1 + gossip_below(&guest->gossip, RECORD_COUNT - 1));
    layout = record_layout(ret->kind);
    for (uint32_t i = 0; i < layout->count; i++)
        gossip_make_field(&guest->gossip, &layout->fields[i], (char *)&ret->u + layout->fields[i].at);
    ret->key = ret->kind == RECORD_JOB ? gossip_below(&guest->gossip, 200) : gossip_make_word(&guest->gossip, "claim");
}

static void event_answer(struct guest *guest, struct host *to)
{
    const struct posted *posted = &guest->posted[gossip_below(&guest->gossip, TICKETS)];
    bool real = posted->token && posted->host == to->place && !gossip_one_in(&guest->gossip, 3);
    const struct host *from = &guest->world->hosts[gossip_below(&guest->gossip, guest->world->host_count)];
    struct peer peer = {.agent = host_agent(from),
                        .identity = from->identity,
                        .any = from->any,
                        .channel = gossip_make_word(&guest->gossip, "channel")};
    struct message message;
    struct event event = {.kind = EVENT_ANSWER,
                          .token = real ? posted->token : gossip_make_word(&guest->gossip, "claim"),
                          .tag = real ? posted->tag : (uint32_t)gossip_make_word(&guest->gossip, "tag") % 64,
                          .answer = gossip_one_in(&guest->gossip, 4) ? ANSWER_UNKNOWN : ANSWER_GOT};

    gossip_make(&guest->gossip, (enum message_kind)(1 + gossip_below(&guest->gossip, MESSAGE_COUNT - 1)), &message);
    if (gossip_one_in(&guest->gossip, 2))
        message_aim(&message, "claim", event.token);
    if (event.answer == ANSWER_GOT) {
        event.message = &message;
        event.peer = &peer;
    }
    host_event(guest->world, to, &event);
    message_done(&message);
}

static void event_job(struct guest *guest, struct host *to)
{
    struct event event = {.kind = EVENT_JOB,
                          .news = (enum job_news)gossip_below(&guest->gossip, 3),
                          .claim = gossip_make_word(&guest->gossip, "claim"),
                          .number = gossip_make_word(&guest->gossip, "number"),
                          .reason = (enum reason)gossip_below(&guest->gossip, REASON_COUNT),
                          .status = gossip_make_number(&guest->gossip),
                          .used = gossip_make_number(&guest->gossip),
                          .at = gossip_make_number(&guest->gossip)};
    struct pick pick = {.guest = guest};

    if (party_of(guest, to) == PROVIDER)
        provider_each(to->role, pick_tenant, &pick);
    if (pick.seen && gossip_one_in(&guest->gossip, 2)) {
        event.claim = pick.tenant.claim;
        event.number = pick.tenant.number;
    }
    host_event(guest->world, to, &event);
}

static void event_any(struct guest *guest, struct host *to)
{
    struct record record;

    guest->said++;
    switch (gossip_below(&guest->gossip, 16)) {
    case 0:
    case 1:
    case 2:
        event_job(guest, to);
        break;
    case 3:
        host_event(guest->world, to, &(struct event){.kind = EVENT_WAKE});
        break;
    case 4:
        host_event(
            guest->world, to,
            &(struct event){.kind = EVENT_PROBED,
                            .claim = gossip_one_in(&guest->gossip, 2) ? 0 : gossip_make_word(&guest->gossip, "id"),
                            .ad = gossip_make_ad(&guest->gossip)});
        break;
    case 5:
        record_make(guest, &record);
        host_event(guest->world, to, &(struct event){.kind = EVENT_LOADED, .record = &record});
        record_done(&record);
        break;
    case 6:
        if (gossip_one_in(&guest->gossip, 64))
            host_event(guest->world, to,
                       &(struct event){.kind = gossip_one_in(&guest->gossip, 2) ? EVENT_DRAIN : EVENT_BOOTED});
        break;
    default:
        event_answer(guest, to);
        break;
    }
    look(guest, to, NULL);
}

/* The rows of a host that is down say something else when it starts. */
static void rows_bend(struct guest *guest, const struct host *host)
{
    for (uint32_t i = 0; i < host->disk.rows.count; i++) {
        struct sim_row *row = slab_at(&host->disk.rows, i);
        const struct layout *layout = record_layout(row->record.kind);
        const struct field *field;

        if (!row->used || !layout->count || !gossip_one_in(&guest->gossip, 8))
            continue;
        field = &layout->fields[gossip_below(&guest->gossip, layout->count)];
        gossip_clear_field(field, (char *)&row->record.u + field->at);
        gossip_make_field(&guest->gossip, field, (char *)&row->record.u + field->at);
        guest->rows++;
    }
}

/* ------------------------------------------------------------------------------------------- answers are counted */

static bool may_wait(enum message_kind kind)
{
    return kind == MESSAGE_VERIFY || kind == MESSAGE_COMMIT || kind == MESSAGE_ACTIVATE || kind == MESSAGE_RELEASE ||
           kind == MESSAGE_START; /* below a service, for the customer */
}

/* Every message is answered once, by an answer of its kind, in the same step; those that wait for others (a crew, a job
 * that must end first, a customer) later, or not at all when they were said again. To an answer there is none. */
static void check_answers(struct guest *guest, const struct host *host, const struct event *event)
{
    enum message_kind kind = event->kind == EVENT_MESSAGE ? event->message->kind : MESSAGE_NONE;
    const struct message *message = kind ? event->message : NULL;
    uint32_t answers = 0;

    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];
        uint64_t asked;

        if (effect->kind != EFFECT_REPLY)
            continue;
        asked = kind && effect->token == event->token ? (uint64_t)kind : map_find(&guest->late, effect->token);
        if (kind && effect->token == event->token)
            answers++;
        else
            map_remove(&guest->late, effect->token);
        if (asked == MAP_NONE)
            guest_wrong(guest, host, message, "something is answered twice, or was never asked");
        else if (effect->message.kind != message_answer((enum message_kind)asked))
            guest_wrong(guest, host, message, "something is answered by the answer to something else");
    }
    if (!kind)
        return;
    guest->told++;
    if (answers > 1)
        guest_wrong(guest, host, message, "a message is answered twice at once");
    if (!answers && message_answer(kind) && may_wait(kind))
        map_set(&guest->late, event->token, kind);
    else if (!answers && message_answer(kind))
        guest_wrong(guest, host, message, "a message is not answered");
    guest->unanswered += !answers;
}

/* ------------------------------------------------------------------------------------------- in the world */

static void guest_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct guest *guest = user;

    (void)env;
    if (host->place >= guest->parties.users)
        return;
    check_answers(guest, host, event);
    if (event->message && event->peer && event->peer->agent)
        gossip_hear(&guest->gossip, host, event);
    for (uint32_t i = 0; i < host->effects.count; i++)
        if (host->effects.items[i].kind == EFFECT_SEND && gossip_one_in(&guest->gossip, 4))
            guest->posted[gossip_place(&guest->gossip, RING_POSTED, TICKETS)] =
                (struct posted){host->place, host->effects.items[i].tag, host->effects.items[i].token};
    if (gossip_one_in(&guest->gossip, LOOK_ONE_IN))
        look(guest, host, NULL);
    if (!guest->quiet && !guest->wrong && event->kind != EVENT_LOADED && gossip_one_in(&guest->gossip, SPEAK_ONE_IN))
        world_plan(guest->world,
                   guest->world->time +
                       (gossip_one_in(&guest->gossip, 4) ? (int64_t)gossip_below(&guest->gossip, SECOND) : 0),
                   SIM_PLANS + host->place);
}

static void guest_plan(void *user, uint32_t which)
{
    struct guest *guest = user;
    struct host *to = &guest->world->hosts[which - SIM_PLANS];

    if (guest->quiet || !to->role)
        return;
    if (guest->name == THE_WORLDS && !gossip_one_in(&guest->gossip, 4))
        event_any(guest, to);
    else if (gossip_one_in(&guest->gossip, guest->name == HIS_OWN ? 4 : 2))
        say_again(guest, to);
    else
        say_anew(guest, to);
}

static void guest_went(void *user, const struct host *host, const char *what)
{
    struct guest *guest = user;

    if (guest->name == THE_WORLDS && strcmp(what, "starts") != 0 && host->place < guest->parties.users)
        rows_bend(guest, host);
}

static void guest_comes(void *user, struct world *world, struct judge *judge, const struct parties *parties)
{
    struct guest *guest = user;

    guest->world = world;
    guest->parties = *parties;
    guest->quiet = false;
    guest->silent = true;
    gossip_init(&guest->gossip, world, world->hash ^ 0x677565737473); /* "guests" */
    guest->gossip.unmatched = guest->name == HIS_OWN;
    memset(guest->here, 0, sizeof guest->here);
    map_init(&guest->late, 0);
    map_init(&guest->had, 0);
    guest->settings =
        (struct user_settings){.owner = "stranger", .pause = SECOND, .quiet = &guest->silent, .lies = true};
    guest->place = world_add(world, &user_role, &guest->settings, "stranger", false, "stranger");
    world_watch(world, &(struct watch){.user = guest, .stepped = guest_stepped, .went = guest_went});
    if (guest->name == OTHERS)
        judge_heeds(judge, 1u << 1 | 1u << 4 | 1u << 7 | 1u << 9);
    if (guest->name == THE_WORLDS) { /* the judge looks away: nothing that he goes by is true */
        judge_heeds(judge, 0);
        world->watches[0] = (struct watch){0};
    }
}

struct removing {
    struct guest *guest;
    struct host *customer;
};

static void job_remove(void *user, const struct job_view *job)
{
    struct removing *removing = user;
    struct message message = {.kind = MESSAGE_CONTROL};

    if (job->state == JOB_DONE || job->state == JOB_REMOVED)
        return;
    memset(&message.u, 0, sizeof message.u);
    message.u.control.job = job->id;
    message.u.control.verb = CONTROL_REMOVE;
    say(removing->guest, removing->guest->place, removing->customer, 0, &message);
}

/* What he has submitted in his own name may wait for ever: he takes it back. He says so of all jobs, and is heard where
 * they are his. His ads are left to expire. */
static void guest_quiet(void *user)
{
    struct guest *guest = user;

    guest->quiet = true;
    for (uint32_t i = guest->parties.customers; i < guest->parties.providers; i++) {
        struct removing removing = {guest, &guest->world->hosts[i]};

        if (removing.customer->role)
            customer_each(removing.customer->role, job_remove, &removing);
    }
}

static void guest_goes(void *user)
{
    struct guest *guest = user;

    gossip_done(&guest->gossip);
    memset(guest->posted, 0, sizeof guest->posted);
    memset(guest->past, 0, sizeof guest->past);
    map_done(&guest->late);
    map_done(&guest->had);
}

/* ------------------------------------------------------------------------------------------- the tests */

/* Every kind in every state; the cells that were not hit are said. In less worlds than usual not all may be. */
static void test_cells(const struct guest *guest, const char *name, bool enough)
{
    for (uint32_t party = 0; party < PARTIES; party++) {
        uint32_t hit = 0, all = 0;
        uint64_t least = UINT64_MAX;

        for (uint32_t kind = 1; kind < MESSAGE_COUNT; kind++)
            for (uint32_t state = 0; state < state_counts[party]; state++) {
                uint64_t count = guest->cells[party][kind][state];

                all++;
                hit += count > 0;
                least = count < least ? count : least;
            }
        tap_ok(hit == all || !enough,
               "%s was told every kind of message in every state, under %s: %u cells of %u, %" PRIu64 " times at least",
               party_words[party], name, hit, all, least);
        for (uint32_t kind = 1; kind < MESSAGE_COUNT && hit < all; kind++)
            for (uint32_t state = 0; state < state_counts[party]; state++)
                if (!guest->cells[party][kind][state])
                    tap_diag("never: %s with %s", message_layout((enum message_kind)kind)->name,
                             state_words[party][state]);
    }
}

static void test_worlds(enum name name, uint64_t seed, uint64_t worlds, const char *words)
{
    struct guest *guest = mem_alloc(sizeof *guest);
    struct sim_guest hooks = {guest, guest_comes, guest_plan, name == HIS_OWN ? guest_quiet : NULL, guest_goes};
    struct buf trace;
    struct sim_settings settings = {.seed = seed,
                                    .worlds = worlds,
                                    .claims = UINT64_MAX,
                                    .faults = true,
                                    .lines = TRACE_LINES,
                                    .trace = &trace,
                                    .guest = &hooks};
    struct sim_report report;
    int broken;

    memset(guest, 0, sizeof *guest);
    guest->name = name;
    buf_init(&trace);
    broken = sim_run(&settings, &report);
    tap_ok(!broken && !guest->wrong,
           "%s: %" PRIu64 " times in %" PRIu64 " worlds with %" PRIu64 " claims and %" PRIu64 " jobs", words,
           guest->said, report.worlds, report.claims, report.jobs);
    tap_ok(guest->wrong || guest->told > guest->said / 2, "%" PRIu64 " messages had one answer each, or none: %" PRIu64,
           guest->told, guest->unanswered);
    if (broken || guest->wrong) {
        tap_diag("seed %" PRIu64 ": invariant %d is broken after %.6f s by %s: %s", report.failed,
                 report.violation.number, (double)report.violation.time / (double)SECOND, report.violation.party,
                 report.violation.words);
        if (guest->wrong)
            tap_diag("%s: %s", guest->where, guest->wrong);
        printf("%s", buf_string(&trace));
    }
    if (name != THE_WORLDS)
        test_cells(guest, name == HIS_OWN ? "a stranger's name" : "another's name", worlds >= WORLDS);
    else
        tap_ok(guest->rows > 0, "%" PRIu64 " rows on disk said something else after a crash", guest->rows);
    buf_done(&trace);
    free(guest);
}

/* A role begins with a pile of rows that nobody wrote: some twice, some that name what is not there. Then time goes by,
 * and anything is said to it. */
static void pile_load(struct guest *guest, const struct role_kind *kind, const void *settings)
{
    struct world *world = guest->world;
    struct host *host = &world->hosts[world_add(world, kind, settings, "somebody", true, kind->name)];
    struct record record = {.kind = RECORD_NONE};

    for (int i = 0; i < FIELD_WORDS; i++)
        gossip_word(&guest->gossip, "boot", host->boot);
    host->role = host->kind->make(host->settings);
    for (uint64_t n = gossip_below(&guest->gossip, 40); n; n--) {
        if (!record.kind || !gossip_one_in(&guest->gossip, 4)) {
            record_done(&record);
            record_make(guest, &record);
            gossip_fields(&guest->gossip, record_layout(record.kind), &record.u);
            gossip_word(&guest->gossip, record.kind == RECORD_SHAPE ? "shape" : "claim", record.key);
        }
        host_event(world, host, &(struct event){.kind = EVENT_LOADED, .record = &record});
    }
    record_done(&record);
    host_event(world, host, &(struct event){.kind = EVENT_BOOTED});
    look(guest, host, NULL);
    for (int n = 0; n < 10 && !guest->wrong; n++) {
        world->broken = NULL;
        for (int64_t until = world->time + SECOND; world_next(world, until);)
            ;
        event_any(guest, host);
        say_anew(guest, host);
    }
}

static void test_piles(uint64_t seed, uint64_t piles)
{
    struct guest *guest = mem_alloc(sizeof *guest);
    struct spans spans = spans_default;
    const char *wrong = NULL;
    uint64_t pile;

    memset(guest, 0, sizeof *guest);
    for (pile = 0; pile < piles && !wrong; pile++) {
        struct world *world = world_new(seed + pile, &spans);
        uint64_t ids[] = {1000, 1001};
        struct matchmaker_settings matchmaker = {.self = 1, .spans = &spans};
        struct customer_settings customer = {.self = 2, .matchmaker = 1, .spans = &spans};
        struct provider_settings provider = {.self = 3, .matchmaker = 1, .spans = &spans, .ids = ids, .count = 2};
        struct judge *judge;

        guest->name = THE_WORLDS;
        judge = judge_new(world, &(struct parties){0, 1, 2, 3, 3});
        guest_comes(guest, world, judge, &(struct parties){0, 1, 2, 3, 3});
        world->watch_count = 0;
        world->host_count = 0; /* he has no host here: the roles have his places */
        guest->place = 0;
        gossip_word(&guest->gossip, "offer", ids[0]);
        gossip_word(&guest->gossip, "offer", ids[1]);
        provider.identity = "owner";
        provider.ads = (struct tree *const[]){guest->gossip.hostile[0], guest->gossip.hostile[4]};
        pile_load(guest, &matchmaker_role, &matchmaker);
        pile_load(guest, &customer_role, &customer);
        pile_load(guest, &provider_role, &provider);
        wrong = guest->wrong;
        guest_goes(guest);
        judge_free(judge);
        world_free(world);
    }
    tap_ok(!wrong, "roles that begin with %" PRIu64 " piles of garbage are in order", pile);
    if (wrong)
        tap_diag("seed %" PRIu64 ", %s: %s", seed + pile - 1, guest->where, wrong);
    free(guest);
}

int main(void)
{
    const char *text = getenv("BERTH_SEED"), *rounds = getenv("BERTH_ROUNDS");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 1, worlds = rounds ? strtoull(rounds, NULL, 10) : WORLDS_HERE;

    test_worlds(HIS_OWN, seed, worlds, "a stranger says anything to anybody, and no invariant breaks");
    test_worlds(OTHERS, seed + 1000, worlds, "names lie, and what a recipient promises by itself holds");
    test_worlds(THE_WORLDS, seed + 2000, worlds, "the world itself tells nonsense, and roles stay in order");
    test_piles(seed, rounds ? 25 * worlds : PILES);
    return tap_done();
}
