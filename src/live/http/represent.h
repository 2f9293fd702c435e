/* represent.h: ads as bodies of requests and answers: finding the form, reading it, writing it.
 *
 *     Accept: application/json                      the default is application/classad; some routes also give application/classad+xml
 *     Content-Type: application/classad; dialect=condor */
#ifndef BERTH_LIVE_HTTP_REPRESENT_H
#define BERTH_LIVE_HTTP_REPRESENT_H

#include "lang/form/form.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TYPE_CLASSAD "application/classad"
#define TYPE_JSON "application/json"
#define TYPE_XML "application/classad+xml" /* in answers alone */
#define TYPE_PROBLEM "application/problem+json"
#define TYPE_EVENTS "text/event-stream"

struct media {
    enum form form; /* FORM_UNKNOWN: the text tells which */
    const struct dialect *dialect;
};

/* Reads a Content-Type (NULL: none). False when it is a form that is not read here. */
bool media_read(const char *type, struct media *ret);

/* The form of ads that an Accept asks for (classads by default), where the answer can be given in those types (with blanks between; ""
 * counts as ads). False when nothing that it asks for can be given. */
bool media_accept(const char *accept, const char *types, enum form *ret);

bool media_wants(const char *accept, const char *type); /* does it ask for exactly that type? */

/* The Content-Type of an ad of that dialect in that form. */
const char *media_type(enum form form, const struct dialect *dialect);

/* Is the text UTF-8 without a NUL? If not, the error says where. */
int utf8_check(const char *text, size_t len, struct err *err);

/* The ad in a body; NULL and the place of the error. */
struct tree *represent_read(struct symbols *symbols, const struct media *media, const struct form_limits *limits,
                            const char *text, size_t len, struct err *err);

/* Appends an ad, as a document of its own, without a line's end. */
void represent_ad(struct buf *out, enum form form, const struct tree *ad);

/* Many ads: lines of classads, one array of JSON, or one document of XML. */
struct listing {
    struct buf *out;
    enum form form;
    uint32_t count;
};

void listing_begin(struct listing *listing, struct buf *out, enum form form);
void listing_add(struct listing *listing, const struct tree *ad);
void listing_end(struct listing *listing);

void url_value(struct buf *out, const char *text); /* appends a text, escaped for a URL's query */

#ifdef __cplusplus
}
#endif
#endif
