/* misspelt.h: attributes of a job that are probably misspelt: RequestMemry, which nothing reads. */
#ifndef BERTH_CLI_JOBS_MISSPELT_H
#define BERTH_CLI_JOBS_MISSPELT_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

/* Reports the attributes of the ad that are nearly one of those that jobs have. Not those that an expression of the ad reads, and not those that begin
 * with a word of their own (acme_Memory, MyTimeLimit): what owners of machines agree with their users to say is theirs. `name` is the ad's, for the
 * report; `told` holds what was reported before, and is not reported again. */
void misspelt_report(const struct tree *ad, const char *name, struct buf *told);

#endif
