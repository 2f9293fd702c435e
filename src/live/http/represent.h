/* represent.h: ads as bodies of requests and answers: which form is meant, reading it, writing it.
 *
 *     Accept: application/json                      application/classad is what is given when nothing is asked for
 *     Content-Type: application/classad; dialect=condor */
#ifndef BERTH_LIVE_HTTP_REPRESENT_H
#define BERTH_LIVE_HTTP_REPRESENT_H

#include "lang/form/form.h"
#include "lang/text/build.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TYPE_CLASSAD "application/classad"
#define TYPE_JSON "application/json"
#define TYPE_PROBLEM "application/problem+json"
#define TYPE_EVENTS "text/event-stream"

struct media {
    enum form form; /* FORM_UNKNOWN: to be recognised by the text */
    const struct dialect *dialect;
};

/* What a Content-Type says (NULL: nothing). False when it is a form that is not read here. */
bool media_read(const char *type, struct media *ret);

/* Which form of ads an Accept asks for (classads when it does not say), of something that is given in those types (with blanks between; ""
 * counts as ads). False when nothing that it asks for can be given. */
bool media_accept(const char *accept, const char *types, enum form *ret);

bool media_wants(const char *accept, const char *type); /* is that very type asked for? */

/* The Content-Type of an ad of that dialect in that form. */
const char *media_type(enum form form, const struct dialect *dialect);

/* Is the text UTF-8 without a NUL? If not, the error tells the place. */
int utf8_check(const char *text, size_t len, struct err *err);

/* The ad that a body is; NULL and the place of the error. */
struct tree *represent_read(struct symbols *symbols, const struct media *media, const struct form_limits *limits,
                            const char *text, size_t len, struct err *err);

/* Appends an ad, without a line's end. */
void represent_ad(struct buf *out, enum form form, const struct tree *ad);

/* Many ads: lines of classads, or one array of JSON. */
struct listing {
    struct buf *out;
    enum form form;
    uint32_t count;
};

void listing_begin(struct listing *listing, struct buf *out, enum form form);
void listing_add(struct listing *listing, const struct tree *ad);
void listing_end(struct listing *listing);

/* An ad made of values, attribute by attribute. */
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
void maker_parts(struct maker *maker, const struct tree *ad, const char *but); /* all of an ad's but one (NULL: all) */
struct tree *maker_seal(struct maker *maker); /* the caller unrefs it; the maker is done */

/* The ad without one of its attributes, of the same dialect. The caller unrefs it. */
struct tree *ad_without(const struct tree *ad, const char *name);

/* The string that an attribute of an ad is, as written; false when it is none. Lent. */
bool ad_string(const struct tree *ad, const char *name, const char **ret, size_t *ret_len);
bool ad_integer(const struct tree *ad, const char *name, int64_t *ret);
bool ad_number(const struct tree *ad, const char *name, double *ret);
bool ad_flag(const struct tree *ad, const char *name, bool *ret);
bool ad_word(const struct tree *ad, const char *name, uint64_t *ret); /* of 16 hexadecimal digits */
const struct expr *ad_find(const struct tree *ad, const char *name);  /* NULL: there is none */
struct tree *ad_part(const struct tree *ad, const struct expr *part); /* a part of it, alone; the caller unrefs it */

#define SELECT_MAX 64 /* names */

/* A rank, for people: what is no number is 0. */
struct value;
double rank_number(const struct value *rank);

void url_value(struct buf *out, const char *text); /* a text as it stands in a URL's query; appended */

/* Are those names with commas between, and not too many? */
bool select_is_good(const char *names);
/* The ad with only those attributes. The caller unrefs it. */
struct tree *ad_select(struct symbols *symbols, const struct tree *ad, const char *names);

#ifdef __cplusplus
}
#endif
#endif
