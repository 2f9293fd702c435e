/* dag_parts.h: the reader of workflow files, shared by its parts. For dag*.c only.
 *
 *     dag.c           files: lines and statements, files inside one another, the workflow as a whole
 *     dag_words.c     the words of a statement, and the nodes that they name
 *     dag_nodes.c     statements that make nodes, and say who waits for whom
 *     dag_settings.c  statements about nodes, and about the workflow
 *     dag_table.c     the table of statements */
#ifndef BERTH_LANG_FORM_DAG_PARTS_H
#define BERTH_LANG_FORM_DAG_PARTS_H

#include "lang/form/dag.h"
#include "lang/form/submit_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct reading {
    struct dag *dag;
    dag_remark_fn *remark;
    void *user;
    bool second;            /* this is the second reading: the nodes are known */
    struct submit_place at; /* where the statement of the line begins */
    const char *text;       /* the rest of the statement */
    size_t len;
    const char *keyword;
    uint64_t work; /* bytes of statements about ALL_NODES, times the number of nodes */
    struct err *err;

    const char *whole; /* the text of the file ... */
    size_t whole_len, next;
    unsigned line; /* ... and how far it is read */
    struct buf *out;

    const char *prefix; /* before the names of nodes: "S+" in a splice */
    uint32_t source;    /* of the nodes that it makes */
    unsigned depth;
    struct dag_splice *splice; /* whose pins it sets; NULL: no splice */
};

/* ---- dag.c */
int dag_file_read(struct reading *reading, const char *path, struct buf *ret);
/* Reads the text with both passes, as a file inside of another. */
int dag_inner_read(struct reading *outer, const char *path, const struct buf *text, const char *prefix,
                   const char *folder, struct dag_splice *splice);
int dag_include(struct reading *reading, const char *path, const struct buf *text); /* the present pass alone */
bool dag_line_raw(struct reading *reading, const char **ret, size_t *ret_len);      /* the next line as it stands */
void dag_needs_host(struct reading *reading);                                       /* notes `runs` */

/* ---- dag_words.c */
int dag_fail(const struct reading *reading, const char *format, const char *word, size_t len);
int dag_wants(const struct reading *reading, const char *what);
void dag_skip(struct reading *reading, size_t count);
const char *dag_word_take(struct reading *reading, size_t *ret_len); /* NULL at the end of the line */
char *dag_word_dup(struct reading *reading);                         /* the same, for the caller to free */
bool dag_word_follows(struct reading *reading, const char *word);
int dag_line_ends(struct reading *reading);
int dag_number_take(struct reading *reading, int64_t most, const char *what, int64_t *ret);
int dag_signed_take(struct reading *reading, const char *what, int64_t *ret);
void dag_words_free(struct dag_words *words);
void dag_words_add(struct dag_words *words, const char *word, size_t len);

/* The nodes that a word names: one, or all of the present file for ALL_NODES. */
struct dag_nodes {
    uint32_t at, to;
    bool all;
};
int dag_nodes_take(struct reading *reading, struct dag_nodes *ret);
struct dag_node *dag_nodes_next(const struct reading *reading, struct dag_nodes *nodes); /* NULL: no more */
uint32_t dag_name_find(const struct reading *reading, const char *name, size_t len, const struct textmap *map);

/* ---- the statements */
typedef int dag_statement_fn(struct reading *reading);
dag_statement_fn dag_statement_job, dag_statement_subdag, dag_statement_final, dag_statement_splice,
    dag_statement_include, dag_statement_description, dag_statement_parent, dag_statement_connect, dag_statement_pin_in,
    dag_statement_pin_out;
dag_statement_fn dag_statement_done, dag_statement_retry, dag_statement_priority, dag_statement_script,
    dag_statement_vars, dag_statement_abort, dag_statement_pre_skip, dag_statement_category, dag_statement_maxjobs,
    dag_statement_status_file, dag_statement_jobstate, dag_statement_dot, dag_statement_config, dag_statement_env,
    dag_statement_attribute;

struct dag_statement {
    const char *word;
    dag_statement_fn *run; /* NULL: it is refused ... */
    const char *refused;   /* ... with these words */
    bool makes;            /* it makes nodes: it is run in both passes */
    bool host;             /* it has a meaning only where scripts run beside the file */
};
const struct dag_statement *dag_statement_find(const char *word, size_t len);

#ifdef __cplusplus
}
#endif
#endif
