/* offer_key.c: the key of an offer, sealed to the matchmaker. */
#include "live/auth/offer_key.h"

#include "sys/encoding.h"

#include <sodium.h>

#define NAME "berth offer key"
#define NAME_BYTES 16
#define INSIDE_BYTES (NAME_BYTES + 8 + 8 + KEY_BYTES)

_Static_assert(sizeof NAME == NAME_BYTES, "the name fills its place");
_Static_assert(OFFER_KEY_TEXT == ((INSIDE_BYTES + BOX_SEAL_EXTRA_BYTES) * 4 + 2) / 3, "base64 without padding");

static void word_put(unsigned char *out, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(word >> (8 * i));
}

/* Writes what stands before the key: what it is, and whose. */
static void head_put(unsigned char *out, agent who, uint64_t offer)
{
    memcpy(out, NAME, NAME_BYTES);
    word_put(out + NAME_BYTES, who);
    word_put(out + NAME_BYTES + 8, offer);
}

int offer_key_seal(struct buf *out, const struct box_public *matchmaker, agent who, uint64_t offer,
                   const struct key *key, struct err *err)
{
    unsigned char inside[INSIDE_BYTES];
    struct buf box;
    int failed;

    head_put(inside, who, offer);
    memcpy(inside + INSIDE_BYTES - KEY_BYTES, key->bytes, KEY_BYTES);
    buf_init(&box);
    failed = box_seal_unnamed(&box, matchmaker, inside, sizeof inside, err);
    if (!failed)
        base64url_print(out, box.text, box.len);
    sodium_memzero(inside, sizeof inside);
    buf_done(&box);
    return failed;
}

enum offer_key_result offer_key_open(const struct box_keys *mine, agent who, uint64_t offer, const char *text,
                                     size_t len, struct key *ret)
{
    unsigned char head[INSIDE_BYTES - KEY_BYTES];
    enum offer_key_result result = OFFER_KEY_CLOSED;
    struct buf box, inside;
    struct err err;

    buf_init(&box);
    buf_init(&inside);
    if (len == OFFER_KEY_TEXT && base64url_read(&box, text, len) &&
        box_open_unnamed(&inside, mine, box.text, box.len, &err) == 0 && !memcmp(inside.text, NAME, NAME_BYTES)) {
        head_put(head, who, offer);
        result = memcmp(inside.text, head, sizeof head) != 0 ? OFFER_KEY_ANOTHERS : OFFER_KEY_OK;
        if (result == OFFER_KEY_OK)
            memcpy(ret->bytes, inside.text + sizeof head, KEY_BYTES);
    }
    buf_wipe(&inside);
    buf_done(&box);
    return result;
}

const char *offer_key_words(enum offer_key_result result)
{
    static const char *const words[] = {
        "ok",
        "it does not open: expected a key that was sealed to this matchmaker's BoxKey",
        "it was sealed for another agent or another ad",
    };

    return words[result];
}
