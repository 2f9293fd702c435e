/* cluster_words.c: a command of a batch system's table, filled in: $NAMEs become what they stand for. */
#include "exec/cluster_parts.h"

#include "lang/base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word_values {
    char seconds[24], minutes[24], clock[40], cpus[24], memory[24];
    struct {
        const char *name, *value;
    } items[10];
};

static const char *const word_names[] = {"NAME",    "SCRIPT", "OUTPUT", "FOLDER", "SECONDS",
                                         "MINUTES", "CLOCK",  "CPUS",   "MEMORY", "ID"};
#define WORD_NAMES (sizeof word_names / sizeof *word_names)

static const char *number_text(char ret[24], int64_t value)
{
    snprintf(ret, 24, "%lld", (long long)value);
    return value > 0 ? ret : NULL;
}

static void values_make(const struct cluster_order *order, struct word_values *ret)
{
    int64_t s = order->seconds;
    const char *values[WORD_NAMES] = {order->name,
                                      order->script,
                                      order->output,
                                      order->folder,
                                      number_text(ret->seconds, s),
                                      number_text(ret->minutes, (s + 59) / 60),
                                      s > 0 ? ret->clock : NULL,
                                      number_text(ret->cpus, order->cpus),
                                      number_text(ret->memory, (order->memory + (1 << 20) - 1) >> 20),
                                      order->id};

    snprintf(ret->clock, sizeof ret->clock, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    for (size_t i = 0; i < WORD_NAMES; i++) {
        ret->items[i].name = word_names[i];
        ret->items[i].value = values[i];
    }
}

/* Reads the name at a dollar, `$ID` or `${ID}`, and where it ends; false when there is none. "$$" is a dollar: a name of no length. */
static bool dollar_name(const char *at, const char **ret_name, size_t *ret_len, const char **ret_end)
{
    const char *name = at + 1, *end;
    bool braces = *name == '{';

    if (*name == '$') {
        *ret_name = name;
        *ret_len = 0;
        *ret_end = name + 1;
        return true;
    }
    name += braces;
    for (end = name; isupper((unsigned char)*end); end++)
        ;
    *ret_name = name;
    *ret_len = (size_t)(end - name);
    *ret_end = end + braces;
    return end > name && (!braces || *end == '}');
}

static int name_place(const char *name, size_t len)
{
    for (size_t i = 0; i < WORD_NAMES; i++)
        if (strlen(word_names[i]) == len && !memcmp(word_names[i], name, len))
            return (int)i;
    return -1;
}

int command_word_check(const char *word, struct err *err)
{
    const char *name, *end;
    size_t len;

    if (!strcmp(word, "$OPTIONS"))
        return 0;
    for (const char *at = word; (at = strchr(at, '$')); at = end) {
        if (!dollar_name(at, &name, &len, &end))
            return err_set(err, "expected a name in capitals behind '$' in \"%.60s\"; \"$$\" is a dollar", word);
        if (len && name_place(name, len) < 0)
            return err_set(err,
                           "\"%.60s\": there is no $%.*s; there are NAME SCRIPT OUTPUT FOLDER SECONDS MINUTES CLOCK "
                           "CPUS MEMORY ID, and OPTIONS as a word of its own",
                           word, (int)(len > 30 ? 30 : len), name);
    }
    return 0;
}

/* Fills the values into a word; NULL when one of its names has no value now. The caller frees it. */
static char *word_fill(const char *word, const struct word_values *values)
{
    const char *name, *end, *from = word, *at;
    struct buf out;
    char *filled;
    size_t len;

    buf_init(&out);
    while ((at = strchr(from, '$')) && dollar_name(at, &name, &len, &end)) {
        const char *value = len ? values->items[name_place(name, len)].value : "$";

        if (!value) {
            buf_done(&out);
            return NULL;
        }
        buf_add(&out, from, (size_t)(at - from));
        buf_adds(&out, value);
        from = end;
    }
    buf_adds(&out, from);
    filled = mem_dup(buf_string(&out), out.len);
    buf_done(&out);
    return filled;
}

char *table_word(const struct tree *table, const struct expr *list, uint32_t n)
{
    const struct expr *e = &tree_parts(table, list)[n];

    return mem_dup(tree_string(table, e), e->u.run.count);
}

char **cluster_words(const struct cluster *cluster, const char *command, const struct cluster_order *order)
{
    const struct expr *list = table_part(cluster->table, command);
    struct word_values values;
    char **words;
    size_t count = 0;

    if (!list)
        return NULL;
    values_make(order, &values);
    words = mem_alloc((list->u.run.count + order->option_count + 1) * sizeof *words);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        char *word = table_word(cluster->table, list, i);

        if (!strcmp(word, "$OPTIONS"))
            for (size_t k = 0; k < order->option_count; k++)
                words[count++] = mem_dup(order->options[k], strlen(order->options[k]));
        else if ((words[count] = word_fill(word, &values)))
            count++;
        free(word);
    }
    words[count] = NULL;
    return words;
}

void cluster_words_free(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}
