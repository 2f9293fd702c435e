/* dag_submit.c: berth dag submit: makes the ads of nodes from the files of workflows, and submits them.
 *
 *     JOB B fit.sub, RETRY B 2  ->  the ad that fit.sub makes, and over it [ Node = "B"; After = { "A" }; MaxRetries = 2 ] */
#include "cli/jobs/dag_parts.h"

#include "cli/ask/languages.h"
#include "cli/jobs/program.h"
#include "cli/jobs/secrets.h"
#include "cli/jobs/submission.h"
#include "cli/jobs/submit_check.h"
#include "cli/jobs/submit_check_urls.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/sandbox.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/dag.h"
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

/* Where a node comes from, and its job. */
struct origin {
    const char *file; /* lent */
    char *folder;
    unsigned line;
    struct tree *ad; /* NULL: not read yet */
    bool many;       /* its file has several jobs that differ in more than their numbers: only the first is kept here */
    bool sets_mode;  /* its program may be executed at the machine whatever its mode is here, as HTCondor has it */
};

struct flow {
    const struct dag_settings *settings;
    struct symbols *symbols;
    struct dag dag;
    struct origin *origins; /* by the place of the node */
    uint32_t room;
    struct tree **ads; /* complete ads of the nodes that are not done ... */
    uint32_t *places;  /* ... and the places of those nodes */
    uint32_t count;
    const char *name;        /* of the first file, without its folders */
    bool is_dag;             /* all files are in the language of DAGMan */
    struct textmap remarked; /* remarks made so far about the files of jobs: many nodes may share a file */
};

static char *folder_of(const struct dag_settings *settings, const char *file)
{
    const char *slash = strrchr(file, '/');

    if (settings->cwd)
        return mem_dup(settings->cwd, strlen(settings->cwd));
    if (!slash)
        return mem_dup(".", 1);
    return mem_dup(file, slash == file ? 1 : (size_t)(slash - file));
}

static void flow_done(struct flow *flow)
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

/* Reports an error of a node, at the line that made the node. */
static int node_fail(const struct flow *flow, uint32_t place, const char *words)
{
    report("%s:%u: %s", flow->origins[place].file, flow->origins[place].line, words);
    return STATUS_BAD;
}

/* --------------------------------------------------------------------------------------------------------------- reading */

/* Notes the origin of the nodes that have come with a file. */
static void origins_add(struct flow *flow, uint32_t from, const char *file, const char *folder)
{
    if (flow->dag.count > flow->room) {
        flow->room = flow->dag.room;
        flow->origins = mem_grow(flow->origins, flow->room * sizeof *flow->origins);
    }
    for (; from < flow->dag.count; from++) {
        const struct dag_node *node = &flow->dag.nodes[from];

        flow->origins[from] = (struct origin){.file = file, .line = node->line};
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

static int dag_file(struct flow *flow, const char *file, const struct buf *text, const char *folder)
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
static int node_of_ad(struct flow *flow, struct tree *ad, const char *file, unsigned line, const char *folder)
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

static int ad_file(struct flow *flow, const char *file, const struct buf *text, const char *folder)
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
    struct flow *flow;
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

static int jdl_file(struct flow *flow, const char *file, const struct buf *text, const char *folder)
{
    struct jdl_nodes nodes = {.flow = flow, .file = file, .folder = folder, .status = STATUS_DONE};

    return language_read(flow->symbols, SUBMIT_JDL, file, text, folder, jdl_node, &nodes) < 0 ? STATUS_BAD
                                                                                              : nodes.status;
}

static int file_add(struct flow *flow, const char *file)
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
    struct origin *origin = user;

    (void)line;
    if (origin->ad)
        origin->many = true;
    else
        origin->ad = tree_ref(ad);
    return 0;
}

/* Reads the one ad of a file of ads. */
static int job_of_ads(struct flow *flow, const char *path, const struct buf *text, struct origin *ret)
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

/* Reads the job from the file of a node. */
static int job_read(struct flow *flow, uint32_t place)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    struct origin *origin = &flow->origins[place];
    char *path = file_in(origin->folder, node->file);
    enum submit_language language;
    struct buf text;
    int result = -1;

    buf_init(&text);
    if (file_read(path, &text) == 0) {
        language = submit_recognise(path, buf_string(&text), text.len);
        origin->sets_mode = language != SUBMIT_AD;
        if (language != SUBMIT_SUBMIT && node->variable_count) {
            node_fail(flow, place, "VARS: only files in HTCondor's submit language have macros");
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
        result = node_fail(flow, place, "there is no job in its file");
    else if (result < 0)
        node_fail(flow, place, "the job of this node cannot be read");
    buf_done(&text);
    free(path);
    return result == 0 ? STATUS_DONE : STATUS_BAD;
}

/* ---------------------------------------------------------------------------------------------------------------- layers */

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
static void after_print(const struct flow *flow, uint32_t place, struct buf *out)
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
static void script_vet(struct flow *flow, uint32_t place, const char *when, const struct dag_words *words)
{
    const struct origin *origin = &flow->origins[place];
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
static int host_script(const struct flow *flow, uint32_t place, const char *when, const struct dag_words *words)
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

/* Is there what a node needs, as far as that can be known before its turn has come? */
static int host_vet(struct flow *flow, uint32_t place)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    char *path = node->file ? file_in(flow->origins[place].folder, node->file) : NULL;
    bool absent = path && access(path, R_OK) != 0;
    int error = errno;

    if (absent && !node->parent_count && !node->pre.count) {
        report("%s: %s", path, strerror(error));
        free(path);
        return node_fail(flow, place, "the job of this node cannot be read");
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

static void layer_print(const struct flow *flow, uint32_t place, struct buf *out)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    const struct origin *origin = &flow->origins[place];
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
static int node_make(struct flow *flow, uint32_t place)
{
    struct tree *layer, *whole = NULL;
    struct err err = {0};
    struct buf text;

    if (!flow->origins[place].ad && job_read(flow, place) != STATUS_DONE)
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
        return node_fail(flow, place, err.text);
    flow->places[flow->count] = place;
    flow->ads[flow->count++] = whole;
    return STATUS_DONE;
}

static int nodes_make(struct flow *flow)
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
        status = node_fail(flow, flow->places[place], err.text);
    return status;
}

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

static int flow_send(struct flow *flow, struct connection *customer)
{
    const struct dag_settings *settings = flow->settings;
    struct job_submission submission;
    int status;

    submission_init(&submission, customer);
    status = submission_secrets(&submission, &settings->secrets);
    for (uint32_t i = 0; i < flow->count && status == STATUS_DONE; i++) {
        const struct origin *origin = &flow->origins[flow->places[i]];
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
static bool command_absent(const struct flow *flow, uint32_t place)
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
static bool reads_late(const struct flow *flow, uint32_t place)
{
    const struct dag_node *node = &flow->dag.nodes[place];
    const struct tree *ad = flow->origins[place].ad;
    const struct expr *inputs = ad ? ad_find(ad, "Inputs") : NULL;

    return node->parent_count && node->file &&
           (command_absent(flow, place) || (inputs && (inputs->kind != EXPR_LIST || inputs->u.run.count)) ||
            (ad && ad_find(ad, "In")));
}

/* The word of a workflow that the customer alone cannot carry out; NULL: there is none. */
static const char *host_needed(struct flow *flow)
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
static int host_begin(struct flow *flow, struct connection *customer, const char *why, int word_count, char **words)
{
    uint32_t cycle = dag_cycle(&flow->dag);

    for (uint32_t i = 0; i < flow->dag.count; i++) {
        const struct dag_node *node = &flow->dag.nodes[i];

        if (!node->done && !node->noop && host_vet(flow, i) != STATUS_DONE)
            return STATUS_BAD;
    }
    if (cycle <= DAG_NODES_MAX)
        return node_fail(flow, cycle, "this node waits for itself, by way of others");
    return dag_host_submit(flow->settings, customer, &flow->dag, why, word_count, words);
}

/* The customer keeps it; unless a node reads what others may make: that is read when its turn comes, on the submit host. */
static int flow_keep(struct flow *flow, struct connection *customer, int word_count, char **words)
{
    int status = nodes_make(flow);

    for (uint32_t i = 0; status == STATUS_DONE && customer->places[0].socket && i < flow->dag.count; i++)
        if (!flow->dag.nodes[i].done && (flow->origins[i].many || reads_late(flow, i)))
            return host_begin(flow, customer, flow->origins[i].many ? "queue" : "transfer_input_files", word_count,
                              words);
    for (uint32_t i = 0; status == STATUS_DONE && i < flow->dag.count; i++)
        if (flow->origins[i].many)
            status = node_fail(flow, i, "a node is one job, or `queue N` of them that differ in their numbers alone");
    return status == STATUS_DONE ? flow_send(flow, customer) : status;
}

int dag_submit(const struct dag_settings *settings, int word_count, char **words)
{
    struct flow flow = {.settings = settings, .is_dag = true};
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
        status = file_add(&flow, words[i]);
    if (status == STATUS_DONE)
        why = host_needed(&flow);
    if (!why && settings->beside && flow.is_dag && customer.places[0].socket)
        why = "--beside";
    if (status == STATUS_DONE && why)
        status = host_begin(&flow, &customer, why, word_count, words);
    else if (status == STATUS_DONE)
        status = flow_keep(&flow, &customer, word_count, words);
    flow_done(&flow);
    connection_close(&customer);
    return status;
}
