/* words.c: reads options as HTCondor writes them. */
#include "cli/condor/parts.h"
#include "cli/term/report.h"

#include <string.h>
#include <strings.h>

static int option_find(const struct condor_option *options, int count, const char *name, size_t len)
{
    for (int i = 0; i < count; i++)
        if (len >= options[i].least && len <= strlen(options[i].name) && !strncasecmp(options[i].name, name, len))
            return i;
    return -1;
}

int words_next(struct condor_words *words, const struct condor_option *options, int option_count)
{
    const char *word, *name, *colon;
    int found;

    words->behind = NULL;
    if (words->at == words->count)
        return -2;
    word = words->value = words->words[words->at++];
    if (word[0] != '-' || !word[1])
        return -1;
    name = word + (word[1] == '-' ? 2 : 1);
    colon = strchr(name, ':');
    found = option_find(options, option_count, name, colon ? (size_t)(colon - name) : strlen(name));
    words->behind = colon ? colon + 1 : NULL;
    words->value = NULL;
    if (found < 0) {
        report("%s: '%.60s' is not understood here", words->command, word);
        return -3;
    }
    if (options[found].takes) {
        if (words->at == words->count) {
            report("%s: -%s wants a word behind it", words->command, options[found].name);
            return -3;
        }
        words->value = words->words[words->at++];
    }
    return found;
}
