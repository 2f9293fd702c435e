/* address.h: addresses as text, and which of them may be contacted. Pure: nothing is resolved or opened.
 *
 *     address   127.0.0.1:7600   pool.example.org:7600   [::1]:0   unix:/run/berth/socket
 *     network   10.0.0.0/8   fd00::/8
 *     url       https://pool.example.org:7600/path?query
 *
 * Everything is read strictly: what some readers take for an address and others do not (127.1, 0x7f000001, fe80::1%eth0, userinfo) is
 * refused. Strangers write contact addresses, so what matters is the address connected to after resolving: ask
 * address_may_be_contacted with that one. */
#ifndef BERTH_LIVE_CONFIG_ADDRESS_H
#define BERTH_LIVE_CONFIG_ADDRESS_H

#include "lang/base/err.h"
#include "sys/socket_path.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ADDRESS_HOST_MAX 253             /* bytes of a host's name */
#define ADDRESS_PATH_MAX SOCKET_PATH_MAX /* bytes of a Unix socket's path */
#define ADDRESS_TEXT_MAX 64              /* bytes that address_print writes, with the NUL */
#define URL_MAX 2048
#define NETWORKS_MAX 1000 /* in a list */

/* ------------------------------------------------------------------------------------------ addresses to listen at */

struct address {
    bool is_unix;                    /* path; otherwise host and port */
    char host[ADDRESS_HOST_MAX + 1]; /* a name, or a number without brackets */
    uint16_t port;
    char path[ADDRESS_PATH_MAX + 1]; /* begins with '/' */
};

int address_read(const char *text, struct address *ret_address, struct err *err);

/* The socket address of an address whose host is written as a number, or that is a Unix socket with a path that the kernel takes; else false. */
bool address_socket(const struct address *address, struct sockaddr_storage *ret_socket, socklen_t *ret_len);

/* Prints "127.0.0.1:80", "[::1]:80", "unix:/path" (cut to the room) or "unknown"; returns `out`. */
const char *address_print(const struct sockaddr *socket, char out[ADDRESS_TEXT_MAX]);

/* Prints the host alone, "127.0.0.1" or "::1"; "" when it is no internet address. */
void address_host(const struct sockaddr *socket, char out[ADDRESS_HOST_MAX + 1]);

/* Are both the same internet address, whatever their ports are? A mapped IPv4 address is the IPv4 address. */
bool address_same_host(const struct sockaddr *a, const struct sockaddr *b);

/* ------------------------------------------------------------------------------------------------- kinds of address */

/* An IPv6 address that carries an IPv4 one (mapped, 6to4, NAT64) is of the sort of the one inside. */
#define ADDRESS_SORTS(X)          \
    X(PUBLIC, "public")           \
    X(UNSPECIFIED, "unspecified") \
    X(LOOPBACK, "loopback")       \
    X(LINK_LOCAL, "link-local")   \
    X(PRIVATE, "private")         \
    X(MULTICAST, "multicast")     \
    X(SPECIAL, "special") /* shared by carriers, for documentation, for tests, reserved, or no internet address */

#define ADDRESS_SORT_ENUM(name, word) ADDRESS_##name,
enum address_sort { ADDRESS_SORTS(ADDRESS_SORT_ENUM) ADDRESS_SORT_COUNT };
#undef ADDRESS_SORT_ENUM

enum address_sort address_sort(const struct sockaddr *socket);
const char *address_sort_name(enum address_sort sort); /* "loopback" */

/* --------------------------------------------------------------------------------------------------------- networks */

struct network {
    int family; /* AF_INET or AF_INET6 */
    unsigned bits;
    unsigned char bytes[16];
};

struct networks {
    struct network *items;
    size_t count, room;
};

void networks_init(struct networks *networks);
void networks_done(struct networks *networks);

/* Adds one network, as "10.0.0.0/8". No bit behind its prefix may be set. */
int networks_add(struct networks *networks, const char *text, struct err *err);

/* Is the address in one of the networks? A mapped IPv4 address (::ffff:10.0.0.1) is looked up as the IPv4 address. */
bool networks_have(const struct networks *networks, const struct sockaddr *socket);

/* Is it an address that the machines of one site have among themselves: a private one, one of the range that carriers and overlays share, or of
 * those for documentation and measuring, which laboratories like? */
bool address_is_private(const struct sockaddr *socket);

/* May that address be contacted? It is public, or in the list (NULL: an empty one). */
bool address_may_be_contacted(const struct networks *networks, const struct sockaddr *socket);

/* -------------------------------------------------------------------------------------------------------------- URLs */

struct url {
    bool secure;                     /* https */
    bool is_number;                  /* the host is an IPv4 or IPv6 address */
    char host[ADDRESS_HOST_MAX + 1]; /* lower case, without brackets */
    uint16_t port;                   /* 80 or 443 when it says none */
    const char *path;                /* path and query, lent from the text; begins with '/' unless it is empty */
    size_t path_len;
};

/* Reads a URL: http or https, a host, perhaps a port, path and query; no userinfo, no fragment, nothing but the characters of RFC 3986. */
int url_read(const char *text, size_t len, struct url *ret_url, struct err *err);

/* Does the URL lead to this machine: to a number of loopback, or to `localhost`? */
bool url_is_here(const struct url *url);
bool url_is_loopback(const char *text); /* to a number of loopback: no name, which others may resolve as they like */

#ifdef __cplusplus
}
#endif
#endif
