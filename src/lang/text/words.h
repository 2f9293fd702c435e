/* words.h: words that have a meaning, and what may be a name. */
#ifndef BERTH_LANG_TEXT_WORDS_H
#define BERTH_LANG_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* May this word be an attribute's name? False for self, parent and root. */
bool word_may_name(const char *word, size_t len);

/* Is this an identifier and not a keyword, so that it can be written as a name without quotes? */
bool word_is_plain(const char *word, size_t len);

/* What this language writes for a word that is an operator in other languages: "&&" for and; NULL for any other word. */
const char *word_operator(const char *word, size_t len);

#ifdef __cplusplus
}
#endif
#endif
