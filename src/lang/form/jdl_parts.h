/* jdl_parts.h: shared by the files that read JDL; not installed.
 *
 *     jdl.c         reading a file, and the row of each attribute that JDL knows
 *     jdl_values.c  places, texts, and the rows that need no more than that
 *     jdl_files.c   sandboxes, streams, output data
 *     jdl_match.c   requirements and rank
 *     jdl_dirac.c   what DIRAC's dialect says otherwise
 *     jdl_many.c    files that are several jobs: parameters, collections, workflows */
#ifndef BERTH_LANG_FORM_JDL_PARTS_H
#define BERTH_LANG_FORM_JDL_PARTS_H

#include "lang/form/submit_parts.h"

#define JDL_NODES_MAX 10000

struct jdl {
    const struct submit_world *world;
    struct symbols *symbols;
    struct tree *ad;
    struct buf text; /* the text that is parsed: with brackets, and comment lines blanked */
    bool wrapped;    /* the brackets are not in the file */
    size_t *starts;  /* offsets of attributes in the text, in their order */
    uint32_t start_count, start_room;
    uint32_t at;        /* the current attribute */
    struct buf sandbox; /* paths of the files of InputSandbox, a line each */
    struct buf out;     /* the ad that is made */
    struct buf logical; /* names of InputSandbox that the pool's catalogue knows, a line each */
    struct submit_mentions mentions;
    struct err *err;
    /* Of one job of several: the file that it is of, the name of its node (or NULL), and whether remarks about it were made already. */
    const struct jdl *whole;
    const char *node;
    bool quiet;
    char *output; /* of the file: the StdOutput of its first job */
    bool output_told;
    uint64_t work; /* bytes that were written for jobs of the file */
};

struct jdl_row;
/* Writes the translation of an attribute into `out`; -1, and `err` says why not. */
typedef int jdl_row_fn(struct jdl *jdl, const struct jdl_row *row, const struct expr *e);

struct jdl_row {
    const char *name;
    const char *attribute; /* its name here; or the words of a remark or a refusal */
    jdl_row_fn *write;
};

/* ---- jdl.c ---- */

/* Copies the text of a file, with brackets around it; comment lines are blanked. True: the brackets were not in it. */
bool jdl_text_copy(struct buf *out, const char *text, size_t len);
/* Reads the job in `text`, and gives its ad, with `extra` in it. */
int jdl_job_read(struct jdl *jdl, const char *extra, submit_ad_fn *each, void *user);
void jdl_done(struct jdl *jdl);

/* ---- jdl_many.c ---- */

bool jdl_is_many(const struct jdl *jdl);
int jdl_many_read(struct jdl *jdl, submit_ad_fn *each, void *user);

/* ---- jdl_dirac.c ---- */

jdl_row_fn jdl_row_cpus, jdl_row_processes, jdl_row_false, jdl_row_store, jdl_row_input_data;
/* Appends clauses for Site, BannedSites and GridCE. */
int jdl_sites_write(struct jdl *jdl);

/* ---- jdl_values.c ---- */

/* The current attribute: where it stands, and its name. */
struct submit_place jdl_place(const struct jdl *jdl);
const char *jdl_name(const struct jdl *jdl);
/* Report an error of the current attribute (returns -1), or a remark about it. */
int jdl_fail(const struct jdl *jdl, const char *words);
void jdl_remark(const struct jdl *jdl, const char *words);

/* An attribute of the job; or NULL. */
const struct expr *jdl_find(const struct jdl *jdl, const char *name);

bool jdl_is_text(const struct jdl *jdl,
                 const struct expr *e); /* a text that is not empty, and without marks to fill in */
bool jdl_text_is(const struct jdl *jdl, const struct expr *e, const char *word);
/* Calls fn for a text, or for each of a list of texts. */
int jdl_each_text(struct jdl *jdl, const struct expr *e, int (*fn)(struct jdl *jdl, const char *text, size_t len));

void jdl_text_print(struct jdl *jdl, const char *text, size_t len); /* in quotes */
void jdl_attribute_print(struct jdl *jdl, const char *name, const char *text, size_t len);

jdl_row_fn jdl_row_refused, jdl_row_passed, jdl_row_quiet, jdl_row_text, jdl_row_kept, jdl_row_whole, jdl_row_type,
    jdl_row_job_type, jdl_row_one, jdl_row_expiry, jdl_row_arguments, jdl_row_environment;

/* ---- jdl_files.c ---- */

jdl_row_fn jdl_row_inputs, jdl_row_executable, jdl_row_input, jdl_row_stream, jdl_row_outputs, jdl_row_output_data,
    jdl_row_destination, jdl_row_destinations;

/* ---- jdl_match.c ---- */

jdl_row_fn jdl_row_rank;
int jdl_constraint_write(struct jdl *jdl);

#endif
