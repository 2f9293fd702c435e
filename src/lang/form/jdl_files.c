/* jdl_files.c: the files of a job in JDL: its sandboxes, its streams, and its outputs for stores. */
#include "lang/form/jdl_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int sandbox_add(struct jdl *jdl, const char *text, size_t len)
{
    struct err why = {0};

    if (len >= 7 && submit_same(text, 7, "file://")) {
        text += 7;
        len -= 7;
    }
    if (len > 4 && submit_same(text, 4, "lfn:")) { /* of DIRAC: fetched from a store */
        buf_add(&jdl->logical, text, len);
        buf_addc(&jdl->logical, '\n');
        return memchr(text, '\n', len) ? jdl_fail(jdl, "expected names of files") : 0;
    }
    if (strstr(text, "://"))
        return jdl_fail(jdl, "expected names of files of this machine: what lies behind a URL is not carried over");
    if (!len || text[len - 1] == '/' || memchr(text, '\n', len))
        return jdl_fail(jdl, "expected names of files");
    if (!strpbrk(text, "*?[")) {
        buf_add(&jdl->sandbox, text, len);
        buf_addc(&jdl->sandbox, '\n');
        return 0;
    }
    if (!jdl->world->match)
        return jdl_fail(jdl, "patterns need files, and none can be seen here");
    if (jdl->world->match(jdl->world->user, text, SUBMIT_MATCH_FILES, &jdl->sandbox, &why) < 0)
        return jdl_fail(jdl, why.text);
    if (jdl->sandbox.len > SUBMIT_VALUE_MAX)
        return jdl_fail(jdl, "expected fewer files");
    return submit_clean(buf_string(&jdl->sandbox), jdl->sandbox.len, jdl_place(jdl), false, jdl->err);
}

/* The path of the file that the job finds under that name; NULL: no such file is sent along. */
static char *sandbox_find(struct jdl *jdl, const char *name)
{
    const char *at = buf_string(&jdl->sandbox);

    while (*at) {
        size_t len = strcspn(at, "\n");
        char *path = mem_dup(at, len);

        if (!strcmp(last_part(path), last_part(name)) && (!strchr(name, '/') || !strcmp(path, name)))
            return path;
        free(path);
        at += len + (at[len] == '\n');
    }
    return NULL;
}

int jdl_row_inputs(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    const char *at, *begun = " ";

    if (jdl_each_text(jdl, e, sandbox_add) < 0)
        return -1;
    buf_addf(&jdl->out, "%s = {", row->attribute);
    for (at = buf_string(&jdl->sandbox); *at; at += strcspn(at, "\n") + 1) {
        char *path = mem_dup(at, strcspn(at, "\n"));
        const char *name = last_part(path);

        buf_adds(&jdl->out, begun);
        begun = ", ";
        if (name == path) {
            jdl_text_print(jdl, path, strlen(path));
        } else {
            buf_adds(&jdl->out, "[ Name = ");
            jdl_text_print(jdl, name, strlen(name));
            buf_adds(&jdl->out, "; From = ");
            jdl_text_print(jdl, path, strlen(path));
            buf_adds(&jdl->out, " ]");
        }
        free(path);
    }
    buf_adds(&jdl->out, " };\n");
    return 0;
}

/* A program that is sent along lies in the job's folder; any other is a program of the machine. */
int jdl_row_executable(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    char *name, *path;
    struct buf called;

    if (!jdl_is_text(jdl, e))
        return jdl_fail(jdl, "expected a text");
    name = mem_dup(tree_string(jdl->ad, e), e->u.run.count);
    path = sandbox_find(jdl, name);
    buf_init(&called);
    buf_addf(&called, "%s%s", path ? "./" : "", path ? last_part(name) : name);
    jdl_attribute_print(jdl, row->attribute, called.text, called.len);
    buf_adds(&jdl->out, "TransferExecutable = false;\n");
    buf_done(&called);
    free(path);
    free(name);
    return 0;
}

int jdl_row_input(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    char *name, *path;

    if (!jdl_is_text(jdl, e))
        return jdl_fail(jdl, "expected a text");
    name = mem_dup(tree_string(jdl->ad, e), e->u.run.count);
    path = sandbox_find(jdl, name);
    jdl_attribute_print(jdl, row->attribute, path ? path : name, strlen(path ? path : name));
    free(path);
    free(name);
    return 0;
}

static bool name_is_good(const char *name)
{
    return *name && *name != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 && !strstr(name, "/../") &&
           !strstr(name, "://") && name[strlen(name) - 1] != '/';
}

int jdl_row_stream(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    const struct expr *other = jdl_find(jdl, "StdOutput");
    char *name;
    bool good;

    if (!jdl_is_text(jdl, e))
        return jdl_fail(jdl, "expected a text");
    name = mem_dup(tree_string(jdl->ad, e), e->u.run.count);
    good = name_is_good(name);
    free(name);
    if (!good)
        return jdl_fail(jdl, "expected the name of a file beneath the job's folder");
    if (other && other != e && tree_equal(jdl->ad, e, jdl->ad, other)) {
        jdl_remark(jdl,
                   "it is the file of StdOutput as well: only that comes there, 'berth logs --err ID' has the rest");
        return 0;
    }
    jdl_attribute_print(jdl, row->attribute, tree_string(jdl->ad, e), e->u.run.count);
    return 0;
}

static int output_add(struct jdl *jdl, const char *text, size_t len)
{
    const struct expr *out = jdl_find(jdl, "StdOutput"), *error = jdl_find(jdl, "StdError");

    if (!name_is_good(text))
        return jdl_fail(jdl, "expected names of files beneath the job's folder");
    if ((out && jdl_text_is(jdl, out, text)) || (error && jdl_text_is(jdl, error, text)))
        return 0; /* the job's streams come back by themselves */
    buf_adds(&jdl->out, jdl->out.text[jdl->out.len - 1] == '{' ? " " : ", ");
    jdl_text_print(jdl, text, len);
    return 0;
}

int jdl_row_outputs(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = {", row->attribute);
    if (jdl_each_text(jdl, e, output_add) < 0)
        return -1;
    buf_adds(&jdl->out, " };\n");
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- destinations */

#define STORE "a store elsewhere is not carried over: outputs come to the folder where it is submitted"

/* gsiftp://localhost is the machine that keeps outputs until they are fetched: here they come home. file:///folder is a folder here. -1: neither;
 * 0: nothing is to be said; else where its path begins. */
static int destination_path(const char *text, const char **ret_path)
{
    static const char *const kept[] = {"gsiftp://localhost", "https://localhost", "http://localhost"};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncasecmp(text, kept[i], strlen(kept[i])) == 0 &&
            (!text[strlen(kept[i])] || strchr(":/", text[strlen(kept[i])])))
            return 0;
    if (strncasecmp(text, "file://", 7) != 0)
        return -1;
    *ret_path = strncasecmp(text + 7, "localhost/", 10) == 0 ? text + 16 : text + 7;
    return **ret_path == '/' ? 1 : -1;
}

static void destination_print(struct jdl *jdl, const struct expr *name, const char *folder, const char *path)
{
    struct buf to;

    buf_init(&to);
    buf_adds(&to, path ? path : folder);
    if (!path) {
        buf_adds(&to, to.text[to.len - 1] == '/' ? "" : "/");
        buf_add(&to, tree_string(jdl->ad, name), name->u.run.count);
    }
    buf_adds(&jdl->out, jdl->out.text[jdl->out.len - 1] == '{' ? " [ Name = " : ", [ Name = ");
    jdl_text_print(jdl, tree_string(jdl->ad, name), name->u.run.count);
    buf_adds(&jdl->out, "; To = ");
    jdl_text_print(jdl, to.text, to.len);
    buf_adds(&jdl->out, " ]");
    buf_done(&to);
}

/* All of OutputSandbox go to one folder. */
int jdl_row_destination(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    const struct expr *outputs = jdl_find(jdl, "OutputSandbox"), *parts;
    const char *path = NULL;
    char *text;
    int kind;

    if (!jdl_is_text(jdl, e))
        return jdl_fail(jdl, "expected a text");
    if (jdl_find(jdl, "OutputSandboxDestURI"))
        return jdl_fail(jdl, "expected it without OutputSandboxDestURI");
    text = mem_dup(tree_string(jdl->ad, e), e->u.run.count);
    kind = destination_path(text, &path);
    if (kind > 0 && outputs) {
        uint32_t count = outputs->kind == EXPR_LIST ? outputs->u.run.count : 1;

        parts = outputs->kind == EXPR_LIST ? tree_parts(jdl->ad, outputs) : outputs;
        buf_addf(&jdl->out, "%s = {", row->attribute);
        for (uint32_t i = 0; i < count; i++)
            destination_print(jdl, &parts[i], path, NULL);
        buf_adds(&jdl->out, " };\n");
    }
    free(text);
    return kind < 0 ? jdl_fail(jdl, STORE) : 0;
}

/* Each of OutputSandbox has its own. */
int jdl_row_destinations(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    const struct expr *outputs = jdl_find(jdl, "OutputSandbox");
    int result = 0;

    if (e->kind != EXPR_LIST || !outputs || outputs->kind != EXPR_LIST || outputs->u.run.count != e->u.run.count)
        return jdl_fail(jdl, "expected a list of as many as OutputSandbox has");
    buf_addf(&jdl->out, "%s = {", row->attribute);
    for (uint32_t i = 0; i < e->u.run.count && result == 0; i++) {
        const struct expr *part = &tree_parts(jdl->ad, e)[i], *name = &tree_parts(jdl->ad, outputs)[i];
        const char *path = NULL;
        char *text;
        int kind;

        if (!jdl_is_text(jdl, part))
            return jdl_fail(jdl, "expected a list of texts");
        text = mem_dup(tree_string(jdl->ad, part), part->u.run.count);
        kind = destination_path(text, &path);
        if (kind > 0)
            destination_print(jdl, name, NULL, path);
        free(text);
        if (kind < 0)
            result = jdl_fail(jdl, STORE);
    }
    buf_adds(&jdl->out, " };\n");
    return result;
}

/* ---------------------------------------------------------------------------------------------------------- output data */

/* Prints a logical name without its prefix, which only says that the name is a logical one. */
static void logical_print(struct jdl *jdl, const char *text, size_t len)
{
    if (len > 4 && !strncasecmp(text, "lfn:", 4)) {
        text += 4;
        len -= 4;
    }
    while (len > 1 && *text == '/') {
        text++;
        len--;
    }
    jdl_text_print(jdl, text, len);
}

/* OutputData = { "x" } of DIRAC: the file goes to OutputSE, under OutputPath; LFN:/a/x is the file x under that name. */
static int text_data_add(struct jdl *jdl, const struct expr *file)
{
    const struct expr *path = jdl_find(jdl, "OutputPath"), *store = jdl_find(jdl, "OutputSE");
    char *text = mem_dup(tree_string(jdl->ad, file), file->u.run.count);
    bool logical = strncasecmp(text, "lfn:", 4) == 0;
    struct buf name;

    if (path && path->kind == EXPR_LIST && path->u.run.count)
        path = tree_parts(jdl->ad, path);
    if (store && store->kind == EXPR_LIST && store->u.run.count)
        store = tree_parts(jdl->ad, store);
    buf_init(&name);
    buf_adds(&jdl->out, " [ File = ");
    jdl_text_print(jdl, logical ? last_part(text) : text, strlen(logical ? last_part(text) : text));
    if (logical) {
        buf_adds(&name, text);
    } else if (path && jdl_is_text(jdl, path)) {
        buf_add(&name, tree_string(jdl->ad, path), path->u.run.count);
        buf_addf(&name, "%s%s", name.text[name.len - 1] == '/' ? "" : "/", last_part(text));
    }
    if (name.len) {
        buf_adds(&jdl->out, "; Name = ");
        logical_print(jdl, name.text, name.len);
    }
    if (store && jdl_is_text(jdl, store)) {
        buf_adds(&jdl->out, "; Store = ");
        jdl_text_print(jdl, tree_string(jdl->ad, store), store->u.run.count);
    }
    buf_adds(&jdl->out, " ]");
    buf_done(&name);
    free(text);
    return 0;
}

/* [ OutputFile = "x"; LogicalFileName = "lfn:/grid/x"; StorageElement = "se" ]: a file that goes to a store when the job has ended. */
static int data_add(struct jdl *jdl, const struct expr *file)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"OutputFile", "File"}, {"LogicalFileName", "Name"}, {"StorageElement", "Store"}};
    bool named = false;

    buf_adds(&jdl->out, " [");
    for (uint32_t i = 0; i < file->u.run.count; i++) {
        const struct expr *part = &tree_parts(jdl->ad, file)[i];
        size_t len, k = 0;
        const char *name = symbols_text(jdl->symbols, part->label, &len);

        while (k < 3 && !submit_same(name, len, names[k].theirs))
            k++;
        if (k == 3 || !jdl_is_text(jdl, part))
            return jdl_fail(jdl, "expected OutputFile, LogicalFileName and StorageElement, each a text");
        named = named || k == 0;
        buf_addf(&jdl->out, " %s = ", names[k].ours);
        (k == 1 ? logical_print : jdl_text_print)(jdl, tree_string(jdl->ad, part), part->u.run.count);
        buf_addc(&jdl->out, ';');
    }
    buf_adds(&jdl->out, " ]");
    return named ? 0 : jdl_fail(jdl, "expected an OutputFile");
}

int jdl_row_output_data(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(jdl->ad, e) : e;
    uint32_t count = e->kind == EXPR_LIST ? e->u.run.count : 1;

    buf_addf(&jdl->out, "%s = {", row->attribute);
    for (uint32_t i = 0; i < count; i++) {
        bool is_text = jdl_is_text(jdl, &parts[i]);

        if (parts[i].kind != EXPR_AD && !is_text)
            return jdl_fail(jdl, "expected a list of [ OutputFile; LogicalFileName; StorageElement ], or of texts");
        buf_adds(&jdl->out, i ? "," : "");
        if ((is_text ? text_data_add : data_add)(jdl, &parts[i]) < 0)
            return -1;
    }
    buf_adds(&jdl->out, " };\n");
    return 0;
}
