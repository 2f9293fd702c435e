/* schema.h: is a resource as our schema wants it? The schema is that of schema/ (section 8.3): types, dimensions, extensions, resources.
 *
 * A resource that was read is well-formed: what is left to check is whether its dimensions are known, and whether its values and types fit them.
 * libxml2 hears of it element by element, whatever form it came in: one schema for XML, JSON and ads. */
#ifndef BERTH_MATCH_GRDL_SCHEMA_H
#define BERTH_MATCH_GRDL_SCHEMA_H

#include "match/grdl/model.h"
#include "match/grdl/units.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grdl_schema;

/* Makes the schema; the units of a category are those of the table. */
struct grdl_schema *grdl_schema_new(const struct grdl_units *units);
void grdl_schema_free(struct grdl_schema *schema);

void grdl_schema_know(struct grdl_schema *schema, const char *dimension); /* from now on it is known */

enum grdl_complaint { GRDL_UNKNOWN_DIMENSION, GRDL_WRONG_VALUE };

/* Called for each complaint, in the order of the properties; the error has the property's place, or the resource's. */
typedef void grdl_complain_fn(void *user, enum grdl_complaint complaint, const struct err *err);

/* Checks a resource; returns how many complaints there were. An unknown dimension is told once for each resource. */
unsigned grdl_schema_check(struct grdl_schema *schema, const struct grdl_resource *resource, grdl_complain_fn *complain,
                           void *user);

#ifdef __cplusplus
}
#endif
#endif
