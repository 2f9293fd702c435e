/* route.c: finds the route of a path. */
#include "live/http/route.h"

#include "live/http/guard.h"

#include <stdio.h>
#include <string.h>

const char *method_name(enum http_method method)
{
    static const char *const words[] = {"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"};

    return method < sizeof words / sizeof *words ? words[method] : "other";
}

/* Decodes a part of the raw path; false when it cannot be the value of a variable. */
static bool variable_read(const char *raw, size_t len, size_t most, bool any, char ret[ROUTE_REST_MAX + 1])
{
    const char *end = raw + len;
    size_t at = 0;

    while (raw < end) {
        int c = *raw == '%' ? guard_escape(raw, end) : (unsigned char)*raw;

        if (c <= 0 || (!any && (c < ' ' || c == 0x7f)) || at == most)
            return false;
        raw += *raw == '%' ? 3 : 1;
        ret[at++] = (char)c;
    }
    ret[at] = '\0';
    return at > 0;
}

/* Does the raw path have the shape of the route's path? Decodes its variables on the way. */
static bool path_fits(const struct route *route, const char *raw_path, struct route_match *ret)
{
    const char *shape = route->path;
    size_t place = 0;

    while (*shape && *raw_path) {
        size_t want = strcspn(shape + 1, "/"), have = strcspn(raw_path + 1, "/");

        if (shape[1] == '{') {
            bool rest = !shape[want + 1] && want > 4 && !strcmp(shape + want - 3, "...}");

            if (rest)
                have = strlen(raw_path + 1);
            if (place == ROUTE_VARIABLES_MAX ||
                !variable_read(raw_path + 1, have, rest ? ROUTE_REST_MAX : ROUTE_VARIABLE_MAX,
                               rest && route->flags & ROUTE_FILE, ret->variables[place++]))
                return false;
        } else if (want != have || memcmp(shape, raw_path, want + 1) != 0) {
            return false;
        }
        shape += want + 1;
        raw_path += have + 1;
    }
    return !*shape && !*raw_path;
}

static void allow_add(struct route_match *ret, enum http_method method)
{
    size_t used = strlen(ret->allow);

    snprintf(ret->allow + used, sizeof ret->allow - used, "%s%s%s", used ? ", " : "", method_name(method),
             method == HTTP_GET ? ", HEAD" : "");
}

static const struct route *table_find(const struct route_table *table, enum http_method method, const char *raw_path,
                                      struct route_match *ret)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct route *route = &table->routes[i];

        if (!path_fits(route, raw_path, ret))
            continue;
        if (route->method == method || (method == HTTP_HEAD && route->method == HTTP_GET))
            return route;
        allow_add(ret, route->method);
    }
    return NULL;
}

enum route_result route_find(const struct route_table *const *tables, size_t table_count, enum http_method method,
                             const char *raw_path, struct route_match *ret)
{
    ret->allow[0] = '\0';
    for (size_t i = 0; i < table_count; i++) {
        ret->route = table_find(tables[i], method, raw_path, ret);
        ret->table = i;
        if (ret->route)
            return ROUTE_FOUND;
    }
    return *ret->allow ? ROUTE_OTHER_METHOD : ROUTE_NOT_THERE;
}
