/* encoding.c: bytes as text, by libsodium's readers, which take their time whatever they read. */
#include "sys/encoding.h"

#include <sodium.h>
#include <stdlib.h>

void hex_print(const void *bytes, size_t len, char *ret_text)
{
    sodium_bin2hex(ret_text, 2 * len + 1, bytes, len);
}

bool hex_read(const char *text, size_t len, void *ret_bytes, size_t room)
{
    unsigned upper = 0;
    size_t got = 0;

    if (len != 2 * room)
        return false;
    for (size_t i = 0; i < len; i++)
        upper |= (unsigned)(text[i] >= 'A' && text[i] <= 'F');
    return !upper && sodium_hex2bin(ret_bytes, room, text, len, NULL, &got, NULL) == 0 && got == room;
}

static void base64_add(struct buf *out, const void *bytes, size_t len, int variant)
{
    size_t room = sodium_base64_encoded_len(len, variant); /* a NUL is counted */

    sodium_bin2base64(buf_reserve(out, room), room, bytes, len, variant);
    out->len += strlen(out->text + out->len);
}

void base64url_print(struct buf *out, const void *bytes, size_t len)
{
    base64_add(out, bytes, len, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

void base64_print(struct buf *out, const void *bytes, size_t len)
{
    base64_add(out, bytes, len, sodium_base64_VARIANT_ORIGINAL);
}

/* Is every byte a letter of the alphabet? libsodium 1.0.18 takes the byte 0xdf for '_', so it is not trusted with this. */
static bool is_base64url(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return true;
}

bool base64url_read(struct buf *out, const char *text, size_t len)
{
    size_t room = len / 4 * 3 + 3, got = 0;
    unsigned char *at = (unsigned char *)buf_reserve(out, room);

    if (!is_base64url(text, len))
        return false;
    if (sodium_base642bin(at, room, text, len, NULL, &got, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return false;
    out->len += got;
    return true;
}

void buf_wipe(struct buf *buf)
{
    if (buf->text)
        sodium_memzero(buf->text, buf->room);
    buf_done(buf);
}

void text_wipe(char *text)
{
    if (text)
        sodium_memzero(text, strlen(text));
    free(text);
}
