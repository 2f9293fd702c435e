/* change.c: condor_rm, condor_hold, condor_release and condor_vacate_job. */
#include "cli/condor/parts.h"
#include "cli/jobs/job_control.h"
#include "cli/term/file.h"
#include "cli/term/report.h"

#include <inttypes.h>
#include <string.h>

enum { C_ALL, C_CONSTRAINT, C_REASON, C_FORCEX, C_FAST, C_NAME, C_POOL, C_SUBCODE, C_DEBUG, C_HELP };

static const struct condor_option options[] = {
    [C_ALL] = {"all", 1, false},      [C_CONSTRAINT] = {"constraint", 1, true},
    [C_REASON] = {"reason", 1, true}, [C_FORCEX] = {"forcex", 1, false},
    [C_FAST] = {"fast", 2, false},    [C_NAME] = {"name", 1, true},
    [C_POOL] = {"pool", 1, true},     [C_SUBCODE] = {"subcode", 1, true},
    [C_DEBUG] = {"debug", 1, false},  [C_HELP] = {"help", 1, false},
};

static const struct verb {
    const char *command, *word, *done;
} verbs[] = {
    {"condor_rm", "remove", "marked for removal"},
    {"condor_hold", "hold", "held"},
    {"condor_release", "release", "released"},
    {"condor_vacate_job", "vacate", "vacated"},
};

struct change {
    struct condor_choice choice;
    const struct verb *verb;
    struct buf ids, out; /* ids: "5-20,22" */
    int64_t first, last; /* the range that is not in `ids` yet; 0: none */
    uint32_t count;
};

static void range_end(struct change *change)
{
    if (!change->first)
        return;
    buf_addf(&change->ids, "%s%" PRId64, change->ids.len ? "," : "", change->first);
    if (change->last > change->first)
        buf_addf(&change->ids, "-%" PRId64, change->last);
    change->first = 0;
}

static void id_add(struct change *change, int64_t id)
{
    if (!change->first || id != change->last + 1) {
        range_end(change);
        change->first = id;
    }
    change->last = id;
    change->count++;
}

static bool job_take(void *user, struct tree *job)
{
    struct change *change = user;
    struct tree *ad = condor_job(job);

    if (!job_is_over(job) && choice_has(&change->choice, ad)) {
        id_add(change, condor_integer(job, "Job"));
        buf_addf(&change->out, "Job %" PRId64 ".%" PRId64 " %s\n", condor_integer(ad, "ClusterId"),
                 condor_integer(ad, "ProcId"), change->verb->done);
    }
    tree_unref(ad);
    return true;
}

static int change_ask(struct connection *customer, struct change *change, bool all, const char *why)
{
    struct jobs_order order = {.verb = change->verb->word, .why = why};
    struct jobs_changed sums = {0};
    int status = connection_list(customer, "/v1/jobs", 0, job_take, change);

    if (status != STATUS_DONE)
        return status;
    if (!change->count) {
        report("%s: there is no such job in the queue", change->verb->command);
        return STATUS_NO;
    }
    range_end(change);
    order.ids = buf_string(&change->ids);
    status = jobs_control(customer, &order, &sums);
    if (status != STATUS_DONE)
        return status;
    if (sums.changed != change->count)
        report("%" PRIu64 " of %u jobs could not be %s as they are", change->count - sums.changed, change->count,
               change->verb->done);
    if (all && sums.changed == change->count) {
        buf_reset(&change->out);
        buf_addf(&change->out, "All jobs have been %s\n", change->verb->done);
    }
    output_write(&change->out);
    return sums.changed ? STATUS_DONE : STATUS_NO;
}

int condor_change(struct condor_words *words)
{
    struct connection_options options_none = {0};
    struct change change = {.verb = verbs};
    struct connection customer;
    const char *why = NULL;
    bool all = false;
    int status, option;

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verbs[i].command, words->command))
            change.verb = &verbs[i];
    buf_init(&change.ids);
    buf_init(&change.out);
    status = customer_open(&customer, &options_none);
    if (status == STATUS_DONE) {
        choice_init(&change.choice, customer.symbols);
        while (status == STATUS_DONE && (option = words_next(words, options, C_HELP + 1)) != -2) {
            if (option == -3 || (option == C_CONSTRAINT && choice_constrain(&change.choice, words->value) < 0) ||
                ((option == C_NAME || option == C_POOL) && !condor_is_here(words->command, words->value)))
                status = STATUS_NO;
            else if (option == -1)
                choice_add(&change.choice, words->value);
            why = option == C_REASON ? words->value : why;
            all = all || option == C_ALL;
        }
        if (status == STATUS_DONE && !all && choice_is_empty(&change.choice)) {
            report("%s wants jobs (5, 5.2), a user, -constraint EXPR or -all", words->command);
            status = STATUS_NO;
        }
        if (status == STATUS_DONE)
            status = change_ask(&customer, &change, all, why);
        choice_done(&change.choice);
    }
    connection_close(&customer);
    buf_done(&change.ids);
    buf_done(&change.out);
    return status;
}
