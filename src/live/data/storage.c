/* storage.c: a store, as its ad tells of it, and where a file of a logical name lies in it. */
#include "live/data/storage.h"

#include "lang/ad/get.h"
#include "sys/confined_path.h"

#include <string.h>
#include <strings.h>

static const char *const words[] = {
#define X(id, word) [STORE_##id] = word,
    STORE_PROTOCOLS(X)
#undef X
};

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return true;
}

bool store_name_is_good(const char *name, size_t len)
{
    return confined_name_is_good(name, len) && is_plain(name, len);
}

static int name_read(const struct tree *ad, struct store_place *place, struct err *err)
{
    const char *text;
    size_t len;

    if (!ad_string(ad, "Name", &text, &len) || !len || len > STORE_NAME_MAX || !is_plain(text, len))
        return err_set(err, "Name: expected a text of 1 to %d bytes", STORE_NAME_MAX);
    memcpy(place->name, text, len);
    return 0;
}

static int protocol_read(const struct tree *ad, struct store_place *place, struct err *err)
{
    const char *text;
    size_t len;

    if (ad_string(ad, "Protocol", &text, &len))
        for (int i = 0; i < STORE_PROTOCOL_COUNT; i++)
            if (strlen(words[i]) == len && !strncasecmp(words[i], text, len)) {
                place->protocol = (enum store_protocol)i;
                return 0;
            }
    return err_set(err, "Protocol: expected \"file\", \"http\", \"https\" or \"sftp\"");
}

/* Reads the host, by the one reader of addresses: what that does not take is not a host. */
static int host_read(const struct tree *ad, struct store_place *place, struct err *err)
{
    const char *text;
    struct buf url;
    struct url read;
    struct err why;
    size_t len;
    int result;

    if (!ad_string(ad, "Host", &text, &len) || !len || len > ADDRESS_HOST_MAX || memchr(text, '\0', len) ||
        memchr(text, '/', len) || memchr(text, '?', len))
        return err_set(err, "Host: expected the name or the address of a machine");
    buf_init(&url);
    buf_adds(&url, memchr(text, ':', len) && *text != '[' ? "http://[" : "http://");
    buf_add(&url, text, len);
    buf_adds(&url, memchr(text, ':', len) && *text != '[' ? "]/" : "/");
    result = url_read(url.text, url.len, &read, &why);
    buf_done(&url);
    if (result < 0 || read.port != 80)
        return err_set(err, "Host: expected the name or the address of a machine, without a port");
    memcpy(place->host, read.host, sizeof place->host);
    return 0;
}

static int port_read(const struct tree *ad, struct store_place *place, struct err *err)
{
    int64_t port;

    if (!ad_find(ad, "Port"))
        return 0;
    if (!ad_integer(ad, "Port", &port) || port < 1 || port > 65535)
        return err_set(err, "Port: expected a whole number from 1 to 65535");
    place->port = (uint16_t)port;
    return 0;
}

static int path_read(const struct tree *ad, struct store_place *place, struct err *err)
{
    const char *text;
    size_t len;

    if (!ad_string(ad, "Path", &text, &len) || !len || *text != '/' || len > STORE_PATH_MAX || !is_plain(text, len))
        return err_set(err, "Path: expected a folder, as a path from the root");
    while (len && text[len - 1] == '/')
        len--;
    if (len && !confined_name_is_good(text + 1, len - 1))
        return err_set(err, "Path: expected a folder, as a path from the root without \".\" and \"..\"");
    memcpy(place->path, text, len);
    return 0;
}

int store_read(const struct tree *ad, struct store_place *ret, struct err *err)
{
    struct store_place place = {.port = 0};

    if (name_read(ad, &place, err) < 0 || protocol_read(ad, &place, err) < 0 || path_read(ad, &place, err) < 0)
        return -1;
    if (place.protocol != STORE_FILE && (host_read(ad, &place, err) < 0 || port_read(ad, &place, err) < 0))
        return -1;
    *ret = place;
    return 0;
}

/* Adds a path as it stands in a URL. */
static void path_add(struct buf *out, const char *path)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("-._~/", c))
            buf_addc(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

void store_url(const struct store_place *place, const char *name, struct buf *out)
{
    buf_adds(out, words[place->protocol]);
    buf_adds(out, "://");
    if (strchr(place->host, ':'))
        buf_addf(out, "[%s]", place->host);
    else
        buf_adds(out, place->host);
    if (place->port)
        buf_addf(out, ":%u", place->port);
    path_add(out, place->path);
    buf_addc(out, '/');
    path_add(out, name);
}
