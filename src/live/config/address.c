/* address.c: addresses as text, and which of them may be contacted. */
#include "live/config/address.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define V4_BYTES 4
#define V6_BYTES 16
#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Reads digits and nothing else, without a zero in front, at most `max`. */
static bool decimal_read(const char *text, size_t len, unsigned max, unsigned *ret)
{
    unsigned value = 0;

    if (len == 0 || len > 5 || (len > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]))
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    if (value > max)
        return false;
    *ret = value;
    return true;
}

/* Reads the text as an address of that family (inet_pton takes four decimal numbers and nothing looser). */
static bool number_read(int family, const char *text, size_t len, unsigned char *ret_bytes)
{
    char copy[INET6_ADDRSTRLEN];

    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return strlen(copy) == len && inet_pton(family, copy, ret_bytes) == 1;
}

/* ---------------------------------------------------------------------------------------------------------- hosts */

/* Is that a host name: letters, digits, '-' and '_' between dots? */
static bool name_is_good(const char *text, size_t len)
{
    size_t label = 0;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '.') {
            if (label == 0 || text[i - 1] == '-')
                return false;
            label = 0;
        } else if (is_letter(c) || is_digit(c) || c == '_' || (c == '-' && label > 0)) {
            if (++label > 63)
                return false;
        } else {
            return false;
        }
    }
    return label > 0 && text[len - 1] != '-';
}

/* Would some reader take that name for an IPv4 address? Its last part is a number: 127.1, 0x7f000001, 1.2.3.08. */
static bool name_looks_like_number(const char *text, size_t len)
{
    size_t from = len, i;

    while (from > 0 && text[from - 1] != '.')
        from--;
    for (i = from; i < len && is_digit(text[i]); i++)
        ;
    if (i == len)
        return true;
    return len - from >= 2 && text[from] == '0' && to_lower(text[from + 1]) == 'x';
}

/* Reads HOST or [IPv6], and gives it in lower case and without brackets. */
static int host_read(const char *text, size_t len, char ret_host[ADDRESS_HOST_MAX + 1], bool *ret_is_number,
                     struct err *err)
{
    unsigned char bytes[V6_BYTES];
    bool is_number;

    if (len == 0)
        return err_set(err, "the host is missing");
    if (len > ADDRESS_HOST_MAX)
        return err_set(err, "the host has more than %d bytes", ADDRESS_HOST_MAX);
    if (text[0] == '[') {
        if (text[len - 1] != ']' || !number_read(AF_INET6, text + 1, len - 2, bytes))
            return err_set(err, "what is in brackets is not an IPv6 address");
        text++;
        len -= 2;
        is_number = true;
    } else {
        is_number = number_read(AF_INET, text, len, bytes);
        if (!is_number && !name_is_good(text, len))
            return err_set(err, "the host is neither a name nor an address");
        if (!is_number && name_looks_like_number(text, len))
            return err_set(err, "the host is not a whole IPv4 address, which has four decimal numbers");
    }
    for (size_t i = 0; i < len; i++)
        ret_host[i] = to_lower(text[i]);
    ret_host[len] = '\0';
    *ret_is_number = is_number;
    return 0;
}

/* Where the host ends: at the ':' of the port, or at the end. */
static size_t host_len(const char *text, size_t len)
{
    const char *from = text, *colon;

    if (len && text[0] == '[') {
        from = memchr(text, ']', len);
        return from ? (size_t)(from + 1 - text) : len;
    }
    colon = memchr(from, ':', len);
    return colon ? (size_t)(colon - text) : len;
}

/* ------------------------------------------------------------------------------------------ addresses to listen at */

static int unix_read(const char *path, struct address *ret, struct err *err)
{
    if (path[0] != '/')
        return err_set(err, "the path of a Unix socket begins with '/'");
    if (strlen(path) > ADDRESS_PATH_MAX)
        return err_set(err, "the path of a Unix socket has at most %d bytes", ADDRESS_PATH_MAX);
    *ret = (struct address){.is_unix = true};
    memcpy(ret->path, path, strlen(path) + 1);
    return 0;
}

int address_read(const char *text, struct address *ret_address, struct err *err)
{
    size_t len = strlen(text), host = host_len(text, len);
    struct address address = {0};
    bool is_number;
    unsigned port;

    if (strncmp(text, "unix:", 5) == 0)
        return unix_read(text + 5, ret_address, err);
    if (host_read(text, host, address.host, &is_number, err))
        return -1;
    if (host == len || text[host] != ':')
        return err_set(err, "the port is missing: HOST:PORT");
    if (!decimal_read(text + host + 1, len - host - 1, UINT16_MAX, &port))
        return err_set(err, "the port is not a number up to 65535");
    address.port = (uint16_t)port;
    *ret_address = address;
    return 0;
}

bool address_socket(const struct address *address, struct sockaddr_storage *ret_socket, socklen_t *ret_len)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(address->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(address->port)};
    const void *from;

    if (address->is_unix) {
        if (strlen(address->path) >= sizeof path.sun_path)
            return false;
        memcpy(path.sun_path, address->path, strlen(address->path) + 1);
        from = &path;
        *ret_len = sizeof path;
    } else if (inet_pton(AF_INET, address->host, &v4.sin_addr) == 1) {
        from = &v4;
        *ret_len = sizeof v4;
    } else if (inet_pton(AF_INET6, address->host, &v6.sin6_addr) == 1) {
        from = &v6;
        *ret_len = sizeof v6;
    } else {
        return false;
    }
    memset(ret_socket, 0, sizeof *ret_socket);
    memcpy(ret_socket, from, *ret_len);
    return true;
}

const char *address_print(const struct sockaddr *socket, char out[ADDRESS_TEXT_MAX])
{
    const struct sockaddr_in *v4 = (const void *)socket;
    const struct sockaddr_in6 *v6 = (const void *)socket;
    char host[INET6_ADDRSTRLEN];

    if (socket->sa_family == AF_INET && inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host))
        snprintf(out, ADDRESS_TEXT_MAX, "%s:%u", host, ntohs(v4->sin_port));
    else if (socket->sa_family == AF_INET6 && inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host))
        snprintf(out, ADDRESS_TEXT_MAX, "[%s]:%u", host, ntohs(v6->sin6_port));
    else if (socket->sa_family == AF_UNIX)
        snprintf(out, ADDRESS_TEXT_MAX, "unix:%.*s", ADDRESS_TEXT_MAX - 6,
                 ((const struct sockaddr_un *)(const void *)socket)->sun_path);
    else
        snprintf(out, ADDRESS_TEXT_MAX, "unknown");
    return out;
}

/* ------------------------------------------------------------------------------------------------ kinds of address */

static const char *const sort_names[] = {
#define X(name, word) word,
    ADDRESS_SORTS(X)
#undef X
};

const char *address_sort_name(enum address_sort sort)
{
    return sort_names[sort];
}

struct range {
    unsigned char bytes[V6_BYTES];
    unsigned bits;
    enum address_sort sort;
};

/* What an address is for, after IANA's registry of special-purpose addresses: the first range that holds it tells; none: it is public. */
static const struct range v4_ranges[] = {
    {{0, 0, 0, 0}, 32, ADDRESS_UNSPECIFIED},
    {{0}, 8, ADDRESS_SPECIAL}, /* this network */
    {{10}, 8, ADDRESS_PRIVATE},
    {{100, 64}, 10, ADDRESS_SPECIAL}, /* shared by the customers of a carrier */
    {{127}, 8, ADDRESS_LOOPBACK},
    {{169, 254}, 16, ADDRESS_LINK_LOCAL}, /* also where clouds tell secrets */
    {{172, 16}, 12, ADDRESS_PRIVATE},
    {{192, 0, 0}, 24, ADDRESS_SPECIAL},   /* of the protocols themselves */
    {{192, 0, 2}, 24, ADDRESS_SPECIAL},   /* documentation */
    {{192, 88, 99}, 24, ADDRESS_SPECIAL}, /* relays of 6to4 */
    {{192, 168}, 16, ADDRESS_PRIVATE},
    {{198, 18}, 15, ADDRESS_SPECIAL}, /* measuring devices */
    {{198, 51, 100}, 24, ADDRESS_SPECIAL},
    {{203, 0, 113}, 24, ADDRESS_SPECIAL},
    {{224}, 4, ADDRESS_MULTICAST},
    {{240}, 4, ADDRESS_SPECIAL}, /* reserved, and the broadcast address */
};

static const struct range v6_ranges[] = {
    {{0}, 128, ADDRESS_UNSPECIFIED},
    {{[15] = 1}, 128, ADDRESS_LOOPBACK},
    {{0xfc}, 7, ADDRESS_PRIVATE},
    {{0xfe, 0x80}, 10, ADDRESS_LINK_LOCAL},
    {{0xfe, 0xc0}, 10, ADDRESS_PRIVATE}, /* as it was before fc00::/7 */
    {{0xff}, 8, ADDRESS_MULTICAST},
    {{0x20, 0x01, 0x00}, 23, ADDRESS_SPECIAL},       /* of the protocols themselves; Teredo hides an IPv4 address */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, ADDRESS_SPECIAL}, /* documentation */
    {{0x3f, 0xff}, 20, ADDRESS_SPECIAL},             /* likewise */
    {{0x20}, 3, ADDRESS_PUBLIC},                     /* all that is given out to the world */
    {{0}, 0, ADDRESS_SPECIAL},
};

/* IPv6 addresses with an IPv4 one inside, and where it begins. */
static const struct {
    unsigned char bytes[V6_BYTES];
    unsigned bits, at;
} v6_carriers[] = {
    {{[10] = 0xff, [11] = 0xff}, 96, 12}, /* mapped: ::ffff:1.2.3.4 */
    {{0x00, 0x64, 0xff, 0x9b}, 96, 12},   /* NAT64: 64:ff9b::1.2.3.4 */
    {{0x20, 0x02}, 16, 2},                /* 6to4: 2002:0102:0304:: */
};

static bool bits_same(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    return memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

static enum address_sort sort_find(const struct range *ranges, size_t count, const unsigned char *bytes)
{
    for (size_t i = 0; i < count; i++)
        if (bits_same(ranges[i].bytes, bytes, ranges[i].bits))
            return ranges[i].sort;
    return ADDRESS_PUBLIC;
}

static enum address_sort v6_sort(const unsigned char *bytes)
{
    for (size_t i = 0; i < COUNT(v6_carriers); i++)
        if (bits_same(v6_carriers[i].bytes, bytes, v6_carriers[i].bits))
            return sort_find(v4_ranges, COUNT(v4_ranges), bytes + v6_carriers[i].at);
    return sort_find(v6_ranges, COUNT(v6_ranges), bytes);
}

/* The bytes of an address, and how many; a mapped IPv4 address counts as an IPv4 address. 0 when it is of neither family. */
static int socket_bytes(const struct sockaddr *socket, unsigned char *ret_bytes)
{
    if (socket->sa_family == AF_INET) {
        memcpy(ret_bytes, &((const struct sockaddr_in *)(const void *)socket)->sin_addr, V4_BYTES);
        return AF_INET;
    }
    if (socket->sa_family != AF_INET6)
        return 0;
    memcpy(ret_bytes, &((const struct sockaddr_in6 *)(const void *)socket)->sin6_addr, V6_BYTES);
    if (!bits_same(v6_carriers[0].bytes, ret_bytes, v6_carriers[0].bits))
        return AF_INET6;
    memmove(ret_bytes, ret_bytes + v6_carriers[0].at, V4_BYTES);
    return AF_INET;
}

enum address_sort address_sort(const struct sockaddr *socket)
{
    unsigned char bytes[V6_BYTES];
    int family = socket_bytes(socket, bytes);

    if (family == AF_INET)
        return sort_find(v4_ranges, COUNT(v4_ranges), bytes);
    return family == AF_INET6 ? v6_sort(bytes) : ADDRESS_SPECIAL;
}

/* -------------------------------------------------------------------------------------------------------- networks */

void networks_init(struct networks *networks)
{
    *networks = (struct networks){0};
}

void networks_done(struct networks *networks)
{
    if (!networks)
        return;
    free(networks->items);
    networks_init(networks);
}

static int network_read(const char *text, struct network *ret, struct err *err)
{
    const char *slash = strchr(text, '/');
    struct network network = {0};
    unsigned bits_max;

    if (!slash)
        return err_set(err, "a network is ADDRESS/BITS");
    network.family = memchr(text, ':', (size_t)(slash - text)) ? AF_INET6 : AF_INET;
    bits_max = network.family == AF_INET ? V4_BYTES * 8 : V6_BYTES * 8;
    if (!number_read(network.family, text, (size_t)(slash - text), network.bytes))
        return err_set(err, "a network begins with an IPv4 or IPv6 address");
    if (!decimal_read(slash + 1, strlen(slash + 1), bits_max, &network.bits))
        return err_set(err, "a network's bits are a number up to %u", bits_max);
    for (unsigned i = network.bits; i < bits_max; i++)
        if (network.bytes[i / 8] >> (7 - i % 8) & 1)
            return err_set(err, "the network's address goes on behind its %u bits", network.bits);
    if (network.family == AF_INET6 && network.bits >= v6_carriers[0].bits &&
        bits_same(v6_carriers[0].bytes, network.bytes, v6_carriers[0].bits))
        return err_set(err, "a network of IPv4 addresses is written as IPv4");
    *ret = network;
    return 0;
}

int networks_add(struct networks *networks, const char *text, struct err *err)
{
    struct network network;

    if (network_read(text, &network, err))
        return -1;
    if (networks->count == NETWORKS_MAX)
        return err_set(err, "there are more than %d networks", NETWORKS_MAX);
    ARRAY_ROOM(networks->items, networks->count, networks->room, 8);
    networks->items[networks->count++] = network;
    return 0;
}

bool networks_have(const struct networks *networks, const struct sockaddr *socket)
{
    unsigned char bytes[V6_BYTES];
    int family = socket_bytes(socket, bytes);

    for (size_t i = 0; i < networks->count; i++)
        if (networks->items[i].family == family && bits_same(networks->items[i].bytes, bytes, networks->items[i].bits))
            return true;
    return false;
}

void address_host(const struct sockaddr *socket, char out[ADDRESS_HOST_MAX + 1])
{
    unsigned char bytes[V6_BYTES];
    int family = socket_bytes(socket, bytes);

    if (!family || !inet_ntop(family, bytes, out, ADDRESS_HOST_MAX + 1))
        out[0] = '\0';
}

bool address_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    unsigned char one[V6_BYTES], two[V6_BYTES];
    int family = socket_bytes(a, one);

    return family && family == socket_bytes(b, two) && !memcmp(one, two, family == AF_INET ? V4_BYTES : V6_BYTES);
}

bool address_is_private(const struct sockaddr *socket)
{
    static const struct range v4_sites[] = {{{100, 64}, 10, 0},
                                            {{192, 0, 2}, 24, 0},
                                            {{198, 18}, 15, 0},
                                            {{198, 51, 100}, 24, 0},
                                            {{203, 0, 113}, 24, 0}},
                              v6_sites[] = {{{0x20, 0x01, 0x0d, 0xb8}, 32, 0}, {{0x3f, 0xff}, 20, 0}};
    unsigned char bytes[V6_BYTES];
    int family = socket_bytes(socket, bytes);
    const struct range *sites = family == AF_INET ? v4_sites : v6_sites;
    size_t count = family == AF_INET ? COUNT(v4_sites) : family == AF_INET6 ? COUNT(v6_sites) : 0;

    if (address_sort(socket) == ADDRESS_PRIVATE)
        return true;
    for (size_t i = 0; i < count; i++)
        if (bits_same(sites[i].bytes, bytes, sites[i].bits))
            return true;
    return false;
}

bool address_may_be_contacted(const struct networks *networks, const struct sockaddr *socket)
{
    return address_sort(socket) == ADDRESS_PUBLIC || (networks && networks_have(networks, socket));
}

/* ------------------------------------------------------------------------------------------------------------ URLs */

static const struct {
    const char *start;
    bool secure;
    uint16_t port;
} schemes[] = {
    {"http://", false, 80},
    {"https://", true, 443},
};

static bool is_hex(char c)
{
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');
}

/* Does a path, with its query, have only the characters of RFC 3986? */
static int path_check(const char *path, size_t len, struct err *err)
{
    for (size_t i = 0; i < len; i++) {
        char c = path[i];

        if (c == '#')
            return err_set(err, "a fragment ('#') is not allowed");
        if (c == '%' && (len - i < 3 || !is_hex(path[i + 1]) || !is_hex(path[i + 2])))
            return err_set(err, "'%%' is followed by two hexadecimal digits");
        if (!is_letter(c) && !is_digit(c) && !(c && strchr("-._~!$&'()*+,;=:@/?%", c)))
            return err_set(err, "the path has a character that has to be written as %%XX");
    }
    return 0;
}

static bool scheme_is(const char *text, size_t len, const char *start)
{
    size_t i;

    for (i = 0; start[i]; i++)
        if (i == len || to_lower(text[i]) != start[i])
            return false;
    return true;
}

/* Reads HOST or HOST:PORT, without userinfo. */
static int authority_read(const char *text, size_t len, struct url *url, struct err *err)
{
    size_t host = host_len(text, len);
    unsigned port;

    if (memchr(text, '@', len))
        return err_set(err, "a user's name ('@') is not allowed");
    if (host_read(text, host, url->host, &url->is_number, err))
        return -1;
    if (host == len)
        return 0;
    if (text[host] != ':' || !decimal_read(text + host + 1, len - host - 1, UINT16_MAX, &port) || port == 0)
        return err_set(err, "the port is not a number from 1 to 65535");
    url->port = (uint16_t)port;
    return 0;
}

int url_read(const char *text, size_t len, struct url *ret_url, struct err *err)
{
    struct url url = {0};
    const char *end = text + len, *host, *path;

    if (len > URL_MAX)
        return err_set(err, "the URL has more than %d bytes", URL_MAX);
    for (size_t i = 0; i < COUNT(schemes); i++)
        if (scheme_is(text, len, schemes[i].start)) {
            url.secure = schemes[i].secure;
            url.port = schemes[i].port;
            url.path = text + strlen(schemes[i].start);
        }
    if (!url.path)
        return err_set(err, "the URL begins with neither http:// nor https://");
    for (host = path = url.path; path < end && *path != '/' && *path != '?' && *path != '#'; path++)
        ;
    if (authority_read(host, (size_t)(path - host), &url, err) || path_check(path, (size_t)(end - path), err))
        return -1;
    if (path < end && *path != '/')
        return err_set(err, "a '/' follows the host");
    url.path = path;
    url.path_len = (size_t)(end - path);
    *ret_url = url;
    return 0;
}

bool url_is_here(const struct url *url)
{
    return url->is_number ? !strncmp(url->host, "127.", 4) || !strcmp(url->host, "::1")
                          : !strcmp(url->host, "localhost");
}

bool url_is_loopback(const char *text)
{
    struct url url;
    struct err err;

    return url_read(text, strlen(text), &url, &err) == 0 && url.is_number && url_is_here(&url);
}
