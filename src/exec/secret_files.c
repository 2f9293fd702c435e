/* secret_files.c: the secrets of a job as files in memory, one each, for its sandbox. */
#include "exec/secret_files.h"

#include "lang/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a file of each; -1 and the error: those that there are have to be closed. */
static int files_make(struct secret_files *files, const void *bundle, size_t len, struct err *err)
{
    struct secret secret;
    size_t at = 0;

    if (!secret_bundle_is_good(bundle, len))
        return err_set(err, "its secrets are not in order");
    while (secret_bundle_next(bundle, len, &at, &secret) > 0) {
        struct secret_file *file = &files->items[files->count];

        file->fd = secret_memory_file(secret.bytes, secret.len, err);
        if (file->fd < 0)
            return -1;
        memcpy(file->name, secret.name, secret.name_len);
        files->count++;
    }
    return 0;
}

struct secret_files *secret_files_new(int bundle, struct err *err)
{
    struct secret_files *files;
    struct stat st;
    void *bytes;
    int failed;

    if (fstat(bundle, &st) < 0 || st.st_size <= 0 || st.st_size > SECRETS_BYTES_MAX) {
        err_set(err, "its secrets are not in order");
        return NULL;
    }
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, bundle, 0);
    if (bytes == MAP_FAILED) {
        err_set(err, "its secrets cannot be read: %s", strerror(errno));
        return NULL;
    }
    files = mem_alloc(sizeof *files);
    memset(files, 0, sizeof *files);
    failed = files_make(files, bytes, (size_t)st.st_size, err);
    munmap(bytes, (size_t)st.st_size);
    if (!failed)
        return files;
    secret_files_free(files);
    return NULL;
}

void secret_files_free(struct secret_files *files)
{
    if (!files)
        return;
    while (files->count)
        close(files->items[--files->count].fd);
    free(files);
}
