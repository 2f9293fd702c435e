/* jdl_parts.h: what the files that read JDL share; not installed.
 *
 *     jdl.c         reading a file, and the row of each attribute that JDL knows
 *     jdl_values.c  places, texts, and the rows that need no more than that
 *     jdl_files.c   sandboxes, streams, output data
 *     jdl_match.c   requirements and rank */
#ifndef BERTH_LANG_FORM_JDL_PARTS_H
#define BERTH_LANG_FORM_JDL_PARTS_H

#include "lang/form/submit_parts.h"

struct jdl {
    const struct submit_world *world;
    struct symbols *symbols;
    struct tree *ad;
    struct buf text; /* as it is parsed: with brackets, without lines that are comments */
    bool wrapped;    /* the brackets are ours */
    size_t *starts;  /* of attributes, in their order */
    uint32_t start_count, start_room;
    uint32_t at;        /* the attribute at hand */
    struct buf sandbox; /* where the files of InputSandbox lie, a line each */
    struct buf out;     /* the ad that is made */
    struct submit_mentions mentions;
    struct err *err;
};

struct jdl_row;
/* Writes what becomes of the attribute into `out`; -1, and `err` says why not. */
typedef int jdl_row_fn(struct jdl *jdl, const struct jdl_row *row, const struct expr *e);

struct jdl_row {
    const char *name;
    const char *attribute; /* ours; or words */
    jdl_row_fn *write;
};

/* ---- jdl_values.c ---- */

/* The attribute at hand: where it stands, and its name. */
struct submit_place jdl_place(const struct jdl *jdl);
const char *jdl_name(const struct jdl *jdl);
/* Something is wrong with it: -1; or is to be said of it. */
int jdl_fail(const struct jdl *jdl, const char *words);
void jdl_remark(const struct jdl *jdl, const char *words);

/* An attribute of the job; or NULL. */
const struct expr *jdl_find(const struct jdl *jdl, const char *name);

bool jdl_is_text(const struct jdl *jdl,
                 const struct expr *e); /* one that is not empty, and in which nothing is to be put */
bool jdl_text_is(const struct jdl *jdl, const struct expr *e, const char *word);
/* Calls for a text, or for each of a list of texts. */
int jdl_each_text(struct jdl *jdl, const struct expr *e, int (*fn)(struct jdl *jdl, const char *text, size_t len));

void jdl_text_print(struct jdl *jdl, const char *text, size_t len); /* in quotes */
void jdl_attribute_print(struct jdl *jdl, const char *name, const char *text, size_t len);

jdl_row_fn jdl_row_refused, jdl_row_passed, jdl_row_quiet, jdl_row_text, jdl_row_kept, jdl_row_whole, jdl_row_type,
    jdl_row_job_type, jdl_row_one, jdl_row_expiry, jdl_row_arguments, jdl_row_environment;

/* ---- jdl_files.c ---- */

jdl_row_fn jdl_row_inputs, jdl_row_executable, jdl_row_input, jdl_row_stream, jdl_row_outputs, jdl_row_output_data;

/* ---- jdl_match.c ---- */

jdl_row_fn jdl_row_rank;
int jdl_constraint_write(struct jdl *jdl);

#endif
