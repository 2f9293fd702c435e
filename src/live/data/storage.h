/* storage.h: a store, as its ad tells of it, and where a file of a logical name lies in it.
 *
 *     [Type = "Storage"; Name = "se1"; Host = "h"; Port = 8080; Protocol = "http"; Path = "/dir"]
 *     run7/a.dat   ->   http://h:8080/dir/run7/a.dat           of Protocol = "file":   file:///dir/run7/a.dat
 *
 * The ad comes from others: what would lead out of the store's folder, or somewhere else than it says, is refused. */
#ifndef BERTH_LIVE_DATA_STORAGE_H
#define BERTH_LIVE_DATA_STORAGE_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "lang/text/tree.h"
#include "live/config/address.h"
#include "live/data/file_entry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STORE_TYPE "Storage"
#define STORE_NAME_MAX FILE_STORE_MAX /* bytes of a store's name */
#define STORE_PATH_MAX 1024

#define STORE_PROTOCOLS(X) X(FILE, "file") X(HTTP, "http") X(HTTPS, "https") X(SFTP, "sftp")

enum store_protocol {
#define X(id, word) STORE_##id,
    STORE_PROTOCOLS(X)
#undef X
        STORE_PROTOCOL_COUNT
};

struct store_place {
    char name[STORE_NAME_MAX + 1];
    enum store_protocol protocol;
    char host[ADDRESS_HOST_MAX + 1]; /* "" of a local path */
    uint16_t port;                   /* 0: the protocol's own */
    char path[STORE_PATH_MAX + 1];   /* begins with '/', and does not end with one, but for the root, which is "" */
};

/* Reads a store from its ad; -1 and the attribute that is wrong, and what was expected. */
int store_read(const struct tree *ad, struct store_place *ret, struct err *err);

/* Is that a good name for a logical file? It has parts with '/' between, none of them empty, "." or "..", and no control character. */
bool store_name_is_good(const char *name, size_t len);

/* Appends the URL of a logical file of a good name. */
void store_url(const struct store_place *place, const char *name, struct buf *out);

#ifdef __cplusplus
}
#endif
#endif
