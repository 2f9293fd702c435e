/* replicas_renew.c: what jobs that wait say of where their files are, looked up again.
 *
 *     once in ReplicasPeriod: job after job, by their numbers -> one that waits and has Replicas -> the catalogues -> other ones? -> it is edited
 *
 * One question is under way at a time. Jobs behind one another with the same ad are told the same. Of each ad that was
 * submitted the first thousand jobs that wait are looked at: one that is edited has a row of its own from then on, and 100,000 may stand behind one row. A file that no catalogue has, or that none answers
 * for, changes nothing: the job says so when it begins. */
#include "live/customerd/replicas_renew.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "live/customerd/customerd_parts.h"
#include "live/customerd/joblog.h"
#include "live/data/resolving.h"

#include <stdlib.h>
#include <string.h>

#define OF_ONE_AD 1000 /* jobs that were submitted with one ad: so many of them are looked at in a round */

struct renewal {
    struct customerd *customerd;
    int64_t due;                 /* when the next round begins */
    uint64_t at;                 /* the last job that was looked at; 0: no round is under way */
    uint64_t first, looked;      /* the first job of the ad where that is, and how many of its jobs were looked at */
    uint64_t job;                /* whose files are asked for; 0: nobody's */
    struct tree *ad;             /* held: the ad that it had then ... */
    struct tree *renewed;        /* held: ... and what became of it, for those behind it; NULL: it stays */
    struct resolving *resolving; /* or NULL */
};

static void told(void *user, const struct message *answer)
{
    (void)user;
    (void)answer;
}

/* The job's ad becomes the renewed one. */
static void job_renew(struct renewal *renewal, const struct job_view *view)
{
    struct customerd *customerd = renewal->customerd;
    struct peer peer = {.agent = customerd->role.self, .identity = customerd->daemon.identity, .any = true};
    struct message message = {.kind = MESSAGE_CONTROL};

    message.u.control = (struct control){.job = view->id, .verb = CONTROL_EDIT, .ad = renewal->renewed};
    if (joblog_exists(customerd->files, view->id))
        joblog_add(customerd->files, view->id, view->submitted, wall_seconds(runner_wall()),
                   "the stores that have its files are others now");
    agent_local(customerd->live, &peer, &message, told, NULL);
    customerd_commit(customerd);
    customerd_changed(customerd); /* of an edit the role tells nothing else */
}

static bool job_waits(const struct job_view *view)
{
    return view->state == JOB_IDLE && !view->rooted;
}

static bool same(const struct tree *a, const struct tree *b, const char *name)
{
    const struct expr *left = ad_find(a, name), *right = ad_find(b, name);

    return left && right ? tree_equal(a, left, b, right) : left == right;
}

/* Keeps the ad that was asked for last, and what became of it. */
static void ads_keep(struct renewal *renewal, struct tree *ad, struct tree *renewed)
{
    tree_unref(renewal->ad);
    tree_unref(renewal->renewed);
    renewal->ad = ad;
    renewal->renewed = renewed;
}

static void answered(void *user, unsigned status, const char *words)
{
    struct renewal *renewal = user;
    struct customerd *customerd = renewal->customerd;
    bool keeps =
        status || customerd->stopping || resolving_has_datasets(renewal->resolving); /* which files it reads, stays */
    struct tree *renewed = keeps ? NULL : resolving_ad(renewal->resolving, renewal->ad);
    uint64_t job = renewal->job;
    struct job_view view;

    (void)words;
    resolving_free(renewal->resolving);
    renewal->resolving = NULL;
    renewal->job = 0;
    if (!renewed || (same(renewed, renewal->ad, "Replicas") && same(renewed, renewal->ad, "ReplicaHosts") &&
                     same(renewed, renewal->ad, "InputBytes"))) {
        tree_unref(renewed);
        return;
    }
    renewal->renewed = renewed;
    if (!runner_is_broken(customerd->runner) && customer_job(customerd->customer, job, &view) && job_waits(&view) &&
        view.ad == renewal->ad)
        job_renew(renewal, &view);
}

/* Is the job one of the first of its ad that wait? */
static bool is_among_first(struct renewal *renewal, const struct job_view *view)
{
    renewal->looked = view->first == renewal->first ? renewal->looked + 1 : 1;
    renewal->first = view->first;
    return renewal->looked <= OF_ONE_AD;
}

/* Looks at a job. True: a question is under way. */
static bool job_look(struct renewal *renewal, const struct job_view *view)
{
    struct tree *ads[1];

    if (!job_waits(view) || !ad_find(view->ad, "Replicas") || !ad_find(view->ad, "InputData") ||
        !is_among_first(renewal, view))
        return false;
    if (view->ad == renewal->ad) { /* as the one before it */
        if (renewal->renewed)
            job_renew(renewal, view);
        return false;
    }
    ads_keep(renewal, tree_ref((struct tree *)(uintptr_t)view->ad), NULL);
    renewal->job = view->id;
    ads[0] = renewal->ad;
    renewal->resolving = resolving_start(renewal->customerd->catalogues, ads, 1, answered, renewal);
    if (!renewal->resolving)
        renewal->job = 0;
    return renewal->resolving != NULL;
}

bool renewal_tick(struct renewal *renewal, int64_t ends)
{
    struct customerd *customerd = renewal->customerd;
    int64_t span = config_span(&customerd->daemon.config, CONFIG_REPLICAS_PERIOD);
    struct job_view view;

    if (!span || renewal->resolving || runner_now() < renewal->due)
        return false;
    while (customer_next(customerd->customer, renewal->at, &view)) {
        uint64_t alike;

        renewal->at = view.id;
        if (job_look(renewal, &view))
            return false;
        if (!ad_find(view.ad, "Replicas") || (view.first == renewal->first && renewal->looked > OF_ONE_AD)) {
            alike = customer_alike(customerd->customer, view.id, UINT64_MAX);
            renewal->at += alike ? alike - 1 : 0;
        }
        if (runner_now() >= ends)
            return true;
    }
    renewal->at = renewal->first = renewal->looked = 0;
    renewal->due = runner_now() + span;
    ads_keep(renewal, NULL, NULL);
    return false;
}

struct renewal *renewal_new(struct customerd *customerd)
{
    struct renewal *renewal = mem_alloc(sizeof *renewal);

    *renewal = (struct renewal){.customerd = customerd,
                                .due = runner_now() + config_span(&customerd->daemon.config, CONFIG_REPLICAS_PERIOD)};
    return renewal;
}

void renewal_free(struct renewal *renewal)
{
    if (!renewal)
        return;
    resolving_free(renewal->resolving);
    ads_keep(renewal, NULL, NULL);
    free(renewal);
}
