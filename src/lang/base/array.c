/* array.c: arrays that grow. */
#include "lang/base/array.h"

#include <stdlib.h>

size_t array_more(size_t room, size_t first, size_t width)
{
    size_t most = width < sizeof(size_t) ? ((size_t)1 << (8 * width)) - 1 : SIZE_MAX / 2;

    if (!room)
        return first;
    if (room > most / 2)
        abort();
    return 2 * room;
}
