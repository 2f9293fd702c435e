/* remote_place.c: which database, and which namespace in it. */
#include "store/remote_parts.h"

#include <stdlib.h>

static const char *const schemes[] = {"postgresql://", "postgres://"};

bool store_is_remote(const char *path)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (!strncmp(path, schemes[i], strlen(schemes[i])))
            return true;
    return false;
}

static const char *option_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword; options++)
        if (!strcmp(options->keyword, keyword))
            return options->val ? options->val : "";
    return "";
}

/* What people are shown: neither the user nor the parameters, among which there may be secrets. */
static void label_make(struct place *place, const PQconninfoOption *options)
{
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "postgresql://%s", option_of(options, "host"));
    if (*option_of(options, "port"))
        buf_addf(&text, ":%s", option_of(options, "port"));
    buf_addf(&text, "/%s", option_of(options, "dbname"));
    if (*place->name)
        buf_addf(&text, "#%s", place->name);
    place->label = mem_dup(buf_string(&text), text.len);
    buf_done(&text);
}

/* libpq quotes parts of what it does not take: could one of them be a password? */
static bool may_be_quoted(const char *uri)
{
    const char *authority = strstr(uri, "://");

    return authority && !strchr(authority + 3, ':') && !strstr(uri, "pass");
}

int place_init(struct place *place, const char *uri, struct err *err)
{
    const char *name = strchr(uri, '#');
    size_t len = name ? (size_t)(name - uri) : strlen(uri);
    PQconninfoOption *options;
    char *said = NULL;
    int failed = 0;

    *place = (struct place){.uri = mem_dup(uri, len)};
    name = name ? name + 1 : "";
    place->name = mem_dup(name, strlen(name));
    if (libpq_load(err) < 0)
        return -1;
    if (strlen(name) > REMOTE_NAME_MAX)
        return err_set(err, "the name of a namespace has at most %d bytes", REMOTE_NAME_MAX);
    options = libpq()->conninfoParse(place->uri, &said);
    if (!options) {
        if (may_be_quoted(place->uri) && said)
            err_set(err, "this is no address of a database, as libpq takes it: %.*s", (int)strcspn(said, "\n"), said);
        else
            err_set(err, "this is no address of a database, as libpq takes it");
        libpq()->freemem(said);
        return -1;
    }
    label_make(place, options);
    if (*option_of(options, "password"))
        failed = err_set(err,
                         "%s: a password does not belong into an address, which others may see: put it into "
                         "~/.pgpass, or into a file that the address names, as with ?passfile=/etc/berth/pgpass",
                         place->label);
    libpq()->conninfoFree(options);
    return failed;
}

void place_done(struct place *place)
{
    free(place->uri);
    free(place->name);
    free(place->label);
}
