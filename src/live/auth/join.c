/* join.c: one-time codes with which another machine joins a pool. */
#include "live/auth/join.h"

#include "lang/base/array.h"
#include "sys/encoding.h"

#include <sodium.h>
#include <stdlib.h>

#define PREFIX "berth-"
#define PREFIX_BYTES (sizeof PREFIX - 1)
#define CODE_VERSION 1
#define CODE_FIXED (1 + JOIN_SECRET_BYTES + JOIN_CA_BYTES)
#define ROW_VERSION 1
#define HASH_BYTES 32

_Static_assert(PREFIX_BYTES + (CODE_FIXED + JOIN_ADDRESS_MAX + 2) / 3 * 4 <= JOIN_TEXT_MAX, "the longest code");
_Static_assert(JOIN_ROW_BYTES == 2 + 8 + 8 + 2 * HASH_BYTES, "a row");

/* ---- codes ---- */

void join_code_done(struct join_code *code)
{
    if (code)
        sodium_memzero(code, sizeof *code);
}

static bool address_valid(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return len > 0 && len <= JOIN_ADDRESS_MAX;
}

void join_code_print(struct buf *out, const struct join_code *code)
{
    unsigned char bytes[CODE_FIXED + JOIN_ADDRESS_MAX], *at = bytes;
    size_t len = strlen(code->address);

    *at++ = CODE_VERSION;
    memcpy(at, code->secret, JOIN_SECRET_BYTES);
    at += JOIN_SECRET_BYTES;
    memcpy(at, code->ca, JOIN_CA_BYTES);
    at += JOIN_CA_BYTES;
    memcpy(at, code->address, len);
    buf_adds(out, PREFIX);
    base64url_print(out, bytes, CODE_FIXED + len);
    sodium_memzero(bytes, sizeof bytes);
}

static int code_set(const struct buf *bytes, struct join_code *ret, struct err *err)
{
    const char *at = bytes->text;
    size_t len = bytes->len - (bytes->len < CODE_FIXED ? bytes->len : CODE_FIXED);

    if (bytes->len && at[0] != CODE_VERSION)
        return err_set(err, "the join code is of another version");
    if (!address_valid(at + CODE_FIXED, len))
        return err_set(err, "the join code is incomplete or damaged");
    memcpy(ret->secret, ++at, JOIN_SECRET_BYTES);
    memcpy(ret->ca, at += JOIN_SECRET_BYTES, JOIN_CA_BYTES);
    memcpy(ret->address, at + JOIN_CA_BYTES, len);
    ret->address[len] = '\0';
    return 0;
}

int join_code_read(const char *text, size_t len, struct join_code *ret, struct err *err)
{
    struct buf bytes;
    int result;

    if (len < PREFIX_BYTES || memcmp(text, PREFIX, PREFIX_BYTES) != 0)
        return err_set(err, "a join code begins with " PREFIX);
    if (len > JOIN_TEXT_MAX)
        return err_set(err, "the join code is too long");
    buf_init(&bytes);
    buf_reserve(&bytes, len + 8); /* so that it does not move */
    if (base64url_read(&bytes, text + PREFIX_BYTES, len - PREFIX_BYTES))
        result = code_set(&bytes, ret, err);
    else
        result = err_set(err, "the join code is damaged: it was mistyped or cut");
    buf_wipe(&bytes);
    return result;
}

/* ---- the book ---- */

struct entry {
    uint64_t number;
    int64_t ends;
    bool used;
    unsigned char secret[HASH_BYTES]; /* the hash of it */
    unsigned char key[HASH_BYTES];    /* of the key that used it; 0 before */
};

struct join_book {
    struct entry *entries;
    uint32_t count, room;
};

struct join_book *join_book_new(void)
{
    struct join_book *book = mem_alloc(sizeof *book);

    *book = (struct join_book){0};
    return book;
}

void join_book_free(struct join_book *book)
{
    if (!book)
        return;
    free(book->entries);
    free(book);
}

uint32_t join_book_count(const struct join_book *book)
{
    return book->count;
}

static struct entry *entry_find(const struct join_book *book, uint64_t number)
{
    for (uint32_t i = 0; i < book->count; i++)
        if (book->entries[i].number == number)
            return &book->entries[i];
    return NULL;
}

static void entry_add(struct join_book *book, const struct entry *entry)
{
    ARRAY_ROOM(book->entries, book->count, book->room, 8);
    book->entries[book->count++] = *entry;
}

/* Makes a hash whose key is its purpose, so that a hash of one kind is never one of another. */
static void hash_make(const char *purpose, const void *bytes, size_t len, unsigned char ret[HASH_BYTES])
{
    crypto_generichash(ret, HASH_BYTES, bytes, len, (const unsigned char *)purpose, strlen(purpose));
}

#define PURPOSE_SECRET "berth join code: secret"
#define PURPOSE_KEY "berth join code: key"

/* ---- rows ---- */

static unsigned char *put_word(unsigned char *at, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        *at++ = (unsigned char)(word >> (8 * i));
    return at;
}

static uint64_t get_word(const unsigned char *at)
{
    uint64_t word = 0;

    for (int i = 7; i >= 0; i--)
        word = word << 8 | at[i];
    return word;
}

static void row_make(const struct entry *entry, struct join_row *ret)
{
    unsigned char *at = ret->bytes;

    ret->number = entry->number;
    *at++ = ROW_VERSION;
    *at++ = entry->used;
    at = put_word(at, entry->number);
    at = put_word(at, (uint64_t)entry->ends);
    memcpy(at, entry->secret, HASH_BYTES);
    memcpy(at + HASH_BYTES, entry->key, HASH_BYTES);
}

int join_book_load(struct join_book *book, const void *bytes, size_t len, struct err *err)
{
    const unsigned char *at = bytes;
    struct entry entry;
    uint64_t ends;

    if (len != JOIN_ROW_BYTES || at[0] != ROW_VERSION || at[1] > 1)
        return err_set(err, "not the row of a join code");
    entry.used = at[1];
    entry.number = get_word(at + 2);
    ends = get_word(at + 10);
    if (entry.number == 0 || ends > INT64_MAX / 2)
        return err_set(err, "the row of a join code is damaged");
    entry.ends = (int64_t)ends;
    memcpy(entry.secret, at + 18, HASH_BYTES);
    memcpy(entry.key, at + 18 + HASH_BYTES, HASH_BYTES);
    if (entry_find(book, entry.number))
        return err_set(err, "a join code is there twice");
    if (book->count >= JOIN_CODES_MAX)
        return err_set(err, "more than %d join codes", JOIN_CODES_MAX);
    entry_add(book, &entry);
    return 0;
}

bool join_book_save(const struct join_book *book, uint64_t number, struct join_row *ret_row)
{
    const struct entry *entry = entry_find(book, number);

    if (entry)
        row_make(entry, ret_row);
    return entry;
}

/* ---- making, using, forgetting ---- */

int join_book_make(struct join_book *book, const unsigned char ca[JOIN_CA_BYTES], const char *address, int64_t now,
                   struct join_code *ret_code, struct join_row *ret_row, struct err *err)
{
    struct entry entry = {.ends = now + JOIN_SPAN};

    if (!address_valid(address, strlen(address)))
        return err_set(err, "the address must be from 1 to %d printable characters without blanks", JOIN_ADDRESS_MAX);
    if (book->count >= JOIN_CODES_MAX)
        return err_set(err, "there are %d join codes already: take some back, or wait until they end", JOIN_CODES_MAX);
    if (sodium_init() < 0)
        abort();
    do
        randombytes_buf(&entry.number, sizeof entry.number);
    while (entry.number == 0 || entry_find(book, entry.number));
    randombytes_buf(ret_code->secret, JOIN_SECRET_BYTES);
    memcpy(ret_code->ca, ca, JOIN_CA_BYTES);
    memcpy(ret_code->address, address, strlen(address) + 1);
    hash_make(PURPOSE_SECRET, ret_code->secret, JOIN_SECRET_BYTES, entry.secret);
    entry_add(book, &entry);
    row_make(&entry, ret_row);
    return 0;
}

static const char *const result_words[] = {
#define X(id, words) [JOIN_##id] = (words),
    JOIN_RESULTS(X)
#undef X
};

const char *join_result_words(enum join_result result)
{
    return result_words[result];
}

enum join_result join_book_redeem(struct join_book *book, const unsigned char secret[JOIN_SECRET_BYTES],
                                  const void *key, size_t key_len, int64_t now, struct join_row *ret_row)
{
    unsigned char secret_hash[HASH_BYTES], key_hash[HASH_BYTES];
    struct entry *entry = NULL;

    if (key_len == 0 || key_len > JOIN_KEY_MAX)
        return JOIN_UNKNOWN;
    hash_make(PURPOSE_SECRET, secret, JOIN_SECRET_BYTES, secret_hash);
    hash_make(PURPOSE_KEY, key, key_len, key_hash);
    for (uint32_t i = 0; i < book->count; i++)
        if (sodium_memcmp(book->entries[i].secret, secret_hash, HASH_BYTES) == 0)
            entry = &book->entries[i];
    if (!entry)
        return JOIN_UNKNOWN;
    if (now >= entry->ends)
        return JOIN_EXPIRED;
    if (entry->used && sodium_memcmp(entry->key, key_hash, HASH_BYTES) != 0)
        return JOIN_USED;
    entry->used = true;
    memcpy(entry->key, key_hash, HASH_BYTES);
    row_make(entry, ret_row);
    return JOIN_OK;
}

bool join_book_remove(struct join_book *book, uint64_t number)
{
    struct entry *entry = entry_find(book, number);

    if (!entry)
        return false;
    *entry = book->entries[--book->count];
    return true;
}

uint64_t join_book_sweep(struct join_book *book, int64_t now)
{
    for (uint32_t i = 0; i < book->count; i++) {
        uint64_t number = book->entries[i].number;

        if (now - JOIN_MEMORY >= book->entries[i].ends) {
            join_book_remove(book, number);
            return number;
        }
    }
    return 0;
}
