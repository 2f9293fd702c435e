/* dag_flow.c: reads the files of a workflow, and the jobs of its nodes. */
#include "cli/jobs/dag_flow.h"

#include "cli/ask/languages.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "pool/protocol/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *folder_of(const struct dag_settings *settings, const char *file)
{
    const char *slash = strrchr(file, '/');

    if (settings->cwd)
        return mem_dup(settings->cwd, strlen(settings->cwd));
    if (!slash)
        return mem_dup(".", 1);
    return mem_dup(file, slash == file ? 1 : (size_t)(slash - file));
}

void dag_flow_done(struct dag_flow *flow)
{
    for (uint32_t i = 0; i < flow->dag.count && i < flow->room; i++) {
        tree_unref(flow->origins[i].ad);
        free(flow->origins[i].folder);
    }
    while (flow->count)
        tree_unref(flow->ads[--flow->count]);
    free(flow->ads);
    free(flow->places);
    free(flow->origins);
    textmap_done(&flow->remarked);
    dag_done(&flow->dag);
}

int dag_flow_fail(const struct dag_flow *flow, uint32_t place, const char *words)
{
    report("%s:%u: %s", flow->origins[place].file, flow->origins[place].line, words);
    return STATUS_BAD;
}

/* --------------------------------------------------------------------------------------------------------------- reading */

/* Notes the origin of the nodes that have come with a file. */
static void origins_add(struct dag_flow *flow, uint32_t from, const char *file, const char *folder)
{
    if (flow->dag.count > flow->room) {
        flow->room = flow->dag.room;
        flow->origins = mem_grow(flow->origins, flow->room * sizeof *flow->origins);
    }
    for (; from < flow->dag.count; from++) {
        const struct dag_node *node = &flow->dag.nodes[from];

        flow->origins[from] = (struct dag_origin){.file = file, .line = node->line};
        flow->origins[from].folder = node->folder ? file_in(folder, node->folder) : mem_dup(folder, strlen(folder));
    }
}

struct telling {
    const char *file;
    const struct buf *text;
};

static void place_report(const struct telling *telling, const struct err *err)
{
    const char *line = NULL;
    size_t len = 0;

    if (!err->line || !text_line(telling->text->text, telling->text->len, err->line, &line, &len))
        line = NULL;
    report_error(telling->file, err, line, len);
}

static void remark_report(void *user, const struct err *remark)
{
    struct err warning = *remark;

    err_context(&warning, "warning");
    place_report(user, &warning);
}

/* Files that are named in a workflow's file are named from the folder of that. */
struct within {
    const char *folder;
};

static int within_read(void *user, const char *path, struct buf *ret, struct err *err)
{
    const struct within *within = user;
    char *whole = file_in(within->folder, path);
    int result = access(whole, R_OK) < 0 ? err_set(err, "%s", strerror(errno)) : file_read(whole, ret);

    if (result < 0 && !err->text[0])
        err_set(err, "it cannot be read");
    free(whole);
    return result;
}

static int dag_file(struct dag_flow *flow, const char *file, const struct buf *text, const char *folder)
{
    struct telling telling = {file, text};
    struct within within = {folder};
    size_t mark = text_mark(text->text, text->len);
    uint32_t from = flow->dag.count;
    struct err err = {0};
    int result;

    flow->dag.file = within_read;
    flow->dag.file_user = &within;
    result = dag_read(&flow->dag, text->len ? text->text + mark : "", text->len - mark, remark_report, &telling, &err);

    origins_add(flow, from, file, folder);
    if (result < 0)
        place_report(&telling, &err);
    return result < 0 ? STATUS_BAD : STATUS_DONE;
}

/* Adds an ad as a node: it needs the attribute Node. */
static int node_of_ad(struct dag_flow *flow, struct tree *ad, const char *file, unsigned line, const char *folder)
{
    uint32_t from = flow->dag.count;
    const char *name;
    size_t len;

    if (!ad_string(ad, "Node", &name, &len) || !dag_name_is_good(name, len)) {
        report("%s:%u: Node: expected a name of up to %d visible characters, without a comma", file, line,
               DAG_NAME_MAX);
        return STATUS_BAD;
    }
    if (textmap_find(&flow->dag.names, name, len) != TEXTMAP_NONE) {
        report("%s:%u: Node: there is a node '%.*s' before it", file, line, (int)len, name);
        return STATUS_BAD;
    }
    dag_add(&flow->dag, name, len)->line = line;
    origins_add(flow, from, file, folder);
    flow->origins[from].ad = tree_ref(ad);
    return STATUS_DONE;
}

static int ad_file(struct dag_flow *flow, const char *file, const struct buf *text, const char *folder)
{
    struct input_source source;
    struct tree *ad;
    int got = -1, status = STATUS_DONE;

    source_open_text(&source, flow->symbols, &dialect_classic, FORM_UNKNOWN, file, text);
    while (status == STATUS_DONE && (got = source_next(&source, &ad)) > 0) {
        status = node_of_ad(flow, ad, file, form_reader_line(source.reader), folder);
        tree_unref(ad);
    }
    source_close(&source);
    return got < 0 ? STATUS_BAD : status;
}

/* A node of a file in JDL. */
struct jdl_nodes {
    struct dag_flow *flow;
    const char *file, *folder;
    int status;
};

static int jdl_node(void *user, struct tree *ad, unsigned line)
{
    struct jdl_nodes *nodes = user;

    nodes->status = node_of_ad(nodes->flow, ad, nodes->file, line, nodes->folder);
    if (nodes->status == STATUS_DONE)
        nodes->flow->origins[nodes->flow->dag.count - 1].sets_mode = true;
    return nodes->status == STATUS_DONE ? 0 : -1;
}

static int jdl_file(struct dag_flow *flow, const char *file, const struct buf *text, const char *folder)
{
    struct jdl_nodes nodes = {.flow = flow, .file = file, .folder = folder, .status = STATUS_DONE};

    return language_read(flow->symbols, SUBMIT_JDL, file, text, folder, jdl_node, &nodes) < 0 ? STATUS_BAD
                                                                                              : nodes.status;
}

int dag_flow_add(struct dag_flow *flow, const char *file)
{
    char *folder = folder_of(flow->settings, file);
    struct buf text;
    int status = STATUS_BAD;
    bool is_jdl, is_dag;

    buf_init(&text);
    if (file_read(file, &text) == 0) {
        is_jdl = submit_recognise(file, buf_string(&text), text.len) == SUBMIT_JDL;
        is_dag = !is_jdl && dag_recognise(file, buf_string(&text), text.len);
        flow->is_dag = flow->is_dag && is_dag;
        status = is_jdl   ? jdl_file(flow, file, &text, folder)
                 : is_dag ? dag_file(flow, file, &text, folder)
                          : ad_file(flow, file, &text, folder);
    }
    buf_done(&text);
    free(folder);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ jobs */

static int job_keep(void *user, struct tree *ad, unsigned line)
{
    struct dag_origin *origin = user;

    (void)line;
    if (origin->ad)
        origin->many = true;
    else
        origin->ad = tree_ref(ad);
    return 0;
}

/* Reads the one ad of a file of ads. */
static int job_of_ads(struct dag_flow *flow, const char *path, const struct buf *text, struct dag_origin *ret)
{
    struct input_source source;
    struct tree *ad;
    int got, result = 0;

    source_open_text(&source, flow->symbols, &dialect_classic, FORM_UNKNOWN, path, text);
    while (result == 0 && (got = source_next(&source, &ad)) != 0) {
        result = got < 0 ? -1 : job_keep(ret, ad, 0);
        if (got > 0)
            tree_unref(ad);
    }
    source_close(&source);
    return result;
}

/* The macros of a node: those of VARS, and JOB. */
static struct submit_given *given_of(const struct dag_node *node)
{
    struct submit_given *given = mem_alloc((node->variable_count + 1) * sizeof *given);

    for (uint32_t i = 0; i < node->variable_count; i++)
        given[i] = (struct submit_given){node->variables[i].name, node->variables[i].value};
    given[node->variable_count] = (struct submit_given){"JOB", node->name};
    return given;
}

int dag_flow_job_read(struct dag_flow *flow, uint32_t place)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    struct dag_origin *origin = &flow->origins[place];
    char *path = file_in(origin->folder, node->file);
    enum submit_language language;
    struct buf text;
    int result = -1;

    buf_init(&text);
    if (file_read(path, &text) == 0) {
        language = submit_recognise(path, buf_string(&text), text.len);
        origin->sets_mode = language != SUBMIT_AD;
        if (language != SUBMIT_SUBMIT && node->variable_count) {
            dag_flow_fail(flow, place, "VARS: only files in HTCondor's submit language have macros");
        } else if (language == SUBMIT_AD) {
            result = job_of_ads(flow, path, &text, origin);
        } else {
            struct submit_given *macros = given_of(node);

            result = language_read_given(
                flow->symbols, language, path, &text, origin->folder,
                &(struct language_given){
                    .macros = macros, .count = node->variable_count + 1, .is_node = true, .remarked = &flow->remarked},
                job_keep, origin);
            free(macros);
        }
    }
    if (result == 0 && !origin->ad)
        result = dag_flow_fail(flow, place, "there is no job in its file");
    else if (result < 0)
        dag_flow_fail(flow, place, "the job of this node cannot be read");
    buf_done(&text);
    free(path);
    return result == 0 ? STATUS_DONE : STATUS_BAD;
}
