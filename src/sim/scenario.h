/* scenario.h: a pool to be simulated, described by one ad in a file.
 *
 *     [ Name = "internet"; Duration = 24 * 3600; Providers = 100000; Sites = [ Count = 1000; ... ]; Machines = { ... };
 *       Jobs = 1000000; Shapes = [ Count = 500; Sizes = ...; Duration = ...; Ads = { ... } ]; Churn = [ Up = ...; Down = ... ]; ... ]
 *
 * Times are in seconds. A number may be an expression, also of other attributes; a quantity that varies may be a distribution (dist.h). An ad of a
 * machine or of a job is a template: its attributes are copied as they stand, except distributions, which are drawn for each machine, or for each
 * shape. docs/simulator.md lists all attributes. */
#ifndef BERTH_SIM_SCENARIO_H
#define BERTH_SIM_SCENARIO_H

#include "lang/base/err.h"
#include "lang/text/build.h"
#include "pool/protocol/role.h"
#include "sim/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCENARIO_PROVIDERS_MAX 4000000 /* places of hosts must fit into 24 bits */
#define SCENARIO_JOBS_MAX 100000000
#define SCENARIO_SHAPES_MAX 100000

/* An attribute of a template: copied, or drawn. */
struct template_attribute {
    const struct expr *e;    /* from the scenario's tree, labelled with its name */
    const struct dist *dist; /* or NULL: copied */
};

struct template_ad {
    double upto; /* the weights up to this template, as a part of 1 */
    const struct template_attribute *attributes;
    uint32_t count;
    const struct dist *duration; /* of a job; NULL: the scenario's `durations` */
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
    double jitter;                  /* the random part of a message's delay */
    struct template_ad site;        /* the attributes that all machines of a site share; may have none */
    const struct dist *starts;      /* when a provider starts */
    const struct dist *up, *down;   /* churn; NULL: none */
    const struct dist *sizes;       /* jobs of a shape, at first */
    const struct dist *durations;   /* of a job; settled for each shape */
    const struct dist *pauses;      /* between later submissions; NULL: there are none */
    const struct dist *batches;     /* jobs of a later submission */
    double rarer;                   /* a factor for the pauses; 0 counts as 1 */
    struct templates machines, requests;
    struct spans spans;
    struct tree *tree; /* held */
    struct arena arena;
};

typedef void scenario_warn_fn(void *user, const struct err *warning);

/* NULL and `err` with line and column when the text is wrong. `warn` (or NULL) is called for attributes that nothing reads. */
struct scenario *scenario_read(struct symbols *symbols, const char *text, size_t len, scenario_warn_fn *warn,
                               void *user, struct err *err);
void scenario_free(struct scenario *scenario);

/* Multiplies all counts: providers, sites, jobs, shapes, users; at least one of each is left. Later submissions come `factor` times as often. */
void scenario_scale(struct scenario *scenario, double factor);

/* Draws one of the templates; and makes its ad, together with attributes that were pushed on the builder before, with their labels. */
const struct template_ad *templates_draw(const struct templates *templates, struct rng *rng);
struct tree *template_make(const struct scenario *scenario, const struct template_ad *ad, struct build *build,
                           uint32_t pushed, struct rng *rng);

#ifdef __cplusplus
}
#endif
#endif
