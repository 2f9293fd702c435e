/* output_shares.h: how much the jobs of each account have left at the customer, so that no account fills the disk for the others.
 *
 *     "outputs"   job -> [ Who = "account"; Bytes; Files ]     a row for each job of which something is kept here: outputs, logs, checkpoints
 *
 * An account has as much there as is still free, and no more: one alone gets half of the room, two a third each; whoever comes last finds as much as
 * each of the others has. What does not fit stays at the machine where the job ran, which tries again: it comes when its account has less here, or the disk
 * more room. The customer's own account may have all of it. What was brought to where a job wants it does not count. */
#ifndef BERTH_LIVE_CUSTOMERD_OUTPUT_SHARES_H
#define BERTH_LIVE_CUSTOMERD_OUTPUT_SHARES_H

#include "lang/base/err.h"
#include "lang/base/symbols.h"
#include "pool/protocol/shelf.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OUTPUTS_SPACE "outputs" /* of rows */

struct output_shares;

/* What is free for everybody: bytes above the reserve, and files; UINT64_MAX: that is not known, or without bound. */
struct output_room {
    uint64_t bytes, files;
};

/* Reads the rows. `own`: the identity of the customer itself. NULL and `err`. */
struct output_shares *output_shares_new(struct shelf *shelf, struct symbols *symbols, const char *own, struct err *err);
void output_shares_free(struct output_shares *shares);
void output_shares_set_most(struct output_shares *shares, uint64_t bytes); /* of one account; no bound without this */

/* May a job of that owner leave so many bytes, and perhaps one file, more? False: the error names the limit. */
bool output_shares_take(const struct output_shares *shares, const char *owner, uint64_t bytes, bool file,
                        const struct output_room *room, struct err *err);
/* The job of that owner has so much more here, or less. Its row is durable with the next commit. */
void output_shares_add(struct output_shares *shares, uint64_t job, const char *owner, int64_t bytes, int64_t files);
/* The same of one that has something here already; others have nothing to lose. */
void output_shares_lose(struct output_shares *shares, uint64_t job, uint64_t bytes, uint64_t files);
void output_shares_forget(struct output_shares *shares, uint64_t job); /* nothing of the job is here any more */

uint64_t output_shares_bytes(const struct output_shares *shares, const char *owner); /* of its account */

#ifdef __cplusplus
}
#endif
#endif
