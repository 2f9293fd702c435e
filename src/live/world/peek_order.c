/* peek_order.c: which end of which file is wanted. */
#include "live/world/peek_order.h"

#include "lang/ad/get.h"
#include "sys/confined_path.h"

#include <string.h>

static int count_read(const struct tree *what, const char *name, int64_t most, int64_t *ret, struct err *err)
{
    *ret = -1;
    if (!ad_find(what, name))
        return 0;
    if (!ad_integer(what, name, ret) || *ret < 0 || *ret > most)
        return err_set(err, "%s: expected a number from 0 to %lld", name, (long long)most);
    return 0;
}

int peek_order_read(const struct tree *what, char name[PEEK_NAME_ROOM], struct peek_order *ret, struct err *err)
{
    const char *text;
    size_t len;

    if (!ad_string(what, "File", &text, &len) || !len)
        return err_set(err, "File: expected the name of a file in the job's folder");
    if (!confined_name_is_good(text, len))
        return err_set(err, "File: '%.*s' is not the name of a file in the job's folder: neither '/' in front nor '..'",
                       len < 80 ? (int)len : 80, text);
    memcpy(name, text, len);
    name[len] = '\0';
    ret->name = name;
    if (count_read(what, "Bytes", PEEK_BYTES_MAX, &ret->bytes, err) < 0 ||
        count_read(what, "Lines", PEEK_BYTES_MAX, &ret->lines, err) < 0 ||
        count_read(what, "Offset", INT64_MAX, &ret->offset, err) < 0)
        return -1;
    return 0;
}
