/* pulling_test.c: a provider that pulls: whom it asks and when, what it makes of the answer, and whom it lets in. */
#include "agent.h"

#include "match/pair/match.h"
#include "pool/provider/provider.h"

#define OFFER 70
#define OTHER 3 /* another matchmaker */

struct machine {
    struct world *w;
    struct provider_settings settings;
    struct provider_pool pools[2];
    uint64_t ids[1];
    struct tree *ads[1];
};

static void machine_start(struct machine *m, uint32_t pools, const char *access)
{
    *m = (struct machine){.ids = {OFFER}};
    m->w = world_new(&provider_role, &m->settings);
    m->ads[0] =
        ad(m->w, "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" || other.Type == \"Test\" ]");
    m->pools[0] = (struct provider_pool){.matchmaker = MATCHMAKER, .access = access ? ad(m->w, access) : NULL};
    m->pools[1] = (struct provider_pool){.matchmaker = OTHER};
    m->settings = (struct provider_settings){.self = SELF,
                                             .matchmaker = MATCHMAKER,
                                             .spans = &m->w->spans,
                                             .identity = "prof",
                                             .ids = m->ids,
                                             .ads = m->ads,
                                             .count = 1,
                                             .pools = m->pools,
                                             .pool_count = pools};
    world_start(m->w);
}

static const struct pull *asked(struct machine *m, agent to)
{
    struct sent *sent = sent_of(m->w, MESSAGE_PULL);

    return sent && sent->to == to ? &sent->message.u.pull : NULL;
}

static void pulled(struct machine *m, struct pulled told)
{
    struct sent *sent = sent_of(m->w, MESSAGE_PULL);
    struct message message = {.kind = MESSAGE_PULLED};

    if (!sent)
        return;
    told.id = OFFER;
    told.number = told.number ? told.number : sent->message.u.pull.number;
    message.u.pulled = told;
    answer(m->w, sent, &message);
}

struct search {
    uint64_t claim;
    bool found;
    enum tenant_state state;
};

static void tenant_look(void *user, const struct tenant_view *tenant)
{
    struct search *search = user;

    if (tenant->claim != search->claim)
        return;
    search->found = true;
    search->state = tenant->state;
}

static struct search look(struct machine *m, uint64_t claim)
{
    struct search search = {.claim = claim};

    provider_each(m->w->role, tenant_look, &search);
    return search;
}

/* A customer that was matched by a pull of that key proves its ticket. */
static enum reason verify(struct machine *m, const struct key *key, uint64_t claim, const char *text)
{
    struct peer peer = {.agent = 50, .identity = "agent", .any = true, .channel = 500};
    struct message message = {.kind = MESSAGE_VERIFY};
    struct key ticket;

    message.u.verify = (struct verify){.gang = claim + 1000, .claim = claim, .offer = OFFER, .ad = ad(m->w, text)};
    if (say(m->w, &peer, &message)->u.verified.reason != REASON_CHALLENGE)
        return reply(m->w)->u.verified.reason;
    message.u.verify.proves = true;
    ticket_make(&m->w->secrets, key, OFFER, claim, claim + 1000, "raman", &ticket);
    ticket_proof(&m->w->secrets, &ticket, true, &reply(m->w)->u.verified.nonce, &message.u.verify.nonce, 500,
                 &message.u.verify.proof);
    return say(m->w, &peer, &message)->u.verified.reason;
}

static struct pulled match_of(struct machine *m, uint64_t claim, const char *text)
{
    return (struct pulled){.incarnation = INCARNATION,
                           .window = m->w->spans.window,
                           .gang = claim + 1000,
                           .claim = claim,
                           .superior = 50,
                           .superior_ad = ad(m->w, text)};
}

#define JOB "[ Type = \"Job\"; Owner = \"raman\" ]"
#define GROUP "[ Type = \"Job\"; Owner = \"raman\"; Group = \"hep\" ]"

static void test_one_pool(void)
{
    const struct pull *pull;
    struct machine m;
    struct key key;
    uint64_t number;

    machine_start(&m, 1, NULL);
    pull = asked(&m, MATCHMAKER);
    tap_ok(pull && pull->id == OFFER && pull->ad && sent_count(m.w, MESSAGE_ADVERTISE) == 0,
           "a provider that pulls asks, and advertises nothing");
    number = pull ? pull->number : 0;
    key = pull ? pull->key : (struct key){{0}};
    answer(m.w, sent_of(m.w, MESSAGE_PULL), NULL);
    pass_to(m.w, MESSAGE_PULL, 2 * SECOND);
    pull = asked(&m, MATCHMAKER);
    tap_ok(pull && pull->number == number, "what is not answered is asked again under the same number");
    pulled(&m, (struct pulled){.reason = REASON_WAIT, .span = 3 * SECOND});
    pass(m.w, 2 * SECOND);
    tap_ok(!asked(&m, MATCHMAKER), "who is told to wait waits");
    pass(m.w, 2 * SECOND);
    pull = asked(&m, MATCHMAKER);
    tap_ok(pull && pull->number > number, "and then it is another pull");
    pulled(&m, match_of(&m, 7, JOB));
    tap_ok(look(&m, 7).found && look(&m, 7).state == TENANT_MATCHED,
           "a request that was found is a match as any other");
    tap_ok(!asked(&m, MATCHMAKER), "while nothing is left it does not ask");
    tap_ok(verify(&m, &key, 7, JOB) == REASON_OK, "and its customer claims it with a ticket of the pull's key");
    pass(m.w, m.w->spans.window + SECOND);
    tap_ok(!look(&m, 7).found && asked(&m, MATCHMAKER), "when nothing came of it, it asks again");
    number = asked(&m, MATCHMAKER) ? asked(&m, MATCHMAKER)->number : 0;
    pulled(&m, (struct pulled){.reason = REASON_STALE, .number = number + 100});
    pull = asked(&m, MATCHMAKER);
    tap_ok(pull && pull->number == number + 101, "whoever knows a later pull is believed");
    world_free(m.w, "one pool");
}

static void test_two_pools(void)
{
    const struct pull *pull;
    struct machine m;
    struct key key, others;

    machine_start(&m, 2, "[ Constraint = other.Group == \"hep\" ]");
    pull = asked(&m, MATCHMAKER);
    tap_ok(pull && sent_count(m.w, MESSAGE_PULL) == 1, "of two pools the first is asked, and one at a time");
    tap_ok(pull && match_accepts(&(struct env){0}, m.w->env.scratch, pull->ad, ad(m.w, GROUP)) &&
               !match_accepts(&(struct env){0}, m.w->env.scratch, pull->ad, ad(m.w, JOB)) &&
               !match_accepts(&(struct env){0}, m.w->env.scratch, pull->ad,
                              ad(m.w, "[ Type = \"Nothing\"; Group = \"hep\" ]")),
           "what it pulls with has both constraints, its own and the pool's");
    key = pull ? pull->key : (struct key){{0}};
    pulled(&m, (struct pulled){.reason = REASON_WAIT, .span = 20 * SECOND});
    pull = asked(&m, OTHER);
    tap_ok(pull && match_accepts(&(struct env){0}, m.w->env.scratch, pull->ad, ad(m.w, JOB)),
           "when that has nothing the next is asked at once, which lets in everybody");
    others = pull ? pull->key : (struct key){{0}};
    pulled(&m, (struct pulled){.reason = REASON_WAIT, .span = 2 * SECOND});
    pass(m.w, 3 * SECOND);
    tap_ok(asked(&m, OTHER), "each is asked again when it said so");
    pulled(&m, match_of(&m, 8, JOB));
    tap_ok(verify(&m, &key, 8, JOB) == REASON_TICKET, "a ticket of one pool's key is none for a claim of another");
    tap_ok(verify(&m, &others, 8, JOB) == REASON_OK, "who comes from the pool for all is let in");
    pass(m.w, 2 * m.w->spans.window);
    pulled(&m, (struct pulled){.reason = REASON_WAIT, .span = 9 * SECOND});
    pulled(&m, (struct pulled){.reason = REASON_WAIT, .span = 9 * SECOND});
    pass(m.w, 10 * SECOND);
    tap_ok(asked(&m, MATCHMAKER), "then the first comes first again");
    pulled(&m, match_of(&m, 9, JOB));
    tap_ok(verify(&m, &key, 9, JOB) == REASON_CONSTRAINT,
           "who is not of the group is refused at verification, whatever the group's matchmaker thought");
    tap_ok(verify(&m, &key, 9, GROUP) == REASON_OK, "who is, is let in");
    world_free(m.w, "two pools");
}

/* A customer may be quicker than the answer to the pull: then the ticket tells from which pool it is. */
static void test_tickets(void)
{
    struct message message = {.kind = MESSAGE_COMMIT};
    struct peer peer = {.agent = 50, .identity = "agent", .any = true, .channel = 500};
    const struct record *row;
    struct key key, others;
    struct machine m;

    machine_start(&m, 2, "[ Constraint = other.Group == \"hep\" ]");
    key = asked(&m, MATCHMAKER) ? asked(&m, MATCHMAKER)->key : (struct key){{0}};
    pulled(&m, (struct pulled){.reason = REASON_WAIT, .span = 20 * SECOND});
    others = asked(&m, OTHER) ? asked(&m, OTHER)->key : (struct key){{0}};
    tap_ok(!key_equal(&key, &others), "each pool is given a key of its own");
    tap_ok(verify(&m, &key, 30, JOB) == REASON_CONSTRAINT,
           "one with a ticket of the group's key must be of the group, whatever other pools say");
    tap_ok(verify(&m, &others, 31, JOB) == REASON_OK, "one with a ticket of the other key need not");
    message.u.commit = (struct commit){.claim = 31, .epoch = 1, .sequence = 1, .collect = SECOND};
    tap_ok(say(m.w, &peer, &message)->u.claimed.reason == REASON_OK, "it is pinned");
    row = row_of(m.w, RECORD_TENANT, 31);
    tap_ok(row && row->u.tenant_record.pool == OTHER, "and its pool is recorded");
    world_restart(m.w, true, SECOND);
    message = (struct message){.kind = MESSAGE_ACTIVATE};
    message.u.activate = (struct activate){.claim = 31, .epoch = 1, .sequence = 2};
    tap_ok(say(m.w, &peer, &message)->u.claimed.reason == REASON_OK, "after a restart it goes on");
    message = (struct message){.kind = MESSAGE_RELEASE};
    message.u.release = (struct release){.claim = 31, .epoch = 1, .sequence = 3};
    m.w->agreeable = false; /* so that what it says is looked at before it is answered */
    say(m.w, &peer, &message);
    tap_ok(sent_of(m.w, MESSAGE_REPORT) && sent_of(m.w, MESSAGE_REPORT)->to == OTHER,
           "and what it used is told to its own pool");
    world_free(m.w, "tickets");
}

/* What one pool's matchmaker says of a claim that came from another changes nothing. */
static void test_foreign_match(void)
{
    struct pulled told;
    struct key others;
    struct machine m;

    machine_start(&m, 2, "[ Constraint = other.Group == \"hep\" ]");
    pulled(&m, (struct pulled){.reason = REASON_WAIT, .span = 2 * SECOND});
    others = asked(&m, OTHER) ? asked(&m, OTHER)->key : (struct key){{0}};
    pulled(&m, match_of(&m, 40, JOB));
    pass(m.w, 3 * SECOND);
    told = match_of(&m, 40, GROUP);
    told.superior = 51;
    pulled(&m, told);
    tap_ok(verify(&m, &others, 40, JOB) == REASON_OK, "a claim stays with the pool that it came from");
    world_free(m.w, "a foreign match");
}

int main(void)
{
    test_one_pool();
    test_two_pools();
    test_tickets();
    test_foreign_match();
    return tap_done();
}
