/* job_ad.c: a job as an ad. */
#include "live/customerd/job_ad.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/customerd/job_outcome.h"
#include "live/data/stored.h"
#include "live/world/runner.h"
#include "pool/protocol/job_progress.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WAITS_SHOWN 8      /* names of nodes in WaitsFor, at most ... */
#define WAITS_COUNTED 1000 /* ... and how many are counted */

static const char *const words[] = {
#define X(id, word) word,
    JOB_STATES(X)
#undef X
};

/* Attributes that we set: submitted ones of the same name are not shown. */
static const char *const ours[] = {
    "Job",          "Index",       "State",        "Since",         "Submitted",  "Started",      "Ended",
    "Status",       "Reason",      "Tries",        "Provider",      "Pool",       "Message",      "CpuUsed",
    "MemoryUsed",   "DiskUsed",    "WallUsed",     "OutputsDue",    "Request",    "Workflow",     "WaitsFor",
    "FilesToStore", "FilesStored", "FilesNotMade", "FilesLost",     "Stored",     "FilesMissing", "Missing",
    "OfferedIn",    "CpusGiven",   "MemoryGiven",  "DiskGiven",     "Outcome",    "ExitCode",     "Signal",
    "Claim",        "Claiming",    "Alike",        "Rejected",      "RejectedBy", "RejectedFor",  "Matched",
    "Delivered",    "BytesIn",     "BytesOut",     "Benchmark",     "BytesRead",  "BytesWritten", "Samples",
    "Members",      "HoldCode",    "HoldSubCode",  "Suspended",     "LastClaim",  "LastNumber",   "Progress",
    "WaitsUntil",   "TraceId",     "PlannedStart", "PlannedMachine"};

const char *job_standing_word(enum job_standing standing)
{
    return words[standing];
}

/* How far a job under a claim is. */
static enum job_standing standing_running(const struct job_view *view, const struct job_attempt *last)
{
    bool current = last && last->claim == view->claim && last->number == view->number;

    if (view->local || (current && last->started))
        return STANDING_RUNNING;
    if (!view->rooted || view->root < ROOT_STARTING)
        return current && last->staging ? STANDING_SCHEDULED : STANDING_READY;
    return STANDING_SCHEDULED;
}

enum job_standing job_standing(const struct job_view *view, const struct job_attempt *last)
{
    switch (view->state) {
    case JOB_IDLE:
        return view->blocked ? STANDING_BLOCKED : STANDING_WAITING;
    case JOB_RUNNING:
        return standing_running(view, last);
    case JOB_DONE:
        return view->reason == REASON_EXITED && view->status == 0 ? STANDING_DONE : STANDING_FAILED;
    case JOB_HELD:
        return STANDING_HELD;
    case JOB_REMOVED:
        return STANDING_CANCELLED;
    case JOB_ABORTED:
    case JOB_FORGOTTEN:
        break;
    }
    return STANDING_ABORTED;
}

static const char inputs_failed[] = "Transfer input files failure"; /* as machines say it */

int64_t job_hold_code(const struct job_view *view, const struct job_attempts *tries)
{
    switch (view->reason) {
    case REASON_EXITED:
        return HOLD_BY_POLICY;
    case REASON_SETUP:
        return tries && tries->count && tries->tries[tries->count - 1].words &&
                       !strncmp(tries->tries[tries->count - 1].words, inputs_failed, strlen(inputs_failed))
                   ? HOLD_FOR_INPUTS
                   : HOLD_UNSTARTED;
    case REASON_UNMADE:
        return HOLD_FOR_OUTPUTS;
    case REASON_MEMORY:
        return HOLD_FOR_MEMORY;
    case REASON_TIME:
        return HOLD_FOR_TIME;
    default:
        return tries && tries->hold_code ? tries->hold_code : HOLD_BY_USER;
    }
}

int64_t job_hold_sub(const struct job_view *view, const struct job_attempts *tries)
{
    return view->reason == REASON_UNMADE ? ENOENT : tries ? tries->hold_sub : 0;
}

const char *job_why(const struct job_view *view, const struct job_attempts *tries)
{
    bool said = view->reason == REASON_RELEASED && (view->state == JOB_HELD || view->state == JOB_REMOVED);

    if (view->reason == REASON_UNMADE && view->state == JOB_HELD)
        return tries && tries->count ? tries->tries[tries->count - 1].unmade : NULL;
    said = said || (view->reason == REASON_EXITED && view->state == JOB_HELD && ad_find(view->ad, "OnExitHoldReason"));
    return said && tries ? tries->why : NULL;
}

bool job_outputs_due(const struct job_view *view, const struct job_attempt *last, int64_t now)
{
    bool over = view->state == JOB_DONE || (view->state == JOB_HELD && view->reason == REASON_UNMADE);

    return over && last && (!last->finished || last->delivering) && now < view->changed + OUTPUTS_KEPT;
}

bool job_files_due(const struct job_view *view, const struct job_attempt *last, int64_t now)
{
    return view->state == JOB_DONE && last && last->transfers && stored_count(last->stored).over < last->transfers &&
           now < view->changed + STORED_KEPT;
}

bool job_ad_says(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strlen(ours[i]) == len && !strncasecmp(ours[i], name, len))
            return true;
    return false;
}

static bool is_ours(const struct symbols *symbols, symbol name)
{
    size_t len;
    const char *text = symbols_text(symbols, name, &len);

    return job_ad_says(text, len);
}

static void parts_copy(struct maker *maker, const struct tree *ad)
{
    const struct expr *parts = tree_parts(ad, tree_root(ad));

    for (uint32_t i = 0; i < tree_root(ad)->u.run.count; i++) {
        if (is_ours(ad->symbols, parts[i].label))
            continue;
        build_copy(&maker->build, ad, &parts[i]);
        symbols_hold(ad->symbols, parts[i].label);
        build_attribute(&maker->build, parts[i].label);
        maker->count++;
    }
}

/* When the try's process started. Of one that ended before its machine said that it ran, that is told by its end and how long it took. */
static int64_t started_when(const struct job_view *view, const struct job_attempt *last)
{
    int64_t when = view->changed - (int64_t)ceil(last->wall);

    if (last->started || !last->finished || view->state != JOB_DONE)
        return last->started;
    return when > last->began ? when : last->began;
}

/* What all its members have used. */
static double cpu_of(const struct job_attempt *last)
{
    double cpu = last->cpu;

    for (uint32_t i = 1; i < last->members.count; i++)
        cpu += last->members.items[i].cpu;
    return cpu;
}

static void usage_add(struct maker *maker, const struct job_view *view, const struct job_attempt *last, int64_t now)
{
    bool runs = job_standing(view, last) == STANDING_RUNNING;
    int64_t started = started_when(view, last);
    const char *said;
    double progress;

    maker_word(maker, "Claim", last->claim);
    maker_text(maker, "Provider", last->provider);
    maker_text(maker, "Pool", last->pool);
    maker_text(maker, "Message", last->message);
    if (progress_read(last->message, &progress, &said))
        maker_real(maker, "Progress", progress);
    maker_integer(maker, "Matched", last->began);
    attempt_members_put(&last->members, maker, "Members", false);
    if (started)
        maker_integer(maker, "Started", started);
    if (runs && last->suspended)
        maker_integer(maker, "Suspended", last->suspended);
    if (last->finished)
        maker_integer(maker, "Delivered", last->finished);
    if (!last->started && !last->finished)
        return;
    maker_real(maker, "CpuUsed", cpu_of(last));
    maker_integer(maker, "MemoryUsed", last->memory);
    maker_integer(maker, "DiskUsed", last->disk);
    maker_integer(maker, "BytesIn", last->taken);
    maker_integer(maker, "BytesOut", last->brought);
    if (last->moved[0])
        maker_integer(maker, "BytesRead", last->moved[0]);
    if (last->moved[1])
        maker_integer(maker, "BytesWritten", last->moved[1]);
    if (last->benchmark > 0)
        maker_real(maker, "Benchmark", last->benchmark);
    if (last->may_cpus > 0) {
        maker_real(maker, "CpusGiven", last->may_cpus);
        maker_integer(maker, "MemoryGiven", last->may_memory);
        maker_integer(maker, "DiskGiven", last->may_disk);
    }
    maker_real(maker, "WallUsed", runs && now > started ? (double)(now - started) : last->wall);
}

/* The nodes that the job waits for: the first names, and how many there are. */
struct waits {
    char names[WAITS_SHOWN][CUSTOMER_NODE_MAX + 1];
    uint32_t count;
    struct buf words;
};

static bool waits_add(void *user, const struct parent_view *parent)
{
    struct waits *waits = user;

    if (waits->count < WAITS_SHOWN) {
        snprintf(waits->names[waits->count], sizeof *waits->names, "%.*s", (int)parent->len, parent->name);
        buf_addf(&waits->words, "%s%s%s", waits->count ? ", " : "waits for ", waits->names[waits->count],
                 parent->missing   ? ", which there is not"
                 : parent->failed  ? ", which failed"
                 : parent->removed ? ", which was removed"
                                   : "");
    }
    waits->count++;
    return waits->count < WAITS_COUNTED;
}

static void waits_add_all(struct maker *maker, const struct customer *customer, const struct job_view *view)
{
    struct waits waits = {.count = 0};
    const char *shown[WAITS_SHOWN];

    buf_init(&waits.words);
    customer_parents(customer, view->id, waits_add, &waits);
    for (uint32_t i = 0; i < WAITS_SHOWN; i++)
        shown[i] = waits.names[i];
    maker_texts(maker, "WaitsFor", shown, waits.count < WAITS_SHOWN ? waits.count : WAITS_SHOWN);
    if (waits.count >= WAITS_COUNTED)
        buf_adds(&waits.words, " and many more");
    else if (waits.count > WAITS_SHOWN)
        buf_addf(&waits.words, " and %u more", (unsigned)(waits.count - WAITS_SHOWN));
    else if (!waits.count)
        buf_adds(&waits.words, "its workflow is not whole");
    maker_text(maker, "Reason", buf_string(&waits.words));
    buf_done(&waits.words);
}

/* Adds what became of the files that go to stores. */
static void stored_add(struct maker *maker, const struct job_attempt *last)
{
    const struct expr *list = last->stored ? ad_find(last->stored, "Files") : NULL;
    struct stored_count count = stored_count(last->stored);
    struct tree *files;

    if (!last->transfers)
        return;
    maker_integer(maker, "FilesToStore", last->transfers);
    maker_integer(maker, "FilesStored", count.stored);
    if (count.none)
        maker_integer(maker, "FilesNotMade", count.none);
    if (count.lost)
        maker_integer(maker, "FilesLost", count.lost);
    files = list ? ad_part(last->stored, list) : NULL;
    maker_ad(maker, "Stored", files);
    tree_unref(files);
}

/* Adds the files that the try should have brought and did not. */
static void missing_put(struct maker *maker, struct symbols *symbols, const struct job_attempt *last)
{
    struct tree *missing = missing_ad(symbols, &last->missing), *files;
    const struct expr *list = missing ? ad_find(missing, "Files") : NULL;

    if (!missing)
        return;
    files = list ? ad_part(missing, list) : NULL;
    maker_integer(maker, "FilesMissing", last->missing.count);
    maker_ad(maker, "Missing", files);
    tree_unref(files);
    tree_unref(missing);
}

/* Adds why the job is in its state, in words. */
static void reason_add(struct maker *maker, const struct job_view *view, const struct job_attempts *tries,
                       const struct job_attempt *last)
{
    char text[2 * TRY_MESSAGE_MAX + 64];
    const char *said = job_why(view, tries);

    if (view->early) {
        maker_integer(maker, "WaitsUntil", view->begins);
        return;
    }
    if (view->state == JOB_IDLE && view->refused != REASON_OK) {
        snprintf(text, sizeof text, "the matchmaker refuses its request: %s", reason_words(view->refused));
        maker_text(maker, "Reason", text);
        return;
    }
    if (view->state == JOB_IDLE && view->turn_room) {
        snprintf(
            text, sizeof text,
            "waits for its turn to be offered: the pool takes %u different requests of this customer at a time, and "
            "%u wait for that",
            view->turn_room, view->turn_waiting);
        maker_text(maker, "Reason", text);
        return;
    }
    if (view->state == JOB_IDLE && view->in_vain) {
        int64_t left = view->rests > runner_now() ? (view->rests - runner_now() + SECOND - 1) / SECOND : 0;

        snprintf(text, sizeof text, "%u %s in turn came to nothing; the last: %s%s%s%s", view->in_vain,
                 view->in_vain == 1 ? "claim" : "claims", reason_words(view->reason), last && last->words ? ": " : "",
                 last && last->words ? last->words : "", left ? "; offered again after a pause" : "");
        maker_text(maker, "Reason", text);
        if (left)
            maker_integer(maker, "OfferedIn", left);
        return;
    }
    if (view->state == JOB_IDLE || view->state == JOB_RUNNING)
        return;
    if (said || ((view->state == JOB_HELD || view->state == JOB_REMOVED) && view->reason == REASON_RELEASED)) {
        maker_text(maker, "Reason", said ? said : view->state == JOB_HELD ? "held by its user" : "removed by its user");
        return;
    }
    if (last && last->words && view->reason == REASON_SETUP)
        snprintf(text, sizeof text, "%s: %s", reason_words(view->reason), last->words);
    else
        snprintf(text, sizeof text, "%s", reason_words(view->reason));
    maker_text(maker, "Reason", text);
}

/* Adds what is known of claims for a job that waits: those on their way to it and jobs like it, and those in a row that came to nothing. */
static void claims_add(struct maker *maker, const struct job_view *view, const struct job_attempt *last)
{
    const char *by = view->in_vain ? (last ? last->provider : NULL) : view->rejected_by;

    if (view->claiming) {
        maker_integer(maker, "Claiming", view->claiming);
        maker_integer(maker, "Alike", view->alike);
    }
    if (!view->in_vain && !view->rejected)
        return;
    maker_integer(maker, "Rejected", (int64_t)view->in_vain + view->rejected);
    maker_text(maker, "RejectedFor", reason_words(view->in_vain ? view->reason : view->rejected_for));
    maker_text(maker, "RejectedBy", by);
}

/* Adds when and where a pool has planned a job to begin that waits for room, as far as that was told lately. */
static void plan_add(struct maker *maker, const struct job_view *view, int64_t now)
{
    int64_t steady = runner_now();

    if (view->planned == INT64_MAX || steady > view->planned_until)
        return;
    maker_integer(maker, "PlannedStart", now + (view->planned > steady ? (view->planned - steady) / SECOND : 0));
    maker_text(maker, "PlannedMachine", view->planned_on);
}

/* Adds the workflow of a job that another job has submitted, which carries that workflow out; or of that one. */
static void carried_add(struct maker *maker, const struct job_view *view)
{
    int64_t carrier = 0;
    bool carries = false;
    const char *node;
    size_t len;

    if (ad_flag(view->ad, "CarriesDag", &carries) && carries)
        maker_integer(maker, "Workflow", (int64_t)view->id);
    else if (ad_integer(view->ad, "DAGManJobId", &carrier) && carrier > 0)
        maker_integer(maker, "Workflow", carrier);
    if (carrier > 0 && ad_string(view->ad, "DAGNodeName", &node, &len) && !ad_find(view->ad, "Node"))
        maker_bytes(maker, "Node", node, len);
}

struct tree *job_ad(struct symbols *symbols, const struct customer *customer, const struct job_view *view,
                    const struct job_attempts *tries, int64_t now)
{
    const struct job_attempt *last = tries && tries->count ? &tries->tries[tries->count - 1] : NULL;
    enum job_standing standing = job_standing(view, last);
    bool ended = job_standing_is_end(standing);
    char trace[JOB_TRACE_ID_LEN + 1];
    struct maker maker;

    maker_init(&maker, symbols);
    parts_copy(&maker, view->ad);
    if (view->node)
        parts_copy(&maker, view->node);
    if (view->workflow)
        maker_integer(&maker, "Workflow", (int64_t)view->workflow);
    else
        carried_add(&maker, view);
    maker_integer(&maker, "Job", (int64_t)view->id);
    maker_integer(&maker, "Index", (int64_t)view->index);
    maker_text(&maker, "State", words[standing == STANDING_FAILED ? STANDING_DONE : standing]);
    maker_integer(&maker, "Since", now > view->changed ? now - view->changed : 0);
    maker_integer(&maker, "Submitted", view->submitted);
    if (last && standing != STANDING_WAITING && standing != STANDING_BLOCKED)
        usage_add(&maker, view, last, now);
    if (ended)
        maker_integer(&maker, "Ended", view->changed);
    /* a job that was ended at a limit has no status of its own, and must not look as if it had ended well */
    if (view->state == JOB_DONE && (view->reason == REASON_EXITED || view->status != 0))
        maker_integer(&maker, "Status", view->status);
    if (ended)
        job_outcome_add(&maker,
                        standing == STANDING_CANCELLED ? OUTCOME_REMOVED
                        : standing == STANDING_ABORTED ? OUTCOME_EXPIRED
                                                       : job_outcome_done(view->reason, view->status),
                        view->status);
    if (view->blocked)
        waits_add_all(&maker, customer, view);
    else
        reason_add(&maker, view, tries, last);
    if (view->state == JOB_IDLE && !view->blocked) {
        claims_add(&maker, view, last);
        plan_add(&maker, view, now);
    }
    if (view->state == JOB_IDLE && !view->blocked) /* the request by which a pool knows it and all equal jobs */
        maker_word(&maker, "Request", view->shape);
    if (view->state == JOB_HELD) {
        maker_integer(&maker, "HoldCode", job_hold_code(view, tries));
        if (job_hold_sub(view, tries))
            maker_integer(&maker, "HoldSubCode", job_hold_sub(view, tries));
    }
    job_trace_id_write(&view->trace, trace);
    if (*trace)
        maker_text(&maker, "TraceId", trace);
    maker_integer(&maker, "Tries", tries ? (int64_t)tries->made : (int64_t)view->tries);
    if (view->state == JOB_DONE && last)
        stored_add(&maker, last);
    if (ended && last)
        missing_put(&maker, symbols, last);
    if (view->state == JOB_DONE || job_outputs_due(view, last, now))
        maker_flag(&maker, "OutputsDue", job_outputs_due(view, last, now));
    return maker_seal(&maker);
}

struct tree *job_ad_whole(struct symbols *symbols, const struct customer *customer, const struct job_view *view,
                          const struct job_attempts *tries, int64_t now)
{
    const struct job_attempt *last = tries && tries->count ? &tries->tries[tries->count - 1] : NULL;
    struct tree *ad = job_ad(symbols, customer, view, tries, now), *whole;
    struct maker maker;

    if (!last || !last->samples || !ad_find(ad, "Provider"))
        return ad;
    maker_init(&maker, symbols);
    maker_parts(&maker, ad, NULL);
    maker_ad(&maker, "Samples", last->samples);
    whole = maker_seal(&maker);
    tree_unref(ad);
    return whole;
}
