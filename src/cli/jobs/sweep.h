/* sweep.h: many jobs of one ad: one for each row of a table, each line of a file, or each file that matches a pattern.
 *
 *     Seed, Data              [ Cmd = "./fit"; Args = { "--seed", Seed }; Inputs = { Data } ]
 *     17, a.csv          ->   [ ...; Seed = 17; Data = "a.csv"; Index = 0 ]
 *     18, b.csv               [ ...; Seed = 18; Data = "b.csv"; Index = 1 ]
 *
 * The columns become attributes of the ad, which its other expressions read; one that the ad has itself is replaced. Errors have been reported, with
 * their place in the table. */
#ifndef BERTH_CLI_JOBS_SWEEP_H
#define BERTH_CLI_JOBS_SWEEP_H

#include "lang/base/symbols.h"
#include "lang/form/csv.h"
#include "lang/text/tree.h"

/* What the options say; at most one of them is there. */
struct sweep_source {
    const char *table, *lines, *files;
};

struct sweep {
    const char *file; /* for errors: the table, the file of the lines, or the pattern */
    bool is_files;    /* a row is a file, and not a line */
    struct csv rows;
    struct symbols *symbols;
    symbol *names; /* of the columns, and of Index behind them */
    unsigned char *kinds;
};

bool sweep_is_wanted(const struct sweep_source *source);
/* Is only one of them given? */
int sweep_check(const struct sweep_source *source);

/* Reads the rows. Names of files that match a pattern are relative to `folder`, as those of inputs are. sweep_done takes a sweep that failed. */
int sweep_open(struct sweep *sweep, struct symbols *symbols, const struct sweep_source *source, const char *folder);
void sweep_done(struct sweep *sweep);

static inline uint32_t sweep_count(const struct sweep *sweep)
{
    return csv_rows(&sweep->rows);
}

/* The ad with the values of a row (from 0 on), whose first job has that index in the sweep. The caller unrefs it; NULL: it has too many attributes. */
struct tree *sweep_ad(const struct sweep *sweep, const struct tree *ad, uint32_t row, uint64_t index, struct err *err);

/* The ad of a job with what can be computed now in place of what computes it; the caller unrefs it. */
struct tree *sweep_fold(const struct tree *ad);

/* Appends what errors about a row begin with: "runs.csv:17", or the file's name. */
void sweep_place(const struct sweep *sweep, uint32_t row, struct buf *out);

#endif
