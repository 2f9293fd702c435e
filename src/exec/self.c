/* self.c: this program once more. */
#include "exec/self.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

const char *self_program(char ret[SELF_MAX])
{
    ssize_t len = readlink(SELF, ret, SELF_MAX - 1);
    struct stat linked, said;

    ret[len > 0 ? len : 0] = '\0';
    if (len <= 0 || stat(SELF, &linked) < 0 || stat(ret, &said) < 0 || access(ret, X_OK) < 0 ||
        (linked.st_dev == said.st_dev && linked.st_ino == said.st_ino))
        snprintf(ret, SELF_MAX, SELF);
    return ret;
}
