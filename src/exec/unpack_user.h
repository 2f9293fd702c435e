/* unpack_user.h: the user as whom images of strangers are fetched and unpacked, and the bounds of such a process. */
#ifndef BERTH_EXEC_UNPACK_USER_H
#define BERTH_EXEC_UNPACK_USER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Becomes that user for good (0: stays as we are), with no more than a few rights: the folder, which others cannot reach, is put where the user finds
 * it, in a namespace of ours alone. `ret_folder`: where that is. `bytes_max`: of one file. */
bool unpack_user_become(const char *folder, uint32_t uid, int64_t bytes_max, const char **ret_folder);

#ifdef __cplusplus
}
#endif
#endif
