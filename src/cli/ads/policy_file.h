/* policy_file.h: reads an administrative policy from a file. */
#ifndef BERTH_CLI_ADS_POLICY_FILE_H
#define BERTH_CLI_ADS_POLICY_FILE_H

#include "match/pair/policy.h"

/* Reads a policy; -1 when the file does not hold one, which has been reported with its place. */
int policy_load(struct policy *ret_policy, struct symbols *symbols, const struct dialect *dialect, const char *file);

#endif
