/* account.c: what an identity counts for. */
#include "pool/protocol/account.h"

#include "pool/protocol/mutants.h"

#include <string.h>

size_t account_len(const char *identity, size_t len)
{
    static const char machine[] = "machine/";
    const char *mark = memchr(identity, '~', len), *name = mark ? mark + 1 : identity, *end = identity + len, *cut;

    if ((size_t)(end - name) > sizeof machine - 1 && !memcmp(name, machine, sizeof machine - 1))
        name += sizeof machine - 1;
    cut = memchr(name, '/', (size_t)(end - name));
    return !cut || cut == name || MUTANT(DELEGATE_APART) ? len : (size_t)(cut - identity);
}

bool account_same(const char *identity, const char *other)
{
    size_t len = account_len(identity, strlen(identity));

    return len == account_len(other, strlen(other)) && !memcmp(identity, other, len);
}

bool identity_is_of(const char *identity, size_t len, const char *user)
{
    size_t user_len = strlen(user), at = 0;

    do {
        const char *slash;

        if (len - at >= user_len && !memcmp(identity + at, user, user_len) &&
            (at + user_len == len || identity[at + user_len] == '/'))
            return true;
        slash = memchr(identity + at, '/', len - at);
        at = slash && strchr(user, ':') ? (size_t)(slash - identity) + 1 : len;
    } while (at < len);
    return false;
}
