/* submit.c: berth submit: takes jobs from files to the customer. */
#include "cli/ask/languages.h"
#include "cli/jobs/cron_terms.h"
#include "cli/jobs/secrets.h"
#include "cli/jobs/submission.h"
#include "cli/jobs/submit_check.h"
#include "cli/jobs/submit_check_urls.h"
#include "cli/jobs/submit_script.h"
#include "cli/jobs/submit_words.h"
#include "cli/jobs/sweep.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/moment.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "match/gang/ports.h"
#include "match/gang/runs.h"
#include "pool/protocol/writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct submit_settings {
    struct connection_options pool;
    const char *key, *cwd;
    enum submit_language from;
    struct sweep_source sweep;
    struct option_files append;
    struct option_words secrets;
    int64_t not_before, finish_by; /* 0: not given */
    struct submit_script script;
    bool force, dry_run, json, terse;
};

#define S struct submit_settings
static const struct option submit_options[] = {
    {0, "table", "CSV", "one job a row of this table; its columns are attributes that the ad reads", option_once,
     offsetof(S, sweep.table)},
    {0, "each-line", "LINES", "one job a line of this file, which is the attribute Line", option_once,
     offsetof(S, sweep.lines)},
    {0, "each-file", "PATTERN",
     "one job a file that matches, as 'data/*.csv': the attributes File, FileName and FileStem", option_once,
     offsetof(S, sweep.files)},
    {0, "secret", "NAME=FILE", SECRET_OPTION_HELP, option_secret, offsetof(S, secrets)},
    {'k', "key", "KEY", "the same key and the same jobs again are the same submission: nothing is submitted twice",
     submission_key, offsetof(S, key)},
    {0, "not-before", "TIME", "no job begins before: 20:00, +2h, 2026-11-20 or 2026-11-20T20:00+01:00", option_moment,
     offsetof(S, not_before)},
    {0, "finish-by", "TIME", "a job that still waits then is given up", option_moment, offsetof(S, finish_by)},
    {'f', "force", NULL, "also what matches no machine of the pool", option_flag, offsetof(S, force)},
    {'n', "dry-run", NULL, "print the ads as they would be sent, and send nothing", option_flag, offsetof(S, dry_run)},
    {0, "cwd", "FOLDER",
     "the folder from which inputs are named; if not given, that of FILE, and for submit and jdl the current one",
     option_file, offsetof(S, cwd)},
    {0, "from", "LANGUAGE", "the language of the files: ad, submit (HTCondor's) or jdl; recognised if not given",
     option_language, offsetof(S, from)},
    {0, "json", NULL, "JSON lines: an object an ad: first, count; with --dry-run the ads", option_flag,
     offsetof(S, json)},
    {0, "append", "COMMAND",
     "of a submit file: a command, NAME = VALUE, that holds before each 'queue'; or a 'queue' itself", option_files,
     offsetof(S, append)},
    {0, "script", "FILE", "a script is the job; other words are its arguments", option_once, offsetof(S, script.file)},
    {'c', "cpus", "N", "of a script: processors, or a part of one: 0.5; 1 if not given", option_cpus,
     offsetof(S, script.cpus)},
    {'m', "memory", "AMOUNT", "of a script: memory: 2GiB; 512MiB if not given", option_bytes,
     offsetof(S, script.memory)},
    {0, "disk", "AMOUNT", "of a script: disk; 1GiB if not given", option_bytes, offsetof(S, script.disk)},
    {0, "gpus", "N", "of a script: GPUs", option_number, offsetof(S, script.gpus)},
    {'t', "time", "SPAN", "of a script: it is ended when it has run so long: 90s, 30min, 2h", option_span,
     offsetof(S, script.time)},
    {'i', "input", "FILE", "of a script: a file or folder that it reads; may be repeated", option_word,
     offsetof(S, script.inputs)},
    {'o', "output", "FILE", "of a script: a file or folder that comes back; may be repeated. Else all that are new",
     option_word, offsetof(S, script.outputs)},
    {'e', "env", "NAME[=VALUE]", "of a script: a variable of its environment; may be repeated", option_word,
     offsetof(S, script.variables)},
    {0, "name", "TEXT", "of a script: what the job is called", option_text, offsetof(S, script.name)},
    {0, "terse", NULL,
     "print the numbers as HTCondor does: the first job, then of it the first and the last process: 7.0 - 7.4; of a script its number alone",
     option_flag, offsetof(S, terse)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct submit_settings submit_defaults = {0};

/* -------------------------------------------------------------------------------------------------------------- reading */

static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    if (!slash)
        return mem_dup(".", 1);
    return mem_dup(file, slash == file ? 1 : (size_t)(slash - file));
}

/* The ads of one file, as they come. */
struct adding {
    struct job_submission *submission;
    const char *file, *folder;
    const struct tree *given;  /* what was typed, to be laid over each ad; NULL: nothing */
    const struct tree *times;  /* likewise, of options */
    const struct sweep *sweep; /* or NULL */
    uint64_t jobs;             /* of the sweep, so far */
    int status;
};

/* Adds an ad with what was typed laid over it. Takes the ad. */
static int ad_complete(struct adding *adding, struct tree *ad, const char *name)
{
    struct err err = {0};
    struct tree *timed = adding->times ? ad_over(ad, adding->times, &err) : tree_ref(ad);
    struct tree *whole = timed && adding->given ? ad_over(timed, adding->given, &err) : tree_ref(timed);
    int status = STATUS_BAD;

    adding->submission->folds = adding->given || adding->sweep;
    if (whole)
        status = submission_add(adding->submission, whole, adding->folder, name);
    else
        report("%s: %s", name, err.text);
    tree_unref(whole);
    tree_unref(timed);
    tree_unref(ad);
    return status;
}

/* What the options say of times, as an ad; NULL: nothing. */
static struct tree *times_layer(const struct submit_settings *settings, struct symbols *symbols)
{
    struct maker maker;

    if (!settings->not_before && !settings->finish_by)
        return NULL;
    maker_init(&maker, symbols);
    if (settings->not_before)
        maker_integer(&maker, "NotBefore", settings->not_before);
    if (settings->finish_by)
        maker_integer(&maker, "FinishBy", settings->finish_by);
    return maker_seal(&maker);
}

/* Adds the ad of a row. It stands for one job, or for as many as its Count says. */
static int row_add(struct adding *adding, const struct tree *ad, uint32_t row)
{
    const struct job_submission *submission = adding->submission;
    struct err err = {0};
    struct tree *made = sweep_ad(adding->sweep, ad, row, adding->jobs, &err);
    int64_t count = 1;
    struct buf name;
    int status = STATUS_BAD;

    buf_init(&name);
    sweep_place(adding->sweep, row, &name);
    if (made)
        status = ad_complete(adding, made, buf_string(&name));
    else
        report("%s: %s", buf_string(&name), err.text);
    if (status == STATUS_DONE && ad_integer(submission->ads[submission->count - 1], "Count", &count) && count < 1)
        count = 1; /* the customer will say what is wrong with it */
    adding->jobs += (uint64_t)count;
    buf_done(&name);
    return status;
}

static int ad_add(void *user, struct tree *ad, unsigned line)
{
    struct adding *adding = user;
    char name[400];

    if (adding->sweep) {
        for (uint32_t row = 0; row < sweep_count(adding->sweep) && adding->status == STATUS_DONE; row++)
            adding->status = row_add(adding, ad, row);
    } else {
        snprintf(name, sizeof name, "%.300s:%u", adding->file, line);
        adding->status = ad_complete(adding, tree_ref(ad), name);
    }
    return adding->status == STATUS_DONE ? 0 : -1;
}

static int ads_add(struct adding *adding, const struct buf *text)
{
    struct input_source source;
    struct tree *ad;
    int got = -1;

    source_open_text(&source, adding->submission->customer->symbols, &dialect_classic, FORM_UNKNOWN, adding->file,
                     text);
    while (adding->status == STATUS_DONE && (got = source_next(&source, &ad)) > 0) {
        ad_add(adding, ad, form_reader_line(source.reader));
        tree_unref(ad);
    }
    source_close(&source);
    return got < 0 ? STATUS_BAD : adding->status;
}

/* Adds the jobs of a file of ads: one an ad, or one a row for each of them. */
static int ads_sweep(struct adding *adding, const struct submit_settings *settings, const struct submit_words *words,
                     const struct buf *text)
{
    struct symbols *symbols = adding->submission->customer->symbols;
    struct tree *given = NULL;
    struct sweep sweep;
    int status = STATUS_BAD;
    bool wanted = sweep_is_wanted(&settings->sweep);

    if (submit_words_layer(words, symbols, &given) == 0 &&
        (!wanted || sweep_open(&sweep, symbols, &settings->sweep, adding->folder) == 0)) {
        adding->given = given;
        adding->sweep = wanted ? &sweep : NULL;
        status = ads_add(adding, text);
    }
    if (wanted)
        sweep_done(&sweep);
    tree_unref(given);
    return status;
}

/* The commands of --append, in order: a 'queue' goes to the end of the file, others are macros. -1: one of them is neither. */
static int appended_read(const struct option_files *append, struct buf *text, struct submit_given *ret,
                         uint32_t *ret_count)
{
    for (unsigned i = 0; i < append->count; i++) {
        const char *one = append->names[i] + strspn(append->names[i], " \t"), *equals = strchr(one, '=');
        size_t name = strcspn(one, " \t=");

        if (name == 5 && !strncasecmp(one, "queue", 5)) {
            buf_addf(text, "\n%s\n", one);
        } else if (equals && name && equals == one + name + strspn(one + name, " \t")) {
            ret[*ret_count].name = mem_dup(one, name);
            ret[(*ret_count)++].value = equals + 1 + strspn(equals + 1, " \t");
        } else {
            report("--append: expected NAME = VALUE, or queue, got '%.60s'", one);
            return -1;
        }
    }
    return 0;
}

/* Says once what HTCondor's people are used to and a job here does not find. */
static void surroundings_tell(const struct job_submission *submission)
{
    bool network = false, away = false; /* one of them runs elsewhere */

    for (size_t i = 0; i < submission->count && !network; i++)
        network = ad_find(submission->ads[i], "Network") != NULL;
    for (size_t i = 0; i < submission->count && !away; i++)
        away = !job_text_is(submission->ads[i], "Universe", "local");
    if (!away)
        return;
    report("the jobs will find neither /home nor other folders of this machine's%s: docs/sandbox.md",
           network ? "" : ", and no network ('want_job_networking = true', in JDL 'Network = true', asks for it)");
}

/* Adds the jobs of a file in another language. */
static int language_add(struct adding *adding, const struct submit_settings *settings, const struct submit_words *words,
                        enum submit_language language, struct buf *text)
{
    struct submit_given appended[OPTION_FILES_MAX];
    struct language_given given = {.macros = words->given,
                                   .count = (uint32_t)words->given_count,
                                   .appended = appended,
                                   .runs = !settings->dry_run};
    int status = STATUS_BAD;

    if (sweep_is_wanted(&settings->sweep)) {
        report("%s: %s", adding->file,
               language == SUBMIT_JDL ? "--table, --each-line and --each-file go with ads, and this is JDL"
                                      : "--table, --each-line and --each-file go with ads; a submit file says 'queue "
                                        "... from' or 'queue ... matching'");
        return STATUS_BAD;
    }
    if (words->given_count && language == SUBMIT_JDL) {
        report("%s: %s=%s goes with ads and submit files, and this is JDL", adding->file, words->given[0].name,
               words->given[0].value);
        return STATUS_BAD;
    }
    if (settings->append.count && language == SUBMIT_JDL) {
        report("%s: --append goes with submit files, and this is JDL", adding->file);
        return STATUS_BAD;
    }
    adding->submission->sets_modes = language != SUBMIT_AD;
    if (appended_read(&settings->append, text, appended, &given.appended_count) == 0 &&
        language_read_given(adding->submission->customer->symbols, language, adding->file, text, adding->folder, &given,
                            ad_add, adding) == 0)
        status = STATUS_DONE;
    while (given.appended_count)
        free((char *)(uintptr_t)appended[--given.appended_count].name);
    return status;
}

static int file_add(struct job_submission *submission, const struct submit_settings *settings,
                    const struct submit_words *words, const char *file)
{
    enum submit_language language = settings->from;
    struct tree *times = times_layer(settings, submission->customer->symbols);
    struct adding adding = {.submission = submission, .file = file, .times = times, .status = STATUS_DONE};
    char *folder = folder_of(file);
    struct buf text;
    int status = STATUS_BAD;

    buf_init(&text);
    if (file_read(file, &text) == 0) {
        if (language == SUBMIT_UNKNOWN)
            language = submit_recognise(file, buf_string(&text), text.len);
        adding.folder = settings->cwd ? settings->cwd : language == SUBMIT_AD ? folder : ".";
        if (language == SUBMIT_AD && settings->append.count)
            report("%s: --append goes with submit files, and this is an ad: NAME=VALUE sets an attribute", file);
        else
            status = language == SUBMIT_AD ? ads_sweep(&adding, settings, words, &text)
                                           : language_add(&adding, settings, words, language, &text);
    }
    buf_done(&text);
    tree_unref(times);
    free(folder);
    return status;
}

/* Adds the job of --script. Its files are named from here. */
static int script_add(struct job_submission *submission, const struct submit_settings *settings, int word_count,
                      char **words)
{
    struct tree *ad = submit_script_ad(submission->customer->symbols, &settings->script, word_count, words);
    struct tree *times = times_layer(settings, submission->customer->symbols);
    struct adding adding = {
        .submission = submission, .folder = settings->cwd ? settings->cwd : ".", .times = times, .status = STATUS_DONE};
    int status = STATUS_BAD;

    submission->sets_modes = true; /* #! is enough: it need not be executable here */
    if (ad)
        status = ad_complete(&adding, ad, settings->script.file);
    tree_unref(times);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- telling */

struct told {
    struct buf ids; /* "1-20,31" */
    uint64_t count, first, last, least;
    struct rows *rows;
};

static void told_range(struct told *told)
{
    if (!told->first)
        return;
    buf_addf(&told->ids, "%s%" PRIu64, told->ids.len ? "," : "", told->first);
    if (told->last > told->first)
        buf_addf(&told->ids, "-%" PRIu64, told->last);
}

static bool told_add(void *user, struct tree *answer)
{
    struct told *told = user;
    int64_t first, count;

    if (!ad_integer(answer, "First", &first) || !ad_integer(answer, "Count", &count) || first < 1 || count < 1)
        return true;
    if (told->first && (uint64_t)first != told->last + 1)
        told_range(told);
    if (!told->first || (uint64_t)first != told->last + 1)
        told->first = (uint64_t)first;
    told->last = (uint64_t)(first + count - 1);
    told->least = told->least ? told->least : (uint64_t)first;
    told->count += (uint64_t)count;
    if (told->rows)
        rows_add(told->rows, answer);
    return true;
}

static int send_and_tell(struct job_submission *submission, const struct submit_settings *settings)
{
    static const struct table_column columns[] = {{"first", "First", CELL_VALUE}, {"count", "Count", CELL_VALUE}};
    struct told told = {.count = 0};
    struct rows rows;
    struct buf out;
    int status;

    buf_init(&told.ids);
    buf_init(&out);
    rows_init(&rows, ROWS_JSON, columns, 2);
    told.rows = settings->json ? &rows : NULL;
    status = submission_send(submission, settings->key, settings->force, told_add, &told);
    if (status == STATUS_DONE && !settings->json && settings->terse) {
        if (told.count && settings->script.file)
            buf_addf(&out, "%" PRIu64 "\n", told.least);
        else if (told.count)
            buf_addf(&out, "%" PRIu64 ".0 - %" PRIu64 ".%" PRIu64 "\n", told.least, told.least, told.count - 1);
        output_write(&out);
    } else if (status == STATUS_DONE && !settings->json) {
        told_range(&told);
        jobs_count_print(&out, told.count);
        buf_addf(&out, " submitted: %s\n", buf_string(&told.ids));
        output_write(&out);
    }
    rows_done(&rows);
    buf_done(&told.ids);
    buf_done(&out);
    return status;
}

/* Reports what is settled silently about who runs a gang's job. What many ads in a row say alike is reported once. */
static void gangs_remark(const struct job_submission *submission)
{
    char name[SUBMISSION_NAME_MAX];
    struct buf words, before;

    buf_init(&words);
    buf_init(&before);
    for (size_t i = 0; i < submission->count; i++) {
        struct err err = {0};
        struct ports ports;

        buf_reset(&words);
        if (!ad_find(submission->ads[i], "Ports") || ports_read(&ports, submission->ads[i], &err) < 0)
            continue; /* the customer will say what is wrong with it */
        if (ports_run_words(&ports, &words) && strcmp(buf_string(&words), buf_string(&before)) != 0) {
            report("%s: %s", submission_name(submission, i, name), buf_string(&words));
            buf_reset(&before);
            buf_adds(&before, buf_string(&words));
        }
        ports_done(&ports);
    }
    buf_done(&words);
    buf_done(&before);
}

/* Are there files, and only one when it is to be swept? */
static int words_check(const struct submit_settings *settings, const struct submit_words *words)
{
    if (sweep_check(&settings->sweep) < 0)
        return -1;
    if (settings->script.file && (sweep_is_wanted(&settings->sweep) || settings->append.count || settings->from)) {
        report(
            "--script: its ad is said by options: --table, --each-line, --each-file, --append and --from do not go with it");
        return -1;
    }
    if (settings->script.file)
        return 0;
    if (submit_script_says(&settings->script)) {
        report(
            "submit: --cpus, --memory, --input and the like go with --script; an ad says RequestCpus, RequestMemory, Inputs");
        return -1;
    }
    if (!words->file_count) {
        report("submit wants FILEs with the ads of jobs; - is standard input");
        return -1;
    }
    if (words->file_count > 1 && sweep_is_wanted(&settings->sweep)) {
        report(settings->sweep.files
                   ? "--each-file wants one FILE with an ad, got %d; a pattern is quoted, so that the shell does "
                     "not expand it: --each-file 'data/*.csv'"
                   : "--table and --each-line want one FILE with an ad, got %d",
               words->file_count);
        return -1;
    }
    return 0;
}

/* Do the jobs come again? Each rule is one ad, and is added by itself: so there is one, and it stands alone. -1 after a report. */
static int submission_comes_again(const struct job_submission *submission, const struct submit_settings *settings)
{
    size_t rules = 0;

    for (size_t i = 0; i < submission->count; i++)
        rules += cron_terms_said(submission->ads[i]);
    if (rules && submission->count > 1) {
        report("jobs that come again are submitted one ad at a time, which Count may make several jobs; there are %zu",
               submission->count);
        return -1;
    }
    if (rules && settings->key) {
        report("--key goes with jobs that are submitted now, and this one comes again: `berth cron` lists those");
        return -1;
    }
    return rules > 0;
}

/* Asks the pool whether this can match, uploads the files, and sends the jobs. */
static int submission_go(struct job_submission *submission, const struct submit_settings *settings)
{
    int status = connection_knock(submission->customer); /* before the matchmaker is asked about the jobs */
    int again = submission_comes_again(submission, settings);

    if (again < 0)
        return STATUS_BAD;
    if (status == STATUS_DONE)
        status = submit_check_urls(&settings->pool, submission);
    if (status == STATUS_DONE && !settings->force)
        status = submit_check_jobs(&settings->pool, submission);
    if (status == STATUS_DONE)
        status = submission_upload(submission);
    if (status == STATUS_DONE && again)
        return cron_terms_send(submission->customer, submission->ads[0], &(struct cron_terms){.schedule = NULL},
                               settings->json);
    return status == STATUS_DONE ? send_and_tell(submission, settings) : status;
}

static int submit_run(const void *given, int word_count, char **all)
{
    const struct submit_settings *settings = given;
    struct job_submission submission;
    struct connection customer;
    struct submit_words words;
    int status;

    submit_words_init(&words, word_count, all);
    if (words_check(settings, &words) < 0) {
        submit_words_done(&words);
        return STATUS_BAD;
    }
    status = customer_open(&customer, &settings->pool);
    submission_init(&submission, &customer);
    if (status == STATUS_DONE)
        status = submission_secrets(&submission, &settings->secrets);
    if (settings->script.file && status == STATUS_DONE)
        status = script_add(&submission, settings, word_count, all);
    for (int i = 0; !settings->script.file && i < words.file_count && status == STATUS_DONE; i++)
        status = file_add(&submission, settings, &words, words.files[i]);
    if (status == STATUS_DONE && !submission.count) {
        report("there is no ad in %s", words.file_count == 1 ? words.files[0] : "those files");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        gangs_remark(&submission);
    if (status == STATUS_DONE && submission.sets_modes && !settings->dry_run && !settings->script.file)
        surroundings_tell(&submission);
    if (status == STATUS_DONE)
        status =
            settings->dry_run ? submission_print(&submission, settings->json) : submission_go(&submission, settings);
    submission_done(&submission);
    connection_close(&customer);
    submit_words_done(&words);
    return status;
}

const struct command command_submit = {
    .name = "submit",
    .summary = "submit jobs",
    .usage = "[OPTIONS] FILE... [NAME=VALUE...]\n--script FILE [OPTIONS] [ARGUMENT...]",
    .about =
        "Reads the ads of jobs from files, one after another, and submits them: all or none. An ad says at least what to run, "
        "Cmd; Count says how many times. Their numbers are printed.\n"
        "\n"
        "A sweep is many jobs of one ad, sent together: one a row of a table with a line of names (--table runs.csv), one a line "
        "of a file (--each-line), or one a file that matches a pattern (--each-file 'data/*.csv', from the folder of FILE). What differs is in "
        "attributes that the ad reads: those called as the columns are, or Line, or File (data/a.csv), FileName (a.csv) and FileStem (a); and "
        "Index, 0 for the first job. So Args = { \"--seed\", Seed }, Inputs = { File }, Outputs = { strcat(FileStem, \".out\") }. A "
        "column is of numbers where all its fields are, written as 17 or 0.5; else of texts.\n"
        "\n"
        "NAME=VALUE sets an attribute of each ad, to a constant (17, 2G, true, { \"a\", \"b\" }) or else a text (Constraint, Rank and RequestMemory to any expression); in HTCondor's language a "
        "macro, before the first line.\n"
        "\n"
        "With --script a script is the job, and options say what an ad would: its processors, memory, files. With --terse its number alone is printed, for programs "
        "that submit (`berth jobs --word` tells them how it stands): there is a number, or a status that is not 0.\n"
        "\n"
        "What an ad does not say is filled in: Type = \"Job\"; RequestCpus 1, RequestMemory 512 MiB, RequestDisk 1 GiB (or half "
        "of what this machine has, if that is less); a Constraint for machines with this one's Arch and OpSys that have as much; "
        "a Rank for the least loaded (neither in an ad with Ports); ImageSize, the executable's; Iwd, the current folder, where the outputs come to.\n"
        "\n"
        "The files in Inputs are uploaded to the customer, which keeps each content once; a folder stands for all that is in it. "
        "So is the file of In, and the program itself when Cmd has a slash.\n"
        "\n"
        "A file may also be written in HTCondor's submit language or in JDL: it is recognised by its ending (.sub, .jdl) or by what it "
        "says, and --from decides. What is not carried over is told with its place; what would make another job of it is refused.\n"
        "\n"
        "Before that, the pool is asked. When none of the machines that it knows would take the job, even with nothing of them in use, why is "
        "told, the status is 1, and nothing is submitted, unless --force is given. When one would, but not now, or none has come yet, a "
        "warning is all.",
    .examples = {{"berth submit job.ad", "20 jobs submitted: 1-20"},
                 {"berth submit fit.ad --table runs.csv", "500 jobs submitted: 21-520"},
                 {"berth submit run.sub", "3 jobs submitted: 521-523"},
                 {"berth submit --key monday-run jobs/*.ad", NULL}},
    .options = submit_options,
    .option_count = sizeof submit_options / sizeof *submit_options,
    .settings_size = sizeof(struct submit_settings),
    .defaults = &submit_defaults,
    .run = submit_run,
};
