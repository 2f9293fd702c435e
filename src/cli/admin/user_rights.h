/* user_rights.h: berth users show, disable and enable. */
#ifndef BERTH_CLI_ADMIN_USER_RIGHTS_H
#define BERTH_CLI_ADMIN_USER_RIGHTS_H

#include "cli/ask/connection.h"

#include <stdbool.h>

struct user_verb {
    const char *verb, *name; /* "show", "disable" or "enable", and the user */
    const char *reason;      /* disable; NULL: none was given */
    bool now;                /* disable: what runs is ended */
    bool json, long_form;
    const struct connection_options *pool;
};

bool user_verb_known(const char *verb);
int user_verb_run(const struct user_verb *user);

#endif
