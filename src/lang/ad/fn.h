/* fn.h: the functions of functions.def, and the helpers that they share.
 *
 * A function gets as many arguments as its row allows, evaluated (unless it is LAZY), and always sets its value. Where there is no better
 * answer, the value is error. Strings are borrowed from the arguments where they can be; new ones come from the budget. Work that grows
 * with a string or a list is charged as steps. */
#ifndef BERTH_LANG_AD_FN_H
#define BERTH_LANG_AD_FN_H

#include "lang/ad/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

#define F(name, dialects, min, max, traits, fn, arguments, help) function_fn fn;
#define ALSO F
#include "lang/ad/functions.def"
#undef ALSO
#undef F

/* A part of a string. */
struct fn_text {
    const char *at;
    size_t len;
};

static inline bool text_same(struct fn_text a, struct fn_text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool text_is_word(struct fn_text text, const char *word); /* whatever the case; the word is in small letters */
struct fn_text text_trim(struct fn_text text);            /* without blanks around it */

/* The string of a string value; false for any other value. */
static inline bool value_get_text(const struct value *v, struct fn_text *ret)
{
    if (v->type != VALUE_STRING)
        return false;
    ret->at = v->u.string;
    ret->len = v->len;
    return true;
}

/* The arguments from `from` on as strings; false when one of them is not a string. */
bool call_get_texts(const struct call *call, uint32_t from, struct fn_text *ret);

/* For HTCondor's functions that look for undefined before they look for error: true when one of these settles the value. */
bool call_undefined_first(const struct call *call, struct value *ret);

/* Appends a value as String() gives it; false when the budget is spent. */
bool call_add_text(struct call *call, struct buf *out, const struct value *v);

/* Return a copy of the text as the value. The second one frees the buffer. */
void call_return_text(struct call *call, struct fn_text text, struct value *ret);
void call_return_buf(struct call *call, struct buf *buf, struct value *ret);

/* Numbers. */
static inline double number_of(const struct value *v)
{
    return v->type == VALUE_INTEGER ? (double)v->u.integer : v->u.real;
}

int64_t real_to_any_integer(double real); /* past the range the smallest integer, as HTCondor does */

/* Reads as much of the text as makes a number, blanks in front allowed: C's strtod without a locale. Returns the bytes read; 0 for no number. */
size_t text_to_real(struct fn_text text, double *ret);

/* The factor that HTCondor multiplies a number by for the letter B, K, M, G or T at that place behind it; 1 when there is none. */
double text_scale(struct fn_text text, size_t at);

/* The real that HTCondor's real() makes of a value; false for undefined, error, aggregates and texts that hold no number. */
bool value_to_real(const struct value *v, double *ret);

/* Numbers one after another: their count, sum, least and greatest, by the operators of the language. */
struct fn_tally {
    const struct dialect *dialect;
    uint32_t count;
    bool real;    /* one of the numbers is a real */
    double total; /* the sum as a real, which does not wrap */
    struct value sum, least, greatest;
};

bool tally_add(struct fn_tally *tally, const struct value *v);                     /* false: not a number */
struct value tally_bound(const struct fn_tally *tally, const struct value *bound); /* with the type of the rest */

/* A set of bytes. */
struct byteset {
    uint64_t bits[4];
};

/* The items of a string that holds a list, one after another: cut at any of the delimiters, blanks around them dropped. */
struct text_items {
    struct fn_text rest;
    struct byteset delimiters;
    bool trim;
};

bool text_items_init(struct call *call, struct fn_text text, struct fn_text delimiters, struct text_items *ret);
bool text_items_next(struct text_items *items, struct fn_text *ret); /* no item is empty */

/* Parts of a time. */
int call_zone(struct call *call); /* the zone of the evaluation, where the call stands */
void time_format(struct buf *out, struct fn_text format, int64_t seconds, int zone_minutes);

#ifdef __cplusplus
}
#endif
#endif
