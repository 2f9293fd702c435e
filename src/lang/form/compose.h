/* compose.h: puts an ad together, attribute by attribute, for the readers of forms that are not the language's own.
 *
 *     key "A", push 1, attribute; key "B", push "x", attribute; ad of 2 -> [ A = 1; B = "x" ]
 *
 * Names and limits are checked here. Errors have no place yet: the reader knows where it is, and adds it. */
#ifndef BERTH_LANG_FORM_COMPOSE_H
#define BERTH_LANG_FORM_COMPOSE_H

#include "lang/base/buf.h"
#include "lang/form/form.h"
#include "lang/text/build.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An attribute of an ad that is not finished. */
struct compose_key {
    uint64_t where; /* its place, as the reader counts */
    symbol name;    /* taken, until the attribute has its value */
};

struct compose {
    struct build build;
    uint32_t cells_max, attributes_max; /* cells: 0 means no limit */
    bool plain;                         /* names are taken as they are */
    struct compose_key *keys;
    uint32_t key_count, key_room;
    struct buf name;
};

void compose_init(struct compose *compose, struct symbols *symbols, const struct dialect *dialect,
                  const struct form_limits *limits);
void compose_done(struct compose *compose);
void compose_reset(struct compose *compose); /* drops an unfinished ad */

/* Begins an attribute of the ad that has `count` attributes already; its name is spelt as in spell.h. */
int compose_begin(struct compose *compose, uint32_t count, uint64_t where, const char *name, size_t len,
                  struct err *err);
/* The value that was pushed becomes the attribute's. */
int compose_attribute(struct compose *compose, struct err *err);

/* The same for an attribute that was pushed with its name. */
int compose_named(struct compose *compose, uint32_t count, uint64_t where, struct err *err);

/* Pushes the expression in that text, inside `depth` ads and lists. When that fails, compose_expr_why fills the error, whose words count places from
 * line and column, and returns the offset in the text. It is a function of its own since a place is costly to find. */
int compose_expr(struct compose *compose, const char *text, size_t len, unsigned depth);
size_t compose_expr_why(struct compose *compose, const char *text, size_t len, unsigned depth, unsigned line,
                        unsigned column, struct err *err);

/* Is everything that was pushed within the limit? */
int compose_fits(const struct compose *compose, struct err *err);

/* The last `count` attributes become an ad. `unique`: a name that is there twice is an error in every dialect;
 * `ret_where` is then the place of the later one. */
int compose_ad(struct compose *compose, uint32_t count, bool unique, uint64_t *ret_where, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
