/* resource.h: ads as GRDL resources (match/grdl/translate.h) in bodies and answers, where a route has that.
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

/* The form that a Content-Type says; GRDL_FORM_UNKNOWN: it is no resource. */
enum grdl_form resource_media(const char *type);

/* The form of resources that an Accept asks for first, of something that is given in those types; likewise. */
enum grdl_form resource_accept(const char *accept, const char *types);

const char *resource_type(enum grdl_form form); /* the Content-Type */

/* The ad of the one resource that a body is; NULL and the place of the error. */
struct tree *resource_read(struct symbols *symbols, enum grdl_form form, const struct form_limits *limits,
                           const char *text, size_t len, struct err *err);

/* Appends the resource that an ad is; -1 and what cannot be expressed. */
int resource_write(struct buf *out, enum grdl_form form, const struct tree *ad, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
