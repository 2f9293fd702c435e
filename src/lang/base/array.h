/* array.h: arrays that grow.
 *
 *     struct { struct item *items; uint32_t count, room; } list;
 *
 *     ARRAY_ROOM(list.items, list.count, list.room, 16);     there is room for one more; the first time for 16, then twice as many
 *     list.items[list.count++] = item;
 *
 * Count and room are unsigned integers of any width. The items may have moved in memory. The owner frees the items. */
#ifndef BERTH_LANG_BASE_ARRAY_H
#define BERTH_LANG_BASE_ARRAY_H

#include "lang/base/mem.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOBODY UINT32_MAX /* a place in an array that stands for nobody */

#define ARRAY_ROOM(items, count, room, first)                              \
    do {                                                                   \
        if ((count) >= (room)) {                                           \
            size_t array_room = array_more((room), (first), sizeof(room)); \
                                                                           \
            (items) = mem_grow((items), array_room * sizeof *(items));     \
            (room) = array_room;                                           \
        }                                                                  \
    } while (0)

/* The room that follows `room`. A number of `width` bytes must be able to hold it: aborts when it cannot. */
size_t array_more(size_t room, size_t first, size_t width);

#ifdef __cplusplus
}
#endif
#endif
