/* image_archive.h: the tar file or folder that an image comes in: which files it has, and their bytes.
 *
 * No link in a folder is followed. A tar file that was packed as a whole (gzip or zstd) is unpacked into a nameless file first, within the same bounds as the image. */
#ifndef BERTH_EXEC_IMAGE_ARCHIVE_H
#define BERTH_EXEC_IMAGE_ARCHIVE_H

#include "exec/image_stream.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARCHIVE_FILES_MAX 4096
#define ARCHIVE_TEXT_MAX (4 << 20) /* bytes of a file that is read as a whole */

struct archive;

/* Opens the archive in a file, or a folder, whose descriptor is lent. `bytes_max`: of it, unpacked. */
struct archive *archive_open(int fd, int64_t bytes_max, struct err *err);
void archive_free(struct archive *archive); /* takes NULL */

bool archive_has(const struct archive *archive, const char *name);
/* Reads a file as a whole, with a NUL behind it. `digest`: "sha256:DIGITS", which it must have; NULL: any. The caller frees it; NULL and `err`. */
char *archive_text(const struct archive *archive, const char *name, const char *digest, size_t *ret_len,
                   struct err *err);

/* The bytes of a file, one after another; NULL and `err`. */
struct image_stream *archive_stream(const struct archive *archive, const char *name, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
