/* image_stream.h: the bytes of a file of an image, one after another, unpacked if they are packed by gzip or zstd.
 *
 * How a file is packed is told by its first bytes. Unpacking takes at most IMAGE_WINDOW_LOG bits of window, whatever the file asks for; how many bytes
 * come out is for the caller to bound. */
#ifndef BERTH_EXEC_IMAGE_STREAM_H
#define BERTH_EXEC_IMAGE_STREAM_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_WINDOW_LOG 27 /* of zstd: 128 MiB, as much as its own program takes without being told */

struct image_stream;

/* Is what begins at `at` packed? */
bool image_is_packed(int fd, int64_t at);
/* The bytes from `at` to `end` of the file. `own`: the descriptor is closed with the stream, or at once when none can be made (NULL and `err`). */
struct image_stream *image_stream_new(int fd, bool own, int64_t at, int64_t end, struct err *err);
ssize_t image_stream_read(void *stream, void *bytes, size_t len, struct err *err); /* a tar_read_fn */
/* The next byte that is read is that one. Only where it is not packed, and nobody wants a sum. */
void image_stream_skip(struct image_stream *stream, int64_t to);
/* Reads what is left, and compares the sum ("sha256:DIGITS") of the file as it lies there, and of its bytes unpacked; NULL: that may be any. Frees the
 * stream. `bytes_max`: that may be left, unpacked. */
int image_stream_end(struct image_stream *stream, const char *digest, const char *unpacked, int64_t bytes_max,
                     struct err *err);

/* Compares such a sum with the digits of another. */
int image_digest_compare(const char *wanted, const char *digits, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
