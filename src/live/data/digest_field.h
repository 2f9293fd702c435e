/* digest_field.h: what a server says of the SHA-256 of a file, in a field of its answer.
 *
 *     Repr-Digest: sha-256=:RBNv...=:, sha-512=:...:     RFC 9530
 *     Digest: SHA-256=RBNv...=                           RFC 3230, of older servers */
#ifndef BERTH_LIVE_DATA_DIGEST_FIELD_H
#define BERTH_LIVE_DATA_DIGEST_FIELD_H

#include "live/data/file_entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a field, as a line: is it one of those, with a SHA-256? Then `ret` is that, as catalogues have it. */
bool digest_field_read(const char *line, size_t len, char ret[FILE_HASH_LEN + 1]);

#ifdef __cplusplus
}
#endif
#endif
