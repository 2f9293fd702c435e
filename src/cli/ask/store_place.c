/* store_place.c: where the store of a daemon is: a file of its state folder, or a namespace of the database of the setting Store. */
#include "cli/ask/store_place.h"

#include "store/store.h"

#include <unistd.h>

/* In a database each daemon has a namespace, by its role and its name. Where another host is to go on with the rows the name has to be set. */
static void namespace_add(const struct config *config, const char *folder, struct buf *out)
{
    const char *name = config_text(config, *folder ? CONFIG_AGENT_NAME : CONFIG_NAME);
    char host[128] = "";

    if (!*name && gethostname(host, sizeof host - 1) == 0)
        name = host;
    buf_addf(out, "#%s/%s", *folder ? folder : "matchmaker", name);
}

void store_file_add(const struct config *config, const char *folder, struct buf *out)
{
    buf_addf(out, "%s/%s%s" STORE_FILE, config_text(config, CONFIG_STATE), folder, *folder ? "/" : "");
}

void store_place_add(const struct config *config, const char *folder, struct buf *out)
{
    const char *uri = config_text(config, CONFIG_STORE);

    if (!*uri) {
        store_file_add(config, folder, out);
        return;
    }
    buf_adds(out, uri);
    namespace_add(config, folder, out);
}
