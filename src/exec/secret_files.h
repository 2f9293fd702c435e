/* secret_files.h: the secrets of a job as files in memory, one each, for its sandbox.
 *
 *     agent: a bundle (sys/secret_bundle.h) in a memory file ---- with the order, by the socket ----> launcher: a memory file each ----> sandbox
 *
 * None of them has a name on any disk; they are gone when the last who has them open has ended. */
#ifndef BERTH_EXEC_SECRET_FILES_H
#define BERTH_EXEC_SECRET_FILES_H

#include "lang/base/err.h"
#include "sys/secret_bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct secret_files {
    struct secret_file {
        char name[SECRET_NAME_MAX + 1];
        int fd;
    } items[SECRETS_MAX];
    uint32_t count;
};

/* Makes the files of such a bundle; NULL and the error. The descriptor stays the caller's. */
struct secret_files *secret_files_new(int bundle, struct err *err);
void secret_files_free(struct secret_files *files); /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
