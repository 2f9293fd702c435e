/* restored.h: whether a shelf's rows are those of a backup (SHELF_RESTORED_SPACE): what has happened since, they do not know. */
#ifndef BERTH_LIVE_WORLD_RESTORED_H
#define BERTH_LIVE_WORLD_RESTORED_H

#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

struct restored {
    bool is;
    bool alone;     /* nobody is to be asked what has happened since */
    int64_t second; /* on the wall clock, at which the rows were whole; 0: not known */
};

int restored_look(struct shelf *shelf, struct restored *ret, struct err *err);
/* It has been dealt with; the commit is the caller's. */
int restored_forget(struct shelf *shelf, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
