/* login.h: the token of a person, as it is kept. */
#ifndef BERTH_CLI_ADMIN_LOGIN_H
#define BERTH_CLI_ADMIN_LOGIN_H

#include "cli/ask/redeem.h"

/* Keeps the token in STATE/token, and says who one is now. Errors have been reported. */
int login_keep(const char *state, const struct redeemed *redeemed);

#endif
