/* submission.c: completes the ads of jobs and sends them to a customer. */
#include "cli/jobs/submission.h"

#include "cli/jobs/inputs.h"
#include "cli/jobs/misspelt.h"
#include "cli/jobs/secrets.h"
#include "cli/jobs/sweep.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "live/data/input_data.h"
#include "live/http/represent.h"
#include "pool/protocol/job_wants.h"
#include "pool/protocol/writers.h"
#include "sys/encoding.h"
#include "sys/secret_bundle.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#define DEFAULT_MEMORY ((uint64_t)512 << 20)
#define DEFAULT_DISK ((uint64_t)1 << 30)

void submission_init(struct job_submission *submission, struct connection *customer)
{
    *submission = (struct job_submission){.customer = customer};
    textmap_init(&submission->hashes, 0);
    textmap_init(&submission->paths, 0);
    textmap_init(&submission->images, 0);
    buf_init(&submission->secrets);
    buf_init(&submission->misspelt);
    buf_init(&submission->layer_text);
}

void submission_done(struct job_submission *submission)
{
    while (submission->count)
        tree_unref(submission->ads[--submission->count]);
    while (submission->upload_count)
        free(submission->uploads[--submission->upload_count].path);
    free(submission->ads);
    free(submission->uploads);
    free(submission->path_uploads);
    textmap_done(&submission->hashes);
    textmap_done(&submission->paths);
    for (uint32_t i = 0; i < submission->images.count; i++)
        free(submission->digests[i]);
    free(submission->digests);
    textmap_done(&submission->images);
    secret_wipe(&submission->secrets);
    buf_done(&submission->misspelt);
    buf_done(&submission->layer_text);
    free(submission->program);
    tree_unref(submission->layer);
}

const char *submission_name(const struct job_submission *submission, size_t place, char out[SUBMISSION_NAME_MAX])
{
    if (submission->count == 1)
        snprintf(out, SUBMISSION_NAME_MAX, "the job");
    else
        snprintf(out, SUBMISSION_NAME_MAX, "ad %zu", place + 1);
    return out;
}

/* ------------------------------------------------------------------------------------------------------------- defaults */

static void upper_print(struct buf *out, const char *text)
{
    char upper[128];
    size_t len = 0;

    for (; len < sizeof upper && text[len]; len++)
        upper[len] = (char)toupper((unsigned char)text[len]);
    print_string(out, upper, len, PRINT_PLAIN);
}

/* Appends the constraint: a machine like this one, with as much as the job asks for. */
static void constraint_print(struct buf *out, bool gpus, bool secrets, bool commands)
{
    struct utsname here;

    buf_adds(out, "Constraint = other.Type == \"Machine\"");
    if (uname(&here) == 0) {
        buf_adds(out, " && other.Arch == ");
        upper_print(out, here.machine);
        buf_adds(out, " && other.OpSys == ");
        upper_print(out, here.sysname);
    }
    buf_adds(out, " && other.Cpus >= RequestCpus && other.Memory >= RequestMemory && other.Disk >= RequestDisk");
    if (gpus)
        buf_adds(out, " && other.GpuCount >= RequestGpus");
    buf_adds(out, commands ? " && other.TakesExec" : "");
    buf_adds(out, secrets ? " && other." SECRET_MACHINE_ATTRIBUTE ";\n" : ";\n");
}

/* The usual amount, or half of this machine's memory if that is less. */
static uint64_t memory_default(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t half = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : DEFAULT_MEMORY;

    return half < DEFAULT_MEMORY ? half : DEFAULT_MEMORY;
}

static uint64_t disk_default(const char *folder)
{
    struct statvfs disk;
    uint64_t half = statvfs(folder, &disk) == 0 ? (uint64_t)disk.f_blocks * disk.f_frsize / 2 : DEFAULT_DISK;

    return half < DEFAULT_DISK ? half : DEFAULT_DISK;
}

/* The mask of those who submit: what a job makes in their folders has the modes that their own programs would give it. */
static mode_t umask_here(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return mask & 0777;
}

/* A customer elsewhere does not have our folders. */
static bool submission_is_near(struct job_submission *submission)
{
    if (!submission->looked)
        submission->near = customer_is_near(submission->customer);
    submission->looked = true;
    return submission->near;
}

/* Appends defaults for what the ad does not say, as the text of an ad to be laid over it. */
static void defaults_print(struct buf *out, struct job_submission *submission, const struct tree *ad, int64_t image)
{
    char here[PATH_MAX];

    if (!ad_find(ad, "Type"))
        buf_adds(out, "Type = \"Job\";\n");
    if (!ad_find(ad, "ImageSize") && image >= 0)
        buf_addf(out, "ImageSize = %" PRId64 ";\n", image);
    if (!ad_find(ad, "RequestCpus"))
        buf_adds(out, "RequestCpus = 1;\n");
    if (!ad_find(ad, "RequestMemory"))
        buf_addf(out, "RequestMemory = %" PRIu64 ";\n", memory_default());
    if (!ad_find(ad, "RequestDisk"))
        buf_addf(out, "RequestDisk = %" PRIu64 ";\n",
                 submission->disk ? submission->disk : (submission->disk = disk_default(".")));
    /* with Ports, each port says for itself whom it wants */
    if (!ad_find(ad, "Constraint") && !ad_find(ad, "Requirements") && !ad_find(ad, "Ports"))
        constraint_print(out, ad_find(ad, "RequestGpus") != NULL, secrets_are_named(submission, ad),
                         submission->commands);
    if (!ad_find(ad, "Rank") && !ad_find(ad, "Ports"))
        buf_addf(out, "Rank = %s-other.LoadAvg;\n", ad_find(ad, "InputData") ? "(" INPUT_DATA_RANK ") " : "");
    if (job_runs_as_owner(ad) && !ad_find(ad, "Umask"))
        buf_addf(out, "Umask = \"%04o\";\n", (unsigned)umask_here());
    /* A customer elsewhere does not have this folder: the outputs are fetched from it. */
    if (!ad_find(ad, "Iwd") && submission_is_near(submission) && getcwd(here, sizeof here)) {
        buf_adds(out, "Iwd = ");
        print_string(out, here, strlen(here), PRINT_PLAIN);
        buf_adds(out, ";\n");
    }
}

/* Appends the values of what must be a constant for the customer, and is computed from the ad itself: `TimeLimit = Hours * 3600`. What has no value
 * here (JobIndex is not known) stays as it is, and the customer says what is wrong with it. */
static void constants_print(struct buf *out, const struct tree *ad)
{
    static const char *const names[] = {"TimeLimit",
                                        "NormalisedTimeLimit",
                                        "QueueLimit",
                                        "MaxRetries",
                                        "RetryUnless",
                                        "CheckpointPeriod",
                                        "CheckpointSignal",
                                        "WarnSignal",
                                        "Network",
                                        "AccountingGroup",
                                        "ConcurrencyLimits",
                                        "OutputElsewhere",
                                        "OutputCopies",
                                        "RunAs",
                                        "ShareFiles",
                                        "Umask",
                                        "Count",
                                        "Processes",
                                        "ProcessesOn",
                                        "Owner",
                                        "Type",
                                        "Iwd",
                                        "NotBefore",
                                        "FinishBy"};
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct expr *e = ad_find(ad, names[i]);
        struct value value = e && !expr_is_literal(e) ? job_value(ad, names[i], &arena) : value_undefined();

        if (value.type == VALUE_UNDEFINED || value.type == VALUE_ERROR || value.type >= VALUE_LIST)
            continue;
        buf_addf(out, "%s = ", names[i]);
        value_print(out, &dialect_classic, &value, PRINT_PLAIN);
        buf_adds(out, ";\n");
    }
    arena_done(&arena);
}

/* The ad with its clauses about the machine's folders, where the customer would put them: so the pool is asked about them, too. What is not in
 * order is for the customer to refuse. */
static struct tree *wants_take(struct tree *whole_take, struct err *err)
{
    const struct expr *needs = whole_take ? ad_find(whole_take, "Needs") : NULL;
    const struct expr *image = whole_take ? ad_find(whole_take, "Image") : NULL;
    const struct expr *run_as = whole_take ? ad_find(whole_take, "RunAs") : NULL;
    struct tree *with;

    if (!whole_take || !job_has_wants(whole_take) || ad_find(whole_take, "Ports") ||
        (run_as && !job_run_as_is_good(whole_take, run_as)) || (needs && !job_needs_are_good(whole_take, needs)) ||
        (image && !job_image_is_good(whole_take, image)))
        return whole_take;
    with = job_wants_set(whole_take, err);
    tree_unref(whole_take);
    return with;
}

/* What is to be laid over an ad, by its text; lent until the next. Of a hundred thousand ads most are told the same, which is read once. NULL and why: it cannot be read. */
static struct tree *layer_of(struct job_submission *submission, struct buf *text, struct err *err)
{
    struct buf *last = &submission->layer_text;

    if (submission->layer && last->len == text->len && !memcmp(last->text, text->text, text->len))
        return submission->layer;
    tree_unref(submission->layer);
    submission->layer = form_parse(submission->customer->symbols, &dialect_classic, FORM_CLASSAD, NULL,
                                   buf_string(text), text->len, err);
    buf_reset(last);
    buf_add(last, text->text, text->len);
    return submission->layer;
}

int submission_add(struct job_submission *submission, struct tree *ad, const char *folder, const char *name)
{
    struct tree *layer = NULL, *whole = NULL;
    struct err err = {0};
    int64_t image = -1;
    int status = STATUS_BAD;
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[\n");
    if (!submission->folds || !submission->count) /* the rows of a sweep have the same names */
        misspelt_report(ad, name, &submission->misspelt);
    if (inputs_add(submission, ad, folder, name, &text, &image) == 0 &&
        secrets_from(submission, ad, folder, name) == 0 && secrets_add(submission, ad, name, &text) == 0) {
        defaults_print(&text, submission, ad, image);
        constants_print(&text, ad);
        buf_addc(&text, ']');
        layer = layer_of(submission, &text, &err);
        whole = layer ? wants_take(ad_over(ad, layer, &err), &err) : NULL;
        if (!whole)
            report("%s: %s", name, err.text);
    }
    if (whole && submission->folds) {
        struct tree *folded = sweep_fold(whole);

        tree_unref(whole);
        whole = folded;
    }
    if (whole) {
        ARRAY_ROOM(submission->ads, submission->count, submission->room, 16);
        submission->ads[submission->count++] = whole;
        status = STATUS_DONE;
    }
    buf_done(&text);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- sending */

/* Hands the answers on, and reports what the customer warns of: once, for it is mostly the same for all. */
struct told {
    connection_ad_fn *each;
    void *user;
    bool warned;
};

static bool told_ad(void *user, struct tree *ad)
{
    struct told *told = user;
    const char *text;
    size_t len;

    if (!told->warned && ad_string(ad, "Warning", &text, &len)) {
        report("%.*s", (int)(len < 1000 ? len : 1000), text);
        told->warned = true;
    }
    return told->each(told->user, ad);
}

int submission_send(struct job_submission *submission, const char *key, bool force, connection_ad_fn *each, void *user)
{
    struct connection_ask ask = {.method = "POST", .type = TYPE_CLASSAD};
    unsigned char drawn[16] = {0};
    char digits[2 * sizeof drawn + 1], secrets[SECRETS_ID_MAX + 1];
    struct told told = {each, user, false};
    struct buf path, body;
    int status = secrets_send(submission, secrets);

    if (status != STATUS_DONE)
        return status;
    buf_init(&path);
    buf_init(&body);
    if (!key && getrandom(drawn, sizeof drawn, 0) == (ssize_t)sizeof drawn) {
        hex_print(drawn, sizeof drawn, digits);
        key = digits;
    }
    for (size_t i = 0; i < submission->count; i++) {
        represent_ad(&body, FORM_CLASSAD, submission->ads[i]);
        buf_addc(&body, '\n');
    }
    buf_adds(&path, "/v1/jobs");
    path_query(&path, "key", key);
    path_query(&path, "force", force ? "1" : NULL);
    path_query(&path, "secrets", *secrets ? secrets : NULL);
    ask.path = buf_string(&path);
    ask.bytes = &body;
    status = connection_fetch_ads(submission->customer, &ask, told_ad, &told);
    if (status == STATUS_UNREACHABLE && key) {
        sleep(1);
        report("once more, in case it did not arrive");
        status = connection_fetch_ads(submission->customer, &ask, told_ad, &told);
    }
    buf_done(&path);
    buf_done(&body);
    return status;
}

int submission_key(const char *text, void *target, struct err *err)
{
    size_t len = strlen(text);

    for (size_t i = 0; text[i]; i++)
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '/')
            len = 0;
    if (!len || len > SUBMISSION_KEY_MAX)
        return err_set(err, "expected up to %d visible characters without '/', got '%.60s'", SUBMISSION_KEY_MAX, text);
    *(const char **)target = text;
    return 0;
}

int submission_print(const struct job_submission *submission, bool json)
{
    struct err err = {0};
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < submission->count; i++)
        if (form_write_ad(&out, json ? FORM_JSON : FORM_CLASSAD, submission->ads[i], &err) < 0)
            report("%s", err.text);
    output_write(&out);
    buf_done(&out);
    return STATUS_DONE;
}
