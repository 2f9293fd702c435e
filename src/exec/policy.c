/* policy.c: the owner's policy, as it is without a file, and read from one. */
#include "exec/policy.h"

#include "lang/base/buf.h"
#include "lang/text/build.h"
#include "lang/text/parse.h"
#include "match/pair/residual.h"
#include "pool/protocol/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Missing requests count as small ones. None may be below nothing, or a job could add to what is left; the first two clauses are false
 * as soon as nothing is left, whatever a job asks. Where there is no room for files that wait for a store, none are taken that make more. Disk is what was set aside when the provider first started, and is reserved by the job,
 * not observed; Roomy is what is free now, which the jobs that run have taken theirs of already: so it is asked before a job begins, and
 * not while it runs. Connects is true on most machines, whatever the job says: only one that keeps its network from some jobs asks. A plain name that the machine does not have would be read from the job, so what is left is asked of self. */
static const char default_text[] =
    "[\n"
    "    AskedCpus = ifThenElse(isUndefined(other.RequestCpus), 1, other.RequestCpus);\n"
    "    AskedMemory = ifThenElse(isUndefined(other.RequestMemory), 512M, other.RequestMemory);\n"
    "    AskedDisk = ifThenElse(isUndefined(other.RequestDisk), 1G, other.RequestDisk);\n"
    "    AskedGpus = ifThenElse(isUndefined(other.RequestGpus), 0, other.RequestGpus);\n"
    "    Fits = self.Cpus > 0 && self.Memory > 0\n"
    "        && AskedCpus > 0 && AskedCpus <= self.Cpus\n"
    "        && AskedMemory > 0 && AskedMemory <= self.Memory\n"
    "        && AskedDisk >= 0 && AskedDisk <= self.Disk\n"
    "        && AskedGpus >= 0 && AskedGpus <= self.GpuCount\n"
    "        && (isUndefined(self.TransferRoom) || self.TransferRoom > 0 || isUndefined(other.OutputData));\n"
    "    Roomy = isUndefined(self.FreeDisk) || AskedDisk <= self.FreeDisk;\n"
    "    Connects = self.JobNetwork =!= \"none\" && self.ProcessesNetwork =!= \"none\" || other.Network =!= true\n"
    "        || ifThenElse(isUndefined(other.Processes) || other.Processes < 2, self.JobNetwork, self.ProcessesNetwork) =!= \"none\";\n"
    "    Constraint = other.Type == \"Job\" && Fits;\n"
    "    Start = Roomy && Connects;\n"
    "    Rank = 0;\n"
    "    Residual = [\n"
    "        Cpus = Cpus - AskedCpus;\n"
    "        Memory = Memory - AskedMemory;\n"
    "        Disk = Disk - AskedDisk;\n"
    "        GpuCount = GpuCount - AskedGpus;\n"
    "    ];\n"
    "]\n";

static struct tree *parse(struct symbols *symbols, const char *text, size_t len, struct err *err)
{
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct build build;
    struct tree *ad;

    build_init(&build, symbols, &dialect_classic);
    ad = parse_ad(&build, &options, text, len, err);
    build_done(&build);
    return ad;
}

struct tree *policy_default(struct symbols *symbols)
{
    return parse(symbols, default_text, sizeof default_text - 1, NULL);
}

static int file_read(const char *file, struct buf *text, struct err *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC), result = -1;
    ssize_t count = 0;

    while (fd >= 0 && text->len <= POLICY_BYTES_MAX) {
        count = read(fd, buf_reserve(text, 16384), 16384);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        text->len += (size_t)count;
    }
    if (fd < 0 || count < 0)
        err_set(err, "%s: %s", file, strerror(errno));
    else if (text->len > POLICY_BYTES_MAX)
        err_set(err, "%s: a policy has at most %u bytes", file, POLICY_BYTES_MAX);
    else
        result = 0;
    if (fd >= 0)
        close(fd);
    return result;
}

struct tree *policy_read(struct symbols *symbols, const char *file, struct err *err)
{
    struct tree *ad = NULL;
    struct err why = {0};
    struct buf text;

    buf_init(&text);
    if (file_read(file, &text, err) == 0) {
        ad = parse(symbols, buf_string(&text), text.len, &why);
        if (!ad) {
            err_set(err, "%s:%u:%u: %s", file, why.line, why.column, why.text);
        } else if (residual_check(ad, &why) < 0) {
            err_set(err, "%s: %s", file, why.text);
            tree_unref(ad);
            ad = NULL;
        }
    }
    buf_done(&text);
    return ad;
}

static const struct expr *start_of(const struct tree *ad)
{
    symbol name = symbols_find(ad->symbols, "Start", 5);

    return name != SYMBOL_NONE ? tree_find(ad, tree_root(ad), name) : NULL;
}

/* The ad with both conditions in its Start. */
static struct tree *start_join(const struct tree *ad, const struct tree *first, const struct tree *second)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root), *own = start_of(ad);
    struct tree *joined = NULL;
    struct build build;
    uint32_t place;

    build_init(&build, ad->symbols, ad->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        build_copy(&build, &parts[i] == own ? first : ad, &parts[i] == own ? start_of(first) : &parts[i]);
        if (&parts[i] == own) {
            build_copy(&build, second, start_of(second));
            build_top(&build)->label = OP_AND;
            build_bind(&build, EXPR_CHAIN, 2);
        }
        symbols_hold(ad->symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
    }
    if (build_ad(&build, root->u.run.count, &place) == 0)
        joined = build_seal(&build);
    build_done(&build);
    return joined;
}

struct tree *policy_over(const struct tree *policy, const struct tree *defaults)
{
    struct tree *both = ad_over(defaults, policy, NULL), *joined;

    if (!both || !start_of(policy) || !start_of(defaults))
        return both;
    joined = start_join(both, defaults, policy);
    tree_unref(both);
    return joined;
}
