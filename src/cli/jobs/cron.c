/* cron.c: berth cron: jobs that come again by a schedule: adds them, lists them, holds, releases and removes them. */
#include "cli/ask/jobs.h"
#include "cli/ask/languages.h"
#include "cli/jobs/cron_terms.h"
#include "cli/jobs/submission.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/form/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cron_settings {
    struct connection_options pool;
    const char *missed, *overlap;
    bool json;
};

#define S struct cron_settings
static const struct option cron_options[] = {
    {0, "missed", "WHAT",
     "add: what becomes of times at which the customer was not there: run (once; the default), or skip", option_text,
     offsetof(S, missed)},
    {0, "overlap", "WHAT",
     "add: what becomes of a time at which the last job is not over: skip (the default), wait or run", option_text,
     offsetof(S, overlap)},
    {0, "json", NULL, "JSON lines: an object a row; moments in seconds since 1970", option_flag, offsetof(S, json)},
    CUSTOMER_OPTION_ROWS(S),
};
#undef S

static const struct cron_settings cron_defaults = {0};

static const struct table_column cron_columns[] = {
    {"cron", "Cron", CELL_VALUE},   {"schedule", "Schedule", CELL_VALUE}, {"next", "Next", CELL_UNTIL},
    {"last", "Last", CELL_SINCE},   {"job", "LastJob", CELL_VALUE},       {"outcome", "LastState", CELL_VALUE},
    {"runs", "Runs", CELL_VALUE},   {"skipped", "Skipped", CELL_VALUE},   {"held", "Held", CELL_VALUE},
    {"owner", "Owner", CELL_VALUE}, {"reason", "Reason", CELL_VALUE},
};

/* ------------------------------------------------------------------------------------------------------------- showing */

static int crons_list(struct connection *customer, const struct cron_settings *settings)
{
    struct connection_ask ask = {.path = "/v1/crons"};
    struct rows rows;
    int status;

    rows_init(&rows, settings->json ? ROWS_JSON : ROWS_TABLE, cron_columns, sizeof cron_columns / sizeof *cron_columns);
    status = connection_fetch_ads(customer, &ask, rows_add, &rows);
    rows_finish(&rows);
    rows_done(&rows);
    return status;
}

static int cron_show(struct connection *customer, const char *word)
{
    struct connection_ask ask = {.may_miss = true};
    struct tree *ad = NULL;
    struct rows rows;
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/crons/");
    path_escape(&path, word);
    ask.path = buf_string(&path);
    status = connection_fetch_ad(customer, &ask, &ad);
    if (status == STATUS_DONE) {
        rows_init(&rows, ROWS_LONG, NULL, 0);
        rows_add(&rows, ad);
        rows_finish(&rows);
        rows_done(&rows);
    }
    tree_unref(ad);
    buf_done(&path);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- adding */

struct cron_reading {
    struct job_submission *submission;
    const char *file, *folder;
};

static int ad_take(void *user, struct tree *ad, unsigned line)
{
    struct cron_reading *reading = user;
    char name[400];

    snprintf(name, sizeof name, "%.300s:%u", reading->file, line);
    return submission_add(reading->submission, ad, reading->folder, name) == STATUS_DONE ? 0 : -1;
}

/* Reads the job, in whichever language, with its files named from here. */
static int job_read(struct job_submission *submission, const char *file)
{
    struct symbols *symbols = submission->customer->symbols;
    struct cron_reading reading = {submission, file, "."};
    enum submit_language language;
    int status = STATUS_BAD, got = -1;
    struct input_source source;
    struct tree *ad;
    struct buf text;

    buf_init(&text);
    if (file_read(file, &text) == 0) {
        language = submit_recognise(file, buf_string(&text), text.len);
        submission->sets_modes = language != SUBMIT_AD;
        if (language == SUBMIT_AD) {
            source_open_text(&source, symbols, &dialect_classic, FORM_UNKNOWN, file, &text);
            while ((got = source_next(&source, &ad)) > 0) {
                got = ad_take(&reading, ad, form_reader_line(source.reader));
                tree_unref(ad);
                if (got < 0)
                    break;
            }
            source_close(&source);
        } else {
            got = language_read(symbols, language, file, &text, ".", ad_take, &reading);
        }
        status = got < 0 ? STATUS_BAD : STATUS_DONE;
    }
    buf_done(&text);
    if (status == STATUS_DONE && submission->count != 1) {
        report("%s: expected one ad, which Count may make several jobs; there are %zu", file, submission->count);
        status = STATUS_BAD;
    }
    return status;
}

static int cron_add(struct connection *customer, const struct cron_settings *settings, int word_count, char **words)
{
    const char *file = word_count ? words[word_count - 1] : "";
    struct cron_terms terms = {.missed = settings->missed, .overlap = settings->overlap};
    struct job_submission submission;
    bool says;
    int status;

    if (word_count != 1 && word_count != 2) {
        report("cron add wants a schedule, as one word in quotes, and the FILE of a job: "
               "berth cron add '0 8 * * mon-fri' report.ad");
        return STATUS_BAD;
    }
    submission_init(&submission, customer);
    status = job_read(&submission, file);
    says = status == STATUS_DONE && cron_terms_said(submission.ads[0]);
    if (status == STATUS_DONE && says == (word_count == 2)) {
        report(says ? "%s says itself when its job comes again: leave the schedule out"
                    : "%s does not say when its job comes again: name a schedule before it, as one word in quotes",
               file);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        status = submission_upload(&submission);
    terms.schedule = word_count == 2 ? words[0] : NULL;
    if (status == STATUS_DONE)
        status = cron_terms_send(customer, submission.ads[0], &terms, settings->json);
    submission_done(&submission);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- changing */

static const struct {
    const char *word, *method, *behind;
} verbs[] = {{"rm", "DELETE", ""}, {"hold", "POST", "/hold"}, {"release", "POST", "/release"}};
#define VERBS (sizeof verbs / sizeof *verbs)

static int cron_change(struct connection *customer, const struct cron_settings *settings, size_t verb, const char *word)
{
    struct connection_ask ask = {.method = verbs[verb].method, .may_conflict = true, .about = word};
    struct tree *answer = NULL;
    struct fetched fetched;
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/crons/");
    path_escape(&path, word);
    buf_adds(&path, verbs[verb].behind);
    ask.path = buf_string(&path);
    if (*verbs[verb].behind) {
        status = connection_fetch_ad(customer, &ask, &answer);
        if (status == STATUS_DONE)
            cron_terms_tell(answer, settings->json);
    } else {
        status = connection_fetch(customer, &ask, &fetched);
        if (status == STATUS_DONE)
            fetched_done(&fetched);
    }
    tree_unref(answer);
    buf_done(&path);
    return status;
}

static int crons_change(struct connection *customer, const struct cron_settings *settings, size_t verb, int word_count,
                        char **words)
{
    int status = STATUS_DONE;

    if (!word_count) {
        report("cron %s wants numbers, as `berth cron` shows them", verbs[verb].word);
        return STATUS_BAD;
    }
    for (int i = 0; i < word_count; i++) {
        int one = cron_change(customer, settings, verb, words[i]);

        if (one > STATUS_NO)
            return one;
        status = one > status ? one : status;
    }
    return status;
}

static int cron_run(const void *given, int word_count, char **words)
{
    const struct cron_settings *settings = given;
    struct connection customer;
    size_t verb = 0;
    int status;

    while (word_count && verb < VERBS && strcmp(words[0], verbs[verb].word) != 0)
        verb++;
    if (word_count && verb == VERBS && strcmp(words[0], "add") != 0 &&
        (word_count != 2 || strcmp(words[0], "show") != 0)) {
        report("cron: expected add, show NUMBER, hold, release or rm; got '%.60s'", words[0]);
        return STATUS_BAD;
    }
    if ((settings->missed || settings->overlap) && (!word_count || strcmp(words[0], "add") != 0)) {
        report("--missed and --overlap go with add");
        return STATUS_BAD;
    }
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE && !word_count)
        status = crons_list(&customer, settings);
    else if (status == STATUS_DONE && verb < VERBS)
        status = crons_change(&customer, settings, verb, word_count - 1, words + 1);
    else if (status == STATUS_DONE && !strcmp(words[0], "show"))
        status = cron_show(&customer, words[1]);
    else if (status == STATUS_DONE)
        status = cron_add(&customer, settings, word_count - 1, words + 1);
    connection_close(&customer);
    return status;
}

const struct command command_cron = {
    .name = "cron",
    .summary = "jobs that come again by a schedule",
    .usage = "[--json]\nadd [--missed WHAT] [--overlap WHAT] [SCHEDULE] FILE\nshow NUMBER\nhold NUMBER...\n"
             "release NUMBER...\nrm NUMBER...",
    .about =
        "Without a word, lists one's jobs that come again: the next time, the last one, its job and how that stands, how many times it has come and how many "
        "were skipped, and why.\n\n"
        "add reads one ad from FILE (an ad, or a file for HTCondor or in JDL), uploads what it reads, and lets the customer submit it each time. SCHEDULE is one word in quotes: "
        "'MIN HOUR DOM MON DOW' as in crontab (numbers, 1-5, */10, jan, mon; where a day of the month and one of the week are said, either is enough), @hourly, @daily, @weekly, "
        "@monthly, @yearly, or 'every 10min' (s, min, h, d), counted from now. Times are those of the customer's host. It is left out where the ad says CronSchedule itself, or a file for HTCondor cron_minute and the like: "
        "those, `berth submit` takes as well.\n\n"
        "A time is missed when the customer was not there, or its clock was put forward over it, for more than a minute: --missed run (the default) lets the job come once, however "
        "many times were missed; skip lets it go. When the last job is not over, --overlap skip (the default) lets the time go, wait lets the job come "
        "when that is over, and run lets both be there.\n\n"
        "hold lets it rest until release: what would have come meanwhile does not count as missed. rm ends it; jobs that have come stay. The files that it "
        "reads are as they were at add: to change them or the ad, add it anew.",
    .examples = {{"berth cron add '0 8 * * mon-fri' report.ad", "cron 3: the next time is Fri 20 Nov 08:00"},
                 {"berth cron add --overlap wait 'every 10min' poll.ad", NULL},
                 {"berth cron rm 3", NULL}},
    .options = cron_options,
    .option_count = sizeof cron_options / sizeof *cron_options,
    .settings_size = sizeof(struct cron_settings),
    .defaults = &cron_defaults,
    .run = cron_run,
};
