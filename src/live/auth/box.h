/* box.h: bytes for one reader from one writer: X25519, XSalsa20 and Poly1305 by libsodium.
 *
 *     nonce (24 bytes, drawn) | tag (16 bytes) | as many bytes as went in
 *
 * Only the owner of the reader's key can open it, and then knows that it was made with the writer's key, and not
 * changed. It may be an old one sent again: what is inside must say what it is for.
 *
 * A box without a name is libsodium's crypto_box_seal: a key drawn for it (32 bytes), a tag, the bytes. Who wrote it is not told. */
#ifndef BERTH_LIVE_AUTH_BOX_H
#define BERTH_LIVE_AUTH_BOX_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOX_KEY_BYTES 32
#define BOX_EXTRA_BYTES 40       /* by which a box is longer than what is in it */
#define BOX_SEAL_EXTRA_BYTES 48  /* the same of one without a name */
#define BOX_BYTES_MAX (1u << 20) /* that go into one */

struct box_public {
    unsigned char bytes[BOX_KEY_BYTES];
};

struct box_keys {
    unsigned char secret[BOX_KEY_BYTES];
    struct box_public open; /* the public half */
};

void box_keys_draw(struct box_keys *ret);
void box_keys_from_secret(const unsigned char secret[BOX_KEY_BYTES], struct box_keys *ret);
void box_keys_done(struct box_keys *keys); /* overwrites them */

/* Appends a box. -1 when there are too many bytes, or their key is none (of small order). */
int box_seal(struct buf *out, const struct box_keys *mine, const struct box_public *theirs, const void *bytes,
             size_t len, struct err *err);

/* Appends what is in the box; reserve room for `len` first if the buffer is to be wiped afterwards. -1, and nothing appended, when it is not a box
 * from them to us. */
int box_open(struct buf *out, const struct box_keys *mine, const struct box_public *theirs, const void *box, size_t len,
             struct err *err);

/* The same for boxes that anybody could have written. */
int box_seal_unnamed(struct buf *out, const struct box_public *theirs, const void *bytes, size_t len, struct err *err);
int box_open_unnamed(struct buf *out, const struct box_keys *mine, const void *box, size_t len, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
