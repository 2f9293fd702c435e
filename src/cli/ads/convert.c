/* convert.c: berth convert: converts ads from one form to another, one at a time, in constant memory. */
#include "cli/ask/languages.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"

/* A form of ads, or a language of jobs. */
struct convert_from {
    enum form form;
    enum submit_language language;
};

struct convert_settings {
    const struct dialect *dialect;
    struct convert_from from;
    enum form to;
};

static int option_from(const char *text, void *target, struct err *err)
{
    struct convert_from from = {form_find(text), SUBMIT_UNKNOWN};

    if (from.form == FORM_UNKNOWN)
        from.language = submit_language_find(text);
    if (from.form == FORM_UNKNOWN && (from.language == SUBMIT_UNKNOWN || from.language == SUBMIT_AD))
        return err_set(err, "expected classad, json, xml, long, submit or jdl, got '%.60s'", text);
    *(struct convert_from *)target = from;
    return 0;
}

#define S struct convert_settings
static const struct option convert_options[] = {
    {'f', "from", "FORM",
     "the form of the files: classad, json, xml or long, recognised if not given; or a language of jobs: submit, jdl",
     option_from, offsetof(S, from)},
    {'t', "to", "FORM", "the form to print: classad (the default), json, xml or long", option_form, offsetof(S, to)},
    OPTION_DIALECT(S),
};
#undef S

static const struct convert_settings convert_defaults = {.dialect = &dialect_classic, .to = FORM_CLASSAD};

/* Converts all ads of one file. */
static int convert_file(const struct convert_settings *settings, struct symbols *symbols, const char *name,
                        struct buf *out)
{
    struct input_source source;
    struct tree *ad;
    struct err err;
    int got = -1;

    if (source_open(&source, symbols, settings->dialect, settings->from.form, name) == 0) {
        while ((got = source_next(&source, &ad)) > 0) {
            int written = form_write_ad(out, settings->to, ad, &err);

            tree_unref(ad);
            if (written < 0) {
                err_context(&err, "ad #%u", source.count);
                report_error(name, &err, NULL, 0);
                got = -1;
                break;
            }
            if (output_write(out) < 0)
                break;
        }
    }
    source_close(&source);
    return got < 0 ? STATUS_BAD : STATUS_DONE;
}

struct convert_job {
    const struct convert_settings *settings;
    struct buf *out;
};

static int job_print(void *user, struct tree *ad, unsigned line)
{
    struct convert_job *job = user;
    struct err err = {0};

    (void)line;
    if (form_write_ad(job->out, job->settings->to, ad, &err) == 0)
        return 0;
    report("%s", err.text);
    return -1;
}

/* Converts the jobs of a file in another language: all of them or none. */
static int convert_jobs(const struct convert_settings *settings, struct symbols *symbols, const char *name,
                        struct buf *out)
{
    struct convert_job job = {settings, out};
    int status = STATUS_BAD;
    struct buf text;

    buf_init(&text);
    if (file_read(name, &text) == 0 &&
        language_read(symbols, settings->from.language, name, &text, ".", job_print, &job) == 0)
        status = STATUS_DONE;
    else
        buf_reset(out);
    output_write(out);
    buf_done(&text);
    return status;
}

static int convert_run(const void *given, int word_count, char **words)
{
    static char standard_input[] = "-";
    char *only[] = {standard_input};
    const struct convert_settings *settings = given;
    struct symbols *symbols = names_new(0);
    int status = STATUS_DONE;
    struct buf out;

    if (word_count == 0) {
        words = only;
        word_count = 1;
    }
    buf_init(&out);
    form_write_begin(&out, settings->to);
    for (int i = 0; i < word_count && output_write(&out) == 0; i++)
        status |= settings->from.language ? convert_jobs(settings, symbols, words[i], &out)
                                          : convert_file(settings, symbols, words[i], &out);
    form_write_end(&out, settings->to);
    output_write(&out);
    buf_done(&out);
    symbols_free(symbols);
    return status;
}

const struct command command_convert = {
    .name = "convert",
    .summary = "print ads in another form",
    .usage = "[OPTIONS] [FILE...]",
    .about =
        "Reads ads from each FILE (`-`, or none, is standard input) and prints them in the form asked for. Nothing "
        "is lost on the way, so converting back gives the same ads.\n"
        "\n"
        "    classad   [ Memory = 64; Rank = other.Prio ]\n"
        "    json      {\"Memory\": 64, \"Rank\": \"/Expr(other.Prio)/\"}\n"
        "    xml       <c><a n=\"Memory\"><i>64</i></a>...</c>\n"
        "    long      Memory = 64, a line an attribute, an empty line between ads\n"
        "\n"
        "--from submit and --from jdl read jobs in HTCondor's submit language and in JDL, and print them as ads: docs/submit-languages.md.\n"
        "\n"
        "Ads are read one at a time: a file may be larger than memory. An ad that cannot be read ends its file, with "
        "status 2; the ads before it have been printed.",
    .examples = {{"berth convert --to json pool.ads", NULL},
                 {"echo '[ Cpus = 8; Up = true ]' | berth convert --to long", "Cpus = 8\nUp = true"},
                 {"condor_status -long | berth convert -d condor --to json -", NULL}},
    .options = convert_options,
    .option_count = sizeof convert_options / sizeof *convert_options,
    .settings_size = sizeof(struct convert_settings),
    .defaults = &convert_defaults,
    .run = convert_run,
};
