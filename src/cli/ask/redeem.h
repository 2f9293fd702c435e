/* redeem.h: a code, as `berth token code` prints it, becomes a token: of a machine, of a user's customer, or of a person.
 *
 *     CODE = secret, fingerprint of the CA, address
 *     GET  ADDRESS/v1/keys    whoever answers: its Ca must have that fingerprint
 *     POST ADDRESS/v1/join    checked by that CA: the secret, and a public key of our own -> a token for it */
#ifndef BERTH_CLI_ADMIN_REDEEM_H
#define BERTH_CLI_ADMIN_REDEEM_H

#include "cli/ask/connection.h"
#include "cli/ask/token_ask.h"
#include "live/auth/join.h"

enum redeemed_for { REDEEMED_MACHINE, REDEEMED_CUSTOMER, REDEEMED_PERSON };

struct redeemed {
    enum redeemed_for for_whom;
    struct token_file file; /* with the pool's address */
    char subject[TOKEN_NAME_MAX + 1];
    bool bounded; /* it cannot be renewed: it ends with the token of an institute */
};

/* Reads a code: the word, or from a file (NULL: none), "-" being the standard input. Errors have been reported. */
int redeem_code_read(const char *word, const char *file, struct join_code *ret);

/* Shows the code to its pool. `name` is what the machine is called there, NULL: by its host name. redeemed_done ends it in any case. */
int redeem(const struct join_code *code, const struct config_options *config, const char *name, struct redeemed *ret);
/* Shows a code for a matchmaker, which gets the keys of its pool: they are put into the folder `keys`, which must not be there. The texts are the
 * caller's to free: where the pool's rows are, and under which name. */
struct standby_place {
    char *store, *name;
};
int redeem_standby(const struct join_code *code, const struct config_options *config, const char *keys,
                   struct standby_place *ret);
void redeemed_done(struct redeemed *redeemed);

#endif
