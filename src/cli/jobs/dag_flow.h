/* dag_flow.h: a workflow that is read from its files to be submitted: its nodes, where they come from, and their ads. Private to berth dag submit.
 *
 *     dag_flow.c     reads the files, and the jobs of nodes
 *     dag_layers.c   lays over each job what the workflow says of its node
 *     dag_submit.c   submits the ads, or the job that carries the workflow out */
#ifndef BERTH_CLI_JOBS_DAG_FLOW_H
#define BERTH_CLI_JOBS_DAG_FLOW_H

#include "cli/jobs/dag_parts.h"
#include "lang/base/textmap.h"
#include "lang/form/dag.h"

/* Where a node comes from, and its job. */
struct dag_origin {
    const char *file; /* lent */
    char *folder;
    unsigned line;
    struct tree *ad; /* NULL: not read yet */
    bool many;       /* its file has several jobs that differ in more than their numbers: only the first is kept here */
    bool sets_mode;  /* its program may be executed at the machine whatever its mode is here, as HTCondor has it */
};

struct dag_flow {
    const struct dag_settings *settings;
    struct symbols *symbols;
    struct dag dag;
    struct dag_origin *origins; /* by the place of the node */
    uint32_t room;
    struct tree **ads; /* complete ads of the nodes that are not done ... */
    uint32_t *places;  /* ... and the places of those nodes */
    uint32_t count;
    const char *name;        /* of the first file, without its folders */
    bool is_dag;             /* all files are in the language of DAGMan */
    struct textmap remarked; /* remarks made so far about the files of jobs: many nodes may share a file */
};

/* ---- dag_flow.c */

void dag_flow_done(struct dag_flow *flow);
/* Adds the nodes of a file. */
int dag_flow_add(struct dag_flow *flow, const char *file);
/* Reads the job from the file of a node. */
int dag_flow_job_read(struct dag_flow *flow, uint32_t place);
/* Reports an error of a node, at the line that made the node. */
int dag_flow_fail(const struct dag_flow *flow, uint32_t place, const char *words);

/* ---- dag_layers.c */

/* Makes the ads of all nodes that are not done. */
int dag_flow_make(struct dag_flow *flow);
/* Is there what a node needs, as far as that can be known before its turn has come? */
int dag_flow_vet(struct dag_flow *flow, uint32_t place);

#endif
