/* jdl.c: a job in JDL, the language of the European grids (EDG, gLite), becomes an ad, as docs/submit-languages.md says.
 *
 *     [ Executable = "fit"; Arguments = "-n 3"; InputSandbox = { "fit", "data/in.txt" }; StdOutput = "out.txt";
 *       OutputSandbox = { "out.txt", "result.dat" }; Requirements = other.GlueHostMainMemoryRAMSize >= 2048 ]
 *
 * JDL is ClassAds, so the file is read as an ad, with brackets or without; each of its attributes has a row that says how it is
 * translated. A job is submitted in one of three ways: to a machine by its name (SubmitTo), to a machine that meets its Requirements, or
 * to a machine that is close to its data (OutputSE). */
#include "lang/form/jdl_parts.h"

#include "lang/base/array.h"
#include "lang/form/reader.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- the rows */

#define FLOW "a workflow is not carried over"
#define STEPS "jobs in steps are not carried over: 'Checkpoint' names files from which a job goes on (docs/jobs.md)"
#define STORE "a store elsewhere is not carried over: outputs come to the folder where it is submitted"

static const struct jdl_row rows[] = {
    {"Type", NULL, jdl_row_type},
    {"JobType", NULL, jdl_row_job_type},
    {"InputSandbox", "Inputs", jdl_row_inputs}, /* before the rows that look for a file in it */
    {"Executable", "Cmd", jdl_row_executable},
    {"Arguments", "Args", jdl_row_arguments},
    {"Environment", "Env", jdl_row_environment},
    {"StdInput", "In", jdl_row_input},
    {"StdOutput", "Out", jdl_row_stream},
    {"StdError", "Err", jdl_row_stream},
    {"OutputSandbox", "Outputs", jdl_row_outputs},
    {"Rank", "Rank", jdl_row_rank},
    {"Requirements", NULL, jdl_row_quiet}, /* read by jdl_constraint_write */
    {"SubmitTo", NULL, jdl_row_quiet},
    {"RetryCount", "MaxRetries", jdl_row_whole},
    {"CPUNumber", "RequestCpus", jdl_row_whole},
    {"ExpiryTime", "QueueLimit", jdl_row_expiry},
    {"VirtualOrganisation", "VirtualOrganisation", jdl_row_text},
    {"InputData", "InputData", jdl_row_kept},
    {"DataAccessProtocol", "DataAccessProtocol", jdl_row_kept},
    {"OutputSE", "OutputSE", jdl_row_text},
    {"OutputData", "OutputData", jdl_row_output_data},
    {"UserTags", "UserTags", jdl_row_kept},

    {"MaxRetryCount", "RetryCount says how often it is tried again", jdl_row_passed},
    {"ShallowRetryCount", "what never began is always tried again", jdl_row_passed},
    {"MyProxyServer", "there are no proxies: tokens say who one is", jdl_row_passed},
    {"FuzzyRank", "of machines that are ranked the same, which one is taken is the matchmaker's matter",
     jdl_row_passed},
    {"PerusalFileEnable", "'berth logs -f' shows what a job writes", jdl_row_passed},
    {"PerusalTimeInterval", "'berth logs -f' shows what a job writes", jdl_row_passed},
    {"AllowZippedISB", "files are sent as they are, each content once", jdl_row_passed},
    {"HLRLocation", "usage is counted by the pool", jdl_row_passed},

    {"NodeNumber", "expected 1: several machines are asked for by Ports (docs/gangs.md)", jdl_row_one},
    {"HostNumber", "expected 1: several machines are asked for by Ports (docs/gangs.md)", jdl_row_one},
    {"StorageIndex", "the pool's own catalogue is asked", jdl_row_refused},
    {"DataCatalog", "the pool's own catalogue is asked", jdl_row_refused},
    {"DataRequirements", "the pool's own catalogue is asked", jdl_row_refused},
    {"InputSandboxBaseURI", "what lies behind a URL is not carried over", jdl_row_refused},
    {"OutputSandboxDestURI", STORE, jdl_row_refused},
    {"OutputSandboxBaseDestURI", STORE, jdl_row_refused},
    {"ListenerPort", "interactive jobs are not carried over", jdl_row_refused},
    {"ListenerHost", "interactive jobs are not carried over", jdl_row_refused},
    {"JobSteps", STEPS, jdl_row_refused},
    {"CurrentStep", STEPS, jdl_row_refused},
    {"StepWeight", STEPS, jdl_row_refused},
    {"PreJob", FLOW, jdl_row_refused},
    {"PostJob", FLOW, jdl_row_refused},
    {"Nodes", FLOW, jdl_row_refused},
    {"Dependencies", FLOW, jdl_row_refused},
    {"max_nodes_running", FLOW, jdl_row_refused},
    {"Prologue", "not carried over: let the executable call it", jdl_row_refused},
    {"Epilogue", "not carried over: let the executable call it", jdl_row_refused},
    {"Parameters", "parametric jobs are not carried over: Count in an ad makes a sweep (docs/jobs.md)",
     jdl_row_refused},
    {"ParameterStart", "parametric jobs are not carried over", jdl_row_refused},
    {"ParameterStep", "parametric jobs are not carried over", jdl_row_refused},
    {"WholeNodes", "not carried over: say in Requirements what the machine has", jdl_row_refused},
};

static const struct jdl_row *row_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (submit_same(name, len, rows[i].name))
            return &rows[i];
    return NULL;
}

/* Attributes that rows make, and attributes that an ad of a job must not have twice. */
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

/* Keeps attributes that JDL does not know as the job's own. */
static int others_write(struct jdl *jdl)
{
    const struct expr *root = tree_root(jdl->ad);

    for (jdl->at = 0; jdl->at < root->u.run.count; jdl->at++) {
        const struct expr *e = &tree_parts(jdl->ad, root)[jdl->at];
        size_t len;
        const char *name = symbols_text(jdl->symbols, e->label, &len);

        if (row_find(name, len) || (submit_same(name, len, "RequestCpus") && jdl_find(jdl, "CPUNumber")))
            continue;
        if (is_made(name, len))
            return jdl_fail(jdl, "expected an attribute of JDL: this one has a meaning of its own here");
        print_name(&jdl->out, &dialect_classic, name, len);
        buf_adds(&jdl->out, " = ");
        print_expr(&jdl->out, jdl->ad, e, PRINT_PLAIN);
        buf_adds(&jdl->out, ";\n");
        jdl_remark(jdl, "it is not an attribute of JDL: it is kept as the job's own");
    }
    return 0;
}

static int job_write(struct jdl *jdl)
{
    const struct expr *parts = tree_parts(jdl->ad, tree_root(jdl->ad));

    buf_adds(&jdl->out, "[\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct expr *e = jdl_find(jdl, rows[i].name);

        if (!e)
            continue;
        jdl->at = (uint32_t)(e - parts);
        if (rows[i].write(jdl, &rows[i], e) < 0)
            return -1;
    }
    if (!jdl_find(jdl, "Executable"))
        return submit_fail((struct submit_place){1, 1}, jdl->err,
                           "expected an attribute Executable: without one there is no job");
    if (others_write(jdl) < 0 || jdl_constraint_write(jdl) < 0)
        return -1;
    buf_addc(&jdl->out, ']');
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- reading */

/* Lines that begin with # are comments in JDL. This turns them into blanks. */
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

/* Is a bracket the first thing that is not a comment? */
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
    ARRAY_ROOM(jdl->starts, jdl->start_count, jdl->start_room, 32);
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
