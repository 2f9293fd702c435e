/* doctor.c: berth doctor: looks over a machine, a user's set-up and the pool, and says what to do about what it finds. */
#include "cli/admin/doctor.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "cli/term/table.h"
#include "cli/term/wrap.h"
#include "lang/base/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COLUMN 25 /* at which what was found begins */

struct doctor_settings {
    struct connection_options pool;
    const char *bundle;
    bool json, quiet;
};

#define S struct doctor_settings
static const struct option doctor_options[] = {
    {0, "json", NULL, "JSON lines: an object a finding", option_flag, offsetof(S, json)},
    {'q', "quiet", NULL, "only what is not well", option_flag, offsetof(S, quiet)},
    {0, "bundle", "FILE",
     "write a new file for whoever is to help: the findings, settings, versions, the ends of logs, without secrets",
     option_file, offsetof(S, bundle)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct doctor_settings doctor_defaults = {0};

static const struct part {
    const char *name, *title;
    void (*look)(struct doctor *doctor);
} parts[] = {
    {"host", "This machine", doctor_host},
    {"setup", "What is set up here", doctor_setup},
    {"pool", "The pool", doctor_pool},
};
#define PARTS (sizeof parts / sizeof *parts)

static const char *const level_words[] = {"ok", "note", "problem"};

/* ------------------------------------------------------------------------------------------------------------ findings */

ERR_FORMAT(2, 0) static void add_text(struct buf *out, const char *format, va_list args)
{
    char text[4096];

    vsnprintf(text, sizeof text, format, args);
    buf_adds(out, text);
    text_tame(out, 0);
}

void doctor_say(struct doctor *doctor, enum doctor_level level, const char *about, const char *format, ...)
{
    struct doctor_finding *finding;
    va_list args;

    ARRAY_ROOM(doctor->findings, doctor->count, doctor->room, 32);
    finding = &doctor->findings[doctor->count++];
    *finding = (struct doctor_finding){.level = level, .part = doctor->part, .about = about};
    buf_init(&finding->found);
    buf_init(&finding->advice);
    va_start(args, format);
    add_text(&finding->found, format, args);
    va_end(args);
}

void doctor_advise(struct doctor *doctor, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_text(&doctor->findings[doctor->count - 1].advice, format, args);
    va_end(args);
}

void doctor_reported(struct buf *kept)
{
    static const char before[] = "berth: ";
    const char *text = buf_string(kept);
    struct buf line;

    report_keep(NULL);
    buf_init(&line);
    for (size_t len; *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        if (!strncmp(text, before, sizeof before - 1)) {
            text += sizeof before - 1;
            len -= sizeof before - 1;
        }
        buf_adds(&line, line.len ? "; " : "");
        buf_add(&line, text, len);
    }
    buf_done(kept);
    *kept = line;
}

/* ------------------------------------------------------------------------------------------------------------ printing */

void doctor_print(const struct doctor *doctor, bool all, struct buf *out)
{
    const char *part = NULL;
    char term[64];

    for (size_t i = 0; i < doctor->count; i++) {
        struct doctor_finding *finding = &doctor->findings[i];

        if (!all && finding->level == DOCTOR_GOOD)
            continue;
        for (size_t at = 0; at < PARTS && part != finding->part; at++)
            if (parts[at].name == finding->part)
                buf_addf(out, "%s\n", parts[at].title);
        part = finding->part;
        snprintf(term, sizeof term, "  %-8s %s", level_words[finding->level], finding->about);
        wrap_item(out, term, buf_string(&finding->found), COLUMN);
        if (finding->advice.len)
            wrap_item(out, "                   do:", buf_string(&finding->advice), COLUMN);
    }
}

static void json_print(const struct doctor *doctor, bool all)
{
    static const char *const columns[] = {"level", "part", "about", "found", "advice"};
    struct table table;

    table_init(&table, columns, sizeof columns / sizeof *columns, true);
    for (size_t i = 0; i < doctor->count; i++) {
        struct doctor_finding *finding = &doctor->findings[i];
        const char *level = level_words[finding->level];

        if (!all && finding->level == DOCTOR_GOOD)
            continue;
        table_text(&table, level, strlen(level));
        table_text(&table, finding->part, strlen(finding->part));
        table_text(&table, finding->about, strlen(finding->about));
        table_text(&table, buf_string(&finding->found), finding->found.len);
        table_text(&table, buf_string(&finding->advice), finding->advice.len);
    }
    table_finish(&table);
    table_done(&table);
}

static size_t levels_count(const struct doctor *doctor, enum doctor_level level)
{
    size_t count = 0;

    for (size_t i = 0; i < doctor->count; i++)
        count += doctor->findings[i].level == level;
    return count;
}

static void words_print(const struct doctor *doctor, bool all)
{
    size_t problems = levels_count(doctor, DOCTOR_PROBLEM), notes = levels_count(doctor, DOCTOR_NOTE);
    struct buf out;

    buf_init(&out);
    doctor_print(doctor, all, &out);
    buf_addf(&out, "%zu problem%s, %zu note%s\n", problems, problems == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
    output_write(&out);
    buf_done(&out);
}

/* ------------------------------------------------------------------------------------------------------------- looking */

/* Where the settings are wrong, the defaults do for the rest, with the state folder that was named or is the usual one. */
static void defaults_load(struct doctor *doctor, const struct config_sources *sources)
{
    static const char *const names[] = {"BERTH_STATE=", "XDG_STATE_HOME=", "HOME="};
    static const struct config_given usual = {"default", "State", "/var/lib/berth"};
    const char *variables[sizeof names / sizeof *names + 2] = {"XDG_CONFIG_HOME=/nonexistent"};
    struct config_given given[CONFIG_OPTIONS_MAX];
    struct config_sources some = {.root = sources->root, .etc = "/nonexistent", .variables = variables, .given = given};
    size_t count = 1;

    for (const char *const *at = sources->variables; *at; at++)
        for (size_t i = 0; i < sizeof names / sizeof *names && count <= sizeof names / sizeof *names; i++)
            if (!strncmp(*at, names[i], strlen(names[i])))
                variables[count++] = *at;
    for (size_t i = 0; i < sources->given_count; i++)
        if (!strcasecmp(sources->given[i].key, "State"))
            given[some.given_count++] = sources->given[i];
    if (config_load(&doctor->config, &some, NULL) == 0)
        return;
    given[0] = usual;
    some.given_count = 1;
    config_load(&doctor->config, &some, NULL);
}

static void settings_load(struct doctor *doctor, struct err *err)
{
    struct config_given given[CONFIG_OPTIONS_MAX];
    struct config_sources sources;

    config_options_sources(&doctor->options->config, given, &sources);
    doctor->configured = config_load(&doctor->config, &sources, err) == 0;
    if (!doctor->configured)
        defaults_load(doctor, &sources);
    doctor->state = config_text(&doctor->config, CONFIG_STATE);
}

static int words_read(int word_count, char **words, bool wanted[PARTS])
{
    for (size_t i = 0; i < PARTS; i++)
        wanted[i] = word_count == 0;
    for (int i = 0; i < word_count; i++) {
        size_t at = 0;

        while (at < PARTS && strcmp(words[i], parts[at].name) != 0)
            at++;
        if (at == PARTS) {
            report("doctor wants nothing, or some of: host, setup, pool; not '%.60s'", words[i]);
            return -1;
        }
        wanted[at] = true;
    }
    return 0;
}

static void doctor_done(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++) {
        buf_done(&doctor->findings[i].found);
        buf_done(&doctor->findings[i].advice);
    }
    free(doctor->findings);
    config_done(&doctor->config);
}

static int doctor_run(const void *given, int word_count, char **words)
{
    const struct doctor_settings *settings = given;
    struct doctor doctor = {.options = &settings->pool};
    bool wanted[PARTS];
    struct err err = {0};
    int status;

    if (words_read(word_count, words, wanted) < 0)
        return STATUS_BAD;
    settings_load(&doctor, &err);
    if (!doctor.configured) {
        doctor.part = "setup";
        doctor_say(&doctor, DOCTOR_PROBLEM, "settings", "%s", err.text);
        doctor_advise(&doctor,
                      "mend that setting: no daemon or command starts with it; `berth config --explain` lists what "
                      "there is");
    }
    for (size_t i = 0; i < PARTS; i++) {
        doctor.part = parts[i].name;
        if (wanted[i])
            parts[i].look(&doctor);
    }
    if (settings->json)
        json_print(&doctor, !settings->quiet);
    else
        words_print(&doctor, !settings->quiet);
    status = doctor.unreached                             ? STATUS_UNREACHABLE
             : levels_count(&doctor, DOCTOR_PROBLEM) != 0 ? STATUS_NO
                                                          : STATUS_DONE;
    if (settings->bundle && doctor_bundle(&doctor, settings->bundle) < 0)
        status = STATUS_BAD;
    doctor_done(&doctor);
    return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "look over this machine, what is set up on it and the pool",
    .usage = "[OPTIONS] [host] [setup] [pool]",
    .about =
        "Looks for what commonly is wrong, and says what to do about each finding. Without a word it looks at all three: the "
        "machine (kernel, sandbox of jobs, control groups, clock, name, addresses), what is set up on it (settings, "
        "state folder, disk, stores, tokens, certificates, daemons), and the pool as it answers from here (clocks and versions, "
        "what one's token allows, agents that cannot be called, machines that take no jobs, the customer). Nothing is changed.\n"
        "\n"
        "What is found is `ok`, a `note` (worth knowing) or a `problem`. The status is 0 without a problem, 1 with one, and 3 "
        "when a pool is known here and does not answer.\n"
        "\n"
        "Run it as the user whose daemon or jobs are meant: as root on a machine where berth runs as a service.\n"
        "\n"
        "With --bundle all of it goes to a file as well, with the settings, the versions and the ends of the logs in the state folder. Tokens, "
        "keys, codes and passwords in addresses are taken out of it; names of users, machines and files stay. It is a text: "
        "read it before you give it away.",
    .examples = {{"berth doctor", NULL},
                 {"berth doctor setup --state /var/lib/berth", NULL},
                 {"berth doctor --quiet --json", NULL},
                 {"berth doctor --bundle berth.txt", NULL}},
    .options = doctor_options,
    .option_count = sizeof doctor_options / sizeof *doctor_options,
    .settings_size = sizeof(struct doctor_settings),
    .defaults = &doctor_defaults,
    .run = doctor_run,
};
