/* jdl.c: a job in JDL, the language of the European grids (EDG, gLite), becomes an ad of ours, as docs/submit-languages.md says.
 *
 *     [ Executable = "fit"; Arguments = "-n 3"; InputSandbox = { "fit", "data/in.txt" }; StdOutput = "out.txt";
 *       OutputSandbox = { "out.txt", "result.dat" }; Requirements = other.GlueHostMainMemoryRAMSize >= 2048 ]
 *
 * JDL is ClassAds, so the file is read as an ad, with brackets or without; each of its attributes has a row that says what becomes of it.
 * A job is submitted in one of three ways: to a machine by its name (SubmitTo), by what it asks of a machine, or to a machine that is close
 * to its data (OutputSE). */
#include "form/reader.h"
#include "form/submit_parts.h"

#include "text/parse.h"
#include "text/print.h"
#include "text/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct jdl {
    const struct submit_world *world;
    struct symbols *symbols;
    struct tree *ad;
    struct buf text; /* as it is parsed: with brackets, without lines that are comments */
    bool wrapped;    /* the brackets are ours */
    size_t *starts;  /* of attributes, in their order */
    uint32_t start_count, start_room;
    uint32_t at;        /* the attribute at hand */
    struct buf sandbox; /* where the files of InputSandbox lie, a line each */
    struct buf out;     /* the ad that is made */
    struct submit_mentions mentions;
    struct err *err;
};

struct row;
typedef int row_fn(struct jdl *jdl, const struct row *row, const struct expr *e);

struct row {
    const char *name;
    const char *attribute; /* ours; or words */
    row_fn *write;
};

/* --------------------------------------------------------------------------------------------------------------- places */

static struct submit_place place_of(const struct jdl *jdl, size_t offset)
{
    struct submit_place place;

    err_place(jdl->text.text, offset, &place.line, &place.column);
    place.column -= jdl->wrapped && place.line == 1 && place.column > 1;
    return place;
}

static struct submit_place place_here(const struct jdl *jdl)
{
    return jdl->at < jdl->start_count ? place_of(jdl, jdl->starts[jdl->at]) : (struct submit_place){1, 1};
}

static const char *name_here(const struct jdl *jdl)
{
    size_t len;

    return symbols_text(jdl->symbols, tree_parts(jdl->ad, tree_root(jdl->ad))[jdl->at].label, &len);
}

static int fail(const struct jdl *jdl, const char *words)
{
    return submit_fail(place_here(jdl), jdl->err, "%.60s: %s", name_here(jdl), words);
}

static void remark(const struct jdl *jdl, const char *words)
{
    struct submit_place at = place_here(jdl);
    struct err remark = {.line = at.line, .column = at.column};

    if (!jdl->world->remark)
        return;
    err_set(&remark, "%.60s: %s", name_here(jdl), words);
    remark.line = at.line;
    remark.column = at.column;
    jdl->world->remark(jdl->world->user, &remark);
}

static const struct expr *find(const struct jdl *jdl, const char *name)
{
    symbol called = symbols_find(jdl->symbols, name, strlen(name));

    return called ? tree_find(jdl->ad, tree_root(jdl->ad), called) : NULL;
}

/* --------------------------------------------------------------------------------------------------------------- values */

static bool is_text(const struct jdl *jdl, const struct expr *e)
{
    return e->kind == EXPR_STRING && e->u.run.count && !memchr(tree_string(jdl->ad, e), '\0', e->u.run.count) &&
           submit_is_fixed(tree_string(jdl->ad, e), e->u.run.count);
}

static bool text_is(const struct jdl *jdl, const struct expr *e, const char *word)
{
    return e->kind == EXPR_STRING && submit_same(tree_string(jdl->ad, e), e->u.run.count, word);
}

/* Calls for a text, or for each of a list of texts. */
static int each_text(struct jdl *jdl, const struct expr *e, int (*fn)(struct jdl *jdl, const char *text, size_t len))
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(jdl->ad, e) : e;
    uint32_t count = e->kind == EXPR_LIST ? e->u.run.count : 1;

    for (uint32_t i = 0; i < count; i++) {
        char *copy;
        int result;

        if (!is_text(jdl, &parts[i]))
            return fail(jdl, "expected a text, or a list of texts");
        copy = mem_dup(tree_string(jdl->ad, &parts[i]), parts[i].u.run.count);
        result = fn(jdl, copy, parts[i].u.run.count);
        free(copy);
        if (result < 0)
            return -1;
    }
    return 0;
}

static void text_print(struct jdl *jdl, const char *text, size_t len)
{
    print_string(&jdl->out, text, len, PRINT_PLAIN);
}

static void attribute_print(struct jdl *jdl, const char *name, const char *text, size_t len)
{
    buf_addf(&jdl->out, "%s = ", name);
    text_print(jdl, text, len);
    buf_adds(&jdl->out, ";\n");
}

/* ---------------------------------------------------------------------------------------------------------- simple rows */

static int row_refused(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    (void)e;
    return fail(jdl, row->attribute);
}

static int row_passed(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    if (e->kind != EXPR_BOOLEAN || e->small)
        remark(jdl, row->attribute);
    return 0;
}

static int row_quiet(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    (void)jdl;
    (void)row;
    (void)e;
    return 0;
}

static int row_text(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    if (!is_text(jdl, e))
        return fail(jdl, "expected a text");
    attribute_print(jdl, row->attribute, tree_string(jdl->ad, e), e->u.run.count);
    return 0;
}

/* As it is, under its own name. */
static int row_kept(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = ", row->attribute);
    print_expr(&jdl->out, jdl->ad, e, PRINT_PLAIN);
    buf_adds(&jdl->out, ";\n");
    return 0;
}

static int row_whole(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    if (e->kind != EXPR_INTEGER || e->u.integer < 0 || e->u.integer > 1000000)
        return fail(jdl, "expected a whole number");
    buf_addf(&jdl->out, "%s = %" PRId64 ";\n", row->attribute, e->u.integer);
    return 0;
}

static int row_type(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    (void)row;
    return text_is(jdl, e, "Job") ? 0 : fail(jdl, "expected \"Job\": workflows and collections are not carried over");
}

static int row_job_type(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    static const char *const others[] = {"Interactive",   "MPICH",      "Checkpointable",
                                         "Partitionable", "Parametric", "Multiple"};

    (void)row;
    if (text_is(jdl, e, "Normal"))
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (text_is(jdl, e, others[i]))
            return submit_fail(place_here(jdl), jdl->err,
                               "JobType: expected \"Normal\": a job of type %s is not carried over", others[i]);
    return fail(jdl, "expected \"Normal\"");
}

static int row_one(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    return e->kind == EXPR_INTEGER && e->u.integer == 1 ? 0 : fail(jdl, row->attribute);
}

static int row_expiry(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    int64_t now = jdl->world->now;

    if (e->kind != EXPR_INTEGER)
        return fail(jdl, "expected a time, in seconds since 1970");
    if (!now || e->u.integer <= now)
        return fail(jdl, now ? "expected a time to come: it is over" : "it needs the time, which is not known here");
    buf_addf(&jdl->out, "%s = %" PRId64 ";\n", row->attribute, e->u.integer - now);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- files */

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
    if (strstr(text, "://"))
        return fail(jdl, "expected names of files of this machine: what lies behind a URL is not carried over");
    if (!len || text[len - 1] == '/' || memchr(text, '\n', len))
        return fail(jdl, "expected names of files");
    if (!strpbrk(text, "*?[")) {
        buf_add(&jdl->sandbox, text, len);
        buf_addc(&jdl->sandbox, '\n');
        return 0;
    }
    if (!jdl->world->match)
        return fail(jdl, "patterns need files, and none can be seen here");
    if (jdl->world->match(jdl->world->user, text, SUBMIT_MATCH_FILES, &jdl->sandbox, &why) < 0)
        return fail(jdl, why.text);
    if (jdl->sandbox.len > SUBMIT_VALUE_MAX)
        return fail(jdl, "expected fewer files");
    return submit_clean(buf_string(&jdl->sandbox), jdl->sandbox.len, place_here(jdl), false, jdl->err);
}

/* Where the file of that name lies that the job finds by it; NULL: it is not sent along. */
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

static int row_inputs(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    const char *at, *begun = " ";

    if (each_text(jdl, e, sandbox_add) < 0)
        return -1;
    buf_addf(&jdl->out, "%s = {", row->attribute);
    for (at = buf_string(&jdl->sandbox); *at; at += strcspn(at, "\n") + 1) {
        char *path = mem_dup(at, strcspn(at, "\n"));
        const char *name = last_part(path);

        buf_adds(&jdl->out, begun);
        begun = ", ";
        if (name == path) {
            text_print(jdl, path, strlen(path));
        } else {
            buf_adds(&jdl->out, "[ Name = ");
            text_print(jdl, name, strlen(name));
            buf_adds(&jdl->out, "; From = ");
            text_print(jdl, path, strlen(path));
            buf_adds(&jdl->out, " ]");
        }
        free(path);
    }
    buf_adds(&jdl->out, " };\n");
    return 0;
}

/* A program that is sent along lies in the job's folder; any other is the machine's. */
static int row_executable(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    char *name, *path;
    struct buf called;

    if (!is_text(jdl, e))
        return fail(jdl, "expected a text");
    name = mem_dup(tree_string(jdl->ad, e), e->u.run.count);
    path = sandbox_find(jdl, name);
    buf_init(&called);
    buf_addf(&called, "%s%s", path ? "./" : "", path ? last_part(name) : name);
    attribute_print(jdl, row->attribute, called.text, called.len);
    buf_adds(&jdl->out, "TransferExecutable = false;\n");
    buf_done(&called);
    free(path);
    free(name);
    return 0;
}

static int row_input(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    char *name, *path;

    if (!is_text(jdl, e))
        return fail(jdl, "expected a text");
    name = mem_dup(tree_string(jdl->ad, e), e->u.run.count);
    path = sandbox_find(jdl, name);
    attribute_print(jdl, row->attribute, path ? path : name, strlen(path ? path : name));
    free(path);
    free(name);
    return 0;
}

static bool name_is_good(const char *name)
{
    return *name && *name != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 && !strstr(name, "/../") &&
           !strstr(name, "://") && name[strlen(name) - 1] != '/';
}

static int row_stream(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    const struct expr *other = find(jdl, "StdOutput");
    char *name;
    bool good;

    if (!is_text(jdl, e))
        return fail(jdl, "expected a text");
    name = mem_dup(tree_string(jdl->ad, e), e->u.run.count);
    good = name_is_good(name);
    free(name);
    if (!good)
        return fail(jdl, "expected the name of a file beneath the job's folder");
    if (other && other != e && tree_equal(jdl->ad, e, jdl->ad, other)) {
        remark(jdl, "it is the file of StdOutput as well: only that comes there, 'berth logs --err ID' has the rest");
        return 0;
    }
    attribute_print(jdl, row->attribute, tree_string(jdl->ad, e), e->u.run.count);
    return 0;
}

static int output_add(struct jdl *jdl, const char *text, size_t len)
{
    const struct expr *out = find(jdl, "StdOutput"), *error = find(jdl, "StdError");

    if (!name_is_good(text))
        return fail(jdl, "expected names of files beneath the job's folder");
    if ((out && text_is(jdl, out, text)) || (error && text_is(jdl, error, text)))
        return 0; /* they come as such */
    buf_adds(&jdl->out, jdl->out.text[jdl->out.len - 1] == '{' ? " " : ", ");
    text_print(jdl, text, len);
    return 0;
}

static int row_outputs(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = {", row->attribute);
    if (each_text(jdl, e, output_add) < 0)
        return -1;
    buf_adds(&jdl->out, " };\n");
    return 0;
}

/* ----------------------------------------------------------------------------------------------- arguments, environment */

/* As a shell splits them: blanks, quotes, backslashes; nothing is expanded. */
static int row_arguments(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    const char *text = tree_string(jdl->ad, e), *begun = " ";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;
    bool inside = false;
    char quote = '\0';
    struct buf word;

    if (e->kind != EXPR_STRING || (len && !is_text(jdl, e)))
        return fail(jdl, "expected a text");
    buf_init(&word);
    buf_addf(&jdl->out, "%s = {", row->attribute);
    for (size_t i = 0; i <= len; i++) {
        if (i == len || (!quote && submit_blank(text[i]))) {
            if (inside) {
                buf_adds(&jdl->out, begun);
                begun = ", ";
                text_print(jdl, word.text, word.len);
            }
            buf_reset(&word);
            inside = false;
        } else if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'') {
            quote = quote ? '\0' : text[i];
            inside = true;
        } else {
            i += text[i] == '\\' && quote != '\'' && i + 1 < len;
            buf_addc(&word, text[i]);
            inside = true;
        }
    }
    buf_adds(&jdl->out, " };\n");
    buf_done(&word);
    return quote ? fail(jdl, "expected a quote that closes the one before") : 0;
}

static int variable_add(struct jdl *jdl, const char *text, size_t len)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || !word_may_name(text, (size_t)(equals - text)))
        return fail(jdl, "expected NAME=VALUE");
    buf_adds(&jdl->out, jdl->out.text[jdl->out.len - 1] == '[' ? " " : "; ");
    print_name(&jdl->out, &dialect_classic, text, (size_t)(equals - text));
    buf_adds(&jdl->out, " = ");
    text_print(jdl, equals + 1, len - (size_t)(equals + 1 - text));
    return 0;
}

static int row_environment(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = [", row->attribute);
    if (each_text(jdl, e, variable_add) < 0)
        return -1;
    buf_adds(&jdl->out, " ];\n");
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- output data */

/* A logical name: what stands in front of it says that it is one, and nothing else. */
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
    text_print(jdl, text, len);
}

/* [ OutputFile = "x"; LogicalFileName = "lfn:/grid/x"; StorageElement = "se" ]: what goes to a store when the job has ended. */
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
        if (k == 3 || !is_text(jdl, part))
            return fail(jdl, "expected OutputFile, LogicalFileName and StorageElement, each a text");
        named = named || k == 0;
        buf_addf(&jdl->out, " %s = ", names[k].ours);
        (k == 1 ? logical_print : text_print)(jdl, tree_string(jdl->ad, part), part->u.run.count);
        buf_addc(&jdl->out, ';');
    }
    buf_adds(&jdl->out, " ]");
    return named ? 0 : fail(jdl, "expected an OutputFile");
}

static int row_output_data(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(jdl->ad, e) : e;
    uint32_t count = e->kind == EXPR_LIST ? e->u.run.count : 1;

    buf_addf(&jdl->out, "%s = {", row->attribute);
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].kind != EXPR_AD)
            return fail(jdl, "expected a list of [ OutputFile; LogicalFileName; StorageElement ]");
        buf_adds(&jdl->out, i ? "," : "");
        if (data_add(jdl, &parts[i]) < 0)
            return -1;
    }
    buf_adds(&jdl->out, " };\n");
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- matching */

static bool job_has(void *user, const char *name, size_t len)
{
    const struct jdl *jdl = user;
    symbol called = symbols_find(jdl->symbols, name, len);

    return called && tree_find(jdl->ad, tree_root(jdl->ad), called);
}

static void unknown_note(void *user, const char *name, const char *words)
{
    struct err text = {0};

    err_set(&text, "'%.60s' is always undefined: %s", name, words);
    remark(user, text.text);
}

static void mention_note(void *user, const char *name)
{
    struct jdl *jdl = user;

    submit_mention(&jdl->mentions, name);
}

static int expr_print(struct jdl *jdl, const struct expr *e, bool counts, struct buf *out)
{
    struct submit_expr how = {.symbols = jdl->symbols,
                              .dialect = &dialect_classic,
                              .is_glue = true,
                              .side = SUBMIT_SIDE_MACHINE,
                              .has = job_has,
                              .user = jdl,
                              .unknown = unknown_note,
                              .mentions = counts ? mention_note : NULL};
    struct buf text;
    int result;

    buf_init(&text);
    print_expr(&text, jdl->ad, e, PRINT_PLAIN);
    result = submit_expr(&how, buf_string(&text), text.len, place_here(jdl), false, out, jdl->err);
    buf_done(&text);
    return result < 0 ? err_context(jdl->err, "%.60s", name_here(jdl)) : 0;
}

static int row_rank(struct jdl *jdl, const struct row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = ", row->attribute);
    if (expr_print(jdl, e, false, &jdl->out) < 0)
        return -1;
    buf_adds(&jdl->out, ";\n");
    return 0;
}

/* To a machine by its name; or to one that fits, close to where the output goes if that is said and the job brings it there by itself. */
static int constraint_write(struct jdl *jdl)
{
    const struct expr *place = find(jdl, "SubmitTo"), *wanted = find(jdl, "Requirements");
    const struct expr *parts = tree_parts(jdl->ad, tree_root(jdl->ad));
    struct buf expr;
    int result = 0;

    if (place) {
        jdl->at = (uint32_t)(place - parts);
        if (!is_text(jdl, place))
            return fail(jdl, "expected the name of a machine");
        buf_adds(&jdl->out, "Constraint = other.Type == \"Machine\" && other.Name == ");
        text_print(jdl, tree_string(jdl->ad, place), place->u.run.count);
        buf_adds(&jdl->out, ";\n");
        if (wanted) {
            jdl->at = (uint32_t)(wanted - parts);
            remark(jdl, "SubmitTo says which machine: nothing else is asked of it");
        }
        return 0;
    }
    buf_init(&expr);
    if (wanted) {
        jdl->at = (uint32_t)(wanted - parts);
        result = expr_print(jdl, wanted, true, &expr);
    }
    buf_adds(&jdl->out, "Constraint = ");
    submit_constraint_print(jdl->world, &jdl->mentions, &expr, false, &jdl->out);
    buf_adds(&jdl->out,
             find(jdl, "OutputSE") && !find(jdl, "OutputData") ? " && member(OutputSE, other.CloseStorage);\n" : ";\n");
    buf_done(&expr);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------- the rows */

#define FLOW "a workflow is not carried over"
#define STEPS "jobs in steps are not carried over: 'Checkpoint' names files from which a job goes on (docs/jobs.md)"
#define STORE "a store elsewhere is not carried over: outputs come to the folder where it is submitted"

static const struct row rows[] = {
    {"Type", NULL, row_type},
    {"JobType", NULL, row_job_type},
    {"InputSandbox", "Inputs", row_inputs}, /* before those that look for a file in it */
    {"Executable", "Cmd", row_executable},
    {"Arguments", "Args", row_arguments},
    {"Environment", "Env", row_environment},
    {"StdInput", "In", row_input},
    {"StdOutput", "Out", row_stream},
    {"StdError", "Err", row_stream},
    {"OutputSandbox", "Outputs", row_outputs},
    {"Rank", "Rank", row_rank},
    {"Requirements", NULL, row_quiet}, /* constraint_write */
    {"SubmitTo", NULL, row_quiet},
    {"RetryCount", "MaxRetries", row_whole},
    {"CPUNumber", "RequestCpus", row_whole},
    {"ExpiryTime", "QueueLimit", row_expiry},
    {"VirtualOrganisation", "VirtualOrganisation", row_text},
    {"InputData", "InputData", row_kept},
    {"DataAccessProtocol", "DataAccessProtocol", row_kept},
    {"OutputSE", "OutputSE", row_text},
    {"OutputData", "OutputData", row_output_data},
    {"UserTags", "UserTags", row_kept},

    {"MaxRetryCount", "RetryCount says how often it is tried again", row_passed},
    {"ShallowRetryCount", "what never began is always tried again", row_passed},
    {"MyProxyServer", "there are no proxies: tokens say who one is", row_passed},
    {"FuzzyRank", "of machines that are ranked the same, which one is taken is the matchmaker's matter", row_passed},
    {"PerusalFileEnable", "'berth logs -f' shows what a job writes", row_passed},
    {"PerusalTimeInterval", "'berth logs -f' shows what a job writes", row_passed},
    {"AllowZippedISB", "files are sent as they are, each content once", row_passed},
    {"HLRLocation", "usage is counted by the pool", row_passed},

    {"NodeNumber", "expected 1: several machines are asked for by Ports (docs/gangs.md)", row_one},
    {"HostNumber", "expected 1: several machines are asked for by Ports (docs/gangs.md)", row_one},
    {"StorageIndex", "the pool's own catalogue is asked", row_refused},
    {"DataCatalog", "the pool's own catalogue is asked", row_refused},
    {"DataRequirements", "the pool's own catalogue is asked", row_refused},
    {"InputSandboxBaseURI", "what lies behind a URL is not carried over", row_refused},
    {"OutputSandboxDestURI", STORE, row_refused},
    {"OutputSandboxBaseDestURI", STORE, row_refused},
    {"ListenerPort", "interactive jobs are not carried over", row_refused},
    {"ListenerHost", "interactive jobs are not carried over", row_refused},
    {"JobSteps", STEPS, row_refused},
    {"CurrentStep", STEPS, row_refused},
    {"StepWeight", STEPS, row_refused},
    {"PreJob", FLOW, row_refused},
    {"PostJob", FLOW, row_refused},
    {"Nodes", FLOW, row_refused},
    {"Dependencies", FLOW, row_refused},
    {"max_nodes_running", FLOW, row_refused},
    {"Prologue", "not carried over: let the executable call it", row_refused},
    {"Epilogue", "not carried over: let the executable call it", row_refused},
    {"Parameters", "parametric jobs are not carried over: Count in an ad makes a sweep (docs/jobs.md)", row_refused},
    {"ParameterStart", "parametric jobs are not carried over", row_refused},
    {"ParameterStep", "parametric jobs are not carried over", row_refused},
    {"WholeNodes", "not carried over: say in Requirements what the machine has", row_refused},
};

static const struct row *row_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (submit_same(name, len, rows[i].name))
            return &rows[i];
    return NULL;
}

/* Attributes of ours that rows make; and those that an ad of a job may not have twice. */
static bool is_made(const char *name, size_t len)
{
    static const char *const more[] = {"Constraint", "Cmd",     "Args",       "Env",        "In",
                                       "Inputs",     "Outputs", "Out",        "Err",        "Iwd",
                                       "Count",      "Owner",   "MaxRetries", "QueueLimit", "TransferExecutable",
                                       "JobIndex",   "JobId"};

    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (submit_same(name, len, more[i]))
            return true;
    return false;
}

/* Attributes that JDL does not know are the job's own. */
static int others_write(struct jdl *jdl)
{
    const struct expr *root = tree_root(jdl->ad);

    for (jdl->at = 0; jdl->at < root->u.run.count; jdl->at++) {
        const struct expr *e = &tree_parts(jdl->ad, root)[jdl->at];
        size_t len;
        const char *name = symbols_text(jdl->symbols, e->label, &len);

        if (row_find(name, len) || (submit_same(name, len, "RequestCpus") && find(jdl, "CPUNumber")))
            continue;
        if (is_made(name, len))
            return fail(jdl, "expected an attribute of JDL: this one has a meaning of its own here");
        print_name(&jdl->out, &dialect_classic, name, len);
        buf_adds(&jdl->out, " = ");
        print_expr(&jdl->out, jdl->ad, e, PRINT_PLAIN);
        buf_adds(&jdl->out, ";\n");
        remark(jdl, "it is no attribute of JDL: it is kept as the job's own");
    }
    return 0;
}

static int job_write(struct jdl *jdl)
{
    const struct expr *parts = tree_parts(jdl->ad, tree_root(jdl->ad));

    buf_adds(&jdl->out, "[\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct expr *e = find(jdl, rows[i].name);

        if (!e)
            continue;
        jdl->at = (uint32_t)(e - parts);
        if (rows[i].write(jdl, &rows[i], e) < 0)
            return -1;
    }
    if (!find(jdl, "Executable"))
        return submit_fail((struct submit_place){1, 1}, jdl->err,
                           "expected an attribute Executable: without one there is no job");
    if (others_write(jdl) < 0 || constraint_write(jdl) < 0)
        return -1;
    buf_addc(&jdl->out, ']');
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- reading */

/* Lines that begin with # are comments in JDL; they become blanks. */
static void comments_blank(char *text, size_t len)
{
    bool begins = true, comment = false;

    for (size_t i = 0; i < len; i++) {
        comment = text[i] == '\n' ? false : comment || (begins && text[i] == '#');
        begins = text[i] == '\n' || (begins && submit_blank(text[i]));
        if (comment)
            text[i] = ' ';
    }
}

/* Is the first thing that is no comment a bracket? */
static bool is_open(const char *text)
{
    const char *end;

    for (;; text = end) {
        text += strspn(text, READER_BLANKS);
        if (text[0] != '/' || (text[1] != '/' && text[1] != '*'))
            return *text == '[';
        end = strstr(text + 2, text[1] == '/' ? "\n" : "*/");
        if (!end)
            return false;
        end += text[1] == '/' ? 1 : 2;
    }
}

static void text_copy(struct jdl *jdl, const char *text, size_t len)
{
    char *copy = mem_dup(len ? text : "", len);

    comments_blank(copy, len);
    jdl->wrapped = !is_open(copy);
    buf_adds(&jdl->text, jdl->wrapped ? "[" : "");
    buf_add(&jdl->text, copy, len);
    buf_adds(&jdl->text, jdl->wrapped ? "\n]" : "");
    free(copy);
}

static void attribute_seen(void *user, size_t start, size_t end)
{
    struct jdl *jdl = user;

    (void)end;
    if (jdl->start_count == jdl->start_room) {
        jdl->start_room = jdl->start_room ? jdl->start_room * 2 : 32;
        jdl->starts = mem_grow(jdl->starts, jdl->start_room * sizeof *jdl->starts);
    }
    jdl->starts[jdl->start_count++] = start;
}

static int ad_read(struct jdl *jdl, unsigned last_line)
{
    struct parse_watch watch = {.attribute = attribute_seen, .user = jdl};
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX, .watch = &watch};
    struct build build;
    struct err why = {0};

    build_init(&build, jdl->symbols, &dialect_classic);
    jdl->ad = parse_ad(&build, &options, buf_string(&jdl->text), jdl->text.len, &why);
    build_done(&build);
    if (jdl->ad)
        return 0;
    why.column -= jdl->wrapped && why.line == 1 && why.column > 1;
    return submit_fail((struct submit_place){why.line > last_line ? last_line : why.line, why.column}, jdl->err, "%s",
                       why.text);
}

int jdl_read(struct symbols *symbols, const struct submit_world *world, const char *text, size_t len,
             submit_ad_fn *each, void *user, struct err *err)
{
    const struct form_limits limits = {.cells = 1u << 20};
    struct jdl jdl = {.world = world, .symbols = symbols, .err = err};
    struct submit_place end = {1, 1};
    struct tree *ad = NULL;
    struct err why = {0};
    int result;

    if (len > SUBMIT_BYTES_MAX)
        return submit_fail(end, err, "expected a file of at most %u bytes", SUBMIT_BYTES_MAX);
    if (submit_clean(text, len, end, true, err) < 0)
        return -1;
    err_place(text, len, &end.line, &end.column);
    buf_init(&jdl.text);
    buf_init(&jdl.sandbox);
    buf_init(&jdl.out);
    text_copy(&jdl, text, len);
    result = ad_read(&jdl, end.line);
    if (result == 0)
        result = job_write(&jdl);
    if (result == 0) {
        ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, &limits, buf_string(&jdl.out), jdl.out.len, &why);
        if (!ad)
            result =
                submit_fail((struct submit_place){1, 1}, err, "the ad of this job cannot be made: %.300s", why.text);
    }
    if (result == 0)
        result = each(user, ad, 1);
    tree_unref(ad);
    tree_unref(jdl.ad);
    free(jdl.starts);
    buf_done(&jdl.text);
    buf_done(&jdl.sandbox);
    buf_done(&jdl.out);
    return result;
}
