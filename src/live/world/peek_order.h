/* peek_order.h: a command to look into a file of a job that runs: which file of its folder, and which end of it. */
#ifndef BERTH_LIVE_WORLD_PEEK_ORDER_H
#define BERTH_LIVE_WORLD_PEEK_ORDER_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PEEK_BYTES_MAX (96u << 10) /* in one answer: the rest is asked for anew */
#define PEEK_BYTES 4096            /* and those lines, when nothing is said */
#define PEEK_LINES 10

struct peek_order {
    const char *name; /* lent */
    int64_t bytes;    /* the last of so many; -1: PEEK_BYTES, or all that the lines need */
    int64_t
        lines; /* and of them the last so many lines; -1: all of the bytes, or PEEK_LINES when those are -1 as well */
    int64_t offset; /* from there on instead; -1: the end is wanted */
};

/* Reads an order from [ File; Bytes; Lines; Offset ]; -1, and what is wrong with it. The name is copied into `name`. */
#define PEEK_NAME_ROOM 1025
int peek_order_read(const struct tree *what, char name[PEEK_NAME_ROOM], struct peek_order *ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
