/* verdict_test.c: what the judge says of events that are made up: no role runs, the judge alone is shown what became durable and what was
 * launched. */
#include "common/tap.h"
#include "lang/text/parse.h"
#include "pool/customer/customer.h"
#include "sim/judge.h"

#include <stdlib.h>

#define CUSTOMER 1 /* places of hosts */
#define FIRST 2
#define SECOND_HOST 3
#define HOSTS 5
#define JOB 51
#define LEADER 0xc1
#define HELPER 0xc2
#define OTHER 0xd1 /* of another gang */
#define GANG 0x91
#define OTHER_GANG 0x92

struct court {
    struct spans spans;
    struct world *world;
    struct judge *judge;
    struct tree *machine;
};

static const struct watch *watch_of(const struct court *court)
{
    return &court->world->watches[0];
}

static void court_tells(struct court *court, uint64_t gang, const uint64_t *claims, uint32_t count, uint32_t place)
{
    struct effect effect = {.kind = EFFECT_SEND, .to = CUSTOMER + 1, .message = {.kind = MESSAGE_MATCH}};
    struct edges *edges = edges_new(count);

    for (uint32_t i = 0; i < count; i++)
        edges->items[i] = (struct edge){
            .claim = claims[i], .agent = place + i + 1, .offer = 1, .port = i, .ad = tree_ref(court->machine)};
    effect.message.u.match_told = (struct match_told){.id = 7, .gang = gang, .edges = edges};
    watch_of(court)->sent(watch_of(court)->user, &court->world->hosts[0], &effect);
    message_done(&effect.message);
}

static void court_writes(struct court *court, uint32_t place, const struct record *record)
{
    watch_of(court)->durable(watch_of(court)->user, &court->world->hosts[place], record);
}

/* The customer has decided; the member has cleared the way, and has the job in its row. */
static void court_member(struct court *court, uint64_t gang, uint64_t claim, uint32_t place, uint64_t number)
{
    struct record branch = {.kind = RECORD_BRANCH, .key = claim}, tenant = {.kind = RECORD_TENANT, .key = claim};

    branch.u.branch_record = (struct branch_record){.gang = gang, .agent = place + 1, .offer = 1, .epoch = 1};
    court_writes(court, CUSTOMER, &branch);
    tenant.u.tenant_record = (struct tenant_record){.offer = 1,
                                                    .gang = gang,
                                                    .superior = CUSTOMER + 1,
                                                    .epoch = 1,
                                                    .sequence = 2 + number,
                                                    .active = true,
                                                    .number = number,
                                                    .job = number ? JOB : 0};
    court_writes(court, place, &tenant);
}

static void court_job(struct court *court, uint64_t state, uint64_t gang, uint64_t number)
{
    struct record job = {.kind = RECORD_JOB, .key = JOB};

    job.u.job_record = (struct job_record){.state = state, .gang = gang, .number = number};
    court_writes(court, CUSTOMER, &job);
}

static void court_launches(struct court *court, uint64_t claim, uint32_t place, uint64_t number)
{
    struct process process = {.next = NOBODY,
                              .host = place,
                              .claim = claim,
                              .number = number,
                              .job = JOB,
                              .told_job = JOB,
                              .natural = INT64_MAX};

    watch_of(court)->launched(watch_of(court)->user, &court->world->hosts[place], &process);
}

/* A job of a gang of two: its leader has run it, and that it is done is durable. */
static struct court *court_new(void)
{
    static const uint64_t claims[] = {LEADER, HELPER}, other[] = {OTHER};
    static const char ad[] = "[ Type = \"Machine\" ]";
    struct court *court = calloc(1, sizeof *court);
    struct build build;
    struct err err = {0};

    court->spans = (struct spans){.window = SECOND, .pin = 4 * SECOND, .lease = 8 * SECOND};
    court->world = world_new(1, &court->spans);
    for (uint32_t i = 0; i < HOSTS; i++)
        world_add(court->world, NULL, NULL, "somebody", true, "host");
    build_init(&build, court->world->symbols, &dialect_classic);
    court->machine = parse_ad(&build, NULL, ad, sizeof ad - 1, &err);
    build_done(&build);
    court->judge = judge_new(
        court->world, &(struct parties){.customers = CUSTOMER, .providers = FIRST, .users = HOSTS, .end = HOSTS});
    court_tells(court, GANG, claims, 2, FIRST);
    court_tells(court, OTHER_GANG, other, 1, SECOND_HOST + 1);
    court_member(court, GANG, LEADER, FIRST, 1);
    court_member(court, GANG, HELPER, SECOND_HOST, 0);
    court_job(court, JOB_RUNNING, GANG, 1);
    court_launches(court, LEADER, FIRST, 1);
    court_job(court, JOB_DONE, GANG, 1);
    return court;
}

/* 0, or the number of the invariant that is broken, by a job that is launched although it is done. */
static int court_free(struct court *court, bool done)
{
    struct violation violation = *judge_violation(court->judge);

    judge_free(court->judge);
    tree_unref(court->machine);
    world_free(court->world);
    free(court);
    if (violation.number)
        tap_diag("%d: %s", violation.number, violation.words);
    return violation.number && !strcmp(violation.words, "a job is launched that is done") != done ? -1
                                                                                                  : violation.number;
}

int main(void)
{
    struct court *court = court_new();

    court_member(court, GANG, HELPER, SECOND_HOST, 1);
    court_launches(court, HELPER, SECOND_HOST, 1);
    tap_ok(court_free(court, false) == 0,
           "a member that hears START only after the leader has ended may begin: nobody could tell it");

    court = court_new();
    court_member(court, GANG, HELPER, SECOND_HOST, 2);
    court_launches(court, HELPER, SECOND_HOST, 2);
    tap_ok(court_free(court, true) == 3, "a job that is done is not begun by a member under another number");

    court = court_new();
    court_member(court, GANG, LEADER, FIRST, 2);
    court_launches(court, LEADER, FIRST, 2);
    tap_ok(court_free(court, true) == 3, "nor by the leader once more");

    court = court_new();
    court_member(court, OTHER_GANG, OTHER, SECOND_HOST + 1, 1);
    court_launches(court, OTHER, SECOND_HOST + 1, 1);
    tap_ok(court_free(court, true) == 3, "nor by another gang");
    return tap_done();
}
