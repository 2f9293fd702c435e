/* ending.c: what becomes of a job when a try of it has ended with a status, where the job itself says it.
 *
 *     OnExitHold = ExitCode == 3             true: the job is held
 *     OnExitRemove = ExitCode == 0           true: it is over; false: it is run again, as often as MaxRetries says, or else until this is true
 *     RetryUntil = ExitCode > 100            true: this try was the last
 *     CheckpointExitCode = 85                a try that ends with this status is begun again, and has not failed; the files that Checkpoint names are kept
 *     SuccessExitCode = 4                    a try that ends with this status, and not with 0, is the last (queue.c)
 *     OutputsNeeded = "OnSuccess"            a try that ends well, and is over, but lacks an output that Outputs names: the job is held; so it is where
 *                                            this is not said. "Always": likewise where it failed, and is not tried again. "Never": it is over
 *
 * They see the job's own attributes, ExitCode or ExitSignal, ExitBySignal, JobTry (how often it was begun) and the time. One that has no value decides nothing.
 * These are expressions of the user's own about the user's own job, evaluated in bounded steps. */
#include "lang/ad/eval.h"
#include "pool/customer/customer_parts.h"
#include "pool/protocol/writers.h"

#include <string.h>
#include <strings.h>

#define STEPS_MAX 100000

bool ending_is_said(const struct tree *ad)
{
    static const char *const names[] = {"OnExitHold", "OnExitRemove", "RetryUntil", "CheckpointExitCode"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        symbol name = symbols_find(ad->symbols, names[i], strlen(names[i]));

        if (name && tree_find(ad, tree_root(ad), name))
            return true;
    }
    return false;
}

/* The job's ad with what is known of the try; NULL: there is more than an ad can hold. */
static struct tree *ended_ad(const struct job *job, const struct result *result)
{
    struct symbols *symbols = job->shape->ad->symbols;
    bool killed = result->status < 0;
    struct ad_setting settings[] = {
        {symbols_take(symbols, "ExitBySignal", 12), value_boolean(killed)},
        {symbols_take(symbols, killed ? "ExitSignal" : "ExitCode", killed ? 10 : 8),
         value_integer(killed && result->status > INT64_MIN ? -result->status : result->status)},
        {symbols_take(symbols, "JobTry", 6), value_integer((int64_t)job->past->begun)},
        {symbols_take(symbols, "JobId", 5), value_integer((int64_t)job->id)},
    };
    struct tree *ad = ad_set(job->shape->ad, settings, sizeof settings / sizeof *settings, NULL);

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        symbols_drop(symbols, settings[i].name);
    return ad;
}

/* 1 and 0: true and false; -1: the ad does not say it, or it has no such value. */
static int said(const struct tree *ad, const char *attribute, int64_t wall)
{
    const struct env env = {.now = wall / SECOND, .steps = STEPS_MAX};
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));
    struct value value = {0};
    struct scope scope;
    struct arena arena;
    struct eval eval;
    int result = -1;

    arena_init(&arena);
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, &arena);
    if (name && eval_attribute(&eval, &scope, name, &value))
        result = value.type == VALUE_BOOLEAN   ? value.boolean
                 : value.type == VALUE_INTEGER ? value.u.integer != 0
                 : value.type == VALUE_REAL    ? value.u.real != 0
                                               : -1;
    arena_done(&arena);
    return result;
}

/* The attribute as it stands in the ad; NULL: it is not there. */
static const struct expr *attribute_of(const struct tree *ad, const char *attribute)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));

    return name ? tree_find(ad, tree_root(ad), name) : NULL;
}

/* Is the attribute that number, as it stands in the ad? */
static bool number_is(const struct tree *ad, const char *attribute, int64_t number)
{
    const struct expr *e = attribute_of(ad, attribute);

    return e && e->kind == EXPR_INTEGER && e->u.integer == number;
}

/* Only of files that the job names: what it happens to leave is not asked for. */
enum needs ending_needs(const struct tree *ad)
{
    static const char always[] = "Always", never[] = "Never";
    const struct expr *outputs = attribute_of(ad, "Outputs"), *when = attribute_of(ad, "OutputsNeeded");

    if (!outputs || (outputs->kind == EXPR_LIST && !outputs->u.run.count))
        return NEEDS_NONE;
    if (when && when->kind == EXPR_STRING && when->u.run.count == strlen(always) &&
        !strncasecmp(tree_string(ad, when), always, strlen(always)))
        return NEEDS_ALWAYS;
    if (when && when->kind == EXPR_STRING && when->u.run.count == strlen(never) &&
        !strncasecmp(tree_string(ad, when), never, strlen(never)))
        return NEEDS_NONE;
    return NEEDS_ON_SUCCESS;
}

bool ending_lacks(const struct job *job, const struct result *result, bool failed)
{
    return result->unmade && result->reason == REASON_EXITED &&
           (job->shape->needs == NEEDS_ALWAYS || (job->shape->needs == NEEDS_ON_SUCCESS && !failed));
}

enum ending ending_of(const struct customer_step *step, const struct job *job, const struct result *result)
{
    int64_t wall = step->env->wall;
    struct tree *ad = job->shape->ends && result->reason == REASON_EXITED ? ended_ad(job, result) : NULL;
    enum ending ending = ENDING_USUAL;
    int remove;

    if (!ad)
        return ENDING_USUAL;
    if (number_is(ad, "CheckpointExitCode", result->status)) {
        tree_unref(ad);
        return job->past->begun < CUSTOMER_CHECKPOINTS_MAX ? ENDING_CHECKPOINT : ENDING_HELD;
    }
    remove = said(ad, "OnExitRemove", wall);
    if (said(ad, "OnExitHold", wall) == 1)
        ending = ENDING_HELD;
    else if (remove == 1 || said(ad, "RetryUntil", wall) == 1)
        ending = ENDING_DONE;
    else if (remove == 0 && !job->shape->counts)
        ending = job->past->begun < CUSTOMER_AGAIN_MAX ? ENDING_AGAIN : ENDING_HELD;
    tree_unref(ad);
    return ending;
}
