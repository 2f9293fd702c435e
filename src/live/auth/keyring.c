/* keyring.c: the keys of a pool, in a folder of their own. */
#include "live/auth/keyring.h"

#include "live/auth/token_parts.h"
#include "sys/encoding.h"
#include "sys/private_file.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define FILE_BYTES_MAX (64u << 10)
#define SEED_DIGITS (2 * SIGNING_SEED_BYTES)

/* Lies in memory that is never written to a swap file, as far as the limits allow, and is overwritten when it is given
 * back. */
struct keyring {
    int dir;
    bool has_previous;
    uint64_t generation; /* how often the keys were rotated */
    char pool[TOKEN_ID_DIGITS + 1];
    struct signing_key next, current, previous;
    struct box_keys box;
    struct cert_pair ca;
    unsigned char ca_fingerprint[CERT_HASH_BYTES];
};

/* ---- the file `keys` ---- */

/* As text, while it is read or written. */
struct keys_text {
    char *pool, *next, *current, *previous, *box, *ca_cert, *ca_key, *generation;
};

#define KEYS_FIELDS(t)                                                                                      \
    {                                                                                                       \
        {"Pool", true, &(t)->pool}, {"Next", true, &(t)->next}, {"Current", true, &(t)->current},           \
            {"Previous", false, &(t)->previous}, {"Box", true, &(t)->box}, {"CaCert", true, &(t)->ca_cert}, \
            {"CaKey", true, &(t)->ca_key}, {"Generation", false, &(t)->generation},                         \
    }
#define KEYS_FIELD_COUNT 8

static void keys_text_done(struct keys_text *text)
{
    const struct private_field fields[KEYS_FIELD_COUNT] = KEYS_FIELDS(text);

    for (size_t i = 0; i < KEYS_FIELD_COUNT; i++)
        text_wipe(*fields[i].value);
}

static bool seed_read(const char *digits, struct signing_key *ret)
{
    unsigned char seed[SIGNING_SEED_BYTES];
    bool good = hex_read(digits, strlen(digits), seed, sizeof seed);

    if (good)
        signing_key_from_seed(seed, ret);
    sodium_memzero(seed, sizeof seed);
    return good;
}

static bool box_read(const char *digits, struct box_keys *ret)
{
    unsigned char secret[BOX_KEY_BYTES];
    bool good = hex_read(digits, strlen(digits), secret, sizeof secret);

    if (good)
        box_keys_from_secret(secret, ret);
    sodium_memzero(secret, sizeof secret);
    return good;
}

/* Takes the texts of the CA out of `text`. */
static int keys_set(struct keyring *ring, struct keys_text *text, struct err *err)
{
    if (!token_id_valid(text->pool, strlen(text->pool)) || !seed_read(text->next, &ring->next) ||
        !seed_read(text->current, &ring->current) || (text->previous && !seed_read(text->previous, &ring->previous)) ||
        !box_read(text->box, &ring->box))
        return err_set(err, "a key is damaged: restore the file");
    memcpy(ring->pool, text->pool, sizeof ring->pool);
    ring->has_previous = text->previous;
    ring->generation = text->generation ? strtoull(text->generation, NULL, 10) : 0;
    ring->ca = (struct cert_pair){.cert = text->ca_cert, .key = text->ca_key};
    text->ca_cert = text->ca_key = NULL;
    if (!cert_pair_valid(&ring->ca))
        return err_set(err, "the CA is damaged: restore the file");
    return cert_fingerprint(ring->ca.cert, ring->ca_fingerprint, err);
}

static int keys_parse(struct keyring *ring, const struct buf *file, struct err *err)
{
    struct keys_text text;
    const struct private_field fields[KEYS_FIELD_COUNT] = KEYS_FIELDS(&text);
    int result = private_ad_read(file->text, file->len, fields, KEYS_FIELD_COUNT, err);

    if (result < 0)
        return -1;
    result = keys_set(ring, &text, err);
    keys_text_done(&text);
    return result;
}

/* Appends the file's text to an empty buffer, which the caller wipes. */
static void keys_print(struct buf *out, const struct keyring *ring)
{
    char next[SEED_DIGITS + 1], current[SEED_DIGITS + 1], previous[SEED_DIGITS + 1], box[2 * BOX_KEY_BYTES + 1],
        generation[24], pool[TOKEN_ID_DIGITS + 1];
    struct keys_text text = {.pool = pool,
                             .next = next,
                             .current = current,
                             .previous = ring->has_previous ? previous : NULL,
                             .box = box,
                             .ca_cert = ring->ca.cert,
                             .ca_key = ring->ca.key,
                             .generation = ring->generation ? generation : NULL};
    const struct private_field fields[KEYS_FIELD_COUNT] = KEYS_FIELDS(&text);

    memcpy(pool, ring->pool, sizeof pool);
    snprintf(generation, sizeof generation, "%llu", (unsigned long long)ring->generation);
    /* a secret key of libsodium's begins with its seed */
    hex_print(ring->next.secret, SIGNING_SEED_BYTES, next);
    hex_print(ring->current.secret, SIGNING_SEED_BYTES, current);
    hex_print(ring->previous.secret, SIGNING_SEED_BYTES, previous);
    hex_print(ring->box.secret, BOX_KEY_BYTES, box);
    private_ad_print(out, fields, KEYS_FIELD_COUNT);
    sodium_memzero(next, sizeof next);
    sodium_memzero(current, sizeof current);
    sodium_memzero(previous, sizeof previous);
    sodium_memzero(box, sizeof box);
}

static int keys_write(struct keyring *ring, struct err *err)
{
    struct buf out;
    int result;

    buf_init(&out);
    keys_print(&out, ring);
    result = private_write(ring->dir, "keys", out.text, out.len, err);
    buf_wipe(&out);
    return result;
}

/* ---- opening ---- */

static int keys_make(struct keyring *ring, int64_t now, struct err *err)
{
    char name[64];

    signing_key_draw(&ring->current);
    signing_key_draw(&ring->next);
    box_keys_draw(&ring->box);
    pool_id_of(&ring->current.open, ring->pool);
    snprintf(name, sizeof name, "Berth pool %s", ring->pool);
    if (cert_make_ca(name, now, &ring->ca, err) < 0 || cert_fingerprint(ring->ca.cert, ring->ca_fingerprint, err) < 0)
        return -1;
    return keys_write(ring, err);
}

/* Writes the CA's certificate for other programs, where the file is missing or says something else. */
static int ca_file(struct keyring *ring, bool first, struct err *err)
{
    size_t len = strlen(ring->ca.cert);
    struct buf text;
    int got;
    bool same;

    buf_init(&text);
    got = first ? 0 : private_read(ring->dir, "ca.pem", FILE_BYTES_MAX, &text, err);
    same = got > 0 && text.len == len && memcmp(text.text, ring->ca.cert, len) == 0;
    buf_done(&text);
    if (got < 0)
        return -1;
    return same ? 0 : private_write(ring->dir, "ca.pem", ring->ca.cert, len, err);
}

static int ring_load(struct keyring *ring, int64_t now, struct err *err)
{
    struct buf text;
    int got;

    buf_init(&text);
    got = private_read(ring->dir, "keys", FILE_BYTES_MAX, &text, err);
    if (got > 0 && keys_parse(ring, &text, err) < 0)
        got = err_context(err, "keys");
    buf_wipe(&text);
    if (got < 0)
        return -1;
    if (got == 0) {
        if (faccessat(ring->dir, "ca.pem", F_OK, 0) == 0)
            return err_set(err, "the file `keys` is gone: restore it, or empty the folder for a new pool");
        if (keys_make(ring, now, err) < 0)
            return -1;
    }
    return ca_file(ring, got == 0, err);
}

struct keyring *keyring_open(const char *dir, int64_t now, struct err *err)
{
    struct keyring *ring;
    int fd;

    if (sodium_init() < 0)
        abort();
    if ((fd = private_dir_open(dir, err)) < 0)
        return NULL;
    if (!(ring = sodium_malloc(sizeof *ring)))
        abort();
    memset(ring, 0, sizeof *ring);
    ring->dir = fd;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        err_set(err, "%s: another program uses these keys", dir);
        keyring_free(ring);
        return NULL;
    }
    private_dir_sweep(fd);
    if (ring_load(ring, now, err) < 0) {
        err_context(err, "%s", dir);
        keyring_free(ring);
        return NULL;
    }
    return ring;
}

void keyring_free(struct keyring *ring)
{
    if (!ring)
        return;
    cert_pair_done(&ring->ca);
    if (ring->dir >= 0)
        close(ring->dir); /* unlocks */
    sodium_free(ring);
}

/* ---- signing keys ---- */

const char *keyring_pool(const struct keyring *ring)
{
    return ring->pool;
}

const struct signing_key *keyring_current(const struct keyring *ring)
{
    return &ring->current;
}

const struct box_keys *keyring_box(const struct keyring *ring)
{
    return &ring->box;
}

void keyring_token_keys(const struct keyring *ring, struct token_keys *ret)
{
    const struct signing_key *keys[TOKEN_KEYS_MAX] = {&ring->current, &ring->next, &ring->previous};

    *ret = (struct token_keys){.count = ring->has_previous ? 3 : 2};
    memcpy(ret->issuer, ring->pool, sizeof ret->issuer);
    for (uint32_t i = 0; i < ret->count; i++) {
        memcpy(ret->keys[i].id, keys[i]->id, sizeof ret->keys[i].id);
        ret->keys[i].open = keys[i]->open;
    }
}

static void ring_turn(struct keyring *ring, const struct signing_key *next)
{
    ring->previous = ring->current;
    ring->current = ring->next;
    ring->next = *next;
    ring->has_previous = true;
    ring->generation++;
}

int keyring_rotate(struct keyring *ring, struct err *err)
{
    struct keyring *old = sodium_malloc(sizeof *old);
    struct signing_key next;
    int result;

    if (!old)
        abort();
    *old = *ring;
    signing_key_draw(&next);
    ring_turn(ring, &next);
    signing_key_done(&next);
    result = keys_write(ring, err);
    if (result < 0)
        *ring = *old;
    sodium_free(old);
    return result;
}

/* ---- several matchmakers ---- */

static const char purpose[] = "berth pool keys\n";
#define PURPOSE_LEN (sizeof purpose - 1)

int keyring_seal(const struct keyring *ring, const struct box_public *reader, struct buf *out, struct err *err)
{
    struct buf text, all;
    int result;

    buf_init(&text);
    buf_init(&all);
    keys_print(&text, ring);
    buf_reserve(&all, PURPOSE_LEN + text.len + 8); /* so that it does not move */
    buf_add(&all, purpose, PURPOSE_LEN);
    buf_add(&all, text.text, text.len);
    result = reader ? box_seal_unnamed(out, reader, all.text, all.len, err)
                    : box_seal(out, &ring->box, &ring->box.open, all.text, all.len, err);
    buf_wipe(&text);
    buf_wipe(&all);
    return result;
}

/* Opens what was sealed, and appends the text of a file. */
/* `writer`: who must have sealed it; NULL: anybody. */
static int keys_open(struct buf *out, const struct box_keys *mine, const struct box_public *writer, const void *box,
                     size_t len, struct err *err)
{
    struct buf all;
    int result;

    buf_init(&all);
    buf_reserve(&all, len + 8);
    buf_reserve(out, len + 8);
    result = writer ? box_open(&all, mine, writer, box, len, err) : box_open_unnamed(&all, mine, box, len, err);
    if (result == 0 && (all.len < PURPOSE_LEN || memcmp(all.text, purpose, PURPOSE_LEN) != 0))
        result = err_set(err, "what was sealed are no keys of a pool");
    if (result == 0)
        buf_add(out, all.text + PURPOSE_LEN, all.len - PURPOSE_LEN);
    buf_wipe(&all);
    return result;
}

static struct keyring *ring_new(void)
{
    struct keyring *ring = sodium_malloc(sizeof *ring);

    if (!ring)
        abort();
    memset(ring, 0, sizeof *ring);
    ring->dir = -1;
    return ring;
}

int keyring_take(struct keyring *ring, const void *box, size_t len, struct err *err)
{
    struct keyring *other = ring_new();
    struct buf text;
    int result;

    buf_init(&text);
    result = keys_open(&text, &ring->box, &ring->box.open, box, len, err);
    if (result == 0)
        result = keys_parse(other, &text, err);
    if (result == 0 && strcmp(other->pool, ring->pool) != 0)
        result = err_set(err, "they are those of the pool %s, and ours of %s", other->pool, ring->pool);
    if (result == 0 && other->generation < ring->generation) {
        result = KEYRING_OLDER;
    } else if (result == 0) {
        other->dir = ring->dir;
        result = keys_write(other, err) < 0 ? -1 : KEYRING_TAKEN;
        if (result == KEYRING_TAKEN) {
            struct cert_pair ca = ring->ca;

            *ring = *other;
            other->ca = ca;
        }
        other->dir = -1;
    }
    buf_wipe(&text);
    keyring_free(other);
    return result;
}

int keyring_adopt(const char *dir, const struct box_keys *mine, const void *box, size_t len, struct err *err)
{
    struct keyring *ring;
    struct buf text;
    int result, fd;

    if ((fd = private_dir_open(dir, err)) < 0)
        return -1;
    if (faccessat(fd, "keys", F_OK, 0) == 0 || faccessat(fd, "ca.pem", F_OK, 0) == 0) {
        close(fd);
        return err_set(err, "%s: there are keys of a pool already", dir);
    }
    ring = ring_new();
    ring->dir = fd;
    buf_init(&text);
    result = keys_open(&text, mine, NULL, box, len, err);
    if (result == 0)
        result = keys_parse(ring, &text, err);
    if (result == 0)
        result = keys_write(ring, err);
    buf_wipe(&text);
    keyring_free(ring);
    return result;
}

/* ---- certificates ---- */

const char *keyring_ca_pem(const struct keyring *ring)
{
    return ring->ca.cert;
}

void keyring_ca_fingerprint(const struct keyring *ring, unsigned char ret[CERT_HASH_BYTES])
{
    memcpy(ret, ring->ca_fingerprint, CERT_HASH_BYTES);
}

#define SERVER_FIELDS(pair)                                         \
    {                                                               \
        {"Cert", true, &(pair)->cert}, {"Key", true, &(pair)->key}, \
    }
#define SERVER_FIELD_COUNT 2

/* Reads the certificate that is there. 1: read; 0: there is none that can be read; -1: the file itself is not as it must be. */
static int server_read(const struct keyring *ring, struct cert_pair *ret, struct err *err)
{
    struct cert_pair pair = {0};
    const struct private_field fields[SERVER_FIELD_COUNT] = SERVER_FIELDS(&pair);
    struct buf text;
    int got;

    buf_init(&text);
    got = private_read(ring->dir, "server", FILE_BYTES_MAX, &text, err);
    if (got > 0 && private_ad_read(text.text, text.len, fields, SERVER_FIELD_COUNT, NULL) < 0)
        got = 0;
    buf_wipe(&text);
    if (got > 0)
        *ret = pair;
    return got;
}

static int server_make(const struct keyring *ring, const char *const *names, size_t name_count, int64_t now,
                       struct cert_pair *ret, struct err *err)
{
    struct cert_pair pair = {0};
    const struct private_field fields[SERVER_FIELD_COUNT] = SERVER_FIELDS(&pair);
    char *open = NULL;
    struct buf text;
    int result;

    if (cert_make_key(&pair.key, &open, err) < 0)
        return -1;
    result = cert_issue(&ring->ca,
                        &(struct cert_request){.public_key = open,
                                               .common_name = "Berth matchmaker",
                                               .names = names,
                                               .name_count = name_count,
                                               .now = now,
                                               .span = CERT_SPAN},
                        &pair.cert, err);
    if (result == 0) {
        buf_init(&text);
        private_ad_print(&text, fields, SERVER_FIELD_COUNT);
        result = private_write(ring->dir, "server", text.text, text.len, err);
        buf_wipe(&text);
    }
    free(open);
    if (result < 0)
        cert_pair_done(&pair);
    else
        *ret = pair;
    return result;
}

int keyring_certificate(struct keyring *ring, const char *const *names, size_t name_count, int64_t now,
                        struct cert_pair *ret, struct err *err)
{
    struct cert_pair pair = {0};
    int got;

    if (name_count == 0)
        return err_set(err, "a server's certificate needs a name");
    if ((got = server_read(ring, &pair, err)) < 0)
        return -1;
    if (got > 0 && cert_pair_valid(&pair) && cert_serves(pair.cert, ring->ca.cert, names, name_count, now)) {
        *ret = pair;
        return 0;
    }
    cert_pair_done(&pair);
    return server_make(ring, names, name_count, now, ret, err);
}
