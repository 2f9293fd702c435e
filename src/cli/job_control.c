/* job_control.c: berth rm, hold and release: many jobs by one request. */
#include "cli/command.h"
#include "cli/file.h"
#include "cli/jobs.h"
#include "cli/report.h"
#include "net/represent.h"

#include <inttypes.h>

struct control_settings {
    struct pool_options pool;
    const char *constraint, *why;
    bool all, json;
};

#define S struct control_settings
static const struct option control_options[] = {
    {'c', "constraint", "EXPR", "all jobs for which it is true", option_text, offsetof(S, constraint)},
    {'a', "all", NULL, "all jobs", option_flag, offsetof(S, all)},
    {0, "why", "TEXT", "the reason, which is written into the job's log", option_text, offsetof(S, why)},
    {0, "json", NULL, "one JSON object: changed, unchanged, missing", option_flag, offsetof(S, json)},
    CUSTOMER_OPTION_ROWS(S),
};
#undef S

static const struct control_settings control_defaults = {0};

struct verb {
    const char *command, *word, *done; /* "rm", "remove", "removed" */
};

static int control_ask(struct pool *customer, const struct control_settings *settings, const struct verb *verb,
                       struct job_ids *ids, struct tree **ret)
{
    struct maker maker;
    struct tree *body;
    int status;

    maker_init(&maker, customer->symbols);
    maker_text(&maker, "Verb", verb->word);
    maker_text(&maker, "Ids", ids->count ? buf_string(&ids->text) : NULL);
    maker_text(&maker, "Constraint", settings->all ? "true" : settings->constraint);
    maker_text(&maker, "Why", settings->why);
    body = maker_seal(&maker);
    status = pool_fetch_ad(customer, &(struct pool_ask){.method = "POST", .path = "/v1/control", .body = body}, ret);
    tree_unref(body);
    return status;
}

static uint64_t answer_count(const struct tree *answer, const char *name)
{
    int64_t count;

    return ad_integer(answer, name, &count) && count > 0 ? (uint64_t)count : 0;
}

/* `storing` of them have ended, and their files go to stores. */
static void unchanged_tell(const struct verb *verb, uint64_t unchanged, uint64_t storing)
{
    struct buf words;

    if (!unchanged)
        return;
    buf_init(&words);
    jobs_count_print(&words, unchanged);
    if (storing == unchanged)
        report("%s cannot be %s: %s ended, and what %s made waits to be stored", buf_string(&words), verb->done,
               unchanged == 1 ? "it has" : "they have", unchanged == 1 ? "it" : "they");
    else
        report("%s cannot be %s as %s", buf_string(&words), verb->done, unchanged == 1 ? "it is" : "they are");
    buf_done(&words);
}

/* "17 jobs removed". What did not change is told on standard error. */
static int control_tell(const struct control_settings *settings, const struct verb *verb, const struct tree *answer)
{
    uint64_t changed = answer_count(answer, "Changed"), unchanged = answer_count(answer, "Unchanged"),
             missing = answer_count(answer, "Missing");
    struct buf out, words;

    buf_init(&out);
    buf_init(&words);
    if (settings->json) {
        buf_addf(&out, "{\"changed\": %" PRIu64 ", \"unchanged\": %" PRIu64 ", \"missing\": %" PRIu64 "}\n", changed,
                 unchanged, missing);
    } else {
        jobs_count_print(&out, changed);
        buf_addf(&out, " %s\n", verb->done);
        if (!settings->all && !settings->constraint)
            unchanged_tell(verb, unchanged, answer_count(answer, "Storing"));
        if (missing) {
            jobs_count_print(&words, missing);
            report("%s of those numbers: there %s no such", buf_string(&words), missing == 1 ? "is" : "are");
        }
    }
    output_write(&out);
    buf_done(&out);
    buf_done(&words);
    return missing || !changed ? STATUS_NO : STATUS_DONE;
}

static int control_run(const struct control_settings *settings, const struct verb *verb, int word_count, char **words)
{
    bool named[] = {word_count > 0, settings->constraint != NULL, settings->all};
    struct tree *answer = NULL;
    struct pool customer;
    struct job_ids ids;
    int status = STATUS_BAD;

    if (named[0] + named[1] + named[2] != 1) {
        report("%s wants one of: the numbers of jobs, --constraint EXPR, --all", verb->command);
        return STATUS_BAD;
    }
    if (job_ids_read(&ids, word_count, words) == 0) {
        status = customer_open(&customer, &settings->pool);
        if (status == STATUS_DONE)
            status = control_ask(&customer, settings, verb, &ids, &answer);
        if (status == STATUS_DONE)
            status = control_tell(settings, verb, answer);
        tree_unref(answer);
        pool_close(&customer);
    }
    job_ids_done(&ids);
    return status;
}

#define CONTROL(id, name_, word, done, summary_, about_, example1, example2)                  \
    static int id##_run(const void *given, int word_count, char **words)                      \
    {                                                                                         \
        static const struct verb verb = {name_, word, done};                                  \
                                                                                              \
        return control_run(given, &verb, word_count, words);                                  \
    }                                                                                         \
    const struct command command_##id = {                                                     \
        .name = name_,                                                                        \
        .summary = summary_,                                                                  \
        .usage = "[OPTIONS] ID...\n[OPTIONS] --constraint EXPR\n[OPTIONS] --all",             \
        .about = about_ " However many they are, it is one request. The status is 1 when no " \
                        "job was " done ", or a number is that of no job.",                   \
        .examples = {{example1, NULL}, {example2, NULL}},                                     \
        .options = control_options,                                                           \
        .option_count = sizeof control_options / sizeof *control_options,                     \
        .settings_size = sizeof(struct control_settings),                                     \
        .defaults = &control_defaults,                                                        \
        .run = id##_run,                                                                      \
    };

CONTROL(rm, "rm", "remove", "removed", "remove jobs, whether they wait or run",
        "Those that run are ended; none starts any more.", "berth rm 5-20",
        "berth rm -c 'Owner == \"alice\" && State == \"Held\"' --why \"wrong input\"")
CONTROL(hold, "hold", "hold", "held", "keep jobs from running until they are released",
        "Those that run are ended, and will begin anew, or from their last checkpoint.", "berth hold 5,7",
        "berth hold --all --why \"the disk is full\"")
CONTROL(release, "release", "release", "released", "let jobs that are held run again", "They wait in the queue again.",
        "berth release 5", "berth release --all")
