/* wire_fields.h: a list of fields as the attributes of an ad: what wire.c is made of. wire.h says what a field looks like. */
#ifndef BERTH_POOL_PROTOCOL_WIRE_FIELDS_H
#define BERTH_POOL_PROTOCOL_WIRE_FIELDS_H

#include "lang/text/build.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_NAME_ROOM 32 /* of a field's or kind's name, and a NUL */

/* VERIFY: verify. Returns the length. */
size_t wire_name_of_id(const char *id, char out[WIRE_NAME_ROOM]);

/* Writing: a kind as a string; the name of the attribute on top; the fields as attributes, returning how many are there; an ad of the
 * last `count`. */
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
    bool brief;          /* a field that is not there stays cleared */
    const char *skip;    /* the field of that name is not looked into; or NULL */
};

/* Which of the kinds, from the second on, the attribute of that name says; -1 when it is none. */
int wire_read_kind(struct wire_source *source, const char *name, const char *const *ids, unsigned count,
                   const char *what, struct err *err);

/* 0, or -1 and the field named. The structure was cleared; what it holds is its owner's to give back in both cases. */
int wire_read_fields(struct wire_source *source, const struct layout *layout, void *structure, struct err *err);

/* -1 when there is an attribute that was no field. */
int wire_read_end(const struct wire_source *source, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
