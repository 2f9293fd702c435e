/* document.h: resources as text: XML, JSON, and as an ad that is the record of a resource.
 *
 *     <resources>                                             or one resource alone
 *       <task name="job1">                                    any element is a resource, its name the class
 *         <chars> <mem type="MB"> 180 </mem> </chars>
 *         <reqs>  <mhz match="ge"> 2500 </mhz> </reqs>        match: as grdl_operator_read has them; = when it is missing
 *         <prefs> <cost match="&lt;" rank="1"/> </prefs>      rank: a number; 1 when it is missing
 *         <defaults type="MB"> <cpu type="hr"/> </defaults>   the type of values that say none: of all, of a dimension
 *       </task>
 *     </resources>
 *
 *     {"class": "task", "name": "job1", "chars": [{"dimension": "mem", "type": "MB", "value": "180"}],
 *      "reqs": [{"dimension": "mhz", "match": ">=", "value": "2500"}], "prefs": [...], "defaults": [...]}
 *
 * All are lossless: what is written reads back as the same resource. In XML the elements may be in no namespace or in GRDL_NAMESPACE. There are no
 * entities but the five of XML, no declarations, and nothing is loaded from elsewhere; the text, the attributes of a tag and the elements inside
 * one another are limited, so time and memory are linear in the text. */
#ifndef BERTH_MATCH_GRDL_DOCUMENT_H
#define BERTH_MATCH_GRDL_DOCUMENT_H

#include "lang/base/buf.h"
#include "lang/form/form.h"
#include "lang/text/build.h"
#include "match/grdl/model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRDL_NAMESPACE "urn:cern-ch:grid:GRDL:2006:1.0"
#define GRDL_DOCUMENT_MAX (64u << 20) /* bytes of a document */
#define GRDL_ATTRIBUTES_MAX 32        /* attributes of one tag */

enum grdl_form { GRDL_FORM_UNKNOWN, GRDL_FORM_XML, GRDL_FORM_JSON };

/* Guesses the form by the first character that is not a blank: '<' is XML, '{' or '[' is JSON. */
enum grdl_form grdl_form_guess(const char *text, size_t len);

/* Appends what the text holds; GRDL_FORM_UNKNOWN: in whatever form it looks like. On an error, -1 with its place; resources before it may have been
 * appended. JSON is one object after another, or an array of them; its places are those of the object. */
int grdl_document_read(struct grdl_resources *ret, enum grdl_form form, const char *text, size_t len, struct err *err);

/* Makes resources of the ads in a text, one after another, and appends them as grdl_document_read does: the ads' names are in `symbols`, which
 * stays the caller's. */
typedef struct grdl_resource *grdl_ad_fn(const struct tree *ad, struct err *err); /* NULL: it cannot be one */
int grdl_ads_read(struct grdl_resources *ret, struct symbols *symbols, enum form form, const char *text, size_t len,
                  grdl_ad_fn *make, struct err *err);

/* Writes resources: one XML document, or one JSON object per line. -1 when a name cannot be written in XML. */
int grdl_document_write(struct buf *out, enum grdl_form form, const struct grdl_resource *const *resources,
                        uint32_t count, struct err *err);

/* A resource as an ad, and back: [ class = "task"; name = "job1"; chars = { [ dimension = "mem"; ... ] }; ... ]. grdl_record_push pushes the ad;
 * for grdl_record_read, `e` is an ad of the tree. Only literals are read. */
void grdl_record_push(struct build *build, const struct grdl_resource *resource);
struct grdl_resource *grdl_record_read(const struct tree *tree, const struct expr *e, struct err *err);

/* Could this be the name of an element: a class, a dimension? */
bool grdl_name_is_good(const char *name, size_t len);

#ifdef __cplusplus
}
#endif
#endif
