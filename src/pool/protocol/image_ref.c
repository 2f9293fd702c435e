/* image_ref.c: the name of an image in a registry. It becomes a word of another program's command line and a row of a list that decides what is let
 * in: so it is of few characters, and has one form. */
#include "pool/protocol/image_ref.h"

#include <stdio.h>
#include <string.h>

#define HUB "docker.io"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

bool image_ref_is(const char *text, size_t len)
{
    size_t begin = strlen(IMAGE_REF_BEGIN);

    return len >= begin && !memcmp(text, IMAGE_REF_BEGIN, begin);
}

static bool has_only(const char *text, size_t len, const char *set)
{
    for (size_t i = 0; i < len; i++)
        if (!text[i] || !strchr(set, text[i]))
            return false;
    return true;
}

static bool is_letter_or_digit(char c)
{
    return c && strchr(LOWER UPPER DIGITS, c);
}

/* A name or an IPv4 address, and perhaps a port. */
static bool host_is_good(const char *host, size_t len)
{
    const char *colon = memchr(host, ':', len);
    size_t name = colon ? (size_t)(colon - host) : len, port = colon ? len - name - 1 : 0;

    return name && len <= IMAGE_REF_HOST_MAX && has_only(host, name, LOWER UPPER DIGITS ".-") &&
           is_letter_or_digit(host[0]) && is_letter_or_digit(host[name - 1]) &&
           (!colon || (port && port <= 5 && has_only(colon + 1, port, DIGITS)));
}

static bool part_is_good(const char *part, size_t len)
{
    return len && has_only(part, len, LOWER DIGITS "._-") && is_letter_or_digit(part[0]) &&
           is_letter_or_digit(part[len - 1]);
}

static bool path_is_good(const char *path, size_t len)
{
    for (size_t at = 0, end; at <= len; at = end + 1) {
        for (end = at; end < len && path[end] != '/'; end++)
            ;
        if (!part_is_good(path + at, end - at))
            return false;
    }
    return true;
}

/* Puts the host and what is behind it, which may be nothing, into the one form. `image`: it is the whole path of one. */
static void place_set(struct image_ref *ret, const char *host, size_t host_len, const char *path, size_t len,
                      bool image)
{
    bool hub = (host_len == strlen(HUB) && !memcmp(host, HUB, host_len)) ||
               (host_len == strlen("index." HUB) && !memcmp(host, "index." HUB, host_len));
    const char *between = !len ? "" : hub && image && !memchr(path, '/', len) ? "/library/" : "/";

    if (hub) {
        host = HUB;
        host_len = strlen(HUB);
    }
    ret->host_len = host_len;
    snprintf(ret->place, sizeof ret->place, IMAGE_REF_BEGIN "%.*s%s%.*s", (int)host_len, host, between, (int)len, path);
    for (size_t i = strlen(IMAGE_REF_BEGIN); i < strlen(IMAGE_REF_BEGIN) + host_len; i++)
        if (ret->place[i] >= 'A' && ret->place[i] <= 'Z')
            ret->place[i] = (char)(ret->place[i] - 'A' + 'a');
}

static bool is_host(const char *part, size_t len)
{
    return memchr(part, '.', len) || memchr(part, ':', len) || (len == 9 && !memcmp(part, "localhost", 9));
}

static int bad(struct err *err, const char *text, size_t len)
{
    return err_set(err,
                   "'%.*s': expected " IMAGE_REF_BEGIN "HOST/PATH:TAG or " IMAGE_REF_BEGIN "HOST/PATH@sha256:DIGITS",
                   (int)(len < 120 ? len : 120), text);
}

/* Takes the digest and the tag off the end; gives the length of what is left, or 0 where they are not good. */
static size_t ends_take(const char *name, size_t len, struct image_ref *ret)
{
    const char *at = memchr(name, '@', len), *colon = NULL;
    size_t tag;

    if (at) {
        size_t digest = len - (size_t)(at - name) - 1;

        if (digest != IMAGE_REF_DIGEST_LEN || memcmp(at + 1, "sha256:", 7) != 0 ||
            !has_only(at + 8, 64, DIGITS "abcdef"))
            return 0;
        memcpy(ret->digest, at + 1, digest);
        ret->digest[digest] = '\0';
        len = (size_t)(at - name);
    }
    for (size_t i = len; i-- > 0 && name[i] != '/' && !colon;)
        colon = name[i] == ':' ? name + i : NULL;
    if (!colon)
        return len;
    tag = len - (size_t)(colon - name) - 1;
    if (!tag || tag > IMAGE_REF_TAG_MAX || !has_only(colon + 1, tag, LOWER UPPER DIGITS "_.-") ||
        strchr(".-", colon[1]))
        return 0;
    if (!*ret->digest) {
        memcpy(ret->tag, colon + 1, tag);
        ret->tag[tag] = '\0';
    }
    return (size_t)(colon - name);
}

int image_ref_read(const char *text, size_t len, struct image_ref *ret, struct err *err)
{
    struct image_ref ref = {.host_len = 0};
    const char *name = text + strlen(IMAGE_REF_BEGIN), *slash;
    size_t left, host = 0;

    if (!image_ref_is(text, len) || len > IMAGE_REF_MAX)
        return bad(err, text, len);
    left = ends_take(name, len - strlen(IMAGE_REF_BEGIN), &ref);
    if (!left)
        return bad(err, text, len);
    slash = memchr(name, '/', left);
    if (slash && is_host(name, (size_t)(slash - name)))
        host = (size_t)(slash - name);
    if ((host && !host_is_good(name, host)) || !path_is_good(name + host + (host > 0), left - host - (host > 0)))
        return bad(err, text, len);
    place_set(&ref, host ? name : HUB, host ? host : strlen(HUB), name + host + (host > 0), left - host - (host > 0),
              true);
    if (!*ref.tag && !*ref.digest)
        strcpy(ref.tag, "latest");
    *ret = ref;
    return 0;
}

int image_source_read(const char *text, size_t len, struct image_ref *ret, struct err *err)
{
    struct image_ref ref = {.host_len = 0};
    const char *host = text + strlen(IMAGE_REF_BEGIN), *slash;
    size_t left, host_len;

    if (!image_ref_is(text, len) || len > IMAGE_REF_MAX)
        return err_set(err, "'%.*s': expected " IMAGE_REF_BEGIN "HOST/ or " IMAGE_REF_BEGIN "HOST/PATH",
                       (int)(len < 120 ? len : 120), text);
    left = len - strlen(IMAGE_REF_BEGIN);
    while (left && host[left - 1] == '/')
        left--;
    slash = memchr(host, '/', left);
    host_len = slash ? (size_t)(slash - host) : left;
    if (!host_is_good(host, host_len) || !is_host(host, host_len) ||
        (slash && !path_is_good(slash + 1, left - host_len - 1)))
        return err_set(err, "'%.*s': expected " IMAGE_REF_BEGIN "HOST/ or " IMAGE_REF_BEGIN "HOST/PATH",
                       (int)(len < 120 ? len : 120), text);
    place_set(&ref, host, host_len, slash ? slash + 1 : "", slash ? left - host_len - 1 : 0, false);
    *ret = ref;
    return 0;
}

bool image_source_holds(const char *source, const struct image_ref *ref)
{
    size_t len = strlen(source);

    return !strncmp(source, ref->place, len) && (!ref->place[len] || ref->place[len] == '/');
}

bool image_ref_is_loopback(const struct image_ref *ref)
{
    const char *host = ref->place + strlen(IMAGE_REF_BEGIN);
    size_t len = strcspn(host, ":/");

    return (len == 9 && !memcmp(host, "localhost", 9)) ||
           (!strncmp(host, "127.", 4) && strspn(host, DIGITS ".") == len);
}
