/* unpack_user.c: the user as whom images of strangers are fetched and unpacked. */
#define _GNU_SOURCE
#include "exec/unpack_user.h"

#include "exec/image_unpack.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define PLACE "/mnt"

static void limit(int which, rlim_t most)
{
    struct rlimit now;

    if (getrlimit(which, &now) == 0) {
        if (now.rlim_max != RLIM_INFINITY && most > now.rlim_max)
            most = now.rlim_max;
        setrlimit(which, &(struct rlimit){most, most});
    }
}

bool unpack_user_become(const char *folder, uint32_t uid, int64_t bytes_max, const char **ret_folder)
{
    if (uid && (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
                mount(folder, PLACE, NULL, MS_BIND, NULL) < 0 || setgroups(0, NULL) < 0 ||
                setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        return false;
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, 1024);
    limit(RLIMIT_CPU, IMAGE_CPU_MAX);
    limit(RLIMIT_FSIZE, (rlim_t)bytes_max);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    *ret_folder = uid ? PLACE : folder;
    return true;
}
