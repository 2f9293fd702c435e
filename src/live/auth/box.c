/* box.c: bytes for one reader from one writer. */
#include "live/auth/box.h"

#include <sodium.h>
#include <stdlib.h>

_Static_assert(BOX_KEY_BYTES == crypto_box_PUBLICKEYBYTES && BOX_KEY_BYTES == crypto_box_SECRETKEYBYTES, "X25519");
_Static_assert(BOX_EXTRA_BYTES == crypto_box_NONCEBYTES + crypto_box_MACBYTES, "nonce and tag");
_Static_assert(BOX_SEAL_EXTRA_BYTES == crypto_box_SEALBYTES, "key and tag");

void box_keys_draw(struct box_keys *ret)
{
    if (sodium_init() < 0)
        abort();
    crypto_box_keypair(ret->open.bytes, ret->secret);
}

void box_keys_from_secret(const unsigned char secret[BOX_KEY_BYTES], struct box_keys *ret)
{
    memcpy(ret->secret, secret, BOX_KEY_BYTES);
    crypto_scalarmult_base(ret->open.bytes, ret->secret);
}

void box_keys_done(struct box_keys *keys)
{
    if (keys)
        sodium_memzero(keys, sizeof *keys);
}

int box_seal(struct buf *out, const struct box_keys *mine, const struct box_public *theirs, const void *bytes,
             size_t len, struct err *err)
{
    unsigned char *nonce, *box;

    if (len > BOX_BYTES_MAX)
        return err_set(err, "too long for a box: the limit is %u bytes", BOX_BYTES_MAX);
    if (sodium_init() < 0)
        abort();
    nonce = (unsigned char *)buf_reserve(out, BOX_EXTRA_BYTES + len);
    box = nonce + crypto_box_NONCEBYTES;
    randombytes_buf(nonce, crypto_box_NONCEBYTES);
    if (crypto_box_easy(box, len ? bytes : (const void *)"", len, nonce, theirs->bytes, mine->secret) != 0)
        return err_set(err, "the reader's key is not a key");
    out->len += BOX_EXTRA_BYTES + len;
    return 0;
}

int box_open(struct buf *out, const struct box_keys *mine, const struct box_public *theirs, const void *box, size_t len,
             struct err *err)
{
    const unsigned char *nonce = box;
    unsigned char *into;

    if (len < BOX_EXTRA_BYTES || len > BOX_EXTRA_BYTES + BOX_BYTES_MAX)
        return err_set(err, "no box is %zu bytes long", len);
    into = (unsigned char *)buf_reserve(out, len - BOX_EXTRA_BYTES + 1);
    if (crypto_box_open_easy(into, nonce + crypto_box_NONCEBYTES, len - crypto_box_NONCEBYTES, nonce, theirs->bytes,
                             mine->secret) != 0)
        return err_set(err, "the box is not from this writer to us, or was changed");
    out->len += len - BOX_EXTRA_BYTES;
    return 0;
}

int box_seal_unnamed(struct buf *out, const struct box_public *theirs, const void *bytes, size_t len, struct err *err)
{
    unsigned char *box;

    if (len > BOX_BYTES_MAX)
        return err_set(err, "too long for a box: the limit is %u bytes", BOX_BYTES_MAX);
    if (sodium_init() < 0)
        abort();
    box = (unsigned char *)buf_reserve(out, BOX_SEAL_EXTRA_BYTES + len);
    if (crypto_box_seal(box, len ? bytes : (const void *)"", len, theirs->bytes) != 0)
        return err_set(err, "the reader's key is not a key");
    out->len += BOX_SEAL_EXTRA_BYTES + len;
    return 0;
}

int box_open_unnamed(struct buf *out, const struct box_keys *mine, const void *box, size_t len, struct err *err)
{
    unsigned char *into;

    if (len < BOX_SEAL_EXTRA_BYTES || len > BOX_SEAL_EXTRA_BYTES + BOX_BYTES_MAX)
        return err_set(err, "no box is %zu bytes long", len);
    into = (unsigned char *)buf_reserve(out, len - BOX_SEAL_EXTRA_BYTES + 1);
    if (crypto_box_seal_open(into, box, len, mine->open.bytes, mine->secret) != 0)
        return err_set(err, "the box is not for us, or was changed");
    out->len += len - BOX_SEAL_EXTRA_BYTES;
    return 0;
}
