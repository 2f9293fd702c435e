/* words.h: words that have a meaning, and what may be a name. */
#ifndef BERTH_LANG_TEXT_WORDS_H
#define BERTH_LANG_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* May this be an attribute's name? False for self, parent and root. */
bool word_may_name(const char *word, size_t len);

/* Is it an identifier and no keyword, so that a name is written without quotes? */
bool word_is_plain(const char *word, size_t len);

/* The operator that a word is in other languages, as ours is written: "&&" for and; NULL for any other word. */
const char *word_operator(const char *word, size_t len);

#ifdef __cplusplus
}
#endif
#endif
