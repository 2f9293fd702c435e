/* complete.c: what can stand where the user has pressed TAB.
 *
 *     berth jobs --sta|            an option of the command         its table of options
 *     berth jobs --state |         the value of an option           by the name of the value in help: FOLDER
 *     berth agent heron |          a word of the command            its lines of usage: NAME drain, NAME resume, NAME status
 *     berth logs |                 the same, from the pool          ID: the numbers of jobs, asked of the customer
 *
 * A line of usage applies while the words before agree with those that it spells out (`peek`); what it writes in capitals is a sort of thing, and the
 * table `sorts` says who knows those. Nothing is ever reported: a pool that does not answer soon knows nothing. */
#include "cli/complete.h"

#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/terminal.h"
#include "lang/ad/functions.h"
#include "lang/ad/get.h"
#include "lang/base/cut.h"
#include "lang/base/mem.h"
#include "sys/signals.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define JOBS_MAX 200     /* jobs that are offered, and as many of the history */
#define NAMES_MAX 500    /* machines, agents, users */
#define ADS_LOOKED_AT 20 /* for the names of their attributes */
#define WORDS_MAX 64     /* on a command line that is completed */

struct completing {
    struct buf *out;
    const struct command *command;
    const char *start;              /* what the user has typed of the word */
    struct connection_options pool; /* as the options before say */
    const char *words[WORDS_MAX];   /* those before that are no options */
    int word_count;
};

/* ------------------------------------------------------------------------------------------------------------ candidates */

/* Is there a line for that word already? Two lines of usage may have the same place, and many ads have the same attributes. */
static bool is_there(const struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < out->len; at += strcspn(out->text + at, "\n") + 1)
        if (out->len - at > len && !strncasecmp(out->text + at, text, len) && out->text[at + len] == '\t')
            return true;
    return false;
}

/* Can the word be typed as it is, without quotes? */
static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == ' ' || strchr("'\"\\$`|&;<>()[]{}*?!#~:", text[i]))
            return false;
    return len > 0 && !controls_any(text, len);
}

static void offer_as(struct completing *at, const char *text, size_t len, const char *behind, const char *what)
{
    size_t typed = strlen(at->start), from;

    if (typed > len || strncasecmp(text, at->start, typed) != 0 || !is_plain(text, len))
        return;
    buf_string(at->out); /* it ends, as a text does */
    if (is_there(at->out, text, len))
        return;
    buf_add(at->out, text, len);
    buf_addf(at->out, "%s\t", behind);
    from = at->out->len;
    buf_adds(at->out, what);
    text_tame(at->out, from);
    buf_addc(at->out, '\n');
}

static void offer(struct completing *at, const char *text, const char *what)
{
    offer_as(at, text, strlen(text), "", what);
}

static void offer_all(struct completing *at, const char *list) /* words with blanks between */
{
    while (*list) {
        size_t len = strcspn(list, " ,");

        offer_as(at, list, len, "", "");
        list += len + strspn(list + len, " ,");
    }
}

/* -------------------------------------------------------------------------------------------------------------- the pool */

static bool ad_offer(void *user, struct tree *ad)
{
    struct completing *at = user;
    const char *name, *state = "";
    size_t len, state_len = 0;
    char what[32];

    ad_string(ad, "State", &state, &state_len);
    snprintf(what, sizeof what, "%.*s", (int)state_len, state);
    if (ad_string(ad, "Name", &name, &len) && *name != '-') /* nobody's machine becomes an option */
        offer_as(at, name, len, "", what);
    return true;
}

static bool job_offer(void *user, struct tree *job)
{
    struct completing *at = user;
    struct arena arena;
    struct buf what;
    int64_t number;
    char text[24];

    if (!ad_integer(job, "Job", &number))
        return true;
    arena_init(&arena);
    buf_init(&what);
    cell_print(&what, job, "State", CELL_VALUE, 0);
    buf_adds(&what, ": ");
    job_command(&what, job, &arena);
    what.len = cut_len(what.text, what.len, 60);
    snprintf(text, sizeof text, "%" PRId64, number);
    offer(at, text, buf_string(&what));
    buf_done(&what);
    arena_done(&arena);
    return true;
}

static bool attributes_offer(void *user, struct tree *ad)
{
    struct completing *at = user;
    const struct expr *root = tree_root(ad);

    for (uint32_t i = 0; root->kind == EXPR_AD && i < root->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(ad->symbols, tree_parts(ad, root)[i].label, &len);

        offer_as(at, name, len, "", "");
    }
    return true;
}

/* A job that comes again: its number, and when. */
static bool cron_offer(void *user, struct tree *cron)
{
    char number[24], schedule[256];
    int64_t id;

    if (!ad_integer(cron, "Cron", &id) || !ad_text(cron, "Schedule", schedule, sizeof schedule))
        return true;
    snprintf(number, sizeof number, "%" PRId64, id);
    offer(user, number, schedule);
    return true;
}

/* Asks the pool, or the customer, for a list. */
static void ask(struct completing *at, bool customer, const char *path, uint64_t limit, connection_ad_fn *each)
{
    struct connection pool;
    int status = customer ? customer_open(&pool, &at->pool) : connection_open(&pool, &at->pool);

    if (status == STATUS_DONE)
        connection_list(&pool, path, limit, each, at);
    connection_close(&pool);
}

static void offer_jobs(struct completing *at)
{
    static const char *const over[] = {"job", "logs", "outputs"}; /* commands that are about those that are over, too */

    ask(at, true, "/v1/jobs?select=Job,State,Cmd,Args", JOBS_MAX, job_offer);
    for (size_t i = 0; i < sizeof over / sizeof *over; i++)
        if (!strcmp(at->command->name, over[i]))
            ask(at, true, "/v1/history?select=Job,State,Cmd,Args", JOBS_MAX, job_offer);
}

static void offer_crons(struct completing *at)
{
    ask(at, true, "/v1/crons", 0, cron_offer);
}

static void offer_machines(struct completing *at)
{
    ask(at, false, "/v1/machines?select=Name,State", NAMES_MAX, ad_offer);
}

static void offer_agents(struct completing *at)
{
    ask(at, false, "/v1/agents?select=Name", NAMES_MAX, ad_offer);
}

static void offer_users(struct completing *at)
{
    ask(at, false, "/v1/users?select=Name", NAMES_MAX, ad_offer);
}

static void offer_offers(struct completing *at)
{
    ask(at, false, "/v1/ads?kind=offers&select=Name", NAMES_MAX, ad_offer);
}

/* Attributes: those that jobs have, for commands about jobs; else those of offers. Only a name that begins is completed, no expression. */
static void offer_attributes(struct completing *at)
{
    static const char *const about_jobs[] = {"jobs", "rm", "hold", "release", "history", "wait"};

    for (size_t i = 0; i < sizeof about_jobs / sizeof *about_jobs; i++)
        if (!strcmp(at->command->name, about_jobs[i])) {
            ask(at, true, "/v1/jobs", ADS_LOOKED_AT, attributes_offer);
            ask(at, true, "/v1/history", ADS_LOOKED_AT, attributes_offer);
            return;
        }
    ask(at, false, "/v1/ads?kind=offers", ADS_LOOKED_AT, attributes_offer);
}

/* -------------------------------------------------------------------------------------------------------------- ourselves */

static void offer_commands(struct completing *at)
{
    for (size_t i = 0; i < command_count; i++)
        offer(at, command_table[i]->name, command_table[i]->summary);
}

static void offer_functions(struct completing *at)
{
    for (size_t i = 0; i < function_count; i++)
        if (*at->start) /* there are too many to show them all */
            offer(at, function_table[i].name, function_table[i].help);
}

static void offer_settings(struct completing *at)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        offer(at, config_row((enum config_key)i)->name, config_row((enum config_key)i)->help);
}

static void offer_assignments(struct completing *at)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_row *row = config_row((enum config_key)i);

        offer_as(at, row->name, strlen(row->name), "=", row->help);
    }
}

static void offer_files(struct completing *at)
{
    buf_adds(at->out, ":files\n");
}

static void offer_folders(struct completing *at)
{
    buf_adds(at->out, ":folders\n");
}

static void offer_programs(struct completing *at)
{
    buf_adds(at->out, ":programs\n");
}

static void offer_dialects(struct completing *at)
{
    offer_all(at, "classic condor");
}

static void offer_signals(struct completing *at)
{
    offer_all(at, SIGNAL_WORDS);
}

static void offer_levels(struct completing *at)
{
    offer_all(at, "error warning info debug");
}

static void offer_forms(struct completing *at)
{
    offer_all(at, "classad json xml long");
}

static void offer_kinds(struct completing *at)
{
    offer_all(at, "offers requests");
}

/* What stands in capitals in lines of usage and in the help of options, and who knows those. Rows for one command come first. */
static const struct {
    const char *command, *word;
    void (*offer)(struct completing *at);
} sorts[] = {
    {"agent", "NAME", offer_agents},
    {"machine", "NAME", offer_machines},
    {"users", "NAME", offer_users},
    {"ads", "NAME", offer_offers},
    {"ads", "ID", NULL},
    {"ads", "KIND", offer_kinds},
    {"job", "NAME", offer_signals},
    {"cron", "NUMBER", offer_crons},
    {"exec", "COMMAND", offer_programs},
    {"exec", "ARGUMENT", NULL},
    {"run", "COMMAND", offer_programs},
    {"run", "ARGUMENT", offer_files},
    {"convert", "FORM", offer_forms},
    {NULL, "ID", offer_jobs},
    {NULL, "JOB", offer_jobs},
    {NULL, "FILE", offer_files},
    {NULL, "STORE", offer_files},
    {NULL, "FOLDER", offer_folders},
    {NULL, "DIR", offer_folders},
    {NULL, "EXPR", offer_attributes},
    {NULL, "A,B,...", offer_attributes},
    {NULL, "KEY", offer_settings},
    {NULL, "KEY=VALUE", offer_assignments},
    {NULL, "COMMAND", offer_commands},
    {NULL, "FUNCTION", offer_functions},
    {NULL, "DIALECT", offer_dialects},
    {NULL, "LEVEL", offer_levels},
};

static void offer_sort(struct completing *at, const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (strlen(sorts[i].word) == len && !memcmp(sorts[i].word, word, len) &&
            (!sorts[i].command || !strcmp(sorts[i].command, at->command->name))) {
            if (sorts[i].offer)
                sorts[i].offer(at);
            return;
        }
}

/* --------------------------------------------------------------------------------------------------------------- options */

static const struct option *option_of(const struct command *command, const char *name, size_t len, char letter)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct option *option = &command->options[i];

        if (letter ? option->letter == letter : strlen(option->name) == len && !memcmp(option->name, name, len))
            return option;
    }
    return NULL;
}

static void offer_options(struct completing *at)
{
    char text[64];

    for (size_t i = 0; i < at->command->option_count; i++)
        if (at->command->options[i].help) {
            snprintf(text, sizeof text, "--%s", at->command->options[i].name);
            offer(at, text, at->command->options[i].help);
        }
    offer(at, "--help", option_help_row.help);
}

/* Does that word begin an option, and which? `*ret_value` is the value that is in the same word, or NULL. */
static const struct option *option_read_word(const struct command *command, const char *word, const char **ret_value)
{
    const char *equals = strchr(word, '=');

    *ret_value = NULL;
    if (!strncmp(word, "--", 2)) {
        *ret_value = equals ? equals + 1 : NULL;
        return option_of(command, word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word) - 2, 0);
    }
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *option = option_of(command, NULL, 0, *letter);

        if (!option || option->argument) {
            *ret_value = option && letter[1] ? letter + 1 : NULL;
            return option;
        }
    }
    return NULL;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && (isalpha((unsigned char)word[1]) || (word[1] == '-' && word[2]));
}

/* Notes what an option before says about where the pool is. */
static void pool_note(struct completing *at, const struct option *option, const char *value)
{
    struct err err;

    if (!strcmp(option->name, "state"))
        option_config_state(value, &at->pool.config, &err);
    else if (!strcmp(option->name, "config"))
        option_config_file(value, &at->pool.config, &err);
    else if (!strcmp(option->name, "pool"))
        at->pool.url = value;
    else if (!strcmp(option->name, "customer"))
        at->pool.customer = value;
    else if (!strcmp(option->name, "token"))
        at->pool.token = value;
}

/* ----------------------------------------------------------------------------------------------------------------- usage */

/* One line of usage, as places: at each, words of which one stands there. */
struct usage {
    struct {
        const char *at; /* alternatives, with `|` between */
        size_t len;
    } places[WORDS_MAX];
    int count;
    bool goes_on; /* the last may be repeated */
};

/* Reads the next word of a line; brackets are left out. */
static bool usage_word(const char **at, const char *end, const char **ret, size_t *ret_len)
{
    *at += strspn(*at, " []");
    if (*at >= end)
        return false;
    *ret = *at;
    *ret_len = strcspn(*at, " []\n");
    *at += *ret_len;
    return *ret < end;
}

static void usage_read(const struct command *command, const char *line, const char *end, struct usage *ret)
{
    bool behind_option = true; /* what stands behind a `|` there is a word of its own */
    const char *word, *ignored;
    size_t len;

    *ret = (struct usage){.count = 0};
    while (usage_word(&line, end, &word, &len) && ret->count < WORDS_MAX) {
        bool is_other = len == 1 && *word == '|';
        char name[32];

        if (is_other && !usage_word(&line, end, &word, &len))
            return;
        if (*word == '-' && len > 1) {
            const struct option *option;

            snprintf(name, sizeof name, "%.*s", (int)len, word);
            option = strcmp(name, "--") ? option_read_word(command, name, &ignored) : NULL;
            if (option && option->argument)
                usage_word(&line, end, &word, &len); /* its value */
            behind_option = true;
        } else if (len == 7 && !memcmp(word, "OPTIONS", 7)) {
            behind_option = true;
        } else if (is_other && !behind_option) { /* it is in the place of what was before */
            ret->places[ret->count - 1].len = (size_t)(word + len - ret->places[ret->count - 1].at);
        } else {
            ret->goes_on = len > 3 && !memcmp(word + len - 3, "...", 3);
            ret->places[ret->count].at = word;
            ret->places[ret->count++].len = len - (ret->goes_on ? 3 : 0);
            behind_option = false;
        }
    }
}

/* Goes through the alternatives at a place. With a word: is it one of them, or can it be? Without one: they are offered. */
static bool place_has(struct completing *at, const char *text, size_t len, const char *word)
{
    for (size_t i = 0; i < len;) {
        size_t part = strcspn(text + i, " |");
        bool is_sort;

        if (part > len - i)
            part = len - i;
        is_sort = part && isupper((unsigned char)text[i]);
        if (word && (is_sort || (strlen(word) == part && !memcmp(word, text + i, part))))
            return true;
        if (!word && is_sort)
            offer_sort(at, text + i, part);
        else if (!word)
            offer_as(at, text + i, part, "", "");
        i += part;
        i += strspn(text + i, " |");
    }
    return false;
}

static void offer_usage(struct completing *at)
{
    const char *line = at->command->usage;

    while (*line) {
        const char *end = line + strcspn(line, "\n");
        struct usage usage;
        int place = at->word_count;
        bool applies;

        usage_read(at->command, line, end, &usage);
        if (place >= usage.count && usage.goes_on)
            place = usage.count - 1;
        applies = place < usage.count;
        for (int i = 0; i < place && applies; i++)
            applies = place_has(at, usage.places[i].at, usage.places[i].len, at->words[i]);
        if (applies)
            place_has(at, usage.places[place].at, usage.places[place].len, NULL);
        line = end + (*end == '\n');
    }
}

/* ----------------------------------------------------------------------------------------------------------------- all of it */

/* Reads the words before the last, and finds what the last one is: an option, its value, or a word. */
static void words_complete(struct completing *at, int word_count, char **words)
{
    const struct option *awaits = NULL;
    bool only_words = false;

    for (int i = 1; i < word_count - 1; i++) {
        const char *value;

        if (!strcmp(words[i], "=")) { /* bash takes --option=value apart */
            continue;
        } else if (awaits) {
            pool_note(at, awaits, words[i]);
            awaits = NULL;
        } else if (!only_words && !strcmp(words[i], "--")) {
            only_words = true;
        } else if (!only_words && is_option(words[i])) {
            awaits = option_read_word(at->command, words[i], &value);
            if (awaits && value)
                pool_note(at, awaits, value);
            if (awaits && (value || !awaits->argument))
                awaits = NULL;
        } else {
            only_words = only_words || at->command->leading;
            if (at->word_count < WORDS_MAX)
                at->words[at->word_count++] = words[i];
        }
    }
    if (awaits)
        offer_sort(at, awaits->argument, strlen(awaits->argument));
    else if (!only_words && at->start[0] == '-')
        offer_options(at);
    else
        offer_usage(at);
}

void complete_words(struct buf *out, int word_count, char **words)
{
    struct completing *at = mem_alloc(sizeof *at);

    *at = (struct completing){.out = out, .start = word_count ? words[word_count - 1] : ""};
    if (!strcmp(at->start, "="))
        at->start = "";
    if (word_count <= 1) {
        offer_commands(at);
        if (*at->start == '-')
            offer_all(at, "--help --version");
    } else if ((at->command = command_find(words[0]))) {
        words_complete(at, word_count, words);
    }
    free(at);
}
