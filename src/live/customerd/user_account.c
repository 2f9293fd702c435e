/* user_account.c: taking on the account of a user of this machine. */
#define _GNU_SOURCE /* setresuid */
#include "live/customerd/user_account.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

bool user_account_owns(const char *account, const char *owner)
{
    size_t len = strlen(account);

    return len && !strncmp(owner, account, len) && (!owner[len] || owner[len] == '@');
}

int user_become(uint32_t uid, char ret_name[TEXT_MAX + 1])
{
    struct passwd *account = getpwuid(uid);

    if (uid == 0 || !account || initgroups(account->pw_name, account->pw_gid) < 0 ||
        setresgid(account->pw_gid, account->pw_gid, account->pw_gid) < 0 || setresuid(uid, uid, uid) < 0)
        return -1;
    snprintf(ret_name, TEXT_MAX + 1, "%s", account->pw_name);
    if (setuid(0) == 0 || getuid() != uid || geteuid() != uid)
        return -1;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return 0;
}
