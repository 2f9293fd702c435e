/* row.c: what a row may be, and its checksum. */
#include "store/store_parts.h"

#include "lang/base/rng.h"

#define TEXT_OF(x) #x
#define NUMBER(x) TEXT_OF(x)

static uint64_t word_load(const unsigned char *bytes, size_t len)
{
    uint64_t word = 0;

    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* Adds data to a checksum. Each word goes through a mapping that can be undone, so two texts of one length that differ in one word never get the
 * same sum. */
static uint64_t sum_add(uint64_t sum, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    size_t i = 0;

    sum = rng_mix(sum ^ len);
    for (; i + 8 <= len; i += 8)
        sum = rng_mix(sum ^ word_load(bytes + i, 8));
    return i < len ? rng_mix(sum ^ word_load(bytes + i, len - i)) : sum;
}

uint64_t row_sum(const char *space, size_t space_len, const void *key, size_t key_len, const void *value, size_t len)
{
    return sum_add(sum_add(sum_add(0, space, space_len), key, key_len), value, len);
}

const char *row_space_wrong(const char *space, size_t len)
{
    if (len == 0 || len > SHELF_SPACE_MAX)
        return "a space's name has 1 to " NUMBER(SHELF_SPACE_MAX) " bytes";
    for (size_t i = 0; i < len; i++)
        if (space[i] <= ' ' || space[i] > '~')
            return "a space's name is of visible ASCII characters";
    return NULL;
}

const char *row_key_wrong(size_t len)
{
    return len == 0 || len > SHELF_KEY_MAX ? "a key has 1 to " NUMBER(SHELF_KEY_MAX) " bytes" : NULL;
}

const char *row_value_wrong(size_t len)
{
    return len > SHELF_VALUE_MAX ? "a value has at most 32 MiB" : NULL;
}

const char *row_wrong(const char *space, size_t key_len, size_t len)
{
    const char *wrong = row_space_wrong(space, strnlen(space, SHELF_SPACE_MAX + 1));

    if (!wrong)
        wrong = row_key_wrong(key_len);
    return wrong ? wrong : row_value_wrong(len);
}

void row_print(struct buf *out, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = ((const unsigned char *)bytes)[i];

        if (c > ' ' && c <= '~' && c != '\\')
            buf_addc(out, (char)c);
        else
            buf_addf(out, "\\x%02x", c);
    }
}
