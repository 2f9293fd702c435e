/* library.c: loads libraries when they are first needed. */
#include "lang/base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS_UNLOADED 127 /* as the loader's */

int library_load(struct library *library, struct err *err)
{
    void *handle;

    if (library->loaded)
        return 0;
    handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return err_set(err, "%s, which cannot be loaded: %s", library->use, dlerror());
    for (size_t i = 0; i < library->count; i++) {
        void *function = dlsym(handle, library->names[i]);

        if (!function)
            return err_set(err, "%s, and %s lacks %s", library->use, library->file, library->names[i]);
        memcpy((char *)library->functions + i * sizeof function, &function, sizeof function);
    }
    library->loaded = true;
    return 0;
}

const void *library_need(struct library *library)
{
    struct err err = {0};

    if (library_load(library, &err) < 0) {
        fprintf(stderr, "berth: %s\n", err.text);
        _exit(STATUS_UNLOADED);
    }
    return library->functions;
}
