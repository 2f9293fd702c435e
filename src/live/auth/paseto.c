/* paseto.c: v4.public: encoding before authentication, signing, verifying. */
#include "live/auth/paseto.h"

#include "sys/encoding.h"

#include <sodium.h>

#define HEADER "v4.public."
#define HEADER_BYTES (sizeof HEADER - 1)

static const struct span paseto_header = {HEADER, HEADER_BYTES};

static void add_number(struct buf *out, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        buf_addc(out, (char)(unsigned char)(number >> (8 * i)));
}

/* Encodes the four pieces, each behind its length, behind their count. */
static void encode(struct buf *out, struct span message, struct span footer, struct span implicit)
{
    const struct span pieces[] = {paseto_header, message, footer, implicit};
    const size_t count = sizeof pieces / sizeof *pieces;

    add_number(out, count);
    for (size_t i = 0; i < count; i++) {
        add_number(out, pieces[i].len);
        buf_add(out, pieces[i].text, pieces[i].len);
    }
}

void paseto_sign(struct buf *out, const struct signing_key *key, struct span message, struct span footer,
                 struct span implicit)
{
    unsigned char signature[PASETO_SIGNATURE_BYTES];
    struct buf text;

    buf_init(&text);
    encode(&text, message, footer, implicit);
    crypto_sign_detached(signature, NULL, (const unsigned char *)text.text, text.len, key->secret);
    buf_reset(&text);
    buf_add(&text, message.text, message.len);
    buf_add(&text, (const char *)signature, sizeof signature);
    buf_adds(out, HEADER);
    base64url_print(out, text.text, text.len);
    if (footer.len) {
        buf_addc(out, '.');
        base64url_print(out, footer.text, footer.len);
    }
    buf_done(&text);
}

/* Does the text begin as some PASETO does: "v", digits, ".", "local" or "public", "."? */
static bool is_paseto(struct span text)
{
    static const char *const purposes[] = {".local.", ".public."};
    size_t at = 1;

    if (text.len < 2 || text.text[0] != 'v')
        return false;
    while (at < text.len && at < 4 && text.text[at] >= '0' && text.text[at] <= '9')
        at++;
    for (int i = 0; at > 1 && i < 2; i++) {
        size_t len = strlen(purposes[i]);

        if (text.len - at >= len && memcmp(text.text + at, purposes[i], len) == 0)
            return true;
    }
    return false;
}

enum token_fault paseto_read(struct span text, struct buf *bytes, struct paseto *ret)
{
    const char *body, *end = text.text + text.len, *dot;
    size_t message;

    if (text.len < HEADER_BYTES || memcmp(text.text, HEADER, HEADER_BYTES) != 0)
        return is_paseto(text) ? TOKEN_VERSION : TOKEN_MALFORMED;
    body = text.text + HEADER_BYTES;
    dot = memchr(body, '.', (size_t)(end - body));
    if (dot && dot + 1 == end)
        return TOKEN_MALFORMED; /* no footer is spelt without its dot */
    buf_reset(bytes);
    buf_reserve(bytes, text.len + 8); /* so that the pointers hold */
    if (!base64url_read(bytes, body, (size_t)((dot ? dot : end) - body)) || bytes->len < PASETO_SIGNATURE_BYTES)
        return TOKEN_MALFORMED;
    message = bytes->len - PASETO_SIGNATURE_BYTES;
    ret->message = (struct span){bytes->text, message};
    ret->signature = (const unsigned char *)bytes->text + message;
    ret->footer = (struct span){bytes->text + bytes->len, 0};
    if (dot && !base64url_read(bytes, dot + 1, (size_t)(end - dot - 1)))
        return TOKEN_MALFORMED;
    ret->footer.len = (size_t)(bytes->text + bytes->len - ret->footer.text);
    return TOKEN_OK;
}

bool paseto_verify(const struct paseto *paseto, const struct public_key *key, struct span implicit)
{
    struct buf text;
    bool good;

    buf_init(&text);
    encode(&text, paseto->message, paseto->footer, implicit);
    good = crypto_sign_verify_detached(paseto->signature, (const unsigned char *)text.text, text.len, key->bytes) == 0;
    buf_done(&text);
    return good;
}
