/* secrets.c: any bytes as a bundle of secrets: what is given lies within them, and a good bundle can be made again from its parts. */
#include "sys/secret_bundle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool good = secret_bundle_is_good(data, size);
    struct secret secret;
    struct err err = {0};
    struct buf again;
    size_t at = 0;

    buf_init(&again);
    while (secret_bundle_next(data, size, &at, &secret) > 0) {
        if ((const uint8_t *)secret.name < data || (const uint8_t *)secret.bytes + secret.len > data + size ||
            at > size)
            abort();
        if (good && secret_bundle_add(&again, secret.name, secret.name_len, secret.bytes, secret.len, &err) < 0)
            abort();
    }
    if (good && (again.len != size || memcmp(again.text ? again.text : "", data, size) != 0))
        abort();
    secret_wipe(&again);
    return 0;
}
