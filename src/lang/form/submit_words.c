/* submit_words.c: the two ways in which HTCondor writes arguments and environments, and lists of names.
 *
 *     old    a b \"c\"             blanks separate, nothing quotes; A=1;B=2
 *     new    "a 'b c' ""d"" it''s"  double quotes around all; single quotes hold a word together; a doubled quote is a quote */
#include "lang/form/submit_parts.h"

#include <stdlib.h>

/* Calls `each` for one word at a time of the text between the double quotes. */
static int words_new(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err)
{
    bool quoted = false, begun = false;
    struct buf word;
    int result = 0;

    buf_init(&word);
    for (size_t i = 0; i < len && result == 0; i++) {
        if (text[i] == '"') {
            if (i + 1 >= len || text[i + 1] != '"')
                result = err_set(err, "expected a double quote within the quotes to be doubled");
            buf_addc(&word, '"');
            begun = true;
            i++;
        } else if (text[i] == '\'' && quoted && i + 1 < len && text[i + 1] == '\'') {
            buf_addc(&word, '\'');
            i++;
        } else if (text[i] == '\'') {
            quoted = !quoted;
            begun = true;
        } else if (!quoted && submit_blank(text[i])) {
            if (begun)
                result = each(user, buf_string(&word), word.len, err);
            buf_reset(&word);
            begun = false;
        } else {
            buf_addc(&word, text[i]);
            begun = true;
        }
    }
    if (result == 0 && quoted)
        result = err_set(err, "expected a single quote to close the one before");
    if (result == 0 && begun)
        result = each(user, buf_string(&word), word.len, err);
    buf_done(&word);
    return result;
}

/* Is the whole text in double quotes? -1 when they are not closed. */
static int quotes_around(const char **text, size_t *len, struct err *err)
{
    if (!*len || **text != '"')
        return 0;
    if (*len < 2 || (*text)[*len - 1] != '"')
        return err_set(err, "expected a double quote at the end of the value");
    ++*text;
    *len -= 2;
    return 1;
}

/* Words in the old syntax, separated by a character or by blanks. */
static int words_old(const char *text, size_t len, char separator, submit_word_fn *each, void *user, struct err *err)
{
    struct buf word;
    int result = 0;

    buf_init(&word);
    for (size_t i = 0; i <= len && result == 0; i++) {
        if (i == len || (separator ? text[i] == separator : submit_blank(text[i]))) {
            const char *at = buf_string(&word);
            size_t word_len = word.len;

            if (separator)
                submit_trim(&at, &word_len);
            if (word_len)
                result = each(user, at, word_len, err);
            buf_reset(&word);
        } else if (text[i] == '\\' && i + 1 < len && text[i + 1] == '"') {
            buf_addc(&word, '"');
            i++;
        } else if (text[i] == '"') {
            result = err_set(err, "expected \\\" for a double quote, or double quotes around the whole value");
        } else {
            buf_addc(&word, text[i]);
        }
    }
    buf_done(&word);
    return result;
}

int submit_words_new(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err)
{
    submit_trim(&text, &len);
    return quotes_around(&text, &len, err) < 0 ? -1 : words_new(text, len, each, user, err);
}

int submit_arguments(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err)
{
    int quoted;

    submit_trim(&text, &len);
    quoted = quotes_around(&text, &len, err);
    if (quoted < 0)
        return -1;
    return quoted ? words_new(text, len, each, user, err) : words_old(text, len, '\0', each, user, err);
}

int submit_environment(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err)
{
    int quoted;

    submit_trim(&text, &len);
    quoted = quotes_around(&text, &len, err);
    if (quoted < 0)
        return -1;
    return quoted ? words_new(text, len, each, user, err) : words_old(text, len, ';', each, user, err);
}

int submit_names(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err)
{
    int quoted;

    submit_trim(&text, &len);
    quoted = quotes_around(&text, &len, err);
    for (size_t start = 0, i = 0; quoted >= 0 && i <= len; i++)
        if (i == len || text[i] == ',') {
            const char *word = text + start;
            size_t word_len = i - start;

            submit_trim(&word, &word_len);
            if (word_len && each(user, word, word_len, err) < 0)
                return -1;
            start = i + 1;
        }
    return quoted < 0 ? -1 : 0;
}
