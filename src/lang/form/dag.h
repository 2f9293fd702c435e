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
#define DAG_SPLICES_MAX 20000
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
    bool append; /* it stands behind the job's own file, not before it */
};

/* A script is run again when it ends with that status, after that many seconds. */
struct dag_defer {
    int64_t status, seconds; /* -1: never */
};

#define DAG_NO_STATUS INT64_MIN
#define DAG_DEPTH_MAX 32 /* files inside one another */

struct dag_node {
    char *name;
    char *file;           /* the file of its job, or of its workflow; NULL: see `description` */
    uint32_t description; /* 1 + the place of the text of its job in the workflow's own file; 0: none */
    char *folder;         /* the folder that the file, and the job's own files, are relative to; NULL: the workflow's */
    unsigned line;
    uint32_t source;             /* the file that says it: a place in `sources` */
    bool done;                   /* has run already; not to be run again */
    bool noop;                   /* its job is not run: it ends well at once */
    bool subdag;                 /* its file is a workflow, which is carried out when its turn comes */
    bool final;                  /* it runs when nothing else can */
    int64_t retries;             /* -1: not given */
    int64_t unless;              /* no retry after this exit status; -1: not given */
    int64_t priority;            /* 0: not given */
    int64_t pre_skip;            /* a script before the job that ends so ends the node well; -1: not given */
    int64_t abort, abort_return; /* an end of the node that ends the workflow; and the status of that, -1: the same */
    uint32_t category;           /* 1 + its place in `categories`; 0: none */
    struct dag_words pre, post;
    struct dag_defer pre_defer, post_defer;
    struct dag_variable *variables;
    uint32_t variable_count;
    uint32_t *parents; /* places of the nodes that it waits for */
    uint32_t parent_count, parent_room;
};

/* Nodes of one sort, of which only so many have their jobs queued at once. */
struct dag_category {
    char *name;
    int64_t most; /* -1: not said */
};

/* Nodes that came by a file that is spliced in. */
struct dag_splice {
    uint32_t from, to;            /* their places */
    uint32_t *initial, *terminal; /* those that wait for no other of them, and those that no other waits for */
    uint32_t initial_count, terminal_count;
    struct dag_pin {
        uint32_t node;
        int64_t number;
        bool out;
    } * pins;
    uint32_t pin_count, pin_room;
};

struct dag_source {
    char *file;   /* "": the first */
    char *folder; /* NULL: that of the workflow */
};

/* Gives the bytes of a file, named from the folder that the workflow's files are named from; -1 with the reason. */
typedef int dag_file_fn(void *user, const char *path, struct buf *ret, struct err *err);

struct dag {
    struct dag_node *nodes;
    uint32_t count, room;
    uint64_t edges;
    struct textmap names; /* name -> place */
    dag_file_fn *file;    /* set by the caller; NULL: no other files can be read */
    void *file_user;
    const char
        *runs;      /* the first word that has a meaning only where scripts run beside the file; NULL: there is none */
    uint32_t final; /* 1 + the place of the node that comes last; 0: none */
    struct textmap description_names;
    char **descriptions;
    uint32_t description_count, description_room;
    struct dag_category *categories;
    struct textmap category_names;
    uint32_t category_room;
    struct dag_splice *splices;
    struct textmap splice_names;
    uint32_t splice_room;
    struct dag_source *sources;
    uint32_t source_count, source_room;
    char *status_file, *jobstate_log, *dot_file, *config;
    int64_t status_span;          /* seconds between two writings of the status file */
    struct dag_words attributes;  /* NAME = VALUE for the job that carries the workflow out */
    struct dag_words environment; /* NAME=VALUE for its scripts, or NAME: from where it is submitted */
};

void dag_init(struct dag *dag);
void dag_done(struct dag *dag);

/* Adds a node of that name, which must be new. */
struct dag_node *dag_add(struct dag *dag, const char *name, size_t len);

typedef void dag_remark_fn(void *user, const struct err *remark);

/* Reads a file. Another may follow, which may name the nodes of those before (so a file of DONE lines rescues a
 * workflow). -1 with the error and its place; an error in a file that is read from there has its own place in the words. */
int dag_read(struct dag *dag, const char *text, size_t len, dag_remark_fn *remark, void *user, struct err *err);

/* Does the text look like a file of a workflow, and not like ads? */
bool dag_recognise(const char *name, const char *text, size_t len);

/* Is there a cycle? The place of a node on one; DAG_NODES_MAX + 1: there is none. */
uint32_t dag_cycle(const struct dag *dag);

/* The words of a workflow's file, for the manual: a word, and what becomes of it. */
struct dag_word {
    const char *word, *shape, *meaning;
};
extern const struct dag_word dag_words_told[];
extern const size_t dag_words_told_count;

#ifdef __cplusplus
}
#endif
#endif
