/* submit_expr.c: translates an expression of HTCondor, or of JDL, into one that means the same for a machine here.
 *
 *     TARGET.Memory >= 2048 && OpSysAndVer == "Debian12" && MY.Wants
 *     other.Memory >= 2147483648 && strcat(other.OpSysName, other.OpSysVersion) == "Debian12" && self.Wants
 *
 * The expression is read in its dialect and put together anew in the classic one, part by part. Names, and the units of
 * their values, differ by the tables below. */
#include "lang/form/submit_parts.h"

#include "lang/ad/functions.h"
#include "lang/ad/names.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <string.h>

/* An attribute of HTCondor, and the expression that means the same here. */
struct row {
    const char *name, *ours;
    int64_t unit; /* ours is in bytes, theirs in units of so many bytes; 0: not a number of bytes */
};

#define KIB 1024
#define MIB (1024 * 1024)
#define SYSTEM (-1) /* not bytes, but a system's name, perhaps with its version: see system_rows */

/* Systems that HTCondor calls otherwise than they call themselves (ID in /etc/os-release), but for the case of letters. */
static const struct {
    const char *theirs, *ours;
} system_rows[] = {{"RedHat", "rhel"}, {"SL", "scientific"}, {"Amazon", "amzn"}};

static const struct row machine_rows[] = {
    {"Memory", "other.Memory", MIB},
    {"Disk", "other.Disk", KIB},
    {"VirtualMemory", "other.VirtualMemory", KIB},
    {"GPUs", "other.GpuCount", 0},
    {"MyType", "other.Type", 0},
    {"OpSysAndVer", "strcat(other.OpSysName, int(other.OpSysVersion))", SYSTEM},
    {"OpSysName", "other.OpSysName", SYSTEM},
    {"OpSysMajorVer", "int(other.OpSysVersion)", 0},
    {"OpSysShortName", "other.OpSysName", SYSTEM},
    {"UtsnameNodename", "other.Machine", 0},
    {"UtsnameRelease", "other.KernelVersion", 0},
    {"HasFileTransfer", "true", 0},
    /* HTCondor's machines say of their GPUs what is the same for all of them. */
    {"GPUs_Capability", "other.Gpus[0].Capability", 0},
    {"GPUs_DeviceName", "other.Gpus[0].Name", 0},
    {"GPUs_GlobalMemoryMb", "other.Gpus[0].Memory", MIB},
    {"CUDACapability", "other.Gpus[0].Capability", 0},
    {"CUDADeviceName", "other.Gpus[0].Name", 0},
    {"CUDAGlobalMemoryMb", "other.Gpus[0].Memory", MIB},
};

/* A job with an image goes only to machines that take it: more is not asked by these. */
static const struct row image_rows[] = {
    {"HasSingularity", "true", 0},
    {"HAS_SINGULARITY", "true", 0},
    {"HasDocker", "true", 0},
    {"HasContainer", "true", 0},
};

/* Of a GPU, in require_gpus. */
static const struct row gpu_rows[] = {
    {"Capability", "Capability", 0}, {"GlobalMemoryMb", "Memory", MIB}, {"DeviceName", "Name", 0},
    {"DeviceUuid", "Uuid", 0},       {"DevicePciBusId", "Bus", 0},
};
static const char *const gpu_unknown[] = {"ClockMhz",   "ComputeUnits",        "CoresPerCU",   "DriverVersion",
                                          "ECCEnabled", "MaxSupportedVersion", "OpenCLVersion"};

/* Attributes of the GLUE schema, as far as machines here have them. */
static const struct row glue_rows[] = {
    {"GlueCEUniqueID", "other.Name", 0},
    {"GlueCEInfoHostName", "other.Name", 0},
    {"GlueCEInfoTotalCPUs", "other.Cpus", 0},
    {"GlueCEStateFreeCPUs", "other.Cpus", 0},
    {"GlueHostArchitectureSMPSize", "other.Cpus", 0},
    {"GlueHostArchitecturePlatformType", "other.Arch", 0},
    {"GlueHostMainMemoryRAMSize", "other.Memory", MIB},
    {"GlueHostMainMemoryVirtualSize", "other.VirtualMemory", MIB},
    {"GlueHostOperatingSystemName", "other.OpSysName", 0},
    {"GlueHostOperatingSystemRelease", "other.OpSysVersion", 0},
    {"GlueHostOperatingSystemVersion", "other.KernelVersion", 0},
    {"GlueHostProcessorModel", "other.CpuModel", 0},
    {"GlueHostProcessorLoadLast1Min", "other.LoadAvg", 0},
    {"GlueCEStateEstimatedResponseTime", "other.LoadAvg", 0},
    {"GlueCEStateStatus", "\"Production\"", 0},
};

static const struct row job_rows[] = {
    {"RequestMemory", "RequestMemory", MIB},
    {"RequestDisk", "RequestDisk", KIB},
    {"ImageSize", "ImageSize", KIB},
    {"RequestGPUs", "RequestGpus", 0},
    {"JobPrio", "Priority", 0},
    {"AcctGroup", "AccountingGroup", 0},
    {"RequestCpus", "RequestCpus", 0},
    {"Owner", "Owner", 0},
    {"Cmd", "Cmd", 0},
};

/* Attributes that machines of HTCondor have and ours do not. */
static const char *const machine_unknown[] = {"Activity",
                                              "CheckpointPlatform",
                                              "ClockDay",
                                              "ClockMin",
                                              "ConsoleIdle",
                                              "CondorVersion",
                                              "DetectedCpus",
                                              "DetectedMemory",
                                              "FileSystemDomain",
                                              "HasDocker",
                                              "HasJava",
                                              "HasSingularity",
                                              "HasVM",
                                              "JavaVersion",
                                              "KFlops",
                                              "Microarch",
                                              "Mips",
                                              "SlotID",
                                              "SlotType",
                                              "State",
                                              "Subnet",
                                              "TotalCpus",
                                              "TotalDisk",
                                              "TotalGPUs",
                                              "TotalMemory",
                                              "TotalSlots",
                                              "UidDomain"};

/* What is known when a try has ended (pool/customer/ending.c); a name of ours for each of HTCondor's. */
static const struct row end_rows[] = {
    {"ExitCode", "ExitCode", 0},      {"ExitStatus", "ExitCode", 0},      {"ExitBySignal", "ExitBySignal", 0},
    {"ExitSignal", "ExitSignal", 0},  {"NumJobStarts", "JobTry", 0},      {"JobRunCount", "JobTry", 0},
    {"NumShadowStarts", "JobTry", 0}, {"NumJobCompletions", "JobTry", 0},
};

/* What a customer knows of a job while it lives, in HTCondor's units (live/customerd/job_policy.c). */
static const struct row later_rows[] = {
    {"ImageSize", "ImageSizeUsed", 0},
    {"JobStatus", "JobStatus", 0},
    {"EnteredCurrentStatus", "EnteredCurrentStatus", 0},
    {"CurrentTime", "CurrentTime", 0},
    {"ServerTime", "ServerTime", 0},
    {"QDate", "QDate", 0},
    {"NumJobStarts", "NumJobStarts", 0},
    {"NumShadowStarts", "NumShadowStarts", 0},
    {"JobRunCount", "JobRunCount", 0},
    {"NumJobCompletions", "NumJobCompletions", 0},
    {"JobStartDate", "JobStartDate", 0},
    {"JobCurrentStartDate", "JobCurrentStartDate", 0},
    {"JobCurrentStartExecutingDate", "JobCurrentStartExecutingDate", 0},
    {"RemoteWallClockTime", "RemoteWallClockTime", 0},
    {"RemoteUserCpu", "RemoteUserCpu", 0},
    {"MemoryUsage", "MemoryUsage", 0},
    {"ResidentSetSize", "ResidentSetSize", 0},
    {"DiskUsage", "DiskUsage", 0},
    {"CumulativeSuspensionTime", "CumulativeSuspensionTime", 0},
    {"HoldReasonCode", "HoldReasonCode", 0},
    {"HoldReasonSubCode", "HoldReasonSubCode", 0},
    {"ExitCode", "ExitCode", 0},
    {"ExitStatus", "ExitCode", 0},
    {"ExitBySignal", "ExitBySignal", 0},
    {"ExitSignal", "ExitSignal", 0},
    {"ProcId", "JobIndex", 0},
};

/* Attributes that jobs in HTCondor's queue have and ours do not. */
static const char *const job_unknown[] = {"ClusterId",    "DiskUsage",   "JobStatus", "JobUniverse", "MemoryUsage",
                                          "NumJobStarts", "NumRestarts", "ProcId",    "QDate",       "ResidentSetSize"};

struct conversion {
    const struct submit_expr *how;
    const struct tree *from;
    struct build *build;
    struct err *err;
};

/* ------------------------------------------------------------------------------------------------------------- finding */

static const struct row *row_find(const struct row *rows, size_t count, const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (submit_same(name, len, rows[i].name))
            return &rows[i];
    return NULL;
}

static const struct row *machine_row(const struct conversion *conversion, const char *name, size_t len)
{
    const struct row *row = NULL;

    if (conversion->how->is_glue)
        return row_find(glue_rows, sizeof glue_rows / sizeof *glue_rows, name, len);
    if (conversion->how->has_image)
        row = row_find(image_rows, sizeof image_rows / sizeof *image_rows, name, len);
    return row ? row : row_find(machine_rows, sizeof machine_rows / sizeof *machine_rows, name, len);
}

static const struct row *job_row(const char *name, size_t len)
{
    return row_find(job_rows, sizeof job_rows / sizeof *job_rows, name, len);
}

static void unknown_tell(const struct conversion *conversion, const char *const *names, size_t count, const char *name,
                         size_t len, const char *words)
{
    for (size_t i = 0; conversion->how->unknown && i < count; i++)
        if (submit_same(name, len, names[i]))
            conversion->how->unknown(conversion->how->user, names[i], words);
}

/* Whose attribute is this? OWNER_NOBODY: of neither; it is left as it is. */
enum owner { OWNER_NOBODY, OWNER_JOB, OWNER_MACHINE, OWNER_GPU };

static enum owner owner_of(const struct conversion *conversion, const struct expr *e, const char **ret_name,
                           size_t *ret_len)
{
    const struct submit_expr *how = conversion->how;
    symbol base;

    if (e->kind != EXPR_NAME && e->kind != EXPR_DOT)
        return OWNER_NOBODY;
    *ret_name = symbols_text(conversion->from->symbols, e->u.name.id, ret_len);
    if (e->kind == EXPR_NAME && how->side == SUBMIT_SIDE_GPU)
        return how->has(how->user, *ret_name, *ret_len) ? OWNER_JOB : OWNER_GPU;
    if (e->kind == EXPR_NAME) {
        if (how->side == SUBMIT_SIDE_JOB || how->has(how->user, *ret_name, *ret_len) ||
            (!how->is_glue && job_row(*ret_name, *ret_len)))
            return OWNER_JOB;
        for (size_t i = 0; i < sizeof job_unknown / sizeof *job_unknown; i++)
            if (submit_same(*ret_name, *ret_len, job_unknown[i]))
                return OWNER_JOB;
        return OWNER_MACHINE;
    }
    base = EXPR_DOT_BASE(e);
    if (symbol_same(base, NAME_MY) || symbol_same(base, NAME_SELF))
        return OWNER_JOB;
    return symbol_same(base, NAME_TARGET) || symbol_same(base, NAME_OTHER) ? OWNER_MACHINE : OWNER_NOBODY;
}

static const struct row *row_of(const struct conversion *conversion, const struct expr *e)
{
    const char *name;
    size_t len;

    switch (owner_of(conversion, e, &name, &len)) {
    case OWNER_JOB:
        if (conversion->how->at_end && row_find(end_rows, sizeof end_rows / sizeof *end_rows, name, len))
            return row_find(end_rows, sizeof end_rows / sizeof *end_rows, name, len);
        if (conversion->how->later && row_find(later_rows, sizeof later_rows / sizeof *later_rows, name, len))
            return row_find(later_rows, sizeof later_rows / sizeof *later_rows, name, len);
        return conversion->how->is_glue ? NULL : job_row(name, len);
    case OWNER_MACHINE:
        return machine_row(conversion, name, len);
    case OWNER_GPU:
        return row_find(gpu_rows, sizeof gpu_rows / sizeof *gpu_rows, name, len);
    default:
        return NULL;
    }
}

/* ------------------------------------------------------------------------------------------------------------ building */

static void symbol_push_dot(struct build *build, symbol base, const char *name, size_t len)
{
    build_name(build, EXPR_NAME,
               symbols_take(build->symbols, base == NAME_OTHER ? "other" : "self",
                            base == NAME_OTHER ? strlen("other") : strlen("self")));
    build_select(build, symbols_take(build->symbols, name, len));
}

/* Pushes a reference; with `scaled` in their unit. */
static int reference_push(const struct conversion *conversion, const struct expr *e, bool scaled)
{
    const struct row *row = row_of(conversion, e);
    struct build *build = conversion->build;
    const char *name = NULL;
    size_t len = 0;
    enum owner owner = owner_of(conversion, e, &name, &len);

    if (owner == OWNER_NOBODY) {
        build_copy(build, conversion->from, e);
        return 0;
    }
    if (owner == OWNER_MACHINE) {
        char called[64];

        if (!row && conversion->how->is_glue && len > 4 && len < sizeof called && submit_same(name, 4, "Glue") &&
            conversion->how->unknown)
            conversion->how->unknown(conversion->how->user, name, "no machine here says it of itself");
        if (!row)
            unknown_tell(conversion, machine_unknown, sizeof machine_unknown / sizeof *machine_unknown, name, len,
                         "no machine here says it of itself");
        if (conversion->how->mentions && len < sizeof called) {
            memcpy(called, name, len);
            called[len] = '\0';
            conversion->how->mentions(conversion->how->user, called);
        }
    } else if (owner == OWNER_GPU) {
        unknown_tell(conversion, gpu_unknown, sizeof gpu_unknown / sizeof *gpu_unknown, name, len,
                     "no GPU here says it of itself");
    } else if (!row) {
        unknown_tell(conversion, job_unknown, sizeof job_unknown / sizeof *job_unknown, name, len,
                     "no job here has it");
    }
    if (row) {
        if (parse_push(build, NULL, row->ours, strlen(row->ours), conversion->err) < 0)
            return -1;
        if (row->unit > 0 && scaled) {
            build_integer(build, row->unit);
            build_top(build)->label = OP_DIVIDE;
            build_bind(build, EXPR_CHAIN, 2);
        }
    } else if (owner == OWNER_MACHINE) {
        symbol_push_dot(build, NAME_OTHER, name, len);
    } else if (e->kind == EXPR_DOT) {
        symbol_push_dot(build, NAME_SELF, name, len);
    } else {
        build_copy(build, conversion->from, e);
    }
    return 0;
}

static int convert(const struct conversion *conversion, const struct expr *e);

static bool is_small_number(const struct expr *e)
{
    return e->kind == EXPR_INTEGER && e->u.integer >= 0 && e->u.integer < INT64_C(1) << 40;
}

/* Pushes the name of a system as systems here call themselves: RedHat9 is rhel9. Without regard to case only `is` and `isnt` need small letters. */
static void system_push(const struct conversion *conversion, const struct expr *e, bool exact)
{
    const char *text = tree_string(conversion->from, e), *ours = "";
    size_t len = e->u.run.count, taken = 0;
    struct buf name;

    buf_init(&name);
    for (size_t i = 0; i < sizeof system_rows / sizeof *system_rows && !taken; i++) {
        size_t theirs = strlen(system_rows[i].theirs);

        if (len >= theirs && submit_same(text, theirs, system_rows[i].theirs) &&
            (len == theirs || (text[theirs] >= '0' && text[theirs] <= '9'))) {
            taken = theirs;
            ours = system_rows[i].ours;
        }
    }
    buf_adds(&name, ours);
    for (size_t i = taken; i < len; i++)
        buf_addc(&name, exact && text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i]);
    build_string(conversion->build, buf_string(&name), name.len);
    buf_done(&name);
}

/* OpSysAndVer == "RedHat9" */
static bool system_comparison(const struct conversion *conversion, const struct expr *e, const struct expr *parts)
{
    const struct row *row;
    unsigned name;

    if (e->u.run.count != 2 || parts[1].label < OP_EQUAL || parts[1].label > OP_ISNT)
        return false;
    name = parts[1].kind == EXPR_STRING ? 1 : 0;
    row = row_of(conversion, &parts[!name]);
    if (!row || row->unit != SYSTEM || parts[name].kind != EXPR_STRING)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (i == name)
            system_push(conversion, &parts[i], parts[1].label == OP_IS || parts[1].label == OP_ISNT);
        else if (reference_push(conversion, &parts[i], false) < 0)
            return false;
        build_top(conversion->build)->label = parts[i].label;
    }
    build_bind(conversion->build, EXPR_CHAIN, 2);
    return true;
}

/* Memory >= 2048 becomes other.Memory >= 2147483648, which an index can use. */
static bool comparison_push(const struct conversion *conversion, const struct expr *e, const struct expr *parts)
{
    const struct row *row;
    unsigned amount;

    if (e->u.run.count != 2 || parts[1].label < OP_EQUAL || parts[1].label > OP_GREATER_EQUAL)
        return false;
    amount = is_small_number(&parts[1]) ? 1 : 0;
    row = row_of(conversion, &parts[!amount]);
    if (!row || row->unit <= 0 || !is_small_number(&parts[amount]))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (i == amount)
            build_integer(conversion->build, parts[i].u.integer * row->unit);
        else if (reference_push(conversion, &parts[i], false) < 0)
            return false;
        build_top(conversion->build)->label = parts[i].label;
    }
    build_bind(conversion->build, EXPR_CHAIN, 2);
    return true;
}

static int parts_convert(const struct conversion *conversion, const struct expr *parts, uint32_t count, bool labels)
{
    for (uint32_t i = 0; i < count; i++) {
        if (convert(conversion, &parts[i]) < 0)
            return -1;
        if (labels)
            build_top(conversion->build)->label = parts[i].label;
    }
    return 0;
}

/* a.b[0].c: converts the base and the subscripts; names that are selected stay. */
static int path_convert(const struct conversion *conversion, const struct expr *parts, uint32_t count)
{
    const struct tree *from = conversion->from;

    if (convert(conversion, &parts[0]) < 0)
        return -1;
    for (uint32_t i = 1; i < count; i++) {
        if (parts[i].label == STEP_SUBSCRIPT) {
            if (convert(conversion, &parts[i]) < 0)
                return -1;
            build_subscript(conversion->build);
        } else {
            size_t len;
            const char *name = symbols_text(from->symbols, parts[i].u.name.id, &len);

            build_select(conversion->build, symbols_take(conversion->build->symbols, name, len));
        }
    }
    return 0;
}

static int call_convert(const struct conversion *conversion, const struct expr *e)
{
    const struct tree *from = conversion->from;
    size_t len;
    const char *name = symbols_text(from->symbols, e->u.name.id, &len);

    if (!function_find(&dialect_classic, e->u.name.id))
        return err_set(conversion->err, "there is no function '%.*s' in the classic dialect", len > 60 ? 60 : (int)len,
                       name);
    if (parts_convert(conversion, &from->cells[e->u.name.at], expr_part_count(e), false) < 0)
        return -1;
    build_call(conversion->build, symbols_take(conversion->build->symbols, name, len), expr_part_count(e));
    return 0;
}

static int convert(const struct conversion *conversion, const struct expr *e)
{
    const struct expr *parts = tree_parts(conversion->from, e);
    struct build *build = conversion->build;
    int result = 0;

    switch (e->kind) {
    case EXPR_NAME:
    case EXPR_DOT:
        result = reference_push(conversion, e, true);
        break;
    case EXPR_PATH:
        result = path_convert(conversion, parts, e->u.run.count);
        break;
    case EXPR_CHAIN:
        if (comparison_push(conversion, e, parts) || system_comparison(conversion, e, parts))
            break;
        result = parts_convert(conversion, parts, e->u.run.count, true);
        if (result == 0)
            build_bind(build, EXPR_CHAIN, e->u.run.count);
        break;
    case EXPR_LIST:
    case EXPR_CHOICE:
        result = parts_convert(conversion, parts, expr_part_count(e), false);
        if (result == 0)
            build_bind(build, (enum expr_kind)e->kind, expr_part_count(e));
        break;
    case EXPR_PREFIX:
        result = parts_convert(conversion, parts, 1, false);
        if (result == 0)
            build_prefix(build, (enum op)e->small);
        break;
    case EXPR_CALL:
        result = call_convert(conversion, e);
        break;
    default: /* literals; and ads inside, whose names are their own */
        build_copy(build, conversion->from, e);
    }
    if (result == 0)
        build_top(build)->flags |= e->flags & (EXPR_FLAG_PARENTHESES | EXPR_FLAG_OPERATOR);
    return result;
}

/* HTCondor puts requirements as they are between parentheses, and people lean on that: true ) && ( x. */
static struct tree *wrapped_read(struct build *build, const struct parse_options *options, const char *text, size_t len)
{
    struct err ignored = {0};
    struct tree *tree;
    struct buf wrapped;

    buf_init(&wrapped);
    buf_addc(&wrapped, '(');
    buf_add(&wrapped, text, len);
    buf_addc(&wrapped, ')');
    build_reset(build);
    tree = parse_expr(build, options, wrapped.text, wrapped.len, &ignored);
    buf_done(&wrapped);
    return tree;
}

int submit_expr(const struct submit_expr *how, const char *text, size_t len, struct submit_place at, bool plain,
                struct buf *out, struct err *err)
{
    struct parse_options options = {
        .first_line = plain ? at.line : 0, .first_column = plain ? at.column : 0, .cells_max = PARSE_CELLS_MAX};
    struct build theirs, ours;
    struct tree *from, *to;
    struct err why = {0};
    int result = -1;

    build_init(&theirs, how->symbols, how->dialect);
    build_init(&ours, how->symbols, &dialect_classic);
    from = parse_expr(&theirs, &options, text, len, &why);
    if (!from && how->mentions)
        from = wrapped_read(&theirs, &options, text, len);
    if (from) {
        struct conversion conversion = {how, from, &ours, &why};

        if (convert(&conversion, tree_root(from)) == 0) {
            to = build_seal(&ours);
            print_tree(out, to, PRINT_PLAIN);
            tree_unref(to);
            result = 0;
        } else {
            build_reset(&ours);
        }
    }
    if (result < 0)
        submit_fail(plain && why.line ? (struct submit_place){why.line, why.column} : at, err, "%s", why.text);
    tree_unref(from);
    build_done(&theirs);
    build_done(&ours);
    return result;
}

/* ---------------------------------------------------------------------------------------------------------- constraint */

void submit_mention(struct submit_mentions *mentions, const char *name)
{
    static const struct {
        const char *name;
        size_t at;
    } rows[] = {
        {"Arch", offsetof(struct submit_mentions, arch)},
        {"GlueHostArchitecturePlatformType", offsetof(struct submit_mentions, arch)},
        {"GlueHostOperatingSystemName", offsetof(struct submit_mentions, system)},
        {"Cpus", offsetof(struct submit_mentions, cpus)},
        {"Memory", offsetof(struct submit_mentions, memory)},
        {"Disk", offsetof(struct submit_mentions, disk)},
        {"GPUs", offsetof(struct submit_mentions, gpus)},
    };
    size_t len = strlen(name);

    mentions->system |= len >= 5 && submit_same(name, 5, "OpSys");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (submit_same(name, len, rows[i].name))
            *(bool *)((char *)mentions + rows[i].at) = true;
}

static void clause_text(struct buf *out, const char *name, const char *text)
{
    buf_addf(out, " && other.%s == ", name);
    print_string(out, text, strlen(text), PRINT_PLAIN);
}

void submit_constraint_print(const struct submit_world *world, const struct submit_mentions *mentions,
                             const struct buf *expr, bool with_gpus, struct buf *out)
{
    buf_adds(out, "other.Type == \"Machine\"");
    if (expr->len) {
        buf_adds(out, " && (");
        buf_add(out, expr->text, expr->len);
        buf_addc(out, ')');
    }
    if (world->arch && !mentions->arch)
        clause_text(out, "Arch", world->arch);
    if (world->system && !mentions->system)
        clause_text(out, "OpSys", world->system);
    buf_adds(out, mentions->cpus ? "" : " && other.Cpus >= RequestCpus");
    buf_adds(out, mentions->memory ? "" : " && other.Memory >= RequestMemory");
    buf_adds(out, mentions->disk ? "" : " && other.Disk >= RequestDisk");
    buf_adds(out, with_gpus && !mentions->gpus ? " && other.GpuCount >= RequestGpus" : "");
}
