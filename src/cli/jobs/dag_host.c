/* dag_host.c: submits the job that carries out a workflow on the submit host, beside its files.
 *
 *     diamond.dag with SCRIPT lines  ->  [ Universe = "local"; Cmd = "/usr/bin/berth"; Args = { "dag", "run", "--run", "7f...", "diamond.dag" }; CarriesDag = true; ... ] */
#include "cli/jobs/dag_parts.h"

#include "cli/jobs/submission.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "sys/encoding.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

extern char **environ;

/* Variables that scripts have from where the workflow is submitted; those that end with `*` are patterns. */
static const char *const carried[] = {
    "PATH",          "HOME",        "USER",    "LOGNAME",     "SHELL",           "LANG",     "LC_*",   "TZ",
    "TMPDIR",        "PYTHON*",     "CONDA_*", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PERL5LIB", "X509_*", "ASAN_OPTIONS",
    "UBSAN_OPTIONS", "BERTH_STATE", "XDG_*",   "NO_COLOR"};

static bool is_carried(const struct dag *dag, const char *variable)
{
    size_t len = strcspn(variable, "=");

    for (size_t i = 0; i < sizeof carried / sizeof *carried; i++) {
        size_t name = strlen(carried[i]);

        if (carried[i][name - 1] == '*' ? !strncmp(carried[i], variable, name - 1)
                                        : name == len && !strncmp(carried[i], variable, len))
            return true;
    }
    for (uint32_t i = 0; i < dag->environment.count; i++)
        if (strlen(dag->environment.items[i]) == len && !strncmp(dag->environment.items[i], variable, len))
            return true;
    return false;
}

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != '_' && (unsigned)((text[i] | 32) - 'a') >= 26 && (!i || (unsigned)(text[i] - '0') >= 10))
            return false;
    return len > 0;
}

static void environment_print(struct buf *out, const struct dag *dag)
{
    bool first = true;

    buf_adds(out, "Env = [");
    for (char **one = environ; *one; one++) {
        size_t len = strcspn(*one, "=");

        if (!(*one)[len] || !is_name(*one, len) || !is_carried(dag, *one))
            continue;
        buf_addf(out, "%s %.*s = ", first ? "" : ";", (int)len, *one);
        print_string(out, *one + len + 1, strlen(*one + len + 1), PRINT_PLAIN);
        first = false;
    }
    buf_adds(out, " ];\n");
}

static void word_print(struct buf *out, const char *word)
{
    buf_adds(out, ", ");
    print_string(out, word, strlen(word), PRINT_PLAIN);
}

static void number_print(struct buf *out, const char *option, uint64_t number)
{
    char text[24];

    if (!number)
        return;
    snprintf(text, sizeof text, "%" PRIu64, number);
    word_print(out, option);
    word_print(out, text);
}

static void arguments_print(struct buf *out, const struct dag_settings *settings, const char *folder, int count,
                            char **files)
{
    unsigned char drawn[12] = {0};
    char digits[2 * sizeof drawn + 1];

    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        report("no random numbers are to be had");
    hex_print(drawn, sizeof drawn, digits);
    buf_adds(out, "Args = { \"dag\", \"run\"");
    word_print(out, "--run");
    word_print(out, digits);
    word_print(out, "--cwd");
    word_print(out, folder);
    number_print(out, "--maxjobs", settings->most_jobs);
    number_print(out, "--maxidle", settings->most_idle);
    number_print(out, "--maxpre", settings->most_pre);
    number_print(out, "--maxpost", settings->most_post);
    number_print(out, "--rescue-from", settings->rescue_from);
    if (settings->anew)
        word_print(out, "--anew");
    if (settings->no_rescue)
        word_print(out, "--no-rescue");
    for (int i = 0; i < count; i++)
        word_print(out, files[i]);
    buf_adds(out, " };\n");
}

static void text_print(struct buf *out, const char *name, const char *text, const char *more)
{
    struct buf whole;

    buf_init(&whole);
    buf_addf(&whole, "%s%s", text, more);
    buf_addf(out, "%s = ", name);
    print_string(out, whole.text, whole.len, PRINT_PLAIN);
    buf_adds(out, ";\n");
    buf_done(&whole);
}

/* The streams of the job lie beside the file, which may be elsewhere than the folder that it is typed in. */
static void stream_print(struct buf *out, const char *file, struct buf *to)
{
    static const struct {
        const char *name, *inside, *suffix;
    } rows[] = {{"Out", "dag.out", ".lib.out"}, {"Err", "dag.err", ".lib.err"}};

    for (size_t i = 0; i < 2; i++) {
        text_print(out, rows[i].name, rows[i].inside, "");
        buf_addf(to, "%s[ Name = \"%s\"; To = ", i ? ", " : "", rows[i].inside);
        struct buf path;

        buf_init(&path);
        buf_addf(&path, "%s%s", file, rows[i].suffix);
        print_string(to, path.text, path.len, PRINT_PLAIN);
        buf_adds(to, " ]");
        buf_done(&path);
    }
    buf_addf(out, "OutputTo = { %s };\n", buf_string(to));
}

static bool is_said(const struct dag_words *words, const char *name)
{
    size_t len = strlen(name);

    for (uint32_t i = 0; i < words->count; i++)
        if (strcspn(words->items[i], " \t=") == len && !strncasecmp(words->items[i], name, len))
            return true;
    return false;
}

/* Is an attribute set once more further on? The last one counts. */
static bool is_said_again(const struct dag_words *words, uint32_t place)
{
    size_t len = strcspn(words->items[place], " \t=");

    for (uint32_t i = place + 1; i < words->count; i++)
        if (strcspn(words->items[i], " \t=") == len && !strncasecmp(words->items[i], words->items[place], len))
            return true;
    return false;
}

static bool first_take(void *user, struct tree *answer)
{
    return ad_integer(answer, "First", user);
}

static int ad_send(const struct dag_settings *settings, struct connection *customer, const struct buf *text)
{
    struct job_submission submission;
    struct err err = {0};
    struct tree *ad = form_parse(customer->symbols, &dialect_classic, FORM_CLASSAD, NULL, text->text, text->len, &err);
    int64_t first = 0;
    struct buf out;
    int status;

    if (!ad) {
        report("SET_JOB_ATTR: %s", err.text);
        return STATUS_BAD;
    }
    submission_init(&submission, customer);
    status = submission_add(&submission, ad, ".", "the workflow");
    if (status == STATUS_DONE && settings->dry_run)
        status = submission_print(&submission, settings->json);
    else if (status == STATUS_DONE)
        status = submission_send(&submission, settings->key, true, first_take, &first);
    if (status == STATUS_DONE && !settings->dry_run) {
        buf_init(&out);
        if (settings->json)
            buf_addf(&out, "{\"workflow\": %" PRId64 ", \"first\": %" PRId64 ", \"count\": 1}\n", first, first);
        else
            buf_addf(&out, "workflow %" PRId64 " submitted: job %" PRId64 " carries it out on this machine\n", first,
                     first);
        output_write(&out);
        buf_done(&out);
    }
    submission_done(&submission);
    tree_unref(ad);
    return status;
}

/* Says so when it goes on from where another run of it has ended. */
static void rescue_tell(const struct dag_settings *settings, const char *file)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s.rescue001", file);
    if (!settings->anew && !settings->no_rescue && access(path, F_OK) == 0)
        report("%s: what an earlier run has done is not repeated, by its rescue file; --anew begins from the beginning",
               file);
}

int dag_host_submit(const struct dag_settings *settings, struct connection *customer, const struct dag *dag,
                    const char *why, int file_count, char **files)
{
    const char *slash = strrchr(files[0], '/');
    char here[PATH_MAX], self[PATH_MAX], folder[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    struct buf text, to;
    int status;

    if (!customer_is_near(customer)) {
        report(
            "%s: %s: this is done on the submit host, with the rights of the user who submits it: only on the socket of a "
            "customer of this machine",
            files[0], why);
        return STATUS_NO;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash == files[0] ? 1 : slash - files[0]) : 1,
             slash ? files[0] : ".");
    if (len < 0 || !getcwd(here, sizeof here) || !strcmp(files[0], "-")) {
        report("%s: %s: its file cannot be found again, since it is read from standard input", files[0], why);
        return STATUS_BAD;
    }
    self[len] = '\0';
    rescue_tell(settings, files[0]);
    buf_init(&text);
    buf_init(&to);
    buf_adds(&text, "[\nUniverse = \"local\";\nCarriesDag = true;\nOutputs = {};\n");
    text_print(&text, "Cmd", self, "");
    text_print(&text, "Iwd", here, "");
    text_print(&text, "Dag", slash ? slash + 1 : files[0], "");
    arguments_print(&text, settings, settings->cwd ? settings->cwd : folder, file_count, files);
    stream_print(&text, files[0], &to);
    text_print(&text, "UserLog", files[0], ".dagman.log");
    if (settings->batch_name && !is_said(&dag->attributes, "JobBatchName"))
        text_print(&text, "JobBatchName", settings->batch_name, "");
    environment_print(&text, dag);
    for (uint32_t i = 0; i < dag->attributes.count; i++)
        if (!is_said_again(&dag->attributes, i))
            buf_addf(&text, "%s;\n", dag->attributes.items[i]);
    buf_addc(&text, ']');
    status = ad_send(settings, customer, &text);
    buf_done(&text);
    buf_done(&to);
    return status;
}
