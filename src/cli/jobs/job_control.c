/* job_control.c: berth rm, hold, release and vacate: change many jobs by one request. */
#include "cli/jobs/job_control.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define S struct jobs_which
static const struct option control_options[] = {
    {0, "why", "TEXT", "the reason, which is written into the job's log", option_text, offsetof(S, why)},
    JOBS_WHICH_ROWS(S),
};
#undef S

static const struct jobs_which control_defaults = {0};

struct verb {
    const char *command, *word, *done; /* "rm", "remove", "removed" */
};

/* ------------------------------------------------------------------------------------------------------------- asking */

static uint64_t answer_count(const struct tree *answer, const char *name)
{
    int64_t count;

    return ad_integer(answer, name, &count) && count > 0 ? (uint64_t)count : 0;
}

/* Sends one request, about the jobs from number `*next` on. `*next` becomes the number of the first job that was not looked at; 0: there is none. */
static int control_ask(struct connection *customer, const struct jobs_order *order, uint64_t *next,
                       struct jobs_changed *sums)
{
    struct tree *answer = NULL, *body;
    struct maker maker;
    const char *reason;
    size_t len;
    int status;

    maker_init(&maker, customer->symbols);
    maker_text(&maker, "Verb", order->verb);
    maker_text(&maker, "Ids", order->ids);
    maker_text(&maker, "Constraint", order->constraint);
    maker_text(&maker, "Why", order->why);
    maker_ad(&maker, "Set", order->set);
    if (order->number_name)
        maker_integer(&maker, order->number_name, order->number);
    maker_integer(&maker, "From", (int64_t)*next);
    body = maker_seal(&maker);
    status = connection_fetch_ad(
        customer, &(struct connection_ask){.method = "POST", .path = "/v1/control", .body = body}, &answer);
    tree_unref(body);
    if (status != STATUS_DONE)
        return status;
    sums->changed += answer_count(answer, "Changed");
    sums->unchanged += answer_count(answer, "Unchanged");
    sums->missing += answer_count(answer, "Missing");
    sums->storing += answer_count(answer, "Storing");
    sums->refused += answer_count(answer, "Refused");
    if (!*sums->reason && ad_string(answer, "Reason", &reason, &len))
        snprintf(sums->reason, sizeof sums->reason, "%.*s", (int)(len < 299 ? len : 299), reason);
    *next = answer_count(answer, "Next");
    tree_unref(answer);
    return STATUS_DONE;
}

int jobs_control(struct connection *customer, const struct jobs_order *order, struct jobs_changed *ret)
{
    bool shows = isatty(STDERR_FILENO), shown = false;
    uint64_t next = 1, last;
    int status;

    *ret = (struct jobs_changed){0};
    do {
        last = next;
        status = control_ask(customer, order, &next, ret);
        if (shows && next > last) {
            fprintf(stderr, "\r\033[K%s: %" PRIu64 " jobs so far ", order->verb, ret->changed);
            shown = true;
        }
    } while (status == STATUS_DONE && next > last);
    if (shown)
        fputs("\r\033[K", stderr);
    if (status != STATUS_DONE && ret->changed)
        report("%s: %" PRIu64 " of them have changed before", order->verb, ret->changed);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ telling */

static void unchanged_tell(const struct verb *verb, const struct jobs_changed *sums)
{
    uint64_t unchanged = sums->unchanged;
    struct buf words;

    if (sums->refused) {
        report("%s%s", sums->reason, sums->refused > 1 ? ", and others likewise" : "");
        unchanged -= sums->refused;
    }
    if (!unchanged)
        return;
    buf_init(&words);
    jobs_count_print(&words, unchanged);
    if (sums->storing == unchanged)
        report("%s cannot be %s: %s ended, and what %s made waits to be stored", buf_string(&words), verb->done,
               unchanged == 1 ? "it has" : "they have", unchanged == 1 ? "it" : "they");
    else
        report("%s cannot be %s as %s", buf_string(&words), verb->done, unchanged == 1 ? "it is" : "they are");
    buf_done(&words);
}

/* Prints "17 jobs removed". Jobs that did not change are reported on standard error. */
static int control_tell(const struct jobs_which *settings, const struct verb *verb, const struct jobs_changed *sums)
{
    struct buf out, words;

    buf_init(&out);
    buf_init(&words);
    if (settings->json) {
        buf_addf(&out, "{\"changed\": %" PRIu64 ", \"unchanged\": %" PRIu64 ", \"missing\": %" PRIu64 "}\n",
                 sums->changed, sums->unchanged, sums->missing);
    } else {
        jobs_count_print(&out, sums->changed);
        buf_addf(&out, " %s\n", verb->done);
        if ((!settings->all && !settings->constraint && !settings->user) || sums->refused)
            unchanged_tell(verb, sums);
        if (sums->missing) {
            jobs_count_print(&words, sums->missing);
            report("%s of those numbers %s not exist", buf_string(&words), sums->missing == 1 ? "does" : "do");
        }
    }
    output_write(&out);
    buf_done(&out);
    buf_done(&words);
    return sums->missing || !sums->changed ? STATUS_NO : STATUS_DONE;
}

/* Appends Owner == "NAME", whatever the name is made of. */
static void owner_print(struct buf *out, const char *name)
{
    buf_adds(out, "Owner == \"");
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            buf_addc(out, '\\');
        buf_addc(out, *name);
    }
    buf_addc(out, '"');
}

int jobs_change(const struct jobs_which *which, struct jobs_order *order, const char *command, const char *done,
                int word_count, char **words)
{
    bool named[] = {word_count > 0, which->constraint != NULL, which->all, which->user != NULL};
    struct verb verb = {command, order->verb, done};
    struct jobs_changed sums;
    struct connection customer;
    struct job_ids ids;
    struct buf owner;
    int status = STATUS_BAD;

    if (named[0] + named[1] + named[2] + named[3] != 1) {
        report("%s wants one of: job numbers, --constraint EXPR, --user NAME, --all", command);
        return STATUS_BAD;
    }
    buf_init(&owner);
    order->constraint = which->all ? "true" : which->constraint;
    if (which->user) {
        owner_print(&owner, which->user);
        order->constraint = buf_string(&owner);
    }
    if (job_ids_read(&ids, word_count, words) == 0) {
        order->ids = ids.count ? buf_string(&ids.text) : NULL;
        status = customer_open(&customer, &which->pool);
        if (status == STATUS_DONE && order->setting_count &&
            !(order->set = jobs_settings(customer.symbols, order->settings, order->setting_count)))
            status = STATUS_BAD;
        if (status == STATUS_DONE)
            status = jobs_control(&customer, order, &sums);
        tree_unref(order->set);
        if (status == STATUS_DONE)
            status = control_tell(which, &verb, &sums);
        connection_close(&customer);
    }
    job_ids_done(&ids);
    buf_done(&owner);
    return status;
}

#define CONTROL(id, name_, word, done, summary_, about_, example1, example2) \
    static int id##_run(const void *given, int word_count, char **words)     \
    {                                                                        \
        const struct jobs_which *which = given;                              \
        struct jobs_order order = {.verb = word, .why = which->why};         \
                                                                             \
        return jobs_change(which, &order, name_, done, word_count, words);   \
    }                                                                        \
    const struct command command_##id = {                                    \
        .name = name_,                                                       \
        .summary = summary_,                                                 \
        .usage = JOBS_WHICH_USAGE,                                           \
        .about = about_ " The status is 1 when no "                          \
                        "job was " done ", or a number is that of no job.",  \
        .examples = {{example1, NULL}, {example2, NULL}},                    \
        .options = control_options,                                          \
        .option_count = sizeof control_options / sizeof *control_options,    \
        .settings_size = sizeof(struct jobs_which),                          \
        .defaults = &control_defaults,                                       \
        .run = id##_run,                                                     \
    };

CONTROL(rm, "rm", "remove", "removed", "remove jobs, whether they wait or run",
        "Those that run are ended; none starts any more.", "berth rm 5-20",
        "berth rm -c 'Owner == \"alice\" && State == \"Held\"' --why \"wrong input\"")
CONTROL(hold, "hold", "hold", "held", "keep jobs from running until they are released",
        "Those that run are ended, and will begin anew, or from their last checkpoint.", "berth hold 5,7",
        "berth hold --all --why \"the disk is full\"")
CONTROL(release, "release", "release", "released", "let jobs that are held run again", "They wait in the queue again.",
        "berth release 5", "berth release --all")
CONTROL(
    vacate, "vacate", "vacate", "vacated", "send running jobs away from their machines, back into the queue",
    "They are warned, as by a hold, and have their machine's grace to write a checkpoint; then they wait again, and begin "
    "anew, or from that checkpoint, where they are matched next. It does not count as a try.",
    "berth vacate 5", "berth vacate -c 'Provider == \"heron\"'")
