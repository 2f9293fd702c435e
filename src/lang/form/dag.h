/* dag.h: workflows: jobs that wait for each other. As ads they are jobs with a name and the names of the jobs that they wait for:
 *
 *     [ Node = "D"; After = { "B", "C" }; Cmd = "join"; ... ]          or After = { "B, C" }
 *
 * and as files they are much like those of HTCondor's DAGMan (docs/workflows.md):
 *
 *     JOB D join.sub                        ->   nodes, each with the file of its job and its settings
 *     PARENT B C CHILD D
 *     RETRY D 3
 *
 * No input or output here. A statement that cannot be carried over is reported by name and place: as a remark where the workflow works without it, as
 * an error where the workflow would be a different one. Time and memory grow with the text and with the pairs of parent and child. */
#ifndef BERTH_LANG_FORM_DAG_H
#define BERTH_LANG_FORM_DAG_H

#include "lang/base/textmap.h"
#include "lang/form/submit.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DAG_BYTES_MAX (16u << 20)
#define DAG_NODES_MAX 100000
#define DAG_EDGES_MAX 2000000
#define DAG_NAME_MAX 255
#define DAG_VARIABLES_MAX 1000 /* of a node */
#define DAG_RETRIES_MAX 1000000
#define DAG_CYCLE_SHOWN 8 /* names of a cycle in an error */

/* ---- dag_check.c: workflows as ads */

/* Are these ads (in the classic dialect) a workflow? 1: each has a good Node, and After names nodes among them without a cycle.
 * 0: none has Node, After or NodeInputs. -1: `err` says what is wrong, `ret_place` with which ad. `seed` is for hashes: it must
 * be secret where names come from strangers. */
int dag_check(struct tree *const *ads, uint32_t count, uint64_t seed, uint32_t *ret_place, struct err *err);

bool dag_name_is_good(const char *name, size_t len); /* visible characters, none of them a comma */

/* Gives the names in an ad's After, one after another. An element of the list may hold several, with commas between: an ad has no room for a list of
 * ten thousand. Elements that are not strings are skipped. */
struct dag_after {
    const struct tree *ad;
    const struct expr *parts;
    uint32_t count, at;
    const char *text; /* the rest of the current element */
    size_t len;
};
void dag_after_begin(struct dag_after *after, const struct tree *ad);
bool dag_after_next(struct dag_after *after, const char **ret_name, size_t *ret_len);

/* ---- dag.c: workflows as files */

struct dag_words {
    char **items;
    uint32_t count;
};

struct dag_variable {
    char *name, *value;
};

struct dag_node {
    char *name;
    char *file;   /* the file of its job */
    char *folder; /* the folder that the file, and the job's own files, are relative to; NULL: the workflow's */
    unsigned line;
    bool done;        /* has run already; not to be run again */
    int64_t retries;  /* -1: not given */
    int64_t unless;   /* no retry after this exit status; -1: not given */
    int64_t priority; /* 0: not given */
    struct dag_words pre, post;
    struct dag_variable *variables;
    uint32_t variable_count;
    uint32_t *parents; /* places of the nodes that it waits for */
    uint32_t parent_count, parent_room;
};

struct dag {
    struct dag_node *nodes;
    uint32_t count, room;
    uint64_t edges;
    struct textmap names; /* name -> place */
};

void dag_init(struct dag *dag);
void dag_done(struct dag *dag);

/* Adds a node of that name, which must be new. */
struct dag_node *dag_add(struct dag *dag, const char *name, size_t len);

typedef void dag_remark_fn(void *user, const struct err *remark);

/* Reads a file. Another may follow, which may name the nodes of those before (so a file of DONE lines rescues a
 * workflow). -1 with the error and its place. */
int dag_read(struct dag *dag, const char *text, size_t len, dag_remark_fn *remark, void *user, struct err *err);

/* Does the text look like a file of a workflow, and not like ads? */
bool dag_recognise(const char *name, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
