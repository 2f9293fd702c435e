/* agent.h: what the files of berth agent share. */
#ifndef BERTH_CLI_ADMIN_AGENT_H
#define BERTH_CLI_ADMIN_AGENT_H

#include "cli/ask/awaited.h"

struct agent_command_settings {
    struct connection_options pool;
    const char *identity;
    int64_t wait, life;
    bool now, json, long_form;
};

/* Gives the command to the agent of that handle. `*ret` is the command's ad, which the caller unrefs. */
int agent_command_give(struct connection *pool, const struct agent_command_settings *settings, const char *word,
                       const char *handle, const char *name, int64_t wait, int64_t life, struct tree **ret);
bool agent_text_is(const struct tree *ad, const char *attribute, const char *text);
void agent_form_print(const struct agent_command_settings *settings, struct tree *ad); /* as --json or --long */

/* Prints how the agent is, as it says itself and as the pool knows it: `machine` is its row of the roster. */
int agent_status(struct connection *pool, const struct agent_command_settings *settings, const char *handle,
                 const char *name, const struct tree *machine);

#endif
