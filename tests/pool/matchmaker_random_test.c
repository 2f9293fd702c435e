/* matchmaker_random_test.c: the matchmaker's books balance whatever is said, and whatever crosses what. */
#include "matchmaker_world.h"

/* ------------------------------------------------------------------------------------------------------- everything */

static void others_are_refused(void)
{
    struct pool *pool = pool_new();
    bool right = true;

    for (int kind = -1; kind <= MESSAGE_COUNT; kind++) {
        struct message message;
        enum message_kind answer;

        memset(&message, 0, sizeof message);
        message.kind = (enum message_kind)kind;
        answer = message_answer(message.kind);
        say_as(pool, peer_of(5), &message);
        if (pool->answer.kind != answer)
            right = false;
        if (answer == MESSAGE_CLAIMED && pool->answer.u.claimed.reason != REASON_INVALID)
            right = false;
        if (answer == MESSAGE_VERIFIED && pool->answer.u.verified.reason != REASON_INVALID)
            right = false;
        say_as(pool, NULL, &message);
        right = right && pool->answer.kind == answer;
    }
    tap_ok(right, "a message that is not for a matchmaker is refused with an answer of its kind");
    pool_free(pool, "other messages");
}

/* An offer's side of the ledger, as an honest agent would keep it, under random crossing: what the matchmaker has free
 * is never more than what the agent has, once it has heard everything. */
static void random_ledgers_balance(void)
{
    static const char *const texts[] = {MACHINE,
                                        SHARED,
                                        JOB,
                                        JOBS(3),
                                        JOBS(0),
                                        LONELY,
                                        "[ Count = -1 ]",
                                        "[]",
                                        "[ Type = \"Job\"; Residual = [ Cpus = 1 ] ]",
                                        "[ Lifetime = 1 ]",
                                        "[ Constraint = time() % 3 == 0; Type = \"Machine\" ]",
                                        NULL};
    struct pool *pool = pool_new();
    struct rng rng;
    uint64_t rounds = lang_rounds(20000), made;

    rng_init(&rng, lang_setting("BERTH_SEED", 1));
    for (uint64_t i = 0; i < rounds && !pool->fault; i++) {
        agent who = 2 + rng_below(&rng, 6);
        struct put ad = {.from = who, .id = rng_below(&rng, 4), .version = i / 100 + rng_below(&rng, 3)};

        ad.request = rng_below(&rng, 2);
        ad.bare = rng_below(&rng, 3) == 0;
        ad.seen =
            rng_below(&rng, 4) ? look(pool, who, ad.id).seen : seen_of(pool, rng_below(&rng, 9), rng_below(&rng, 8));
        switch (rng_below(&rng, 12)) {
        case 0:
            withdraw(pool, who, ad.id, ad.version);
            break;
        case 1:
            report(pool, who, 1 + rng_below(&rng, 9), rng_below(&rng, 2) ? "alice" : "",
                   (int64_t)rng_below(&rng, 99) - 9, rng_below(&rng, 4) == 0);
            break;
        case 2:
            pass(pool, (int64_t)rng_below(&rng, 40) * SECOND);
            break;
        case 3:
        case 4:
            if (pool->sent_count)
                answer_sent(pool, &pool->sent[rng_below(&rng, pool->sent_count)], rng_below(&rng, 3));
            break;
        case 5:
        case 6:
            pass(pool, CYCLE);
            break;
        default:
            put(pool, ad, texts[rng_below(&rng, sizeof texts / sizeof *texts)]);
        }
    }
    made = matches(pool);
    tap_ok(made > rounds / 200, "random advertising makes matches (%llu)", (unsigned long long)made);
    pass(pool, 3 * 24 * 60 * MINUTE);
    tap_ok(pool->wake == INT64_MAX || pool->wake > pool->env.now, "and comes to rest");
    pool_free(pool, "random advertising");
}

/* -------------------------------------------------------------------------------------------------- honest advertisers
 *
 * A customer with UNITS units, as an honest agent keeps it, and a network that delays what it carries up to the
 * deadline, drops and doubles it. What the matchmaker may still give away is never more than what the customer has,
 * less the matches that it may still hear of. */

#define UNITS 4
#define FLYING 16

struct text_on_way {
    int64_t at; /* it arrives; 0: there is none */
    struct put put;
    int64_t count;
};

struct note_on_way {
    int64_t at, age;
    uint64_t number, incarnation;
};

struct honest {
    struct pool *pool;
    struct rng rng;
    int64_t free;
    struct seen seen, text_seen; /* now, and in the text sent last */
    int64_t text_free, clock;    /* the latter as the matchmaker last told */
    uint64_t version;
    bool answered; /* that text is known to have arrived */
    struct text_on_way texts[FLYING];
    struct note_on_way notes[FLYING];
    uint64_t heard, doubled, ended;
};

static int64_t flight(struct honest *honest)
{
    int64_t deadline = honest->pool->spans.deadline;

    return 1 + (rng_below(&honest->rng, 2) ? (int64_t)rng_below(&honest->rng, (uint64_t)(10 * MILLISECOND))
                                           : (int64_t)rng_below(&honest->rng, (uint64_t)(deadline - SECOND)));
}

static void honest_send(struct honest *honest)
{
    bool moved = honest->free != honest->text_free || !seen_equal(&honest->seen, &honest->text_seen);
    struct put put = {.from = 2, .id = 1, .request = true};

    if (moved || !honest->answered) {
        if (moved)
            honest->version++;
        honest->text_free = honest->free;
        honest->text_seen = honest->seen;
        honest->answered = false;
    } else {
        put.bare = true;
    }
    put.version = honest->version;
    put.seen = honest->text_seen;
    put.heard = honest->clock;
    for (int copies = rng_below(&honest->rng, 5) ? 1 : (int)rng_below(&honest->rng, 3), i = 0; i < FLYING && copies;
         i++)
        if (!honest->texts[i].at) {
            honest->texts[i] = (struct text_on_way){honest->pool->env.now + flight(honest), put, honest->text_free};
            copies--;
        }
}

static void honest_text_arrives(struct honest *honest, struct text_on_way *text)
{
    struct advertised answer;
    char ad[120];

    snprintf(ad, sizeof ad, "[ Type = \"Job\"; Cpus = 1; Count = %d; Constraint = other.Type == \"Machine\" ]",
             (int)text->count);
    answer = put(honest->pool, text->put, text->put.bare ? NULL : ad);
    text->at = 0;
    if (rng_below(&honest->rng, 4) == 0)
        return; /* the answer is lost */
    if (text->put.version == honest->version && (answer.reason == REASON_OK || answer.reason == REASON_CONSUMED))
        honest->answered = true;
    if (answer.reason == REASON_BODY)
        honest->answered = false;
    honest->clock = answer.clock;
    if (answer.incarnation == honest->seen.incarnation)
        seen_settle(&honest->seen, answer.incarnation, answer.settled);
    else
        honest->seen = (struct seen){answer.incarnation, answer.settled, 0};
}

/* The network takes what was sent, and tells nobody whether it arrives. */
static void honest_carry(struct honest *honest)
{
    struct pool *pool = honest->pool;

    while (pool->sent_count) {
        struct match_told told = pool->sent[0].message.u.match_told;
        bool mine = pool->sent[0].to == 2, heard = false;

        for (int i = 0; i < FLYING && mine && rng_below(&honest->rng, 3); i++)
            if (!honest->notes[i].at) {
                honest->notes[i] =
                    (struct note_on_way){pool->env.now + flight(honest), told.age, told.number, told.incarnation};
                heard = rng_below(&honest->rng, 2);
                break;
            }
        answer_sent(pool, &pool->sent[0], !mine || heard);
    }
}

static void honest_note_arrives(struct honest *honest, struct note_on_way *note)
{
    bool late = note->age > honest->pool->spans.window;

    note->at = 0;
    if (late || !seen_add(&honest->seen, note->incarnation, note->number))
        return;
    honest->heard++;
    if (honest->free > 0)
        honest->free--;
    else
        honest->doubled++;
}

static void honest_step(struct honest *honest)
{
    struct pool *pool = honest->pool;

    for (int i = 0; i < FLYING; i++) {
        if (honest->texts[i].at && honest->texts[i].at <= pool->env.now)
            honest_text_arrives(honest, &honest->texts[i]);
        if (honest->notes[i].at && honest->notes[i].at <= pool->env.now)
            honest_note_arrives(honest, &honest->notes[i]);
    }
    if (rng_below(&honest->rng, 12) == 0)
        honest_send(honest);
    if (honest->free < UNITS && rng_below(&honest->rng, 25) == 0) { /* a job has ended, or a claim failed */
        honest->free++;
        honest->ended++;
    }
    if (rng_below(&honest->rng, 15) == 0)
        put(pool, (struct put){.from = 10 + rng_below(&honest->rng, 8), .id = rng_next(&honest->rng), .version = 1},
            "[ Type = \"Machine\"; Cpus = 8; Lifetime = 5 ]");
    pass(pool, (int64_t)rng_below(&honest->rng, 200) * MILLISECOND);
    honest_carry(honest);
}

static void honest_advertisers_balance(void)
{
    uint64_t seeds = lang_rounds(20000) / 2000, heard = 0, doubled = 0, lost = 0;
    struct honest *honest = calloc(1, sizeof *honest);

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct pool *pool = pool_new();

        *honest = (struct honest){.pool = pool, .free = UNITS, .version = 1};
        rng_init(&honest->rng, seed * 1000 + lang_setting("BERTH_SEED", 1));
        for (int i = 0; i < 4000; i++)
            honest_step(honest);
        for (int i = 0; i < 1000; i++) { /* no more machines, no more faults: all is told and settled */
            honest_carry(honest);
            for (int k = 0; k < FLYING; k++)
                if (honest->texts[k].at && honest->texts[k].at <= pool->env.now)
                    honest_text_arrives(honest, &honest->texts[k]);
                else if (honest->notes[k].at && honest->notes[k].at <= pool->env.now)
                    honest_note_arrives(honest, &honest->notes[k]);
            if (i % 5 == 0)
                honest_send(honest);
            pass(pool, 200 * MILLISECOND);
        }
        heard += honest->heard;
        doubled += honest->doubled;
        lost += look(pool, 2, 1).free != honest->free;
        if (pool->fault)
            break;
        pool->fault = NULL;
        if (seed == seeds)
            pool_free(pool, "honest advertisers");
        else
            pool_drop(pool);
    }
    tap_ok(heard > 50 * seeds && doubled == 0, "of %llu matches under way with crossing texts no unit was given twice",
           (unsigned long long)heard);
    tap_ok(lost == 0, "and when all is quiet none is lost");
    if (doubled || lost)
        tap_diag("%llu doubled, %llu of %llu pools with a wrong count", (unsigned long long)doubled,
                 (unsigned long long)lost, (unsigned long long)seeds);
    free(honest);
}

/* Every field of every message gets any value at all. */
static void fields_scramble(struct pool *pool, struct rng *rng, const struct layout *layout, void *structure)
{
    static const uint64_t words[] = {0, 1, 2, 3, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT64_C(1) << 62};
    static const char *const texts[] = {MACHINE, SHARED, JOBS(2), "[]", "3", "{ [] }", "[ Owner = 1 ]"};

    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];
        char *at = (char *)structure + field->at;
        uint64_t word = rng_below(rng, 3) ? words[rng_below(rng, 8)] : rng_next(rng);
        bool flag = word & 1;

        switch (field->sort) {
        case FIELD_NUMBER:
        case FIELD_WORD:
            memcpy(at, &word, sizeof word);
            break;
        case FIELD_FLAG:
            memcpy(at, &flag, sizeof flag);
            break;
        case FIELD_REASON:
            break;
        case FIELD_TEXT:
            memset(at, rng_below(rng, 2) ? 'x' : (int)(rng_next(rng) & 255), sizeof(struct text));
            break;
        case FIELD_KEY:
            memset(at, 1, sizeof(struct key));
            break;
        case FIELD_SEEN:
            *(struct seen *)(void *)at = (struct seen){rng_below(rng, 2) ? word : matchmaker_incarnation(pool->role),
                                                       words[rng_below(rng, 8)], rng_next(rng)};
            break;
        case FIELD_AD:
            if (rng_below(rng, 4)) {
                const char *text = texts[rng_below(rng, 7)];

                *(struct tree **)(void *)at = lang_expr(&pool->lang, &dialect_classic, text, strlen(text), NULL);
            }
            break;
        case FIELD_EDGES:
            if (rng_below(rng, 2))
                *(struct edges **)(void *)at = edges_new(2);
            break;
        }
    }
}

static void anything_may_be_said(void)
{
    uint64_t rounds = lang_rounds(20000), refused = 0;
    struct pool *pool = pool_new();
    struct rng rng;

    rng_init(&rng, lang_setting("BERTH_SEED", 1));
    for (uint64_t i = 0; i < rounds && !pool->fault; i++) {
        static const enum message_kind likely[] = {MESSAGE_ADVERTISE, MESSAGE_ADVERTISE, MESSAGE_WITHDRAW,
                                                   MESSAGE_REPORT};
        struct peer peer = *peer_of(rng_below(&rng, 8));
        struct message message;
        struct event event = {.kind = rng_below(&rng, 5) ? EVENT_MESSAGE : EVENT_ANSWER,
                              .token = rng_below(&rng, 2) ? rng_next(&rng) : rng_below(&rng, 100),
                              .tag = MESSAGE_MATCH,
                              .peer = rng_below(&rng, 50) ? &peer : NULL,
                              .message = rng_below(&rng, 50) ? &message : NULL,
                              .answer = rng_below(&rng, 2) ? ANSWER_GOT : ANSWER_UNKNOWN};

        memset(&message, 0, sizeof message);
        message.kind =
            rng_below(&rng, 3) ? likely[rng_below(&rng, 4)] : (enum message_kind)rng_below(&rng, MESSAGE_COUNT);
        fields_scramble(pool, &rng, message_layout(message.kind), &message.u);
        if (rng_below(&rng, 30) == 0)
            peer.identity = NULL;
        hand_over(pool, &event);
        refused += pool->answer.kind == MESSAGE_ADVERTISED && pool->answer.u.advertised.reason == REASON_INVALID;
        message_done(&message);
        if (rng_below(&rng, 20) == 0)
            pass(pool, (int64_t)rng_below(&rng, 60) * SECOND);
        if (pool->sent_count > 1000)
            sent_drop_all(pool);
    }
    tap_ok(refused > rounds / 100, "whatever is said, the matchmaker goes on");
    pool_free(pool, "anything");
}

int main(void)
{
    others_are_refused();
    random_ledgers_balance();
    honest_advertisers_balance();
    anything_may_be_said();
    return tap_done();
}
