/* store_place.h: where the store of a daemon is: a file of its state folder, or a namespace of the database of the setting Store. */
#ifndef BERTH_CLI_ASK_STORE_PLACE_H
#define BERTH_CLI_ASK_STORE_PLACE_H

#include "live/config/config.h"

/* Appends the file's name, or URI#ROLE/NAME. `folder`: of the role within the state folder; "": the state folder itself, which is the matchmaker's. */
void store_place_add(const struct config *config, const char *folder, struct buf *out);
/* Appends the file's name, whatever Store says. */
void store_file_add(const struct config *config, const char *folder, struct buf *out);

#endif
