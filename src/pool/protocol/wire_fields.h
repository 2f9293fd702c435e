/* wire_fields.h: a list of fields as the attributes of an ad: the parts of wire.c. wire.h says what a field looks like. */
#ifndef BERTH_POOL_PROTOCOL_WIRE_FIELDS_H
#define BERTH_POOL_PROTOCOL_WIRE_FIELDS_H

#include "lang/text/build.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_NAME_ROOM 32 /* for a field's or kind's name and a NUL */

/* VERIFY: verify. Returns the length. */
size_t wire_name_of_id(const char *id, char out[WIRE_NAME_ROOM]);

/* Writing: push a kind as a string; name the attribute on top; push the fields as attributes, returning how many there
 * are; make an ad of the last `count`. */
void wire_push_id(struct build *build, const char *id);
void wire_name_top(struct build *build, const char *name, size_t len);
uint32_t wire_push_fields(struct build *build, const struct layout *layout, const void *structure);
void wire_push_ad(struct build *build, uint32_t count);

/* An ad that is being read. */
struct wire_source {
    const struct tree *tree;
    const struct expr *ad;
    struct build *build; /* empty, for the ads inside */
    uint64_t taken;      /* bit i: the i-th attribute is a field */
    bool brief;          /* missing fields stay cleared */
    const char *skip;    /* the field of that name is not looked into; or NULL */
};

/* The number of the kind, from the second on, that the attribute of that name says; -1 when it is none of them. */
int wire_read_kind(struct wire_source *source, const char *name, const char *const *ids, unsigned count,
                   const char *what, struct err *err);

/* Returns 0, or -1 with an error that names the field. The structure was cleared; in both cases its owner gives back
 * what it holds. */
int wire_read_fields(struct wire_source *source, const struct layout *layout, void *structure, struct err *err);

/* Returns -1 when an attribute of the ad is not a field. */
int wire_read_end(const struct wire_source *source, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
