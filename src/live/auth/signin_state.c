/* signin_state.c: sign-ins under way, sealed for the browser (XSalsa20 and Poly1305, a key that lasts as long as the process). */
#include "live/auth/signin_state.h"

#include "sys/encoding.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define SEALED_BYTES (crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + sizeof(struct signin_state))

_Static_assert(SIGNIN_KEY_BYTES == crypto_secretbox_KEYBYTES, "the key is one of the box");
_Static_assert(SEALED_BYTES * 4 / 3 + 3 < SIGNIN_SEALED_MAX, "what is sealed fits into a cookie");

void signin_key_draw(unsigned char ret[SIGNIN_KEY_BYTES])
{
    randombytes_buf(ret, SIGNIN_KEY_BYTES);
}

void signin_issuer(const char *url, const char *client, unsigned char ret[16])
{
    crypto_generichash_state hash;

    crypto_generichash_init(&hash, NULL, 0, 16);
    crypto_generichash_update(&hash, (const unsigned char *)url, strlen(url) + 1);
    crypto_generichash_update(&hash, (const unsigned char *)client, strlen(client));
    crypto_generichash_final(&hash, ret, 16);
}

static void word_draw(char ret[SIGNIN_WORD + 1])
{
    unsigned char bytes[32];
    struct buf text;

    randombytes_buf(bytes, sizeof bytes);
    buf_init(&text);
    base64url_print(&text, bytes, sizeof bytes);
    snprintf(ret, SIGNIN_WORD + 1, "%s", buf_string(&text));
    buf_wipe(&text);
    buf_done(&text);
    sodium_memzero(bytes, sizeof bytes);
}

void signin_state_draw(const unsigned char issuer[16], int64_t now, struct signin_state *ret)
{
    memset(ret, 0, sizeof *ret); /* the room between the members is sealed too */
    ret->ends = now + SIGNIN_SPAN;
    word_draw(ret->state);
    word_draw(ret->nonce);
    word_draw(ret->verifier);
    memcpy(ret->issuer, issuer, sizeof ret->issuer);
}

void signin_challenge(struct buf *out, const struct signin_state *state)
{
    unsigned char hash[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(hash, (const unsigned char *)state->verifier, strlen(state->verifier));
    base64url_print(out, hash, sizeof hash);
}

void signin_state_seal(struct buf *out, const struct signin_state *state, const unsigned char key[SIGNIN_KEY_BYTES])
{
    unsigned char sealed[SEALED_BYTES], *nonce = sealed, *box = sealed + crypto_secretbox_NONCEBYTES;

    randombytes_buf(nonce, crypto_secretbox_NONCEBYTES);
    crypto_secretbox_easy(box, (const unsigned char *)state, sizeof *state, nonce, key);
    base64url_print(out, sealed, sizeof sealed);
}

bool signin_state_open(const char *text, size_t len, const unsigned char key[SIGNIN_KEY_BYTES], int64_t now,
                       struct signin_state *ret)
{
    struct signin_state state;
    struct buf sealed;
    bool good;

    buf_init(&sealed);
    good = len < SIGNIN_SEALED_MAX && base64url_read(&sealed, text, len) && sealed.len == SEALED_BYTES &&
           crypto_secretbox_open_easy(
               (unsigned char *)&state, (const unsigned char *)sealed.text + crypto_secretbox_NONCEBYTES,
               sealed.len - crypto_secretbox_NONCEBYTES, (const unsigned char *)sealed.text, key) == 0 &&
           now < state.ends;
    buf_wipe(&sealed);
    buf_done(&sealed);
    if (good)
        *ret = state;
    return good;
}

bool signin_state_is(const struct signin_state *state, const char *text)
{
    return strlen(text) == SIGNIN_WORD && sodium_memcmp(state->state, text, SIGNIN_WORD) == 0;
}
