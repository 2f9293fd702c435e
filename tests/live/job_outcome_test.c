/* job_outcome_test.c: how a job has ended, by its ad: the word for programs, and what people read. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/ad/get.h"
#include "live/customerd/job_outcome.h"

#include <string.h>

static const struct {
    const char *sentence, *job, *reads; /* NULL: it is not over, as far as the ad says */
} cases[] = {
    {"status 0 is success", "[ State = \"Done\"; Status = 0 ]", "Succeeded"},
    {"another status is not", "[ State = \"Done\"; Status = 3 ]", "Failed (exit 3)"},
    {"a status below 0 is a signal", "[ State = \"Done\"; Status = -9 ]", "Killed (signal 9)"},
    {"whatever a machine says of it", "[ State = \"Done\"; Status = int(\"-9223372036854775808\") ]",
     "Killed (signal 9223372036854775807)"},
    {"the customer's own word comes first", "[ State = \"Done\"; Status = 0; Outcome = \"OutOfTime\" ]", "Out of time"},
    {"memory is told beside its limit",
     "[ Outcome = \"OutOfMemory\"; MemoryUsed = 109051904; MemoryGiven = 104857600 ]",
     "Out of memory (used 104 of 100 MiB)"},
    {"or the limit alone, where less was seen",
     "[ Outcome = \"OutOfMemory\"; MemoryUsed = 5; MemoryGiven = 104857600 ]", "Out of memory (limit 100 MiB)"},
    {"a limit that is none is not told", "[ Outcome = \"OutOfMemory\"; MemoryGiven = -1 ]", "Out of memory"},
    {"a job that runs has no outcome", "[ State = \"Running\" ]", NULL},
    {"nor one of which nothing is known", "[ ]", NULL},
};

/* Of the smallest number there is, none is the opposite. */
static void check_smallest(struct lang *lang)
{
    struct maker maker;
    int64_t signal = 0;
    struct tree *ad;

    maker_init(&maker, lang->symbols);
    job_outcome_add(&maker, job_outcome_done(REASON_EXITED, INT64_MIN), INT64_MIN);
    ad = maker_seal(&maker);
    tap_ok(ad_integer(ad, "Signal", &signal) && signal == INT64_MAX, "the smallest status there is, is a signal, too");
    tree_unref(ad);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct tree *job = lang_ad(&lang, &dialect_classic, cases[i].job, &err);
        enum job_outcome outcome;
        struct buf out;
        bool over;

        buf_init(&out);
        over = job && job_outcome(job, &outcome);
        if (over)
            job_outcome_print(&out, outcome, job);
        tap_ok(job && over == (cases[i].reads != NULL) && (!over || !strcmp(buf_string(&out), cases[i].reads)),
               "%s: %s", cases[i].sentence, buf_string(&out));
        tree_unref(job);
        buf_done(&out);
    }
    check_smallest(&lang);
    lang_done(&lang);
    return tap_done();
}
