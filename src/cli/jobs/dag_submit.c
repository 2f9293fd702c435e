/* dag_submit.c: berth dag submit: submits the nodes of a workflow, or the job that carries it out. */
#include "cli/jobs/dag_flow.h"

#include "cli/ask/languages.h"
#include "cli/jobs/secrets.h"
#include "cli/jobs/submission.h"
#include "cli/jobs/submit_check.h"
#include "cli/jobs/submit_check_urls.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* --------------------------------------------------------------------------------------------------------------- sending */

struct told {
    uint64_t first, last, count;
};

static bool told_add(void *user, struct tree *answer)
{
    struct told *told = user;
    int64_t first, count;

    if (!ad_integer(answer, "First", &first) || !ad_integer(answer, "Count", &count) || first < 1 || count < 1)
        return true;
    if (!told->first || (uint64_t)first < told->first)
        told->first = (uint64_t)first;
    if ((uint64_t)(first + count - 1) > told->last)
        told->last = (uint64_t)(first + count - 1);
    told->count += (uint64_t)count;
    return true;
}

static int send_and_tell(struct job_submission *submission, const struct dag_settings *settings)
{
    struct told told = {0};
    int status = submission_send(submission, settings->key, settings->force, told_add, &told);
    struct buf out;

    if (status != STATUS_DONE)
        return status;
    buf_init(&out);
    if (settings->json) {
        buf_addf(&out, "{\"workflow\": %" PRIu64 ", \"first\": %" PRIu64 ", \"count\": %" PRIu64 "}\n", told.first,
                 told.first, told.count);
    } else {
        buf_addf(&out, "workflow %" PRIu64 " submitted: ", told.first);
        jobs_count_print(&out, told.count);
        buf_addf(&out, told.last > told.first ? ", %" PRIu64 "-%" PRIu64 "\n" : ", %" PRIu64 "\n", told.first,
                 told.last);
    }
    output_write(&out);
    buf_done(&out);
    return STATUS_DONE;
}

static int flow_send(struct dag_flow *flow, struct connection *customer)
{
    const struct dag_settings *settings = flow->settings;
    struct job_submission submission;
    int status;

    submission_init(&submission, customer);
    status = submission_secrets(&submission, &settings->secrets);
    for (uint32_t i = 0; i < flow->count && status == STATUS_DONE; i++) {
        const struct dag_origin *origin = &flow->origins[flow->places[i]];
        char name[400];

        snprintf(name, sizeof name, "%.300s:%u", origin->file, origin->line);
        submission.sets_modes = origin->sets_mode;
        status = submission_add(&submission, flow->ads[i], origin->folder, name);
    }
    if (status == STATUS_DONE && settings->dry_run) {
        status = submission_print(&submission, settings->json);
    } else if (status == STATUS_DONE) {
        status = connection_knock(customer);
        if (status == STATUS_DONE)
            status = submit_check_urls(&settings->pool, &submission);
        if (status == STATUS_DONE && !settings->force)
            status = submit_check_jobs(&settings->pool, &submission);
        if (status == STATUS_DONE)
            status = submission_upload(&submission);
        if (status == STATUS_DONE)
            status = send_and_tell(&submission, settings);
    }
    submission_done(&submission);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- who keeps it */

/* Is the node's program a file that there is not yet? */
static bool command_absent(const struct dag_flow *flow, uint32_t place)
{
    const struct tree *ad = flow->origins[place].ad;
    bool carried = true, absent = false;
    const char *text;
    size_t len;

    if (!ad || !ad_string(ad, "Cmd", &text, &len) || (ad_flag(ad, "TransferExecutable", &carried) && !carried))
        return false;
    char *word = mem_dup(text, len), *path = file_in(flow->origins[place].folder, word);

    absent = strchr(word, '/') && access(path, F_OK) != 0;
    free(word);
    free(path);
    return absent;
}

/* Does a node that waits for others read files that these may make? */
static bool reads_late(const struct dag_flow *flow, uint32_t place)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    const struct tree *ad = flow->origins[place].ad;
    const struct expr *inputs = ad ? ad_find(ad, "Inputs") : NULL;

    return node->parent_count && node->file &&
           (command_absent(flow, place) || (inputs && (inputs->kind != EXPR_LIST || inputs->u.run.count)) ||
            (ad && ad_find(ad, "In")));
}

/* The word of a workflow that the customer alone cannot carry out; NULL: there is none. */
static const char *host_needed(struct dag_flow *flow)
{
    if (flow->dag.runs)
        return flow->dag.runs;
    for (uint32_t i = 0; i < flow->dag.count; i++) {
        const struct dag_node *node = &flow->dag.nodes[i];
        char *path = node->file ? file_in(flow->origins[i].folder, node->file) : NULL;
        bool absent = path && access(path, F_OK) != 0;

        free(path);
        if (absent && node->parent_count && !node->done)
            return "JOB";
    }
    return NULL;
}

/* A cycle is told before anything is submitted. */
static int host_begin(struct dag_flow *flow, struct connection *customer, const char *why, int word_count, char **words)
{
    uint32_t cycle = dag_cycle(&flow->dag);

    for (uint32_t i = 0; i < flow->dag.count; i++) {
        const struct dag_node *node = &flow->dag.nodes[i];

        if (!node->done && !node->noop && dag_flow_vet(flow, i) != STATUS_DONE)
            return STATUS_BAD;
    }
    if (cycle <= DAG_NODES_MAX)
        return dag_flow_fail(flow, cycle, "this node waits for itself, by way of others");
    return dag_host_submit(flow->settings, customer, &flow->dag, why, word_count, words);
}

/* The customer keeps it; unless a node reads what others may make: that is read when its turn comes, on the submit host. */
static int flow_keep(struct dag_flow *flow, struct connection *customer, int word_count, char **words)
{
    int status = dag_flow_make(flow);
    uint32_t late = 0;

    while (status == STATUS_DONE && late < flow->dag.count &&
           (flow->dag.nodes[late].done || !(flow->origins[late].many || reads_late(flow, late))))
        late++;
    if (status == STATUS_DONE && late < flow->dag.count && customer_is_near(customer))
        return host_begin(flow, customer, flow->origins[late].many ? "queue" : "transfer_input_files", word_count,
                          words);
    for (uint32_t i = 0; status == STATUS_DONE && i < flow->dag.count; i++)
        if (flow->origins[i].many)
            status =
                dag_flow_fail(flow, i, "a node is one job, or `queue N` of them that differ in their numbers alone");
    return status == STATUS_DONE ? flow_send(flow, customer) : status;
}

int dag_submit(const struct dag_settings *settings, int word_count, char **words)
{
    struct dag_flow flow = {.settings = settings, .is_dag = true};
    struct connection customer;
    const char *why = NULL;
    int status;

    if (!word_count) {
        report("dag submit wants FILEs of a workflow; - is standard input");
        return STATUS_BAD;
    }
    status = customer_open(&customer, &settings->pool);
    dag_init(&flow.dag);
    textmap_init(&flow.remarked, 0);
    flow.symbols = customer.symbols;
    flow.name = strrchr(words[0], '/') ? strrchr(words[0], '/') + 1 : words[0];
    for (int i = 0; i < word_count && status == STATUS_DONE; i++)
        status = dag_flow_add(&flow, words[i]);
    if (status == STATUS_DONE)
        why = host_needed(&flow);
    if (status == STATUS_DONE && !why && settings->beside && flow.is_dag && customer_is_near(&customer))
        why = "--beside";
    if (status == STATUS_DONE && why)
        status = host_begin(&flow, &customer, why, word_count, words);
    else if (status == STATUS_DONE)
        status = flow_keep(&flow, &customer, word_count, words);
    dag_flow_done(&flow);
    connection_close(&customer);
    return status;
}
