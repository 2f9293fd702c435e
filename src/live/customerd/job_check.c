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
#include "pool/protocol/job_wants.h"
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

static bool is_node_inputs(const struct tree *ad, const struct expr *e)
{
    return is_list_of(ad, e, is_node_input) && e->u.run.count <= JOB_INPUTS_MAX;
}

static const struct {
    const char *name;
    bool (*good)(const struct tree *ad, const struct expr *e);
    const char *wanted;
} rows[] = {
    {"Cmd", is_text, "expected the name of a program, as a text"},
    {"Args", is_arguments, "expected a list of texts, or one text"},
    {"Env", is_environment, "expected an ad of texts"},
    {"In", is_file_name, "expected the name of a file beneath the job's folder"},
    {"Out", is_file_name, "expected the name of a file beneath the job's folder"},
    {"Err", is_file_name, "expected the name of a file beneath the job's folder"},
    {"Inputs", is_inputs,
     "expected a list of up to 2000 [Name; Hash; Size; Mode], with names beneath the job's folder"},
    {"Outputs", is_file_names, "expected a list of names of files beneath the job's folder"},
    {"OutputTo", is_destinations, "expected a list of [Name; To], with names beneath the job's folder"},
    {"OutputSE", job_stores_are_good, "expected the name of a store, or a list of them"},
    {"OutputElsewhere", is_flag, "expected true or false"},
    {"Checkpoint", is_file_names, "expected a list of names of files beneath the job's folder"},
    {"CheckpointSignal", is_text, "expected the name of a signal"},
    {"CheckpointPeriod", is_span, "expected a number of seconds"},
    {"WarnSignal", is_text, "expected the name of a signal"},
    {"TimeLimit", is_span, "expected a number of seconds"},
    {"QueueLimit", is_whole, "expected a whole number of seconds"},
    {"MaxRetries", is_whole, "expected a whole number"},
    {"SuccessExitCode", is_whole, "expected the status of a program, a whole number"},
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
    {"AccountingGroup", is_group, "expected the name of a group"},
    {"ConcurrencyLimits", is_limits, "expected names with commas between, as in \"matlab:2, db\""},
    {SECRET_ATTRIBUTE, job_secrets_are_good,
     "expected a list of up to 16 names, of letters, digits, '.', '_' and '-', none of them twice"},
    {"Needs", job_needs_are_good, "expected a list of up to 16 folders, as paths from the root without '.' and '..'"},
    {"Image", job_image_is_good,
     "expected a file among the inputs, or a folder of the machine as a path from the root without '.' and '..'"},
    {"Pools", is_texts, "expected a list of texts"},
    {"Network", is_flag, "expected true or false"},
    {"Iwd", is_path, "expected a folder, as a path from the root"},
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
    have = spool_have(check->spool, check->who, input->hash, &whole);

    if (whole && have == input->size)
        return true;
    err_set(check->err, "Inputs: %.200s: %s", input->name,
            whole ? "the file in the spool is of another size" : "the file is not in the spool");
    check->failed = true;
    return false;
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

int job_check(const struct tree *ad, const struct spool *spool, const char *who, struct job_terms *ret, struct err *err)
{
    struct input_check check = {.spool = spool, .who = who, .err = err};
    struct job_terms terms = {.count = 1};
    const struct expr *e;

    if (!ad_find(ad, "Cmd") && !ad_find(ad, "Image"))
        return err_set(err, "Cmd: a job needs the name of a program");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        e = ad_find(ad, rows[i].name);
        if (e && !rows[i].good(ad, e))
            return err_set(err, "%s: %s", rows[i].name, rows[i].wanted);
    }
    e = ad_find(ad, "OutputData");
    if ((e && job_uploads_check(ad, e, err) < 0) || ports_check(ad, err) < 0)
        return -1;
    if (job_has_secrets(ad) && ad_find(ad, "Ports"))
        return err_set(err, SECRET_ATTRIBUTE ": a job with Ports has none");
    if (job_has_wants(ad) && ad_find(ad, "Ports"))
        return err_set(err,
                       ad_find(ad, "Needs") ? "Needs: a job with Ports has none" : "Image: a job with Ports has none");
    e = ad_find(ad, "Count");
    if (e)
        terms.count = (uint64_t)e->u.integer;
    terms.iwd = ad_find(ad, "Iwd");
    ad_string(ad, "Owner", &terms.owner, &terms.owner_len);
    if (ad_string(ad, "Image", &check.image, &check.image_len) && *check.image == '/')
        check.image = NULL; /* a folder of the machine */
    job_inputs(ad, input_is_there, &check);
    if (check.failed)
        return -1;
    if (check.image)
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
