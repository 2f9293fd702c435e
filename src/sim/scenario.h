/* scenario.h: a pool to be simulated, as one ad in a file says it.
 *
 *     [ Name = "internet"; Duration = 24 * 3600; Providers = 100000; Sites = [ Count = 1000; ... ]; Machines = { ... };
 *       Jobs = 1000000; Shapes = [ Count = 500; Sizes = ...; Duration = ...; Ads = { ... } ]; Churn = [ Up = ...; Down = ... ]; ... ]
 *
 * Times are in seconds. What is a number may be an expression, also of other attributes; what varies may be a distribution
 * (dist.h). An ad of a machine or of a job is a template: its attributes are copied as they stand, but an attribute that is a
 * distribution is drawn for each machine, or for each shape. docs/simulator.md lists all attributes. */
#ifndef BERTH_SIM_SCENARIO_H
#define BERTH_SIM_SCENARIO_H

#include "lang/base/err.h"
#include "lang/text/build.h"
#include "pool/protocol/role.h"
#include "sim/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCENARIO_PROVIDERS_MAX 4000000 /* places of hosts are kept in 24 bits */
#define SCENARIO_JOBS_MAX 100000000
#define SCENARIO_SHAPES_MAX 100000

/* An ad with attributes that are drawn. */
struct template_attribute {
    const struct expr *e;    /* of the scenario's tree, labelled with its name */
    const struct dist *dist; /* or NULL: it is copied */
};

struct template_ad {
    double upto; /* its weight and those before it, as parts of 1 */
    const struct template_attribute *attributes;
    uint32_t count;
    const struct dist *duration; /* of a job; NULL: that of all */
};

struct templates {
    const struct template_ad *items;
    uint32_t count;
};

struct scenario {
    char name[64];
    double duration; /* seconds */
    uint64_t seed;
    uint32_t providers, sites, customers, users, shapes;
    uint64_t jobs;                  /* queued at first */
    const struct dist *site_sizes;  /* relative to each other */
    const struct dist *site_delays; /* from a site to the middle of the network: seconds */
    double jitter;                  /* part of a message's delay that is chance */
    struct template_ad site;        /* what all machines of a site have in common; of no attributes: nothing */
    const struct dist *starts;      /* when a provider begins */
    const struct dist *up, *down;   /* churn; NULL: none */
    const struct dist *sizes;       /* jobs of a shape, at first */
    const struct dist *durations;   /* of a job; settled for each shape */
    const struct dist *pauses;      /* between further submissions; NULL: none come */
    const struct dist *batches;     /* jobs of a further submission */
    double rarer;                   /* the pauses times that; 0: 1 */
    struct templates machines, requests;
    struct spans spans;
    struct tree *tree; /* held */
    struct arena arena;
};

typedef void scenario_warn_fn(void *user, const struct err *warning);

/* NULL and `err` with line and column when it is none. `warn` (or NULL) hears of attributes that nobody reads. */
struct scenario *scenario_read(struct symbols *symbols, const char *text, size_t len, scenario_warn_fn *warn,
                               void *user, struct err *err);
void scenario_free(struct scenario *scenario);

/* All counts times that: providers, sites, jobs, shapes, users; at least one of each. Submissions that come later are as many times
 * rarer. */
void scenario_scale(struct scenario *scenario, double factor);

/* Which of the templates chance draws; and its ad, with the attributes given besides (pushed before on the builder, labelled). */
const struct template_ad *templates_draw(const struct templates *templates, struct rng *rng);
struct tree *template_make(const struct scenario *scenario, const struct template_ad *ad, struct build *build,
                           uint32_t pushed, struct rng *rng);

#ifdef __cplusplus
}
#endif
#endif
