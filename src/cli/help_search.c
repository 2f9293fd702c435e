/* help_search.c: berth help --search WORD: where a word stands in the help: commands, their options, settings, functions.
 *
 * One line a place, with what to type for more:
 *
 *     berth submit --input FILE   ...
 *     berth config --explain Keep ...
 *     berth help strcat           ... */
#include "cli/term/command.h"
#include "cli/term/wrap.h"
#include "lang/ad/functions.h"
#include "live/config/config.h"

#include <string.h>
#include <strings.h>

/* Is the word in the text, in whatever case? */
static bool has(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (; text && *text; text++)
        if (!strncasecmp(text, word, len))
            return true;
    return false;
}

struct search {
    struct buf *out;
    char **words;
    int count;
    unsigned found;
};

/* Is each of the words in one of the texts? */
static bool search_has(const struct search *search, const char *one, const char *two, const char *three)
{
    for (int i = 0; i < search->count; i++)
        if (!has(one, search->words[i]) && !has(two, search->words[i]) && !has(three, search->words[i]))
            return false;
    return true;
}

static void search_add(struct search *search, const struct buf *term, const char *what)
{
    struct buf line;

    buf_init(&line);
    buf_add(&line, term->text, term->len);
    wrap_item(search->out, buf_string(&line), what, 32);
    buf_done(&line);
    search->found++;
}

static void commands_search(struct search *search, bool names)
{
    struct buf term;

    buf_init(&term);
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = command_table[i];
        bool named = search_has(search, command->name, command->summary, NULL);

        if (named != names || !search_has(search, command->name, command->summary, command->about))
            continue;
        buf_reset(&term);
        buf_addf(&term, "berth help %s", command->name);
        search_add(search, &term, command->summary);
    }
    buf_done(&term);
}

static void options_search(struct search *search)
{
    struct buf term;

    buf_init(&term);
    for (size_t i = 0; i < command_count; i++)
        for (size_t at = 0; at < command_table[i]->option_count; at++) {
            const struct option *option = &command_table[i]->options[at];

            if (!option->help || !search_has(search, option->name, option->help, option->argument))
                continue;
            buf_reset(&term);
            buf_addf(&term, "berth %s --%s", command_table[i]->name, option->name);
            if (option->argument)
                buf_addf(&term, " %s", option->argument);
            search_add(search, &term, option->help);
        }
    buf_done(&term);
}

static void settings_search(struct search *search)
{
    struct buf term;

    buf_init(&term);
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_row *row = config_row((enum config_key)i);

        if (!search_has(search, row->name, row->help, NULL))
            continue;
        buf_reset(&term);
        buf_addf(&term, "berth config --explain %s", row->name);
        search_add(search, &term, row->help);
    }
    buf_done(&term);
}

static void functions_search(struct search *search)
{
    const struct function *last = NULL;
    struct buf term;

    buf_init(&term);
    for (size_t i = 0; i < function_count; i++) {
        const struct function *row = &function_table[i];

        if (!search_has(search, row->name, row->help, NULL) || (last && !strcasecmp(last->name, row->name)))
            continue;
        last = row;
        buf_reset(&term);
        buf_addf(&term, "berth help %s", row->name);
        search_add(search, &term, row->help);
    }
    buf_done(&term);
}

unsigned help_search(struct buf *out, int word_count, char **words)
{
    struct search search = {.out = out, .words = words, .count = word_count};

    commands_search(&search, true);
    commands_search(&search, false);
    options_search(&search);
    settings_search(&search);
    functions_search(&search);
    return search.found;
}
