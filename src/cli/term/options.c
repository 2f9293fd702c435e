/* options.c: the options of a command, read by its table. */
#include "cli/term/options.h"

#include "lang/base/nearest.h"
#include "lang/form/form.h"
#include "lang/text/dialect.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct option option_help_row = {'h', "help", NULL, "print this help", NULL, 0};

int option_flag(const char *text, void *target, struct err *err)
{
    (void)text, (void)err;
    *(bool *)target = true;
    return 0;
}

int option_file(const char *text, void *target, struct err *err)
{
    if (!*text)
        return err_set(err, "expected the name of a file, got an empty one");
    *(const char **)target = text;
    return 0;
}

int option_once(const char *text, void *target, struct err *err)
{
    if (*(const char **)target)
        return err_set(err, "expected one file, and there are '%.60s' and '%.60s'", *(const char **)target, text);
    return option_file(text, target, err);
}

int option_files(const char *text, void *target, struct err *err)
{
    struct option_files *files = target;

    if (files->count == OPTION_FILES_MAX)
        return err_set(err, "expected up to %d files", OPTION_FILES_MAX);
    if (option_file(text, &files->names[files->count], err) < 0)
        return -1;
    files->count++;
    return 0;
}

int option_text(const char *text, void *target, struct err *err)
{
    (void)err;
    *(const char **)target = text;
    return 0;
}

int option_number(const char *text, void *target, struct err *err)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno)
        return err_set(err, "expected a whole number, got '%.60s'", text);
    *(uint64_t *)target = value;
    return 0;
}

int option_count_to(const char *text, uint64_t max, void *target, struct err *err)
{
    uint64_t value = 0;

    if (option_number(text, &value, NULL) < 0 || value == 0 || value > max)
        return err_set(err, "expected a number from 1 to %llu, got '%.60s'", (unsigned long long)max, text);
    *(uint64_t *)target = value;
    return 0;
}

int option_dialect(const char *text, void *target, struct err *err)
{
    const struct dialect *dialect = dialect_find(text);

    if (!dialect)
        return err_set(err, "expected classic or condor, got '%.60s'", text);
    *(const struct dialect **)target = dialect;
    return 0;
}

int option_form(const char *text, void *target, struct err *err)
{
    enum form form = form_find(text);

    if (form == FORM_UNKNOWN)
        return err_set(err, "expected classad, json, xml or long, got '%.60s'", text);
    *(enum form *)target = form;
    return 0;
}

void option_print(struct buf *out, const struct option *option)
{
    if (option->letter)
        buf_addf(out, "-%c, ", option->letter);
    else
        buf_adds(out, "    ");
    buf_addf(out, "--%s", option->name);
    if (option->argument)
        buf_addf(out, " %s", option->argument);
}

/* One reading of a command line. It sorts out the words in place. */
struct reading {
    const struct option *options;
    size_t count;
    char *settings;
    int next, total; /* of the words */
    char **words;
    bool help;
    struct err *err;
};

static const struct option *find_letter(const struct reading *reading, char letter)
{
    for (size_t i = 0; i < reading->count; i++)
        if (reading->options[i].letter == letter)
            return &reading->options[i];
    return letter == option_help_row.letter ? &option_help_row : NULL;
}

static const struct option *find_name(const struct reading *reading, const char *name, size_t len)
{
    for (size_t i = 0; i < reading->count; i++)
        if (strlen(reading->options[i].name) == len && !memcmp(reading->options[i].name, name, len))
            return &reading->options[i];
    return len == strlen(option_help_row.name) && !memcmp(option_help_row.name, name, len) ? &option_help_row : NULL;
}

static int fail_unknown_name(struct reading *reading, const char *name, size_t len)
{
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (size_t i = 0; i < reading->count; i++)
        nearest_try(&nearest, reading->options[i].name);
    nearest_try(&nearest, option_help_row.name);
    if (nearest.name)
        return err_set(reading->err, "there is no option --%.*s; did you mean --%s?", (int)len, name, nearest.name);
    return err_set(reading->err, "there is no option --%.*s", (int)len, name);
}

/* Sets one option; `text` is its argument if it stood in the same word, else NULL. */
static int set_option(struct reading *reading, const struct option *option, const char *text)
{
    if (option == &option_help_row) {
        reading->help = true;
        return 0;
    }
    if (!option->argument && text)
        return err_set(reading->err, "--%s takes no argument", option->name);
    if (option->argument && !text) {
        if (reading->next == reading->total)
            return err_set(reading->err, "--%s wants an argument: %s", option->name, option->argument);
        text = reading->words[reading->next++];
    }
    if (option->read(text, reading->settings + option->at, reading->err) < 0)
        return err_context(reading->err, "--%s", option->name);
    return 0;
}

static int read_long(struct reading *reading, const char *word)
{
    size_t len = strcspn(word, "=");
    const struct option *option = find_name(reading, word, len);

    if (!option)
        return fail_unknown_name(reading, word, len < 100 ? len : 100);
    return set_option(reading, option, word[len] ? word + len + 1 : NULL);
}

static int read_letters(struct reading *reading, const char *word)
{
    for (const char *at = word; *at; at++) {
        const struct option *option = find_letter(reading, *at);

        if (!option) {
            if (at == word && word[1])
                return err_set(reading->err,
                               "there is no option -%c; an expression that begins with '-' goes behind a '--'", *at);
            if (at > word) /* it is named as it was typed */
                return err_set(reading->err, "there is no option -%.60s", word);
            return err_set(reading->err, "there is no option -%c", *at);
        }
        if (option->argument)
            return set_option(reading, option, at[1] ? at + 1 : NULL);
        if (set_option(reading, option, NULL) < 0)
            return -1;
    }
    return 0;
}

/* Are all letters of the word options without an argument? */
static bool is_flags(const struct reading *reading, const char *word)
{
    for (; *word; word++) {
        const struct option *option = find_letter(reading, *word);

        if (!option || option->argument)
            return false;
    }
    return true;
}

/* Is it the whole name of an option? HTCondor's commands have them behind one dash (-terse, -all, -dry-run), and hands remember that. */
static bool is_whole(const struct reading *reading, const char *word)
{
    size_t len = strcspn(word, "=");

    return len > 1 && find_name(reading, word, len) && (len > 3 || !is_flags(reading, word));
}

/* What HTCondor's commands have behind one dash, and what to say here. They must not be read as a letter with its argument: -compact is not -c ompact. */
static const struct {
    const char *name, *instead; /* an option that a command may have; or NULL */
} habits[] = {
    {"af", "format"},
    {"allusers", NULL},
    {"analyze", NULL},
    {"append", NULL},
    {"attributes", "format"},
    {"autoformat", "format"},
    {"available", NULL},
    {"backwards", NULL},
    {"batch", "submissions"},
    {"batch-name", NULL},
    {"better-analyze", NULL},
    {"claimed", NULL},
    {"compact", NULL},
    {"completedsince", "constraint"},
    {"cputime", NULL},
    {"currentrun", NULL},
    {"dag", NULL},
    {"debug", NULL},
    {"direct", NULL},
    {"file", NULL},
    {"forcex", NULL},
    {"forwards", NULL},
    {"global", NULL},
    {"goodput", NULL},
    {"grid", NULL},
    {"hold", "only"},
    {"idle", "only"},
    {"io", NULL},
    {"jobads", NULL},
    {"jsonl", "json"},
    {"master", NULL},
    {"match", "limit"},
    {"name", NULL},
    {"negotiator", NULL},
    {"nobatch", "all"},
    {"noheader", "format"},
    {"nowide", NULL},
    {"pool", NULL},
    {"print-format", "format"},
    {"reason", "why"},
    {"remote", NULL},
    {"reverse", NULL},
    {"run", "only"},
    {"scanlimit", "limit"},
    {"schedd", NULL},
    {"schedds", NULL},
    {"since", "constraint"},
    {"sort", NULL},
    {"spool", NULL},
    {"startd", NULL},
    {"state", "only"},
    {"submitter", "user"},
    {"submitters", NULL},
    {"total", NULL},
    {"totals", NULL},
    {"unmatchable", NULL},
    {"userprios", NULL},
    {"verbose", NULL},
    {"wide", NULL},
    {"xml", NULL},
};

static int fail_habit(struct reading *reading, const char *word)
{
    size_t len = strcspn(word, "=:");

    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        const char *instead = habits[i].instead;

        if (strlen(habits[i].name) != len || memcmp(habits[i].name, word, len) != 0)
            continue;
        if (instead && find_name(reading, instead, strlen(instead)))
            return err_set(reading->err, "there is no option -%s here; see --%s", habits[i].name, instead);
        return err_set(reading->err, "there is no option -%s here", habits[i].name);
    }
    return 0;
}

/* One word behind one dash: an option's name, a habit, or letters. */
static int read_short(struct reading *reading, const char *word)
{
    if (is_whole(reading, word))
        return read_long(reading, word);
    if (!is_flags(reading, word) && fail_habit(reading, word) < 0)
        return -1;
    return read_letters(reading, word);
}

enum options_result options_read(const struct option *options, size_t option_count, bool leading, void *settings,
                                 int *word_count, char **words, struct err *err)
{
    struct reading reading = {options, option_count, settings, 0, *word_count, words, false, err};
    bool options_end = false;
    int kept = 0;

    while (reading.next < reading.total) {
        char *word = words[reading.next++];
        bool is_long = word[0] == '-' && word[1] == '-';

        if (options_end || word[0] != '-' || !(is_long || isalpha((unsigned char)word[1]))) {
            words[kept++] = word;
            options_end = options_end || leading;
        } else if (is_long && !word[2]) {
            options_end = true;
        } else if ((is_long ? read_long(&reading, word + 2) : read_short(&reading, word + 1)) < 0) {
            return OPTIONS_BAD;
        }
    }
    *word_count = kept;
    return reading.help ? OPTIONS_HELP : OPTIONS_READ;
}
