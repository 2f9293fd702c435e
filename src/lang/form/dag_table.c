/* dag_table.c: the statements of a workflow's file, a row each; the table in docs/from-htcondor.md is printed from the second list. */
#include "lang/form/dag_parts.h"

static const struct dag_statement statements[] = {
    {"JOB", dag_statement_job, NULL, true, false},
    {"NODE", dag_statement_job, NULL, true, false},
    {"PARENT", dag_statement_parent, NULL, false, false},
    {"RETRY", dag_statement_retry, NULL, false, false},
    {"SCRIPT", dag_statement_script, NULL, false, true},
    {"VARS", dag_statement_vars, NULL, false, false},
    {"DONE", dag_statement_done, NULL, false, false},
    {"PRIORITY", dag_statement_priority, NULL, false, false},
    {"SUBDAG", dag_statement_subdag, NULL, true, true},
    {"SPLICE", dag_statement_splice, NULL, true, true},
    {"INCLUDE", dag_statement_include, NULL, true, true},
    {"SUBMIT-DESCRIPTION", dag_statement_description, NULL, true, true},
    {"CONNECT", dag_statement_connect, NULL, false, true},
    {"PIN_IN", dag_statement_pin_in, NULL, false, true},
    {"PIN_OUT", dag_statement_pin_out, NULL, false, true},
    {"FINAL", dag_statement_final, NULL, true, true},
    {"ABORT-DAG-ON", dag_statement_abort, NULL, false, true},
    {"PRE_SKIP", dag_statement_pre_skip, NULL, false, true},
    {"CATEGORY", dag_statement_category, NULL, false, true},
    {"MAXJOBS", dag_statement_maxjobs, NULL, false, true},
    {"CONFIG", dag_statement_config, NULL, false, true},
    {"ENV", dag_statement_env, NULL, false, true},
    {"SET_JOB_ATTR", dag_statement_attribute, NULL, false, true},
    {"DOT", dag_statement_dot, NULL, false, true},
    {"JOBSTATE_LOG", dag_statement_jobstate, NULL, false, true},
    {"NODE_STATUS_FILE", dag_statement_status_file, NULL, false, true},
    {"REJECT", NULL, "the file says that it is not to be submitted", false, false},
    {"PROVISIONER", NULL, "machines come from the pool", false, false},
    {"SERVICE", NULL, "every node is a part of the work", false, false},
    {"SAVE_POINT_FILE", NULL, "what is done is in the rescue file", false, false},
};

const struct dag_statement *dag_statement_find(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (submit_same(word, len, statements[i].word))
            return &statements[i];
    return NULL;
}

const struct dag_word dag_words_told[] = {
    {"JOB", "name file [DIR folder] [NOOP] [DONE]",
     "a node, and the file of its job; `NODE` is the same; `{` and `@=end` begin a description in place"},
    {"PARENT", "a b CHILD c d",
     "`c` and `d` run when `a` and `b` have ended well; a splice stands for its first or last nodes"},
    {"VARS", "name [PREPEND\\|APPEND] macro=\"value\" ...",
     "macros for its submit file, before its first line, or with APPEND behind its last"},
    {"RETRY", "name times [UNLESS-EXIT status]",
     "how often the node is tried again when it fails; not after that status"},
    {"SCRIPT", "[DEFER status seconds] PRE\\|POST name command ...",
     "a command that runs on the submit host, before the job or after it. HOLD is refused; DEBUG is understood, and the output goes to the workflow's log"},
    {"SUBDAG", "EXTERNAL name file [DIR folder] [NOOP] [DONE]",
     "a node that is a workflow; its file is read when its turn comes"},
    {"SPLICE", "name file [DIR folder]", "the nodes of another file, with `name+` before their names"},
    {"CONNECT", "splice splice", "pins out of the first come before the same pins in of the second"},
    {"PIN_IN", "node number", "see CONNECT"},
    {"PIN_OUT", "node number", "see CONNECT"},
    {"INCLUDE", "file", "the lines of another file"},
    {"SUBMIT-DESCRIPTION", "name {", "a description that several nodes name in place of a file"},
    {"FINAL", "name file [DIR folder] [NOOP]",
     "a node that runs when nothing else can, whatever has failed, also when the workflow is removed"},
    {"DONE", "name", "it is not run, and nobody waits for it"},
    {"ABORT-DAG-ON", "name status [RETURN status]", "a node that ends so ends the workflow; what runs is removed"},
    {"PRE_SKIP", "name status",
     "a PRE script that ends so ends the node well; neither its job nor its POST script is run"},
    {"CATEGORY", "name category", "the node is of that sort"},
    {"MAXJOBS", "category number", "so many nodes of that sort have their jobs queued at once"},
    {"PRIORITY", "name number", "`Priority` of its jobs; of nodes that are ready, the one with the highest goes first"},
    {"CONFIG", "file",
     "DAGMAN_MAX_JOBS_SUBMITTED, DAGMAN_MAX_JOBS_IDLE, DAGMAN_MAX_PRE_SCRIPTS, DAGMAN_MAX_POST_SCRIPTS and DAGMAN_ALWAYS_RUN_POST hold; the rest is passed over with a warning"},
    {"ENV", "GET names, or SET name=value;...", "variables for the scripts"},
    {"SET_JOB_ATTR", "name = value", "an attribute of the job that carries the workflow out"},
    {"NODE_STATUS_FILE", "file [seconds] [ALWAYS-UPDATE]", "is written, in HTCondor's form"},
    {"JOBSTATE_LOG", "file", "is written, in HTCondor's form"},
    {"DOT", "file [...]", "the graph is written once, when the workflow begins"},
    {"REJECT", "", "refused: the file says that it is not to be submitted"},
    {"PROVISIONER", "", "refused: machines come from the pool"},
    {"SERVICE", "", "refused: every node is a part of the work"},
    {"SAVE_POINT_FILE", "", "refused: what is done is in the rescue file"},
};
const size_t dag_words_told_count = sizeof dag_words_told / sizeof *dag_words_told;
