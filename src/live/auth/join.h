/* join.h: one-time codes with which another machine joins a pool.
 *
 *     berth-AZ8c...      "berth-" and base64url of: version (1 byte), secret (16), SHA-256 of the pool's CA certificate (32), address
 *
 * Whoever has the code knows where the pool is, can tell it from an impostor by the CA's fingerprint, and is let in by
 * the secret: once, within an hour. The first key that uses a code owns it: the same key may ask again (the answer may
 * have been lost), another one is refused.
 *
 * The pool's side is a book. It holds a hash of each secret, never the secret. Its rows are kept by the caller:
 *
 *     row = version (1) | used (1) | number (8, lowest first) | ends (8, lowest first) | hash of the secret (32) | hash of the key (32) */
#ifndef BERTH_LIVE_AUTH_JOIN_H
#define BERTH_LIVE_AUTH_JOIN_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JOIN_SECRET_BYTES 16
#define JOIN_CA_BYTES 32
#define JOIN_ADDRESS_MAX 200
#define JOIN_TEXT_MAX 340   /* bytes of a code's text */
#define JOIN_SPAN 3600      /* seconds that a code is good */
#define JOIN_MEMORY 86400   /* seconds after which a code that has ended is forgotten */
#define JOIN_CODES_MAX 1024 /* in one book */
#define JOIN_KEY_MAX 1024   /* bytes of the public key that redeems one */
#define JOIN_ROW_BYTES 82

struct join_code {
    unsigned char secret[JOIN_SECRET_BYTES];
    unsigned char ca[JOIN_CA_BYTES];
    char address[JOIN_ADDRESS_MAX + 1]; /* printable ASCII without blanks, not empty */
};

void join_code_done(struct join_code *code); /* overwrites it */

/* Appends the text. */
void join_code_print(struct buf *out, const struct join_code *code);

/* Reads a code, strictly: what is accepted is printed as the same text again. */
int join_code_read(const char *text, size_t len, struct join_code *ret, struct err *err);

/* ---- the pool's side ---- */

struct join_book;

struct join_row {
    uint64_t number; /* the row's key; never 0 */
    unsigned char bytes[JOIN_ROW_BYTES];
};

struct join_book *join_book_new(void);
void join_book_free(struct join_book *book);
uint32_t join_book_count(const struct join_book *book);

/* Makes a new code, and its row, which is to be kept before the code is shown. -1 when the book is full, or a code cannot hold the address. */
int join_book_make(struct join_book *book, const unsigned char ca[JOIN_CA_BYTES], const char *address, int64_t now,
                   struct join_code *ret_code, struct join_row *ret_row, struct err *err);

#define JOIN_RESULTS(X)                \
    X(OK, "ok")                        \
    X(UNKNOWN, "no such code")         \
    X(EXPIRED, "the code has expired") \
    X(USED, "the code was used by another")

enum join_result {
#define X(id, words) JOIN_##id,
    JOIN_RESULTS(X)
#undef X
};

const char *join_result_words(enum join_result result);

/* Somebody with that public key (the bytes it is named by) shows a secret. With JOIN_OK, `*ret_row` is to be kept
 * before they are let in. All codes are compared, each in constant time. A key that is empty or longer than
 * JOIN_KEY_MAX is JOIN_UNKNOWN. */
enum join_result join_book_redeem(struct join_book *book, const unsigned char secret[JOIN_SECRET_BYTES],
                                  const void *key, size_t key_len, int64_t now, struct join_row *ret_row);

/* Loads a row that was kept. -1 when the bytes are not a row, its number is there already, or the book is full. */
int join_book_load(struct join_book *book, const void *bytes, size_t len, struct err *err);

/* The row of that number as it is now; false when there is none. */
bool join_book_save(const struct join_book *book, uint64_t number, struct join_row *ret_row);

/* Takes a code back. False when there is none of that number. */
bool join_book_remove(struct join_book *book, uint64_t number);

/* Forgets one code that ended more than JOIN_MEMORY ago and returns the number of its row, to be removed; 0 when there
 * is none. Call until 0. */
uint64_t join_book_sweep(struct join_book *book, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
