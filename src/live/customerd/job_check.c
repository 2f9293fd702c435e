/* job_check.c: may an ad be submitted as a job? Every attribute that has a meaning must have its type, and every input must be in the spool. */
#include "live/customerd/job_ad.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/customerd/job_secrets.h"
#include "live/data/job_uploads.h"
#include "match/gang/ports.h"
#include "match/gang/runs.h"
#include "pool/matchmaker/limits.h"
#include "pool/protocol/image_ref.h"
#include "pool/protocol/job_processes.h"
#include "pool/protocol/job_urls.h"
#include "pool/protocol/job_wants.h"
#include "pool/protocol/time_limit.h"
#include "sys/confined_path.h"
#include "sys/secret_bundle.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool is_text(const struct tree *ad, const struct expr *e)
{
    return e->kind == EXPR_STRING && e->u.run.count && !memchr(tree_string(ad, e), '\0', e->u.run.count);
}

static bool is_list_of(const struct tree *ad, const struct expr *e,
                       bool (*part)(const struct tree *ad, const struct expr *e))
{
    if (e->kind != EXPR_LIST)
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++)
        if (!part(ad, &tree_parts(ad, e)[i]))
            return false;
    return true;
}

/* A value that each job of a submission computes for itself (`strcat("part.", JobIndex)`) is checked when the job
 * starts. */
static bool is_computed(const struct expr *e)
{
    return e->kind > EXPR_AD;
}

/* An argument may be empty. */
static bool is_argument(const struct tree *ad, const struct expr *e)
{
    return is_computed(e) || (e->kind == EXPR_STRING && (!e->u.run.count || is_text(ad, e)));
}

static bool is_file_name(const struct tree *ad, const struct expr *e)
{
    return is_computed(e) || (is_text(ad, e) && confined_name_is_good(tree_string(ad, e), e->u.run.count));
}

static bool is_log_name(const struct tree *ad, const struct expr *e)
{
    return is_computed(e) || is_text(ad, e);
}

static bool is_arguments(const struct tree *ad, const struct expr *e)
{
    return is_argument(ad, e) || is_list_of(ad, e, is_argument);
}

static bool is_file_names(const struct tree *ad, const struct expr *e)
{
    return is_list_of(ad, e, is_file_name);
}

static bool is_texts(const struct tree *ad, const struct expr *e)
{
    return is_list_of(ad, e, is_text);
}

static bool is_environment(const struct tree *ad, const struct expr *e)
{
    if (e->kind != EXPR_AD)
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        const struct expr *part = &tree_parts(ad, e)[i];
        size_t len;
        const char *name = symbols_text(ad->symbols, part->label, &len);

        if (!is_argument(ad, part) || memchr(name, '=', len) || memchr(name, '\0', len))
            return false;
    }
    return true;
}

static bool is_input(const struct tree *ad, const struct expr *e)
{
    struct tree *one;
    const char *name, *hash;
    size_t name_len, hash_len;
    int64_t size, mode;
    bool good;

    if (e->kind != EXPR_AD)
        return false;
    one = ad_part(ad, e);
    good = ad_string(one, "Name", &name, &name_len) && confined_name_is_good(name, name_len) &&
           ad_string(one, "Hash", &hash, &hash_len) && hash_is_good(hash, hash_len) && ad_integer(one, "Size", &size) &&
           size >= 0 && (!ad_find(one, "Mode") || (ad_integer(one, "Mode", &mode) && mode >= 0 && mode <= 07777));
    tree_unref(one);
    return good;
}

/* [ Name = "a"; To = "/scratch/a" ]; both may be computed. */
static bool is_destination(const struct tree *ad, const struct expr *e)
{
    struct tree *one = e->kind == EXPR_AD ? ad_part(ad, e) : NULL;
    const struct expr *name = one ? ad_find(one, "Name") : NULL, *to = one ? ad_find(one, "To") : NULL;
    bool good = name && to && is_file_name(one, name) && (is_computed(to) || is_text(one, to));

    tree_unref(one);
    return good;
}

static bool is_destinations(const struct tree *ad, const struct expr *e)
{
    return is_list_of(ad, e, is_destination) && e->u.run.count <= JOB_INPUTS_MAX;
}

static bool is_inputs(const struct tree *ad, const struct expr *e)
{
    return is_list_of(ad, e, is_input) && e->u.run.count <= JOB_INPUTS_MAX;
}

static bool is_span(const struct tree *ad, const struct expr *e)
{
    (void)ad;
    return ((e->kind == EXPR_INTEGER || e->kind == EXPR_RELTIME) && e->u.integer > 0) ||
           (e->kind == EXPR_REAL && e->u.real > 0);
}

/* The customer itself gives a job whose limit is normalised the limit that follows from it. */
static bool is_limit(const struct tree *ad, const struct expr *e)
{
    return ad_find(ad, TIME_LIMIT_NORMALISED) ? time_limit_follows(ad, e) : is_span(ad, e);
}

static bool is_whole(const struct tree *ad, const struct expr *e)
{
    (void)ad;
    return e->kind == EXPR_INTEGER && e->u.integer >= 0;
}

static bool is_count(const struct tree *ad, const struct expr *e)
{
    (void)ad;
    return e->kind == EXPR_INTEGER && e->u.integer >= 1 && e->u.integer <= CUSTOMER_SUBMIT_MAX;
}

/* An amount asked of a machine may be computed; a literal must be a number. */
static bool is_amount(const struct tree *ad, const struct expr *e)
{
    (void)ad;
    return is_computed(e) || ((e->kind == EXPR_INTEGER || e->kind == EXPR_RELTIME) && e->u.integer >= 0) ||
           (e->kind == EXPR_REAL && e->u.real >= 0);
}

static bool is_flag(const struct tree *ad, const struct expr *e)
{
    (void)ad;
    return e->kind == EXPR_BOOLEAN;
}

static bool is_time(const struct tree *ad, const struct expr *e)
{
    (void)ad;
    return e->kind == EXPR_ABSTIME || e->kind == EXPR_INTEGER;
}

static bool is_path(const struct tree *ad, const struct expr *e)
{
    return is_text(ad, e) && tree_string(ad, e)[0] == '/';
}

/* Checked here, because a job with limits that a matchmaker refuses would wait for ever. */
static bool is_limits(const struct tree *ad, const struct expr *e)
{
    struct limits_asked asked;

    return is_computed(e) || (is_text(ad, e) && e->u.run.count <= TEXT_MAX &&
                              limits_read(tree_string(ad, e), e->u.run.count, &asked, NULL) == 0);
}

static bool is_group(const struct tree *ad, const struct expr *e)
{
    return is_computed(e) || (is_text(ad, e) && e->u.run.count <= TEXT_MAX);
}

/* A command: a list of words, the first of which is the program. */
static bool is_command(const struct tree *ad, const struct expr *e)
{
    return e->kind == EXPR_LIST && e->u.run.count && is_text(ad, &tree_parts(ad, e)[0]) &&
           is_list_of(ad, e, is_argument);
}

/* NODE:FILE */
static bool is_node_input(const struct tree *ad, const struct expr *e)
{
    const char *text = is_text(ad, e) ? tree_string(ad, e) : NULL;
    const char *colon = text ? memchr(text, ':', e->u.run.count) : NULL;
    size_t before = colon ? (size_t)(colon + 1 - text) : 0;

    return before > 1 && confined_name_is_good(colon + 1, e->u.run.count - before);
}

static bool is_needed(const struct tree *ad, const struct expr *e)
{
    static const char *const words[] = {"OnSuccess", "Always", "Never"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (e->kind == EXPR_STRING && e->u.run.count == strlen(words[i]) &&
            !strncasecmp(tree_string(ad, e), words[i], strlen(words[i])))
            return true;
    return false;
}

static bool is_node_inputs(const struct tree *ad, const struct expr *e)
{
    return is_list_of(ad, e, is_node_input) && e->u.run.count <= JOB_INPUTS_MAX;
}

#define WANTED_TIME "expected a time: absTime(\"2026-11-20T20:00:00+01:00\"), or seconds since 1970"

static bool is_elsewhere(const struct tree *ad, const struct expr *e)
{
    (void)ad, (void)e;
    return false;
}

static const struct {
    const char *name;
    bool (*good)(const struct tree *ad, const struct expr *e);
    const char *wanted;
} rows[] = {
    {"CronSchedule", is_elsewhere, "a job that comes again goes to /v1/crons: `berth submit` sees to that"},
    {"Cmd", is_text, "expected the name of a program, as a text"},
    {"Args", is_arguments, "expected a list of texts, or one text"},
    {"Env", is_environment, "expected an ad of texts"},
    {"In", is_file_name, "expected the name of a file beneath the job's folder"},
    {"Out", is_file_name, "expected the name of a file beneath the job's folder"},
    {"Err", is_file_name, "expected the name of a file beneath the job's folder"},
    {"Inputs", is_inputs,
     "expected a list of up to 2000 [Name; Hash; Size; Mode], with names beneath the job's folder"},
    {JOB_URLS, job_urls_are_good,
     "expected a list of up to 100 [Name; Url], with names without a slash and URLs of up to 2048 bytes"},
    {JOB_URLS_OUT, job_urls_are_good, "expected a list of up to 100 [Name; Url], as in " JOB_URLS},
    {"Outputs", is_file_names, "expected a list of names of files beneath the job's folder"},
    {"OutputTo", is_destinations, "expected a list of [Name; To], with names beneath the job's folder"},
    {"UserLog", is_log_name, "expected the name of a file, as a text"},
    {"OutputSE", job_stores_are_good, "expected the name of a store, or a list of them"},
    {"OutputElsewhere", is_flag, "expected true or false"},
    {"OutputCopies", job_copies_are_good, "expected a whole number from 1 to 16"},
    {"Checkpoint", is_file_names, "expected a list of names of files beneath the job's folder"},
    {"CheckpointSignal", is_text, "expected the name of a signal"},
    {"CheckpointPeriod", is_span, "expected a number of seconds"},
    {"WarnSignal", is_text, "expected the name of a signal"},
    {"TimeLimit", is_limit, "expected a number of seconds, or else " TIME_LIMIT_NORMALISED},
    {TIME_LIMIT_NORMALISED, is_span, "expected a number of seconds"},
    {"QueueLimit", is_whole, "expected a whole number of seconds"},
    {"NotBefore", is_time, WANTED_TIME},
    {"FinishBy", is_time, WANTED_TIME},
    {"MaxRetries", is_whole, "expected a whole number"},
    {"SuccessExitCode", is_whole, "expected the status of a program, a whole number"},
    {"OutputsNeeded", is_needed, "expected \"OnSuccess\", \"Always\" or \"Never\""},
    {"CheckpointExitCode", is_whole, "expected the status of a program, a whole number"},
    {"RetryUnless", is_whole, "expected the status of a program, a whole number"},
    {"Pre", is_command, "expected a list of texts, a command and its arguments"},
    {"Post", is_command, "expected a list of texts, a command and its arguments"},
    {"NodeInputs", is_node_inputs, "expected a list of NODE:FILE, with names beneath the job's folder"},
    {"Dag", is_text, "expected the name of the workflow, as a text"},
    {"RequestCpus", is_amount, "expected a number"},
    {"RequestMemory", is_amount, "expected a number of bytes"},
    {"RequestDisk", is_amount, "expected a number of bytes"},
    {"RequestGpus", is_amount, "expected a number"},
    {"RequestProcesses", is_amount, "expected a number"},
    {JOB_PROCESSES_COUNT, job_processes_are_good, "expected a whole number from 1 to 64"},
    {JOB_PROCESSES_ON, job_processes_on_is_good, "expected \"any\", \"spread\" or \"one\""},
    {JOB_PROCESSES_EXEC, is_flag, "expected true or false"},
    {"AccountingGroup", is_group, "expected the name of a group"},
    {"ConcurrencyLimits", is_limits, "expected names with commas between, as in \"matlab:2, db\""},
    {SECRET_ATTRIBUTE, job_secrets_are_good,
     "expected a list of up to 16 names, of letters, digits, '.', '_' and '-', none of them twice"},
    {"Needs", job_needs_are_good, "expected a list of up to 16 folders, as paths from the root without '.' and '..'"},
    {"Image", job_image_is_good,
     "expected a file among the inputs, a folder of the machine as a path from the root without '.' and '..', or "
     "docker://HOST/PATH@sha256:DIGITS"},
    {"ImageSecret", is_text, "expected the name of one of the job's secrets"},
    {"RunAs", job_run_as_is_good, "expected \"claim\" or \"owner\""},
    {"ShareFiles", is_flag, "expected true or false"},
    {"Umask", job_umask_is_good, "expected octal digits, as in \"0022\""},
    {"Pools", is_texts, "expected a list of texts"},
    {"Network", is_flag, "expected true or false"},
    {"Iwd", is_path, "expected a folder, as a path from the root"},
    {"LocalIn", is_path, "expected a file, as a path from the root"},
    {"CarriesDag", is_flag, "expected true or false"},
    {"Type", is_text, "expected a text"},
    {"Owner", is_text, "expected a text"},
    {"Count", is_count, "expected a whole number from 1 to 100000"},
};

struct input_check {
    const char *image; /* a name that must be among them, until it was found; or NULL */
    size_t image_len;
    const struct spool *spool;
    const char *who;
    struct err *err;
    bool failed;
};

static bool input_is_there(void *user, const struct job_input *input)
{
    struct input_check *check = user;
    bool whole;
    uint64_t have;

    if (check->image && strlen(input->name) == check->image_len && !memcmp(input->name, check->image, check->image_len))
        check->image = NULL;
    have = spool_take(check->spool, check->who, input->hash, &whole);

    if (whole && have == input->size)
        return true;
    err_set(check->err, "Inputs: %.200s: %s", input->name,
            whole ? "the file in the spool is of another size" : "the file is not in the spool");
    check->failed = true;
    return false;
}

/* An image is among the inputs, but for a folder of the machine and one in a registry. Of that the digest must be said: what a tag means may change
 * from one job of a submission to the next. */
static int image_check(struct input_check *check, struct err *err)
{
    bool registry = image_ref_is(check->image, check->image_len);
    struct image_ref ref;

    if (registry && image_ref_read(check->image, check->image_len, &ref, err) < 0)
        return err_context(err, "Image");
    if (registry && !*ref.digest)
        return err_set(err,
                       "Image: %.200s:%.100s may be another image tomorrow: say its digest, NAME@sha256:DIGITS "
                       "(`berth submit` finds it out where there is skopeo)",
                       ref.place, ref.tag);
    if (registry || *check->image == '/')
        check->image = NULL;
    return 0;
}

/* The account for a registry is one of the job's secrets. */
static int image_secret_check(const struct tree *ad, struct err *err)
{
    const struct expr *list = ad_find(ad, SECRET_ATTRIBUTE), *parts;
    const char *name, *image;
    size_t len, image_len;

    if (!ad_string(ad, "ImageSecret", &name, &len))
        return 0;
    if (!ad_string(ad, "Image", &image, &image_len) || !image_ref_is(image, image_len))
        return err_set(err, "ImageSecret: it goes with an image in a registry, Image = \"docker://...\"");
    parts = list && list->kind == EXPR_LIST ? tree_parts(ad, list) : NULL;
    for (uint32_t i = 0; parts && i < list->u.run.count; i++)
        if (parts[i].kind == EXPR_STRING && parts[i].u.run.count == len &&
            !memcmp(tree_string(ad, &parts[i]), name, len))
            return 0;
    return err_set(err, "ImageSecret: '%.*s' is none of the job's Secrets", (int)(len < 64 ? len : 64), name);
}

int job_iwd_check(const struct tree *ad, struct err *err)
{
    char *path = job_iwd(ad);
    struct stat info;
    bool good = !path || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));

    free(path);
    return good ? 0 : err_set(err, "Iwd: there is no such folder");
}

/* Are the job's Ports good, and does one of them run the job? */
static int ports_check(const struct tree *ad, struct err *err)
{
    struct ports ports;
    int failed = 0;

    if (ports_read(&ports, ad, err) < 0)
        return -1;
    if (ports_run_by(&ports) == RUNS_NOWHERE)
        failed = err_set(err, "Ports: no port says Executes = true, so the job would run nowhere");
    ports_done(&ports);
    return failed;
}

/* A job that stays with its files needs the folder where they are, and has none that travel. */
static int shares_check(const struct tree *ad, struct err *err)
{
    static const char *const travels[] = {"Inputs",     "InputData", "NodeInputs", "Outputs",
                                          "OutputData", "OutputTo",  "Checkpoint"};

    if (!job_shares_files(ad))
        return 0;
    if (!ad_find(ad, "Iwd"))
        return err_set(err, "ShareFiles: it needs Iwd, the folder where its files are, and so a user of the customer's "
                            "own machine");
    for (size_t i = 0; i < sizeof travels / sizeof *travels; i++) {
        const struct expr *e = ad_find(ad, travels[i]);

        if (e && (e->kind != EXPR_LIST || e->u.run.count))
            return err_set(err, "%s: a job with ShareFiles has none: its files stay where they are", travels[i]);
    }
    return 0;
}

int job_types_check(const struct tree *ad, struct err *err)
{
    const struct expr *begins = ad_find(ad, "NotBefore"), *ends = ad_find(ad, "FinishBy");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct expr *e = ad_find(ad, rows[i].name);

        if (e && !rows[i].good(ad, e))
            return err_set(err, "%s: %s", rows[i].name, rows[i].wanted);
    }
    if (begins && ends && ends->u.integer <= begins->u.integer)
        return err_set(err, "FinishBy: it is not after NotBefore, so the job would never run");
    return 0;
}

int job_check(const struct tree *ad, const struct spool *spool, const char *who, struct job_terms *ret, struct err *err)
{
    struct input_check check = {.spool = spool, .who = who, .err = err};
    struct job_terms terms = {.count = 1};
    bool network = false;
    const struct expr *e;

    if (!ad_find(ad, "Cmd") && !ad_find(ad, "Image"))
        return err_set(err, "Cmd: a job needs the name of a program");
    if (shares_check(ad, err) < 0 || job_types_check(ad, err) < 0)
        return -1;
    e = ad_find(ad, "OutputData");
    if ((e && job_uploads_check(ad, e, err) < 0) || job_copies_check(ad, err) < 0 || ports_check(ad, err) < 0)
        return -1;
    if (job_has_secrets(ad) && ad_find(ad, "Ports"))
        return err_set(err, SECRET_ATTRIBUTE ": a job with Ports has none");
    if (ad_find(ad, TIME_LIMIT_NORMALISED) && (ad_find(ad, "Ports") || job_has_processes(ad)))
        return err_set(err, TIME_LIMIT_NORMALISED ": a job with several members has none, for their machines differ");
    if (job_has_wants(ad) && ad_find(ad, "Ports"))
        return err_set(err, "%s: a job with Ports has none",
                       ad_find(ad, "Needs")    ? "Needs"
                       : ad_find(ad, "Image")  ? "Image"
                       : ad_find(ad, "RunAs")  ? "RunAs"
                       : ad_find(ad, JOB_URLS) ? JOB_URLS
                                               : "ShareFiles");
    if (job_urls_need_network(ad) && (!ad_flag(ad, "Network", &network) || !network))
        return err_set(err, JOB_URLS
                       ": a job that reads from URLs, or writes to them, asks for the network: Network = true");
    if (ad_find(ad, JOB_PROCESSES_COUNT) && ad_find(ad, "Ports"))
        return err_set(err, JOB_PROCESSES_COUNT ": a job with Ports has none");
    if (job_has_secrets(ad) && job_has_processes(ad))
        return err_set(err, SECRET_ATTRIBUTE ": a job with several Processes has none");
    if (job_shares_files(ad) && job_has_processes(ad))
        return err_set(err, "ShareFiles: a job with several Processes has none: they would write over each other");
    e = ad_find(ad, "Count");
    if (e)
        terms.count = (uint64_t)e->u.integer;
    terms.iwd = ad_find(ad, "Iwd");
    ad_string(ad, "Owner", &terms.owner, &terms.owner_len);
    if (ad_string(ad, "Image", &check.image, &check.image_len) && image_check(&check, err) < 0)
        return -1;
    if (image_secret_check(ad, err) < 0)
        return -1;
    job_inputs(ad, input_is_there, &check);
    if (check.failed)
        return -1;
    if (check.image && !job_urls_named(ad, check.image, check.image_len))
        return err_set(err, "Image: it is not among the inputs");
    *ret = terms;
    return 0;
}

/* Attributes that the role gets beside the ad, so that jobs that differ in nothing else share one. */
static const char *const apart[] = {"Count", "Node", "After", "Dag"};

#define IWD_USER "IwdUser" /* set by the customer alone: a user's id */

static bool name_is(const struct symbols *symbols, symbol name, const char *word)
{
    size_t len;
    const char *text = symbols_text(symbols, name, &len);

    return strlen(word) == len && !strncasecmp(word, text, len);
}

static bool is_apart(const struct symbols *symbols, symbol name)
{
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (name_is(symbols, name, apart[i]))
            return true;
    return false;
}

static void part_copy(struct maker *maker, const struct tree *ad, const struct expr *part)
{
    build_copy(&maker->build, ad, part);
    symbols_hold(ad->symbols, part->label);
    build_attribute(&maker->build, part->label);
    maker->count++;
}

struct tree *job_submitted(struct symbols *symbols, const struct tree *ad, int64_t iwd_user)
{
    const struct expr *parts = tree_parts(ad, tree_root(ad));
    struct maker maker;

    maker_init(&maker, symbols);
    for (uint32_t i = 0; i < tree_root(ad)->u.run.count; i++)
        if (!is_apart(symbols, parts[i].label) && !name_is(symbols, parts[i].label, IWD_USER) &&
            !name_is(symbols, parts[i].label, SECRET_ID_ATTRIBUTE) &&
            (iwd_user != IWD_NOBODY || !name_is(symbols, parts[i].label, "Iwd")))
            part_copy(&maker, ad, &parts[i]);
    if (!ad_find(ad, "Type"))
        maker_text(&maker, "Type", "Job");
    if (job_shares_files(ad) && !ad_find(ad, "Outputs"))
        maker_texts(&maker, "Outputs", NULL, 0); /* no machine brings any */
    if (iwd_user >= 0 && ad_find(ad, "Iwd"))
        maker_integer(&maker, IWD_USER, iwd_user);
    return maker_seal(&maker);
}

struct tree *job_node(struct symbols *symbols, const struct tree *ad)
{
    const struct expr *parts = tree_parts(ad, tree_root(ad));
    struct maker maker;

    maker_init(&maker, symbols);
    for (uint32_t i = 0; i < tree_root(ad)->u.run.count; i++)
        if (is_apart(symbols, parts[i].label) && !name_is(symbols, parts[i].label, apart[0]))
            part_copy(&maker, ad, &parts[i]);
    return maker_seal(&maker);
}

void job_inputs(const struct tree *ad, job_input_fn *fn, void *user)
{
    const struct expr *list = ad_find(ad, "Inputs");
    bool more = true;

    for (uint32_t i = 0; more && list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *one = ad_part(ad, &tree_parts(ad, list)[i]);
        const char *name, *hash;
        size_t name_len, hash_len;
        int64_t size, mode = 0644;

        if (tree_is_ad(one) && ad_string(one, "Name", &name, &name_len) && ad_string(one, "Hash", &hash, &hash_len) &&
            ad_integer(one, "Size", &size)) {
            char *name_copy = mem_dup(name, name_len), *hash_copy = mem_dup(hash, hash_len);

            ad_integer(one, "Mode", &mode);
            more = fn(user, &(struct job_input){name_copy, hash_copy, (uint64_t)size, mode & 0111 ? 0755 : 0644});
            free(name_copy);
            free(hash_copy);
        }
        tree_unref(one);
    }
}

static char *iwd_read(const struct tree *ad)
{
    const char *text;
    size_t len;

    return ad_string(ad, "Iwd", &text, &len) && len ? mem_dup(text, len) : NULL;
}

char *job_iwd(const struct tree *ad)
{
    return ad_find(ad, IWD_USER) ? NULL : iwd_read(ad);
}

char *job_iwd_of(const struct tree *ad, uint32_t *ret_uid)
{
    int64_t user;

    if (!ad_integer(ad, IWD_USER, &user) || user <= 0 || user >= UINT32_MAX)
        return NULL;
    *ret_uid = (uint32_t)user;
    return iwd_read(ad);
}
