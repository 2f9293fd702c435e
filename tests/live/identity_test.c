/* identity_test.c: join codes, boxes, the sealed keys of offers, the live secrets, and bytes as text. */
#include "common/tap.h"

#include "live/auth/box.h"
#include "live/auth/join.h"
#include "live/auth/offer_key.h"
#include "pool/protocol/ticket.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NOW INT64_C(1700000000)

static void must(bool good, const char *what)
{
    if (!good) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

/* --------------------------------------------------------------------------------------------------- bytes as text */

static void test_codes(void)
{
    static const struct {
        const char *text, *bytes;
    } rows[] = {{"", ""}, {"Zg", "f"}, {"Zm8", "fo"}, {"Zm9v", "foo"}, {"_-8", "\xff\xef"}};
    static const char *const bad[] = {"Z", "Zh", "Zm9", "Zg==", "Z g", "Zm9v\n", "+_8", "Zm9vY", "Zm9\xdf"};
    unsigned char bytes[2];
    bool good = true;
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < COUNT(rows); i++) {
        buf_reset(&out);
        base64url_print(&out, rows[i].bytes, strlen(rows[i].bytes));
        good = good && strcmp(buf_string(&out), rows[i].text) == 0;
        buf_reset(&out);
        good = good && base64url_read(&out, rows[i].text, strlen(rows[i].text)) &&
               strcmp(buf_string(&out), rows[i].bytes) == 0;
    }
    tap_ok(good, "bytes become base64url and come back");
    buf_reset(&out);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (!tap_ok(!base64url_read(&out, bad[i], strlen(bad[i])) && out.len == 0, "base64url '%s' is refused", bad[i]))
            tap_diag("%zu bytes", out.len);
    tap_ok(hex_read("0aff", 4, bytes, 2) && bytes[0] == 0x0a && bytes[1] == 0xff, "hexadecimal digits are read");
    tap_ok(!hex_read("0aFF", 4, bytes, 2) && !hex_read("0af", 3, bytes, 2) && !hex_read("0a f", 4, bytes, 2) &&
               !hex_read("0x0a", 4, bytes, 2) && !hex_read("0a0a0a", 6, bytes, 2) && !hex_read("", 0, bytes, 2),
           "hexadecimal digits in capitals, too few, too many and none are refused");
    buf_done(&out);
}

/* ------------------------------------------------------------------------------------------------------ join codes */

static const unsigned char ca[JOIN_CA_BYTES] = {1, 2, 3, 250};

static void test_code_text(void)
{
    struct join_code code = {.secret = {9, 8, 7}, .address = "https://pool.example.org:9618"}, back;
    unsigned accepted = 0;
    struct err err = {0};
    struct buf text, again;

    memcpy(code.ca, ca, sizeof ca);
    buf_init(&text);
    buf_init(&again);
    join_code_print(&text, &code);
    tap_ok(strncmp(buf_string(&text), "berth-", 6) == 0 && join_code_read(text.text, text.len, &back, &err) == 0 &&
               memcmp(back.secret, code.secret, sizeof code.secret) == 0 && memcmp(back.ca, ca, sizeof ca) == 0 &&
               strcmp(back.address, code.address) == 0,
           "a join code carries its secret, the CA's fingerprint and the address");
    for (size_t len = 0; len < text.len; len++) {
        char *cut = mem_dup(text.text, len);

        if (join_code_read(cut, len, &back, &err) == 0) {
            buf_reset(&again);
            join_code_print(&again, &back);
            accepted += again.len != len || memcmp(again.text, cut, len) != 0;
        }
        free(cut);
    }
    tap_ok(accepted == 0, "what is read as a join code is printed as the same text");
    memset(code.address, 'a', JOIN_ADDRESS_MAX);
    code.address[JOIN_ADDRESS_MAX] = '\0';
    buf_reset(&text);
    join_code_print(&text, &code);
    tap_ok(join_code_read(text.text, text.len, &back, &err) == 0 && strlen(back.address) == JOIN_ADDRESS_MAX,
           "the longest address fits into a join code");
    buf_adds(&text, "YWFh");
    tap_ok(join_code_read(text.text, text.len, &back, &err) < 0, "an address past the limit is refused: %s", err.text);
    code.address[0] = '\0';
    buf_reset(&text);
    join_code_print(&text, &code);
    tap_ok(join_code_read(text.text, text.len, &back, &err) < 0, "a join code without an address is refused: %s",
           err.text);
    strcpy(code.address, "a b");
    buf_reset(&text);
    join_code_print(&text, &code);
    tap_ok(join_code_read(text.text, text.len, &back, &err) < 0, "a join code with a blank in its address is refused");
    tap_ok(join_code_read("berth-", 6, &back, &err) < 0 && join_code_read("birth-AAAA", 10, &back, &err) < 0 &&
               join_code_read("", 0, &back, &err) < 0 && join_code_read("berth-====", 10, &back, &err) < 0,
           "what is no join code is refused");
    tap_ok(join_code_read("berth-AgAA", 10, &back, &err) < 0 && strstr(err.text, "version"),
           "a join code of another version is named as such");
    join_code_done(&code);
    tap_ok(code.secret[0] == 0 && code.secret[1] == 0, "a join code that is done with is overwritten");
    buf_done(&text);
    buf_done(&again);
}

static void test_redeem(void)
{
    struct join_book *book = join_book_new();
    struct join_code code, second;
    struct join_row row, used, other;
    struct err err = {0};
    unsigned char wrong[JOIN_SECRET_BYTES] = {0};

    must(join_book_make(book, ca, "https://a", NOW, &code, &row, &err) == 0, err.text);
    must(join_book_make(book, ca, "https://a", NOW, &second, &other, &err) == 0, err.text);
    tap_ok(memcmp(code.secret, second.secret, sizeof code.secret) != 0 && row.number != other.number,
           "each join code has a secret of its own");
    tap_ok(join_book_redeem(book, wrong, "k1", 2, NOW, &used) == JOIN_UNKNOWN,
           "a secret that nobody gave out lets nobody in");
    tap_ok(join_book_redeem(book, code.secret, "k1", 0, NOW, &used) == JOIN_UNKNOWN, "nobody is let in without a key");
    tap_ok(join_book_redeem(book, code.secret, "k1", 2, NOW + 3599, &used) == JOIN_OK && used.number == row.number &&
               memcmp(used.bytes, row.bytes, sizeof row.bytes) != 0,
           "a join code lets a key in within the hour");
    tap_ok(join_book_redeem(book, code.secret, "k1", 2, NOW + 3599, &used) == JOIN_OK,
           "the same key may ask again, since the answer may have been lost");
    tap_ok(join_book_redeem(book, code.secret, "k2", 2, NOW, &used) == JOIN_USED,
           "another key is refused: the code was used");
    tap_ok(join_book_redeem(book, code.secret, "k1", 2, NOW + 3600, &used) == JOIN_EXPIRED,
           "after an hour nobody is let in any more");
    tap_ok(join_book_redeem(book, second.secret, "k2", 2, NOW, &used) == JOIN_OK,
           "another code is not used up by the first");
    tap_ok(join_book_remove(book, row.number) && !join_book_remove(book, row.number) &&
               join_book_redeem(book, code.secret, "k1", 2, NOW, &used) == JOIN_UNKNOWN,
           "a join code can be taken back");
    tap_ok(join_book_sweep(book, NOW + JOIN_SPAN + JOIN_MEMORY - 1) == 0 && join_book_count(book) == 1 &&
               join_book_sweep(book, NOW + JOIN_SPAN + JOIN_MEMORY) == other.number && join_book_count(book) == 0 &&
               join_book_sweep(book, NOW + JOIN_SPAN + JOIN_MEMORY) == 0,
           "a join code that ended a day ago is forgotten");
    join_book_free(book);
    join_book_free(NULL);
}

static void test_rows(void)
{
    struct join_book *book = join_book_new(), *after = join_book_new();
    struct join_code code, fresh, spare;
    struct join_row first, used, row, saved;
    unsigned char damaged[JOIN_ROW_BYTES];
    struct err err = {0};
    bool full = true, secret_there = false;

    must(join_book_make(book, ca, "https://a", NOW, &code, &first, &err) == 0, err.text);
    must(join_book_make(book, ca, "https://a", NOW, &fresh, &row, &err) == 0, err.text);
    must(join_book_redeem(book, code.secret, "k1", 2, NOW, &used) == JOIN_OK, "redeem");
    must(join_book_load(after, used.bytes, sizeof used.bytes, &err) == 0, err.text);
    must(join_book_load(after, row.bytes, sizeof row.bytes, &err) == 0, err.text);
    tap_ok(join_book_redeem(after, code.secret, "k2", 2, NOW, &saved) == JOIN_USED &&
               join_book_redeem(after, code.secret, "k1", 2, NOW, &saved) == JOIN_OK &&
               join_book_redeem(after, fresh.secret, "k2", 2, NOW, &saved) == JOIN_OK,
           "after a restart a used code is still used, by the same key, and a fresh one is fresh");
    tap_ok(join_book_save(after, used.number, &saved) && memcmp(saved.bytes, used.bytes, sizeof used.bytes) == 0 &&
               !join_book_save(after, 12345, &saved),
           "a row that is loaded is saved as the same bytes");
    for (size_t i = 0; i + JOIN_SECRET_BYTES <= sizeof row.bytes; i++)
        secret_there = secret_there || memcmp(row.bytes + i, fresh.secret, JOIN_SECRET_BYTES) == 0;
    tap_ok(!secret_there, "the secret is not in the row that is kept");
    tap_ok(join_book_load(after, used.bytes, sizeof used.bytes, &err) < 0, "a row that is there twice is refused");
    tap_ok(join_book_load(after, used.bytes, sizeof used.bytes - 1, &err) < 0, "a row that was cut is refused");
    memcpy(damaged, first.bytes, sizeof damaged);
    damaged[0] = 7;
    tap_ok(join_book_load(after, damaged, sizeof damaged, &err) < 0, "a row of another version is refused");
    memcpy(damaged, first.bytes, sizeof damaged);
    memset(damaged + 10, 0xff, 8);
    tap_ok(join_book_load(after, damaged, sizeof damaged, &err) < 0, "a row that never ends is refused");
    while (join_book_count(book) < JOIN_CODES_MAX)
        full = full && join_book_make(book, ca, "https://a", NOW, &spare, &row, &err) == 0;
    tap_ok(full && join_book_make(book, ca, "https://a", NOW, &spare, &row, &err) < 0, "a book has a limit: %s",
           err.text);
    tap_ok(join_book_redeem(book, fresh.secret, "k", 1, NOW, &row) == JOIN_OK, "a full book still lets people in");
    tap_ok(join_book_make(after, ca, "", NOW, &spare, &row, &err) < 0 &&
               join_book_make(after, ca, "a\nb", NOW, &spare, &row, &err) < 0,
           "no code is made for an address that it cannot hold");
    join_book_free(book);
    join_book_free(after);
}

/* ----------------------------------------------------------------------------------------------------------- boxes */

static void test_boxes(void)
{
    static const char words[] = "the key of an offer";
    struct box_public nobody = {{0}};
    struct box_keys alice, bob, eve, again;
    struct buf box, second, open;
    struct err err = {0};
    unsigned opened = 0;

    box_keys_draw(&alice);
    box_keys_draw(&bob);
    box_keys_draw(&eve);
    box_keys_from_secret(alice.secret, &again);
    tap_ok(memcmp(&again, &alice, sizeof again) == 0, "a box key is made again from its secret half");
    buf_init(&box);
    buf_init(&second);
    buf_init(&open);
    must(box_seal(&box, &alice, &bob.open, words, sizeof words, &err) == 0, err.text);
    must(box_seal(&second, &alice, &bob.open, words, sizeof words, &err) == 0, err.text);
    tap_ok(box.len == sizeof words + BOX_EXTRA_BYTES &&
               box_open(&open, &bob, &alice.open, box.text, box.len, &err) == 0 && open.len == sizeof words &&
               memcmp(open.text, words, sizeof words) == 0,
           "what is sealed to somebody is opened by them");
    tap_ok(memcmp(box.text, second.text, box.len) != 0, "the same words are never sealed to the same box");
    buf_reset(&open);
    tap_ok(box_open(&open, &eve, &alice.open, box.text, box.len, &err) < 0 && open.len == 0, "nobody else opens it");
    tap_ok(box_open(&open, &bob, &eve.open, box.text, box.len, &err) < 0, "it does not pass for another's: %s",
           err.text);
    for (size_t i = 0; i < box.len; i++) {
        box.text[i] ^= 1;
        opened += box_open(&open, &bob, &alice.open, box.text, box.len, &err) == 0;
        box.text[i] ^= 1;
        opened += box_open(&open, &bob, &alice.open, box.text, i, &err) == 0;
    }
    tap_ok(opened == 0 && open.len == 0, "a box that was changed or cut anywhere is not opened");
    buf_reset(&box);
    tap_ok(box_seal(&box, &alice, &bob.open, NULL, 0, &err) == 0 &&
               box_open(&open, &bob, &alice.open, box.text, box.len, &err) == 0 && open.len == 0,
           "an empty box is a box");
    buf_reset(&box);
    tap_ok(box_seal(&box, &alice, &nobody, words, sizeof words, &err) < 0 && box.len == 0,
           "nothing is sealed to a key that is none");
    tap_ok(box_seal(&box, &alice, &bob.open, words, (size_t)BOX_BYTES_MAX + 1, &err) < 0, "a box has a limit: %s",
           err.text);
    box_keys_done(&alice);
    memset(&again, 0, sizeof again);
    tap_ok(memcmp(&alice, &again, sizeof again) == 0, "a box key that is done with is overwritten");
    buf_done(&box);
    buf_done(&second);
    buf_done(&open);
}

/* ------------------------------------------------------------------------------------------------ keys of offers */

/* Bytes sealed and written as a sealed key is, whatever they are. */
static void seal_text(struct buf *out, const struct box_public *theirs, const void *bytes, size_t len)
{
    struct err err;
    struct buf box;

    buf_init(&box);
    must(box_seal_unnamed(&box, theirs, bytes, len, &err) == 0, "a box");
    buf_reset(out);
    base64url_print(out, box.text, box.len);
    buf_done(&box);
}

static void test_offer_keys(void)
{
    static const struct box_public nobody = {{0}};
    static const struct key none = {{0}};
    struct box_keys matchmaker, another;
    unsigned char inside[64] = {0};
    struct key key, back = none;
    struct err err = {0};
    unsigned opened = 0;
    struct buf text;

    box_keys_draw(&matchmaker);
    box_keys_draw(&another);
    memset(key.bytes, 0x5a, sizeof key.bytes);
    buf_init(&text);
    must(offer_key_seal(&text, &matchmaker.open, 7, 8, &key, &err) == 0, err.text);
    tap_ok(text.len == OFFER_KEY_TEXT, "a sealed key has %d characters", OFFER_KEY_TEXT);
    tap_ok(offer_key_open(&matchmaker, 7, 9, text.text, text.len, &back) == OFFER_KEY_ANOTHERS &&
               offer_key_open(&matchmaker, 6, 8, text.text, text.len, &back) == OFFER_KEY_ANOTHERS &&
               offer_key_open(&matchmaker, 8, 7, text.text, text.len, &back) == OFFER_KEY_ANOTHERS,
           "the sealed key of an offer is of no use for another offer, nor to another agent");
    tap_ok(offer_key_open(&another, 7, 8, text.text, text.len, &back) == OFFER_KEY_CLOSED, "nor to another matchmaker");
    for (size_t i = 0; i < text.len; i++) {
        text.text[i] ^= 1;
        opened += offer_key_open(&matchmaker, 7, 8, text.text, text.len, &back) == OFFER_KEY_OK;
        text.text[i] ^= 1;
        opened += offer_key_open(&matchmaker, 7, 8, text.text, i, &back) == OFFER_KEY_OK;
    }
    tap_ok(opened == 0, "one that was changed or cut anywhere is not opened");
    tap_ok(memcmp(&back, &none, sizeof none) == 0, "what is refused tells no key");
    tap_ok(offer_key_open(&matchmaker, 7, 8, text.text, text.len, &back) == OFFER_KEY_OK &&
               memcmp(&back, &key, sizeof key) == 0,
           "a key that is sealed to the matchmaker is opened by it");
    seal_text(&text, &matchmaker.open, inside, sizeof inside);
    tap_ok(offer_key_open(&matchmaker, 0, 0, text.text, text.len, &back) == OFFER_KEY_CLOSED,
           "something else that was sealed to the matchmaker is no key");
    seal_text(&text, &matchmaker.open, inside, sizeof inside - 1);
    tap_ok(offer_key_open(&matchmaker, 0, 0, text.text, text.len, &back) == OFFER_KEY_CLOSED,
           "nor is something shorter");
    buf_reset(&text);
    tap_ok(offer_key_seal(&text, &nobody, 7, 8, &key, &err) < 0 && text.len == 0,
           "no key is sealed to a key that is none");
    buf_done(&text);
}

/* --------------------------------------------------------------------------------------------------------- secrets */

static void test_secrets(void)
{
    /* RFC 4231, cases 1 and 2; HMAC fills shorter keys with zeros, so they are keys of 32 bytes too */
    static const struct {
        const char *key, *data, *digits;
    } rows[] = {
        {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", "Hi There",
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"}};
    char digits[2 * KEY_BYTES + 1];
    struct key a = {{0}}, b = {{0}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct key key = {{0}}, seal;

        memcpy(key.bytes, rows[i].key, strlen(rows[i].key));
        secrets_live.seal(secrets_live.user, &key, rows[i].data, strlen(rows[i].data), &seal);
        hex_print(seal.bytes, KEY_BYTES, digits);
        tap_ok(strcmp(digits, rows[i].digits) == 0, "the seal is HMAC-SHA-256: case %zu of RFC 4231", i + 1);
    }
    secrets_live.draw(secrets_live.user, a.bytes, KEY_BYTES);
    secrets_live.draw(secrets_live.user, b.bytes, KEY_BYTES);
    tap_ok(!key_equal(&a, &b), "two secrets that are drawn differ");
    tap_ok(secrets_word(&secrets_live) != secrets_word(&secrets_live), "two words that are drawn differ");
}

int main(void)
{
    test_codes();
    test_code_text();
    test_redeem();
    test_rows();
    test_boxes();
    test_offer_keys();
    test_secrets();
    return tap_done();
}
