/* jdl.c: jobs in JDL, the language of the European grids (EDG, gLite), become ads, as docs/submit-languages.md says.
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

#define FLOW "a script beside a node is not carried over: let the executable call it"
#define DIRAC_OWNER "the customer knows who submits it"
#define STEPS "jobs in steps are not carried over: 'Checkpoint' names files from which a job goes on (docs/jobs.md)"

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
    {"CPUNumber", "RequestCpus", jdl_row_cpus},
    {"NumberOfProcessors", "RequestCpus", jdl_row_cpus},
    {"MinNumberOfProcessors", "RequestCpus", jdl_row_cpus},
    {"ExpiryTime", "QueueLimit", jdl_row_expiry},
    {"VirtualOrganisation", "VirtualOrganisation", jdl_row_text},
    {"InputData", "InputData", jdl_row_input_data},
    {"DataAccessProtocol", "DataAccessProtocol", jdl_row_kept},
    {"OutputSE", "OutputSE", jdl_row_store},
    {"OutputData", "OutputData", jdl_row_output_data},
    {"OutputPath", NULL, jdl_row_quiet}, /* read by jdl_row_output_data */
    {"UserTags", "UserTags", jdl_row_kept},
    {"JobName", "JobBatchName", jdl_row_text},
    {"JobGroup", "JobGroup", jdl_row_kept},
    {"Priority", "Priority", jdl_row_whole},
    {"Site", NULL, jdl_row_quiet}, /* read by jdl_sites_write */
    {"BannedSites", NULL, jdl_row_quiet},
    {"BannedSite", NULL, jdl_row_quiet},
    {"GridCE", NULL, jdl_row_quiet},
    {"LogLevel", NULL, jdl_row_quiet},

    {"CPUTime", "not limited: 'TimeLimit' in an ad limits a try", jdl_row_passed},
    {"MaxCPUTime", "not limited: 'TimeLimit' in an ad limits a try", jdl_row_passed},
    {"MaxNumberOfProcessors", "it has as many as it asks for", jdl_row_passed},
    {"Platform", "machines like this one are asked for: Requirements say otherwise", jdl_row_passed},
    {"InputDataModule", "data are fetched before the job begins", jdl_row_passed},
    {"InputDataPolicy", "data are fetched before the job begins", jdl_row_passed},
    {"DIRACSetup", DIRAC_OWNER, jdl_row_passed},
    {"OwnerName", DIRAC_OWNER, jdl_row_passed},
    {"OwnerDN", DIRAC_OWNER, jdl_row_passed},
    {"OwnerGroup", DIRAC_OWNER, jdl_row_passed},
    {"DefaultNodeShallowRetryCount", "what never began is always tried again", jdl_row_passed},
    {"MaxRetryCount", "RetryCount says how often it is tried again", jdl_row_passed},
    {"ShallowRetryCount", "what never began is always tried again", jdl_row_passed},
    {"MyProxyServer", "there are no proxies: tokens say who one is", jdl_row_passed},
    {"FuzzyRank", "of machines that are ranked the same, which one is taken is the matchmaker's matter",
     jdl_row_passed},
    {"PerusalFileEnable", "'berth logs -f' shows what a job writes", jdl_row_passed},
    {"PerusalTimeInterval", "'berth logs -f' shows what a job writes", jdl_row_passed},
    {"AllowZippedISB", "files are sent as they are, each content once", jdl_row_passed},
    {"HLRLocation", "usage is counted by the pool", jdl_row_passed},

    {"NodeNumber", "Processes", jdl_row_processes},
    {"HostNumber", "expected 1: several machines are asked for by Ports (docs/gangs.md)", jdl_row_one},
    {"StorageIndex", "the pool's own catalogue is asked", jdl_row_refused},
    {"DataCatalog", "the pool's own catalogue is asked", jdl_row_refused},
    {"DataRequirements", "the pool's own catalogue is asked", jdl_row_refused},
    {"InputSandboxBaseURI", "what lies behind a URL is not carried over", jdl_row_refused},
    {"OutputSandboxDestURI", "OutputTo", jdl_row_destinations},
    {"OutputSandboxBaseDestURI", "OutputTo", jdl_row_destination},
    {"ListenerPort", "interactive jobs are not carried over", jdl_row_refused},
    {"ListenerHost", "interactive jobs are not carried over", jdl_row_refused},
    {"JobSteps", STEPS, jdl_row_refused},
    {"CurrentStep", STEPS, jdl_row_refused},
    {"StepWeight", STEPS, jdl_row_refused},
    {"PreJob", FLOW, jdl_row_refused},
    {"PostJob", FLOW, jdl_row_refused},
    {"Dependencies", "it goes with Nodes", jdl_row_refused},
    {"max_nodes_running", "it goes with Nodes", jdl_row_refused},
    {"NodesCollocation", "it goes with Nodes", jdl_row_refused},
    {"Prologue", "not carried over: let the executable call it", jdl_row_refused},
    {"Epilogue", "not carried over: let the executable call it", jdl_row_refused},
    {"ParameterStart", "it goes with Parameters", jdl_row_refused},
    {"ParameterStep", "it goes with Parameters", jdl_row_refused},
    {"ParameterFactor", "it goes with Parameters", jdl_row_refused},
    {"WholeNodes", "not carried over: say in Requirements what the machine has", jdl_row_false},
    {"SMPGranularity", "not carried over: CPUNumber are on one machine", jdl_row_refused},
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
                                       "JobIndex",   "JobId",   "Node",       "After",      "OutputTo"};

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

static int job_write(struct jdl *jdl, const char *extra)
{
    const struct expr *parts = tree_parts(jdl->ad, tree_root(jdl->ad));

    buf_addf(&jdl->out, "[\n%s", extra);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct expr *e = jdl_find(jdl, rows[i].name);

        if (!e)
            continue;
        jdl->at = (uint32_t)(e - parts);
        if (rows[i].write(jdl, &rows[i], e) < 0)
            return -1;
    }
    if (!jdl_find(jdl, "Executable"))
        return submit_fail(jdl->whole ? jdl_place(jdl) : (struct submit_place){1, 1}, jdl->err,
                           "%s%.60s%sexpected an attribute Executable: without one there is no job",
                           jdl->node ? "node " : "", jdl->node ? jdl->node : "", jdl->node ? ": " : "");
    if (jdl->logical.len && !jdl_find(jdl, "InputData") && jdl_row_input_data(jdl, row_find("InputData", 9), NULL) < 0)
        return -1;
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

bool jdl_text_copy(struct buf *out, const char *text, size_t len)
{
    char *copy = mem_dup(len ? text : "", len);
    bool wrapped;

    comments_blank(copy, len);
    wrapped = !is_open(copy);
    buf_adds(out, wrapped ? "[" : "");
    buf_add(out, copy, len);
    buf_adds(out, wrapped ? "\n]" : "");
    free(copy);
    return wrapped;
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
    if (jdl->whole)
        return submit_fail(jdl_place(jdl), jdl->err, "%s%.60s%scannot be read: %s", jdl->node ? "node " : "",
                           jdl->node ? jdl->node : "", jdl->node ? ": it " : "a job of these ", why.text);
    why.column -= jdl->wrapped && why.line == 1 && why.column > 1;
    return submit_fail((struct submit_place){why.line > last_line ? last_line : why.line, why.column}, jdl->err, "%s",
                       why.text);
}

/* Gives the ad of a job that was read. */
static int ad_give(struct jdl *jdl, const char *extra, submit_ad_fn *each, void *user)
{
    const struct form_limits limits = {.cells = submit_cells_max(jdl->world)};
    struct tree *ad = NULL;
    struct err why = {0};
    int result = job_write(jdl, extra);

    if (result == 0) {
        ad = form_parse(jdl->symbols, &dialect_classic, FORM_CLASSAD, &limits, buf_string(&jdl->out), jdl->out.len,
                        &why);
        if (!ad)
            result = submit_fail((struct submit_place){1, 1}, jdl->err, "the ad of this job cannot be made: %.300s",
                                 why.text);
    }
    if (result == 0)
        result = each(user, ad, 1);
    tree_unref(ad);
    return result;
}

int jdl_job_read(struct jdl *jdl, const char *extra, submit_ad_fn *each, void *user)
{
    if (ad_read(jdl, 1) < 0)
        return -1;
    if (jdl_is_many(jdl))
        return submit_fail(jdl_place(jdl), jdl->err,
                           "expected one job: nodes and parameters inside a node are not "
                           "carried over");
    return ad_give(jdl, extra, each, user);
}

void jdl_done(struct jdl *jdl)
{
    tree_unref(jdl->ad);
    free(jdl->starts);
    free(jdl->output);
    buf_done(&jdl->text);
    buf_done(&jdl->sandbox);
    buf_done(&jdl->logical);
    buf_done(&jdl->out);
}

int jdl_read(struct symbols *symbols, const struct submit_world *world, const char *text, size_t len,
             submit_ad_fn *each, void *user, struct err *err)
{
    struct jdl jdl = {.world = world, .symbols = symbols, .err = err};
    struct submit_place end = {1, 1};
    int result;

    if (len > SUBMIT_BYTES_MAX)
        return submit_fail(end, err, "expected a file of at most %u bytes", SUBMIT_BYTES_MAX);
    if (submit_clean(text, len, end, true, err) < 0)
        return -1;
    err_place(text, len, &end.line, &end.column);
    buf_init(&jdl.text);
    buf_init(&jdl.sandbox);
    buf_init(&jdl.logical);
    buf_init(&jdl.out);
    jdl.wrapped = jdl_text_copy(&jdl.text, text, len);
    result = ad_read(&jdl, end.line);
    if (result == 0)
        result = jdl_is_many(&jdl) ? jdl_many_read(&jdl, each, user) : ad_give(&jdl, "", each, user);
    jdl_done(&jdl);
    return result;
}
