/* token_ask.h: asks the pool for a token, with a key of one's own. */
#ifndef BERTH_CLI_ASK_TOKEN_ASK_H
#define BERTH_CLI_ASK_TOKEN_ASK_H

#include "cli/ask/connection.h"

#define MACHINE_NAME_MAX 50

/* What this machine is called in a pool: the name given, else the host's, without characters that such a name cannot have. */
void machine_name(const char *given, char ret[MACHINE_NAME_MAX + 1]);

struct token_wish {
    const char *subject, *scope; /* NULL: as the pool says */
    int64_t lifetime;            /* seconds; 0: as the pool says */
    bool no_delegation;          /* without a key, so that nothing can be delegated from it */
};

/* Asks for a token. The file is initialised in any case, and the caller ends it. */
int token_ask(struct connection *pool, const struct token_wish *wish, struct token_file *ret);

/* Is the connection's token in the second half of its life, and may be renewed? Only one that was not named by hand. */
bool token_is_old(const struct connection *pool);

/* Has the connection's token renewed by the pool when it is in the second half of its life, and writes it to its file; if that cannot be done now, it
 * is left to the next command. */
void token_keep_good(struct connection *pool);

/* Takes Token, Pool and Ca from an answer; STATUS_UNREACHABLE when there is no token in it. */
int token_answer(const struct tree *answer, struct token_file *file);

#endif
