/* dag_layers.c: the ads of a workflow's nodes.
 *
 *     JOB B fit.sub, RETRY B 2  ->  the ad that fit.sub makes, and over it [ Node = "B"; After = { "A" }; MaxRetries = 2 ] */
#include "cli/jobs/dag_flow.h"

#include "cli/ask/languages.h"
#include "cli/jobs/program.h"
#include "cli/jobs/submission.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/sandbox.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "pool/protocol/writers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define NAMES_APART 100 /* parents that stand one by one in a list; more share texts: an ad has no room for them */

/* Appends a name to the list: in a text of its own, or in one with the names before it. */
static void name_print(struct buf *out, const char *name, size_t len, uint32_t *count, bool apart)
{
    bool first = apart || *count % NAMES_APART == 0;
    struct buf text;

    buf_init(&text);
    print_string(&text, name, len, PRINT_PLAIN);
    if (first)
        buf_addf(out, "%s\"", *count ? "\", " : " ");
    else
        buf_adds(out, ",");
    buf_add(out, text.text + 1, text.len - 2); /* without the quotes */
    buf_done(&text);
    ++*count;
}

/* Appends After: the node's parents that are not done, from its ad and from PARENT lines. */
static void after_print(const struct dag_flow *flow, uint32_t place, struct buf *out)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    uint32_t count = 0, total = node->parent_count;
    struct dag_after after;
    const char *name;
    size_t len;

    dag_after_begin(&after, flow->origins[place].ad);
    while (dag_after_next(&after, &name, &len))
        total++;
    buf_adds(out, "After = {");
    dag_after_begin(&after, flow->origins[place].ad);
    while (dag_after_next(&after, &name, &len)) {
        uint32_t parent = textmap_find(&flow->dag.names, name, len);

        if (parent == TEXTMAP_NONE || !flow->dag.nodes[parent].done)
            name_print(out, name, len, &count, total <= NAMES_APART);
    }
    for (uint32_t i = 0; i < node->parent_count; i++) {
        const struct dag_node *parent = &flow->dag.nodes[node->parents[i]];

        if (!parent->done)
            name_print(out, parent->name, strlen(parent->name), &count, total <= NAMES_APART);
    }
    buf_adds(out, count ? "\" };\n" : " };\n");
}

static bool is_file(const char *folder, const char *name)
{
    char *path = file_in(folder, name);
    struct stat info;
    bool found = stat(path, &info) == 0 && S_ISREG(info.st_mode);

    free(path);
    return found;
}

/* Does this machine have a program of that name where jobs look for one? */
static bool is_program(const char *name)
{
    char path[PATH_MAX];

    for (const char *at = SANDBOX_PATH; *at; at += strspn(at, ":")) {
        size_t len = strcspn(at, ":");

        snprintf(path, sizeof path, "%.*s/%s", (int)len, at, name);
        if (access(path, X_OK) == 0)
            return true;
        at += len;
    }
    return false;
}

/* Warns of a command without a slash that is neither a file here nor a program of this machine. It may be a program of the machine that runs the job.
 * But most often a file was meant, which would be missing when its turn comes. The warning is given once, however many nodes have the command. */
static void script_vet(struct dag_flow *flow, uint32_t place, const char *when, const struct dag_words *words)
{
    const struct dag_origin *origin = &flow->origins[place];
    uint32_t before = flow->remarked.count;
    const char *name = words->count ? words->items[0] : "/";
    struct buf known;

    if (strchr(name, '/') || is_file(origin->folder, name) || is_program(name))
        return;
    buf_init(&known);
    buf_addf(&known, "%s:%s:%s", when, origin->folder, name);
    textmap_add(&flow->remarked, known.text, known.len);
    buf_done(&known);
    if (flow->remarked.count > before)
        report("%s:%u: warning: SCRIPT %s: there is no file '%.100s' beside the workflow, and no such program here",
               origin->file, origin->line, when, name);
}

/* Can a script be run here? One that a node before it may make need not be there yet. */
static int host_script(const struct dag_flow *flow, uint32_t place, const char *when, const struct dag_words *words)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    const char *name = words->count ? words->items[0] : "/", *flaw;
    char *path;
    bool missing, here;

    here = strchr(name, '/') || is_file(flow->origins[place].folder, name);
    if (!words->count || !here)
        return STATUS_DONE;
    path = file_in(flow->origins[place].folder, name);
    flaw = program_flaw(path, &missing);
    if (flaw && !(missing && node->parent_count))
        report("%s:%u: SCRIPT %s: %s: %s", flow->origins[place].file, flow->origins[place].line, when, name, flaw);
    else
        flaw = NULL;
    free(path);
    return flaw ? STATUS_BAD : STATUS_DONE;
}

int dag_flow_vet(struct dag_flow *flow, uint32_t place)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    char *path = node->file ? file_in(flow->origins[place].folder, node->file) : NULL;
    bool absent = path && access(path, R_OK) != 0;
    int error = errno;

    if (absent && !node->parent_count && !node->pre.count) {
        report("%s: %s", path, strerror(error));
        free(path);
        return dag_flow_fail(flow, place, "the job of this node cannot be read");
    }
    free(path);
    script_vet(flow, place, "PRE", &node->pre);
    script_vet(flow, place, "POST", &node->post);
    return host_script(flow, place, "PRE", &node->pre) == STATUS_DONE ? host_script(flow, place, "POST", &node->post)
                                                                      : STATUS_BAD;
}

/* Appends a command of a SCRIPT line. A file beside the workflow goes before a program of the machine. */
static void command_print(const struct dag_node *node, const struct dag_words *words, const char *attribute,
                          const char *folder, struct buf *out)
{
    struct buf word;

    if (!words->count)
        return;
    buf_init(&word);
    buf_addf(out, "%s = { ", attribute);
    for (uint32_t i = 0; i < words->count; i++) {
        const char *text = words->items[i];

        buf_reset(&word);
        buf_adds(&word, !i && !strchr(text, '/') && is_file(folder, text) ? "./" : "");
        buf_adds(&word, text);
        buf_adds(out, i ? ", " : "");
        if (i && !strcmp(text, "$RETRY"))
            buf_adds(out, "string(JobTry - 1)");
        else if (i && !strcmp(text, "$MAX_RETRIES"))
            buf_addf(out, "\"%" PRId64 "\"", node->retries < 0 ? 0 : node->retries);
        else
            print_string(out, word.text ? word.text : "", word.len, PRINT_PLAIN);
    }
    buf_adds(out, " };\n");
    buf_done(&word);
}

static void layer_print(const struct dag_flow *flow, uint32_t place, struct buf *out)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    const struct dag_origin *origin = &flow->origins[place];
    char here[PATH_MAX];

    buf_adds(out, "[\nNode = ");
    print_string(out, node->name, strlen(node->name), PRINT_PLAIN);
    buf_adds(out, ";\n");
    after_print(flow, place, out);
    if (flow->name && !ad_find(origin->ad, "Dag")) {
        buf_adds(out, "Dag = ");
        print_string(out, flow->name, strlen(flow->name), PRINT_PLAIN);
        buf_adds(out, ";\n");
    }
    if (node->retries >= 0)
        buf_addf(out, "MaxRetries = %" PRId64 ";\n", node->retries);
    if (node->unless >= 0)
        buf_addf(out, "RetryUnless = %" PRId64 ";\n", node->unless);
    if (node->priority)
        buf_addf(out, "Priority = %" PRId64 ";\n", node->priority);
    if (node->folder && !ad_find(origin->ad, "Iwd") && realpath(origin->folder, here)) {
        buf_adds(out, "Iwd = ");
        print_string(out, here, strlen(here), PRINT_PLAIN);
        buf_adds(out, ";\n");
    }
    command_print(node, &node->pre, "Pre", origin->folder, out);
    command_print(node, &node->post, "Post", origin->folder, out);
    buf_addc(out, ']');
}

/* Makes the ad of a node: its job's, with what the workflow says laid over it. */
static int node_make(struct dag_flow *flow, uint32_t place)
{
    struct tree *layer, *whole = NULL;
    struct err err = {0};
    struct buf text;

    if (!flow->origins[place].ad && dag_flow_job_read(flow, place) != STATUS_DONE)
        return STATUS_BAD;
    script_vet(flow, place, "PRE", &flow->dag.nodes[place].pre);
    script_vet(flow, place, "POST", &flow->dag.nodes[place].post);
    buf_init(&text);
    layer_print(flow, place, &text);
    layer = form_parse(flow->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, &err);
    whole = layer ? ad_over(flow->origins[place].ad, layer, &err) : NULL;
    tree_unref(layer);
    buf_done(&text);
    if (!whole)
        return dag_flow_fail(flow, place, err.text);
    flow->places[flow->count] = place;
    flow->ads[flow->count++] = whole;
    return STATUS_DONE;
}

int dag_flow_make(struct dag_flow *flow)
{
    struct err err = {0};
    uint32_t place = 0;
    int status = STATUS_DONE;

    flow->ads = mem_alloc((flow->dag.count + 1) * sizeof *flow->ads);
    flow->places = mem_alloc((flow->dag.count + 1) * sizeof *flow->places);
    for (uint32_t i = 0; i < flow->dag.count && status == STATUS_DONE; i++)
        if (!flow->dag.nodes[i].done)
            status = node_make(flow, i);
    if (status == STATUS_DONE && !flow->count) {
        report("all nodes of the workflow are done");
        status = STATUS_NO;
    }
    if (status == STATUS_DONE && dag_check(flow->ads, flow->count, 0, &place, &err) < 0)
        status = dag_flow_fail(flow, flow->places[place], err.text);
    return status;
}
