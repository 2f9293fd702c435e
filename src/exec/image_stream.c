/* image_stream.c: the bytes of a file of an image, unpacked if they are packed. */
#include "exec/image_stream.h"

#include "lang/base/library.h"
#include "lang/base/mem.h"
#include "lang/base/sonames.h"
#include "sys/sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PIECE 65536
#define DIGEST "sha256:"
#define NOT_WHOLE "what is packed in the image is not whole"

/* What unpacks, loaded when something is packed so: the functions of zlib, and those of zstd without the ZSTD_ in front. */
#define ZLIB_FUNCTIONS(X) X(inflate) X(inflateEnd) X(inflateInit2_) X(inflateReset)
#define ZSTD_FUNCTIONS(X) \
    X(DCtx_setParameter)  \
    X(createDStream)      \
    X(decompressStream)   \
    X(freeDStream)        \
    X(getErrorCode)       \
    X(initDStream)        \
    X(isError)

static struct zlib {
#define X(name) __typeof__(name) *name;
    ZLIB_FUNCTIONS(X)
#undef X
} zlib_functions;
static struct zstd {
#define X(name) __typeof__(ZSTD_##name) *name;
    ZSTD_FUNCTIONS(X)
#undef X
} zstd_functions;
static const char *const zlib_names[] = {
#define X(name) #name,
    ZLIB_FUNCTIONS(X)
#undef X
};
static const char *const zstd_names[] = {
#define X(name) "ZSTD_" #name,
    ZSTD_FUNCTIONS(X)
#undef X
};
static struct library zlib_library = LIBRARY(SONAME_Z, "images are unpacked by zlib", zlib_names, zlib_functions);
static struct library zstd_library = LIBRARY(SONAME_ZSTD, "images are unpacked by zstd", zstd_names, zstd_functions);

static const struct zlib *zlib(void)
{
    return library_need(&zlib_library);
}

static const struct zstd *zstd(void)
{
    return library_need(&zstd_library);
}

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };

struct image_stream {
    int fd;
    bool own, done;
    enum packing packing;
    int64_t at, end; /* in the file */
    z_stream gzip;
    ZSTD_DStream *zstd;
    ZSTD_inBuffer in;  /* what zstd has not read of the piece */
    bool inside_frame; /* zstd: more must come */
    struct sha256 *sum, *unpacked;
    unsigned char piece[PIECE];
};

static enum packing packing_of(int fd, int64_t at)
{
    unsigned char first[4] = {0};

    if (pread(fd, first, sizeof first, at) != (ssize_t)sizeof first)
        return PACKED_NOT;
    if (first[0] == 0x1f && first[1] == 0x8b)
        return PACKED_GZIP;
    /* a frame, or one to be skipped, which those begin with that are made to be read in parts */
    if (!memcmp(first, "\x28\xb5\x2f\xfd", 4) || ((first[0] & 0xf0) == 0x50 && !memcmp(first + 1, "\x2a\x4d\x18", 3)))
        return PACKED_ZSTD;
    return PACKED_NOT;
}

bool image_is_packed(int fd, int64_t at)
{
    return packing_of(fd, at) != PACKED_NOT;
}

static bool unpacker_begin(struct image_stream *stream)
{
    switch (stream->packing) {
    case PACKED_GZIP:
        return zlib()->inflateInit2_(&stream->gzip, 15 + 16, ZLIB_VERSION, (int)sizeof stream->gzip) == Z_OK;
    case PACKED_ZSTD:
        stream->zstd = zstd()->createDStream();
        return stream->zstd && !zstd()->isError(zstd()->initDStream(stream->zstd)) &&
               !zstd()->isError(zstd()->DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax, IMAGE_WINDOW_LOG));
    case PACKED_NOT:
        break;
    }
    return true;
}

struct image_stream *image_stream_new(int fd, bool own, int64_t at, int64_t end, struct err *err)
{
    struct image_stream *stream = mem_alloc(sizeof *stream);

    memset(stream, 0, sizeof *stream);
    stream->fd = fd;
    stream->own = own;
    stream->at = at;
    stream->end = end;
    stream->sum = sha256_new();
    stream->unpacked = sha256_new();
    stream->packing = end - at >= 4 ? packing_of(fd, at) : PACKED_NOT;
    if (unpacker_begin(stream))
        return stream;
    err_set(err, "no memory to unpack it");
    image_stream_end(stream, NULL, NULL, 0, NULL);
    return NULL;
}

/* Reads the next bytes as they lie in the file. */
static ssize_t piece_read(struct image_stream *stream, void *bytes, size_t len, struct err *err)
{
    int64_t left = stream->end - stream->at;
    ssize_t got;

    do
        got = left ? pread(stream->fd, bytes, left < (int64_t)len ? (size_t)left : len, stream->at) : 0;
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set(err, "the image cannot be read: %s", strerror(errno));
    if (left && !got)
        return err_set(err, "the image is cut short");
    stream->at += got;
    sha256_add(stream->sum, bytes, (size_t)got);
    return got;
}

static ssize_t gzip_read(struct image_stream *stream, void *bytes, size_t len, struct err *err)
{
    z_stream *zip = &stream->gzip;

    zip->next_out = bytes;
    zip->avail_out = (unsigned)(len < PIECE ? len : PIECE);
    while (!stream->done && zip->next_out == bytes) {
        int result;

        if (!zip->avail_in) {
            ssize_t got = piece_read(stream, stream->piece, sizeof stream->piece, err);

            if (got < 0)
                return -1;
            zip->next_in = stream->piece;
            zip->avail_in = (unsigned)got;
        }
        result = zlib()->inflate(zip, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            /* another part may follow, as some programs pack them; zeros and such are nothing */
            stream->done = zip->avail_in < 2 || zip->next_in[0] != 0x1f || zip->next_in[1] != 0x8b ||
                           zlib()->inflateReset(zip) != Z_OK;
        } else if (result != Z_OK) {
            return err_set(err, NOT_WHOLE);
        }
    }
    return zip->next_out - (unsigned char *)bytes;
}

static ssize_t zstd_read(struct image_stream *stream, void *bytes, size_t len, struct err *err)
{
    ZSTD_outBuffer out = {bytes, len < PIECE ? len : PIECE, 0};

    while (!stream->done && !out.pos) {
        size_t result;

        if (stream->in.pos == stream->in.size) {
            ssize_t got = piece_read(stream, stream->piece, sizeof stream->piece, err);

            if (got < 0)
                return -1;
            stream->in = (ZSTD_inBuffer){stream->piece, (size_t)got, 0};
            stream->done = !got && !stream->inside_frame;
            if (stream->done)
                break;
        }
        result = zstd()->decompressStream(stream->zstd, &out, &stream->in);
        if (zstd()->isError(result))
            return zstd()->getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
                       ? err_set(err, "a layer is packed with a window of more than %d MiB",
                                 1 << (IMAGE_WINDOW_LOG - 20))
                       : err_set(err, NOT_WHOLE);
        if (result && !stream->in.size && !out.pos)
            return err_set(err, NOT_WHOLE); /* it waits for bytes, and there are none */
        stream->inside_frame = result != 0; /* 0: one is complete; another may follow */
    }
    return (ssize_t)out.pos;
}

ssize_t image_stream_read(void *user, void *bytes, size_t len, struct err *err)
{
    struct image_stream *stream = user;
    ssize_t got = stream->packing == PACKED_GZIP   ? gzip_read(stream, bytes, len, err)
                  : stream->packing == PACKED_ZSTD ? zstd_read(stream, bytes, len, err)
                                                   : piece_read(stream, bytes, len, err);

    if (got > 0)
        sha256_add(stream->unpacked, bytes, (size_t)got);
    return got;
}

void image_stream_skip(struct image_stream *stream, int64_t to)
{
    stream->at = to < stream->end ? to : stream->end;
}

int image_digest_compare(const char *wanted, const char *digits, struct err *err)
{
    size_t len = strlen(DIGEST);

    if (!wanted || (!strncmp(wanted, DIGEST, len) && !strcmp(wanted + len, digits)))
        return 0;
    return err_set(err, "what is called %.80s in the image has another sum: " DIGEST "%s", wanted, digits);
}

static void stream_free(struct image_stream *stream)
{
    if (stream->packing == PACKED_GZIP)
        zlib()->inflateEnd(&stream->gzip);
    if (stream->zstd)
        zstd()->freeDStream(stream->zstd);
    if (stream->own)
        close(stream->fd);
    free(stream);
}

int image_stream_end(struct image_stream *stream, const char *digest, const char *unpacked, int64_t bytes_max,
                     struct err *err)
{
    char sum[SHA256_DIGITS + 1], other[SHA256_DIGITS + 1], rest[4096];
    ssize_t got = 0;

    if (!stream)
        return 0;
    if (unpacked)
        while (bytes_max >= 0 && (got = image_stream_read(stream, rest, sizeof rest, err)) > 0)
            bytes_max -= got;
    if (got >= 0 && digest)
        while ((got = piece_read(stream, rest, sizeof rest, err)) > 0)
            ;
    sha256_end(stream->sum, sum);
    sha256_end(stream->unpacked, other);
    stream_free(stream);
    if (bytes_max < 0)
        return err_set(err, "a layer of the image goes on after its end");
    if (got < 0)
        return -1;
    return image_digest_compare(digest, sum, err) < 0 || image_digest_compare(unpacked, other, err) < 0 ? -1 : 0;
}
