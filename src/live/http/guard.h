/* guard.h: stands before every handler: would all programs read the head of this request alike?
 *
 *     guard_begin (the request line) -> guard_field, each field in order -> guard_end -> GUARD_OK, or the reason and its status
 *
 * libmicrohttpd (0.9.75) takes the first of two Content-Lengths and runs the rest as a second request, prefers Transfer-Encoding, cuts
 * at a NUL, takes a bare LF for the end of a line and glues a folded line to the name of its field. The guard looks at what the parser
 * made of the head, and demands that it accounts for every byte:
 *
 *     GET /a HTTP/1.1rn Host: hrn X: yrn rn        (r and n: CR and LF; the parser has put NULs in the place of separators)
 *     ^method           ^name ^value   ^ the next name lies just behind the CRLF of the value; the last CRLF ends the head
 *
 * If that fails there was a NUL, a bare LF, a folded line or a blank too many. One thing cannot be detected: NULs at the end of a line
 * that make up for missing CRs ("\0\n" for "\r\n"). Nothing here reads a clock or keeps memory. */
#ifndef BERTH_LIVE_HTTP_GUARD_H
#define BERTH_LIVE_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name, status, and what the client is told. */
#define GUARD_REASONS(X)                                                                       \
    X(OK, 200, "ok")                                                                           \
    X(METHOD, 400, "the method is not a word")                                                 \
    X(VERSION, 400, "the version is neither HTTP/1.1 nor HTTP/1.0")                            \
    X(TARGET_FORM, 400, "the target is not a path that begins with '/'")                       \
    X(TARGET_LONG, 400, "the path is longer than 4096 bytes, or the query than 8192")          \
    X(TARGET_BYTE, 400, "a byte in the target should be escaped")                              \
    X(TARGET_ESCAPE, 400, "a '%' in the target is not followed by two hexadecimal digits")     \
    X(TARGET_NUL, 400, "there is a %00 in the target")                                         \
    X(TARGET_CONTROL, 400, "there is an escaped control character in the path")                \
    X(TARGET_DOTS, 400, "there is a '..' segment in the path")                                 \
    X(FRAME, 400, "the head holds a NUL, a bare line feed, a folded line or a blank too many") \
    X(FIELD_NAME, 400, "the name of a field is not a word")                                    \
    X(FIELD_VALUE, 400, "there is a control character in the value of a field")                \
    X(FIELDS_MANY, 400, "there are too many fields")                                           \
    X(FIELDS_LONG, 400, "the fields are too long")                                             \
    X(LENGTH_TWICE, 400, "there is more than one Content-Length")                              \
    X(LENGTH_BAD, 400, "the Content-Length is not a number of bytes")                          \
    X(TRANSFER, 400, "Transfer-Encoding is not taken: send a Content-Length")                  \
    X(HOST_TWICE, 400, "there is more than one Host")                                          \
    X(HOST_NONE, 400, "there is no Host")                                                      \
    X(HOST_BAD, 400, "the Host is not a name or an address")                                   \
    X(EXPECT, 400, "nothing but 100-continue can be expected")

enum guard_reason {
#define X(id, status, words) GUARD_##id,
    GUARD_REASONS(X)
#undef X
        GUARD_REASON_COUNT
};

unsigned guard_status(enum guard_reason reason);
const char *guard_words(enum guard_reason reason); /* static */

#define GUARD_PATH_MAX 4096
#define GUARD_QUERY_MAX 8192

struct guard_limits {
    uint32_t fields, field_bytes; /* name, value and four more bytes count for each */
};

struct guard {
    struct guard_limits limits;
    enum guard_reason reason; /* the first fault that was found */
    const char *head;         /* where the head begins */
    const char *next;         /* where the next line has to begin */
    uint32_t fields, bytes, hosts, lengths;
    bool is_1_1;
    uint64_t length; /* of the body, as declared; 0 when not declared */
};

/* `method` and `version` are as they lie in the head, NUL-terminated. The target is raw: path and query, before anything was decoded; it
 * may be a copy. */
void guard_begin(struct guard *guard, const struct guard_limits *limits, const char *method, const char *target,
                 size_t target_len, const char *version);
/* Returns false when there is no point in going on. Both texts are as they lie in the head. */
bool guard_field(struct guard *guard, const char *name, size_t name_len, const char *value, size_t value_len);
/* `head_len`: bytes from the method to the end of the empty line. */
enum guard_reason guard_end(struct guard *guard, size_t head_len);

/* The byte that the escape (%XX) at `at` stands for; -1 when it is not an escape. */
int guard_escape(const char *at, const char *end);

/* Decodes %XX of a text that passed the guard; in a query '+' is a blank. Writes at most `len` bytes, returns how many; no NUL is
 * added. `out` may be `raw`. A '%' that does not begin an escape stays as it is. */
size_t guard_decode(const char *raw, size_t len, bool is_query, char *out);

#ifdef __cplusplus
}
#endif
#endif
