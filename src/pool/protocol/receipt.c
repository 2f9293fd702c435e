/* receipt.c: what a matchmaker gives both sides of a match, so that it knows its own work again. */
#include "pool/protocol/receipt.h"

#include "pool/protocol/ticket.h"
#include "pool/protocol/wire_fields.h"

#include <string.h>

#define PURPOSE_BYTES 16

/* The rest of the array is NULs, as with the purposes of tickets. */
static const char purpose[PURPOSE_BYTES] = "berth receipt";

static const struct field receipt_fields[] = {RECEIPT_FIELDS(FIELD_ROW, receipt)};
static const struct layout receipt_layout = {"receipt", receipt_fields, sizeof receipt_fields / sizeof *receipt_fields,
                                             sizeof(struct receipt)};

/* Numbers are eight bytes, the lowest first; texts fill all their bytes with NULs. */
static void receipt_seal(const struct role_env *env, const struct key *key, const struct receipt *receipt,
                         struct key *ret)
{
    const uint64_t words[] = {receipt->claim, receipt->gang, receipt->agent, receipt->offer, (uint64_t)receipt->weight};
    unsigned char data[PURPOSE_BYTES + sizeof words + 2 * (TEXT_MAX + 1)] = {0}, *at = data;

    memcpy(at, purpose, PURPOSE_BYTES);
    at += PURPOSE_BYTES;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int byte = 0; byte < 8; byte++)
            *at++ = (unsigned char)(words[i] >> (8 * byte));
    memcpy(at, receipt->account.bytes, strnlen(receipt->account.bytes, TEXT_MAX));
    at += TEXT_MAX + 1;
    memcpy(at, receipt->limits.bytes, strnlen(receipt->limits.bytes, TEXT_MAX));
    env->secrets->seal(env->secrets->user, key, data, sizeof data, ret);
}

struct tree *receipt_make(const struct role_env *env, const struct key *key, const struct receipt *receipt)
{
    struct receipt sealed = *receipt;
    struct build build;
    struct tree *ad;

    receipt_seal(env, key, receipt, &sealed.seal);
    build_init(&build, env->symbols, &dialect_classic);
    wire_push_ad(&build, wire_push_fields(&build, &receipt_layout, &sealed));
    ad = build_seal(&build);
    build_done(&build);
    return ad;
}

static bool receipt_parse(const struct tree *ad, struct receipt *ret)
{
    struct wire_source source = {.tree = ad};
    struct err err;

    *ret = (struct receipt){0};
    if (!ad || !tree_is_ad(ad))
        return false;
    source.ad = tree_root(ad);
    return wire_read_fields(&source, &receipt_layout, ret, &err) == 0 && wire_read_end(&source, &err) == 0;
}

bool receipt_is_for(const struct tree *ad, uint64_t claim)
{
    struct receipt receipt;

    return receipt_parse(ad, &receipt) && receipt.claim == claim;
}

bool receipt_read(const struct role_env *env, const struct key *key, const struct tree *ad, struct receipt *ret)
{
    struct receipt receipt;
    struct key seal;

    if (!receipt_parse(ad, &receipt))
        return false;
    receipt_seal(env, key, &receipt, &seal);
    if (!key_equal(&seal, &receipt.seal))
        return false;
    *ret = receipt;
    return true;
}
