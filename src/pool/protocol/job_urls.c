/* job_urls.c: the files that a job reads from elsewhere. */
#include "pool/protocol/job_urls.h"

#include "lang/ad/get.h"

#include <string.h>

#define NAME_BYTES_MAX 255
#define SCHEME_MAX 16

size_t url_scheme_len(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && at < SCHEME_MAX &&
           ((text[at] >= 'a' && text[at] <= 'z') ||
            (at && ((text[at] >= '0' && text[at] <= '9') || text[at] == '+' || text[at] == '-' || text[at] == '.'))))
        at++;
    return at && len > at + 3 && !memcmp(text + at, "://", 3) ? at : 0;
}

size_t url_last_part(const char *url, size_t len, const char **ret)
{
    size_t begin = url_scheme_len(url, len) + 3, end = begin;

    while (end < len && url[end] != '?' && url[end] != '#')
        end++;
    while (end > begin && url[end - 1] == '/')
        end--;
    for (size_t i = begin, host = 0; i < end; i++)
        if (url[i] == '/') {
            begin = i + 1;
            host = 1;
        } else if (!host && i + 1 == end) {
            return 0; /* a host alone */
        }
    *ret = url + begin;
    return end - begin;
}

/* May a file have that name, at the top of a folder? */
static bool is_name(const char *name, size_t len)
{
    return len && len <= NAME_BYTES_MAX && *name != '.' && !memchr(name, '/', len) && !memchr(name, '\0', len);
}

static bool is_url(const char *url, size_t len)
{
    if (len > JOB_URL_MAX || !url_scheme_len(url, len))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)url[i] <= ' ' || url[i] == 0x7f)
            return false;
    return true;
}

static const char *part_text(const struct tree *ad, const struct expr *e, const char *attribute, size_t *ret_len)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));
    const struct expr *text = e->kind == EXPR_AD && name ? tree_find(ad, e, name) : NULL;

    *ret_len = text && text->kind == EXPR_STRING ? text->u.run.count : 0;
    return *ret_len ? tree_string(ad, text) : "";
}

static bool one_get(const struct tree *ad, const struct expr *e, struct job_url *ret)
{
    struct job_url one;

    one.name = part_text(ad, e, "Name", &one.name_len);
    one.url = part_text(ad, e, "Url", &one.url_len);
    one.scheme = url_scheme_len(one.url, one.url_len);
    if (!is_name(one.name, one.name_len) || !is_url(one.url, one.url_len))
        return false;
    *ret = one;
    return true;
}

bool job_urls_are_good(const struct tree *ad, const struct expr *e)
{
    struct job_url one;

    if (e->kind != EXPR_LIST || e->u.run.count > JOB_URLS_MAX)
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++)
        if (!one_get(ad, &tree_parts(ad, e)[i], &one))
            return false;
    return true;
}

static uint32_t list_count(const struct tree *ad, const char *attribute)
{
    const struct expr *list = ad_find(ad, attribute);

    return list && job_urls_are_good(ad, list) ? list->u.run.count : 0;
}

static bool list_get(const struct tree *ad, const char *attribute, uint32_t place, struct job_url *ret)
{
    const struct expr *list = ad_find(ad, attribute);

    return list && list->kind == EXPR_LIST && place < list->u.run.count &&
           one_get(ad, &tree_parts(ad, list)[place], ret);
}

uint32_t job_urls_count(const struct tree *ad)
{
    return list_count(ad, JOB_URLS);
}

bool job_urls_get(const struct tree *ad, uint32_t place, struct job_url *ret)
{
    return list_get(ad, JOB_URLS, place, ret);
}

uint32_t job_urls_out_count(const struct tree *ad)
{
    return list_count(ad, JOB_URLS_OUT);
}

bool job_urls_out_get(const struct tree *ad, uint32_t place, struct job_url *ret)
{
    return list_get(ad, JOB_URLS_OUT, place, ret);
}

bool job_url_is_web(const struct job_url *one)
{
    return (one->scheme == 4 || (one->scheme == 5 && one->url[4] == 's')) && !memcmp(one->url, "http", 4);
}

bool job_urls_of(const struct tree *ad, const char *name, size_t len, struct job_url *ret)
{
    for (uint32_t i = 0, count = job_urls_out_count(ad); i < count; i++)
        if (job_urls_out_get(ad, i, ret) && ret->name_len == len && !memcmp(ret->name, name, len))
            return true;
    return false;
}

bool job_urls_named(const struct tree *ad, const char *name, size_t len)
{
    struct job_url one;

    for (uint32_t i = 0, count = job_urls_count(ad); i < count; i++)
        if (job_urls_get(ad, i, &one) && one.name_len == len && !memcmp(one.name, name, len) &&
            (one.scheme != 4 || memcmp(one.url, "file", 4) != 0))
            return true;
    return false;
}

bool job_urls_need_network(const struct tree *ad)
{
    struct job_url one;

    if (ad_find(ad, JOB_URLS_OUT))
        return true;
    for (uint32_t i = 0, count = job_urls_count(ad); i < count; i++)
        if (job_urls_get(ad, i, &one) && (one.scheme != 4 || memcmp(one.url, "file", 4) != 0))
            return true;
    return false;
}
