/* resource.h: ads as GRDL resources (match/grdl/translate.h) in bodies and answers, for routes that have them.
 *
 *     Content-Type: application/grdl+xml        one resource; it becomes an ad
 *     Accept: application/grdl+json             an ad that was a resource, or can be one */
#ifndef BERTH_LIVE_HTTP_RESOURCE_H
#define BERTH_LIVE_HTTP_RESOURCE_H

#include "lang/form/form.h"
#include "match/grdl/document.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TYPE_GRDL_XML "application/grdl+xml"
#define TYPE_GRDL_JSON "application/grdl+json"

/* The form that a Content-Type names; GRDL_FORM_UNKNOWN: it is not a resource. */
enum grdl_form resource_media(const char *type);

/* The form of resources that an Accept asks for first, if it is among those types; GRDL_FORM_UNKNOWN: none. */
enum grdl_form resource_accept(const char *accept, const char *types);

const char *resource_type(enum grdl_form form); /* the Content-Type */

/* The ad of the one resource in a body; NULL and the place of the error. */
struct tree *resource_read(struct symbols *symbols, enum grdl_form form, const struct form_limits *limits,
                           const char *text, size_t len, struct err *err);

/* Appends an ad as a resource; -1 and an error that says what cannot be expressed. */
int resource_write(struct buf *out, enum grdl_form form, const struct tree *ad, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
