/* restored.c: whether a shelf's rows are those of a backup. */
#include "live/world/restored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = "1";

static bool row_read(void *user, const void *row_key, size_t key_len, const void *value, size_t len)
{
    struct restored *ret = user;
    char text[40];

    (void)row_key, (void)key_len;
    snprintf(text, sizeof text, "%.*s", (int)(len < sizeof text ? len : sizeof text - 1), (const char *)value);
    ret->is = true;
    ret->second = strtoll(text, NULL, 10);
    ret->alone = strstr(text, " alone") != NULL;
    return false;
}

int restored_look(struct shelf *shelf, struct restored *ret, struct err *err)
{
    *ret = (struct restored){.is = false};
    return shelf->kind->each(shelf, SHELF_RESTORED_SPACE, row_read, ret, err);
}

int restored_forget(struct shelf *shelf, struct err *err)
{
    return shelf->kind->remove(shelf, SHELF_RESTORED_SPACE, key, sizeof key - 1, err);
}
