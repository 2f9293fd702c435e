/* model.h: what a GRDL resource says, exactly as it was written.
 *
 *     resource   class, name
 *       characteristics   dimension, type hint, value                     what it is
 *       requirements      a characteristic with a comparator              what whoever joins it must be
 *       preferences       a requirement with a rank                       whom it would rather have
 *       defaults          dimension, type                                 the type of its values that say none
 *
 * Nothing is interpreted here: a value is its text, a type is a hint. The consumer (consumer.h) decides what they mean, and makes a reading of a
 * resource; everything else in this folder works on readings.
 *
 * A value that is missing (text NULL) is *unspecified*; a dimension that is missing is *undefined*. A dimension may have several
 * characteristics, and several requirements. Names of dimensions and types are compared as they are spelt.
 *
 * A resource owns all its text: what it is given is copied. Once it has been read by a consumer it must not change any more. */
#ifndef BERTH_MATCH_GRDL_MODEL_H
#define BERTH_MATCH_GRDL_MODEL_H

#include "lang/base/arena.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRDL_PROPERTIES_MAX 512  /* characteristics, requirements, preferences or defaults of one resource, each kind */
#define GRDL_NAME_MAX 256        /* bytes of a class, name, dimension or type */
#define GRDL_TEXT_MAX 32768      /* bytes of a value */
#define GRDL_BYTES_MAX (1 << 17) /* bytes of all properties of a resource: so no two resources take long to compare */
#define GRDL_RANK_DEFAULT 1.0

/* The comparators. In a requirement, the candidate's characteristic stands left of them: `c >= r`. */
enum grdl_operator {
    GRDL_EQ, /* the default */
    GRDL_NE,
    GRDL_LT,
    GRDL_LE,
    GRDL_GT,
    GRDL_GE,
    GRDL_EQUIVALENT, /* = that ignores the case of letters in text */
    GRDL_ORDERED,    /* <= that ignores the case of letters in text */
    GRDL_SET_EQ,     /* the set-wise ones of table 6.1: all characteristics of the dimension */
    GRDL_SET_NE,
    GRDL_SET_LT,
    GRDL_SET_LE,
    GRDL_SET_GT,
    GRDL_SET_GE,
    GRDL_CLOSE, /* of preferences alone: by distance */
    GRDL_FAR,
};
#define GRDL_OPERATORS (GRDL_FAR + 1)

#define GRDL_OPERATOR_REQUIRES 1 /* may stand in a requirement */
#define GRDL_OPERATOR_PREFERS 2  /* may stand in a preference */
#define GRDL_OPERATOR_SET 4      /* looks at all characteristics of a dimension */

struct grdl_operator_row {
    const char *sign;        /* as we print it: "=", "<", "set_ge" */
    const char *word;        /* "eq", "lt", "set_ge" */
    unsigned uses;           /* GRDL_OPERATOR_... */
    enum grdl_operator base; /* the pairwise relation of a set-wise one; else itself */
};
extern const struct grdl_operator_row grdl_operators[GRDL_OPERATORS];

/* Reads a sign or a word: < <= > >= = == != >< <> lt le gt ge eq ne close far equivalent ordered set_eq ... False: it is neither. */
bool grdl_operator_read(const char *text, size_t len, enum grdl_operator *ret_operator);

struct grdl_char {
    const char *dimension;
    const char *type;      /* the hint; NULL: none */
    const char *text;      /* the value without blanks around it; NULL: unspecified */
    unsigned line, column; /* where it was written; 0: nowhere */
};

struct grdl_req {
    struct grdl_char at;
    enum grdl_operator match;
};

struct grdl_pref {
    struct grdl_req req;
    double rank; /* a lower one goes first */
};

/* "a default specified by the resource": 5.2.1, number 3. */
struct grdl_default {
    const char *dimension; /* NULL: the type is for every number of the resource */
    const char *type;
};

struct grdl_resource {
    const char *class_name; /* "task", "executor", ... */
    const char *name;       /* NULL: the resource has none */
    unsigned line, column;
    struct grdl_char *chars;
    struct grdl_req *reqs;
    struct grdl_pref *prefs;
    struct grdl_default *defaults;
    uint32_t char_count, req_count, pref_count, default_count;
    uint32_t char_room, req_room, pref_room, default_room;
    size_t bytes;       /* of its properties' text */
    struct arena arena; /* the text */
};

/* Makes a resource; `name` may be NULL. The caller frees it. */
struct grdl_resource *grdl_resource_new(const char *class_name, const char *name);
void grdl_resource_free(struct grdl_resource *resource);

/* Add a property behind those that are there. `type` and `text` may be NULL; blanks around the text are cut, and a text of blanks alone is not a
 * value. -1 when a name is empty or too long, there are too many properties, their text is too long, or the operator has no place there. */
int grdl_add_char(struct grdl_resource *resource, const char *dimension, const char *type, const char *text,
                  struct err *err);
int grdl_add_req(struct grdl_resource *resource, const char *dimension, enum grdl_operator match, const char *type,
                 const char *text, struct err *err);
int grdl_add_pref(struct grdl_resource *resource, const char *dimension, enum grdl_operator match, const char *type,
                  const char *text, double rank, struct err *err);
int grdl_add_default(struct grdl_resource *resource, const char *dimension, const char *type, struct err *err);

/* Gives a property of the resource another value; no limit is checked. */
void grdl_set_value(struct grdl_resource *resource, struct grdl_char *property, const char *type, const char *text);

/* Makes a copy that may be changed. Where `class_name` or `name` is NULL, it is that of `from`. */
struct grdl_resource *grdl_resource_copy(const struct grdl_resource *from, const char *class_name, const char *name);

/* Do both have the same class, name, properties and defaults in the same order? Places do not count. */
bool grdl_resource_same(const struct grdl_resource *a, const struct grdl_resource *b);

/* A list of resources, which it owns. */
struct grdl_resources {
    struct grdl_resource **items;
    uint32_t count, room;
};

void grdl_resources_init(struct grdl_resources *resources);
void grdl_resources_done(struct grdl_resources *resources);
void grdl_resources_take(struct grdl_resources *resources, struct grdl_resource *resource);
const struct grdl_resource *grdl_resources_named(const struct grdl_resources *resources,
                                                 const char *name); /* or NULL */

#ifdef __cplusplus
}
#endif
#endif
