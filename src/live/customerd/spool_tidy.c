/* spool_tidy.c: inputs that no job names any more are removed, in slices.
 *
 *     the jobs in the queue, and those that come again, are gone through: what they name -> the files of the spool are: what nobody names goes
 *
 * Jobs that come meanwhile are not gone through: their inputs were taken for them (spool_take), and are too young to go. */
#include "live/customerd/crons.h"

#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "sys/secrets.h"

#include <stdlib.h>
#include <string.h>

#define LOOKED 8 /* jobs, or files, between two looks at the time */

struct spool_tidying {
    struct spool_sweep *sweep;
    struct textmap hashes;
    struct tree *last; /* jobs of one shape share their ad; held */
    uint64_t job;      /* that was gone through last; 0: none */
    uint64_t cron;     /* the same of those that come again */
    bool named;        /* all were */
};

static bool name_input(void *user, const struct job_input *input)
{
    textmap_add(user, input->hash, strlen(input->hash));
    return true;
}

static bool is_named(void *user, const char *hash)
{
    return textmap_find(user, hash, strlen(hash)) != TEXTMAP_NONE;
}

void spool_tidy_begin(struct customerd *customerd)
{
    struct spool_tidying *tidying;

    if (customerd->spool_tidying)
        return;
    tidying = customerd->spool_tidying = mem_alloc(sizeof *tidying);
    *tidying = (struct spool_tidying){.sweep = spool_sweep_new(customerd->spool)};
    textmap_init(&tidying->hashes, secrets_word(&secrets_live));
}

void spool_tidy_done(struct customerd *customerd)
{
    struct spool_tidying *tidying = customerd->spool_tidying;

    if (!tidying)
        return;
    customerd->spool_tidying = NULL;
    spool_sweep_free(tidying->sweep);
    tree_unref(tidying->last);
    textmap_done(&tidying->hashes);
    free(tidying);
}

/* The next that comes again; false: there is none. */
static bool cron_name(struct spool_tidying *tidying, const struct crons *crons)
{
    const struct cron *cron = crons_after(crons, tidying->cron);

    if (!cron)
        return false;
    tidying->cron = cron->id;
    job_inputs(cron->ad, name_input, &tidying->hashes);
    return true;
}

/* The next job of the queue, and behind them those that come again; false: there is none. */
static bool job_name(struct spool_tidying *tidying, const struct customerd *customerd)
{
    struct job_view view;

    if (!customer_next(customerd->customer, tidying->job, &view))
        return cron_name(tidying, customerd->crons);
    tidying->job = view.id;
    if (view.ad == tidying->last)
        return true;
    job_inputs(view.ad, name_input, &tidying->hashes);
    tree_unref(tidying->last);
    tidying->last = tree_ref((struct tree *)view.ad);
    return true;
}

bool spool_tidy(struct customerd *customerd, int64_t ends)
{
    struct spool_tidying *tidying = customerd->spool_tidying;
    int64_t now = runner_settled(customerd->runner) / SECOND;
    bool more = tidying != NULL;

    while (more && runner_now() < ends) {
        for (int i = 0; i < LOOKED && !tidying->named; i++)
            tidying->named = !job_name(tidying, customerd);
        if (tidying->named)
            more = spool_sweep_step(tidying->sweep, now, LOOKED, is_named, &tidying->hashes);
    }
    if (!tidying || more)
        return more;
    if (spool_sweep_gone(tidying->sweep))
        LOG(&customerd->daemon.log, LEVEL_INFO, "spool.swept", log_number("files", spool_sweep_gone(tidying->sweep)));
    spool_tidy_done(customerd);
    return false;
}
