/* submit_expansion.h: an expansion under way, shared by submit_macros.c and submit_functions.c alone. */
#ifndef BERTH_LANG_FORM_SUBMIT_EXPANSION_H
#define BERTH_LANG_FORM_SUBMIT_EXPANSION_H

#include "lang/form/submit_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct expansion {
    struct submit_reader *reader;
    struct submit_place at;
    struct buf *out;
    struct err *err;
    unsigned depth;
};

/* Expands into another buffer. */
int submit_expand_apart(const struct expansion *expansion, const char *text, size_t len, struct buf *out);
/* Appends the value of a name: 1; 0 when there is no such name; -1. */
int submit_name_add(const struct expansion *expansion, const char *name, size_t len);
/* Appends the value of $NAME(BODY): submit_functions.c. */
int submit_function(const struct expansion *expansion, const char *name, size_t name_len, const char *body, size_t len);

#ifdef __cplusplus
}
#endif
#endif
