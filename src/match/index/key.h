/* key.h: values as an index orders them: a kind and a number.
 *
 * Numbers, truth values and times are doubles; integers from 2^53 on, which doubles do not tell apart, are not keys, and neither is NaN. A string
 * is the number of its lower-case text in a table that the index keeps. Within a kind keys compare as the language's operators do; where a dialect
 * lets truth values count, they are numbers. */
#ifndef BERTH_MATCH_INDEX_KEY_H
#define BERTH_MATCH_INDEX_KEY_H

#include "lang/ad/value.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An attribute of the other side: other.name, or other.name.then. */
struct attribute {
    symbol name, then; /* SYMBOL_NONE for none */
};

static inline bool attribute_same(struct attribute a, struct attribute b)
{
    return symbol_same(a.name, b.name) && symbol_same(a.then, b.then);
}

enum attribute_state {
    ATTRIBUTE_MISSING, /* the attribute is undefined */
    ATTRIBUTE_THERE,
    ATTRIBUTE_WRONG,   /* the attribute is an error: there is no ad to select from */
    ATTRIBUTE_UNKNOWN, /* the attribute must be evaluated */
};

/* Looks up an attribute of an ad; `ret` is its expression when the answer is ATTRIBUTE_THERE. */
enum attribute_state attribute_find(const struct tree *ad, struct attribute attribute, const struct expr **ret);

enum key_kind { KEY_NUMBER, KEY_BOOLEAN, KEY_ABSTIME, KEY_RELTIME, KEY_STRING, KEY_KINDS };

#define KEY_STRING_MAX 4096 /* bytes of a string that is a key */

/* A literal of a tree as a key that is not numbered yet. */
struct index_key {
    enum key_kind kind;
    double number;      /* all but strings */
    const char *string; /* not folded */
    uint32_t len;
};

/* Reads a literal as a key. False when it is not one: undefined, error, NaN, an integer from 2^53 on, a long string. `counts`: truth values are
 * numbers. */
bool key_of(const struct tree *tree, const struct expr *literal, bool counts, struct index_key *ret);

/* A hash of a key, the same for keys that are equal; spread over all bits. */
uint64_t key_hash(const struct index_key *key);

/* The next larger number, as nextafter towards infinity; the next smaller. Not for infinities. */
static inline double key_after(double v)
{
    int64_t bits;

    if (v == 0)
        return 0x1p-1074;
    memcpy(&bits, &v, sizeof bits);
    bits += v > 0 ? 1 : -1;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double key_before(double v)
{
    return -key_after(-v);
}

/* Strings, each with a number. */
struct key_strings {
    struct key_string *items;
    uint32_t count, room;
    uint32_t *slots; /* a power of two: the place plus one, or 0 */
    uint32_t slot_count;
    char *text; /* all of them, folded, one behind another */
    size_t text_len, text_room;
};

#define KEY_STRING_NONE UINT32_MAX

void key_strings_init(struct key_strings *strings);
void key_strings_done(struct key_strings *strings);

/* The number of a string: key_strings_add makes one if the string is new; key_strings_find gives KEY_STRING_NONE then. */
uint32_t key_strings_add(struct key_strings *strings, const char *text, uint32_t len);
bool key_strings_text(const struct key_strings *strings, double number, const char **ret_text, uint32_t *ret_len);
uint32_t key_strings_find(const struct key_strings *strings, const char *text, uint32_t len);

#ifdef __cplusplus
}
#endif
#endif
