/* token_renewal.c: the proof by which whoever holds a token's own key asks for the same token anew. */
#include "live/auth/token_renewal.h"

#include "live/auth/paseto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PURPOSE "berth token renewal "

static struct span implicit_of(char ret[sizeof PURPOSE + TOKEN_ID_DIGITS], const char *id)
{
    int len = snprintf(ret, sizeof PURPOSE + TOKEN_ID_DIGITS, PURPOSE "%s", id);

    return (struct span){ret, (size_t)len};
}

bool token_renewal_due(const struct grant *grant, int64_t now)
{
    return now >= grant->issued + (grant->expires - grant->issued) / 2;
}

int token_renewal_prove(struct buf *out, const struct token_file *file, int64_t now, char ret_id[TOKEN_ID_DIGITS + 1])
{
    char implicit[sizeof PURPOSE + TOKEN_ID_DIGITS], message[32];
    struct grant grant;
    int len;

    if (!file->has_key || token_read(file->token, strlen(file->token), &grant) != TOKEN_OK || grant.links != 1)
        return -1;
    memcpy(ret_id, grant.ids[0], sizeof grant.ids[0]);
    len = snprintf(message, sizeof message, "%" PRId64, now);
    paseto_sign(out, &file->key, (struct span){message, (size_t)len}, (struct span){"", 0},
                implicit_of(implicit, ret_id));
    return 0;
}

bool token_renewal_proved(const struct public_key *key, const char *id, const char *proof, size_t len, int64_t now)
{
    char implicit[sizeof PURPOSE + TOKEN_ID_DIGITS], digits[24] = "";
    struct paseto paseto;
    struct buf bytes;
    bool good;

    if (len > RENEWAL_PROOF_MAX || strlen(id) != TOKEN_ID_DIGITS)
        return false;
    buf_init(&bytes);
    good = paseto_read((struct span){proof, len}, &bytes, &paseto) == TOKEN_OK &&
           paseto_verify(&paseto, key, implicit_of(implicit, id)) && paseto.message.len &&
           paseto.message.len < sizeof digits;
    if (good) {
        int64_t at;

        memcpy(digits, paseto.message.text, paseto.message.len);
        at = strtoll(digits, NULL, 10);
        good =
            strspn(digits, "0123456789") == paseto.message.len && at <= now + RENEWAL_SKEW && at >= now - RENEWAL_SKEW;
    }
    buf_done(&bytes);
    return good;
}
