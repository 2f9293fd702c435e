/* account.h: the user of the machine that a job runs as, where its owner lets people's jobs run as themselves.
 *
 *     agent: a name that the customer has proved, and a group    STATE/CLAIM/account, beside the order (record.h)
 *     launcher: asks the machine's directory in a child          the directory may be slow, or hang: it gets ACCOUNT_SPAN
 *     child: that is a person, and in the group                  -> user, group, groups, home
 *
 * Nobody becomes root by this, nor a user of the system's own, whatever the directory says. */
#ifndef BERTH_EXEC_ACCOUNT_H
#define BERTH_EXEC_ACCOUNT_H

#include "lang/base/err.h"
#include "pool/protocol/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACCOUNT_UID_LEAST 1000  /* those below are the system's own ... */
#define ACCOUNT_NOBODY 65534    /* ... and so is this */
#define ACCOUNT_NAME_MAX 32     /* bytes */
#define ACCOUNT_GROUPS_MAX 1024 /* of one account */
#define ACCOUNT_HOME_MAX 1024   /* bytes of a path */
#define ACCOUNT_SPAN 20000      /* milliseconds that the directory may take */

/* An account, as the directory has it now. */
struct unix_account {
    uint32_t uid, gid;
    uint32_t umask;
    uint32_t group_count;
    uint32_t groups[ACCOUNT_GROUPS_MAX];
    char name[ACCOUNT_NAME_MAX + 1];
    char home[ACCOUNT_HOME_MAX + 1]; /* "": it has none that could be one */
};

/* May an account be called so: letters, digits and . _ - only, beginning with a letter or _? */
bool account_name_is_good(const char *name);

/* Is that an account as which a job may run? -1 and why not. `in_group`: it is in the group that the machine is open to. */
int account_check(const char *name, uint32_t uid, bool in_group, const char *group, struct err *err);

/* Finds the account of a wish. NULL: there is none that a job may run as, and why; words that tell of a shortage (err.h): the directory did not answer. */
struct unix_account *account_find(const struct executor_account *wish, struct err *err);

/* Becomes that user in all its groups, and in those besides, with no way back. To be called as root, in a process that is about to be another program. */
bool account_become(const struct unix_account *account, const uint32_t *besides, size_t count);

/* Opens the job's streams as that user, in the folder that it begins in (view->begin): names there; NULL: /dev/null. The kernel follows the path, and links in
 * it, with no other rights; where they lead out of the folders of the view, or for an output out of those that may be written in, nothing is opened or made.
 * Output and errors of the same name are one file. -1: nothing is open. */
int account_streams(const struct unix_account *account, const struct executor_view *view, const char *const names[3],
                    int ret[3], struct err *err);

/* Writes and reads the wish beside an order; `number` is the order's. */
int account_wish_write(int folder, const struct executor_account *wish, uint64_t number, struct err *err);
/* NULL: it is not there, or that of another order. One block of memory, to be freed. */
struct executor_account *account_wish_read(int folder, uint64_t number);
struct executor_account *account_wish_dup(const struct executor_account *wish);

#ifdef __cplusplus
}
#endif
#endif
