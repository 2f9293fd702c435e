/* own_store.c: the store of a daemon: a file of its state folder, or a namespace of the database of the setting Store. */
#include "cli/serve/own_store.h"

#include "cli/ask/store_place.h"
#include "cli/term/report.h"
#include "store/store.h"

#include <string.h>

bool own_store_check(const struct config *config)
{
    const char *uri = config_text(config, CONFIG_STORE);

    if (!*uri || (store_is_remote(uri) && !strchr(uri, '#')))
        return true;
    report("Store: expected the address of a database, postgresql://HOST/DATABASE, without a #");
    return false;
}

static void store_tell(void *user, const char *line)
{
    (void)user;
    report("%s", line);
}

static struct shelf *own_store_try(const struct config *config, const char *folder, const struct store_terms *given,
                                   struct err *err)
{
    struct store_terms terms = *given;
    struct shelf *shelf = NULL;
    struct buf name, file;

    buf_init(&name);
    buf_init(&file);
    store_file_add(config, folder, &file);
    store_place_add(config, folder, &name);
    terms.file = buf_string(&file);
    terms.tell = store_tell;
    shelf = store_open_as(buf_string(&name), &terms, err);
    buf_done(&name);
    buf_done(&file);
    return shelf;
}

struct shelf *own_store_open(const struct config *config, const char *folder, const char *traces, bool fresh)
{
    struct shelf *shelf = NULL;
    struct err err = {0};

    if (own_store_check(config)) {
        shelf = own_store_try(config, folder, &(struct store_terms){.fresh = fresh, .traces = traces}, &err);
        if (!shelf)
            report("%s", err.text);
    }
    return shelf;
}

struct shelf *own_store_await(const struct config *config, const char *folder, const char *traces, bool fresh,
                              const struct store_wait *wait, struct err *err)
{
    return own_store_try(config, folder, &(struct store_terms){.fresh = fresh, .traces = traces, .wait = wait}, err);
}
