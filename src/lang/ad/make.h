/* make.h: makes new ads: from values, attribute by attribute; and from another ad, with fewer attributes. An ad never changes: whoever wants a
 * different one makes a new one. */
#ifndef BERTH_LANG_AD_MAKE_H
#define BERTH_LANG_AD_MAKE_H

#include "lang/text/build.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SELECT_MAX 64 /* names */

/* Makes an ad from values, attribute by attribute. */
struct maker {
    struct build build;
    uint32_t count;
};

void maker_init(struct maker *maker, struct symbols *symbols);
void maker_text(struct maker *maker, const char *name, const char *value); /* NULL: it is left out */
void maker_bytes(struct maker *maker, const char *name, const char *value, size_t len);
void maker_integer(struct maker *maker, const char *name, int64_t value);
void maker_seconds(struct maker *maker, const char *name, int64_t microseconds);
void maker_real(struct maker *maker, const char *name, double value);
void maker_flag(struct maker *maker, const char *name, bool value);
void maker_word(struct maker *maker, const char *name, uint64_t value); /* 16 hexadecimal digits */
void maker_texts(struct maker *maker, const char *name, const char *const *texts, size_t count);
void maker_integers(struct maker *maker, const char *name, const int64_t *numbers, uint32_t count); /* a list */
void maker_ad(struct maker *maker, const char *name, const struct tree *ad); /* NULL: it is left out */
void maker_list(struct maker *maker, const char *name, struct tree *const *ads, uint32_t count); /* of ads */
void maker_parts(struct maker *maker, const struct tree *ad, const char *but); /* all attributes but one (NULL: all) */
struct tree *maker_seal(struct maker *maker); /* the caller unrefs it; the maker is done */

/* The ad without one of its attributes, in the same dialect; NULL when `ad` is not an ad. The caller unrefs it. */
struct tree *ad_without(const struct tree *ad, const char *name);

/* The ad without any of those attributes (SELECT_MAX of them at most), in one pass; itself where it has none of them. The caller unrefs it. */
struct tree *ad_without_all(const struct tree *ad, const char *const *names, size_t count);

/* A part of an ad, alone. The caller unrefs it. */
struct tree *ad_part(const struct tree *ad, const struct expr *part);

/* Is this a list of names with commas between, and not too many? */
bool select_is_good(const char *names);
/* The ad with only those attributes. The caller unrefs it. */
struct tree *ad_select(struct symbols *symbols, const struct tree *ad, const char *names);

#ifdef __cplusplus
}
#endif
#endif
