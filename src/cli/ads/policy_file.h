/* policy_file.h: an administrative policy read from a file. */
#ifndef BERTH_CLI_ADS_POLICY_FILE_H
#define BERTH_CLI_ADS_POLICY_FILE_H

#include "match/pair/policy.h"

/* -1 when the file holds no policy, which has been reported with its place. */
int policy_load(struct policy *ret_policy, struct symbols *symbols, const struct dialect *dialect, const char *file);

#endif
