/* own_store.c: the store of a daemon: a file of its state folder, or a namespace of the database of the setting Store. */
#include "cli/serve/own_store.h"

#include "cli/ask/store_place.h"
#include "cli/term/report.h"
#include "store/store.h"

#include <string.h>

/* The store's name: the file's, or URI#ROLE/NAME. False after a complaint. */
static bool store_name(const struct config *config, const char *folder, struct buf *ret)
{
    const char *uri = config_text(config, CONFIG_STORE);

    if (*uri && (!store_is_remote(uri) || strchr(uri, '#'))) {
        report("Store: expected the address of a database, postgresql://HOST/DATABASE, without a #");
        return false;
    }
    store_place_add(config, folder, ret);
    return true;
}

static void store_tell(void *user, const char *line)
{
    (void)user;
    report("%s", line);
}

struct shelf *own_store_open(const struct config *config, const char *folder, const char *traces, bool fresh)
{
    struct shelf *shelf = NULL;
    struct err err = {0};
    struct buf name, file;

    buf_init(&name);
    buf_init(&file);
    store_file_add(config, folder, &file);
    if (store_name(config, folder, &name)) {
        struct store_terms terms = {.fresh = fresh, .traces = traces, .file = buf_string(&file), .tell = store_tell};

        shelf = store_open_as(buf_string(&name), &terms, &err);
        if (!shelf)
            report("%s", err.text);
    }
    buf_done(&name);
    buf_done(&file);
    return shelf;
}
