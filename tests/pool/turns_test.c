/* turns_test.c: a customer with more requests than the pool takes of it: they are offered by turns. */
#include "office.h"

#define DIFFERENT "[ Type = \"Job\"; Sort = %d; Priority = %d; Constraint = other.Memory >= 64 ]"
#define SHAPES_MAX 128
#define MANY 1200

/* A matchmaker with room for so many ads, and what it has heard. */
struct stall {
    struct office o;
    uint32_t room;
    uint64_t ids[SHAPES_MAX], all[SHAPES_MAX];
    struct tree *ads[SHAPES_MAX]; /* not held */
    uint32_t count, all_count, heard, puts, refusals, withdrawals;
    bool undecided; /* it cannot say yet what becomes of an ad */
};

static uint32_t find(const uint64_t *ids, uint32_t count, uint64_t id)
{
    uint32_t at = 0;

    while (at < count && ids[at] != id)
        at++;
    return at;
}

static void advertised(struct stall *stall, struct sent *sent)
{
    const struct advertise *told = &sent->message.u.advertise;
    struct message reply = {.kind = MESSAGE_ADVERTISED};
    uint32_t at = find(stall->ids, stall->count, told->id);

    reply.u.advertised =
        (struct advertised){.id = told->id, .version = told->version, .reason = REASON_OK, .incarnation = INCARNATION};
    if (stall->undecided) {
        reply.u.advertised = (struct advertised){.reason = REASON_WAIT};
        answer(stall->o.w, sent, &reply);
        return;
    }
    stall->heard++;
    stall->puts += !told->bare;
    if (at == stall->count && (stall->count == stall->room || stall->count == SHAPES_MAX)) {
        reply.u.advertised.reason = REASON_LIMIT;
        stall->refusals++;
    } else if (at == stall->count) {
        stall->ids[stall->count++] = told->id;
        if (find(stall->all, stall->all_count, told->id) == stall->all_count && stall->all_count < SHAPES_MAX)
            stall->all[stall->all_count++] = told->id;
    }
    answer(stall->o.w, sent, &reply);
}

static void withdrawn(struct stall *stall, struct sent *sent)
{
    struct message got = {.kind = MESSAGE_GOT};
    uint32_t at = find(stall->ids, stall->count, sent->message.u.withdraw.id);

    if (at < stall->count)
        stall->ids[at] = stall->ids[--stall->count];
    stall->withdrawals++;
    answer(stall->o.w, sent, &got);
}

/* Time passes, and the matchmaker answers in the order in which it was asked. */
static void stall_pass(struct stall *stall, int64_t span)
{
    struct sent *sent;

    for (int64_t end = stall->o.w->env.now + span; stall->o.w->env.now < end;) {
        pass(stall->o.w, 100 * MILLISECOND);
        for (bool more = true; more;) {
            more = false;
            for (uint32_t i = 0; i < stall->o.w->sent_count && !more; i++) {
                sent = &stall->o.w->sent[i];
                more = sent->message.kind == MESSAGE_ADVERTISE || sent->message.kind == MESSAGE_WITHDRAW;
                if (sent->message.kind == MESSAGE_ADVERTISE)
                    advertised(stall, sent);
                else if (more)
                    withdrawn(stall, sent);
            }
        }
    }
}

static void stall_open(struct stall *stall, uint32_t room)
{
    memset(stall, 0, sizeof *stall);
    office_start(&stall->o);
    stall->o.w->agreeable = false;
    stall->room = room;
}

static uint64_t come(struct stall *stall, const struct peer *peer, int sort, int priority)
{
    char text[200], key[32];

    snprintf(text, sizeof text, DIFFERENT, sort, priority);
    snprintf(key, sizeof key, "key%d", sort);
    return submit_as(&stall->o, peer, peer->identity, key, 1, text).first;
}

static bool is_offered(struct stall *stall, uint64_t job)
{
    return find(stall->ids, stall->count, job_of(&stall->o, job).shape) < stall->count;
}

static uint32_t offered_of(struct stall *stall, uint64_t first, uint64_t last)
{
    uint32_t count = 0;

    for (uint64_t id = first; id <= last; id++)
        count += is_offered(stall, id);
    return count;
}

static void more_than_it_takes(void)
{
    struct job_view view;
    struct stall stall;
    uint64_t urgent, others;
    uint32_t before;

    stall_open(&stall, 16);
    for (int i = 1; i <= 40; i++)
        come(&stall, &raman, i, 0);
    stall_pass(&stall, 10 * SECOND);
    tap_ok(stall.count == 16 && offered_of(&stall, 1, 40) == 16, "the pool has as many requests as it takes");
    tap_ok(offered_of(&stall, 1, 14) == 14, "the first of them before all others");
    view = job_of(&stall.o, 40);
    if (!tap_ok(view.turn_room == 16 && view.turn_waiting == 24 && view.refused == REASON_OK,
                "the jobs of the others say that they wait for their turn"))
        tap_diag("%u %u %d", view.turn_room, view.turn_waiting, (int)view.refused);
    tap_ok(job_of(&stall.o, 1).turn_room == 0, "and those that are offered do not");
    before = stall.puts + stall.refusals + stall.withdrawals;
    stall_pass(&stall, 50 * SECOND);
    tap_ok(stall.puts + stall.refusals + stall.withdrawals == before, "while nothing changes, nothing is sent");
    urgent = come(&stall, &raman, 100, 7);
    stall_pass(&stall, 5 * SECOND);
    tap_ok(is_offered(&stall, urgent) && stall.count == 16, "one with a higher Priority takes the place of the last");
    others = come(&stall, &calvin, 200, 0);
    stall_pass(&stall, 80 * SECOND);
    tap_ok(is_offered(&stall, others), "the first of another user does not wait behind all of the first user's");
    control(&stall.o, &raman, 1, CONTROL_REMOVE);
    control(&stall.o, &raman, 2, CONTROL_REMOVE);
    stall_pass(&stall, 5 * SECOND);
    tap_ok(stall.count == 16 && !is_offered(&stall, 1), "a place that comes free is given to the next");
    stall_pass(&stall, 60 * MINUTE);
    if (!tap_ok(stall.all_count == 42, "in time each has its turn, also behind those that nobody takes"))
        tap_diag("%u of 42 were offered", stall.all_count);
    tap_ok(offered_of(&stall, 3, 12) == 10 && is_offered(&stall, urgent), "and the best stay there");
    stall.room = 100;
    stall_pass(&stall, 120 * MINUTE);
    tap_ok(stall.count == 40 && job_of(&stall.o, 40).turn_room == 0, "a pool that takes more gets all of them");
    world_free(stall.o.w, "more than it takes");
}

/* All requests fall due at the same moment, as when a matchmaker begins anew: who has something else to say does not wait for all of them. */
static void many_at_once(void)
{
    struct stall stall;
    uint32_t before, first;

    stall_open(&stall, SHAPES_MAX);
    for (int i = 1; i <= 120; i++)
        come(&stall, &raman, i, 0);
    stall_pass(&stall, 10 * SECOND);
    before = stall.heard;
    happen(stall.o.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    first = stall.o.w->sent_count;
    if (!tap_ok(stall.count == 120 && first > 0 && first <= 40, "a part of many requests is sent in one step"))
        tap_diag("%u of %u", first, stall.count);
    stall_pass(&stall, 200 * MILLISECOND);
    if (!tap_ok(stall.heard >= before + 120, "and the others right behind it"))
        tap_diag("%u", stall.heard - before);
    world_free(stall.o.w, "many at once");
}

/* A look at very many goes on in parts, and others are served between; what comes of it is the same. */
static void a_long_look(void)
{
    struct event wake = {.kind = EVENT_WAKE};
    struct stall stall;
    uint32_t at_once = 0;
    uint64_t urgent;

    stall_open(&stall, 16);
    for (int i = 1; i <= MANY; i++)
        come(&stall, i % 2 ? &raman : &calvin, i, 0);
    stall_pass(&stall, 20 * SECOND);
    tap_ok(stall.count == 16 && offered_of(&stall, 1, 14) == 14, "of very many, too, the first are offered");
    urgent = come(&stall, &raman, MANY + 1, 7);
    control(&stall.o, &raman, 1, CONTROL_REMOVE); /* that the look has begun already does not matter */
    for (int64_t end = stall.o.w->env.now + 2 * SECOND; stall.o.w->wake <= end;) {
        world_to(stall.o.w, stall.o.w->wake);
        stall.o.w->wake = INT64_MAX;
        hand_over(stall.o.w, &wake);
        at_once += stall.o.w->wake <= stall.o.w->env.now;
    }
    if (!tap_ok(at_once >= 2, "the look at them is no single step"))
        tap_diag("%u", at_once);
    stall_pass(&stall, 5 * SECOND);
    tap_ok(is_offered(&stall, urgent) && stall.count == 16, "and the best of them has a place after it");
    tap_ok(offered_of(&stall, 2, 14) == 13, "as have those that were the best before");
    world_free(stall.o.w, "a long look");
}

static void one_that_is_too_much(void)
{
    struct stall stall;

    stall_open(&stall, 3);
    for (int i = 1; i <= 5; i++)
        come(&stall, &raman, i, 0);
    stall_pass(&stall, 10 * SECOND);
    tap_ok(stall.count == 3 && job_of(&stall.o, 5).refused == REASON_LIMIT,
           "where a pool takes hardly any, those that it refuses say so");
    stall.room = 8;
    stall_pass(&stall, 10 * MINUTE);
    tap_ok(stall.count == 5, "and are tried again after a while");
    world_free(stall.o.w, "one that is too much");
}

/* The database of a matchmaker of before was away for a while. */
static void not_decided(void)
{
    struct stall stall;
    uint64_t job;

    stall_open(&stall, 16);
    stall.undecided = true;
    job = come(&stall, &raman, 1, 0);
    stall_pass(&stall, 60 * SECOND);
    tap_ok(!is_offered(&stall, job) && job_of(&stall.o, job).refused == REASON_OK,
           "a request of which nothing is decided yet is not refused");
    stall.undecided = false;
    stall_pass(&stall, 2 * stall.o.w->spans.deadline);
    tap_ok(is_offered(&stall, job), "it is offered again until it is");
    world_free(stall.o.w, "not decided");
}

static void restarted(void)
{
    struct stall stall;

    stall_open(&stall, 16);
    for (int i = 1; i <= 40; i++)
        come(&stall, &raman, i, 0);
    stall_pass(&stall, 10 * SECOND);
    world_restart(stall.o.w, true, SECOND);
    stall_pass(&stall, 10 * SECOND);
    tap_ok(stall.count == 16 && job_of(&stall.o, 40).turn_room == 16, "after a restart it goes on in the same way");
    world_free(stall.o.w, "restarted");
}

int main(void)
{
    many_at_once();
    a_long_look();
    more_than_it_takes();
    one_that_is_too_much();
    not_decided();
    restarted();
    return tap_done();
}
