/* user_account.h: taking on the account of a user of this machine, for good: what a process does that the customer, which is root, starts for one of
 * its users. */
#ifndef BERTH_LIVE_CUSTOMERD_USER_ACCOUNT_H
#define BERTH_LIVE_CUSTOMERD_USER_ACCOUNT_H

#include "pool/protocol/fields.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Becomes that user, in all its groups, with no way back; -1: that cannot be done, and nothing may be done then. `ret_name` is the account's name. */
int user_become(uint32_t uid, char ret_name[TEXT_MAX + 1]);

/* Is the account the job's owner still? A user id may have been given to somebody else meanwhile, whose files the job must not reach. */
bool user_account_owns(const char *account, const char *owner);

#ifdef __cplusplus
}
#endif
#endif
