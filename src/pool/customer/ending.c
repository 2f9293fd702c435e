/* ending.c: what becomes of a job when a try of it has ended with a status, where the job itself says it.
 *
 *     OnExitHold = ExitCode == 3             true: the job is held
 *     OnExitRemove = ExitCode == 0           true: it is over; false: it is run again, as often as MaxRetries says, or else until this is true
 *     RetryUntil = ExitCode > 100            true: this try was the last
 *     SuccessExitCode = 4                    a try that ends with this status, and not with 0, is the last (queue.c)
 *
 * They see the job's own attributes, ExitCode or ExitSignal, ExitBySignal, JobTry (how often it was begun) and the time. One that has no value decides nothing.
 * These are expressions of the user's own about the user's own job, evaluated in bounded steps. */
#include "lang/ad/eval.h"
#include "pool/customer/customer_parts.h"
#include "pool/protocol/writers.h"

#include <string.h>

#define STEPS_MAX 100000

bool ending_is_said(const struct tree *ad)
{
    static const char *const names[] = {"OnExitHold", "OnExitRemove", "RetryUntil"};

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
        {symbols_take(symbols, "JobTry", 6), value_integer((int64_t)job->begun)},
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

enum ending ending_of(const struct customer_step *step, const struct job *job, const struct result *result)
{
    int64_t wall = step->env->wall;
    struct tree *ad = job->shape->ends && result->reason == REASON_EXITED ? ended_ad(job, result) : NULL;
    enum ending ending = ENDING_USUAL;
    int remove;

    if (!ad)
        return ENDING_USUAL;
    remove = said(ad, "OnExitRemove", wall);
    if (said(ad, "OnExitHold", wall) == 1)
        ending = ENDING_HELD;
    else if (remove == 1 || said(ad, "RetryUntil", wall) == 1)
        ending = ENDING_DONE;
    else if (remove == 0 && !job->shape->counts)
        ending = job->begun < CUSTOMER_AGAIN_MAX ? ENDING_AGAIN : ENDING_HELD;
    tree_unref(ad);
    return ending;
}
