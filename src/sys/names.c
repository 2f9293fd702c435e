/* names.c: what agents and ads are called, and the numbers that roles know them by. */
#include "sys/names.h"

#include "lang/base/textmap.h"
#include "sys/encoding.h"

#include <sodium.h>
#include <string.h>

#define HANDLE_PURPOSE "berth agent"

uint64_t agent_handle(const char *identity, const char *name)
{
    crypto_generichash_state state;
    unsigned char hash[crypto_generichash_BYTES];
    uint64_t handle = 0;

    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)HANDLE_PURPOSE, sizeof HANDLE_PURPOSE); /* with its NUL */
    crypto_generichash_update(&state, (const unsigned char *)identity, strlen(identity) + 1);
    crypto_generichash_update(&state, (const unsigned char *)name, strlen(name));
    crypto_generichash_final(&state, hash, sizeof hash);
    for (int i = 0; i < 8; i++)
        handle = handle << 8 | hash[i];
    return handle ? handle : 1;
}

bool agent_name_is_good(const char *name, size_t len)
{
    if (!len || len > AGENT_NAME_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._-", c)))
            return false;
    }
    return true;
}

uint64_t id_number(const char *text, size_t len)
{
    unsigned char bytes[8];
    uint64_t number = 0;

    if (!hex_read(text, len, bytes, sizeof bytes))
        return text_hash(0, text, len);
    for (int i = 0; i < 8; i++)
        number = number << 8 | bytes[i];
    return number;
}
