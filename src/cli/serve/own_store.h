/* own_store.h: the store of a daemon: a file of its state folder, or a namespace of the database of the setting Store. */
#ifndef BERTH_CLI_SERVE_OWN_STORE_H
#define BERTH_CLI_SERVE_OWN_STORE_H

#include "live/config/config.h"
#include "pool/protocol/shelf.h"

/* `folder`: of the role within the state folder; "": the state folder itself. `traces`: struct store_terms. NULL after a complaint. */
struct shelf *own_store_open(const struct config *config, const char *folder, const char *traces, bool fresh);

/* Is the setting Store one? False after a complaint. */
bool own_store_check(const struct config *config);
/* One in a database that others wait for, too: any thread may. NULL and `err`. */
struct store_wait;
struct shelf *own_store_await(const struct config *config, const char *folder, const char *traces, bool fresh,
                              const struct store_wait *wait, struct err *err);

#endif
