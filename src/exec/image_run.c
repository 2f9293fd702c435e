/* image_run.c: how an image wants to be run. */
#include "exec/image_run.h"

#include <stdlib.h>
#include <string.h>

void image_run_say(struct buf *says, const char *key, const char *value)
{
    buf_add(says, key, strlen(key) + 1);
    buf_add(says, value, strlen(value) + 1);
}

/* All values of a key, as a list. */
static const char *const *values_of(const char *bytes, size_t len, const char *key, size_t most, struct arena *into)
{
    const char **list = arena_alloc(into, (most + 1) * sizeof *list);
    size_t count = 0;

    for (const char *at = bytes; at < bytes + len;) {
        const char *value = at + strlen(at) + 1;

        if (!strcmp(at, key))
            list[count++] = value;
        at = value + strlen(value) + 1;
    }
    list[count] = NULL;
    return list;
}

/* May a variable of an image reach the job? Those that say what the job is are ours. */
static bool variable_is_good(const char *word)
{
    const char *equals = strchr(word, '=');

    return equals && equals != word && strncmp(word, "BERTH_", 6) != 0 && strncmp(word, "HOME=", 5) != 0;
}

/* Is the folder one of the image? In what jobs have of their own it has nothing. */
static bool begin_is_good(const char *path)
{
    static const char *const own[] = {"/proc", "/sys", "/dev", "/tmp", "/job", "/run"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strncmp(path, own[i], strlen(own[i])) && (!path[strlen(own[i])] || path[strlen(own[i])] == '/'))
            return false;
    return *path == '/';
}

int image_run_read(const char *given, size_t len, struct arena *into, struct image_run *ret)
{
    const char *const *variables, *const *begin, *const *bytes;
    const char **good;
    size_t texts = 0, count = 0;
    char *copy;

    if (!len || len > IMAGE_SAYS_MAX || given[len - 1])
        return -1;
    copy = arena_alloc(into, len);
    memcpy(copy, given, len);
    for (size_t i = 0; i < len; i++)
        texts += !copy[i];
    if (texts % 2)
        return -1;
    variables = values_of(copy, len, IMAGE_SAYS_ENV, texts, into);
    good = arena_alloc(into, (texts + 1) * sizeof *good);
    for (; *variables; variables++)
        if (variable_is_good(*variables))
            good[count++] = *variables;
    good[count] = NULL;
    begin = values_of(copy, len, IMAGE_SAYS_BEGIN, texts, into);
    bytes = values_of(copy, len, IMAGE_SAYS_BYTES, texts, into);
    if (!*bytes)
        return -1;
    *ret = (struct image_run){.variables = good,
                              .entry = values_of(copy, len, IMAGE_SAYS_ENTRY, texts, into),
                              .command = values_of(copy, len, IMAGE_SAYS_COMMAND, texts, into),
                              .begin = *begin && begin_is_good(*begin) ? *begin : NULL,
                              .bytes = strtoll(*bytes, NULL, 10)};
    return ret->bytes < 0 ? -1 : 0;
}

static size_t words_count(const char *const *words)
{
    size_t count = 0;

    while (words[count])
        count++;
    return count;
}

const char *const *image_run_command(const struct image_run *run, const char *const *own, struct arena *into)
{
    const char *const *rest = own[0] ? own : own[1] ? own + 1 : run->command;
    size_t entry = words_count(run->entry), count = words_count(rest);
    const char **words = arena_alloc(into, (entry + count + 1) * sizeof *words);

    memcpy(words, run->entry, entry * sizeof *words);
    memcpy(words + entry, rest, (count + 1) * sizeof *words);
    return words[0] ? words : NULL;
}
