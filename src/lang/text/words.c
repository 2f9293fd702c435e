/* words.c: words that have a meaning, and what may be a name. */
#include "lang/text/words.h"

/* Are both the same word, whatever the case of `text`? `word` is in lower case. */
static bool same_word(const char *text, size_t len, const char *word)
{
    size_t i = 0;

    while (i < len && word[i] && (text[i] | 0x20) == word[i])
        i++;
    return i == len && !word[i];
}

bool word_may_name(const char *word, size_t len)
{
    if (len == 4)
        return !same_word(word, len, "self") && !same_word(word, len, "root");
    return len != 6 || !same_word(word, len, "parent");
}

bool word_is_plain(const char *word, size_t len)
{
    static const char *const keywords[] = {"is", "isnt", "true", "false", "error", "undefined"};

    for (size_t i = 0; i < len; i++) {
        char c = (char)(word[i] | 0x20);

        if (!((c >= 'a' && c <= 'z') || word[i] == '_' || (i && word[i] >= '0' && word[i] <= '9')))
            return false;
    }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (same_word(word, len, keywords[i]))
            return false;
    return len > 0;
}

const char *word_operator(const char *word, size_t len)
{
    static const char *const words[][2] = {{"and", "&&"}, {"or", "||"}, {"not", "!"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same_word(word, len, words[i][0]))
            return words[i][1];
    return NULL;
}
