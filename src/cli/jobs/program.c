/* program.c: what keeps a program of this machine from being sent along and executed. */
#include "cli/jobs/program.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool program_is_sent(const char *name)
{
    static const char *const common[] = {"/usr/", "/bin/", "/sbin/"};

    if (!strchr(name, '/'))
        return false;
    for (size_t n = 0; n < sizeof common / sizeof *common; n++)
        if (!strncmp(name, common[n], strlen(common[n])) && strncmp(name, "/usr/local/", 11) != 0)
            return false;
    return true;
}

const char *program_flaw(const char *path, bool *ret_missing)
{
    struct stat info;

    *ret_missing = false;
    if (stat(path, &info) < 0) {
        *ret_missing = errno == ENOENT || errno == ENOTDIR;
        return strerror(errno);
    }
    if (S_ISDIR(info.st_mode))
        return "it is a folder, and no program";
    if (!S_ISREG(info.st_mode))
        return "it is neither a file nor a folder";
    if (access(path, X_OK) != 0)
        return "it cannot be executed; chmod +x makes it so";
    return access(path, R_OK) != 0 ? strerror(errno) : NULL;
}
