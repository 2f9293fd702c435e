/* claim_jobs.c: which job a claim is for. */
#include "cli/admin/claim_jobs.h"

#include "cli/term/command.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"

#include <stdlib.h>

void claim_jobs_init(struct claim_jobs *jobs)
{
    *jobs = (struct claim_jobs){.count = 0};
    textmap_init(&jobs->claims, 0);
}

void claim_jobs_done(struct claim_jobs *jobs)
{
    textmap_done(&jobs->claims);
    free(jobs->jobs);
}

static bool job_add(void *user, struct tree *job)
{
    struct claim_jobs *jobs = user;
    const char *claim;
    int64_t number;
    uint32_t place;
    size_t len;

    if (!ad_integer(job, "Job", &number) ||
        (!ad_string(job, "Claim", &claim, &len) && !ad_string(job, "LastClaim", &claim, &len)))
        return true;
    place = textmap_add(&jobs->claims, claim, len);
    while (jobs->count <= place) {
        ARRAY_ROOM(jobs->jobs, jobs->count, jobs->room, 64);
        jobs->jobs[jobs->count++] = 0;
    }
    if (number > jobs->jobs[place]) /* the last of those that had the claim one after another */
        jobs->jobs[place] = number;
    return true;
}

void claim_jobs_load(struct claim_jobs *jobs, const struct connection_options *options)
{
    struct connection customer;
    struct fetched fetched;

    if (customer_open(&customer, options) == STATUS_DONE &&
        connection_fetch(&customer, &(struct connection_ask){.path = "/v1/status", .quiet = true}, &fetched) ==
            STATUS_DONE) {
        fetched_done(&fetched);
        connection_list(&customer, "/v1/jobs?select=Job,Claim&constraint=isString(Claim)", CLAIM_JOBS_MAX, job_add,
                        jobs);
        connection_list(&customer, "/v1/history?select=Job,Claim,LastClaim", CLAIM_JOBS_MAX, job_add, jobs);
    }
    connection_close(&customer);
}

struct tree *claim_jobs_name(const struct claim_jobs *jobs, struct tree *ad)
{
    struct maker maker;
    const char *claim;
    uint32_t place = TEXTMAP_NONE;
    size_t len;

    if (ad_string(ad, "Claim", &claim, &len))
        place = textmap_find(&jobs->claims, claim, len);
    if (place == TEXTMAP_NONE || !jobs->jobs[place])
        return tree_ref(ad);
    maker_init(&maker, ad->symbols);
    maker_parts(&maker, ad, "Job");
    maker_integer(&maker, "Job", jobs->jobs[place]);
    return maker_seal(&maker);
}
