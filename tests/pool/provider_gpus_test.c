/* provider_gpus_test.c: a machine gives its GPUs to claims one by one, and none twice, whoever asks, whatever its policy says, and over restarts. */
#include "suitor.h"

#define GPUS                                                                                                        \
    "GpuCount = 3; Gpus = { [ Uuid = \"A\"; Memory = 80 ], [ Uuid = \"B\"; Memory = 40 ], [ Name = \"picture\" ], " \
    "[ Uuid = \"C\"; Memory = 40 ] }; "
#define WITH                                                                                                    \
    "[ Type = \"Machine\"; Memory = 1000; " GPUS "Constraint = GpuCount > 0 && other.RequestGpus <= GpuCount; " \
    "Residual = [ GpuCount = GpuCount - other.RequestGpus ] ]"
/* An owner who has forgotten them in his policy. */
#define CARELESS "[ Type = \"Machine\"; Memory = 1000; " GPUS "Constraint = true; Residual = [ Memory = Memory - 1 ] ]"

static struct suitor asks(struct machine *m, uint64_t claim, const char *what)
{
    struct suitor s = suitor_new(m, claim, "raman");
    char text[300];

    snprintf(text, sizeof text, "[ Type = \"Job\"; Owner = \"raman\"; %s ]", what);
    s.ad = ad(m->w, text);
    return s;
}

static bool has(struct machine *m, uint64_t claim, const char *list)
{
    struct search found = look(m, claim);
    char text[200];

    snprintf(text, sizeof text, "join(\",\", AssignedGpus) == \"%s\"", list);
    if (!found.found || !found.view.gpus)
        return found.found && !*list;
    return ad_says(m->w, found.view.gpus, text);
}

static bool launched(struct machine *m, uint64_t claim, const char *expr)
{
    struct search found = look(m, claim);

    return found.found && found.view.running && ad_says(m->w, found.view.duty.ad, expr);
}

static void one_by_one(void)
{
    struct machine m;
    struct suitor s[5];

    machine_start(&m, WITH);
    s[0] = asks(&m, 1, "RequestGpus = 1");
    come_to_run(&m, &s[0], 100);
    tap_ok(has(&m, 1, "A"), "a claim gets the first that is free");
    tap_ok(launched(&m, 1, "AssignedGpus[0] == \"A\" && size(AssignedGpus) == 1"), "and its job is told which");
    tap_ok(advertises(&m, "GpuCount == 2 && size(Gpus) == 3 && Gpus[0].Uuid == \"B\""), "the others are offered");
    s[1] = asks(&m, 2, "RequestGpus = 1; RequireGpus = Memory >= 60");
    tap_ok(verify(&m, &s[1]) == REASON_CONSTRAINT, "who wants one that another has is refused");
    s[2] = asks(&m, 3, "RequestGpus = 1; RequireGpus = Memory < 60 && Uuid != \"B\"");
    come_to_run(&m, &s[2], 101);
    tap_ok(has(&m, 3, "C"), "who wants a certain one gets that");
    s[3] = asks(&m, 4, "RequestGpus = 0; AssignedGpus = { \"B\" }");
    come_to_run(&m, &s[3], 102);
    tap_ok(has(&m, 4, "") && launched(&m, 4, "AssignedGpus is undefined"),
           "who asks for none has none, whatever its ad says");
    world_restart(m.w, true, SECOND);
    probe(&m, AWAY);
    tap_ok(has(&m, 1, "A") && has(&m, 3, "C"), "after a restart each has what it had");
    s[4] = asks(&m, 5, "RequestGpus = 2");
    tap_ok(verify(&m, &s[4]) == REASON_CONSTRAINT, "and no other gets it");
    say_release(&m, &s[0]);
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    s[4] = asks(&m, 6, "RequestGpus = 2");
    come_to(&m, &s[4], TENANT_PINNED);
    tap_ok(has(&m, 6, "A,B"), "what is released is free again");
    world_free(m.w, "one by one");
}

static void careless(void)
{
    struct machine m;
    struct suitor s[3];

    machine_start(&m, CARELESS);
    s[0] = asks(&m, 1, "RequestGpus = 2");
    s[1] = asks(&m, 2, "RequestGpus = 2");
    s[2] = asks(&m, 3, "RequestGpus = 1");
    tap_ok(verify(&m, &s[0]) == REASON_OK && verify(&m, &s[2]) == REASON_OK,
           "two are let in before either has committed");
    tap_ok(say_commit(&m, &s[0]) == REASON_OK && has(&m, 1, "A,B"), "the first has two");
    tap_ok(say_commit(&m, &s[2]) == REASON_OK && has(&m, 3, "C"), "the second has the third");
    tap_ok(verify(&m, &s[1]) == REASON_CONSTRAINT,
           "and nobody gets more than there are, though the policy does not look");
    world_free(m.w, "careless");

    machine_start(&m, CARELESS);
    s[0] = asks(&m, 1, "RequestGpus = 2");
    s[1] = asks(&m, 2, "RequestGpus = 2");
    verify(&m, &s[0]);
    verify(&m, &s[1]);
    say_commit(&m, &s[0]);
    tap_ok(say_commit(&m, &s[1]) != REASON_OK && has(&m, 1, "A,B"),
           "of two who were let in for the same ones, the second is refused");
    world_free(m.w, "careless, at once");

    machine_start(&m, CARELESS);
    s[0] = asks(&m, 1, "RequestGpus = 0.5");
    tap_ok(verify(&m, &s[0]) == REASON_CONSTRAINT, "half a GPU is none");
    world_free(m.w, "careless, halves");
}

static void again(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, WITH);
    s = asks(&m, 1, "RequestGpus = 1; RequireGpus = Memory == 40");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_activate(&m, &s, s.ad) == REASON_OK && say_start(&m, &s, 2, 101) == REASON_OK && has(&m, 1, "B") &&
               launched(&m, 1, "AssignedGpus[0] == \"B\""),
           "the next job of a claim has the same one");
    world_free(m.w, "again");
}

int main(void)
{
    one_by_one();
    careless();
    again();
    return tap_done();
}
