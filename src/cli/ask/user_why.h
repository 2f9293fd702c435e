/* user_why.h: why a user's place is what it is, in words. */
#ifndef BERTH_CLI_ASK_USER_WHY_H
#define BERTH_CLI_ASK_USER_WHY_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

/* Appends the words for the ad that a pool answers with (GET /v1/users/NAME/why). */
void user_why_print(struct buf *out, const struct tree *ad);

#endif
