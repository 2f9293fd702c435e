/* dag_run.h: carries out a workflow from its file, as DAGMan does: nodes are submitted when their turn comes, scripts run beside the file.
 *
 *     dag_run.c         the loop: what is ready goes on, until nothing moves any more
 *     dag_run_node.c    what becomes of a node: PRE script, job, POST script, retries
 *     dag_run_script.c  scripts
 *     dag_run_jobs.c    jobs: submitted to the customer, and asked for
 *     dag_run_files.c   the journal, the rescue file, the log and what else is written beside the file
 *
 *     WAITS --parents done--> READY --PRE--> JOB --over--> POST --> DONE
 *                               ^---------- retry ----------'----> FAILED
 *
 * Every end of a script, every job and every end of a node is written to the journal (FILE.nodes.log) before anything follows from it. When the run is
 * killed and begun again under the same name, it goes on from there: what has ended is not repeated, and a job is submitted under a key that says
 * which try of which node it is, so that it is the same job. */
#ifndef BERTH_CLI_JOBS_DAG_RUN_H
#define BERTH_CLI_JOBS_DAG_RUN_H

#include "cli/ask/jobs.h"
#include "cli/jobs/dag_parts.h"
#include "lang/base/textmap.h"
#include "lang/form/dag.h"

#include <stdio.h>
#include <sys/types.h>

#define RUN_IDLE_MOST 1000          /* jobs that wait for machines; then no more are submitted */
#define RUN_SCRIPTS_MOST 20         /* scripts at once */
#define RUN_SCRIPT_SECONDS 86400    /* then a script is ended */
#define RUN_SCRIPT_BYTES (1u << 20) /* of its output are kept */
#define RUN_DEPTH_MOST 16           /* workflows inside one another */
#define RUN_NO_JOB (-1001)          /* the status of a node whose job could not be submitted */
#define RUN_LOST (-1002)            /* ... or was removed, or is not known any more */

/* What keeps a node that is ready: nothing, the number of PRE scripts, that of jobs; from GATE_CATEGORIES on, its category and that of jobs. */
enum run_gate { GATE_FREE, GATE_PRE, GATE_JOBS, GATE_CATEGORIES };

enum node_state { NODE_WAITS, NODE_READY, NODE_PRE, NODE_JOB, NODE_POST, NODE_DONE, NODE_FAILED };

struct run;

struct run_script {
    struct run_script *next;
    struct run *run;
    uint32_t node;
    bool post;
    pid_t pid;
    int out; /* what it says */
    uint32_t said;
    int64_t ends; /* seconds */
};

struct run_node {
    enum node_state state;
    bool pre_done; /* its PRE script has run in this try */
    uint32_t blocked, tries;
    int64_t status, pre_status;
    uint64_t first, count; /* its jobs; 0: none */
    uint64_t over, seen;   /* of these, by the last look */
    uint32_t listed;       /* the last look that it was among those to look for */
    uint32_t missed;       /* looks in a row that did not find all of them */
    int64_t bad;           /* status of one that ended badly */
    bool failed;
    int64_t due; /* when a script is run again; 0: none rests */
    struct run *sub;
};

/* Nodes that are ready and wait behind the same limit, the first of them on top: when it may not go, none of them may. */
struct run_heap {
    struct run_turn {
        int64_t priority;
        uint32_t node;
    } * items;
    uint32_t count, room;
};

struct runner {
    struct connection customer;
    uint64_t job;                                       /* that carries it out; 0: none does */
    const char *name;                                   /* of the run: the same when it is begun again */
    uint64_t most_jobs, most_idle, most_pre, most_post; /* 0: no limit */
    bool always_post, anew;
    int64_t rescue_from; /* -1: the last one */
    struct run_script *scripts;
    uint32_t pre_count, post_count;
    uint64_t queued, idle; /* nodes with jobs, and jobs that wait for machines */
    struct textmap remarked;
    double changes;
    int64_t look, pause; /* milliseconds: when jobs are looked at, and how long between */
    bool stopping;
};

struct run {
    struct runner *runner;
    struct run *outer, *subs, *next; /* the workflows that nodes of it are */
    uint32_t outer_node;
    unsigned depth;
    struct dag dag;
    char *file, *folder; /* of the first file; and from which files are named, from the root on */
    char name[64];       /* of the run, with that of the outer ones */
    struct run_node *nodes;
    uint32_t *first, *children;
    struct run_heap *gates; /* nodes that are ready: those of GATE_FREE, GATE_PRE, GATE_JOBS, and of each category */
    uint32_t gate_count;
    uint32_t ready;                      /* nodes in all of them */
    uint32_t *jobs, job_count, job_room; /* places of nodes whose jobs are queued; some may be over */
    uint32_t *in_category;               /* nodes of each category whose jobs are queued */
    uint32_t active;                     /* nodes that are ready or further, and not over */
    uint32_t done, failed, resting;      /* `resting`: scripts that are to run again later */
    bool dirty, finishing, over, aborted, loaded;
    int status, abort_status; /* of the whole, when it is over */
    int lock, journal;
    FILE *log, *jobstate;
    uint64_t sequence;
    uint32_t looks;
    int64_t status_due;
};

/* ---- dag_run.c */
/* Opens a workflow: files of it, the first of which gives its name, or the one file of a node. NULL: that cannot be done, which has been reported. */
struct run *run_open(struct runner *runner, struct run *outer, uint32_t outer_node, const char *folder, int file_count,
                     char **files);
void run_free(struct run *run);
void run_step(struct run *run); /* goes on as far as possible now */
void run_abort(struct run *run, int status);
int64_t run_now(void); /* milliseconds */

/* ---- dag_run_node.c */
void node_ready(struct run *run, uint32_t place);  /* its turn has come */
void node_queued(struct run *run, uint32_t place); /* its job, or the workflow that it is, is under way */
struct run_heap *gate_next(struct run *run);       /* whose first node is the next that may go; NULL: none may */
uint32_t gate_pop(struct run *run, struct run_heap *gate);
void node_go(struct run *run, uint32_t place); /* begins with its PRE script or its job; may find that it has to wait */
bool node_may_go(const struct run *run, uint32_t place); /* do the limits let it? */
void node_script_ended(struct run *run, uint32_t place, bool post, int64_t status);
void node_job_ended(struct run *run, uint32_t place, int64_t status);
void node_end(struct run *run, uint32_t place, bool good);

/* ---- dag_run_script.c */
int script_start(struct run *run, uint32_t place, bool post);
void scripts_wait(struct runner *runner, int milliseconds);     /* for what they say, and their ends */
void scripts_end(struct runner *runner, const struct run *run); /* ends those of that run, or all */
int run_dag_status(const struct run *run);

/* ---- dag_run_jobs.c */
int job_start(struct run *run, uint32_t place); /* submits it; -1: that cannot be done */
int jobs_look(struct runner *runner, struct run *top);
void jobs_remove(struct run *run, uint32_t place);

/* ---- dag_run_files.c */
int run_files_open(struct run *run);
void run_files_close(struct run *run);
void run_log(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_state_log(struct run *run, const char *node, const char *event, const char *rest);
void dag_journal_add(struct run *run, char what, uint32_t place, int64_t a, int64_t b, bool durable);
int dag_journal_load(struct run *run); /* applies what is there of the same run */
int dag_rescue_load(struct run *run);
void dag_rescue_write(struct run *run);
void dag_status_write(struct run *run, bool now);
void dag_dot_write(struct run *run);
int dag_config_load(struct run *run);

#endif
